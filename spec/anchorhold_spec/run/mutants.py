"""What breaks without a guard, by the interpreter: the oracle of the fast search through mutants."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from anchorhold_spec.language import Machine
from anchorhold_spec.run.explore import GaveUp, GuardId, Violation, explore
from anchorhold_spec.run.progress import stuck


class MutantExplorer(Protocol):
    """Looks for what breaks without each guard. The seam where a faster explorer takes this one's place."""

    def __call__(
        self, machine: Machine, *, dropped: Sequence[GuardId], sizes: Mapping[str, int] | None = None
    ) -> Mapping[GuardId, Violation | None]:
        """For each guard, a shortest run to a broken rule when it alone is left out; none where there is none.

        What is pending and cannot end breaks a rule, too. It can be told only where all states are known, so that
        it is what is answered where no invariant and no two-state property breaks.

        An implementation that gives up (a limit) raises instead of answering none.
        """


@dataclass(frozen=True)
class PlainMutantExplorer:
    """One breadth-first search for each guard left out."""

    limit: int | None = 200_000

    def __call__(
        self, machine: Machine, *, dropped: Sequence[GuardId], sizes: Mapping[str, int] | None = None
    ) -> Mapping[GuardId, Violation | None]:
        """See `MutantExplorer`. Raises GaveUp past `limit` states."""
        found: dict[GuardId, Violation | None] = {}
        for guard in dropped:
            mutant = machine.without_guard(guard.action, guard.guard)
            result = explore(mutant, sizes=sizes, limit=self.limit)
            if result.violation is None and not result.complete:
                raise GaveUp(
                    f"{machine.name} without guard {guard.guard!r} of {guard.action}: "
                    f"no violation in the first {result.states:,} states; give smaller sizes or a higher limit"
                )
            found[guard] = result.violation or self._unending(mutant, sizes)
        return found

    def _unending(self, mutant: Machine, sizes: Mapping[str, int] | None) -> Violation | None:
        runs = [
            Violation(each.name, each.rules, trace)
            for each in mutant.progress
            if (trace := stuck(mutant, each, sizes=sizes, limit=self.limit or sys.maxsize)[1]) is not None
        ]
        return min(runs, key=lambda each: len(each.trace.steps), default=None)
