# /// script
# requires-python = ">=3.11"
# dependencies = ["agent-framework-core==1.22.0", "msgspec==0.22.0", "pydantic==2.14.4"]
# ///
"""agent-framework-core: a summary leaves out a path that only an older message has, and nothing says so (EVI-2)."""

import asyncio
import sys

from agent_framework import ChatResponse, Message, SummarizationStrategy, apply_compaction


class Model:
    additional_properties = {}

    async def get_response(self, messages, **_):
        return ChatResponse(messages=[Message("assistant", ["The agent configured the application."])])


messages = [Message("user", ["The deploy target of job J-88 is /srv/a7."], message_id="t0")]
messages += [Message("user", [f"turn {i}"], message_id=f"t{i}") for i in range(1, 10)]
window = asyncio.run(apply_compaction(messages, strategy=SummarizationStrategy(client=Model())))
texts = [m.text for m in window]
print("Did: compacted ten messages; only the first names /srv/a7, and the model's summary does not mention it.")
print("Expected: the window has the path, or says that something of that kind was left out.")
print(f"Got: {texts}")
said = any("/srv/a7" in text or "omit" in text.lower() or "left out" in text.lower() for text in texts)
sys.exit(0 if said else 1)
