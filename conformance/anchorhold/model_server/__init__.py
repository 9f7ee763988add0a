"""A model's server on loopback whose every answer is scripted, for whole agents whose base URL can be set.

It speaks OpenAI chat completions and responses and Anthropic messages, streaming and not. What it says is decided by
the same scripted summariser that the suite hands to adapters; what only a connection can do wrong (an HTTP error, a
hang, a connection that is closed) comes in addition.

    from anchorhold.model_server import Script, serving

    with serving(Script.of("truncated")) as server:
        client = openai.OpenAI(base_url=f"{server.url}/v1", api_key="none")
        ...
        server.calls  # what the model was shown, and how it answered

Needs aiohttp: the extra `anchorhold[model-server]`.
"""

from anchorhold.model_server.answering import Record
from anchorhold.model_server.script import Line, Script, ScriptError, ToolUse
from anchorhold.model_server.server import Served, serving

__all__ = ["Line", "Record", "Script", "ScriptError", "Served", "ToolUse", "serving"]
