# /// script
# requires-python = ">=3.11"
# dependencies = [
#     "deepagents==0.7.32",
#     "langchain==1.5.2",
#     "langchain-core==1.8.3",
#     "langchain-anthropic==1.7.10",
#     "langchain-google-genai==4.4.3",
#     "langchain-protocol==0.0.20",
#     "langgraph==1.2.24",
#     "langgraph-checkpoint==4.3.2",
#     "langgraph-checkpoint-sqlite==3.1.2",
#     "langgraph-prebuilt==1.1.3",
#     "langgraph-sdk==0.4.14",
#     "langsmith==0.15.1",
#     "ormsgpack==1.13.1",
#     "pydantic==2.14.4",
#     "tenacity==9.1.4",
# ]
# ///
"""SummarizationMiddleware of LangChain's deepagents, with files on disk and a SQLite checkpointer.

A deep agent made by `create_deep_agent`, with files on disk (`FilesystemBackend`), its thread in LangGraph's SQLite
checkpointer, and the `SummarizationMiddleware` that `create_deep_agent` adds itself for a model without a profile,
except for the trigger: 20 messages in place of 170,000 tokens.

- Trigger: 20 messages. The window has the system prompt besides, so the settings say a budget of 20 items of which
  all may be used: at 21 items the agent compacts. A budget in items is taken where one is given (at least 8).
- Append: the message is added to the thread by `update_state`; no model is called.
- Compact: the agent runs once on the thread as it is. The middleware compacts, or does not, before the model is
  called. What the model answers to that call is removed from the thread again, because no turn of the suite says it.
- Live: the messages that a model receives from an agent with the same middleware, its trigger off, over a copy of
  the thread. Neither the thread nor the files change.
- Pointers: the path in the summary, with the turns before the event's `cutoff_index`. Later summaries name the same
  file, to which their messages were appended. Attachments are saved in files of their own, which the history refers
  to by path: these paths are pointers too, and a turn that is nothing but an attachment is behind one of them.
- Get: `backend.read`, 2,000 lines at a time. The file holds messages as XML; its escapes are undone. Summarisation
  never removes a file, so a path with no file was never given out: `foreign`.
- Search: `backend.grep` under `/conversation_history`, a line at a time and as it stands in the file.
- Outcome: the thread's `_summarization_event` is new or it is not. An exception out of the agent is the outcome
  `failed` where it is the model's own; LangGraph keeps nothing of a step that raised.
"""

import base64
import dataclasses
import json
import os
import re
import shutil
import sqlite3
import tempfile
import types
from collections.abc import Callable, Sequence
from importlib.metadata import version
from pathlib import Path
from string import ascii_letters, digits
from typing import Any, TypeAlias
from xml.sax.saxutils import unescape

from anchorhold_sdk import (
    Answer,
    AnswerKind,
    CarrierKind,
    Description,
    Item,
    Mechanism,
    Outcome,
    OutcomeKind,
    Pointer,
    Settings,
    Shown,
    Summarise,
    SummariserError,
    Turn,
    Unit,
    guard,
    serve,
)

CHANNEL = guard() if __name__ == "__main__" else None

import tenacity.nap  # noqa: E402 - the stream is guarded before anything else is imported
from deepagents import create_deep_agent  # noqa: E402
from deepagents.backends import FilesystemBackend  # noqa: E402
from deepagents.middleware.summarization import (  # noqa: E402
    SummarizationMiddleware,
    compute_summarization_defaults,
)
from langchain_core.language_models.chat_models import BaseChatModel  # noqa: E402
from langchain_core.messages import (  # noqa: E402
    AIMessage,
    AnyMessage,
    BaseMessage,
    HumanMessage,
    RemoveMessage,
    SystemMessage,
    ToolMessage,
)
from langchain_core.outputs import ChatGeneration, ChatResult  # noqa: E402
from langgraph.checkpoint.sqlite import SqliteSaver  # noqa: E402

TRIGGER = 20
"""Messages at which the agent compacts."""

EVENT = "_summarization_event"
HISTORY = "/conversation_history"
MEDIA_FOLDER = f"{HISTORY}/media/"
MEDIA = re.compile(rf'url="({MEDIA_FOLDER}[^"]+)"')
"""A reference to an attachment, as it stands in the saved history."""

FINISH = {
    "stop": "stop",
    "length": "length",
    "refusal": "content_filter",
    "content-filter": "content_filter",
    "tool-call": "tool_calls",
}
"""The suite's words for how a reply ended, in those of model providers."""

