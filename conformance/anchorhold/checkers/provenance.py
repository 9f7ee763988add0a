"""PTR-1 and PTR-4: what a summary replaced stays one step away."""

from anchorhold.checkers.holding import HELD, WAITING, Hold, Waits, covering, through_pointers, unseen
from anchorhold.checkers.reading import Reading
from anchorhold.checkers.record import CONTENT, Observation, Operation, Stretch
from anchorhold.checkers.rule import RuleChecker
from anchorhold.checkers.tally import Tally
from anchorhold.checkers.words import content, plain
from anchorhold.compactor import Mechanism
from anchorhold_spec.vocabulary import AnswerKind, Pointer


def _where_it_leads(reading: Reading, observation: Observation, turn: str) -> str:
    """What became of the pointers that stand for a turn, in words."""
    found = []
    for pointer in covering(reading, observation.pointers, turn):
        if pointer.token in observation.errors:
            found.append(f"pointer {pointer.token} ends with an error ({observation.errors[pointer.token]})")
        elif pointer.token in observation.answers:
            answer = observation.answers[pointer.token]
            what = "other words" if answer.kind in CONTENT else f"“{answer.kind}”"
            if answer.kind in CONTENT and turn in reading.contained(content(answer)):
                what = "its words without the arguments of its calls"
            found.append(f"pointer {pointer.token} answers with {what}")
    if not found:
        return "no pointer stands for it"
    return " and ".join(found[:3]) + (f" (and {len(found) - 3} more)" if len(found) > 3 else "")


def _excused(reading: Reading, observation: Observation, turn: str) -> bool:
    """The suite put the original out of reach itself, or a caller decided that what the turn says may go."""
    if reading.excused(observation, turn) or not reading.said[turn].forms:
        return True
    if reading.parted.get(turn, observation.start) < observation.start:
        return True
    buried = any(
        observation.answers.get(p.token) is not None and observation.answers[p.token].kind is AnswerKind.TOMBSTONED
        for p in covering(reading, observation.pointers, turn)
    )
    return buried and any(drop.source == turn for drop in reading.drops)


def _declared_pending(stretch: Stretch) -> bool:
    """Whether the new summaries, or the outcome of the compaction, are declared pending."""
    outcomes = (o.outcome() for o in stretch.of("compact"))
    return any(item.id in stretch.after.pending for item in stretch.new_summaries) or any(
        o is not None and o.pending for o in outcomes
    )


def ptr_1(reading: Reading, tally: Tally) -> None:
    """At each commit, and again after each reopening: every turn that a summary stands for can be had back."""
    for lane in reading.lanes:
        _ptr_1(reading, tally, lane)


def _ptr_1(reading: Reading, tally: Tally, lane: tuple[Stretch, ...]) -> None:
    if not reading.offers("pointers", "get"):
        return
    waiting: dict[str, str] = {}
    declared: set[str] = set()
    waits = Waits(settles=reading.offers("settle"))
    left: list[str] = []
    listed: tuple[Pointer, ...] = ()
    reached: frozenset[str] = frozenset()
    for stretch in lane:
        after = stretch.after
        reopened = [o for o in stretch.operations if o.op == "reopen"]
        if any(o.op in ("evict", "expire") for o in stretch.operations):
            waiting.clear()
            left.clear()
        left += reading.removed(stretch)
        new = _new_pointers(stretch, listed)
        if stretch.new_summaries or new:
            waiting |= dict.fromkeys(left, f"{_committed(stretch, new)} in place of")
            declared |= set(left) if _declared_pending(stretch) else set()
        if after.pointers is not None:
            left.clear()
            listed = after.pointers
        if reopened:
            again = sorted(reached - after.raw, key=list(reading.said).index)
            waiting |= {turn: f"{_opened(stretch)} a pointer led to" for turn in again if turn not in waiting}
        if unseen(after):
            # Nothing was followed, and nothing that is waited for can be excused.
            waiting = {turn: what for turn, what in waiting.items() if turn not in after.raw}
            continue
        for turn, what in list(waiting.items()):
            if _excused(reading, after, turn) or turn in after.raw:
                del waiting[turn]
                continue
            held = through_pointers(reading, after, turn)
            over = waits.over(turn, held, at=after)
            if held is Hold.UNKNOWN:
                continue
            # Only what was declared may wait, and it waits for something that comes.
            open_ = held is Hold.PENDING or bool(after.pending)
            if turn in declared and open_ and held not in HELD and not over:
                continue
            del waiting[turn]
            tally.trigger()
            if held not in HELD:
                late = f", and was so {waits.how_long}" if over else ", which nothing declared pending"
                tail = late if held is Hold.PENDING else ""
                tally.fail(
                    f"{what} {reading.quote(turn)}, but now {_where_it_leads(reading, after, turn)}{tail}.",
                    fact=turn,
                    event=after.end,
                )
        if after.pointers is not None:
            reached = _reached(reading, after)


