"""CRA: after a crash there is the old state, the new one, or a declared pending; and recovery comes to rest."""

from anchorhold.checkers.difference import trace
from anchorhold.checkers.holding import HELD, Hold, through_pointers
from anchorhold.checkers.keys import Keys
from anchorhold.checkers.progress import excuse
from anchorhold.checkers.reading import Known, Reading
from anchorhold.checkers.record import Observation, Operation, Stretch
from anchorhold.checkers.recovery import unopened
from anchorhold.checkers.rule import RuleChecker, WatchChecker
from anchorhold.checkers.tally import Tally
from anchorhold.checkers.watch import Watch
from anchorhold.checkers.words import content
from anchorhold.compactor import Mechanism
from anchorhold.history import EventType
from anchorhold.size import high_water, least_size


def _died(stretch: Stretch) -> Operation | None:
    """The compaction that a crash stopped in this stretch, where one did."""
    if not any(o.op == "crash" and o.ok for o in stretch.operations):
        return None
    return next((o for o in stretch.of("compact") if o.ended is not EventType.OK), None)


def _mixture(reading: Reading, stretch: Stretch) -> str | None:
    """Why what is there after the crash is neither the old state nor the new one, in words; none where it is."""
    after = stretch.after
    # Turns that were appended since the last look belong to the old state.
    removed = reading.removed(stretch)
    if not stretch.new_summaries:
        # Where no model writes summaries, the new state is a notice whose pointers lead to what is gone.
        loose = [turn for turn in removed if through_pointers(reading, after, turn) not in HELD]
        if loose:
            return f"{reading.quote(loose[0])} is gone, and no summary stands for it"
        gone = stretch.gone_summaries
        return f"summary {gone[0].id} is gone, and nothing took its place" if gone else None
    if any(item.pending for item in stretch.new_summaries):
        return None
    name = stretch.new_summaries[-1].id
    declared = [turns for item in stretch.new_summaries if (turns := reading.turns_of(item.covers)) is not None]
    twice = [i for i in reading.said if any(i in turns for turns in declared) and i in after.raw]
    if twice:
        return f"summary {name} stands for {reading.quote(twice[0])}, which is in the window as well"
    if not removed and not stretch.gone_summaries:
        return f"summary {name} is in the window, and so is everything that was there before"
    texts = {content(item) for item in stretch.before.summaries}
    for item in stretch.new_summaries:
        if removed and (not content(item).strip() or content(item) in texts):
            what = "says what the summary before it said" if content(item).strip() else "says nothing"
            return f"{reading.quote(removed[0])} is gone, and summary {item.id} {what}"
    if not reading.offers("pointers", "get") or after.pointers is None:
        return None
    for turn in removed:
        if reading.said[turn].forms and not reading.excused(after, turn):
            if through_pointers(reading, after, turn) in HELD | {Hold.PENDING}:
                continue
            return f"summary {name} replaced {reading.quote(turn)}, to which no pointer leads"
    return None


def cra_1(reading: Reading, tally: Tally) -> None:
    """Each compaction that died: wholly before, wholly after, or pending."""
    for stretch in reading.stretches:
        died = _died(stretch)
        if died is None:
            continue
        tally.trigger()
        why = _mixture(reading, stretch)
        if why is not None:
            point = next((str(o.arguments.get("point")) for o in stretch.of("crash")), "?")
            tally.fail(
                f"After a crash at “{point}” and recovery, {why}.",
                fact=f"crash at {point}",
                event=stretch.after.end,
            )
    for stopped, opening in unopened(reading):
        if stopped.op == "crash":
            tally.trigger()
            point = stopped.arguments.get("point", "?")
            why = opening.error or "no reason given"
            tally.fail(
                f"After a crash at “{point}” the session cannot be opened any more ({why}).",
                fact=f"crash at {point}",
                event=opening.end,
            )


class Recovery(Watch):
    """After a crash: opening again once more changes nothing, and later compactions go through."""

    def __init__(self, known: Known, keys: Keys, tally: Tally) -> None:
        super().__init__(known, keys, tally)
        self._recovered: dict[str, str] = {}
        """By session: where a compaction died, until one was judged that came after it."""

    def stretch(self, stretch: Stretch) -> None:
        session = stretch.after.session
        crashed = False
        for operation in stretch.operations:
            crashed |= operation.op == "crash"
        if not crashed and not self._recovered:
            return
        died = _died(stretch) if crashed else None
        if died is not None:
            self._recovered[session] = next((str(o.arguments.get("point")) for o in stretch.of("crash")), "?")
            return
        recovered = self._recovered.get(session)
        if recovered is None:
            return
        done = [o.op for o in stretch.operations]
        if done == ["reopen"]:
            self.tally.trigger()
            change = trace(stretch.before, stretch.after)
            if change is not None:
                self.tally.fail(
                    f"After a crash at “{recovered}”, opening the session once more changed it: {change}.",
                    fact=f"crash at {recovered}",
                    event=stretch.after.end,
                )
        elif done == ["compact"] and self._over(stretch.before):
            del self._recovered[session]
            self._next(stretch, stretch.operations[0], recovered)

    def _next(self, stretch: Stretch, compact: Operation, recovered: str) -> None:
        if not all(call.ok and call.value.get("mode", "faithful") == "faithful" for call in compact.calls):
            return
        self.tally.trigger()
        if not compact.committed and (excuse(compact) is None or not compact.ok):
            self.tally.fail(
                f"After a crash at “{recovered}” and recovery, the next compaction does not go through "
                f"({compact.error or 'no reason given'}).",
                fact=f"compaction after a crash at {recovered}",
                event=stretch.after.end,
            )

    def _over(self, look: Observation) -> bool:
        settings = self.known.header.settings
        limit = high_water(settings)
        return limit is not None and least_size(look.items, settings.unit) > limit


CHECKERS = (
    RuleChecker(rule="CRA-1", minimum=2, mechanisms=(Mechanism.PERSISTENCE, Mechanism.CRASHES), examine=cra_1),
    WatchChecker(rule="CRA-2", minimum=2, mechanisms=(Mechanism.PERSISTENCE, Mechanism.CRASHES), watch=Recovery),
)
