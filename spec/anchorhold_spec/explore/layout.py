"""How a state is packed into words: each entry of each table a few bits, at most 62 bits a word.

All words are signed 64-bit integers that never use the top two bits: mixing signed and unsigned would silently
give floating point in compiled code, and -1 is free to mean "empty" in hash tables.

Rigid data that is not given is part of the packed state (it is explored under every interpretation), so that one
search goes through all of them and symmetry may permute it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

from anchorhold_spec.language import Machine, Relation, Sort, Symbol
from anchorhold_spec.run import Instance, State, Table

WORD = 62
"""Bits of a word that are used."""

Packed = tuple[int, ...]


@dataclass(frozen=True)
class Place:
    """Where a symbol's table lies."""

    symbol: Symbol
    dims: tuple[int, ...]
    offsets: tuple[int, ...]
    """Index of the first individual of each argument's sort."""
    width: int
    """Bits of an entry; 0 where there is only one value."""
    partial: bool
    """Entries are stored plus one, and 0 means undefined."""
    word: int
    """The first word."""
    shift: int
    """Of the first entry in its word."""
    per_word: int
    """Entries in a word; all of them where the table lies in one word."""

    @property
    def entries(self) -> int:
        """How many there are."""
        count = 1
        for dim in self.dims:
            count *= dim
        return count

    @property
    def spread(self) -> bool:
        """The table takes several words, which it has for itself."""
        return self.entries > self.per_word

    @property
    def mask(self) -> int:
        """All bits of an entry."""
        return (1 << self.width) - 1


@dataclass(frozen=True)
class Layout:
    """The packing of one machine at one size."""

    machine: Machine
    universe: Mapping[str, int]
    places: tuple[Place, ...]
    """Of the rigid symbols that are not given, then of the state's symbols, in order of declaration."""
    words: int

    @cached_property
    def spread_words(self) -> frozenset[int]:
        """The words of tables that take several."""
        return frozenset(
            place.word + i
            for place in self.places
            if place.spread
            for i in range(-(-place.entries // place.per_word))
        )

    @cached_property
    def free(self) -> tuple[Symbol, ...]:
        """The rigid symbols that are packed with the state."""
        return tuple(symbol for symbol in self.machine.rigid_symbols if symbol.given is None)

    def individuals(self, sort: Sort) -> range:
        """The indices of a sort's individuals."""
        return self.machine.individuals(sort, self.universe)

    def place(self, symbol: Symbol) -> Place:
        """Where a symbol's table lies."""
        return next(place for place in self.places if place.symbol is symbol)

    def pack(self, rigid: tuple[Table, ...], state: State) -> Packed:
        """The words. `rigid` has a table for each of `Machine.rigid_symbols`."""
        words = [0] * self.words
        for place, table in zip(self.places, self._tables(rigid, state), strict=True):
            if not place.width:
                continue
            for i, value in enumerate(table):
                word, slot = place.word + i // place.per_word, i % place.per_word
                words[word] |= (value + place.partial) << (place.shift + slot * place.width)
        return tuple(words)

    def unpack(self, words: Packed) -> tuple[tuple[Table, ...], State]:
        """The tables of `free` symbols, and the state."""
        tables: list[Table] = []
        for place in self.places:
            entries = []
            for i in range(place.entries):
                word, slot = place.word + i // place.per_word, i % place.per_word
                raw = (int(words[word]) >> (place.shift + slot * place.width)) & place.mask if place.width else 0
                entries.append(raw - place.partial)
            tables.append(tuple(entries))
        return tuple(tables[: len(self.free)]), tuple(tables[len(self.free) :])

    def instance(self, machine: Machine, words: Packed, given: tuple[Table, ...]) -> Instance:
        """The instance that a packed state belongs to. `given` has a table for each of the rigid symbols;
        those of the free ones are taken from the state."""
        free = iter(self.unpack(words)[0])
        rigid = tuple(
            next(free) if symbol.given is None else table
            for symbol, table in zip(machine.rigid_symbols, given, strict=True)
        )
        return Instance(machine, self.universe, rigid)

    def _tables(self, rigid: tuple[Table, ...], state: State) -> Iterator[Table]:
        for symbol, table in zip(self.machine.rigid_symbols, rigid, strict=True):
            if symbol.given is None:
                yield table
        yield from state


def lay_out(machine: Machine, universe: Mapping[str, int]) -> Layout:
    """First fit, the largest table first; a table of more than a word gets words of its own."""
    free = tuple(symbol for symbol in machine.rigid_symbols if symbol.given is None)
    symbols = (*free, *machine.state_symbols)
    shapes = [_shape(machine, universe, symbol) for symbol in symbols]
    placed: dict[int, Place] = {}
    used: list[int] = []
    for i in sorted(range(len(symbols)), key=lambda i: (-shapes[i].entries * shapes[i].width, i)):
        shape = shapes[i]
        bits = shape.entries * shape.width
        if bits > WORD:
            per_word = WORD // shape.width
            placed[i] = _at(shape, len(used), 0, per_word)
            used += [WORD] * -(-shape.entries // per_word)
            continue
        word = next((w for w, taken in enumerate(used) if taken + bits <= WORD), len(used))
        if word == len(used):
            used.append(0)
        placed[i] = _at(shape, word, used[word], max(shape.entries, 1))
        used[word] += bits
    places = tuple(placed[i] for i in range(len(symbols)))
    return Layout(machine, universe, places, max(len(used), 1))


def _shape(machine: Machine, universe: Mapping[str, int], symbol: Symbol) -> Place:
    ranges = [machine.individuals(sort, universe) for sort in symbol.domain]
    partial = False
    if isinstance(symbol, Relation):
        values = 2
    else:
        partial = symbol.partial
        # Individuals of a part are stored by their parent's indices: nothing to add or take away when reading.
        values = machine.individuals(symbol.result, universe).stop + partial
    width = (values - 1).bit_length() if values > 1 else 0
    dims = tuple(len(each) for each in ranges)
    return Place(symbol, dims, tuple(each.start for each in ranges), width, partial, 0, 0, 1)


def _at(shape: Place, word: int, shift: int, per_word: int) -> Place:
    return Place(shape.symbol, shape.dims, shape.offsets, shape.width, shape.partial, word, shift, per_word)
