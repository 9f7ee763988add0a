# /// script
# requires-python = ">=3.11"
# dependencies = ["deepagents==0.7.32", "langchain==1.5.2", "langchain-core==1.8.3", "langgraph==1.2.24"]
# ///
"""deepagents: half of a surrogate pair comes back from the thread as a question mark (STR-3)."""

import sys

from deepagents import create_deep_agent
from langchain_core.language_models.fake_chat_models import GenericFakeChatModel
from langchain_core.messages import AIMessage, HumanMessage
from langgraph.checkpoint.memory import InMemorySaver

seen, thread = [], {"configurable": {"thread_id": "t"}}


class Model(GenericFakeChatModel):
    def bind_tools(self, tools, **_):
        return self

    def _generate(self, messages, *args, **kwargs):
        seen.append(next(m.text for m in messages if m.type == "human"))
        return super()._generate(messages, *args, **kwargs)


agent = create_deep_agent(Model(messages=iter([AIMessage("Done.")] * 2)), checkpointer=InMemorySaver())
agent.invoke({"messages": [HumanMessage("cut here: \ud83d")]}, thread)
agent.invoke({"messages": [HumanMessage("Go on.")]}, thread)
print(
    "Did: said something that ends in half of a surrogate pair, as text that was cut does, and then something else."
)
print("Expected: the second call of the model has the first message as the first call had it, or an error is raised.")
print(f"Got: {seen!a}")
sys.exit(1 if seen[0] != seen[1] else 0)
