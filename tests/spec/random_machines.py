"""Random machines, for holding two readings together."""

from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import count

from hypothesis import assume
from hypothesis import strategies as st

from anchorhold_spec.language import (
    And,
    App,
    Atom,
    Const,
    Defined,
    Eq,
    Exists,
    ForAll,
    Formula,
    Function,
    Iff,
    Implies,
    Lt,
    Machine,
    MachineBuilder,
    MalformedMachine,
    Member,
    Not,
    Or,
    Relation,
    Sort,
    SortKind,
    Succ,
    Symbol,
    Term,
    Var,
    safety,
)

Draw = Callable[[st.SearchStrategy], object]
Scope = dict[str, Var]


@dataclass
class Vocabulary:
    """What formulas are made of."""

    draw: Draw
    sorts: list[Sort]
    symbols: list[Symbol] = field(default_factory=list)
    numbers: count = field(default_factory=count)

    def one_of(self, options):
        return self.draw(st.sampled_from(list(options)))

    def chance(self, percent: int) -> bool:
        return self.draw(st.integers(0, 99)) < percent

    def variable(self, sort: Sort) -> Var:
        return Var(f"v{next(self.numbers)}", sort)

    def plain_terms(self, scope: Scope, sort: Sort) -> list[Term]:
        found: list[Term] = [v for v in scope.values() if v.sort is sort or v.sort.parent is sort]
        if sort.kind is SortKind.ENUM:
            found += [Const(sort, i) for i in range(len(sort.values))]
        if sort.kind is SortKind.ORDERED:
            found.append(sort.zero)
        return found

    def place(self, scope: Scope, symbol: Symbol, *, primed: bool) -> App | Atom | None:
        arguments = []
        for sort in symbol.domain:
            options = self.plain_terms(scope, sort)
            if not options:
                return None
            arguments.append(self.one_of(options))
        place = symbol(*arguments)
        return place.next if primed and not symbol.rigid and self.chance(50) else place

    def terms(self, scope: Scope, sort: Sort, *, primed: bool) -> list[Term]:
        found = self.plain_terms(scope, sort)
        for symbol in self.symbols:
            if isinstance(symbol, Relation) or sort not in (symbol.result, symbol.result.parent):
                continue
            if (place := self.place(scope, symbol, primed=primed)) is not None:
                found.append(place)
        return found

    def atom(self, scope: Scope, *, primed: bool) -> Formula:
        for _ in range(8):
            kind = self.one_of(["rel", "defined", "eq", "eq", "eq", "order", "member"])
            if kind in ("rel", "defined"):
                wanted = Relation if kind == "rel" else Function
                symbols = [s for s in self.symbols if isinstance(s, wanted) and (kind == "rel" or s.partial)]
                if symbols and (place := self.place(scope, self.one_of(symbols), primed=primed)) is not None:
                    return place if kind == "rel" else Defined(place)
                continue
            sort = self.one_of([s for s in self.sorts if s.kind is not SortKind.PART])
            options = self.terms(scope, sort, primed=primed)
            if not options:
                continue
            left, right = self.one_of(options), self.one_of(options)
            if kind == "eq":
                return Eq(left, right)
            if kind == "order" and sort.kind is SortKind.ORDERED:
                return self.one_of([Lt, Succ])(left, right)
            parts = [s for s in self.sorts if s.parent is sort]
            if kind == "member" and parts:
                return Member(left, self.one_of(parts))
        zero = next(s for s in self.sorts if s.kind is SortKind.ORDERED).zero
        return Eq(zero, zero)

    def formula(self, scope: Scope, depth: int, *, primed: bool = False) -> Formula:
        kind = self.one_of(["atom", "not", "two", "two", "quantify", "quantify"]) if depth else "atom"
        if kind == "not":
            return Not(self.formula(scope, depth - 1, primed=primed))
        if kind == "two":
            left, right = (self.formula(scope, depth - 1, primed=primed) for _ in range(2))
            return self.one_of([And((left, right)), Or((left, right)), Implies(left, right), Iff(left, right)])
        if kind == "quantify":
            variables = tuple(self.variable(self.one_of(self.sorts)) for _ in range(self.one_of([1, 1, 2])))
            inner = {**scope, **{v.name: v for v in variables}}
            return self.one_of([ForAll, Exists])(variables, self.formula(inner, depth - 1, primed=primed))
        return self.atom(scope, primed=primed)


