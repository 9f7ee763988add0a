"""Facts of a text and of a turn. A summary's manifest and a span's are read by the same code, so that what counts as
carried is what can be read out of the summary's own words, whatever the summariser claims (MAN-2).

Two mentions are the same fact when their keys are equal. A key holds what was said with its polarity, certainty,
number, unit and bound. A number, a negation, a hedge or a time means nothing without its sentence ("30 ms" of
what?), so the sentence belongs to its key; an identifier, a path, an entity or a quotation stands for itself.
"""

import hashlib
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass

from anchorhold_reference.extract.patterns import BOUND, KIND_OF, LITERAL
from anchorhold_reference.extract.slots import name, slot_in
from anchorhold_reference.extract.text import HEDGE, NEGATOR, Sentence, sentence_at, sentences
from anchorhold_spec.vocabulary import ToolCall, Turn

_NEEDS_SENTENCE = frozenset({"number", "negation", "hedge", "timestamp"})
_CLAUSE_END = re.compile(r"[;,:()\[\]]|\s[-–—]\s|\b(?:but|however|although|though|whereas|because)\b", re.IGNORECASE)
_BEFORE = re.compile(
    r"(?:\b(?:is|was|are|were|has|have|had|do|does|did|can|could|will|would|should|must)\s+)$", re.IGNORECASE
)
_AFTER = re.compile(r"(?:\s+[^\s;,:()\[\].!?]+){1,4}")
_FRAGMENT = re.compile(r"\w")


@dataclass(frozen=True, slots=True)
class Mention:
    """A fact where it stands in a text."""

    kind: str
    literal: str
    start: int
    end: int
    """Where the literal stands."""
    said: str
    """The sentence that says it, verbatim, without bullets: what has to be repeated to carry it."""
    subject: str | None = None
    attribute: str | None = None
    value: str | None = None
    """A slot's value without its negation."""
    negated: bool = False
    hedged: bool = False
    frame: str = ""
    """What else belongs to the fact: bound, tense, polarity and certainty of the whole sentence."""
    speaker: str | None = None
    """Whose words the text says these are."""
    part: bool = False
    """Stands inside a slot's statement and is part of that assertion, not one of its own."""

    @property
    def key(self) -> bytes:
        """Equal for mentions of the same fact."""
        slot = (name(self.subject or ""), name(self.attribute or ""))
        sentence = " ".join(self.said.split()) if self.kind in _NEEDS_SENTENCE else ""
        parts = (self.kind, self.literal, *slot, str(self.negated), str(self.hedged), self.frame, sentence)
        joined = "\x1f".join(parts).encode("utf-8", "surrogatepass")
        return hashlib.blake2b(joined, digest_size=16).digest()


def mentions(text: str) -> list[Mention]:
    """Every fact that a text says, parts of slots included, in the order of their sentences."""
    found = sentences(text)
    starts = [sentence.start for sentence in found]
    slots: dict[int, tuple[int, int]] = {}
    result: list[Mention] = []
    for sentence in found:
        slot = slot_in(text, sentence)
        if slot is not None:
            slots[sentence.start] = (slot.start, slot.end)
            result.append(
                Mention(
                    kind="slot",
                    literal=text[slot.value_start : slot.end],
                    start=slot.value_start,
                    end=slot.end,
                    said=text[slot.start : sentence.end],
                    subject=slot.subject,
                    attribute=slot.attribute,
                    value=slot.value,
                    negated=slot.negated,
                    hedged=sentence.hedged,
                    # "is", "are" and "=" say the same of now; "was" may have ended since.
                    frame="past" if slot.verb in {"was", "were"} else "",
                    speaker=sentence.speaker if slot.start == sentence.body else None,
                )
            )
        result += _polarity(text, sentence, slot is not None)
    for match in LITERAL.finditer(text):
        at = sentence_at(found, starts, match.start())
        if at is not None:
            inside = slots.get(at.start)
            within = inside is not None and inside[0] <= match.start() and match.end() <= inside[1]
            result.append(_literal(text, match, at, part=within))
    return result


