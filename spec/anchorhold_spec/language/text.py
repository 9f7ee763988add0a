"""Terms, formulas and updates as people write them: for messages, reports and counterexamples."""

from __future__ import annotations

from anchorhold_spec.language.nodes import (
    And,
    App,
    Atom,
    Const,
    Defined,
    Eq,
    Exists,
    ForAll,
    Iff,
    Implies,
    Lit,
    Lt,
    Member,
    Not,
    Or,
    Sort,
    SortKind,
    Succ,
    SwitchIs,
    Update,
    Var,
)
from anchorhold_spec.language.walk import Node


def show(node: Node) -> str:
    """One line of mathematical notation."""
    match node:
        case Var(name=name):
            return name
        case Const(sort=sort, index=index):
            return sort.values[index] if sort.kind is SortKind.ENUM else "zero"
        case App(function=symbol, arguments=arguments, primed=primed):
            return _applied(symbol.name, arguments, primed)
        case Atom(relation=relation, arguments=arguments, primed=primed):
            return _applied(relation.name, arguments, primed)
        case Lit(value=value):
            return "true" if value else "false"
        case Defined(app=app):
            return f"{show(app)} is defined"
        case Eq(left=left, right=right):
            return f"{show(left)} = {show(right)}"
        case Lt(left=left, right=right):
            return f"{show(left)} < {show(right)}"
        case Succ(left=left, right=right):
            return f"{show(right)} = {show(left)} + 1"
        case Member(term=term, part=part):
            return f"{show(term)} ∈ {part.name}"
        case SwitchIs(switch=switch, value=choice):
            return f"{switch.name} is {choice}"
        case Not(body=Eq(left=left, right=right)):
            return f"{show(left)} ≠ {show(right)}"
        case Not(body=Defined(app=app)):
            return f"{show(app)} is undefined"
        case Not(body=body):
            return f"¬{_inner(body)}"
        case And(parts=parts):
            return " ∧ ".join(_inner(part) for part in parts) or "true"
        case Or(parts=parts):
            return _one_of(parts) or " ∨ ".join(_inner(part) for part in parts) or "false"
        case Implies(left=premise, right=conclusion):
            return f"{_inner(premise)} ⇒ {_inner(conclusion)}"
        case Iff(left=premise, right=conclusion):
            return f"{_inner(premise)} ⇔ {_inner(conclusion)}"
        case ForAll(variables=variables, body=body):
            return f"∀{_bound(variables)}. {show(body)}"
        case Exists(variables=variables, body=body):
            return f"∃{_bound(variables)}. {show(body)}"
        case _:
            raise TypeError(f"no notation for {type(node).__name__}")


def show_update(update: Update) -> str:
    """One line: place := value, where it applies."""
    value = "undefined" if update.value is None else show(update.value)
    line = f"{show(update.target)} := {value}"
    if update.bound:
        line += f" for each {_bound(update.bound)}"
    if not (isinstance(update.condition, Lit) and update.condition.value):
        line += f" where {show(update.condition)}"
    return line


def show_element(sort: Sort, index: int) -> str:
    """The name of an individual of a finite instance: an enumeration's value, a number, `span2`."""
    if sort.kind is SortKind.ENUM:
        return sort.values[index]
    if sort.kind is SortKind.ORDERED:
        return str(index)
    return f"{sort.base.name}{index + 1}"


def _applied(name: str, arguments: tuple[Node, ...], primed: bool) -> str:
    return f"{name}{'′' if primed else ''}({', '.join(show(argument) for argument in arguments)})"


def _bound(variables: tuple[Var, ...]) -> str:
    return ", ".join(f"{variable.name}:{variable.sort.name}" for variable in variables)


def _one_of(parts: tuple[Node, ...]) -> str | None:
    lefts = {show(part.left) for part in parts if isinstance(part, Eq) and isinstance(part.right, Const)}
    if len(parts) < 2 or len(lefts) != 1 or not all(isinstance(part, Eq) for part in parts):
        return None
    if not all(isinstance(part, Eq) and isinstance(part.right, Const) for part in parts):
        return None
    return f"{lefts.pop()} ∈ {{{', '.join(show(part.right) for part in parts if isinstance(part, Eq))}}}"


def _inner(node: Node) -> str:
    text = show(node)
    simple = isinstance(node, Atom | Lit | Eq | Lt | Succ | Member | Defined | SwitchIs | Not)
    return text if simple or (isinstance(node, Or) and _one_of(node.parts)) else f"({text})"
