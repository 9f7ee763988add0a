"""The decision tables: every cell known, runs replayed, and what is said of the sources held against the claims."""

import json
from dataclasses import replace
from types import MappingProxyType

import pytest
from cupboard_designs import table_of
from typer.testing import CliRunner

from anchorhold.cli import application
from anchorhold.cli.designs import document
from anchorhold_spec.catalogue import RULES
from anchorhold_spec.designs import TABLES, Answers, Broken, Claim, Proved, Unknown, s2
from anchorhold_spec.designs.compute import cells_of, compute
from anchorhold_spec.machines import evidence
from anchorhold_spec.run import explore

QUICK = ("S2",)
SIZES = {"S0": 8, "S1": 8, "S2": 12}


def computed(source: str) -> Answers:
    (answers,) = compute([TABLES[source]], processes=1)
    return answers


@pytest.fixture(scope="module")
def s2_answers():
    return computed("S2")


def verdicts(answers: Answers, rule: str) -> dict[tuple[str, ...], str]:
    return {tuple(row.switches.values()): type(row.cells[rule]).__name__ for row in answers.rows}


# What the tables say


@pytest.mark.parametrize("source", TABLES)
def test_every_table_asks_rules_of_the_catalogue_by_properties_that_state_them(source):
    table = TABLES[source]
    for row in table.rows():
        stated = {each.name: each.rules for each in (*row.machine.public, *row.machine.transitions)}
        for column in table.columns:
            assert column.rule in RULES
            assert column.properties
            for name in column.properties:
                assert column.rule in stated[name]
        assert row.claims.keys() <= {column.rule for column in table.columns}
        assert row.machine.switches == ()


@pytest.mark.parametrize("source", TABLES)
def test_no_two_designs_are_told_apart_by_nothing(source):
    designs = [tuple(row.switches.items()) for row in TABLES[source].rows()]

    assert len(set(designs)) == len(designs)
    assert len(designs) == SIZES.get(source, len(designs))


def test_s4_has_every_design_that_the_source_names():
    designs = [row.switches for row in TABLES["S4"].rows()]
    named = [
        {"order": "unordered", "keys": "recycled", "tags": "none", "store": "shared"},
        {"order": "unordered", "keys": "recycled", "tags": "epochs", "store": "shared"},
        {"order": "unordered", "keys": "monotonic", "tags": "none"},
        {"order": "ordered"},
        {"order": "two-phase"},
        {"order": "asynchronous"},
        {"store": "separate"},
        {"reaper": "ignores-pointers"},
        {"pointers": "telemetry"},
        {"transactions": "summary-first"},
        {"check": "at-start"},
    ]
    for one in named:
        assert any(one.items() <= design.items() for design in designs), one


# S2


def test_evi_1_two_cells_and_no_other_may_be_opened(s2_answers):
    proved = {cell for cell, verdict in verdicts(s2_answers, "EVI-1").items() if verdict == "Proved"}

    assert proved == {
        *(("narrative", pointer, original) for pointer in s2.POINTERS for original in s2.ORIGINALS),
        ("structured", "durable", "retrievable"),
        ("side_effecting", "durable", "retrievable"),
    }
    assert s2_answers.known
    assert all(row.differs == () for row in s2_answers.rows)


@pytest.mark.parametrize("cell", [(c, p, o) for c in s2.CLASSES for p in s2.POINTERS for o in s2.ORIGINALS])
def test_no_cell_is_proved_for_want_of_spans_that_pass(cell):
    """The gate of each cell lets something pass: a span is reclaimed."""
    s = evidence.s
    machine = s2.letting_pass(*cell)
    never = replace(
        machine.invariants[0],
        name="nothing is reclaimed",
        formula=evidence.forall(s, evidence.fate(s) != evidence.Fate.reclaimed),
    )
    found = explore(replace(machine, invariants=(never,), transitions=(), sometimes=()))

    assert found.violation


# S0, S1, S4


@pytest.mark.slow
def test_s0_diverges_without_the_last_two_conditions_however_many_generations():
    answers = computed("S0")
    broken = {design for design, verdict in verdicts(answers, "REC-1").items() if verdict == "Broken"}

    assert broken == {("many", "independent", "unanchored"), ("one", "independent", "unanchored")}
    assert answers.known
    assert_explained(answers)


@pytest.mark.slow
def test_s1_one_index_of_eight_is_lossless():
    answers = computed("S1")
    for rule in ("IDX-1", "RET-1"):
        proved = {design for design, verdict in verdicts(answers, rule).items() if verdict == "Proved"}
        assert proved == {("by-span", "immutable", "to-horizon")}
    assert answers.known
    assert_explained(answers)


