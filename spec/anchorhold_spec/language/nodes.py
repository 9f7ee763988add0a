"""The syntax tree: sorts, symbols, terms and formulas. Frozen, small, and the same for every reading.

`==` on terms and formulas builds a formula, so nodes are compared by identity (or with `walk.same`), never
with `==`, `in` or `list.remove`; a formula that is asked for its truth value raises, which catches the slip.
Nothing here checks sorts or arities: `check` does, when the machine is defined, because only there is it known
which action or invariant to blame.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from enum import StrEnum


class SortKind(StrEnum):
    """What the elements of a sort are like."""

    PLAIN = "plain"
    """Anonymous individuals: spans, keys."""
    PART = "part"
    """Some of the individuals of a plain sort. The parts of a sort are disjoint and together the whole of it."""
    ENUM = "enum"
    """Named values, all known: phases."""
    ORDERED = "ordered"
    """Totally ordered with a least element: epochs."""


@dataclass(frozen=True, eq=False)
class Sort:
    """A set of individuals. Made by a `MachineBuilder`; called with a name it gives a variable."""

    name: str
    kind: SortKind
    plural: str
    """The name under which sizes are given."""
    values: tuple[str, ...] = ()
    """Of an enumeration, in order."""
    parent: Sort | None = None
    """Of a part."""
    symmetric: bool = False
    """Its individuals are interchangeable: no reading may tell them apart."""
    doc: str = ""

    @property
    def base(self) -> Sort:
        """The sort that the individuals belong to: the parent of a part, else itself."""
        return self.parent or self

    @property
    def zero(self) -> Const:
        """The least element of an ordered sort."""
        return Const(self, 0)

    def __call__(self, name: str) -> Var:
        """A variable over this sort."""
        return Var(name, self)

    def __getitem__(self, value: str) -> Const:
        return Const(self, self.values.index(value))

    def __getattr__(self, value: str) -> Const:
        # Reached only for what is no attribute: the values of an enumeration, as in `Phase.committed`.
        if not value.startswith("_") and value in self.values:
            return self[value]
        raise AttributeError(
            f"sort {self.name!r} has no value {value!r}"
            + (f"; it has {', '.join(self.values)}" if self.values else "")
        )

    def has(self, term: Term) -> Member:
        """`term` is one of this part's individuals."""
        return Member(term, self)

    def __repr__(self) -> str:
        return f"Sort({self.name})"


# Symbols ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Relation:
    """A set of tuples: `cold(span)`. False for everything at first, unless `initial`."""

    name: str
    domain: tuple[Sort, ...]
    rigid: bool = False
    """Given from outside and never written."""
    ghost: bool = False
    """History kept for the properties alone: no guard and no other update may read it."""
    initial: bool = False
    doc: str = ""
    given: Callable[..., bool] | None = None
    """Rigid only: the value at each tuple of indices in a finite instance. None: all interpretations."""

    def __call__(self, *arguments: Term) -> Atom:
        """The relation holds of these variables or constants."""
        return Atom(self, arguments)

    def __repr__(self) -> str:
        return f"Relation({self.name})"


@dataclass(frozen=True, eq=False)
class Function:
    """A function to a sort; a `partial` one is undefined everywhere at first, a total one is `initial`."""

    name: str
    domain: tuple[Sort, ...]
    result: Sort
    partial: bool
    rigid: bool = False
    ghost: bool = False
    initial: Const | None = None
    doc: str = ""
    given: Callable[..., int | None] | None = None

    def __call__(self, *arguments: Term) -> App:
        """The function's value at these variables or constants."""
        return App(self, arguments)

    def __repr__(self) -> str:
        return f"Function({self.name})"


Symbol = Relation | Function


@dataclass(frozen=True, eq=False)
class Switch:
    """A named choice between variants of a design. `switch == value` is a formula."""

    name: str
    values: tuple[str, ...]
    default: str
    doc: str = ""

    def __eq__(self, value: str) -> SwitchIs:  # type: ignore[override]
        return SwitchIs(self, value)

    def __ne__(self, value: str) -> Not:  # type: ignore[override]
        return Not(SwitchIs(self, value))

    __hash__ = object.__hash__