def _literal(text: str, match: re.Match[str], sentence: Sentence, *, part: bool) -> Mention:
    kind = KIND_OF[match.lastgroup or "identifier"]
    start, end = match.span()
    low = max(sentence.body, start - 200)
    high = min(sentence.end, end + 200)
    for mark in _CLAUSE_END.finditer(text, low, start):
        low = mark.end()
    after = _CLAUSE_END.search(text, end, high)
    high = after.start() if after else high
    bound = BOUND.search(text, max(low, start - 20), start) if kind == "number" else None
    frame = f"{bound.lastgroup if bound else ''}|{sentence.negated:d}{sentence.hedged:d}"
    return Mention(
        kind=kind,
        literal=match.group(),
        start=start,
        end=end,
        said=text[sentence.body : sentence.end],
        negated=sentence.negated and NEGATOR.search(text, low, high) is not None,
        hedged=sentence.hedged and HEDGE.search(text, low, high) is not None,
        frame=frame,
        speaker=sentence.speaker,
        part=part,
    )


def _polarity(text: str, sentence: Sentence, part: bool) -> Iterator[Mention]:
    """Negations and hedges, each with the words that it governs."""
    for kind, wanted, pattern in (("negation", sentence.negated, NEGATOR), ("hedge", sentence.hedged, HEDGE)):
        if not wanted:
            continue
        done = sentence.body
        for match in pattern.finditer(text, sentence.body, sentence.end):
            if match.start() < done:
                continue
            before = _BEFORE.search(text, max(sentence.body, match.start() - 12), match.start())
            after = _AFTER.match(text, match.end(), sentence.end)
            start = before.start() if before else match.start()
            done = after.end() if after else match.end()
            yield Mention(
                kind=kind,
                literal=text[start:done],
                start=start,
                end=done,
                said=text[sentence.body : sentence.end],
                negated=sentence.negated,
                hedged=sentence.hedged,
                speaker=sentence.speaker,
                part=part,
            )


def _arguments(call: ToolCall) -> Iterator[Mention]:
    """The arguments of a call, leaf by leaf where they are JSON, else as they stand."""
    if not call.arguments.strip():
        return
    try:
        parsed = json.loads(call.arguments)
        json.dumps(parsed, ensure_ascii=False).encode("utf-8")
    except (ValueError, RecursionError):  # not JSON, or escapes that make no valid Unicode: as it stands
        parsed = call.arguments
    for path, leaf in _leaves(parsed, ""):
        literal = leaf if isinstance(leaf, str) else json.dumps(leaf)
        if literal:
            yield Mention(
                kind="argument",
                literal=literal,
                start=0,
                end=0,
                said=f"{call.name}({call.arguments})",
                subject=call.name,
                attribute=path or "arguments",
                value=literal,
                frame=call.id,
            )


def _leaves(value: object, path: str) -> Iterator[tuple[str, object]]:
    if isinstance(value, dict) and value:
        for key, inner in value.items():
            yield from _leaves(inner, f"{path}.{key}" if path else str(key))
    elif isinstance(value, list) and value:
        for i, inner in enumerate(value):
            yield from _leaves(inner, f"{path}[{i}]")
    else:
        yield path, value


def facts_of(turn: Turn) -> list[Mention]:
    """The assertions of a turn: facts of its text and of its calls, each once, without the parts of slots.

    Raises `UnreadableError` where they cannot be computed: such a span is retained raw (MAN-3).
    """
    if turn.data is not None:
        raise UnreadableError("its content is bytes, not text")
    text = turn.text or ""
    for part in (text, *(call.arguments for call in turn.calls)):
        try:
            part.encode("utf-8")
        except UnicodeEncodeError as error:
            raise UnreadableError(f"its text is not valid Unicode at character {error.start}") from None
    if "\x00" in text:
        raise UnreadableError("its text holds a null character: it is not prose that patterns can read")
    seen: dict[bytes, Mention] = {}
    for mention in mentions(text):
        if not mention.part:
            seen.setdefault(mention.key, mention)
    for call in turn.calls:
        for mention in _arguments(call):
            seen.setdefault(mention.key, mention)
    return list(seen.values())


class UnreadableError(ValueError):
    """The facts of a span cannot be computed; the message says why."""