# What the suite says stays on this machine, whatever the environment asks for.
os.environ["LANGSMITH_TRACING"] = os.environ["LANGCHAIN_TRACING_V2"] = "false"

# A failed model call is tried three times, with seconds in between. The attempts are the compactor's; the waiting is
# time, and time is the suite's.
tenacity.nap.time = types.SimpleNamespace(sleep=lambda _: None)


Answering: TypeAlias = Callable[[Sequence[BaseMessage]], AIMessage]


class ScriptedModel(BaseChatModel):
    """A chat model that answers by a function."""

    answer: Answering

    @property
    def _llm_type(self) -> str:
        return "scripted"

    def bind_tools(self, _tools: Any, **_: Any) -> "ScriptedModel":
        """Take the agent's tools; none is ever called."""
        return self

    def _generate(self, messages: list[BaseMessage], *_: Any, **__: Any) -> ChatResult:
        return ChatResult(generations=[ChatGeneration(message=self.answer(messages))])


class Adapter:
    """One thread of one deep agent."""

    _seen_at: int
    """How much had been written to the thread when the model's view of it was last taken."""

    def describe(self) -> Description:
        """Name, version, and what cannot be driven."""
        return Description(
            name="deepagents",
            version=version("deepagents"),
            mechanisms=frozenset({Mechanism.SUMMARISER}),
            hidden={
                Mechanism.CRASHES: "the history file is written before the summary is asked for and the thread after "
                "it; this adapter does not stop the agent between them",
                Mechanism.SESSIONS: "one backend and one checkpointer serve many threads; this adapter drives one",
            },
        )

    def open(self, settings: Settings, summarise: Summarise) -> Settings:
        """Start a thread on a fresh directory."""
        self._directory = Path(tempfile.mkdtemp(prefix="anchorhold-deepagents-"))
        self._summarise = summarise
        self._config = {"configurable": {"thread_id": settings.session}}
        self._turns: set[str] = set()
        wanted = settings.budget if settings.unit == Unit.ITEMS else None
        # Below 8 the six messages that are kept, the summary and the system prompt would not fit.
        self._trigger = max(8, wanted) if wanted else TRIGGER
        self._connect()
        return dataclasses.replace(
            settings,
            budget=self._trigger,
            watermark=1.0,
            unit=Unit.ITEMS,
            user=None,
            horizon=None,
            lifetime=None,
            keep=None,
        )

    def append(self, turn: Turn) -> str:
        """Add one message to the thread under the turn's id."""
        self._agent.update_state(self._config, {"messages": [message_of(turn)]}, as_node="__start__")
        self._turns.add(turn.id)
        return turn.id

    def compact(self) -> Outcome:
        """Run the agent once."""
        before = self._state().get(EVENT)
        try:
            self._agent.invoke({"messages": []}, self._config)
        except SummariserError as error:
            return Outcome(kind=OutcomeKind.FAILED, reason=f"the agent's run raised {type(error).__name__}: {error}")
        state = self._state()
        reply = state["messages"][-1]
        self._agent.update_state(self._config, {"messages": [RemoveMessage(id=reply.id)]}, as_node="__start__")
        event = state.get(EVENT)
        if event is None or event == before:
            return Outcome(kind=OutcomeKind.NOTHING)
        start = before["cutoff_index"] if before else 0
        return Outcome(
            kind=OutcomeKind.COMMITTED,
            summary=summary_id(event),
            covered=self._covered(state["messages"][start : event["cutoff_index"]]),
        )

    def live(self) -> list[Item]:
        """What a model call would receive, taken from a call on a copy of the thread."""
        state = self._state()
        if self._seen_at != self._connection.total_changes:
            # Nothing else decides what the model sees, so it is asked again only where the thread was written to.
            self._connection.backup(self._copy)
            self._viewer.invoke({"messages": []}, self._config)
            self._seen_at = self._connection.total_changes
        return [self._item(i, m, state) for i, m in enumerate(self._received)]

    def pointers(self) -> list[Pointer]:
        """The path that the live summary names."""
        state = self._state()
        event = state.get(EVENT)
        if event is None or event["file_path"] is None:
            return []
        spoken = [m for m in state["messages"][: event["cutoff_index"]] if content_of(m)[0] or called(m)]
        path = event["file_path"]
        saved = self._backend.read(path).file_data or {}
        media = dict.fromkeys(MEDIA.findall(unescape(saved.get("content", ""))))
        return [
            Pointer(summary=summary_id(event), token=path, covers=self._covered(spoken), key=path),
            *(Pointer(summary=summary_id(event), token=reference, key=reference) for reference in media),
        ]

    def get(self, token: str) -> Answer:
        """Read the file. A token may end in `#` and the number of the line to begin at: a continuation."""
        path, _, start = token.partition("#")
        if path.startswith(MEDIA_FOLDER):
            (saved,) = self._backend.download_files([path])
            if saved.content is None:
                return Answer(kind=AnswerKind.FOREIGN, reason=saved.error)
            return Answer(kind=AnswerKind.FOUND, data=saved.content, carrier=path, evidence=True)
        result = self._backend.read(path, offset=int(start or 0))
        if result.error is not None:
            missing = "not found" in result.error
            return Answer(kind=AnswerKind.FOREIGN if missing else AnswerKind.DEGRADED, reason=result.error)
        content = (result.file_data or {}).get("content", "")
        if result.total_lines is None:
            # Only of an empty file are the lines not counted; its content is then a reminder to the model.
            return Answer(kind=AnswerKind.UNANCHORED, reason=content or "the file is empty")
        more = result.next_offset
        return Answer(
            kind=AnswerKind.FOUND if more is None else AnswerKind.PARTIAL,
            text=unescape(content),
            carrier=path,
            evidence=True,
            continuation=None if more is None else f"{path}#{more}",
        )

    def search(self, literal: str) -> Answer:
        """Look for a literal in the saved history."""
        result = self._backend.grep(literal, path=HISTORY)
        if result.error is not None:
            return Answer(kind=AnswerKind.DEGRADED, reason=result.error)
        if not result.matches:
            return Answer(kind=AnswerKind.UNANCHORED, reason="no line of the saved history has it")
        return Answer(
            kind=AnswerKind.PARTIAL if result.truncated else AnswerKind.FOUND,
            text=unescape("\n".join(match["text"] for match in result.matches)),
            carrier=result.matches[0]["path"],
            evidence=True,
        )

    def reopen(self) -> None:
        """Close the database and make everything anew over the same directory."""
        self._disconnect()
        self._connect()

    def corrupt(self, token: str) -> bool:
        """Change letters and digits of the messages in the file. The markup around them stays whole."""
        path = self._directory / "files" / token.partition("#")[0].lstrip("/")
        if not path.is_file():
            return False
        if MEDIA_FOLDER in token:
            path.write_bytes(bytes(byte ^ 1 for byte in path.read_bytes()))
            return True
        text = path.read_text(encoding="utf-8")
        damaged = re.sub(r"(?<=>)[^<]+(?=<)", lambda m: flip(m[0]), text)
        path.write_text(damaged, encoding="utf-8")
        return damaged != text

    def close(self) -> None:
        """Remove the directory."""
        self._disconnect()
        shutil.rmtree(self._directory, ignore_errors=True)

    def _connect(self) -> None:
        self._connection = sqlite3.connect(self._directory / "thread.db", check_same_thread=False)
        self._backend = FilesystemBackend(root_dir=self._directory / "files", virtual_mode=True)
        self._agent: Any = self._make(self._noted, self._connection, trigger=("messages", self._trigger))
        self._copy = sqlite3.connect(":memory:", check_same_thread=False)
        self._received: list[BaseMessage] = []
        self._seen_at = -1
        self._viewer: Any = self._make(self._seen, self._copy, trigger=None)

    def _disconnect(self) -> None:
        self._connection.close()
        self._copy.close()

    def _make(self, answer: Answering, thread: sqlite3.Connection, *, trigger: tuple[str, int] | None) -> Any:
        summariser = ScriptedModel(answer=self._summary)
        defaults = compute_summarization_defaults(summariser)
        middleware = SummarizationMiddleware(
            model=summariser,
            backend=self._backend,
            trigger=trigger,
            keep=defaults["keep"],
            trim_tokens_to_summarize=None,
            truncate_args_settings=defaults["truncate_args_settings"],
        )
        return create_deep_agent(
            model=ScriptedModel(answer=answer),
            backend=self._backend,
            middleware=[middleware],
            checkpointer=SqliteSaver(thread),
        )

    def _noted(self, _: Sequence[BaseMessage]) -> AIMessage:
        return AIMessage("noted")

    def _seen(self, messages: Sequence[BaseMessage]) -> AIMessage:
        self._received[:] = messages
        return AIMessage("seen")

    def _summary(self, messages: Sequence[BaseMessage]) -> AIMessage:
        reply = self._summarise(Shown(messages=tuple(content_of(m)[0] or "" for m in messages)))
        return AIMessage(reply.text, response_metadata={"finish_reason": FINISH.get(reply.finish, reply.finish)})

    def _state(self) -> dict[str, Any]:
        values: dict[str, Any] = self._agent.get_state(self._config).values
        return values

    def _covered(self, messages: Sequence[AnyMessage]) -> tuple[str, ...]:
        return tuple(m.id for m in messages if m.id in self._turns)

    def _item(self, index: int, message: BaseMessage, state: dict[str, Any]) -> Item:
        text, data = content_of(message)
        if message.additional_kwargs.get("lc_source") == "summarization":
            event = state[EVENT]
            return Item(
                id=summary_id(event),
                kind=CarrierKind.SUMMARY,
                text=text,
                speaker="user",
                covers=self._covered(state["messages"][: event["cutoff_index"]]),
            )
        if message.id in self._turns:
            speaker = SPEAKERS[message.type]
            text = "\n".join([*([text] if text else []), *called(message)]) or text
            return Item(id=message.id, kind=CarrierKind.RAW, text=text, data=data, turn=message.id, speaker=speaker)
        return Item(id=message.id or f"other-{index}", kind=CarrierKind.OTHER, text=text, data=data)