# Terms --------------------------------------------------------------------------------------------------------


class Term:
    """Stands for an individual. One of `Var`, `Const`, `App`."""

    __slots__ = ()

    def __eq__(self, other: Term) -> Eq:  # type: ignore[override]
        return Eq(self, other)

    def __ne__(self, other: Term) -> Not:  # type: ignore[override]
        return Not(Eq(self, other))

    def __lt__(self, other: Term) -> Lt:
        return Lt(self, other)

    def __le__(self, other: Term) -> Or:
        return Or((Lt(self, other), Eq(self, other)))

    def __gt__(self, other: Term) -> Lt:
        return Lt(other, self)

    def __ge__(self, other: Term) -> Or:
        return Or((Lt(other, self), Eq(self, other)))

    def one_of(self, *others: Term) -> Or:
        """Equal to one of these."""
        return Or(tuple(Eq(self, other) for other in others))

    __hash__ = object.__hash__


@dataclass(frozen=True, eq=False)
class Var(Term):
    """A variable: a parameter, or bound by a quantifier or an update. Told apart by name within one scope."""

    name: str
    sort: Sort


@dataclass(frozen=True, eq=False)
class Const(Term):
    """A value of an enumeration, or the least element of an ordered sort (`index` 0)."""

    sort: Sort
    index: int


@dataclass(frozen=True, eq=False)
class App(Term):
    """A function at arguments that are variables or constants, never applications.

    Where a partial function is undefined, every `Eq`, `Lt` and `Succ` that mentions it is false.
    """

    function: Function
    arguments: tuple[Term, ...]
    primed: bool = False
    """Read in the state after (two-state properties only)."""

    @property
    def defined(self) -> Defined:
        """The partial function has a value here."""
        return Defined(self)

    @property
    def next(self) -> App:
        """The same in the state after a step."""
        return replace(self, primed=True)

    def becomes(self, value: Term, *, when: Formula | None = None, each: tuple[Var, ...] | Var = ()) -> Update:
        """An update: this place gets `value`, as read before the step."""
        return _update(self, value, when, each)

    def cleared(self, *, when: Formula | None = None, each: tuple[Var, ...] | Var = ()) -> Update:
        """An update: this place of a partial function becomes undefined."""
        return _update(self, None, when, each)


# Formulas -----------------------------------------------------------------------------------------------------


class Formula:
    """True or false in a state. One of the classes below."""

    __slots__ = ()

    def __and__(self, other: Formula) -> And:
        left = self.parts if isinstance(self, And) else (self,)
        return And((*left, *(other.parts if isinstance(other, And) else (other,))))

    def __or__(self, other: Formula) -> Or:
        left = self.parts if isinstance(self, Or) else (self,)
        return Or((*left, *(other.parts if isinstance(other, Or) else (other,))))

    def __invert__(self) -> Not:
        return Not(self)

    def __rshift__(self, other: Formula) -> Implies:
        return Implies(self, other)

    def __eq__(self, other: Formula) -> Iff:  # type: ignore[override]
        return Iff(self, other)

    def __ne__(self, other: Formula) -> Not:  # type: ignore[override]
        return Not(Iff(self, other))

    def __bool__(self) -> bool:
        raise TypeError(
            "a formula has no truth value of its own: write & | ~ >> instead of and/or/not, put == and < in "
            "parentheses beside them, and compare nodes by identity or with walk.same"
        )

    __hash__ = object.__hash__


@dataclass(frozen=True, eq=False)
class Lit(Formula):
    """Always true, or always false."""

    value: bool


@dataclass(frozen=True, eq=False)
class Atom(Formula):
    """A relation at arguments that are variables or constants."""

    relation: Relation
    arguments: tuple[Term, ...]
    primed: bool = False

    @property
    def next(self) -> Atom:
        """The same in the state after a step."""
        return replace(self, primed=True)

    def becomes(
        self, value: Formula | bool, *, when: Formula | None = None, each: tuple[Var, ...] | Var = ()
    ) -> Update:
        """An update: this place gets `value`, as read before the step."""
        return _update(self, Lit(value) if isinstance(value, bool) else value, when, each)


