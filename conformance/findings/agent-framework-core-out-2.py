# /// script
# requires-python = ">=3.11"
# dependencies = ["agent-framework-core==1.22.0", "msgspec==0.22.0", "pydantic==2.14.4"]
# ///
"""A caller of agent-framework-core cannot tell a compaction that failed from one that had nothing to do (OUT-2)."""

import asyncio
import sys

from agent_framework import Message, SummarizationStrategy, apply_compaction


class Broken:
    additional_properties = {}

    async def get_response(self, messages, **_):
        raise ConnectionError("429: too many requests")


async def told(length):
    """What a caller of apply_compaction can see: an exception, the messages returned, the marks left on them."""
    messages = [Message("user", [f"turn {i}"], message_id=f"t{i}") for i in range(length)]
    try:
        returned = await apply_compaction(messages, strategy=SummarizationStrategy(client=Broken()))
    except Exception as error:
        return f"an exception, {type(error).__name__}"
    same = [m.message_id for m in returned] == [f"t{i}" for i in range(length)]
    marks = {key for m in messages for key in (*m.additional_properties, *m.additional_properties["_group"])}
    return f"{'the same' if same else 'other'} messages, marked with {', '.join(sorted(marks))}"


few, many = asyncio.run(told(3)), asyncio.run(told(30))
print("Did: applied SummarizationStrategy with its defaults, and a model that fails, to 3 messages, which are too")
print("     few to compact, and to 30.")
print("Expected: two different answers, one for nothing to do and one for failed.")
print(f"Got for 3:  {few}")
print(f"Got for 30: {many}")
print("The failure stands in the log, as a warning of the logger 'agent_framework'.")
sys.exit(1 if few == many else 0)
