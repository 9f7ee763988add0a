"""Walking the tree: children, variables, symbols, substitution, structural identity, folding of switches."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace

from anchorhold_spec.language.nodes import (
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
    Lit,
    Lt,
    Member,
    Not,
    Or,
    Succ,
    SwitchIs,
    Symbol,
    Term,
    Update,
    Var,
)

Node = Term | Formula


def children(node: Node) -> tuple[Node, ...]:
    """The terms and formulas directly under a node (not the variables that a quantifier binds)."""
    match node:
        case App(arguments=parts) | Atom(arguments=parts):
            return parts
        case And(parts=formulas) | Or(parts=formulas):
            return formulas
        case Defined(app=app):
            return (app,)
        case Member(term=term):
            return (term,)
        case Not(body=body) | ForAll(body=body) | Exists(body=body):
            return (body,)
        case (
            Eq(left=left, right=right)
            | Lt(left=left, right=right)
            | Succ(left=left, right=right)
            | Implies(left=left, right=right)
            | Iff(left=left, right=right)
        ):
            return (left, right)
        case _:
            return ()


def nodes(node: Node) -> Iterator[Node]:
    """The node and everything under it, outermost first."""
    yield node
    for child in children(node):
        yield from nodes(child)


def symbols(node: Node) -> Iterator[Symbol]:
    """The relations and functions that it mentions, with repetitions."""
    for each in nodes(node):
        if isinstance(each, App):
            yield each.function
        elif isinstance(each, Atom):
            yield each.relation


def primed_symbols(node: Node) -> Iterator[Symbol]:
    """The relations and functions that it reads in the state after a step, with repetitions."""
    for each in nodes(node):
        if isinstance(each, App) and each.primed:
            yield each.function
        elif isinstance(each, Atom) and each.primed:
            yield each.relation


def free_names(node: Node, bound: frozenset[str] = frozenset()) -> Iterator[str]:
    """The names of its free variables, with repetitions."""
    if isinstance(node, Var):
        if node.name not in bound:
            yield node.name
        return
    if isinstance(node, ForAll | Exists):
        bound = bound | {variable.name for variable in node.variables}
    for child in children(node):
        yield from free_names(child, bound)


def bound_names(node: Node) -> Iterator[str]:
    """The names that quantifiers in it bind."""
    for each in nodes(node):
        if isinstance(each, ForAll | Exists):
            yield from (variable.name for variable in each.variables)


def rename(formula: Formula, names: Mapping[str, Var]) -> Formula:
    """The formula with free variables replaced. No quantifier in it may bind a name on either side."""

    def term(node: Term) -> Term:
        if isinstance(node, Var):
            return names.get(node.name, node)
        if isinstance(node, App):
            return replace(node, arguments=tuple(term(argument) for argument in node.arguments))
        return node

    match formula:
        case Atom(arguments=arguments):
            return replace(formula, arguments=tuple(term(argument) for argument in arguments))
        case Defined(app=app):
            return Defined(replace(app, arguments=tuple(term(argument) for argument in app.arguments)))
        case Eq(left=left, right=right) | Lt(left=left, right=right) | Succ(left=left, right=right):
            return type(formula)(term(left), term(right))
        case Member(term=inner, part=part):
            return Member(term(inner), part)
        case _:
            return rebuild(formula, lambda part: rename(part, names))


def update_nodes(update: Update) -> tuple[Node, ...]:
    """The terms and formulas of an update: target, condition and, unless it clears, value."""
    return (update.target, update.condition) + (() if update.value is None else (update.value,))


def conjuncts(formula: Formula) -> tuple[Formula, ...]:
    """The formula as a conjunction, nested ones flattened."""
    if isinstance(formula, And):
        return tuple(part for each in formula.parts for part in conjuncts(each))
    return () if isinstance(formula, Lit) and formula.value else (formula,)


def rebuild(formula: Formula, change: Callable[[Formula], Formula]) -> Formula:
    """A copy with every direct sub-formula changed; terms stay."""
    match formula:
        case And(parts=parts):
            return And(tuple(change(part) for part in parts))
        case Or(parts=parts):
            return Or(tuple(change(part) for part in parts))
        case Not(body=body):
            return Not(change(body))
        case Implies(left=left, right=right):
            return Implies(change(left), change(right))
        case Iff(left=left, right=right):
            return Iff(change(left), change(right))
        case ForAll(variables=variables, body=body):
            return ForAll(variables, change(body))
        case Exists(variables=variables, body=body):
            return Exists(variables, change(body))
        case _:
            return formula


def fold(formula: Formula, switches: Mapping[str, str]) -> Formula:
    """The formula with these switches decided and the constants that this leaves folded away."""
    if isinstance(formula, SwitchIs) and formula.switch.name in switches:
        return Lit(switches[formula.switch.name] == formula.value)
    folded = rebuild(formula, lambda part: fold(part, switches))
    match folded:
        case Not(body=Lit(value=value)):
            return Lit(not value)
        case And(parts=parts):
            return _fold_parts(parts, neutral=True)
        case Or(parts=parts):
            return _fold_parts(parts, neutral=False)
        case Implies(left=Lit(value=value), right=right):
            return right if value else Lit(True)
        case Implies(left=left, right=Lit(value=value)):
            return Lit(True) if value else Not(left)
        case Iff(left=Lit(value=value), right=other) | Iff(left=other, right=Lit(value=value)):
            return other if value else Not(other)
        case ForAll(body=Lit(value=True)) | Exists(body=Lit(value=False)):
            # The other way round would not do: a sort may be empty in a finite instance (a part).
            return folded.body
        case _:
            return folded


def _fold_parts(parts: tuple[Formula, ...], *, neutral: bool) -> Formula:
    left = tuple(part for part in parts if not (isinstance(part, Lit) and part.value is neutral))
    for part in left:
        if isinstance(part, Lit):
            return part
    if not left:
        return Lit(neutral)
    if len(left) == 1:
        return left[0]
    return And(left) if neutral else Or(left)


def fold_update(update: Update, switches: Mapping[str, str]) -> Update:
    """The update with these switches decided."""
    value = fold(update.value, switches) if isinstance(update.value, Formula) else update.value
    return replace(update, value=value, condition=fold(update.condition, switches))


def shape(node: Node) -> tuple[object, ...]:
    """A hashable value that is equal for two nodes exactly if they are written alike."""
    match node:
        case Var(name=name, sort=sort):
            return ("Var", name, sort.name)
        case Const(sort=sort, index=index):
            return ("Const", sort.name, index)
        case App(function=function, primed=primed):
            head: tuple[object, ...] = ("App", function.name, primed)
        case Atom(relation=relation, primed=primed):
            head = ("Atom", relation.name, primed)
        case Lit(value=value):
            return ("Lit", value)
        case SwitchIs(switch=switch, value=choice):
            return ("SwitchIs", switch.name, choice)
        case Member(part=part):
            head = ("Member", part.name)
        case ForAll(variables=variables) | Exists(variables=variables):
            head = (type(node).__name__, *(shape(variable) for variable in variables))
        case _:
            head = (type(node).__name__,)
    return (*head, *(shape(child) for child in children(node)))


def same(left: Node, right: Node) -> bool:
    """The two are written alike. (`left == right` would build a formula.)"""
    return shape(left) == shape(right)
