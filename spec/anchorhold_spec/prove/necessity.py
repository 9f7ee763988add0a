"""Is every guard needed? Without it, an exploration has to *reach* a broken rule.

A counterexample to induction would not do: it may start from a state that is never reached. A guard that nothing
needs says why it is there: `bound` or `realism`, with a reason. A guard that is tagged so and is needed after all is
as much a mistake as one that claims to be needed and is not.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from anchorhold_spec.explore import FastMutantExplorer, fast_survey
from anchorhold_spec.language import Machine, Tag
from anchorhold_spec.run import GaveUp, GuardId, MutantExplorer, Surveyor, Violation

MOST = 2_000_000
"""States with every guard in place: an instance that has more is none that every check can go through."""


@dataclass(frozen=True)
class GuardVerdict:
    """What becomes of a machine without one of its guards."""

    machine: str
    action: str
    guard: str
    tag: Tag
    reason: str | None
    """Why it is there although nothing breaks without it."""
    violation: Violation | None
    """A run to a broken rule without it; none where every state was seen and nothing broke."""
    problem: str | None = None
    """Why it is not known."""

    @property
    def necessary(self) -> bool:
        """Something breaks without it."""
        return self.violation is not None

    @property
    def justified(self) -> bool:
        """The tag is right, and it is known that it is."""
        return self.problem is None and self.necessary is (self.tag is Tag.SAFETY)


def guard_verdicts(
    machine: Machine,
    *,
    explorer: MutantExplorer | None = None,
    surveyor: Surveyor | None = None,
    sound: bool = False,
) -> Iterator[GuardVerdict]:
    """One for each guard of each action, tried at each of the machine's small instances until something breaks.

    `explorer` looks for what breaks without a guard, `surveyor` for what breaks anyway; none: the fast ones.
    `sound`: it was seen already that nothing does.
    """
    search = explorer or FastMutantExplorer()
    decided = machine.with_defaults()
    broken = None if sound else _broken_anyway(decided, search, surveyor or fast_survey)
    if broken:
        for action in decided.actions:
            for each in action.guards:
                yield GuardVerdict(decided.name, action.name, each.name, each.tag, each.reason, None, broken)
        return
    open_guards = [GuardId(action.name, guard.name) for action in decided.actions for guard in action.guards]
    violations: dict[GuardId, Violation] = {}
    problems: dict[GuardId, str] = {}
    for sizes in decided.small_instances:
        left = [guard for guard in open_guards if guard not in violations]
        try:
            found = search(decided, dropped=left, sizes=sizes)
        except GaveUp:
            # One of them is too large: each is tried alone, so that the others keep their answers.
            found = {}
            for guard in left:
                try:
                    found = {**found, **search(decided, dropped=[guard], sizes=sizes)}
                except GaveUp as problem:
                    problems[guard] = str(problem)
        violations.update({guard: violation for guard, violation in found.items() if violation})
    for action in decided.actions:
        for each in action.guards:
            this = GuardId(action.name, each.name)
            violation = violations.get(this)
            unknown = None if violation else problems.get(this)
            yield GuardVerdict(decided.name, action.name, each.name, each.tag, each.reason, violation, unknown)


def _broken_anyway(machine: Machine, explorer: MutantExplorer, survey: Surveyor) -> str | None:
    """Where a rule is broken with every guard in place, leaving one out shows nothing."""
    for sizes in machine.small_instances:
        if isinstance(explorer, FastMutantExplorer) and explorer.sound(machine, sizes=sizes):
            continue
        found = survey(replace(machine, sometimes=(), progress=()), sizes=sizes, limit=MOST)
        if found.violation:
            return f"with all guards in place, {found.violation.property} is broken already"
        if not found.complete:
            return f"not known whether a rule is broken anyway: more than {MOST:,} states at {dict(sizes)}"
    return None
