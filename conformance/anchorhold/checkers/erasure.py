"""ERA-1: what was forgotten is nowhere: not in the window, not behind a pointer, not in a manifest, not in a file."""

from collections.abc import Iterator
from enum import StrEnum

from anchorhold.checkers.anchoring import where_looked
from anchorhold.checkers.holding import HELD, Hold
from anchorhold.checkers.provenance import shown_to
from anchorhold.checkers.reading import Reading
from anchorhold.checkers.record import CONTENT, Observation, Operation
from anchorhold.checkers.retention import at_stake
from anchorhold.checkers.rule import RuleChecker
from anchorhold.checkers.tally import Tally
from anchorhold.checkers.words import content, plain, shorten, stands, words
from anchorhold.compactor import Mechanism
from anchorhold.traces import own_words
from anchorhold_spec.vocabulary import AnswerKind


def era_1(reading: Reading, tally: Tally) -> None:
    """Each forget that was carried out, and everything that could be seen and read after it."""
    for withdrawal in reading.withdrawals:
        forget = withdrawal.operation
        if forget.op != "forget" or not forget.ok:
            continue
        for turn in withdrawal.turns:
            own = own_to(reading, turn)
            if not own:
                continue
            _seen(reading, tally, turn, own, forget)
            _scanned(reading, tally, turn, forget)
    _others(reading, tally)


def _others(reading: Reading, tally: Tally) -> None:
    """What other turns assert stays anchored: one turn was to be erased."""
    for stretch in reading.stretches:
        if not stretch.operations or any(o.op != "forget" or not o.committed for o in stretch.operations):
            continue
        before, after = at_stake(reading, stretch.before), at_stake(reading, stretch.after)
        forgotten = {str(o.arguments.get("turn")) for o in stretch.operations}
        for assertion in reading.assertions:
            was, now = before.get(assertion.number), after.get(assertion.number)
            if assertion.turn in forgotten or was not in HELD or (now not in HELD and now is not Hold.LOOSE):
                continue
            tally.trigger()
            if now is Hold.LOOSE:
                tally.fail(
                    f"Turn {', '.join(sorted(forgotten))} was forgotten, and with it went {assertion}: "
                    f"{where_looked(reading)}.",
                    fact=assertion.fact.text,
                    event=stretch.after.end,
                )


def own_to(reading: Reading, turn: str) -> tuple[str, ...]:
    """The words that only this turn says, of all that was ever said in the transcript."""
    others = [words(said.turn) for i, said in reading.said.items() if i != turn]
    said = reading.said[turn]
    return own_words(said.turn, said.facts, others)


def _seen(reading: Reading, tally: Tally, turn: str, own: tuple[str, ...], forget: Operation) -> None:
    for observation in reading.observations:
        if observation.start < forget.end:
            continue
        tally.trigger()
        for _, where, text in handed_out(observation):
            left = says_any(own, text)
            if left is not None:
                tally.fail(
                    f"Turn {turn} was forgotten, and {where} still says “{shorten(left)}”.",
                    fact=turn,
                    event=observation.end,
                )
        _pointers(reading, tally, turn, observation)
    for operation in reading.operations:
        for call in operation.calls:
            if call.start > forget.end and any(plain(part) in shown_to(call) for part in own):
                tally.fail(
                    f"Turn {turn} was forgotten, and the summariser was shown it again.", fact=turn, event=call.end
                )


def says_any(own: tuple[str, ...], text: str) -> str | None:
    """The first of these words that a text says."""
    return next((part for part in own if stands(part, text) or plain(part) in plain(text)), None)


class Place(StrEnum):
    """Where something stood that was handed out."""

    WINDOW = "window"
    POINTER = "pointer"
    QUESTION = "question"
    RECORD = "record"


def handed_out(observation: Observation) -> Iterator[tuple[Place, str, str]]:
    """Everything that was handed out: the place, the same in words, and the text."""
    for item in observation.items:
        yield Place.WINDOW, f"item {item.id} of the window", content(item)
    for token, answer in observation.answers.items():
        text = "\n".join((content(answer), answer.value or "", answer.reason or ""))
        yield Place.POINTER, f"the answer to pointer {token}", text
    for question in observation.questions:
        arguments = question.operation.arguments
        answer = question.answer
        # What the answer says by itself, and not what it repeats of the question.
        asked = plain(str(arguments.get("literal", "")))
        given = plain("\n".join((content(answer), answer.value or "")))
        yield (
            Place.QUESTION,
            f"the answer to a {question.operation.op}",
            given if answer.kind in CONTENT else given.replace(asked, ""),
        )
    for carrier, entries in observation.manifests.items():
        yield Place.RECORD, f"the manifest of {carrier}", "\n".join(entry.literal for entry in entries)
    for tombstone in observation.tombstones or ():
        yield Place.RECORD, "the record of tombstones", "\n".join((tombstone.literal, tombstone.reason))


def _pointers(reading: Reading, tally: Tally, turn: str, observation: Observation) -> None:
    """A pointer to nothing but the erased turn says that it was erased: where it was given out, since to another
    session it is none of its own (EPO-2)."""
    if observation.damaged:
        return
    for pointer in reading.pointers.values():
        if reading.homes[pointer.token] != observation.session or reading.turns_of(pointer.covers) != frozenset(
            {turn}
        ):
            continue
        answer = observation.answers.get(pointer.token)
        if reading.taken_back(turn, observation.start):
            # Either may be said of what was both erased and taken back.
            continue
        if answer is not None and answer.kind is not AnswerKind.TOMBSTONED:
            tally.fail(
                f"Turn {turn} was erased, and its pointer {pointer.token} answers with “{answer.kind}” instead of "
                "“tombstoned”.",
                fact=turn,
                event=observation.end,
            )


def _scanned(reading: Reading, tally: Tally, turn: str, forget: Operation) -> None:
    """What the suite found in the files that the compactor named."""
    scans = [
        o for o in reading.operations if o.op == "scan" and o.start > forget.end and o.arguments.get("turn") == turn
    ]
    if not scans:
        tally.note("files were not looked into: the adapter offers no `files`")
    for scan in scans:
        tally.trigger()
        for found in scan.value.get("remains", ()) if isinstance(scan.value, dict) else ():
            tally.fail(
                f"Turn {turn} was forgotten, and “{shorten(str(found['words']))}” ({found['what']}) still stands in "
                f"{found['path']}.",
                fact=turn,
                event=scan.end,
            )


CHECKERS = (RuleChecker(rule="ERA-1", minimum=3, mechanisms=(Mechanism.ERASURE,), examine=era_1),)
