"""PTR-2, PTR-5, PTR-6: what a pointer leads to stays there, outstanding copies end, nothing uncommitted counts."""

from collections.abc import Iterator
from dataclasses import dataclass

from anchorhold.checkers.provenance import reply_of
from anchorhold.checkers.reading import CONTENT, MAIN, Observation, Operation, Reading
from anchorhold.checkers.tally import RuleChecker, Tally
from anchorhold.checkers.words import content, plain, shorten
from anchorhold.compactor import Mechanism
from anchorhold_spec.vocabulary import Answer, AnswerKind, OutcomeKind, Pointer

REMOVING = frozenset(
    {
        "compact",
        "evict",
        "expire",
        "reopen",
        "settle",
        "clock",
        "lose_power",
        "tombstone",
        "supersede",
        "rewind",
        "clear",
        "forget",
    }
)
"""Operations in the course of which some worker might let go of an original."""


def _excused(reading: Reading, observation: Observation, pointer: Pointer, let_go: frozenset[str]) -> bool:
    """Whether the suite itself, or the caller, put what a pointer leads to out of reach."""
    covers = reading.turns_of(pointer.covers)
    if pointer.token in let_go or observation.damaged:
        return True
    if covers is None:
        return bool(observation.exempt)
    dropped = any(drop.source in covers and drop.operation.ok for drop in reading.drops)
    return dropped or bool(covers & observation.exempt)


def ptr_2(reading: Reading, tally: Tally) -> None:
    """A pointer that a summary carries and that led to its original, looked at again after something was done."""
    led: dict[tuple[str, str], Observation] = {}
    evicting = [o for o in reading.operations if o.op == "evict" and (o.committed or not o.ok)]
    removing = [o for o in reading.operations if o.op in REMOVING]
    for observation in reading.observations:
        let_go = frozenset(str(o.arguments.get("token", "")) for o in evicting if o.start < observation.start)
        for pointer in observation.pointers or ():
            answer = observation.answers.get(pointer.token)
            at = (observation.session, pointer.token)
            before = led.get(at)
            if answer is not None and answer.kind in CONTENT:
                led.setdefault(at, observation)
            if before is None or _excused(reading, observation, pointer, let_go):
                continue
            since = [o for o in removing if before.end < o.end and o.start < observation.start]
            if not since or (answer is None and pointer.token not in observation.errors):
                continue
            tally.trigger()
            if answer is not None and answer.kind in CONTENT:
                continue
            now = f"“{answer.kind}”" if answer is not None else f"an error ({observation.errors[pointer.token]})"
            names = ", ".join(dict.fromkeys(_named(o) for o in since[-3:]))
            tally.fail(
                f"Pointer {pointer.token} of summary {pointer.summary} led to its original, and after {names} it "
                f"answers with {now}, although nobody let it go.",
                fact=pointer.token,
                event=observation.end,
            )


def _named(operation: Operation) -> str:
    return operation.op if operation.process == MAIN else f"{operation.op} (by {operation.process})"


@dataclass(slots=True)
class _Copies:
    """What is known of outstanding copies."""

    held: bool = False
    settled: int | None = None
    """When everything outstanding last ran to its end."""


def ptr_5(reading: Reading, tally: Tally) -> None:
    """Copies that are held back, that are let go, and what the compactor counts."""
    promised: dict[str, Pointer] = {}
    for observation in reading.observations:
        copies = _copies(reading, observation)
        _counts(tally, observation, copies)
        let_go = frozenset(
            str(o.arguments.get("token", ""))
            for o in reading.operations
            if o.op == "evict" and o.committed and o.start < observation.start
        )
        for pointer in observation.pointers or ():
            answer = observation.answers.get(pointer.token)
            if _excused(reading, observation, pointer, let_go):
                continue
            if copies.held and pointer.token not in promised:
                promised[pointer.token] = pointer
            if pointer.token not in promised:
                continue
            if answer is None and pointer.token not in observation.errors:
                continue
            tally.trigger()
            if answer is not None and (answer.kind in CONTENT or (copies.held and answer.kind is AnswerKind.PENDING)):
                continue
            _unkept(tally, observation, pointer, answer, copies)


def _copies(reading: Reading, observation: Observation) -> _Copies:
    copies = _Copies()
    for operation in reading.operations:
        if operation.start >= observation.start:
            break
        if operation.op == "hold_copies" and operation.ok:
            copies.held = bool(operation.arguments.get("held"))
            copies.settled = None
        elif operation.op == "settle" and operation.ok:
            copies.held, copies.settled = False, operation.end
        elif operation.op == "compact":
            copies.settled = None
    return copies


