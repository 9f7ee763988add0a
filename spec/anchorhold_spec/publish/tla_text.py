"""Terms and formulas in TLA+, and the names that a machine's things have there."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

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
    Iff,
    Implies,
    Invariant,
    Lit,
    Lt,
    Machine,
    Member,
    Not,
    Or,
    Progress,
    Sometimes,
    SortKind,
    Succ,
    SwitchIs,
    Term,
    Transition,
    Var,
)
from anchorhold_spec.language.walk import Node, bound_names
from anchorhold_spec.publish.names import Names, camel

UNDEFINED = "undefined"

_LINE = 88
"""Formulas longer than this are broken over lines."""

_WORDS = """
    ACTION ASSUME ASSUMPTION AXIOM BOOLEAN BY CASE CHOOSE CONSTANT CONSTANTS COROLLARY DEF DEFINE DEFS DOMAIN ELSE
    ENABLED EXCEPT EXTENDS FALSE HAVE HIDE IF IN INSTANCE LAMBDA LEMMA LET LOCAL MODULE NEW OBVIOUS OMITTED OTHER
    PICK PROOF PROPOSITION PROVE QED RECURSIVE SF STATE STRING SUBSET SUFFICES TAKE TEMPORAL THEN THEOREM TRUE
    UNCHANGED UNION USE VARIABLE VARIABLES WF WITH WITNESS X Nat Int Init Next Spec TypeOK vars undefined MCInit
    MCSpec MCSymmetry MCPermutations
"""
_RESERVED = frozenset(_WORDS.split())


class TlaNames:
    """What everything of a machine is called. Names are never given twice: TLA+ has no shadowing."""

    def __init__(self, machine: Machine) -> None:
        names = Names(_RESERVED)
        self._names = names
        self.module = names.take(camel(machine.name))
        self.sorts = {sort: names.take(camel(sort.name)) for sort in machine.sorts}
        self.greatest = {
            sort: names.take(f"Max{camel(sort.name)}") for sort in machine.sorts if sort.kind is SortKind.ORDERED
        }
        self.switches = {switch.name: names.take(switch.name) for switch in machine.switches}
        self.symbols = {symbol: names.take(symbol.name) for symbol in machine.symbols}
        self.actions = {action.name: names.take(camel(action.name)) for action in machine.actions}
        stated: tuple[Invariant | Transition | Sometimes | Progress, ...]
        stated = (*machine.invariants, *machine.transitions, *machine.sometimes, *machine.progress)
        self.properties = {each.name: names.take(camel(each.name)) for each in stated}
        self.never = {each.name: names.take(f"Never{camel(each.name)}") for each in machine.sometimes}

    def local(self, name: str, also: set[str] | frozenset[str] = frozenset()) -> str:
        """A variable's name."""
        return self._names.local(name, also)

    def individual(self, name: str) -> str:
        """An individual's name, for a model."""
        return self._names.take(name)


