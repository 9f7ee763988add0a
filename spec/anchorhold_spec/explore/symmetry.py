"""Symmetry reduction: of all states that differ only in who is who, one is kept.

The individuals of a sort are interchangeable where nothing tells them apart: the sort was declared symmetric, and
exchanging two of them leaves all given rigid data as it is (checked here, never assumed; a sort that fails is left
out, with the reason). The canonical form of a state is exact and needs no N!·K! permutations: one sort is *sorted*,
by everything that the state says of each of its individuals, under each permutation of the others. Sorting is exact
where no table relates two individuals of that sort; a sort with such a table is permuted instead.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import permutations, product
from math import factorial

from anchorhold_spec.explore.layout import WORD, Layout, Place
from anchorhold_spec.language import Function, Sort, SortKind, Symbol
from anchorhold_spec.run import Table

MOST_PERMUTATIONS = 5040
"""Of all permuted sorts together: each is tried for each state."""


@dataclass(frozen=True)
class Symmetry:
    """Which sorts are reduced, and how. Nothing of it: no reduction."""

    sorted: Sort | None
    permuted: tuple[Sort, ...]
    refused: Mapping[str, str]
    """Symmetric sorts that are not reduced, with the reason."""

    @property
    def used(self) -> tuple[Sort, ...]:
        """All sorts that are reduced."""
        return (*((self.sorted,) if self.sorted else ()), *self.permuted)


NONE = Symmetry(None, (), {})


def ranges(layout: Layout, sort: Sort) -> list[range]:
    """The individuals of a sort that may be exchanged with one another: part by part."""
    parts = layout.machine.parts_of(sort)
    return [layout.individuals(part) for part in parts] if parts else [layout.individuals(sort)]


def find(layout: Layout, given: Mapping[str, Table]) -> Symmetry:
    """What can be reduced soundly. `given` has the tables of the rigid symbols that are given, by name."""
    refused: dict[str, str] = {}
    usable: list[Sort] = []
    for sort in layout.machine.sorts:
        if not sort.symmetric or sort.kind is not SortKind.PLAIN or layout.universe[sort.name] < 2:
            continue
        if broken := _told_apart(layout, sort, given):
            refused[sort.name] = f"{broken} tells its individuals apart"
        else:
            usable.append(sort)
    orderly = [sort for sort in usable if all(_mentions(place.symbol, sort) < 2 for place in layout.places)]
    largest = max(orderly, key=lambda sort: _orders(layout, sort), default=None)
    permuted: list[Sort] = []
    tried = 1
    for sort in sorted((s for s in usable if s is not largest), key=lambda sort: _orders(layout, sort)):
        if tried * _orders(layout, sort) > MOST_PERMUTATIONS:
            refused[sort.name] = f"it has too many permutations ({_orders(layout, sort):,})"
        else:
            tried *= _orders(layout, sort)
            permuted.append(sort)
    return Symmetry(largest, tuple(permuted), refused)


def _orders(layout: Layout, sort: Sort) -> int:
    count = 1
    for each in ranges(layout, sort):
        count *= factorial(len(each))
    return count


def _mentions(symbol: Symbol, sort: Sort) -> int:
    result = (symbol.result,) if isinstance(symbol, Function) else ()
    return sum(each.base is sort for each in (*symbol.domain, *result))


def _told_apart(layout: Layout, sort: Sort, given: Mapping[str, Table]) -> str | None:
    """The name of a given symbol that changes when two neighbours are exchanged (neighbours generate all)."""
    for symbol in layout.machine.rigid_symbols:
        if symbol.name not in given or not _mentions(symbol, sort):
            continue
        domains = [layout.individuals(each) for each in symbol.domain]
        table = dict(zip(product(*domains), given[symbol.name], strict=True))
        for individuals in ranges(layout, sort):
            for a in individuals[:-1]:
                swap = {a: a + 1, a + 1: a}
                for cell, value in table.items():
                    moved = tuple(
                        swap.get(x, x) if each.base is sort else x
                        for x, each in zip(cell, symbol.domain, strict=True)
                    )
                    to = swap.get(value, value) if _goes_to(symbol, sort) else value
                    if table[moved] != to:
                        return symbol.name
    return None


def _goes_to(symbol: Symbol, sort: Sort) -> bool:
    return isinstance(symbol, Function) and symbol.result.base is sort


def all_permutations(layout: Layout, sort: Sort) -> list[tuple[int, ...]]:
    """Every permutation of a sort's individuals that keeps its parts, as the new index of each."""
    choices = [list(permutations(each)) for each in ranges(layout, sort)]
    return [tuple(x for part in choice for x in part) for choice in product(*choices)]


