"""What a decision table is made of: designs, what is asked of each, and what a source says of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from types import MappingProxyType

from anchorhold_spec.language import Formula, Machine


class Claim(StrEnum):
    """What a source says of a rule under a design."""

    HOLDS = "holds"
    BREAKS = "breaks"


@dataclass(frozen=True)
class Column:
    """One rule that is asked of every design."""

    rule: str
    """Its id."""
    asks: str
    """The same in a few words."""
    properties: tuple[str, ...]
    """The machine's properties that state it; a table of several machines names those of all of them."""


@dataclass(frozen=True)
class Lemma:
    """An invariant that a design has besides the machine's own. It is used only where it was proved itself."""

    name: str
    formula: Formula


@dataclass(frozen=True)
class Row:
    """One design."""

    switches: Mapping[str, str]
    """How the design is told from the others: the first columns of the table."""
    machine: Machine
    """The machine that states it, with the switches decided."""
    claims: Mapping[str, tuple[Claim, str]] = field(default_factory=lambda: MappingProxyType({}))
    """By rule: what the source says, and where it does so, in our words. Of the other rules it says nothing."""
    differs_because: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    """By rule: why what is computed is not what the source says."""
    lemmas: tuple[Lemma, ...] = ()


@dataclass(frozen=True)
class Table:
    """The designs of one source."""

    source: str
    title: str
    about: str
    """What is the same in all rows, and how to read them."""
    columns: tuple[Column, ...]
    rows: Callable[[], Sequence[Row]]
    """Made on demand: it builds machines."""
    heads: tuple[str, ...] | None = None
    """Switches that have a column of their own where room is scarce; none: all of them."""
    instances: tuple[Mapping[str, int], ...] | None = None
    """Sizes at which runs to what is broken are looked for; none: the machine's small ones."""


@dataclass(frozen=True)
class Proved:
    """It holds at every size: Z3 has shown it."""


@dataclass(frozen=True)
class Broken:
    """A run to where it does not hold; none is shorter at the sizes that were searched."""

    property: str
    trace: tuple[str, ...]
    """The steps, as people read them."""
    sizes: Mapping[str, int]


@dataclass(frozen=True)
class Unknown:
    """Neither proved nor broken at the sizes that were searched. Never a pass."""

    reason: str


Cell = Proved | Broken | Unknown


@dataclass(frozen=True)
class Answer:
    """One design with what was found out about it."""

    switches: Mapping[str, str]
    cells: Mapping[str, Cell]
    """By rule."""
    claims: Mapping[str, tuple[Claim, str]]
    differs_because: Mapping[str, str]

    @property
    def differs(self) -> tuple[str, ...]:
        """The rules where the source says something else than what was found."""
        return tuple(rule for rule, cell in self.cells.items() if rule in self.claims and self._other(rule, cell))

    def _other(self, rule: str, cell: Cell) -> bool:
        claim = self.claims[rule][0]
        return isinstance(cell, Broken) if claim is Claim.HOLDS else isinstance(cell, Proved)


@dataclass(frozen=True)
class Answers:
    """One table, computed."""

    table: Table
    rows: tuple[Answer, ...]

    @property
    def known(self) -> bool:
        """Every cell is proved or broken."""
        return not any(isinstance(cell, Unknown) for row in self.rows for cell in row.cells.values())
