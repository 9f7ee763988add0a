"""ANC: at all times every assertion is anchored or tombstoned."""

from anchorhold.checkers.holding import HELD, Hold, hold
from anchorhold.checkers.observe import Assertion, Observation, Reading
from anchorhold.checkers.tally import RuleChecker, Tally


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


CHANGES = frozenset({"compact", "evict", "expire", "tombstone", "reopen", "crash", "append"})


def anc_1(reading: Reading, tally: Tally) -> None:
    """Every assertion of every acknowledged turn, whenever everything was looked at."""
    last: dict[int, Observation] = {}
    lost: set[int] = set()
    for observation in reading.observations:
        if observation.live is None:
            continue
        for assertion in reading.assertions:
            said = reading.said[assertion.turn]
            if (
                assertion.number in lost
                or not said.certain
                or said.at > observation.start
                or assertion.session != observation.session
                or assertion.turn in observation.exempt
            ):
                continue
            held = hold(reading, observation, assertion)
            if held in HELD:
                last[assertion.number] = observation
                # While the turn itself stands in the window, nothing is at stake.
                if held is not Hold.RAW:
                    tally.trigger()
            elif held is Hold.LOOSE:
                lost.add(assertion.number)
                tally.trigger()
                done = blame(reading, assertion, last.get(assertion.number), observation)
                tally.fail(
                    f"After {done}, {assertion} is held by nothing: {where_looked(reading)}.",
                    fact=assertion.fact.text,
                    event=observation.end,
                )


CHECKERS = (RuleChecker(rule="ANC-1", minimum=5, mechanisms=(), examine=anc_1),)
