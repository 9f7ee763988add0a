# /// script
# requires-python = ">=3.11"
# dependencies = [
#     "agent-framework-core==1.22.0",
#     "annotated-types==0.8.0",
#     "msgspec==0.22.0",
#     "opentelemetry-api==1.45.2",
#     "pydantic==2.14.4",
#     "pydantic-core==2.50.5",
#     "python-dotenv==1.2.4",
#     "pyyaml==6.0.4",
#     "regex==2026.11.19",
#     "typing-extensions==4.16.0",
#     "typing-inspection==0.4.5",
# ]
# ///
"""SummarizationStrategy of Microsoft's agent-framework-core, over its file session store.

Driven as a service that keeps nothing between requests would drive it: each operation loads the session from a
`FileSessionStore`, works on the message list that `InMemoryHistoryProvider` keeps in it, and stores it again.

- Trigger: `SummarizationStrategy` with its defaults, target 4 and threshold 2, so above 6 messages that are not
  system messages. The settings say that as a budget of 6 items, all of which may be used. A budget in items is
  taken where one is given: the target is then two less.
- Live: what `InMemoryHistoryProvider(skip_excluded=True)` loads, which is what `apply_compaction` returns as well.
- Pointers: the message ids that a summary lists as its sources. A summary of a summary lists the earlier summary
  and not its sources; those stand in the earlier summary's own list. Both lists are given.
- Get: the framework has no look-up; its users search the list, as is done here. No message ever leaves the list, so
  an id that is not in it was never given out: `foreign`. Nothing searches text.
- Outcome: `apply_compaction` returns the messages to send, and nothing else. A caller sees that a summary appeared
  or that none did; a failed model call is logged, and is otherwise the same as nothing to do.
"""

import base64
import dataclasses
import json
import shutil
import tempfile
import warnings
from collections.abc import Iterator, Sequence
from importlib.metadata import version
from pathlib import Path
from string import ascii_letters, digits
from typing import Any

from anchorhold_sdk import (
    Answer,
    AnswerKind,
    CarrierKind,
    Description,
    Item,
    Mechanism,
    OperationError,
    Outcome,
    OutcomeKind,
    Pointer,
    Settings,
    Shown,
    Summarise,
    Turn,
    Unit,
    guard,
    serve,
)

CHANNEL = guard() if __name__ == "__main__" else None

from agent_framework import (  # noqa: E402 - the stream is guarded before anything else is imported
    GROUP_ANNOTATION_KEY,
    SUMMARY_OF_MESSAGE_IDS_KEY,
    AgentSession,
    ChatResponse,
    Content,
    FileSessionStore,
    InMemoryHistoryProvider,
    Message,
    SummarizationStrategy,
    apply_compaction,
)

TARGET, THRESHOLD = 4, 2
"""Defaults of `SummarizationStrategy`."""

FINISH = {
    "stop": "stop",
    "length": "length",
    "refusal": "content_filter",
    "content-filter": "content_filter",
    "tool-call": "tool_calls",
}
"""The suite's words for how a reply ended, in the framework's."""


class ScriptedClient:
    """A chat client whose answers come from the suite."""

    additional_properties: dict[str, Any] = {}  # noqa: RUF012 - the framework's protocol asks for an attribute

    def __init__(self, summarise: Summarise) -> None:
        self._summarise = summarise

    async def get_response(self, messages: Sequence[Message], *, stream: bool = False, **_: Any) -> ChatResponse:
        """Answer; raises SummariserError where the scripted model fails."""
        if stream:
            raise NotImplementedError("summaries are not streamed")
        reply = await self._summarise.ask(Shown(messages=tuple(m.text for m in messages)))
        return ChatResponse(
            messages=[Message("assistant", [reply.text])], finish_reason=FINISH.get(reply.finish, reply.finish)
        )


