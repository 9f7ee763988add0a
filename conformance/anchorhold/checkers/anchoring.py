"""ANC: at all times every assertion is anchored or tombstoned."""

from anchorhold.checkers.holding import HELD, WAITING, Hold, Waits, hold
from anchorhold.checkers.reading import Reading
from anchorhold.checkers.record import Assertion, Observation, Stretch
from anchorhold.checkers.rule import RuleChecker
from anchorhold.checkers.tally import Tally
from anchorhold.checkers.words import content
from anchorhold_spec.vocabulary import CarrierKind, Item


def where_looked(reading: Reading) -> str:
    """The places in which a lost assertion was looked for, in words."""
    places = ["the window does not say it"]
    if reading.offers("pointers", "get"):
        places.append("no pointer that is still carried leads to its turn")
    if reading.offers("search") or reading.offers("reconstitute"):
        places.append("asking for it does not find it")
    if reading.offers("tombstones"):
        places.append("no tombstone records that it was dropped")
    return ", ".join(places)


def blame(reading: Reading, assertion: Assertion, seen: Observation | None, lost: Observation) -> str:
    """What was done between the last look that found an assertion held, or its acknowledgement, and this one."""
    since = assertion.at if seen is None else seen.end
    names = {o.op: None for o in reading.operations if since < o.start < lost.start and o.op in CHANGES}
    return " + ".join(names) or "append"


CHANGES = frozenset({"compact", "evict", "expire", "tombstone", "supersede", "reopen", "crash", "append"})


def anc_1(reading: Reading, tally: Tally) -> None:
    """Every assertion of every acknowledged turn, whenever everything was looked at."""
    last: dict[int, Observation] = {}
    lost: set[int] = set()
    waits = Waits(settles=reading.offers("settle"))
    for observation in reading.observations:
        if observation.live is None:
            continue
        for assertion in reading.assertions:
            said = reading.said[assertion.turn]
            if (
                assertion.number in lost
                or not said.certain
                or said.at > observation.start
                or not reading.belongs(assertion.turn, observation.session)
                or reading.excused(observation, assertion.turn)
            ):
                continue
            held = hold(reading, observation, assertion)
            if held in HELD:
                last[assertion.number] = observation
                # While the turn itself stands in the window, nothing is at stake.
                if held is not Hold.RAW:
                    tally.trigger()
            over = waits.over(assertion.number, held, at=observation)
            if held is Hold.LOOSE or (held is Hold.PENDING and over):
                lost.add(assertion.number)
                tally.trigger()
                done = blame(reading, assertion, last.get(assertion.number), observation)
                why = where_looked(reading)
                if held is Hold.PENDING:
                    why = f"it was answered “pending” {waits.how_long} and never became anything else"
                tally.fail(
                    f"After {done}, {assertion} is held by nothing: {why}.",
                    fact=assertion.fact.text,
                    event=observation.end,
                )


def _notices(stretch: Stretch) -> tuple[Item, ...]:
    """Items that are no turns and no summaries, and that left the window in the course of a compaction."""
    if not stretch.of("compact") and not stretch.of("append"):
        return ()
    there = {(item.id, content(item)) for item in stretch.after.items}
    return tuple(i for i in stretch.before.items if i.kind is not CarrierKind.RAW and (i.id, content(i)) not in there)


def anc_4(reading: Reading, tally: Tally) -> None:
    """Each time a carrier leaves the window: what was held before, and not by the window's raw turns, still is."""
    for lane in reading.lanes:
        waiting: dict[int, str] = {}
        for stretch in lane:
            if any(o.op in ("evict", "expire", "tombstone", "supersede") for o in stretch.operations):
                waiting.clear()
            went = stretch.gone_summaries if stretch.new_summaries else _notices(stretch)
            if went:
                gone = ", ".join(item.id for item in went)
                for assertion in reading.assertions:
                    held = hold(reading, stretch.before, assertion)
                    if reading.belongs(assertion.turn, stretch.after.session) and held in HELD - {Hold.RAW}:
                        waiting.setdefault(assertion.number, gone)
            for assertion in reading.assertions:
                if assertion.number not in waiting or reading.excused(stretch.after, assertion.turn):
                    continue
                held = hold(reading, stretch.after, assertion)
                if held in WAITING:
                    continue
                tally.trigger()
                replaced = waiting.pop(assertion.number)
                if held is Hold.LOOSE:
                    tally.fail(
                        f"{assertion} was still held while item {replaced} was there; since another "
                        f"took its place, {where_looked(reading)}.",
                        fact=assertion.fact.text,
                        event=stretch.after.end,
                    )


CHECKERS = (
    RuleChecker(rule="ANC-1", minimum=5, mechanisms=(), examine=anc_1),
    RuleChecker(rule="ANC-4", minimum=3, mechanisms=(), examine=anc_4),
)
