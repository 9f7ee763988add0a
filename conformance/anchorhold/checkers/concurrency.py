"""CON: what comes in while a summary is being written survives, wins, or is told apart; nothing is covered twice."""

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Mapping
from itertools import islice

from anchorhold.checkers.progress import excuse, withheld
from anchorhold.checkers.provenance import reply_of, shown_to
from anchorhold.checkers.reading import Reading
from anchorhold.checkers.record import CONTENT, Observation, Operation, Withdrawal
from anchorhold.checkers.rule import RuleChecker
from anchorhold.checkers.tally import Tally
from anchorhold.checkers.words import content, holds, plain, shorten, stands, words
from anchorhold.compactor import Mechanism
from anchorhold_spec.vocabulary import CarrierKind, Item


def _compactions(reading: Reading) -> Iterator[Operation]:
    return (o for o in reading.operations if o.op == "compact")


def _during(inner: Operation, outer: Operation) -> bool:
    """Whether one operation was asked for while another went on."""
    return outer.start < inner.start < outer.end


def _writes(reading: Reading) -> Mapping[str, Operation]:
    """Every text that the model wrote, by its plain form, with the call that it was written in (the latest)."""
    calls = (c for o in reading.operations for c in o.calls if c.op == "summarise" and c.ok)
    return {plain(reply_of(call)): call for call in calls if plain(reply_of(call))}


def _written_in(item: Item, writes: Mapping[str, Operation]) -> Operation | None:
    """The call in which a live summary was written, where its words show it."""
    flat = plain(content(item))
    found = [text for text in writes if text in flat]
    return writes[max(found, key=len)] if found and item.kind is CarrierKind.SUMMARY else None


def _next_look(reading: Reading, operation: Operation, *, after: int = 0) -> Observation | None:
    """The first look at the window of the same session after an operation, and after the event `after`."""
    session = next((s.session for s in reading.withdrawals if s.operation is operation), None)
    for observation in reading.observations:
        if observation.start > max(operation.end, after) and observation.live is not None:
            return observation if session in (None, observation.session) else None
    return None


def con_1(reading: Reading, tally: Tally) -> None:
    """Turns that were appended while a compaction waited for its model, in the first look after it."""
    writes = _writes(reading)
    appends = {o.end: o.start for o in reading.operations if o.op == "append"}
    came = [(appends.get(said.at, -1), turn) for turn, said in reading.said.items() if said.certain]
    came.sort()
    begun = [start for start, _ in came]
    for compact in _compactions(reading):
        among = came[bisect_right(begun, compact.start) : bisect_left(begun, compact.end)]
        if not among:
            continue
        late = sorted((turn for _, turn in among), key=reading.order.__getitem__)
        # An append may wait for the compaction, and is acknowledged after the first look then.
        look = _next_look(reading, compact, after=max((reading.said[turn].at for turn in late), default=0))
        if look is None:
            continue
        places: list[int] = []
        for turn in late:
            if turn in look.withdrawn or not reading.belongs(turn, look.session):
                continue
            tally.trigger()
            at = _places(reading, look, turn)
            if not at and turn not in reading.standing(look):
                if _read_later(reading, look, turn, writes):
                    continue
                tally.fail(
                    f"{reading.quote(turn, first=True)} was appended while a summary was being written, and after "
                    "the commit it is not in the window.",
                    fact=turn,
                    event=look.end,
                )
            if len(at) > 1:
                tally.fail(
                    f"{reading.quote(turn, first=True)} was appended while a summary was being written, and stands "
                    f"in the window {len(at)} times.",
                    fact=turn,
                    event=look.end,
                )
            places += at[:1]
        _in_order(reading, tally, look, late, places)


def _places(reading: Reading, look: Observation, turn: str) -> list[int]:
    """Where in the window a turn stands as an item of its own."""
    return [
        at
        for at, item in enumerate(look.items)
        if item.kind is CarrierKind.RAW and item.turn is not None and reading.turn_of(item.turn) == turn
    ]


