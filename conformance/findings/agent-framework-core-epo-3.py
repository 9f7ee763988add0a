# /// script
# requires-python = ">=3.11"
# dependencies = ["agent-framework-core==1.22.0", "msgspec==0.22.0", "pydantic==2.14.4"]
# ///
"""agent-framework-core hands out a message that was changed in its store, as if it were the original (EPO-3)."""

import asyncio
import sys
import tempfile
from pathlib import Path

import agent_framework as af


class Model:
    additional_properties = {}

    async def get_response(self, messages, **_):
        return af.ChatResponse(messages=[af.Message("assistant", ["They talked about deployments."])])


async def main(root):
    session = af.AgentSession(session_id="s")
    session.state["all"] = [af.Message("user", [f"deploy J-{i} to /srv/a{i}"], message_id=f"t{i}") for i in range(10)]
    window = await af.apply_compaction(session.state["all"], strategy=af.SummarizationStrategy(client=Model()))
    token = window[0].additional_properties["_group"]["_summary_of_message_ids"][0]
    await af.FileSessionStore(root).set("s", session)
    file = Path(root, "s.json")
    file.write_text(file.read_text().replace("/srv/a0", "/srv/b0"))
    print("Did: compacted ten messages, saved the session, changed /srv/a0 to /srv/b0 in the file, loaded it,")
    print(f"     and looked up {token!r}, the first id that the summary names as its source.")
    print("Expected: an error that says that the content is not what the summary was made of.")
    loaded = await af.FileSessionStore(root).get("s")
    text = next(m.text for m in loaded.state["all"] if m.message_id == token)
    print(f"Got: {text!r}, and no error.")
    return text != "deploy J-0 to /srv/a0"


with tempfile.TemporaryDirectory() as directory:
    sys.exit(1 if asyncio.run(main(directory)) else 0)
