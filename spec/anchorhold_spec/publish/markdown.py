"""The specification as Markdown for reviewers: the words, the rules, and each machine on a page of its own."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Iterable, Iterator, Mapping

from anchorhold_spec import vocabulary
from anchorhold_spec.catalogue import FAMILIES, LEVELS, RULES
from anchorhold_spec.language import (
    Action,
    Function,
    Guard,
    Invariant,
    Machine,
    Progress,
    Relation,
    Sort,
    SortKind,
    Symbol,
    Tag,
    Transition,
    show,
    show_update,
)
from anchorhold_spec.publish.claims import claims
from anchorhold_spec.publish.coverage import Checked, stated
from anchorhold_spec.publish.matrix import claims_table, departures_text, rules_table


def export_markdown(
    machines: Iterable[Machine], checked: Checked | None = None, *, prose: Mapping[str, str] | None = None
) -> dict[str, str]:
    """Texts by file name: README.md, vocabulary.md, rules.md, sources.md and machines/NAME.md.

    `checked`: what a conformance suite has for the rules. `prose`: what is said of a machine besides its own texts,
    by its name.
    """
    found = tuple(machines)
    checks = checked or Checked()
    properties = stated(found)
    files = {
        "README.md": "\n".join(_contents(found)) + "\n",
        "vocabulary.md": "\n".join(_vocabulary()) + "\n",
        "rules.md": "\n".join(_rules(found, checks)) + "\n",
        "sources.md": "\n\n".join(
            (
                "# What the sources claim, and where it went",
                claims_table(claims(), properties, checks).replace("](#", "](rules.md#"),
                "## Departures",
                departures_text(claims()),
            )
        )
        + "\n",
    }
    for machine in found:
        text = machine_page(machine, prose=(prose or {}).get(machine.name))
        files[f"machines/{machine.name}.md"] = text
    return files


def machine_page(machine: Machine, *, prose: str | None = None) -> str:
    """One machine: vocabulary, state, actions and properties in mathematical notation."""
    return "\n".join(_Machine(machine).page(prose)) + "\n"


class _Machine:
    """Writes one page."""

    def __init__(self, machine: Machine) -> None:
        self.machine = machine

    def page(self, prose: str | None) -> Iterator[str]:
        machine = self.machine
        yield f"# {machine.name}"
        yield ""
        yield machine.doc
        if prose:
            yield ""
            yield prose.strip()
        rules = sorted({rule for each in self._stating() for rule in each}, key=list(RULES).index)
        yield ""
        yield f"States: {', '.join(f'[{rule}](../rules.md#{rule.lower()})' for rule in rules)}."
        yield from self._sorts()
        yield from self._state()
        yield from self._switches()
        yield from self._actions()
        yield from self._properties()
        yield from self._instances()

    def _stating(self) -> Iterator[tuple[str, ...]]:
        machine = self.machine
        found: tuple[Invariant | Transition | Progress, ...]
        found = (*machine.invariants, *machine.transitions, *machine.progress)
        for each in found:
            yield tuple(rule for rule in each.rules if rule in RULES)

    def _sorts(self) -> Iterator[str]:
        yield from ("", "## Sorts", "", "| sort | is | |", "|---|---|---|")
        for sort in self.machine.sorts:
            yield f"| {sort.name} | {_sort_kind(sort)} | {sort.doc} |"

    def _state(self) -> Iterator[str]:
        machine = self.machine
        for title, symbols in (("State", machine.state_symbols), ("Given data", machine.rigid_symbols)):
            if symbols:
                yield from ("", f"## {title}", "", "| symbol | type | at first | |", "|---|---|---|---|")
                for symbol in symbols:
                    ghost = "History, for the properties alone. " if symbol.ghost else ""
                    first = "any" if symbol.rigid else _first(symbol)
                    yield f"| `{symbol.name}` | {_type(symbol)} | {first} | {ghost}{symbol.doc} |"
        if machine.axioms:
            yield ""
            for axiom in machine.axioms:
                yield f"- Given that ({axiom.name}): {_code(show(axiom.formula))}{_sentence(axiom.doc)}"
        if machine.initially:
            yield ""
            yield "At first, besides:"
            yield ""
            for update in machine.initially:
                yield f"- {_code(show_update(update))}"

    def _switches(self) -> Iterator[str]:
        if self.machine.switches:
            yield from ("", "## Variants of the design", "")
            for switch in self.machine.switches:
                values = ", ".join(f"**{v}**" if v == switch.default else v for v in switch.values)
                yield f"- `{switch.name}`: {values}.{_sentence(switch.doc)}"

    def _actions(self) -> Iterator[str]:
        yield from ("", "## Actions", "")
        yield (
            "An action happens for parameters for which every guard holds; its updates read the state before and are "
            "written at once. A guard is there for *safety* (without it a rule is broken, which is shown by reaching "
            "the violation), as a *bound* that keeps the machine small, or for *realism*."
        )
        for action in self.machine.actions:
            yield from self._action(action)
        faults = [action.name for action in self.machine.actions if action.fault]
        yield from ("", "## Faults", "")
        yield f"Done by the world, at any moment: {', '.join(faults)}." if faults else "None."

    def _action(self, action: Action) -> Iterator[str]:
        params = ", ".join(f"{param.name}: {param.sort.name}" for param in action.params)
        seen = f" Seen from outside as `{action.event}`." if action.event else ""
        by = f" By: {action.by.name}." if action.by else ""
        fault = " **Fault.**" if action.fault else ""
        yield from ("", f"### {action.name}({params})", "", f"{action.doc}{by}{seen}{fault}")
        if action.guards:
            yield from ("", "| guard | when | why |", "|---|---|---|")
            for guard in action.guards:
                yield f"| {guard.name} | {_code(show(guard.formula))} | {_why(guard)} |"
        yield ""
        for update in action.updates:
            yield f"- {_code(show_update(update))}"

    def _properties(self) -> Iterator[str]:
        machine = self.machine
        yield from ("", "## Invariants", "", "Hold in every reachable state; proved for any sizes.", "")
        for invariant in machine.public:
            rules = ", ".join(invariant.rules)
            yield f"- **{rules}: {invariant.name}.**{_sentence(invariant.doc)} {_code(show(invariant.formula))}"
        if machine.transitions:
            yield from ("", "## Two-state properties", "")
            yield "Hold between the states before and after (′) every step; proved for any sizes."
            yield ""
            for step in machine.transitions:
                on = f" (of {', '.join(step.on)})" if step.on else ""
                rules = ", ".join(step.rules)
                yield f"- **{rules}: {step.name}**{on}.{_sentence(step.doc)} {_code(show(step.formula))}"
        if machine.progress:
            yield from ("", "## Progress", "")
            yield "Wherever the first holds, the second can be reached without a fault; explored at finite sizes."
            yield ""
            for each in machine.progress:
                rules = ", ".join(each.rules)
                yield (
                    f"- **{rules}: {each.name}.**{_sentence(each.doc)} {_code(show(each.trigger))} leads to "
                    f"{_code(show(each.goal))}"
                )
        if machine.sometimes:
            yield from (
                "",
                "## Sometimes",
                "",
                "Reached by exploring, so that nothing above holds for want of cases.",
                "",
            )
            for witness in machine.sometimes:
                yield f"- {witness.name}.{_sentence(witness.doc)} {_code(show(witness.formula))}"
        auxiliary = [each for each in machine.invariants if not each.public]
        if auxiliary:
            yield from ("", "## What the proofs need besides", "")
            for helper in auxiliary:
                yield f"- {helper.name}.{_sentence(helper.doc)} {_code(show(helper.formula))}"

    def _instances(self) -> Iterator[str]:
        yield from ("", "## Explored at", "")
        for name, sizes in self.machine.instances.items():
            large = " (on demand)" if name in self.machine.large else ""
            yield f"- {name}: {', '.join(f'{size} {plural}' for plural, size in sizes.items())}{large}"


def _contents(machines: tuple[Machine, ...]) -> Iterator[str]:
    yield "# The specification"
    yield ""
    yield "1. [The words](vocabulary.md)"
    yield "2. [The rules, and where each is proved, explored and checked](rules.md)"
    yield "3. The machines:"
    for machine in machines:
        yield f"   - [{machine.name}](machines/{machine.name}.md): {machine.doc}"
    yield "4. [What the sources claim, and where it went](sources.md)"


def _rules(machines: tuple[Machine, ...], checked: Checked) -> Iterator[str]:
    yield "# The rules"
    for family in FAMILIES.values():
        yield from ("", f"## {family.title} ({family.id})", "", family.about)
        for name in family.rules:
            rule = RULES[name]
            yield from ("", f"**{rule.id} {rule.title}.** {rule.statement}", "")
            level = LEVELS[rule.level]
            yield f"From {', '.join(rule.sources)}; demanded from level {level.number} ({level.name}) on."
            if rule.not_modelled_because:
                yield f"Not modelled: {rule.not_modelled_because} Held by: {rule.checked_by}"
    yield from ("", "## Where each is proved, explored and checked", "", rules_table(stated(machines), checked))


def _vocabulary() -> Iterator[str]:
    """Classes of the vocabulary with the texts that stand under their members."""
    yield from ("# The words", "", inspect.cleandoc(vocabulary.__doc__ or ""))
    for node in ast.parse(inspect.getsource(vocabulary)).body:
        if isinstance(node, ast.ClassDef):
            yield from ("", f"## {node.name}", "", ast.get_docstring(node) or "", "")
            for member, following in zip(node.body, [*node.body[1:], None], strict=True):
                name = _member(member)
                if name:
                    yield f"- `{name}`{_text_under(following)}"


def _member(node: ast.stmt) -> str | None:
    if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
        return node.target.id
    if isinstance(node, ast.Assign) and isinstance(node.value, ast.Constant):
        return str(node.value.value)
    return None


def _text_under(node: ast.stmt | None) -> str:
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
        return f": {' '.join(node.value.value.split())}"
    return ""


def _sort_kind(sort: Sort) -> str:
    if sort.kind is SortKind.ENUM:
        return f"one of {', '.join(sort.values)}"
    if sort.kind is SortKind.ORDERED:
        return "ordered, with a least element"
    same = ", interchangeable" if sort.symmetric else ""
    return f"a part of {sort.parent.name}{same}" if sort.parent else f"individuals{same}"


def _type(symbol: Symbol) -> str:
    domain = " × ".join(sort.name for sort in symbol.domain)
    if isinstance(symbol, Relation):
        return f"set of {domain}" if domain else "true or false"
    arrow = "⇀" if symbol.partial else "→"
    return f"{domain} {arrow} {symbol.result.name}" if domain else symbol.result.name


def _first(symbol: Symbol) -> str:
    if isinstance(symbol, Function):
        return "undefined" if symbol.initial is None else show(symbol.initial)
    return "all" if symbol.initial else "none"


def _why(guard: Guard) -> str:
    return "safety" if guard.tag is Tag.SAFETY else f"{guard.tag}: {guard.reason}"


def _code(text: str) -> str:
    return f"`{text}`".replace("|", "\\|")


def _sentence(text: str) -> str:
    return f" {text}" if text else ""
