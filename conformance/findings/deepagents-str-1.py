# /// script
# requires-python = ">=3.11"
# dependencies = ["deepagents==0.7.32", "langchain==1.5.2", "langchain-core==1.8.3", "langgraph==1.2.24"]
# ///
"""deepagents: a result that comes late is sent to the model without its call (STR-1)."""

import sys

from deepagents.backends import StateBackend
from deepagents.middleware.summarization import SummarizationMiddleware
from langchain.agents import create_agent
from langchain_core.language_models.fake_chat_models import GenericFakeChatModel
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
from langgraph.checkpoint.memory import InMemorySaver

seen, thread = [], {"configurable": {"thread_id": "t"}}


class Model(GenericFakeChatModel):
    def _generate(self, messages, *args, **kwargs):
        calls = [call["id"] for m in messages if isinstance(m, AIMessage) for call in m.tool_calls]
        seen.append((calls, [m.tool_call_id for m in messages if isinstance(m, ToolMessage)]))
        return super()._generate(messages, *args, **kwargs)


summariser = GenericFakeChatModel(messages=iter([AIMessage("Approval was asked for.")]))
middleware = SummarizationMiddleware(
    summariser, backend=StateBackend(), trigger=("messages", 20), keep=("messages", 6)
)
model = Model(messages=iter([AIMessage("Done.")] * 2))
agent = create_agent(model, middleware=[middleware], checkpointer=InMemorySaver())
call = AIMessage("", tool_calls=[{"id": "c1", "name": "approve", "args": {}}])
agent.invoke({"messages": [call, *(HumanMessage(f"turn {i}") for i in range(25))]}, thread)
agent.invoke({"messages": [ToolMessage("approved", tool_call_id="c1")]}, thread)
calls, results = seen[-1]
print("Did: compacted a thread whose call was not answered yet, and then added its result.")
print("Expected: the model is sent the call and its result, or neither.")
print(f"Got: the calls {calls} and the results of {results}")
sys.exit(1 if "c1" in results and "c1" not in calls else 0)