class TlaText:
    """Writes terms and formulas. `environment` has the texts of variables that are not called as they are."""

    def __init__(self, names: TlaNames) -> None:
        self._names = names

    def term(self, term: Term, environment: Mapping[str, str]) -> str:
        """A term."""
        match term:
            case Var(name=name):
                return environment.get(name) or self._names.local(name)
            case Const(sort=sort, index=index):
                return f'"{sort.values[index]}"' if sort.kind is SortKind.ENUM else str(index)
            case App(function=function, arguments=arguments, primed=primed):
                return self._place(self._names.symbols[function], arguments, environment, primed=primed)
            case _:
                raise TypeError(f"{type(term).__name__} is no term")

    def inline(self, formula: Formula, environment: Mapping[str, str]) -> str:
        """A formula on one line."""
        match formula:
            case Lit(value=value):
                return "TRUE" if value else "FALSE"
            case Atom(relation=relation, arguments=arguments, primed=primed):
                return self._place(self._names.symbols[relation], arguments, environment, primed=primed)
            case Defined(app=app):
                return f"{self.term(app, environment)} # {UNDEFINED}"
            case Eq(left=left, right=right):
                # Undefined is equal to nothing, itself included.
                known = f" /\\ {self.term(left, environment)} # {UNDEFINED}" if _partial(left, right) else ""
                return f"{self.term(left, environment)} = {self.term(right, environment)}{known}"
            case Lt(left=left, right=right):
                return self._numbers(left, right, environment, "{} < {}")
            case Succ(left=left, right=right):
                return self._numbers(left, right, environment, "{1} = {0} + 1")
            case Member(term=term, part=part):
                return f"{self.term(term, environment)} \\in {self._names.sorts[part]}"
            case SwitchIs(switch=switch, value=value):
                # Decided by the configuration: the name stands for the choice.
                return f'{self._names.switches[switch.name]} = "{value}"'
            case Not(body=Eq(left=left, right=right)) if not _partial(left, right):
                return f"{self.term(left, environment)} # {self.term(right, environment)}"
            case Not(body=Defined(app=app)):
                return f"{self.term(app, environment)} = {UNDEFINED}"
            case Not(body=body):
                return f"~{self.part(body, environment, tight=True)}"
            case And(parts=parts):
                return " /\\ ".join(self.part(part, environment) for part in parts) or "TRUE"
            case Or(parts=parts):
                return " \\/ ".join(self.part(part, environment) for part in parts) or "FALSE"
            case Implies(left=premise, right=conclusion):
                return f"{self.part(premise, environment)} => {self.part(conclusion, environment)}"
            case Iff(left=premise, right=conclusion):
                return f"{self.part(premise, environment)} <=> {self.part(conclusion, environment)}"
            case ForAll(variables=variables, body=body):
                return f"\\A {self._bound(variables)} : {self.inline(body, environment)}"
            case Exists(variables=variables, body=body):
                return f"\\E {self._bound(variables)} : {self.inline(body, environment)}"
            case _:
                raise TypeError(f"no TLA+ for {type(formula).__name__}")

    def part(self, formula: Formula, environment: Mapping[str, str], *, tight: bool = False) -> str:
        """A formula on one line, in parentheses unless nothing can come apart."""
        text = self.inline(formula, environment)
        whole = isinstance(formula, Atom | Lit) or (
            not tight and isinstance(formula, Member | Not) and "/" not in text
        )
        return text if whole else f"({text})"

    def lines(self, formula: Formula, environment: Mapping[str, str]) -> list[str]:
        """A formula on as many lines as it needs. Indenting all of them alike keeps its meaning."""
        text = self.inline(formula, environment)
        if len(text) <= _LINE:
            return [text]
        match formula:
            case And(parts=parts):
                return [line for part in parts for line in _hang("/\\ ", self.lines(part, environment))]
            case Or(parts=parts):
                return [line for part in parts for line in _hang("\\/ ", self.lines(part, environment))]
            case Implies(left=left, right=right):
                return self._binary(left, "=>", right, environment)
            case Iff(left=left, right=right):
                return self._binary(left, "<=>", right, environment)
            case ForAll(variables=variables, body=body):
                return [f"\\A {self._bound(variables)} :", *_hang("  ", self.lines(body, environment))]
            case Exists(variables=variables, body=body):
                return [f"\\E {self._bound(variables)} :", *_hang("  ", self.lines(body, environment))]
            case Not(body=body):
                return _enclosed("~(", self.lines(body, environment))
            case _:
                return [text]

    def bound_names(self, *nodes: Node | None) -> Iterator[str]:
        """What quantifiers in these call their variables."""
        for node in nodes:
            if node is not None:
                yield from (self._names.local(name) for name in bound_names(node))

    def _binary(self, left: Formula, sign: str, right: Formula, environment: Mapping[str, str]) -> list[str]:
        return [
            *_enclosed("(", self.lines(left, environment)),
            *_enclosed(f"{sign} (", self.lines(right, environment)),
        ]

    def _place(self, name: str, arguments: tuple[Term, ...], environment: Mapping[str, str], *, primed: bool) -> str:
        head = f"{name}'" if primed else name
        if not arguments:
            return head
        return f"{head}[{', '.join(self.term(argument, environment) for argument in arguments)}]"

    def _numbers(self, left: Term, right: Term, environment: Mapping[str, str], shape: str) -> str:
        one, other = self.term(left, environment), self.term(right, environment)
        known = [f"{text} # {UNDEFINED}" for term, text in ((left, one), (right, other)) if _may_be_undefined(term)]
        return " /\\ ".join([*known, shape.format(one, other)])

    def _bound(self, variables: tuple[Var, ...]) -> str:
        return ", ".join(f"{self._names.local(each.name)} \\in {self._names.sorts[each.sort]}" for each in variables)


def _may_be_undefined(term: Term) -> bool:
    return isinstance(term, App) and term.function.partial


def _partial(left: Term, right: Term) -> bool:
    return _may_be_undefined(left) and _may_be_undefined(right)


def _hang(first: str, lines: list[str]) -> list[str]:
    return [first + lines[0], *(" " * len(first) + line for line in lines[1:])]


def _enclosed(opening: str, lines: list[str]) -> list[str]:
    hung = _hang(opening, lines)
    return [*hung[:-1], f"{hung[-1]})"]
