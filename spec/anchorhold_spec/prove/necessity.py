"""Is every guard needed? Without it, an exploration has to *reach* a broken rule.

A counterexample to induction would not do: it may start from a state that is never reached. A guard that nothing
needs says why it is there: `bound` or `realism`, with a reason. A guard that is tagged so and is needed after all is
as much a mistake as one that claims to be needed and is not.

That nothing breaks at small sizes does not show that nothing does. So the rules are proved again without each tagged
guard (`without`). Where that is not achieved, larger sizes are searched; and a tag without which nothing was seen
to break but not everything is proved is not justified: what is not known is no pass.

That what is pending can end is proved nowhere. It is explored, without each guard as with all of them: a machine that
says so is searched even where everything else is proved.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum

from anchorhold_spec.explore import FastMutantExplorer, fast_survey
from anchorhold_spec.language import Machine, Tag, UnknownChoice
from anchorhold_spec.prove.without import WithoutGuard
from anchorhold_spec.run import GaveUp, GuardId, MutantExplorer, Surveyor, Violation

MOST = 2_000_000
"""States with every guard in place: an instance that has more is none that every check can go through."""

FARTHER = 300_000
"""States of a mutant that are gone through at a size beyond the machine's own."""


CHEAP = 1_000
"""The same where only what can end is asked about: it is proved nowhere, and one size more costs next to nothing."""


class Without(StrEnum):
    """What is known of the rules where one guard is left out."""

    VIOLATED = "violated"
    """A run that breaks one was reached."""
    PROVED = "proved"
    """Invariants and two-state properties hold, at every size; what has to be able to end can, at those searched."""
    NOT_PROVED = "not proved"
    """No violation was reached at the sizes that were searched; beyond, it is not known."""
    NOT_KNOWN = "not known"
    """Not even the machine's small instances could be searched."""


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
    proofs: WithoutGuard | None = None
    """The proofs without it; none: they were not asked for."""
    searched: tuple[Mapping[str, int], ...] = ()
    """Sizes at which every state was seen without it, and nothing broke."""

    @property
    def necessary(self) -> bool:
        """Something breaks without it."""
        return self.violation is not None

    @property
    def without(self) -> Without:
        """What is known of the rules without it."""
        if self.violation is not None:
            return Without.VIOLATED
        if self.problem is not None:
            return Without.NOT_KNOWN
        return Without.PROVED if self.proofs is not None and self.proofs.proved else Without.NOT_PROVED

    @property
    def justified(self) -> bool:
        """The tag is right, and that is known. (Where no proofs were asked for: at the sizes searched.)"""
        if self.tag is Tag.SAFETY:
            return self.problem is None and self.necessary
        return self.without is Without.PROVED or (self.without is Without.NOT_PROVED and self.proofs is None)

    @property
    def advice(self) -> str | None:
        """What to do about a tag that is neither proved nor refuted; none elsewhere."""
        if self.without is not Without.NOT_PROVED or self.proofs is None:
            return None
        return (
            f"{', '.join(sorted(self.proofs.failed))}; find an auxiliary invariant that holds without the guard and "
            "proves it, or untag the guard and show a size at which a rule breaks without it"
        )


def guard_verdicts(
    machine: Machine,
    *,
    explorer: MutantExplorer | None = None,
    surveyor: Surveyor | None = None,
    sound: bool = False,
    tags: Collection[Tag] = tuple(Tag),
    proofs: Iterable[WithoutGuard] = (),
) -> Iterator[GuardVerdict]:
    """One for each guard with one of these tags, in order of the actions.

    Each is tried at each of the machine's small instances until something breaks. One without which everything is
    proved need not be tried where nothing has to be able to end, and where something has, is tried at larger sizes as
    far as that is cheap. One without which not everything is proved is tried at larger sizes, too.

    Args:
        machine: Its switches are decided by their defaults.
        explorer: Looks for what breaks without a guard; none: the fast one.
        surveyor: Looks for what breaks anyway; none: the fast one.
        sound: It is known already that nothing does, and that what is pending can end.
        tags: The guards that are asked about.
        proofs: What was proved without guards, if Z3 was asked.
    """
    search = explorer or FastMutantExplorer()
    decided = machine.with_defaults()
    tried = {each.guard: each for each in proofs}
    asked = [(action.name, guard) for action in decided.actions for guard in action.guards if guard.tag in tags]
    # What can end is not among what is proved.
    left = [
        guard
        for guard in (GuardId(a, g.name) for a, g in asked)
        if decided.progress or not (guard in tried and tried[guard].proved)
    ]
    broken = None if sound or not left else _broken_anyway(decided, search, surveyor or fast_survey)
    found = _Search(search, decided, () if broken else left)
    for sizes in decided.small_instances:
        found.go_through(sizes)
    doubtful = [guard for guard in found.unbroken() if guard in tried and not tried[guard].proved]
    proved = [guard for guard in found.unbroken() if guard in tried and tried[guard].proved]
    for sizes in larger(decided):
        found.go_farther(sizes, doubtful)
        found.go_a_little_farther(sizes, proved)
    for action_name, each in asked:
        this = GuardId(action_name, each.name)
        violation = found.violations.get(this)
        yield GuardVerdict(
            decided.name,
            action_name,
            each.name,
            each.tag,
            each.reason,
            violation,
            None if violation or this not in left else broken or found.problems.get(this),
            tried.get(this),
            () if violation else tuple(found.searched.get(this, ())),
        )


