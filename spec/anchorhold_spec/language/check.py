"""What makes a machine well formed. Every refusal says where: machine, action or property, conjunct."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

from anchorhold_spec.language.errors import UnknownChoice
from anchorhold_spec.language.machine import Action, Machine, Tag, Worker
from anchorhold_spec.language.nodes import (
    And,
    App,
    Atom,
    Const,
    Eq,
    Formula,
    Function,
    Not,
    Term,
    Update,
    Var,
)
from anchorhold_spec.language.scope import Scope, Variables, Where, check_formula, check_place, check_term
from anchorhold_spec.language.tautology import always
from anchorhold_spec.language.text import show, show_update
from anchorhold_spec.language.walk import Node, bound_names, conjuncts, nodes, rename, same, symbols, update_nodes


def check_action(scope: Scope, action: Action) -> None:
    """Parameters, guards, updates, frame, event."""
    where: Where = (f"action {action.name}",)
    scope.name("action", action.name, where)
    params: dict[str, Var] = {}
    for param in action.params:
        scope.check_sort(param.sort, (*where, f"parameter {param.name}"))
        if param.name in params:
            raise scope.refuse((*where, f"parameter {param.name}"), "named twice")
        params[param.name] = param
    names: set[str] = set()
    for guard in action.guards:
        place = (*where, f"guard {guard.name}")
        if guard.name in names:
            raise scope.refuse(place, "the name is already taken in this action")
        names.add(guard.name)
        check_formula(scope, guard.formula, params, place)
        if isinstance(guard.formula, And):
            raise scope.refuse(place, "a guard is one conjunct: give each part of the conjunction a name of its own")
        if guard.tag is not Tag.SAFETY and not (guard.reason or "").strip():
            raise scope.refuse(place, f"a guard tagged {guard.tag} needs a reason")
        _refuse_ghosts(scope, (guard.formula,), place, "a guard")
    if not action.updates:
        raise scope.refuse(where, "it changes nothing: an action needs updates")
    for i, update in enumerate(action.updates, start=1):
        _check_update(scope, update, params, (*where, f"update {i} ({_safe_show(update)})"), action.by)
    assumed = tuple(guard.formula for guard in action.guards)
    _check_overlaps(scope, action.updates, assumed, where)
    used = {
        name.name
        for node in (*assumed, *(node for update in action.updates for node in update_nodes(update)))
        for name in nodes(node)
        if isinstance(name, Var)
    }
    for param in action.params:
        if param.name not in used:
            raise scope.refuse((*where, f"parameter {param.name}"), "neither guards nor updates mention it")
    if action.event is not None and action.event not in scope.alphabet:
        raise scope.refuse((*where, f"event {action.event}"), "not in the alphabet of events")
    if action.by is not None and not any(action.by is worker for worker in scope.workers):
        raise scope.refuse((*where, f"worker {action.by.name}"), "not declared in this machine")


def check_initially(scope: Scope, updates: Sequence[Update]) -> None:
    """Initial updates read rigid data only."""
    where: Where = ("initially",)
    for i, update in enumerate(updates, start=1):
        place = (*where, f"update {i} ({_safe_show(update)})")
        _check_update(scope, update, {}, place, None)
        reads = (update.condition,) if update.value is None else (update.condition, update.value)
        for symbol in (symbol for node in reads for symbol in symbols(node)):
            if not symbol.rigid:
                raise scope.refuse(place, f"it reads {symbol.name}: before the first state there is only rigid data")
    _check_overlaps(scope, updates, (), where)


def _check_update(scope: Scope, update: Update, params: Variables, where: Where, by: Worker | None) -> None:
    variables = dict(params)
    for variable in update.bound:
        scope.check_sort(variable.sort, where)
        if variable.name in variables:
            raise scope.refuse(where, f"variable {variable.name!r} is bound twice")
        variables[variable.name] = variable
    target = update.target
    if not isinstance(target, App | Atom):
        raise scope.refuse(where, f"{target!r} is no place: an update is of a function or relation at arguments")
    check_place(scope, target, update.symbol, target.arguments, variables, where, primed=False)
    if update.symbol.rigid:
        raise scope.refuse(where, f"{update.symbol.name} is rigid: no step may write it")
    if by is not None and not any(update.symbol is symbol for symbol in by.writes):
        frame = ", ".join(symbol.name for symbol in by.writes)
        raise scope.refuse(where, f"writes {update.symbol.name}, which is outside the frame of {by.name} ({frame})")
    for variable in update.bound:
        if not any(isinstance(argument, Var) and argument.name == variable.name for argument in target.arguments):
            raise scope.refuse(
                where,
                f"bound variable {variable.name!r} is no argument of the target: "
                "one place would be written several times",
            )
    check_formula(scope, update.condition, variables, where)
    if isinstance(target, App):
        _check_function_value(scope, target.function, update.value, variables, where)
    elif not isinstance(update.value, Formula):
        raise scope.refuse(where, f"{update.symbol.name} is a relation: its value is true, false or a formula")
    else:
        check_formula(scope, update.value, variables, where)
    if not update.symbol.ghost:
        reads = (update.condition,) if update.value is None else (update.condition, update.value)
        _refuse_ghosts(scope, reads, where, "an update of what is no ghost")


def _check_function_value(
    scope: Scope, function: Function, value: Term | Formula | None, variables: Variables, where: Where
) -> None:
    if value is None:
        if not function.partial:
            raise scope.refuse(where, f"{function.name} is total: it cannot become undefined")
        return
    if not isinstance(value, Term):
        raise scope.refuse(where, f"{function.name} is a function to {function.result.name}: its value is a term")
    sort = check_term(scope, value, variables, where)
    if sort is not function.result and sort.parent is not function.result:
        raise scope.refuse(
            where, f"{function.name} goes to {function.result.name}, and {show(value)} is a {sort.name}"
        )
    if isinstance(value, App) and value.function.partial and not function.partial:
        raise scope.refuse(where, f"{function.name} is total, and {show(value)} may be undefined")


def _check_overlaps(scope: Scope, updates: Sequence[Update], assumed: Sequence[Formula], where: Where) -> None:
    """Two updates of one symbol must be told apart by constants, or by conditions that exclude each other."""
    for (i, one), (j, other) in combinations(enumerate(updates, start=1), 2):
        if one.symbol is other.symbol and not _apart(one, other, assumed):
            raise scope.refuse(
                (*where, f"updates {i} and {j}"),
                f"both may write the same place of {one.symbol.name} ({show_update(one)}; {show_update(other)}): "
                "give them conditions that exclude each other, or a guard that tells their arguments apart",
            )


def _apart(one: Update, other: Update, assumed: Sequence[Formula]) -> bool:
    known = [part for formula in assumed for part in conjuncts(formula)]
    facts = known + _conditions_at_one_place(one, other)
    if any(_contradict(a, b) for a, b in combinations(facts, 2)):
        return True
    for a, b in zip(one.target.arguments, other.target.arguments, strict=True):
        if isinstance(a, Const) and isinstance(b, Const) and not same(a, b):
            return True
        for fact in known:
            if isinstance(fact, Not) and isinstance(fact.body, Eq):
                left, right = fact.body.left, fact.body.right
                if (same(left, a) and same(right, b)) or (same(left, b) and same(right, a)):
                    return True
    return False


def _conditions_at_one_place(one: Update, other: Update) -> list[Formula]:
    """What both conditions say if both write the same place: a bound variable is what the other has there."""
    here: dict[str, Var] = {}
    there: dict[str, Var] = {}
    bound_here = {variable.name for variable in one.bound}
    bound_there = {variable.name for variable in other.bound}
    for a, b in zip(one.target.arguments, other.target.arguments, strict=True):
        if isinstance(a, Var) and isinstance(b, Var):
            if b.name in bound_there:
                there[b.name] = a
            elif a.name in bound_here:
                here[a.name] = b
    left_alone = (bound_there - there.keys()) & (bound_here - here.keys())
    quantified = {*bound_names(one.condition), *bound_names(other.condition)}
    if left_alone or quantified & (bound_here | bound_there):
        return []
    return [*conjuncts(rename(one.condition, here)), *conjuncts(rename(other.condition, there))]


def _contradict(one: Formula, other: Formula) -> bool:
    if isinstance(one, Not) and same(one.body, other):
        return True
    if isinstance(other, Not) and same(other.body, one):
        return True
    return (
        isinstance(one, Eq)
        and isinstance(other, Eq)
        and same(one.left, other.left)
        and isinstance(one.right, Const)
        and isinstance(other.right, Const)
        and not same(one.right, other.right)
    )


def _refuse_ghosts(scope: Scope, read: Sequence[Node], where: Where, who: str) -> None:
    for node in read:
        for symbol in symbols(node):
            if symbol.ghost:
                raise scope.refuse(
                    where, f"{who} may not read {symbol.name}: it is a ghost, kept for the properties alone"
                )


def check_axiom(scope: Scope, name: str, formula: Formula) -> None:
    """Speaks of rigid data only."""
    where: Where = (f"axiom {name}",)
    scope.name("property", name, where)
    check_formula(scope, formula, {}, where)
    for symbol in symbols(formula):
        if not symbol.rigid:
            raise scope.refuse(where, f"it mentions {symbol.name}, which steps change: an axiom speaks of rigid data")


def check_property(
    scope: Scope,
    kind: str,
    name: str,
    formula: Formula,
    rules: Sequence[str],
    *,
    cites: bool,
    primed: bool = False,
) -> None:
    """A closed formula that cites known rules, if it cites any."""
    where: Where = (f"{kind} {name}",)
    scope.name("property", name, where)
    check_formula(scope, formula, {}, where, primed=primed)
    for i, part in enumerate(conjuncts(formula), start=1):
        if kind != "can_end" and always(part):
            which = f"conjunct {i}" if isinstance(formula, And) else "it"
            raise scope.refuse(where, f"{which} is true by its form, whatever the state is: it says nothing")
    if cites and not rules:
        raise scope.refuse(where, "it states no rule: cite at least one, or make it auxiliary")
    for rule in rules:
        if rule not in scope.rules:
            raise scope.refuse(
                where,
                f"unknown rule {rule!r}: the catalogue has no such id, or says of it that no machine states it "
                f"(`anchorhold spec show {rule}`)",
            )


def check_machine(scope: Scope, machine: Machine) -> None:
    """What can be seen only when the whole machine is there."""
    if not machine.actions:
        raise scope.refuse((), "it has no actions")
    if not machine.public and not machine.transitions:
        raise scope.refuse((), "it states no rule: give it a public invariant or a two-state property")
    written = [update.symbol for action in machine.actions for update in action.updates]
    for symbol in machine.state_symbols:
        if not any(symbol is each for each in written):
            raise scope.refuse((symbol.name,), "no action writes it: declare it rigid, or leave it out")
    stated = [(f"{'invariant' if i.public else 'auxiliary'} {i.name}", i.formula) for i in machine.invariants]
    stated += [(f"transition {t.name}", t.formula) for t in machine.transitions]
    stated += [(f"sometimes {s.name}", s.formula) for s in machine.sometimes]
    for place, formula in stated:
        if not any(mentioned is symbol for mentioned in symbols(formula) for symbol in written):
            raise scope.refuse(
                (place,),
                "it mentions no state that an action writes: no action can break or reach it",
            )
    for transition in machine.transitions:
        if not any(isinstance(n, App | Atom) and n.primed for n in nodes(transition.formula)):
            raise scope.refuse(
                (f"transition {transition.name}",), "it never reads the state after: make it an invariant"
            )
        for name in transition.on or ():
            if all(action.name != name for action in machine.actions):
                raise scope.refuse(
                    (f"transition {transition.name}",), f"it speaks of an action {name!r} that does not exist"
                )
    if not machine.small_instances:
        raise scope.refuse((), "it has no small finite instance: give the sizes of at least one")
    for name, sizes in machine.instances.items():
        try:
            machine.universe(sizes)
        except UnknownChoice as problem:
            raise scope.refuse((f"instance {name}",), str(problem)) from None


def _safe_show(update: Update) -> str:
    """For messages about updates that may be too broken to show."""
    try:
        return show_update(update)
    except (TypeError, AttributeError):
        return "unreadable"
