"""Which of the directed scenarios a quick check plays. Pure.

The rule: first, for each rule, a scenario that aims at it (`Budget.aimed` says how many), and all that aim at none in
particular. Then, as long as a rule is inconclusive by what was played and scenarios that aim at it are left, more for
each such rule, twice as many each time. Of those that will do, the one is taken that serves most rules for what it is
to play. So nothing is chosen by its name, and what is chosen depends on no order in which things end.
"""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence

from anchorhold.workload import AnyStep, Append, Ask, Compact, Fill, Meanwhile, Probe, Summariser, Workers, Workload

LOOK = 8
"""Operations of a look around, besides one for each pointer."""
POINTERS = 6
"""Pointers that a compaction adds, about."""
ASKED = 24
"""Operations of what is asked after a compaction, about."""
LONG = 200
"""Characters of a turn that cost as much as an operation, about: each is looked at again and again."""
LOOKS = 4
"""Looks at a turn that an explicit workload is spared, about."""
FILLED = 4
"""Of so many turns of a filling one is played, about: it ends where the window is full."""


def following(left: Sequence[tuple[Collection[str], int]], wanted: Mapping[str, int]) -> tuple[int, ...]:
    """Which of the scenarios that are left to play next, by their places in `left`, in its order.

    `left`: of each the rules that it aims at, and how much it is to play. `wanted`: by how many scenarios that aim at
    it a rule is to be served; where fewer are left it is by those.
    """
    lacking = Counter(wanted)
    chosen: set[int] = set()
    while True:
        serves = {
            place: number
            for place, (aims, _) in enumerate(left)
            if place not in chosen and (number := sum(lacking[rule] > 0 for rule in aims))
        }
        if not serves:
            return tuple(sorted(chosen))
        best = max(serves, key=lambda place: (serves[place] / left[place][1], -place))
        chosen.add(best)
        lacking.subtract(left[best][0])


def weight(workload: Workload) -> int:
    """How many operations a workload comes to, roughly; at least 1."""
    return max(1, _Weighing(explicit=workload.explicit).of(workload.steps))


class _Weighing:
    def __init__(self, *, explicit: bool) -> None:
        self._explicit = explicit
        self._pointers = 0
        self._facts = 0

    def of(self, steps: Sequence[AnyStep]) -> int:
        operations = sum(map(self._one, steps))
        # At the end everything is asked for, and looked at once more.
        return operations if self._explicit else operations + 2 * self._facts + self._look

    @property
    def _look(self) -> int:
        return LOOK + self._pointers

    def _one(self, step: AnyStep) -> int:
        match step:
            case Append(turn=turn, facts=facts):
                self._facts += len(facts)
                return 1 + len(turn.text or "") // (LONG * LOOKS if self._explicit else LONG)
            case Fill(turns=turns):
                self._facts += sum(len(turn.facts) for turn in turns)
                return max(1, len(turns) // FILLED)
            case Compact(until_idle=until):
                if self._explicit:
                    return 3
                self._pointers += POINTERS
                return min(2, max(1, until)) * (3 + self._look) + ASKED
            case Ask(only=only):
                return len(only) or 2
            case Summariser():
                return 0
            case Meanwhile(steps=steps):
                return sum(map(self._one, steps))
            case Workers(tasks=tasks, schedule=schedule):
                return len(schedule) + ASKED * len(tasks) + self._look
            case Probe(only=only):
                return len(only) or self._look
            case _:
                return 1 if self._explicit else 1 + self._look