def _unkept(tally: Tally, observation: Observation, pointer: Pointer, answer: Answer | None, copies: _Copies) -> None:
    now = "an error" if answer is None else f"“{answer.kind}”"
    declared = observation.ratios is not None and observation.ratios.unresolvable > 0
    if copies.held:
        tally.fail(
            f"The copy that pointer {pointer.token} of summary {pointer.summary} names is outstanding, and following "
            f"it answers with {now} instead of “pending”.",
            fact=pointer.token,
            event=observation.end,
        )
    elif copies.settled is not None and answer is not None and answer.kind is AnswerKind.PENDING:
        tally.fail(
            f"All background work has ended, and pointer {pointer.token} of summary {pointer.summary} still answers "
            "with “pending”: it ends nowhere.",
            fact=pointer.token,
            event=observation.end,
        )
    elif copies.settled is not None and not declared:
        tally.fail(
            f"The copy that pointer {pointer.token} of summary {pointer.summary} names did not land (following it "
            f"answers with {now}), and no summary is counted as unresolvable.",
            fact=pointer.token,
            event=observation.end,
        )


def _counts(tally: Tally, observation: Observation, copies: _Copies) -> None:
    ratios = observation.ratios
    if ratios is None:
        return
    end, said = observation.end, f"{ratios.committed} committed, {ratios.pending} pending"
    pending = {
        pointer.summary
        for pointer in observation.pointers or ()
        if (a := observation.answers.get(pointer.token)) is not None and a.kind is AnswerKind.PENDING
    }
    if ratios.unresolvable > 0:
        tally.trigger()
        tally.fail(
            f"{ratios.unresolvable} of {ratios.committed} summaries are counted as unresolvable: their originals are "
            "neither there nor on the way.",
            fact="unresolvable summaries",
            event=end,
        )
    if pending and ratios.pending == 0:
        tally.fail(
            f"Summary {min(pending)} has a pointer that answers with “pending”, and none is counted ({said}).",
            fact="count of pending summaries",
            event=end,
        )
    if copies.settled is not None and ratios.pending > 0 and not pending:
        tally.fail(
            f"All background work has ended and no pointer is pending, and the count says otherwise ({said}).",
            fact="count of pending summaries",
            event=end,
        )
    if ratios.committed < max(ratios.pending + ratios.unresolvable, len(observation.summaries)):
        tally.fail(
            f"{len(observation.summaries)} summaries are live, and the counts are {said}, "
            f"{ratios.unresolvable} unresolvable.",
            fact="count of committed summaries",
            event=end,
        )


LEAST = 20
"""Characters of a reply, below which it could stand anywhere by accident."""


def ptr_6(reading: Reading, tally: Tally) -> None:
    """What a model wrote for a compaction that did not commit: it is nowhere."""
    turns = [text for said in reading.said.values() for part in said.forms for text in part]
    for operation, reply in _uncommitted(reading):
        flat = plain(reply)
        if len(flat) < LEAST or any(flat in text for text in turns) or _written_again(reading, operation, flat):
            continue
        tally.trigger()
        refused = operation.ok
        for observation in reading.observations:
            if observation.start < operation.end:
                continue
            live = any(flat in plain(content(item)) for item in observation.items)
            if live and not refused:
                # It died after the commit, or recovery finished it: that is a new state like any other.
                break
            where = "in the window" if live else _where(observation, flat)
            if where is not None:
                how = operation.error or "it says itself that it did not commit"
                tally.fail(
                    f"A compaction did not commit ({shorten(how)}), and its summary (“{shorten(reply, 60)}”) is "
                    f"{where}.",
                    fact=f"summary of the compaction at {operation.start}",
                    event=observation.end,
                )
                break


def _uncommitted(reading: Reading) -> Iterator[tuple[Operation, str]]:
    for operation in reading.operations:
        if operation.op != "compact":
            continue
        outcome = operation.outcome()
        if outcome is not None and outcome.kind is OutcomeKind.COMMITTED:
            continue
        for call in operation.calls:
            if call.op == "summarise" and call.ok:
                yield operation, reply_of(call)


def _written_again(reading: Reading, operation: Operation, flat: str) -> bool:
    """Whether the same words were written for another compaction as well: whose they are cannot be told then."""
    return any(
        flat in plain(reply_of(call))
        for other in reading.operations
        if other is not operation
        for call in other.calls
        if call.op == "summarise"
    )


def _where(observation: Observation, flat: str) -> str | None:
    """Where a text that is not live is handed out, in words."""
    for token, answer in observation.answers.items():
        if answer.kind in CONTENT and flat in plain(content(answer)):
            return f"what pointer {token} leads to"
    for question in observation.questions:
        if question.answer.kind in CONTENT and flat in plain(content(question.answer)):
            return f"what a {question.operation.op} finds"
    return None


CHECKERS = (
    RuleChecker(rule="PTR-2", minimum=3, mechanisms=(Mechanism.POINTERS,), examine=ptr_2),
    RuleChecker(rule="PTR-5", minimum=2, mechanisms=(Mechanism.BACKGROUND_COPY,), examine=ptr_5),
    RuleChecker(rule="PTR-6", minimum=2, mechanisms=(Mechanism.SUMMARISER,), examine=ptr_6),
)
