"""A compaction to watch: which steps a program takes on the disk, so that it can be stopped before each of them."""

from collections.abc import Callable

from anchorhold.compactor import OperationError
from anchorhold.disk.client import DiskClient
from anchorhold.disk.faults import Change
from anchorhold.planting import Planter
from anchorhold.scenarios.plan import ASKED_FOR, TURN_SIZE, WITHOUT_BUDGET
from anchorhold.size import high_water, turn_size
from anchorhold.summariser import ScriptedSummariser
from anchorhold.wire.operations import Operations
from anchorhold_spec.vocabulary import OutcomeKind

MOST = 120
"""Turns after which a window that is still not over its watermark is compacted all the same."""


def rehearse(make: Callable[[], Operations], disk: DiskClient) -> tuple[Change, ...]:
    """The steps of one compaction that committed; none where there was none, or where it changed no file.

    Raises AdapterError where the program fails; what fails in the compactor is for the check to find.
    """
    summariser = ScriptedSummariser()
    planter = Planter("rehearsal")
    compactor = make()
    try:
        taken = compactor.open(ASKED_FOR, summariser)
        limit = high_water(taken)
        size = 0
        for append in planter.talk(MOST, *planter.facts(2), size=TURN_SIZE):
            summariser.learn(append.turn.text, append.facts, speaker=append.turn.speaker)
            compactor.append(append.turn)
            size += turn_size(append.turn, taken.unit)
            if size > limit if limit is not None else append.turn.id == f"t{WITHOUT_BUDGET}":
                break
        disk.watch()
        outcome = compactor.compact()
        steps = disk.told().steps
    except OperationError:
        return ()
    finally:
        compactor.close()
    return tuple(map(Change, steps)) if outcome.kind is OutcomeKind.COMMITTED else ()
