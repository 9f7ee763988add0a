# /// script
# requires-python = ">=3.11"
# dependencies = ["deepagents==0.7.32", "langchain==1.5.2", "langchain-core==1.8.3", "langgraph==1.2.24"]
# ///
"""deepagents commits replies that are no summary: empty, cut short, refused (OUT-1)."""

import sys
import tempfile

from deepagents import create_deep_agent
from deepagents.backends import FilesystemBackend
from deepagents.middleware.summarization import SummarizationMiddleware
from langchain_core.language_models.fake_chat_models import GenericFakeChatModel
from langchain_core.messages import AIMessage, HumanMessage

REPLIES = {
    "empty": ("", "stop"),
    "cut at the token limit": ("The user asked to deploy job J-88 to /sr", "length"),
    "a refusal": ("I'm sorry, but I can't help with that.", "content_filter"),
}


class Model(GenericFakeChatModel):
    def bind_tools(self, tools, **_):
        return self


committed = []
for kind, (text, finish) in REPLIES.items():
    summariser = Model(messages=iter([AIMessage(text, response_metadata={"finish_reason": finish})]))
    files = FilesystemBackend(root_dir=tempfile.mkdtemp(), virtual_mode=True)
    middleware = SummarizationMiddleware(summariser, backend=files, trigger=("messages", 20), keep=("messages", 6))
    agent = create_deep_agent(Model(messages=iter([AIMessage("Done.")])), backend=files, middleware=[middleware])
    steps = agent.stream({"messages": [HumanMessage(f"turn {i}") for i in range(30)]}, stream_mode="updates")
    event = next(
        (u["_summarization_event"] for s in steps for u in s.values() if "_summarization_event" in (u or {})), 0
    )
    print(f"Did: ran an agent on 30 messages; the model's summary is {kind} (finish_reason {finish!r}).")
    print("Expected: it is not committed as a summary, and the messages stay in the window.")
    print("Got:", event and (event["summary_message"].text[-70:], event["cutoff_index"]), end="\n\n")
    committed.append(event is not None)
sys.exit(1 if any(committed) else 0)
