# /// script
# requires-python = ">=3.11"
# dependencies = ["deepagents==0.7.32", "langchain==1.5.2", "langchain-core==1.8.3", "langgraph==1.2.24"]
# ///
"""deepagents commits replies that are no summary: empty, cut short, refused (OUT-1)."""

import sys

from deepagents import create_deep_agent
from deepagents.backends import StateBackend
from deepagents.middleware.summarization import SummarizationMiddleware
from langchain_core.language_models.fake_chat_models import GenericFakeChatModel
from langchain_core.messages import AIMessage, HumanMessage

REPLIES = (("", "stop"), ("The user asked to deploy it to /sr", "length"), ("I can't help with that.", "refusal"))


class Model(GenericFakeChatModel):
    def bind_tools(self, tools, **_):
        return self


committed = []
for text, finish in REPLIES:
    summariser = Model(messages=iter([AIMessage(text, response_metadata={"finish_reason": finish})]))
    middleware = SummarizationMiddleware(
        summariser, backend=StateBackend(), trigger=("messages", 20), keep=("messages", 6)
    )
    agent = create_deep_agent(Model(messages=iter([AIMessage("Done.")])), middleware=[middleware])
    steps = agent.stream({"messages": [HumanMessage(f"turn {i}") for i in range(30)]}, stream_mode="updates")
    updates = (update for step in steps for update in step.values() if update)
    events = [update["_summarization_event"] for update in updates if "_summarization_event" in update]
    print(f"Did: ran an agent on 30 messages; the model's summary is {text!r}, with finish_reason {finish!r}.")
    print("Expected: it is not committed as a summary, and the messages stay in the window.")
    print("Got:", *(f"{e['summary_message'].text[-70:]!r} for {e['cutoff_index']} messages\n" for e in events))
    committed += events
sys.exit(1 if committed else 0)