SPEAKERS = {"human": "user", "ai": "assistant", "system": "system", "tool": "tool"}


def message_of(turn: Turn) -> AnyMessage:
    """The turn as a message of LangChain."""
    content: Any = turn.text or ""
    if turn.data is not None and (broken := broken_text(turn.data)) is not None:
        content = broken
    elif turn.data is not None:
        # As an image, which a model without a profile is taken to accept; of any other kind it is sent a notice.
        block = {
            "type": "image",
            "base64": base64.b64encode(turn.data).decode("ascii"),
            "mime_type": "image/png",
        }
        content = [*([{"type": "text", "text": turn.text}] if turn.text else []), block]
    if turn.speaker == "assistant":
        valid, invalid = [], []
        for call in turn.calls:
            arguments = parsed(call.arguments)
            if arguments is None:
                invalid.append({"id": call.id, "name": call.name, "args": call.arguments, "error": "not an object"})
            else:
                valid.append({"id": call.id, "name": call.name, "args": arguments})
        return AIMessage(content, id=turn.id, tool_calls=valid, invalid_tool_calls=invalid)
    if turn.speaker == "tool":
        return ToolMessage(content, id=turn.id, tool_call_id=turn.result_of or "")
    return (SystemMessage if turn.speaker == "system" else HumanMessage)(content, id=turn.id)