class Adapter:
    """One session of the framework."""

    def describe(self) -> Description:
        """Name, version, and what cannot be driven."""
        return Description(
            name="agent-framework-core",
            version=version("agent-framework-core"),
            mechanisms=frozenset({Mechanism.SUMMARISER}),
            hidden={
                Mechanism.CRASHES: "the session is saved by its caller, in one atomic replacement; there is no step "
                "of a compaction at which this adapter could stop it",
                Mechanism.SESSIONS: "one store keeps many sessions; this adapter drives one at a time",
            },
        )

    def open(self, settings: Settings, summarise: Summarise) -> Settings:
        """Start a session on a fresh store."""
        self._directory = Path(tempfile.mkdtemp(prefix="anchorhold-agent-framework-"))
        self._summarise = summarise
        self._session = settings.session
        wanted = settings.budget if settings.unit == Unit.ITEMS else None
        self._target = max(1, wanted - THRESHOLD) if wanted else TARGET
        self._history = InMemoryHistoryProvider(skip_excluded=True)
        self._connect()
        return dataclasses.replace(
            settings,
            budget=self._target + THRESHOLD,
            watermark=1.0,
            unit=Unit.ITEMS,
            user=None,
            horizon=None,
            lifetime=None,
            keep=None,
        )

    async def append(self, turn: Turn) -> str:
        """Save one message under the turn's id."""
        session = await self._load()
        state = session.state.setdefault(self._history.source_id, {})
        await self._history.save_messages(self._session, [message_of(turn)], state=state)
        try:
            await self._store.set(self._session, session)
        except UnicodeEncodeError as error:
            # The store encodes the whole session before it touches the file.
            raise OperationError(f"the session store does not take this text: {error}") from error
        return turn.id

    async def compact(self) -> Outcome:
        """Apply the strategy to the stored messages, as the framework does before a model call."""
        session = await self._load()
        messages = self._messages(session)
        before = {m.message_id for m in messages}
        projected = await apply_compaction(messages, strategy=self._strategy)
        await self._store.set(self._session, session)
        for message in projected:
            if message.message_id not in before and sources_of(message):
                return Outcome(
                    kind=OutcomeKind.COMMITTED,
                    summary=message.message_id,
                    covered=tuple(s for s in sources_of(message) if s in before and not is_summary(messages, s)),
                )
        return Outcome(kind=OutcomeKind.NOTHING)

    async def live(self) -> list[Item]:
        """The messages that would be sent to the model."""
        session = await self._load()
        messages = self._messages(session)
        state = session.state.get(self._history.source_id)
        return [item_of(m, messages) for m in await self._history.get_messages(self._session, state=state)]

    async def pointers(self) -> list[Pointer]:
        """Sources of the live summaries, and of the summaries under them."""
        session = await self._load()
        messages = self._messages(session)
        state = session.state.get(self._history.source_id)
        live = await self._history.get_messages(self._session, state=state)
        return [pointer for message in live for pointer in pointers_of(message, messages)]

    async def get(self, token: str) -> Answer:
        """Look a message up by its id, among all that the session keeps."""
        messages = self._messages(await self._load())
        message = by_id(messages, token)
        if message is None:
            return Answer(kind=AnswerKind.FOREIGN, reason="no message of the session has this id")
        text, data = content_of(message)
        original = not sources_of(message)
        return Answer(
            kind=AnswerKind.FOUND,
            text=text,
            data=data,
            carrier=token,
            source=token if original else None,
            evidence=original,
        )

    def reopen(self) -> None:
        """Forget every object; the session is read from its file again."""
        self._history = InMemoryHistoryProvider(skip_excluded=True)
        self._connect()

    def corrupt(self, token: str) -> bool:
        """Change letters and digits of the message's text in the stored file. The JSON around it stays whole."""
        damaged = False
        for path in self._directory.glob("*.json"):
            snapshot = json.loads(path.read_text(encoding="utf-8"))
            for message in snapshot["state"][self._history.source_id]["messages"]:
                for content in message["contents"] if message["message_id"] == token else ():
                    if content.get("text"):
                        content["text"], damaged = flip(content["text"]), True
            path.write_text(json.dumps(snapshot, ensure_ascii=False), encoding="utf-8")
        return damaged

    def close(self) -> None:
        """Remove the store."""
        shutil.rmtree(self._directory, ignore_errors=True)

    def _connect(self) -> None:
        with warnings.catch_warnings():
            # It says that it is experimental; the report says so where it matters.
            warnings.simplefilter("ignore")
            self._store = FileSessionStore(self._directory)
        self._strategy = SummarizationStrategy(
            client=ScriptedClient(self._summarise), target_count=self._target, threshold=THRESHOLD
        )

    async def _load(self) -> AgentSession:
        stored = await self._store.get(self._session)
        return stored if stored is not None else AgentSession(session_id=self._session)

    def _messages(self, session: AgentSession) -> list[Message]:
        return session.state.get(self._history.source_id, {}).get("messages", [])


