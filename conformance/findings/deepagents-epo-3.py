# /// script
# requires-python = ">=3.11"
# dependencies = ["deepagents==0.7.32", "langchain==1.5.2", "langchain-core==1.8.3", "langgraph==1.2.24"]
# ///
"""deepagents hands out a saved history that was changed since, as if it were the original (EPO-3)."""

import sys
import tempfile
from pathlib import Path

from deepagents import create_deep_agent
from deepagents.backends import FilesystemBackend
from deepagents.middleware.summarization import SummarizationMiddleware
from langchain_core.language_models.fake_chat_models import GenericFakeChatModel
from langchain_core.messages import AIMessage, HumanMessage


class Model(GenericFakeChatModel):
    def bind_tools(self, tools, **_):
        return self


root = tempfile.mkdtemp()
files = FilesystemBackend(root_dir=root, virtual_mode=True)
summariser = Model(messages=iter([AIMessage("They talked about deployments.")]))
middleware = SummarizationMiddleware(summariser, backend=files, trigger=("messages", 20), keep=("messages", 6))
agent = create_deep_agent(Model(messages=iter([AIMessage("Done.")])), backend=files, middleware=[middleware])
agent.invoke({"messages": [HumanMessage(f"deploy J-{i} to /srv/a{i}") for i in range(30)]})
(file,) = Path(root).rglob("session_*.md")
file.write_text(file.read_text().replace("/srv/a7<", "/srv/b7<"))
read = files.read(f"/conversation_history/{file.name}")
print("Did: compacted a thread of 30 messages, changed /srv/a7 to /srv/b7 in the history file that the summary")
print("     names, and read the file through the backend.")
print("Expected: an error that says that the content is not what was saved.")
lines = [] if read.error else [line for line in read.file_data["content"].splitlines() if "J-7 " in line]
print(f"Got: {lines}, error: {read.error}.")
sys.exit(1 if any("/srv/b7" in line for line in lines) else 0)
