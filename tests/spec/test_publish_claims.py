"""Every claim of the sources has a row, and each rule comes from one of them or from a fault report."""

import re

import pytest

from anchorhold_spec.catalogue import RULES, CatalogueError, Source
from anchorhold_spec.machines import load, names
from anchorhold_spec.publish.claims import claims, parse
from anchorhold_spec.publish.coverage import Checked, stated
from anchorhold_spec.publish.matrix import fill, sections

CLAIM = '[[claim]]\nid = "S0-C1"\nsays = "Something."\n'
DEPARTURE = '[[departure]]\nid = "D1"\nsource = "S0"\ntitle = "T"\nsays = "S"\ninstead = "I"\n'


def test_every_rule_is_named_by_a_claim_or_comes_from_fault_reports():
    named = {rule for claim in claims().claim for rule in claim.rules}

    left = {rule.id for rule in RULES.values() if rule.id not in named}
    assert all(Source.F in RULES[rule].sources for rule in left)
    assert left <= {rule.id for rule in RULES.values() if rule.sources == (Source.F,)}


@pytest.mark.parametrize("source", [source for source in Source if source is not Source.F])
def test_each_source_carries_a_rule_of_its_own(source):
    rules = {rule for claim in claims().claim if claim.source is source for rule in claim.rules}

    assert any(RULES[rule].sources == (source,) for rule in rules)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (CLAIM, "S0-C1 leads to no rule and has no note"),
        (CLAIM + 'rules = ["XYZ-1"]\n', "S0-C1 names XYZ-1, which is no rule"),
        (CLAIM.replace("C1", "C2") + 'rules = ["ANC-1"]\n', "'S0-C2' is out of order"),
        (CLAIM + 'rules = ["ANC-1"]\ndepartures = ["D2"]\n', "do not match: D1, D2"),
        (CLAIM + 'rules = ["ANC-1"]\n', "do not match: D1"),
        (CLAIM + 'rule = ["ANC-1"]\n', "claims: "),
        ("[[claim]", "claims: "),
    ],
)
def test_claims_that_lead_nowhere_are_refused(text, said):
    with pytest.raises(CatalogueError, match=re.escape(said)):
        parse(DEPARTURE + text if text.startswith("[[claim]]") else text, rules=RULES)


def test_every_claim_and_every_rule_has_one_row_with_what_states_and_checks_it():
    machines = [load(name) for name in names()]
    checked = Checked(checkers={"PTR-1": "`here`"}, wrong={"PTR-1": ("CommitsBeforeThePointer",)})
    parts = sections(machines, checked)

    rows = [line for line in parts["claims"].splitlines() if "<a id=" in line]
    assert [re.search(r"</a>(\S+)", row)[1] for row in rows] == [claim.id for claim in claims().claim]
    rows = {re.search(r"</a>(\S+)", row)[1]: row for row in parts["rules"].splitlines() if "<a id=" in row}
    assert list(rows) == list(RULES)
    for rule, found in stated(machines).items():
        for each in found:
            assert f"{each.machine}: {each.name}" in rows[rule]
    assert "commits before the pointer" in rows["PTR-1"]
    assert "`here`" in rows["PTR-1"]
    assert "**none yet**" in rows["PTR-2"]
    for departure in claims().departure:
        assert f"**{departure.id}, " in parts["departures"]


def test_what_stands_between_the_markers_is_replaced_and_nothing_else():
    text = "before\n<!-- generated: a -->\nold\n<!-- end: a -->\nafter\n"

    once = fill(text, {"a": "new"})
    assert once == "before\n<!-- generated: a -->\n\nnew\n\n<!-- end: a -->\nafter\n"
    assert fill(once, {"a": "new"}) == once
    with pytest.raises(ValueError, match="generated: b"):
        fill(text, {"b": "new"})