def _new_pointers(stretch: Stretch, before: tuple[Pointer, ...]) -> tuple[Pointer, ...]:
    """Pointers that came with what now stands in the window, whatever kind of item that is.

    `before` are those that were listed last: not every look lists them.
    """
    known = {(pointer.summary, pointer.token) for pointer in before}
    return tuple(p for p in stretch.after.pointers or () if (p.summary, p.token) not in known)


def _committed(stretch: Stretch, new: tuple[Pointer, ...]) -> str:
    names = [item.id for item in stretch.new_summaries] or [pointer.summary for pointer in new]
    named = f"{'summary' if stretch.new_summaries else 'item'} {', '.join(dict.fromkeys(names))}"
    if stretch.of("crash"):
        return f"A crash came, and {named} had been committed"
    return f"{named[0].upper()}{named[1:]} was committed"


def _opened(stretch: Stretch) -> str:
    return f"Before {'the crash' if stretch.of('crash') else 'the session was opened again'}"


def _reached(reading: Reading, observation: Observation) -> frozenset[str]:
    """The turns outside the window to which a carried pointer leads."""
    answers = (observation.answers.get(pointer.token) for pointer in observation.pointers or ())
    texts = [content(answer) for answer in answers if answer is not None and answer.kind in CONTENT]
    inside = ((turn for turn in reading.contained(text) if reading.with_calls(text, turn)) for text in texts)
    # What is said later in the same words is another turn.
    return frozenset(t for t in frozenset().union(*inside) if reading.said[t].at < observation.end) - observation.raw


def _ids(observation: Observation) -> frozenset[str]:
    return frozenset(item.id for item in observation.items)


def ptr_4(reading: Reading, tally: Tally) -> None:
    """Each time a summary replaces a summary: what could be had back before can still be had in one step."""
    for lane in reading.lanes:
        _ptr_4(reading, tally, lane)


def _ptr_4(reading: Reading, tally: Tally, lane: tuple[Stretch, ...]) -> None:
    if not reading.offers("pointers", "get"):
        return
    reached: frozenset[str] = frozenset()
    waiting: set[str] = set()
    listed: tuple[Pointer, ...] = ()
    for stretch in lane:
        after = stretch.after
        if any(o.op in ("evict", "expire") for o in stretch.operations):
            waiting.clear()
        if stretch.new_summaries and stretch.gone_summaries:
            waiting |= reached
        elif after.pointers is not None and any(pointer.summary not in _ids(after) for pointer in listed):
            # What carries the pointers may be a notice; where another takes its place, the same holds of it.
            waiting |= reached
        for turn in [i for i in reading.said if i in waiting]:
            if _excused(reading, after, turn) or turn in after.raw:
                waiting.discard(turn)
                continue
            held = through_pointers(reading, after, turn)
            if held in WAITING:
                continue
            waiting.discard(turn)
            tally.trigger()
            if held not in HELD:
                tally.fail(
                    f"A pointer of a replaced summary led to {reading.quote(turn)}; from the summary that replaced "
                    f"it the turn is not one step away: {_where_it_leads(reading, after, turn)}.",
                    fact=turn,
                    event=after.end,
                )
        if after.pointers is not None:
            reached, listed = _reached(reading, after), after.pointers


def shown_to(call: Operation) -> str:
    """Everything that one call of the summariser was shown."""
    messages = call.arguments.get("messages", ())
    return plain("\n".join(str(message) for message in messages))


def reply_of(call: Operation) -> str:
    """What the summariser answered; empty where it raised."""
    return str(call.value.get("text", "")) if call.ok and isinstance(call.value, dict) else ""


CHECKERS = (
    RuleChecker(rule="PTR-1", minimum=5, mechanisms=(Mechanism.POINTERS,), examine=ptr_1),
    RuleChecker(rule="PTR-4", minimum=3, mechanisms=(Mechanism.POINTERS,), examine=ptr_4),
)
