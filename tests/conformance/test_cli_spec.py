"""`anchorhold spec list` and `anchorhold spec show`."""

import json

import pytest
from typer.testing import CliRunner

from anchorhold.cli.spec import app
from anchorhold_spec import machines
from anchorhold_spec.catalogue import LEVELS, RULES
from anchorhold_spec.publish.coverage import Checked, stated
from anchorhold_spec.publish.matrix import rules_table

WIDE = {"COLUMNS": "100", "TERM": "dumb"}


def run(*arguments: str) -> tuple[int, str, str]:
    done = CliRunner().invoke(app, list(arguments), env=WIDE)
    return done.exit_code, done.stdout, done.stderr


def test_list_shows_every_rule_on_one_line_within_100_columns() -> None:
    code, out, _ = run("list")

    assert code == 0
    assert max(map(len, out.splitlines())) <= 100
    for rule in RULES.values():
        (line,) = [line for line in out.splitlines() if f" {rule.id} " in line]
        assert rule.title in line
        assert f"{rule.level} {LEVELS[rule.level].name}" in line


@pytest.mark.parametrize("level", ["2", "ordered", "Ordered"])
def test_list_level_gives_all_that_the_level_demands(level: str) -> None:
    code, out, _ = run("list", "--level", level, "--json")

    assert code == 0
    assert [rule["id"] for rule in json.loads(out)["rules"]] == list(LEVELS[2].rules)


def test_list_family_and_level_narrow_each_other() -> None:
    _, out, _ = run("list", "--family", "pro", "--level", "3", "--json")

    assert [rule["id"] for rule in json.loads(out)["rules"]] == ["PRO-1", "PRO-2"]


def test_list_of_nothing_is_an_empty_list() -> None:
    code, out, _ = run("list", "--family", "ERA", "--level", "1")

    assert code == 0
    assert "0 rules" in out


@pytest.mark.parametrize("rule", RULES)
def test_show_gives_statement_and_level_of_each_rule(rule: str) -> None:
    code, out, _ = run("show", rule.lower())
    flat = " ".join(out.split())

    assert code == 0
    assert RULES[rule].statement in flat
    assert f"{RULES[rule].level} ({LEVELS[RULES[rule].level].name})" in flat
    assert (RULES[rule].checked_by or "anchorhold prove") in flat
    assert max(map(len, out.splitlines())) <= 100


def test_show_json_holds_every_field() -> None:
    code, out, _ = run("show", "MAN-2", "--json")
    document = json.loads(out)

    assert code == 0
    assert document["statement"] == RULES["MAN-2"].statement
    assert document["sources"] == ["S0"]
    assert document["modelled"] is False
    assert document["checked_by"] == RULES["MAN-2"].checked_by
    assert {"id", "family", "title", "level", "not_modelled_because"} <= set(document)


@pytest.mark.parametrize(
    ("arguments", "hint"),
    [
        (["show", "ANC1"], "did you mean ANC-1?"),
        (["show", "PTR-7"], "PTR-1 or PTR-2"),
        (["show", "\x1b[31mred"], "spec list"),
        (["show", "anchorin"], "did you mean anchoring"),
        (["show", "era"], "spec list --family ERA"),
        (["show", "Lossless"], "spec list --level lossless"),
        (["show", "release-race", "--json"], "is a machine"),
        (["list", "--level", "6"], "5 (lossless)"),
        (["list", "--family", "ABC"], "ANC, MAN"),
    ],
)
def test_what_is_unknown_ends_with_one_line_and_status_2(arguments: list[str], hint: str) -> None:
    code, out, error = run(*arguments)

    assert code == 2
    assert out == ""
    assert hint in error
    assert len(error.splitlines()) == 1
    assert "\x1b" not in error


@pytest.mark.parametrize("name", machines.names())
def test_show_gives_the_vocabulary_actions_and_properties_of_each_machine(name: str) -> None:
    machine = machines.load(name)
    code, out, _ = run("show", name)

    assert code == 0
    assert out.startswith(f"# {name}\n")
    assert all(f"`{symbol.name}`" in out for symbol in machine.symbols)
    assert all(action.doc in out for action in machine.actions)
    assert all(each.name in out for each in machine.public)


@pytest.mark.parametrize("rule", ["ANC-1", "PRO-3", "MAN-2"])
def test_show_names_the_properties_that_state_the_rule_as_the_matrix_does(rule: str) -> None:
    properties = stated(machines.load(name) for name in machines.names())
    matrix = next(line for line in rules_table(properties, Checked()).splitlines() if f"</a>{rule} " in line)
    told = json.loads(run("show", rule, "--json")[1])["stated_by"]
    shown = run("show", rule)[1]

    assert [(each["machine"], each["property"]) for each in told] == [
        (each.machine, each.name) for each in properties.get(rule, ())
    ]
    assert bool(told) is RULES[rule].modelled
    for each in told:
        assert f"{each['machine']}: {each['property']}" in matrix
        assert f"{each['machine']}: {each['property']} ({each['kind']}, by {each['shown_by']})" in " ".join(
            shown.split()
        )
        assert each["shown_by"] in matrix
