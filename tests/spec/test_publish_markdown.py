"""A reviewer's pages have everything that the machines have."""

import re

import pytest
from cupboard import machine as cupboard

from anchorhold_spec.catalogue import RULES
from anchorhold_spec.language import show, show_update
from anchorhold_spec.machines import load, names
from anchorhold_spec.publish.markdown import export_markdown, machine_page
from anchorhold_spec.vocabulary import AnswerKind

MACHINES = [*(load(name) for name in names()), cupboard]


@pytest.mark.parametrize("machine", MACHINES, ids=lambda machine: machine.name)
def test_a_page_shows_every_guard_update_and_property(machine):
    page = machine_page(machine).replace("\\|", "|")

    for action in machine.actions:
        assert f"### {action.name}(" in page
        for guard in action.guards:
            assert f"| {guard.name} | `{show(guard.formula)}` | {guard.tag}" in page
            assert guard.reason is None or guard.reason in page
        for update in action.updates:
            assert f"- `{show_update(update)}`" in page
    for each in (*machine.invariants, *machine.transitions, *machine.sometimes):
        assert f"`{show(each.formula)}`" in page
        assert each.name in page
    for progress in machine.progress:
        assert f"`{show(progress.trigger)}` leads to `{show(progress.goal)}`" in page
    for axiom in machine.axioms:
        assert f"`{show(axiom.formula)}`" in page
    for symbol in machine.symbols:
        assert f"| `{symbol.name}` |" in page
    for switch in machine.switches:
        assert f"- `{switch.name}`: " in page


def test_links_between_the_pages_lead_somewhere():
    files = export_markdown(MACHINES)

    for name, text in files.items():
        for target, anchor in re.findall(r"\]\(([^)#]*)#?([^)]*)\)", text):
            path = "/".join([*name.split("/")[:-1], target]) if target else name
            while "/../" in f"/{path}":
                path = re.sub(r"(^|/)[^/]+/\.\./", r"\1", path, count=1)
            assert path in files, f"{name} leads to {target}"
            if anchor:
                assert f'id="{anchor}"' in files[path], f"{name} leads to {target}#{anchor}"


def test_every_rule_and_every_answer_stands_on_the_pages():
    files = export_markdown(MACHINES)

    for rule in RULES.values():
        assert f"**{rule.id} {rule.title}.** {rule.statement}" in files["rules.md"]
    for kind in AnswerKind:
        assert f"- `{kind.value}`: " in files["vocabulary.md"]
    assert f"machines/{cupboard.name}.md" in files


def test_what_is_said_of_a_machine_besides_stands_on_its_page():
    files = export_markdown([cupboard], prose={cupboard.name: "It leaves out the wood."})

    assert "It leaves out the wood." in files[f"machines/{cupboard.name}.md"]