@st.composite
def machines(draw) -> Machine:
    """A small machine with some of everything; each symbol of its state is written by an action of its own."""
    m = MachineBuilder("random", "", rules={"ODD-1"}, alphabet=())
    beast, key = m.sort("beast", symmetric=True), m.sort("key", symmetric=True)
    sorts = [beast, m.part("cat", beast), m.part("dog", beast), key, m.ordered("age"), m.enum("mood", "a", "b", "c")]
    v = Vocabulary(draw, sorts)
    for number in range(v.one_of([2, 3, 4])):
        domain = [v.one_of(sorts) for _ in range(v.one_of([0, 1, 1, 2]))]
        kind = v.one_of(["rel", "pfun", "pfun", "fun", "rigid", "rigid fun"] if number else ["rel", "pfun", "fun"])
        name, salt = f"f{number}", v.one_of(range(7))
        if kind == "rel":
            v.symbols.append(m.rel(name, *domain, initial=v.chance(30)))
        elif kind == "pfun":
            v.symbols.append(m.pfun(name, *domain, to=v.one_of(sorts)))
        elif kind == "fun":
            to = v.one_of(sorts[-2:])
            v.symbols.append(m.fun(name, *domain, to=to, initial=Const(to, 0)))
        elif kind == "rigid":
            given = lambda *cell, salt=salt: (sum(cell) + salt) % 3 == 0  # noqa: E731
            v.symbols.append(m.rigid_rel(name, *domain, given=given))
        else:
            given = lambda *cell, salt=salt: (sum(cell) + salt) % 3  # noqa: E731
            v.symbols.append(m.rigid_fun(name, *domain, to=sorts[-1], given=given))
    state = [symbol for symbol in v.symbols if not symbol.rigid]
    for number, symbol in enumerate(state):
        _add_action(m, v, number, symbol)
    for number in range(2):
        body = v.formula({}, 3)
        witness = state[0]
        variables = tuple(v.variable(sort) for sort in witness.domain)
        place = witness(*variables)
        touched: Formula = place if isinstance(place, Atom) else Eq(place, place)
        if isinstance(witness, Function) and not witness.partial:
            # Always true, as the other is where the value is defined, but not by its form.
            first = Const(witness.result, 0)
            touched = Iff(Eq(place, first), Eq(first, place))
        closed = ForAll(variables, touched) if variables else touched
        _state(m.invariant, f"i{number}", Or((body, closed)), "ODD-1")
        after = place.next if isinstance(place, Atom) else Eq(place, place.next)
        closed = ForAll(variables, after) if variables else after
        _state(m.transition, f"t{number}", Or((v.formula({}, 2, primed=True), closed)), "ODD-1")
    sizes = {"cats": v.one_of([0, 1, 2]), "dogs": v.one_of([1, 2]), "keys": v.one_of([1, 2]), "ages": 2}
    m.instance("random", **sizes)
    try:
        return m.build()
    except MalformedMachine:
        assume(False)
        raise


def _state(declare: Callable[..., None], name: str, formula: Formula, rule: str) -> None:
    """What is refused for being true by its form is no machine to look at."""
    try:
        declare(name, formula, rules=[rule])
    except MalformedMachine as problem:
        if "says nothing" not in problem.what:
            raise
        assume(False)


def _add_action(m: MachineBuilder, v: Vocabulary, number: int, symbol: Symbol) -> None:
    params, bound, arguments = [], [], []
    for sort in symbol.domain:
        variable = v.variable(sort)
        arguments.append(variable)
        (bound if v.chance(25) else params).append(variable)
    extra = v.variable(v.one_of(v.sorts))
    params.append(extra)
    scope = {p.name: p for p in params}
    guards = [Or((v.atom(scope, primed=False), Eq(extra, extra)))] if v.chance(20) else []
    guards += [v.formula(scope, v.one_of([0, 1, 2])) for _ in range(v.one_of([0, 1, 2]))]
    pinned = [t for t in v.terms({p.name: p for p in params[:-1]}, extra.sort.base, primed=False) if t is not extra]
    guards.append(Eq(v.one_of(pinned), extra) if pinned else Eq(extra, extra))
    inner = {**scope, **{b.name: b for b in bound}}
    place = symbol(*arguments)
    when = v.formula(inner, 1) if v.chance(60) else None
    if isinstance(symbol, Relation):
        update = place.becomes(v.formula(inner, 1), when=when, each=tuple(bound))
    else:
        values = [t for t in v.terms(inner, symbol.result, primed=False) if _fits(t, symbol)]
        if symbol.partial and (not values or v.chance(25)):
            update = place.cleared(when=when, each=tuple(bound))
        else:
            update = place.becomes(v.one_of(values), when=when, each=tuple(bound))
    named = [safety(f"g{i}", Not(Not(guard)) if isinstance(guard, And) else guard) for i, guard in enumerate(guards)]
    m.action(f"write {number}", *params, doc="", guards=named, updates=[update], fault=v.chance(20))


def _fits(term: Term, symbol: Function) -> bool:
    return symbol.partial or not (isinstance(term, App) and term.function.partial)