def broken_text(data: bytes) -> str | None:
    """Text with lone surrogates, which travels as bytes; none where the bytes are something else."""
    try:
        data.decode()
    except UnicodeDecodeError:
        try:
            return data.decode("utf-8", "surrogatepass")
        except UnicodeDecodeError:
            return None
    return None


def parsed(arguments: str) -> dict[str, Any] | None:
    """The arguments of a call as an object, which is how LangChain keeps them; none where they are not one."""
    try:
        value = json.loads(arguments)
    except ValueError:
        return None
    return value if isinstance(value, dict) else None


def content_of(message: BaseMessage) -> tuple[str | None, bytes | None]:
    """Text and attached bytes of a message."""
    if isinstance(message.content, str):
        return message.content, None
    blocks = [b for b in message.content if isinstance(b, dict)]
    texts = [b["text"] for b in blocks if b.get("type") == "text"]
    attached = [b["base64"] for b in blocks if b.get("base64")]
    return ("".join(texts) if texts else None), (base64.b64decode(attached[0]) if attached else None)


def called(message: BaseMessage) -> list[str]:
    """The arguments of a message's calls, which the model is sent with it."""
    if not isinstance(message, AIMessage):
        return []
    valid = [json.dumps(call["args"], ensure_ascii=False) for call in message.tool_calls]
    return [*valid, *(call["args"] or "" for call in message.invalid_tool_calls)]


def summary_id(event: dict[str, Any]) -> str:
    """A name for a summary. The framework gives none; the event says when and up to where it was made."""
    return f"summary-{event['created_at_index']}-{event['cutoff_index']}"


def flip(text: str) -> str:
    """The next letter or digit in the place of each; XML escapes stay as they are."""
    following = str.maketrans(ascii_letters + digits, ascii_letters[1:] + "a" + digits[1:] + "0")
    return re.sub(r"&\w+;|\w+", lambda m: m[0] if m[0].startswith("&") else m[0].translate(following), text)


if __name__ == "__main__":
    serve(Adapter, channel=CHANNEL)
