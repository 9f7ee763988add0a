"""What a search through all states of a finite instance shows: the seam of `prove`'s checks against vacuity."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from anchorhold_spec.language import Machine, Transition
from anchorhold_spec.run.explore import GaveUp, Trace, Violation, explore
from anchorhold_spec.run.progress import stuck


@dataclass(frozen=True)
class Survey:
    """What was found with every switch at its default."""

    states: int
    complete: bool
    """Every reachable state was seen: no violation ended it, and no limit."""
    violation: Violation | None
    """A shortest run to a broken rule."""
    deadlock: Trace | None
    """A shortest run to a state where, faults aside, nothing can happen and nothing is allowed to rest."""
    fired: frozenset[str]
    """Actions that happened."""
    met: Collection[str]
    """`sometimes` properties that were reached, and what was looked for in steps and found."""
    stuck: Mapping[str, Trace]
    """For each progress property that fails, a run to where what is pending cannot end (known if `complete`)."""


class Surveyor(Protocol):
    """Goes through all states of one instance. The seam where a faster search takes the plain one's place."""

    def __call__(
        self,
        machine: Machine,
        *,
        sizes: Mapping[str, int] | None,
        limit: int,
        steps: Sequence[Transition] = (),
    ) -> Survey:
        """`limit`: most states; past it the survey is not complete.

        `steps`: what is looked for in steps, each by the two-state property that such a step breaks.
        """
        ...


def plain_survey(
    machine: Machine, *, sizes: Mapping[str, int] | None, limit: int, steps: Sequence[Transition] = ()
) -> Survey:
    """By the interpreter."""
    bare = replace(machine, invariants=(), sometimes=(), progress=())
    seen = [
        each.name
        for each in steps
        if explore(replace(bare, transitions=(each,)), sizes=sizes, limit=limit).violation is not None
    ]
    found = explore(machine, sizes=sizes, limit=limit)
    complete = found.complete
    runs: dict[str, Trace] = {}
    for progress in machine.progress if complete else ():
        try:
            _, trace = stuck(machine, progress, sizes=sizes, limit=limit)
        except GaveUp:
            complete = False
            break
        if trace:
            runs[progress.name] = trace
    fired = frozenset(name for name, times in found.fired.items() if times)
    return Survey(found.states, complete, found.violation, found.deadlock, fired, (*found.witnesses, *seen), runs)