def message_of(turn: Turn) -> Message:
    """The turn as a message of the framework."""
    broken = broken_text(turn.data) if turn.data is not None else None
    text = turn.text if broken is None else broken
    if turn.result_of is not None:
        contents = [Content.from_function_result(turn.result_of, result=text or "")]
    else:
        contents = [Content.from_text(text)] if text is not None else []
    if turn.data is not None and broken is None:
        contents.append(Content.from_data(turn.data, "application/octet-stream"))
    contents += [Content.from_function_call(c.id, c.name, arguments=c.arguments) for c in turn.calls]
    return Message(turn.speaker, contents, message_id=turn.id)


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


def content_of(message: Message) -> tuple[str | None, bytes | None]:
    """Text of a message, with the arguments of its calls, and attached bytes."""
    texts = [c.text for c in message.contents if c.type == "text" and c.text is not None]
    texts += [str(c.result) for c in message.contents if c.type == "function_result" and c.result is not None]
    # The message has its calls with it.
    texts = ["".join(texts)] if texts else []
    texts += [str(c.arguments) for c in message.contents if c.type == "function_call" and c.arguments]
    attached = [c.uri for c in message.contents if c.type == "data" and c.uri]
    data = base64.b64decode(attached[0].partition(",")[2]) if attached else None
    return ("\n".join(texts) if texts else None), data


def sources_of(message: Message) -> list[str]:
    """The ids that a summary declares; nothing for any other message."""
    annotation = message.additional_properties.get(GROUP_ANNOTATION_KEY) or {}
    return list(annotation.get(SUMMARY_OF_MESSAGE_IDS_KEY) or [])


def by_id(messages: Sequence[Message], identity: str) -> Message | None:
    """The message of that id."""
    return next((m for m in messages if m.message_id == identity), None)


def is_summary(messages: Sequence[Message], identity: str) -> bool:
    """Whether the id is that of a summary."""
    message = by_id(messages, identity)
    return message is not None and bool(sources_of(message))


def turns_under(message: Message, messages: Sequence[Message]) -> Iterator[str]:
    """The turns that a summary declares, through the summaries under it."""
    for source in sources_of(message):
        under = by_id(messages, source)
        if under is not None and sources_of(under):
            yield from turns_under(under, messages)
        else:
            yield source


def pointers_of(message: Message, messages: Sequence[Message]) -> Iterator[Pointer]:
    """A summary's links to originals, and those of the summaries under it."""
    for source in sources_of(message):
        under = by_id(messages, source)
        if under is not None and sources_of(under):
            yield from pointers_of(under, messages)
        else:
            yield Pointer(summary=message.message_id, token=source, covers=(source,), key=source)


def item_of(message: Message, messages: Sequence[Message]) -> Item:
    """A message as an item of the window."""
    text, data = content_of(message)
    if sources_of(message):
        return Item(
            id=message.message_id,
            kind=CarrierKind.SUMMARY,
            text=text,
            speaker=str(message.role),
            covers=tuple(turns_under(message, messages)),
        )
    return Item(
        id=message.message_id,
        kind=CarrierKind.RAW,
        text=text,
        data=data,
        turn=message.message_id,
        speaker=str(message.role),
    )


def flip(text: str) -> str:
    """The next letter or digit in the place of each."""
    return text.translate(str.maketrans(ascii_letters + digits, ascii_letters[1:] + "a" + digits[1:] + "0"))


if __name__ == "__main__":
    serve(Adapter, channel=CHANNEL)
