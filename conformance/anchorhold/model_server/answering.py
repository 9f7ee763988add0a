"""From a request to what is answered: the script's line, the summariser's words, and the record of both."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import msgspec

from anchorhold.compactor import Shown, SummariserError
from anchorhold.model_server.asked import Asked
from anchorhold.model_server.script import (
    CANCELLED,
    HANG,
    OF_A_SERVER,
    OVERLOADED,
    TIME_OUT,
    TOOL_CALL,
    Line,
    Script,
    ToolUse,
)
from anchorhold.summariser import ScriptedSummariser
from anchorhold_reference.extract import mentions
from anchorhold_spec.vocabulary import Fact

FAITHFUL = Line(mode="faithful")
SAID = "say"
CALLED = "call"
ANY_TOOL = "continue"
"""Name of the tool that is called where a request offers none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What the model says."""

    text: str = ""
    finish: str = "stop"
    """As in `anchorhold.compactor.Reply`."""
    call: ToolUse | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """What happens to one request."""

    number: int
    """How many requests there were before."""
    mode: str
    answer: Answer
    """Also where the connection fails: a stream does so in the middle of it."""
    status: int = 200
    """The HTTP status."""
    message: str = ""
    """What is said with a status that is not 200."""
    hangs: bool = False
    closes: bool = False
    breaks: bool = False
    """An error is told in the middle of a stream, whose status was 200 already."""
    seconds: float = 0.0


class Record(msgspec.Struct, frozen=True, kw_only=True):
    """One line of the record: what was shown, and what came of it. Headers, and so keys, are not kept."""

    call: int
    """Counted from 0."""
    api: str
    """`chat`, `responses` or `messages`."""
    model: str
    stream: bool
    mode: str
    """The mode that answered; `say` and `call` for an answer that the script spells out."""
    messages: tuple[str, ...]
    """The text of each message in order, instructions included: what `summarise` of the wire protocol is given."""
    status: int
    """The HTTP status; 0 where none was sent."""
    reply: str | None
    """None where nothing was said: an error, a hang, a closed connection."""
    finish: str | None
    tool: ToolUse | None
    request: Any
    """The body as it came."""


class Answering:
    """Decides on requests one after the other. Not safe for threads: the server's loop makes its calls."""

    def __init__(self, script: Script, *, told: Callable[[Record], None] = lambda _: None) -> None:
        """`told` is given each record as it is made."""
        self.records: list[Record] = []
        self._told = told
        self._summariser = ScriptedSummariser()
        self.follow(script)

    def follow(self, script: Script) -> None:
        """From here on answer by this script. Calls go on being counted, and the summary before stays what it was."""
        self._script = script
        self._used = [0] * len(script.answers)
        self._summariser.learn(None, script.facts)

    def decide(self, asked: Asked) -> Decision:
        """What this request is answered with; it is recorded."""
        line = self._line(asked)
        decision = self._decision(line, asked)
        silent = decision.hangs or decision.closes
        said = decision.status == 200 and not silent and not decision.breaks
        record = Record(
            call=decision.number,
            api=asked.api,
            model=asked.model,
            stream=asked.stream,
            mode=decision.mode,
            messages=asked.messages,
            status=0 if silent and not asked.stream else decision.status,
            reply=decision.answer.text if said else None,
            finish=decision.answer.finish if said else None,
            tool=decision.answer.call if said else None,
            request=asked.body,
        )
        self.records.append(record)
        self._told(record)
        return decision

    def _line(self, asked: Asked) -> Line:
        whole = "\n".join(asked.messages).casefold()
        for n, line in enumerate(self._script.answers):
            left = line.times is None or self._used[n] < line.times
            if left and (line.when is None or line.when.casefold() in whole):
                self._used[n] += 1
                return line
        return FAITHFUL

    def _decision(self, line: Line, asked: Asked) -> Decision:
        number = len(self.records)

        def decision(mode: str, answer: Answer, **more: Any) -> Decision:
            return Decision(number=number, mode=mode, answer=answer, seconds=line.seconds, **more)

        if line.say is not None:
            return decision(SAID, Answer(text=line.say))
        if line.call is not None:
            return decision(CALLED, Answer(finish=TOOL_CALL, call=line.call))
        assert line.mode is not None
        if line.mode == TOOL_CALL:
            tool = ToolUse(name=asked.tools[0] if asked.tools else ANY_TOOL)
            return decision(line.mode, Answer(finish=TOOL_CALL, call=tool))
        if line.mode == TIME_OUT:
            return decision(line.mode, Answer(), status=504, message="the model did not answer in time (scripted)")
        if not self._script.facts:
            # What the script knows a request by is an instruction, wherever it stands: a summary that repeated it
            # would make every later request look like one for a summary.
            asking = (line.when or "").casefold()
            told = [fact for fact in read_facts(asked.said) if not asking or asking not in fact.text.casefold()]
            self._summariser.learn(None, told)
        # What only a connection does: a stream breaks in the middle of a faithful answer.
        self._summariser.tell("faithful" if line.mode in OF_A_SERVER else line.mode)
        try:
            reply = self._summariser(Shown(messages=asked.messages))
        except SummariserError as error:
            return decision(line.mode, Answer(), status=line.status, message=str(error))
        if line.mode == OVERLOADED:
            words = "the model is overloaded (scripted)"
            if not asked.stream:
                return decision(line.mode, Answer(), status=503, message=words)
            answer = Answer(text=reply.text, finish=reply.finish)
            return decision(line.mode, answer, breaks=True, message=words)
        return decision(
            line.mode,
            Answer(text=reply.text, finish=reply.finish),
            hangs=line.mode == HANG,
            closes=line.mode == CANCELLED,
        )


def read_facts(texts: Iterable[str]) -> list[Fact]:
    """The assertions that the reference's extractor reads out of texts, each by its sentence."""
    return [
        Fact(
            text=mention.said,
            literal=mention.literal,
            kind=mention.kind,
            subject=mention.subject,
            attribute=mention.attribute,
        )
        for text in texts
        for mention in mentions(text)
        if not mention.part and mention.literal in mention.said
    ]