def larger(machine: Machine) -> Iterator[Mapping[str, int]]:
    """The sizes beyond the small instances: each with one sort a size larger, and what the machine calls large."""
    small = [dict(sizes) for sizes in machine.small_instances]
    grown = [{**sizes, plural: sizes[plural] + 1} for sizes in small for plural in sizes]
    large = [dict(machine.instances[name]) for name in machine.instances if name in machine.large]
    seen: list[dict[str, int]] = []
    for sizes in (*grown, *large):
        if sizes not in small and sizes not in seen:
            seen.append(sizes)
            yield sizes


class _Search:
    """What breaks without each of some guards, at one size after another."""

    def __init__(self, explorer: MutantExplorer, machine: Machine, guards: Collection[GuardId]) -> None:
        self._explorer = explorer
        self._machine = machine
        self._guards = tuple(guards)
        self.violations: dict[GuardId, Violation] = {}
        self.problems: dict[GuardId, str] = {}
        self.searched: dict[GuardId, list[Mapping[str, int]]] = {}

    def unbroken(self) -> list[GuardId]:
        """Those without which nothing was seen to break."""
        return [guard for guard in self._guards if guard not in self.violations]

    def go_through(self, sizes: Mapping[str, int]) -> None:
        """All states of all mutants; one for which that is too much has a problem."""
        left = self.unbroken()
        if not left:
            return
        try:
            self._note(sizes, self._explorer(self._machine, dropped=left, sizes=sizes))
        except GaveUp:
            # One of them is too large: each is tried alone, so that the others keep their answers.
            for guard in left:
                try:
                    self._note(sizes, self._explorer(self._machine, dropped=[guard], sizes=sizes))
                except GaveUp as problem:
                    self.problems[guard] = str(problem)

    def go_farther(self, sizes: Mapping[str, int], guards: Iterable[GuardId]) -> None:
        """As far as `FARTHER`: what is too large for that is left, and is not among what was searched."""
        limited = (
            FastMutantExplorer(limit=FARTHER) if isinstance(self._explorer, FastMutantExplorer) else self._explorer
        )
        for guard in guards:
            if guard not in self.violations:
                try:
                    self._note(sizes, limited(self._machine, dropped=[guard], sizes=sizes))
                except (GaveUp, UnknownChoice):
                    # Too large, or the axioms allow no data of this size.
                    continue

    def go_a_little_farther(self, sizes: Mapping[str, int], guards: Collection[GuardId]) -> None:
        """As far as `CHEAP`, by the fast explorer; not where the machine with all its guards is larger already."""
        limited = FastMutantExplorer(limit=CHEAP)
        if not (guards and isinstance(self._explorer, FastMutantExplorer)):
            return
        try:
            if not limited.sound(self._machine, sizes=sizes):
                return
        except UnknownChoice:
            return
        for guard in guards:
            if guard not in self.violations:
                try:
                    self._note(sizes, limited(self._machine, dropped=[guard], sizes=sizes))
                except GaveUp:
                    continue

    def _note(self, sizes: Mapping[str, int], found: Mapping[GuardId, Violation | None]) -> None:
        for guard, violation in found.items():
            if violation:
                self.violations[guard] = violation
            else:
                self.searched.setdefault(guard, []).append(sizes)


def _broken_anyway(machine: Machine, explorer: MutantExplorer, survey: Surveyor) -> str | None:
    """Where a rule is broken with every guard in place, leaving one out shows nothing."""
    for sizes in machine.small_instances:
        if isinstance(explorer, FastMutantExplorer) and explorer.sound(machine, sizes=sizes):
            continue
        found = survey(replace(machine, sometimes=()), sizes=sizes, limit=MOST)
        if found.violation:
            return f"with all guards in place, {found.violation.property} is broken already"
        if found.stuck:
            return f"with all guards in place, what is pending cannot end already: {', '.join(found.stuck)}"
        if not found.complete:
            return f"not known whether a rule is broken anyway: more than {MOST:,} states at {dict(sizes)}"
    return None
