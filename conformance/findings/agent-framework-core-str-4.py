# /// script
# requires-python = ">=3.11"
# dependencies = ["agent-framework-core==1.22.0", "msgspec==0.22.0", "pydantic==2.14.4"]
# ///
"""agent-framework-core: the request that a run of tool calls works on leaves the window (STR-4)."""

import asyncio
import sys

from agent_framework import ChatResponse, Content, Message, SummarizationStrategy, apply_compaction


class Model:
    additional_properties = {}

    async def get_response(self, messages, **_):
        return ChatResponse(messages=[Message("assistant", ["The agent looked into several files."])])


messages = [Message("user", ["Please move the job to port 7443, and touch nothing else."], message_id="request")]
for i in range(4):
    call = Content.from_function_call(f"c{i}", "read", arguments="{}")
    messages.append(Message("assistant", [call], message_id=f"call{i}"))
    messages.append(Message("tool", [Content.from_function_result(f"c{i}", result="ok")], message_id=f"result{i}"))
window = asyncio.run(apply_compaction(messages, strategy=SummarizationStrategy(client=Model())))
ids = [m.message_id for m in window]
print("Did: compacted a request and four tool calls that work on it; nobody has answered the request yet.")
print("Expected: the request stays in the window word for word.")
print(f"Got: {ids}, beginning with {window[0].text!r}")
sys.exit(0 if "request" in ids else 1)
