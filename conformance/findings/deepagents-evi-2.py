# /// script
# requires-python = ">=3.11"
# dependencies = ["deepagents==0.7.32", "langchain==1.5.2", "langchain-core==1.8.3", "langgraph==1.2.24"]
# ///
"""deepagents: a summary leaves out a path that only an older message has, and nothing names it as missing (EVI-2)."""

import sys
import tempfile

from deepagents.backends import FilesystemBackend
from deepagents.middleware.summarization import SummarizationMiddleware
from langchain.agents import create_agent
from langchain_core.language_models.fake_chat_models import GenericFakeChatModel
from langchain_core.messages import AIMessage, HumanMessage

seen = []


class Model(GenericFakeChatModel):
    def _generate(self, messages, *args, **kwargs):
        seen.append([m.text for m in messages])
        return super()._generate(messages, *args, **kwargs)


files = FilesystemBackend(root_dir=tempfile.mkdtemp(), virtual_mode=True)
summariser = GenericFakeChatModel(messages=iter([AIMessage("The agent configured the application.")]))
middleware = SummarizationMiddleware(summariser, backend=files, trigger=("messages", 20), keep=("messages", 6))
agent = create_agent(Model(messages=iter([AIMessage("Done.")])), middleware=[middleware])
talk = [HumanMessage("The deploy target of job J-88 is /srv/a7."), *(HumanMessage(f"turn {i}") for i in range(29))]
agent.invoke({"messages": talk})
(window,) = seen
print("Did: ran an agent on 30 messages; only the first names /srv/a7, and the model's summary does not mention it.")
print("Expected: what the model is sent has the path, or says that something of that kind was left out.")
print(f"Got: {window[0]!r}, and then {window[1:]}")
words = " ".join(window).lower()
sys.exit(0 if "/srv/a7" in words or "omit" in words or "left out" in words else 1)
