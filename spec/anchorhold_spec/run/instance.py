"""Finite instances: a machine with its switches decided, its sorts counted and its rigid data given."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import product

from anchorhold_spec.language import Function, Machine, Relation, Sort, Symbol, UnknownChoice

Table = tuple[int, ...]
"""Flat, row-major over the symbol's domain: 0 or 1 for a relation, else an index, `UNDEFINED` for none."""

State = tuple[Table, ...]
"""One table for each of `Machine.state_symbols`, in order: the form that all readings convert to and from."""

UNDEFINED = -1

MOST_RIGID_CELLS = 20
"""Rigid tables with more free cells than this are not enumerated: 2**20 interpretations are too many already."""


@dataclass(frozen=True)
class Instance:
    """A machine at finite sizes. `rigid` has one table for each of `Machine.rigid_symbols`."""

    machine: Machine
    universe: Mapping[str, int]
    """How many individuals each sort has, by the sort's name."""
    rigid: tuple[Table, ...] = ()

    def individuals(self, sort: Sort) -> range:
        """The indices of a sort's individuals."""
        return self.machine.individuals(sort, self.universe)

    def cells(self, symbol: Symbol) -> Iterator[tuple[int, ...]]:
        """The argument tuples of a symbol, in table order."""
        return product(*(self.individuals(sort) for sort in symbol.domain))

    def place(self, symbol: Symbol, arguments: tuple[int, ...]) -> int:
        """Position in the symbol's table."""
        position = 0
        for sort, argument in zip(symbol.domain, arguments, strict=True):
            individuals = self.individuals(sort)
            position = position * len(individuals) + (argument - individuals.start)
        return position


def instances(
    machine: Machine, sizes: Mapping[str, int] | None = None, switches: Mapping[str, str] | None = None
) -> Iterator[Instance]:
    """The instances with these sizes, one for each interpretation of the rigid data that the axioms allow.

    Switches that are not given have their defaults. Raises UnknownChoice for sizes, switches or rigid data that
    do not fit.
    """
    from anchorhold_spec.run.interpret import compile_closed

    decided = machine.with_switches(**(switches or {})).with_defaults()
    universe = decided.universe(sizes)
    bare = Instance(decided, universe)
    choices: list[list[Table]] = [_tables(bare, symbol) for symbol in decided.rigid_symbols]
    for rigid in product(*choices):
        instance = Instance(decided, universe, rigid)
        if all(compile_closed(instance, axiom.formula)((), ()) for axiom in decided.axioms):
            yield instance


def instance_with(
    machine: Machine, sizes: Mapping[str, int], given: Mapping[str, Mapping[tuple[int, ...], int]] | None = None
) -> Instance:
    """One instance, of a machine whose switches are decided, with this rigid data: by symbol and cell.

    What is left out of it is as the machine gives it, or else the first value that there is. Raises UnknownChoice
    where the machine's axioms do not allow it.
    """
    from anchorhold_spec.run.interpret import compile_closed

    universe = machine.universe(sizes)
    bare = Instance(machine, universe)
    rigid = []
    for symbol in machine.rigid_symbols:
        seen, cells = (given or {}).get(symbol.name, {}), list(bare.cells(symbol))
        whole = symbol.given is None or seen.keys() >= set(cells)
        base = (_values(bare, symbol)[0],) * len(cells) if whole else _tables(bare, symbol)[0]
        rigid.append(tuple(seen.get(cell, entry) for cell, entry in zip(cells, base, strict=True)))
    instance = Instance(machine, universe, tuple(rigid))
    for axiom in machine.axioms:
        if not compile_closed(instance, axiom.formula)((), ()):
            raise UnknownChoice(f"{machine.name}: what is given breaks the axiom {axiom.name!r}")
    return instance


def _tables(instance: Instance, symbol: Symbol) -> list[Table]:
    cells = list(instance.cells(symbol))
    values = _values(instance, symbol)
    given = symbol.given
    if given is not None:
        table = tuple(UNDEFINED if (value := given(*cell)) is None else int(value) for cell in cells)
        for cell, entry in zip(cells, table, strict=True):
            if entry not in values:
                raise UnknownChoice(f"{symbol.name}{cell} is given as {entry}, which is none of {values}")
        return [table]
    if len(cells) * (len(values) - 1).bit_length() > MOST_RIGID_CELLS:
        raise UnknownChoice(
            f"{symbol.name} has too many interpretations at this size to go through; fix it with `given`"
        )
    return list(product(values, repeat=len(cells)))


def _values(instance: Instance, symbol: Symbol) -> list[int]:
    if isinstance(symbol, Relation):
        return [0, 1]
    values = list(instance.individuals(symbol.result))
    return [UNDEFINED, *values] if isinstance(symbol, Function) and symbol.partial else values
