# /// script
# requires-python = ">=3.11"
# dependencies = ["agent-framework-core==1.22.0", "msgspec==0.22.0", "pydantic==2.14.4"]
# ///
"""agent-framework-core: a result that comes late stands in the loaded history without its call (STR-1)."""

import asyncio
import sys

from agent_framework import ChatResponse, Content, InMemoryHistoryProvider, Message, apply_compaction
from agent_framework import SummarizationStrategy as Strategy


class Model:
    additional_properties = {}

    async def get_response(self, messages, **_):
        return ChatResponse(messages=[Message("assistant", ["Approval was asked for."])])


async def main():
    history, state = InMemoryHistoryProvider(skip_excluded=True), {}
    call = Message("assistant", [Content.from_function_call("c1", "approve", arguments="{}")], message_id="call")
    work = [Message(("assistant", "user")[i % 2], [f"turn {i}"], message_id=f"t{i}") for i in range(9)]
    await history.save_messages("s", [call, *work], state=state)
    await apply_compaction(state["messages"], strategy=Strategy(client=Model()))
    result = Message("tool", [Content.from_function_result("c1", result="approved")], message_id="result")
    await history.save_messages("s", [result], state=state)
    loaded = [m.message_id for m in await history.get_messages("s", state=state)]
    print("Did: compacted a history whose call is not answered yet; then its result was saved.")
    print("Expected: the history that is loaded has the call and its result, or neither.")
    print(f"Got: {loaded}")
    return "result" in loaded and "call" not in loaded


sys.exit(1 if asyncio.run(main()) else 0)
