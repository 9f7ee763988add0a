"""Where each rule is held: by which properties of which machines, and (told from outside) by which checks."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from anchorhold_spec.language import Invariant, Machine, Progress, Transition


@dataclass(frozen=True, slots=True, kw_only=True)
class Stated:
    """A property of a machine that states a rule."""

    machine: str
    name: str
    """Of the property."""
    kind: str
    """invariant, transition or progress."""

    @property
    def proved(self) -> bool:
        """By induction for all sizes (`anchorhold prove`); progress is explored at finite sizes only."""
        return self.kind != "progress"


@dataclass(frozen=True, slots=True, kw_only=True)
class Checked:
    """What the conformance suite has for the rules. The specification does not know the suite: this is handed in."""

    checkers: Mapping[str, str] = field(default_factory=dict)
    """Where the checker of a rule is, by rule."""
    wrong: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Names of the wrong compactors that a rule's checker must catch."""


def stated(machines: Iterable[Machine]) -> dict[str, list[Stated]]:
    """The properties that state each rule, machines in order."""
    found: dict[str, list[Stated]] = {}
    for machine in machines:
        kinds: tuple[tuple[str, tuple[Invariant | Transition | Progress, ...]], ...] = (
            ("invariant", machine.invariants),
            ("transition", machine.transitions),
            ("progress", machine.progress),
        )
        for kind, properties in kinds:
            for each in properties:
                for rule in each.rules:
                    found.setdefault(rule, []).append(Stated(machine=machine.name, name=each.name, kind=kind))
    return found