# The canonical form as code -------------------------------------------------------------------------------------

_TEXT = """
@inner
def before(work, x, y, sense):
    for k in range({signature}):
        a = work[{first} + k, x]
        b = work[{first} + k, y]
        if a != b:
            return (a < b) == (sense > 0)
    return False


@inner
def better(work, sense):
    for w in range(WORDS):
        a = work[1, w]
        b = work[2, w]
        if a != b:
            return (a < b) == (sense > 0)
    return False


@inner
def canonical(rows, i, sense, work):
    for w in range(WORDS):
        work[0, w] = rows[i, w]
    for p in range({tried}):
{sort}
        for w in range(WORDS):
            work[1, w] = 0
        fill_in(work, p)
        if p == 0 or better(work, sense):
            for w in range(WORDS):
                work[2, w] = work[1, w]
    for w in range(WORDS):
        rows[i, w] = work[2, w]
"""

_SORT = """        sign(work, p)
        for part in range({parts}):
            lo = {lo}
            hi = {hi}
            for at in range(lo, hi):
                work[3, at] = at
                b = at
                while b > lo and before(work, work[3, b], work[3, b - 1], sense):
                    c = work[3, b]
                    work[3, b] = work[3, b - 1]
                    work[3, b - 1] = c
                    b -= 1
            for at in range(lo, hi):
                work[4, work[3, at]] = at"""

ORDER, RANK, SIGNATURE = 3, 4, 5
"""Rows of the scratch array: the old state, a candidate, the best, new to old, old to new, the signatures."""


@dataclass(frozen=True)
class CanonicalCode:
    """Lines of the module, constants that they need, and the shape of the scratch array."""

    lines: list[str]
    constants: dict[str, str]
    rows: int
    columns: int


class _Writer:
    """Writes the functions that read an old row, work[0], under the p-th permutation."""

    def __init__(self, layout: Layout, symmetry: Symmetry) -> None:
        self.layout = layout
        self.symmetry = symmetry
        self.lines: list[str] = []

    def old(self, sort: Sort, name: str) -> str:
        """Who it was that is now called `name`."""
        if sort.base is self.symmetry.sorted:
            return f"work[{ORDER}, {name}]"
        for k, each in enumerate(self.symmetry.permuted):
            if sort.base is each:
                return f"FROM_{k}[p * {self.layout.universe[each.name]} + {name}]"
        return name

    def new(self, sort: Sort, name: str) -> str:
        """What the old `name` is called now."""
        if sort.base is self.symmetry.sorted:
            return f"work[{RANK}, {name}]"
        for k, each in enumerate(self.symmetry.permuted):
            if sort.base is each:
                return f"TO_{k}[p * {self.layout.universe[each.name]} + {name}]"
        return name

    def loops(self, place: Place, depth: int, fixed: Mapping[int, str]) -> tuple[int, list[str]]:
        """Loops over the arguments (new names) that are not fixed; the depth inside and all the names."""
        names: list[str] = []
        for i, sort in enumerate(place.symbol.domain):
            if i in fixed:
                names.append(fixed[i])
                continue
            individuals = self.layout.individuals(sort)
            self.lines.append("    " * depth + f"for y{i} in range({individuals.start}, {individuals.stop}):")
            names.append(f"y{i}")
            depth += 1
        return depth, names

    def locate(self, place: Place, names: list[str]) -> tuple[str, str]:
        """The word of an entry and its shift."""
        index = "0"
        for name, dim, offset in zip(names, place.dims, place.offsets, strict=True):
            index = f"({index}) * {dim} + {name} - {offset}"
        if place.spread:
            return f"{place.word} + ({index}) // {place.per_word}", f"(({index}) % {place.per_word}) * {place.width}"
        return str(place.word), f"{place.shift} + ({index}) * {place.width}"

    def read(self, place: Place, depth: int, names: list[str]) -> None:
        """`v` becomes the entry as stored, its arguments being old names."""
        word, shift = self.locate(place, names)
        self.lines.append("    " * depth + f"v = (work[0, {word}] >> ({shift})) & {place.mask}")

    def rename(self, place: Place, depth: int) -> None:
        """`v` becomes the entry with its value's new name."""
        if not isinstance(place.symbol, Function):
            return
        new = self.new(place.symbol.result, f"v - {int(place.partial)}")
        if "[" not in new:
            return
        pad = "    " * depth
        if place.partial:
            self.lines.append(f"{pad}if v > 0:")
            pad += "    "
        self.lines.append(f"{pad}v = {new} + {int(place.partial)}")


