# /// script
# requires-python = ">=3.11"
# dependencies = ["deepagents==0.7.32", "langchain==1.5.2", "langchain-core==1.8.3", "langgraph==1.2.24"]
# ///
"""The history that deepagents saves as full lacks what it had clipped from the window before (PTR-1)."""

import sys
import tempfile
from pathlib import Path

from deepagents import create_deep_agent
from deepagents.backends import FilesystemBackend
from deepagents.middleware.summarization import SummarizationMiddleware, compute_summarization_defaults
from langchain_core.language_models.fake_chat_models import GenericFakeChatModel
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage


class Model(GenericFakeChatModel):
    def bind_tools(self, tools, **_):
        return self


root = tempfile.mkdtemp()
files = FilesystemBackend(root_dir=root, virtual_mode=True)
summariser = Model(messages=iter([AIMessage("They wrote a file.")]))
clipping = compute_summarization_defaults(summariser)["truncate_args_settings"]
middleware = SummarizationMiddleware(
    summariser, backend=files, trigger=("messages", 30), truncate_args_settings=clipping
)
agent = create_deep_agent(Model(messages=iter([AIMessage("Done.")])), backend=files, middleware=[middleware])
call = {"id": "c", "name": "write_file", "args": {"file_path": "/n", "content": "x" * 3000 + " token=J-88"}}
thread = [AIMessage("", tool_calls=[call]), ToolMessage("ok", tool_call_id="c")]
agent.invoke({"messages": [HumanMessage("go"), *thread, *(HumanMessage(f"turn {i}") for i in range(30))]})
saved = next(Path(root).rglob("session_*.md")).read_text()
print("Did: compacted a thread whose second message calls write_file with 3,011 characters, the last of them")
print("     'token=J-88', under the clipping of arguments that create_deep_agent sets by default.")
print("Expected: the file that the summary calls the full conversation history has the call as it was.")
print(f"Got: {next(line for line in saved.splitlines() if 'write_file' in line)[:150]}")
sys.exit(0 if "token=J-88" in saved else 1)
