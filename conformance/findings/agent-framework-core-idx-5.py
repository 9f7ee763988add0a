# /// script
# requires-python = ">=3.11"
# dependencies = ["agent-framework-core==1.22.0", "msgspec==0.22.0", "pydantic==2.14.4"]
# ///
"""agent-framework-core: an older message that is delivered again under its id is in the history twice (IDX-5)."""

import asyncio
import sys

from agent_framework import InMemoryHistoryProvider, Message


def transcript(*numbers):
    return [Message(("user", "assistant")[i % 2], [f"turn {i}"], message_id=f"t{i}") for i in numbers]


async def main():
    history, state = InMemoryHistoryProvider(), {}
    await history.save_messages("s", transcript(0, 1, 2, 3), state=state)
    await history.save_messages("s", transcript(0, 1, 2, 3), state=state)
    await history.save_messages("s", transcript(2, 3), state=state)
    before = [m.message_id for m in state["messages"]]
    await history.save_messages("s", transcript(1), state=state)
    after = [m.message_id for m in state["messages"]]
    print("Did: saved four messages, replayed all of them, then the last two, then the second; always the same ids.")
    print("Expected: nothing is added.")
    print(f"Got: {before} after the first two replays, and {after} after the third.")
    return len(before) == 4 and len(after) == 5


sys.exit(1 if asyncio.run(main()) else 0)