def canonical_code(layout: Layout, symmetry: Symmetry) -> CanonicalCode:
    """The functions `canonical` and what it calls, for a layout."""
    writer = _Writer(layout, symmetry)
    tried = 1
    tables: list[list[tuple[int, ...]]] = [all_permutations(layout, sort) for sort in symmetry.permuted]
    constants: dict[str, str] = {}
    together = list(product(*tables))
    tried = len(together)
    for k in range(len(symmetry.permuted)):
        to = [choice[k] for choice in together]
        back = [tuple(sorted(range(len(each)), key=each.__getitem__)) for each in to]
        constants[f"TO_{k}"] = repr(tuple(x for each in to for x in each))
        constants[f"FROM_{k}"] = repr(tuple(x for each in back for x in each))
    signature = 0
    sort_text = "        pass"
    if symmetry.sorted is not None:
        signature = _sign(writer, symmetry.sorted)
        bounds = [(each.start, each.stop) for each in ranges(layout, symmetry.sorted)]
        constants["SORT_LO"] = repr(tuple(lo for lo, _ in bounds))
        constants["SORT_HI"] = repr(tuple(hi for _, hi in bounds))
        sort_text = _SORT.format(parts=len(bounds), lo="SORT_LO[part]", hi="SORT_HI[part]")
    _fill(writer)
    text = _TEXT.format(signature=signature, first=SIGNATURE, tried=tried, sort=sort_text)
    columns = max(layout.words, *(layout.universe[s.name] for s in symmetry.used), 1)
    return CanonicalCode([*writer.lines, *text.splitlines()], constants, SIGNATURE + max(signature, 1), columns)


def _sign(writer: _Writer, sort: Sort) -> int:
    """Writes `sign`: everything that the state says of each individual, in words; gives how many words."""
    layout = writer.layout
    individuals = layout.individuals(sort)
    lines = writer.lines
    lines += ["@inner", "def sign(work, p):", f"    for s in range({individuals.start}, {individuals.stop}):"]
    lines += ["        g = 0", "        bits = 0", "        k = 0"]
    total = 0
    for place in layout.places:
        position = next((i for i, each in enumerate(place.symbol.domain) if each.base is sort), None)
        valued = _goes_to(place.symbol, sort)
        if not place.width or not place.entries or (position is None and not valued):
            continue
        depth = 2
        fixed: dict[int, str] = {}
        if position is not None:
            fixed[position] = "s"
            part = layout.individuals(place.symbol.domain[position])
            lines.append(f"        if s >= {part.start} and s < {part.stop}:")
            depth = 3
        depth, names = writer.loops(place, depth, fixed)
        old = [
            name if i == position else writer.old(each, name)
            for i, (each, name) in enumerate(zip(place.symbol.domain, names, strict=True))
        ]
        writer.read(place, depth, old)
        pad = "    " * depth
        width = place.width
        if valued:
            lines.append(f"{pad}v = 1 if v - {int(place.partial)} == s else 0")
            width = 1
        else:
            writer.rename(place, depth)
        lines += [
            f"{pad}if bits + {width} > {WORD}:",
            f"{pad}    work[{SIGNATURE} + k, s] = g",
            f"{pad}    k += 1",
            f"{pad}    g = 0",
            f"{pad}    bits = 0",
            f"{pad}g = (g << {width}) | v",
            f"{pad}bits += {width}",
        ]
        count = place.entries // (place.dims[position] if position is not None else 1)
        # A word may stay partly empty: at worst each takes half of what it could.
        total += count * width
    words = 2 * -(-total // WORD) + 1
    lines += [
        f"        work[{SIGNATURE} + k, s] = g",
        f"        for j in range(k + 1, {words}):",
        f"            work[{SIGNATURE} + j, s] = 0",
        "",
        "",
    ]
    return words


def _fill(writer: _Writer) -> None:
    """Writes `fill_in`: the candidate, work[1], from the old row under all new names."""
    lines = writer.lines
    lines += ["@inner", "def fill_in(work, p):"]
    for place in writer.layout.places:
        if not place.width or not place.entries:
            continue
        depth, names = writer.loops(place, 1, {})
        old = [writer.old(sort, name) for sort, name in zip(place.symbol.domain, names, strict=True)]
        writer.read(place, depth, old)
        writer.rename(place, depth)
        word, shift = writer.locate(place, names)
        lines.append("    " * depth + f"work[1, {word}] = work[1, {word}] | (v << ({shift}))")
    lines += ["    return 0", "", ""]
