"""The matrix: every claim of the sources → rules → properties of machines → proof → checker → wrong compactor.

Written into spec/README.md between markers, from the claims, the machines and what the caller says is checked.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence

from anchorhold_spec.catalogue import RULES, Rule
from anchorhold_spec.language import Machine
from anchorhold_spec.machines.projections import SIGHT, UNREAD
from anchorhold_spec.publish.claims import Claims, claims
from anchorhold_spec.publish.coverage import Checked, Stated, stated


def claims_table(found: Claims, properties: Mapping[str, Sequence[Stated]], checked: Checked) -> str:
    """A row a claim: its rules, how many properties state them, what checks them, how many wrong compactors."""
    rows = [
        "| claim | in our words | rules | stated and proved | checked | wrong compactors | besides |",
        "|---|---|---|---|---|---|---|",
    ]
    for claim in found.claim:
        rules = list(claim.rules)
        beside = [*claim.departures, *([claim.note] if claim.note else [])]
        rows.append(
            row(
                f'<a id="{claim.id.lower()}"></a>{claim.id}',
                claim.says,
                ", ".join(f"[{rule}](#{rule.lower()})" for rule in rules) or "–",
                _each(rules, lambda rule: _count(properties.get(rule, ()))),
                _each(rules, lambda rule: "yes" if rule in checked.checkers else "no"),
                _each(rules, lambda rule: str(len(checked.wrong.get(rule, ())))),
                "; ".join(beside) or "",
            )
        )
    return "\n".join(rows)


def rules_table(
    properties: Mapping[str, Sequence[Stated]], checked: Checked, rules: Mapping[str, Rule] = RULES
) -> str:
    """A row a rule: the properties that state it, how they are shown, its checker, the wrong compactors."""
    rows = [
        "| rule | title | stated by (machine: property) | shown by | checker | wrong compactors that it catches |",
        "|---|---|---|---|---|---|",
    ]
    for rule in rules.values():
        found = properties.get(rule.id, ())
        if found:
            where = "<br>".join(f"{each.machine}: {each.name}" for each in found)
        elif rule.modelled:
            where = "**no machine yet**"
        else:
            where = "none: " + (rule.not_modelled_because or "")
        checker = checked.checkers.get(rule.id, "**none yet**")
        wrong = ", ".join(_spaced(name) for name in checked.wrong.get(rule.id, ())) or "–"
        rows.append(row(f'<a id="{rule.id.lower()}"></a>{rule.id}', rule.title, where, _shown(found), checker, wrong))
    return "\n".join(rows)


def sight_table(machines: Iterable[Machine]) -> str:
    """A row a machine: which of its actions an event shows, which are implied by one, which nothing outside shows."""
    rows = [
        "| machine | shown by an event | taken to have come before | no event shows |",
        "|---|---|---|---|",
    ]
    for machine in machines:
        sight = SIGHT.get(machine.name)
        if sight is None:
            continue
        shown = [each.name for each in machine.actions if each.name not in {*sight.implied, *sight.unseen}]
        rows.append(
            row(
                machine.name,
                ", ".join(shown),
                "<br>".join(f"{action}: {seen}" for action, seen in sight.implied.items()) or "–",
                "<br>".join(f"{action}: {why}" for action, why in sight.unseen.items()) or "–",
            )
        )
    return "\n".join(rows)


def unread_text() -> str:
    """What is told of events and no machine reads."""
    return "What is told and no machine reads:\n\n" + "\n".join(f"- {what}: {why}." for what, why in UNREAD.items())


def departures_text(found: Claims) -> str:
    """The departures, each with what the source says and what holds here."""
    named: dict[str, list[str]] = {}
    for claim in found.claim:
        for each in claim.departures:
            named.setdefault(each, []).append(claim.id)
    return "\n".join(
        f"- **{each.id}, {each.source}: {each.title}** ({', '.join(named[each.id])}). "
        f"*The source:* {_line(each.says)} *Here:* {_line(each.instead)}"
        for each in found.departure
    )


def sections(machines: Iterable[Machine], checked: Checked) -> dict[str, str]:
    """The generated parts of spec/README.md, by the name in their markers."""
    machines = tuple(machines)
    found, properties = claims(), stated(machines)
    return {
        "sight": f"{sight_table(machines)}\n\n{unread_text()}",
        "claims": claims_table(found, properties, checked),
        "rules": rules_table(properties, checked),
        "departures": departures_text(found),
    }


def fill(text: str, parts: Mapping[str, str]) -> str:
    """`text` with each part put between `<!-- generated: NAME -->` and `<!-- end: NAME -->`.

    Raises ValueError where the markers of a part are not there exactly once.
    """
    for name, body in parts.items():
        begin, end = f"<!-- generated: {name} -->", f"<!-- end: {name} -->"
        if text.count(begin) != 1 or text.count(end) != 1 or text.index(begin) > text.index(end):
            raise ValueError(f"the markers {begin} and {end} have to stand in the text once each, in this order")
        head, _, rest = text.partition(begin)
        _, _, tail = rest.partition(end)
        text = f"{head}{begin}\n\n{body}\n\n{end}{tail}"
    return text


def row(*cells: str) -> str:
    """A line of a Markdown table."""
    return "| " + " | ".join(cell.replace("|", "\\|").replace("\n", " ") for cell in cells) + " |"


def _each(rules: Sequence[str], tell: Callable[[str], str]) -> str:
    return ", ".join(tell(rule) for rule in rules) or "–"


def _count(found: Sequence[Stated]) -> str:
    """How many properties; those of progress, which are explored and not proved, told apart."""
    proved = sum(each.proved for each in found)
    explored = len(found) - proved
    if not found:
        return "0"
    return str(proved) if not explored else f"{proved} + {explored} explored"


def _shown(found: Sequence[Stated]) -> str:
    kinds: list[str] = []
    for each in found:
        kind = "proof" if each.proved else "exploration"
        if kind not in kinds:
            kinds.append(kind)
    return " and ".join(kinds) or "–"


def _spaced(name: str) -> str:
    """`EvictsTheLastCarrier` as `evicts the last carrier`."""
    return " ".join(word.lower() for word in re.findall(r"[A-Z]+(?![a-z])|[A-Z][a-z]*", name)) or name


def _line(text: str) -> str:
    return " ".join(text.split())
