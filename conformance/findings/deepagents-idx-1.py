# /// script
# requires-python = ">=3.11"
# dependencies = ["deepagents==0.7.32", "langchain==1.5.2", "langchain-core==1.8.3", "langgraph==1.2.24"]
# ///
"""deepagents: the entry that a summary points at changes with every later compaction (IDX-1)."""

import sys
import tempfile
from pathlib import Path

from deepagents.backends import FilesystemBackend
from deepagents.middleware.summarization import SummarizationMiddleware
from langchain.agents import create_agent
from langchain_core.language_models.fake_chat_models import GenericFakeChatModel
from langchain_core.messages import AIMessage, HumanMessage
from langgraph.checkpoint.memory import InMemorySaver

root, thread, sizes = tempfile.mkdtemp(), {"configurable": {"thread_id": "t"}}, {}
middleware = SummarizationMiddleware(
    GenericFakeChatModel(messages=iter([AIMessage("Notes."), AIMessage("More notes.")])),
    backend=FilesystemBackend(root_dir=root, virtual_mode=True),
    trigger=("messages", 20),
    keep=("messages", 6),
)
model = GenericFakeChatModel(messages=iter([AIMessage("Done.")] * 2))
agent = create_agent(model, middleware=[middleware], checkpointer=InMemorySaver())
for batch in (range(30), range(30, 60)):
    agent.invoke({"messages": [HumanMessage(f"turn {i}.") for i in batch]}, thread)
    path = next(Path(root).rglob("session_*.md"))
    sizes.setdefault(path.name, []).append(len(path.read_text()))
print("Did: compacted a thread twice, and read the file that its summaries name after each time.")
print("Expected: an entry that was given out keeps its content; what came later has one of its own.")
print(f"Got: {sizes} characters")
sys.exit(1 if len(sizes) == 1 and len(set(*sizes.values())) == 2 else 0)
