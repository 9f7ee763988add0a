# /// script
# requires-python = ">=3.11"
# dependencies = ["agent-framework-core==1.22.0", "msgspec==0.22.0", "pydantic==2.14.4"]
# ///
"""agent-framework-core commits replies that are no summary: cut short, refused, echoed (OUT-1)."""

import asyncio
import sys

from agent_framework import ChatResponse, Message, SummarizationStrategy, apply_compaction

REPLIES = {
    "cut at the token limit": ("The user asked to deploy job J-88 to /sr", "length"),
    "a refusal": ("I'm sorry, but I can't help with that.", "content_filter"),
    "the last message, echoed": ("turn 5", "stop"),
}


class Model:
    additional_properties = {}

    def __init__(self, text, finish):
        self.text, self.finish = text, finish

    async def get_response(self, messages, **_):
        return ChatResponse(messages=[Message("assistant", [self.text])], finish_reason=self.finish)


async def committed(kind, text, finish):
    messages = [Message("user", [f"turn {i}"], message_id=f"t{i}") for i in range(10)]
    window = await apply_compaction(messages, strategy=SummarizationStrategy(client=Model(text, finish)))
    print(f"Did: compacted ten messages; the model's reply is {kind} (finish_reason {finish!r}).")
    print("Expected: it is not committed as a summary, and the ten messages stay in the window.")
    print(f"Got: the window is {[m.text for m in window]}", end="\n\n")
    return window[0].text == text


shown = [asyncio.run(committed(kind, *reply)) for kind, reply in REPLIES.items()]
sys.exit(1 if any(shown) else 0)
