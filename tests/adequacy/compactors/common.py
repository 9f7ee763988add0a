"""What the architectures share: how big a window is, what a reply has to look like, what a text asserts."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from anchorhold.compactor import Reply, Settings, Shown
from anchorhold_spec.vocabulary import CarrierKind, Item, Outcome, OutcomeKind, Turn

BUDGET, WATERMARK = 1200, 0.7
KEEP = 4
"""Turns at the end of the window that are never replaced."""

STATEMENT = re.compile(
    r"The (?P<a1>[a-z ]+?) of (?P<s1>(?:job |incident )?\S+) is (?P<v1>.+?)\.(?=\s|$)"
    r"|(?P<s2>(?:job |incident )?\S+): (?P<a2>[a-z ]+) = (?P<v2>.+?)\.(?=\s|$)"
)


@dataclass(frozen=True, slots=True)
class Statement:
    """A sentence that gives a slot a value."""

    sentence: str
    subject: str
    attribute: str
    value: str


def statements(text: str | None) -> list[Statement]:
    """Every statement in a text."""
    return [
        Statement(
            m.group(0),
            m["s1"] or m["s2"],
            m["a1"] or m["a2"],
            m["v1"] or m["v2"],
        )
        for m in STATEMENT.finditer(text or "")
    ]


def verifiable(text: str) -> list[str]:
    """Every sentence and line that says something that could be looked up: a figure, a path, a name with a number,
    the arguments of a call."""
    parts = re.split(r"(?<=[.!?])\s+|\n", text)
    return [part for part in parts if re.search(r"\d", part) or part.startswith("{")]


def size(parts: Iterable[str | Turn]) -> int:
    """Tokens of a window, of the bytes in it too."""
    total = 0
    for part in parts:
        text = part if isinstance(part, str) else whole(part)
        data = b"" if isinstance(part, str) else part.data or b""
        total += -(-len(text) // 4) + -(-len(data) // 4)
    return total


def taken(settings: Settings) -> Settings:
    """Every architecture here takes budget, watermark, and how many turns to keep."""
    return settings


def limit(settings: Settings) -> float:
    """The watermark in tokens."""
    return (settings.budget or BUDGET) * (settings.watermark or WATERMARK)


def objection(reply: Reply, shown: Shown, previous: Sequence[str]) -> str | None:
    """Why a reply is no summary; none where it is."""
    text = reply.text.strip()
    if not text:
        return "the reply is empty"
    if reply.finish != "stop":
        return f"the reply ended with {reply.finish}"
    if any(text == message.strip() or text in message.splitlines() for message in shown.messages):
        return "the reply repeats a message"
    if text in (summary.strip() for summary in previous):
        return "the reply repeats the previous summary"
    if re.match(r"error\b|i'm sorry", text, re.IGNORECASE):
        return "the reply is an error or a refusal"
    return None


def kept(text: str, needed: Iterable[str]) -> str:
    """A summary's text with the sentences that it left out and that must not be lost."""
    missing = [sentence for sentence in dict.fromkeys(needed) if sentence not in text]
    return "\n".join([text, *(["Kept word for word:", *missing] if missing else [])])


def opaque(turn: Turn) -> bool:
    """Whether a turn is bytes that cannot be read."""
    return turn.data is not None


def whole(turn: Turn) -> str:
    """Everything that a turn says, the arguments of its calls included."""
    return "\n".join(part for part in (turn.text, *(call.arguments for call in turn.calls)) if part)


NOTE = "[Left out here:"


def noted(text: str, turns: int) -> str:
    """A summary's text with a line that names what it leaves out."""
    return f"{bare(text)}\n{NOTE} the full words of {turns} turns, each of which can be asked for]"


def bare(text: str) -> str:
    """The text without that line."""
    return text.partition(f"\n{NOTE}")[0]


def raw(turn: Turn) -> Item:
    """A turn as an item of the window."""
    return Item(
        id=f"turn-{turn.id}",
        kind=CarrierKind.RAW,
        text=whole(turn) or None,
        data=turn.data,
        turn=turn.id,
        speaker=turn.speaker,
    )


def nothing(reason: str) -> Outcome:
    return Outcome(kind=OutcomeKind.NOTHING, reason=reason)


def failed(reason: str) -> Outcome:
    return Outcome(kind=OutcomeKind.FAILED, reason=reason)


def refused(reason: str, *facts: str) -> Outcome:
    return Outcome(kind=OutcomeKind.REFUSED, reason=reason, facts=facts)


def committed(summary: str, covered: Iterable[str]) -> Outcome:
    return Outcome(kind=OutcomeKind.COMMITTED, summary=summary, covered=tuple(covered))


def replaceable(turns: Sequence[Turn], *, keep: int | None, opaque_too: bool = False) -> list[Turn]:
    """The turns of a window that a summary may stand for, in order.

    Not the latest ones, not what is protected, not the latest request while nobody has answered it, no call without
    its result and no result without its call; and no bytes, unless they are kept exactly elsewhere.
    """
    held = {turn.id for turn in turns[-(keep or KEEP) :]}
    for turn in reversed(turns):
        if turn.speaker == "user":
            held.add(turn.id)
            break
        if turn.speaker == "assistant" and turn.text and not turn.calls:
            break
    held |= {t.id for t in turns if t.protected or t.speaker == "system" or (opaque(t) and not opaque_too)}
    pairs = paired(turns)
    answered = {(asking, result.result_of) for asking, result in pairs}
    for turn in turns:
        waits = any((turn.id, call.id) not in answered for call in turn.calls)
        if turn.status not in ("killed", "unfinished") and waits:
            held.add(turn.id)
    while True:
        # A group stays as a whole as soon as one of it does.
        before = len(held)
        for asking, result in pairs:
            if asking in held or result.id in held:
                held |= {asking, result.id}
        if len(held) == before:
            return [turn for turn in turns if turn.id not in held]


def paired(turns: Sequence[Turn]) -> list[tuple[str, Turn]]:
    """Each result among some turns with the turn that asks: with the latest call of its id before it."""
    asking: dict[str, str] = {}
    pairs: list[tuple[str, Turn]] = []
    for turn in turns:
        if turn.result_of in asking:
            pairs.append((asking[turn.result_of], turn))
        asking |= {call.id: turn.id for call in turn.calls}
    return pairs


def without(turns: Iterable[Turn], gone: Iterable[Turn]) -> list[Turn]:
    """What is left of a window."""
    ids = {turn.id for turn in gone}
    return [turn for turn in turns if turn.id not in ids]


def in_anothers_mouth(text: str, statement: Statement, turn: Turn) -> bool:
    """Whether a text has nobody say a statement of a turn but somebody who did not."""
    lines = [line for line in text.splitlines() if statement.sentence.strip() in line]
    others = tuple(f"{other}: " for other in {"user", "assistant"} - {turn.speaker})
    return bool(lines) and all(line.startswith(others) for line in lines)
