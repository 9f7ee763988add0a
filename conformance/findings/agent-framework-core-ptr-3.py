# /// script
# requires-python = ">=3.11"
# dependencies = ["agent-framework-core==1.22.0", "msgspec==0.22.0", "pydantic==2.14.4"]
# ///
"""agent-framework-core: a late result brings its call back beside the summary that replaced it (PTR-3)."""

import asyncio
import sys

from agent_framework import ChatResponse, Content, Message, SummarizationStrategy, apply_compaction


class Model:
    additional_properties = {}

    async def get_response(self, messages, **_):
        return ChatResponse(messages=[Message("assistant", ["Approval was asked for."])])


async def main():
    strategy = SummarizationStrategy(client=Model())
    call = Message("assistant", [Content.from_function_call("c1", "approve", arguments="{}")], message_id="call")
    messages = [call]
    messages += [Message(("assistant", "user")[i % 2], [f"turn {i}"], message_id=f"t{i}") for i in range(6)]
    window = await apply_compaction(messages, strategy=strategy)
    covered = window[0].additional_properties["_group"]["_summary_of_message_ids"]
    messages.append(Message("tool", [Content.from_function_result("c1", result="approved")], message_id="result"))
    later = [m.message_id for m in await apply_compaction(messages, strategy=lambda _: asyncio.sleep(0, False))]
    print("Did: compacted a call that is not answered yet, added its result, and projected the messages again.")
    print("Expected: the summary does not stand for a message that is in the window as well.")
    print(f"Got: {window[0].message_id} stands for {covered}, and the window is {later}")
    return window[0].message_id in later and "call" in covered and "call" in later


sys.exit(1 if asyncio.run(main()) else 0)
