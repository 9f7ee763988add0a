# /// script
# requires-python = ">=3.11"
# dependencies = ["deepagents==0.7.32", "langchain==1.5.2", "langchain-core==1.8.3", "langgraph==1.2.24"]
# ///
"""deepagents: the request that a run of tool calls works on leaves the window (STR-4)."""

import sys

from deepagents.backends import StateBackend
from deepagents.middleware.summarization import SummarizationMiddleware
from langchain.agents import create_agent
from langchain_core.language_models.fake_chat_models import GenericFakeChatModel
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage

seen = []


class Model(GenericFakeChatModel):
    def _generate(self, messages, *args, **kwargs):
        seen.append([m.text or m.type for m in messages])
        return super()._generate(messages, *args, **kwargs)


summariser = GenericFakeChatModel(messages=iter([AIMessage("The agent looked into several files.")]))
middleware = SummarizationMiddleware(
    summariser, backend=StateBackend(), trigger=("messages", 20), keep=("messages", 6)
)
agent = create_agent(Model(messages=iter([AIMessage("Done.")])), middleware=[middleware])
request = "Please move the job to port 7443, and touch nothing else."
talk = [HumanMessage(request)]
for i in range(12):
    talk.append(AIMessage("", tool_calls=[{"id": f"c{i}", "name": "read", "args": {"file": str(i)}}]))
    talk.append(ToolMessage("ok", tool_call_id=f"c{i}"))
agent.invoke({"messages": talk})
(window,) = seen
print("Did: ran an agent on a request and twelve tool calls that work on it; nobody has answered it yet.")
print("Expected: the model is sent the request word for word.")
print(f"Got: {window}")
sys.exit(0 if any(request in text for text in window) else 1)