def _read_later(reading: Reading, look: Observation, turn: str, writes: Mapping[str, Operation]) -> bool:
    """Whether a summary that was begun after the turn came in stands for it, and its model was shown it."""
    said = reading.said[turn]
    for item in look.summaries:
        call = _written_in(item, writes)
        if call is not None and call.start > said.at and holds(shown_to(call), said.forms):
            return True
    return False


def _in_order(reading: Reading, tally: Tally, look: Observation, late: list[str], places: list[int]) -> None:
    if places != sorted(places):
        tally.fail(
            f"{len(late)} turns were appended while a summary was being written, and do not stand in the window in "
            "the order in which they came.",
            fact=late[0],
            event=look.end,
        )
    summaries = [at for at, item in enumerate(look.items) if item.kind is CarrierKind.SUMMARY]
    if places and summaries and places[0] < summaries[-1]:
        tally.fail(
            f"{reading.quote(late[0], first=True)} was appended while a summary was being written, and stands in the "
            "window before that summary.",
            fact=late[0],
            event=look.end,
        )


def con_2(reading: Reading, tally: Tally) -> None:
    """Two compactions that overlapped: what stands in the window afterwards covers nothing twice."""
    writes = _writes(reading)
    found = list(_compactions(reading))
    for number, outer in enumerate(found):
        # They are in the order in which they began.
        for inner in islice(found, number + 1, None):
            if inner.start >= outer.end:
                break
            if not _during(inner, outer):
                continue
            look = _next_look(reading, max(inner, outer, key=lambda o: o.end))
            if look is None or not outer.calls:
                continue
            tally.trigger()
            twice = _twice(reading, look, writes) or _claimed_twice(reading, inner, outer)
            if twice is not None:
                tally.fail(
                    f"Two compactions overlapped, and afterwards {twice}.",
                    fact=f"compactions at {outer.start} and {inner.start}",
                    event=look.end,
                )
            elif (
                not (inner.committed or outer.committed)
                and all(c.ok for o in (inner, outer) for c in o.calls)
                # Either would have been held back alone.
                and not all(withheld(o, reading.header.settings) for o in (inner, outer))
            ):
                tally.fail(
                    "Two compactions overlapped, both had a summary, and neither committed "
                    f"({_told(outer)}; {_told(inner)}).",
                    fact=f"compactions at {outer.start} and {inner.start}",
                    event=look.end,
                )


def _told(compaction: Operation) -> str:
    """What a compaction that did not commit says of it."""
    why = excuse(compaction)
    return f"“{shorten(why)}”" if why else "without a reason"


def _twice(reading: Reading, look: Observation, writes: Mapping[str, Operation]) -> str | None:
    by: dict[str, str] = {}
    for item in look.summaries:
        declared = reading.turns_of(item.covers)
        call = _written_in(item, writes)
        shown = shown_to(call) if call is not None else ""
        turns = declared if declared is not None else {i for i, s in reading.said.items() if holds(shown, s.forms)}
        for turn in reading.said:
            if turn not in turns:
                continue
            if turn in look.raw and declared is not None:
                return f"{reading.quote(turn)} is covered by summary {item.id} and stands in the window as well"
            if turn in by and turn not in look.raw:
                return f"{reading.quote(turn)} is covered by summary {by[turn]} and by summary {item.id}"
            by[turn] = item.id
    return None


def _claimed_twice(reading: Reading, inner: Operation, outer: Operation) -> str | None:
    outcomes = [o.outcome() for o in (inner, outer) if o.committed]
    covered = [reading.turns_of(outcome.covered) for outcome in outcomes if outcome is not None]
    if len(covered) < 2 or covered[0] is None or covered[1] is None:
        return None
    both = covered[0] & covered[1]
    turn = next((i for i in reading.said if i in both), None)
    return None if turn is None else f"both say that they replaced {reading.quote(turn)}"