@dataclass(frozen=True, eq=False)
class Defined(Formula):
    """A partial function has a value at these arguments."""

    app: App


@dataclass(frozen=True, eq=False)
class Eq(Formula):
    """Both sides have a value, and it is the same."""

    left: Term
    right: Term


@dataclass(frozen=True, eq=False)
class Lt(Formula):
    """Both sides have a value, and the left one comes before the right one."""

    left: Term
    right: Term


@dataclass(frozen=True, eq=False)
class Succ(Formula):
    """Both sides have a value, and the right one is the next after the left one."""

    left: Term
    right: Term


@dataclass(frozen=True, eq=False)
class Member(Formula):
    """The term has a value, and it belongs to the part."""

    term: Term
    part: Sort


@dataclass(frozen=True, eq=False)
class SwitchIs(Formula):
    """The design variant has this value."""

    switch: Switch
    value: str


@dataclass(frozen=True, eq=False)
class Not(Formula):
    """Negation."""

    body: Formula


@dataclass(frozen=True, eq=False)
class And(Formula):
    """All of them; true where there are none."""

    parts: tuple[Formula, ...]


@dataclass(frozen=True, eq=False)
class Or(Formula):
    """At least one; false where there are none."""

    parts: tuple[Formula, ...]


@dataclass(frozen=True, eq=False)
class Implies(Formula):
    """If left then right."""

    left: Formula
    right: Formula


@dataclass(frozen=True, eq=False)
class Iff(Formula):
    """Left exactly if right."""

    left: Formula
    right: Formula


@dataclass(frozen=True, eq=False)
class ForAll(Formula):
    """For all individuals of the variables' sorts."""

    variables: tuple[Var, ...]
    body: Formula


@dataclass(frozen=True, eq=False)
class Exists(Formula):
    """For some individuals of the variables' sorts."""

    variables: tuple[Var, ...]
    body: Formula


@dataclass(frozen=True, eq=False)
class Update:
    """`target` becomes `value` where `condition` holds, for each value of the `bound` variables.

    Conditions and values are read in the state before. Every bound variable is an argument of the target, so
    that a place is written at most once. `value` is a term for a function (none: undefined), a formula for a
    relation.
    """

    target: App | Atom
    value: Term | Formula | None
    condition: Formula
    bound: tuple[Var, ...]

    @property
    def symbol(self) -> Symbol:
        """The relation or function that is written."""
        return self.target.function if isinstance(self.target, App) else self.target.relation


def _update(
    target: App | Atom, value: Term | Formula | None, when: Formula | None, each: tuple[Var, ...] | Var
) -> Update:
    return Update(target, value, Lit(True) if when is None else when, (each,) if isinstance(each, Var) else each)


def forall(*variables_then_body: Var | Formula) -> ForAll:
    """`forall(s, k, body)`: for all `s` and `k`, `body`."""
    variables, body = _split(variables_then_body)
    return ForAll(variables, body)


def exists(*variables_then_body: Var | Formula) -> Exists:
    """`exists(s, k, body)`: for some `s` and `k`, `body`."""
    variables, body = _split(variables_then_body)
    return Exists(variables, body)


def succ(left: Term, right: Term) -> Succ:
    """`right` is the next after `left` in their ordered sort."""
    return Succ(left, right)


def unchanged(symbol: Symbol) -> ForAll:
    """Two-state: the symbol has the same value everywhere before and after."""
    variables = tuple(Var(f"{sort.name}_{i}", sort) for i, sort in enumerate(symbol.domain))
    if isinstance(symbol, Relation):
        place = symbol(*variables)
        return ForAll(variables, Iff(place, place.next))
    value = symbol(*variables)
    same = Eq(value, value.next)
    return ForAll(variables, Or((same, And((~value.defined, ~value.next.defined)))) if symbol.partial else same)


def _split(parts: tuple[Var | Formula, ...]) -> tuple[tuple[Var, ...], Formula]:
    *variables, body = parts
    if not isinstance(body, Formula) or not all(isinstance(v, Var) for v in variables):
        raise TypeError("a quantifier takes variables and then one formula")
    return tuple(v for v in variables if isinstance(v, Var)), body
