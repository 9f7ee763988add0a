# /// script
# requires-python = ">=3.11"
# dependencies = ["deepagents==0.7.32", "langchain==1.5.2", "langchain-core==1.8.3", "langgraph==1.2.24"]
# ///
"""deepagents keeps messages in its history file when a summary fails, and then adds them again (ANC-5)."""

import sys
import tempfile
from pathlib import Path

from deepagents.backends import FilesystemBackend
from deepagents.middleware.summarization import SummarizationMiddleware
from langchain.agents import create_agent
from langchain_core.language_models.fake_chat_models import GenericFakeChatModel
from langchain_core.messages import AIMessage, HumanMessage
from langgraph.checkpoint.memory import InMemorySaver


def speak(text):
    if text is None:
        raise ConnectionError("429: too many requests")
    return AIMessage(text)


root, thread, times = tempfile.mkdtemp(), {"configurable": {"thread_id": "t"}}, []
files = FilesystemBackend(root_dir=root, virtual_mode=True)
summariser = GenericFakeChatModel(messages=map(speak, ["Notes.", None, None, None, "More notes."]))
middleware = SummarizationMiddleware(summariser, backend=files, trigger=("messages", 20), keep=("messages", 6))
model = GenericFakeChatModel(messages=map(speak, ["Done."] * 3))
agent = create_agent(model, middleware=[middleware], checkpointer=InMemorySaver())
for batch in (range(30), range(30, 60), ()):
    try:
        agent.invoke({"messages": [HumanMessage(f"turn {i}.") for i in batch]}, thread)
    except Exception as error:
        print(f"A run ended with {type(error).__name__}: {error}")
    times.append(next(Path(root).rglob("session_*.md")).read_text().count("turn 40."))
print("Did: compacted a thread, let the next compaction fail (the model raises), and let it be tried again.")
print("Expected: the history file has turn 40 not at all, not at all, and once.")
print(f"Got: {times} times.")
sys.exit(0 if times == [0, 0, 1] else 1)