def con_3(reading: Reading, tally: Tally) -> None:
    """What the caller took away, during a compaction or not, does not come back."""
    writes = _writes(reading)
    compactions = list(_compactions(reading))
    for withdrawal in reading.withdrawals:
        operation = withdrawal.operation
        if not operation.ok or not withdrawal.turns:
            continue
        if any(_during(operation, compact) and compact.calls for compact in compactions):
            tally.trigger()
        for observation in reading.observations:
            away = withdrawal.turns & observation.withdrawn
            forked = observation.session != withdrawal.session and operation.op != "forget"
            if operation.op == "clear" and _restored(reading, withdrawal, observation):
                continue
            if observation.start < operation.end or forked or not away:
                continue
            back = _come_back(reading, observation, withdrawal, away, writes)
            if back is not None:
                turn, where = back
                tally.fail(
                    f"The caller took {reading.quote(turn)} away ({operation.op}), and afterwards {where}.",
                    fact=turn,
                    event=observation.end,
                )


def _restored(reading: Reading, withdrawal: Withdrawal, observation: Observation) -> bool:
    """Whether the caller went back, after emptying the window, to how it had been before."""
    return any(
        later.operation.op == "rewind"
        and withdrawal.operation.end < later.operation.start < observation.start
        and later.session == withdrawal.session
        for later in reading.withdrawals
    )


def _come_back(
    reading: Reading,
    observation: Observation,
    withdrawal: Withdrawal,
    away: frozenset[str],
    writes: Mapping[str, Operation],
) -> tuple[str, str] | None:
    """A turn that is there again, and where."""
    operation = withdrawal.operation
    away = frozenset(turn for turn in away if reading.said[turn].forms)
    # What another turn says as well, which was not taken away, may be there.
    for turn, said in reading.said.items():
        if turn not in observation.withdrawn:
            away -= reading.contained(words(said.turn))
    for turn in reading.said:
        protected = operation.op == "clear" and reading.said[turn].turn.protected
        if turn in away & observation.raw and not protected:
            return turn, "it stands in the window"
    for item in observation.summaries:
        call = _written_in(item, writes)
        if call is None:
            continue
        shown = shown_to(call)
        if call.start > operation.end:
            told = _told_again(reading, observation, away, (shown, plain(content(item))))
            if told is not None:
                return told, f"the model was shown it again, and summary {item.id} says it"
            continue
        if operation.op == "forget" and call.end < operation.start:
            # One turn of many was erased: a summary that was there already may stay, and what it says is ERA-1's.
            continue
        turn = next((i for i in reading.said if i in away and holds(shown, reading.said[i].forms)), "")
        if turn:
            return turn, f"summary {item.id}, which was written of it, stands in the window"
    if operation.op == "clear":
        return None
    for token, answer in observation.answers.items():
        if answer.kind in CONTENT and (found := reading.contained(content(answer)) & away):
            return min(found), f"pointer {token} leads to it"
    for question in observation.questions:
        if question.answer.kind in CONTENT and (found := reading.contained(content(question.answer)) & away):
            return min(found), f"a {question.operation.op} finds it"
    for carrier, entries in observation.manifests.items():
        for entry in entries:
            source = reading.turn_of(entry.source)
            if source in away:
                return str(source), f"the manifest of {carrier} names it"
    return None


def _told_again(
    reading: Reading, observation: Observation, away: frozenset[str], texts: tuple[str, ...]
) -> str | None:
    """A turn that was taken away, of which each of these texts has a statement that nobody else makes."""
    others = {f.text for i, said in reading.said.items() if i not in observation.withdrawn for f in said.facts}
    for turn in (i for i in reading.said if i in away and not reading.said[i].turn.protected):
        for fact in reading.said[turn].facts:
            if fact.text not in others and all(stands(fact.text, text) for text in texts):
                return turn
    return None


WITHDRAWING = (Mechanism.CLEARING, Mechanism.REWINDING, Mechanism.ERASURE)

CHECKERS = (
    RuleChecker(rule="CON-1", minimum=2, mechanisms=(Mechanism.SUMMARISER, Mechanism.CONCURRENCY), examine=con_1),
    RuleChecker(rule="CON-2", minimum=1, mechanisms=(Mechanism.SUMMARISER, Mechanism.CONCURRENCY), examine=con_2),
    RuleChecker(
        rule="CON-3",
        minimum=1,
        mechanisms=(Mechanism.SUMMARISER, WITHDRAWING, Mechanism.CONCURRENCY),
        examine=con_3,
    ),
)