@pytest.mark.slow
def test_s4_wrong_answers_need_recycled_keys_without_tags_and_only_order_keeps_resolvable():
    answers = computed("S4")
    for row in answers.rows:
        if isinstance(row.cells["EPO-1"], Broken):
            assert (row.switches["keys"], row.switches["tags"]) == ("recycled", "none")
        if row.switches["order"] == "unordered":
            assert isinstance(row.cells["PTR-2"], Broken)
    assert answers.known
    assert_explained(answers)


def assert_explained(answers: Answers) -> None:
    """A difference has a reason, and a reason has a difference to explain."""
    for row in answers.rows:
        for rule in row.differs:
            assert row.differs_because.get(rule), (row.switches, rule)
    explained = {because for row in answers.rows for because in row.differs_because.values()}
    used = {row.differs_because[rule] for row in answers.rows for rule in row.differs}
    assert explained == used


# How cells are decided, on a machine made for it


def test_a_cell_is_proved_or_has_a_shortest_run():
    table = table_of("both")
    sound, unsound = table.rows()

    assert cells_of(table, sound, timeout=10)["LEN-1"] == Proved()
    broken = cells_of(table, unsound, timeout=10)["LEN-1"]
    assert isinstance(broken, Broken)
    assert len(broken.trace) == 2


def test_what_is_neither_proved_nor_broken_is_unknown_and_never_a_pass():
    """Without its lemma the design is not inductive, and there is nothing to find."""
    table = table_of("both")
    sound = replace(table.rows()[0], lemmas=())
    cell = cells_of(table, sound, timeout=10)["LEN-1"]

    assert isinstance(cell, Unknown)
    assert "not inductive" in cell.reason
    answers = Answers(table, (answer_of(sound, cell),))
    assert not answers.known
    assert answers.rows[0].differs == ()
    assert document([answers])["tables"]["TEST"][0]["rules"] == {"LEN-1": "unknown"}


def test_a_lemma_that_does_not_hold_is_not_used():
    table = table_of("both")
    _, unsound = table.rows()
    cell = cells_of(replace(table, instances=({"boxes": 1},)), unsound, timeout=10)["LEN-1"]

    assert isinstance(cell, Unknown), "one box is too few to break it, and it must not be proved"


def test_a_difference_is_one_in_either_direction():
    table = table_of("both")
    sound, unsound = table.rows()
    broken = Broken("p", ("1. x",), {})

    for row, cell, claim, differs in (
        (sound, Proved(), Claim.HOLDS, ()),
        (sound, Proved(), Claim.BREAKS, ("LEN-1",)),
        (unsound, broken, Claim.BREAKS, ()),
        (unsound, broken, Claim.HOLDS, ("LEN-1",)),
    ):
        claimed = replace(row, claims=MappingProxyType({"LEN-1": (claim, "")}))
        assert answer_of(claimed, cell).differs == differs


def answer_of(row, cell):
    from anchorhold_spec.designs import Answer

    return Answer(row.switches, {"LEN-1": cell}, row.claims, row.differs_because)


# The command


def run(*arguments: str):
    return CliRunner().invoke(application(["explore"]), ["explore", *arguments])


def test_the_command_prints_the_document():
    result = run("--designs", *QUICK, "--json")
    found = json.loads(result.stdout)

    assert result.exit_code == 0
    assert found["tables"].keys() == set(QUICK)
    for row in found["tables"]["S2"]:
        assert row.keys() == {"class", "pointer", "original", "rules", "source_claims", "differs"}
        assert row["source_claims"]["EVI-1"] == ("holds" if row["rules"]["EVI-1"] == "proved" else "breaks")
        assert row["differs"] == []
        if row["rules"]["EVI-1"] != "proved":
            assert row["rules"]["EVI-1"]["trace"]


def test_what_is_not_known_makes_the_command_fail(monkeypatch):
    from anchorhold_spec import designs

    table = table_of("unknown")
    monkeypatch.setattr(designs, "TABLES", {"TEST": table})
    monkeypatch.setattr("os.cpu_count", lambda: 1)
    result = run("--designs", "TEST", "--json")

    assert result.exit_code == 1
    assert json.loads(result.stdout)["tables"]["TEST"][0]["rules"] == {"LEN-1": "unknown"}


def test_a_table_that_is_not_there_is_refused():
    result = run("--designs", "S3")

    assert result.exit_code == 2
    assert "no decision table S3; there are S0, S1, S2, S4" in result.stderr


def test_without_designs_one_machine_is_named():
    assert run().exit_code == 2
    assert run("evidence", "release-race").exit_code == 2
