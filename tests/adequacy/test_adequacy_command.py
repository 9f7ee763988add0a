"""`anchorhold adequacy` counts what was caught, and nothing else."""

import json
from pathlib import Path

import pytest
from compactors.vault import Vault
from typer.testing import CliRunner

from anchorhold.adapters.reference import Reference
from anchorhold.adequacy.catalogue import CatalogueError, read_catalogue
from anchorhold.adequacy.seek import histories
from anchorhold.cli import application
from anchorhold.history import encode_line
from anchorhold.planting import Planter
from anchorhold.scenarios import AUDITED, DIRECTED, Plan, Scenario
from anchorhold.workload import Workload

FIXED = [scenario for scenario in (*DIRECTED, AUDITED) if scenario.fixed]
QUICK = ("--effort", "quick")
PROJECT = Path(__file__).with_name("catalogue.py")
SMALL = '''
from compactors.driven import NeverAudits
from compactors.event_log import EventLog, PointsOnlyAtTheLatest
from compactors.plain_list import PlainList

class Broken(PlainList):
    """Not wrong in any way that the suite knows: it cannot look at its window."""

    def live(self):
        raise RuntimeError("no window today")

class Fine(PlainList):
    """Said to be wrong, and is not."""

WRONG = [{wrong}]
RIGHT = [{right}]
ARCHITECTURES = {{PlainList: "a plain list"}}
'''


@pytest.fixture
def catalogue(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.syspath_prepend(str(PROJECT.parent))

    def write(*, wrong: str = "", right: str = "") -> Path:
        path = tmp_path / "mine.py"
        path.write_text(SMALL.format(wrong=wrong, right=right))
        return path

    return write


def run(*arguments: str) -> tuple[int, dict]:
    given = ["adequacy", *arguments, "--json"]
    done = CliRunner().invoke(application(given), given)
    return done.exit_code, json.loads(done.stdout) if done.stdout.startswith("{") else {"error": done.output}


def test_wrong_compactor_is_listed_with_what_it_breaks_and_what_caught_it() -> None:
    status, found = run(str(PROJECT), "--only", "PointsOnlyAtTheLatest", "--seeds", "2")

    (defect,) = found["defects"]
    assert status == 0
    assert (defect["id"], defect["architecture"]) == ("PointsOnlyAtTheLatest", "an event log")
    assert set(defect["breaks"]) <= set(defect["caught_by"])
    assert (defect["seeds_caught"], defect["seeds"]) == (2, 2)
    assert defect["operations"] > 0


def test_one_that_is_not_wrong_is_not_caught(catalogue) -> None:
    status, found = run(str(catalogue(wrong='(Fine, "PTR-4")')), *QUICK)

    assert status == 1
    assert (found["defects"][0]["seeds_caught"], found["defects"][0]["missed"]) == (0, ["PTR-4"])


def test_crash_of_a_wrong_compactor_is_no_catch(catalogue) -> None:
    status, found = run(str(catalogue(wrong='(Broken, "PRO-1")')))

    assert status == 1
    assert found["defects"][0]["seeds_caught"] == 0
    assert "no window today" in found["defects"][0]["crashed"]


def test_answer_out_of_form_is_no_catch_and_stops_nothing_else(catalogue) -> None:
    mumbles = 'type("Mumbles", (PlainList,), {"status": lambda self: "degraded: "})'
    status, found = run(str(catalogue(wrong=f'({mumbles}, "RET-5"), (PointsOnlyAtTheLatest, "PTR-4")')))

    assert status == 1
    assert [defect["seeds_caught"] for defect in found["defects"]] == [0, 1]
    assert "out of schema" in found["defects"][0]["crashed"]


def test_defects_written_without_sight_of_the_checkers_are_counted_apart(catalogue) -> None:
    path = catalogue(wrong='(PointsOnlyAtTheLatest, "PTR-4"), (Fine, "PTR-4")')
    with path.open("a") as file:
        file.write("BLIND = [PointsOnlyAtTheLatest]\n")
    _, found = run(str(path), *QUICK)

    assert found["blind"] == 1
    assert {defect["id"]: defect["blind"] for defect in found["defects"]} == {
        "PointsOnlyAtTheLatest": True,
        "Fine": False,
    }
    path.write_text(path.read_text().replace("BLIND = [PointsOnlyAtTheLatest]", "BLIND = [PlainList]"))
    with pytest.raises(CatalogueError, match="PlainList blind"):
        read_catalogue(path)


def test_blamed_right_compactor_is_a_false_alarm(catalogue) -> None:
    status, found = run(str(catalogue(right="PointsOnlyAtTheLatest")), *QUICK)

    assert status == 1
    assert found["false_alarms"] == len(found["alarms"]) > 0
    assert {alarm["id"] for alarm in found["alarms"]} == {"PointsOnlyAtTheLatest"}


def test_what_is_the_same_whatever_the_seed_is_played_once_and_counts_for_every_seed(catalogue) -> None:
    _, found = run(str(catalogue(wrong='(NeverAudits, "RET-2"), (PointsOnlyAtTheLatest, "PTR-4")')), "--seeds", "3")

    assert found["played_once"] == [scenario.name for scenario in FIXED]
    assert [(defect["seeds_caught"], defect["fixed"]) for defect in found["defects"]] == [(3, ["RET-2"]), (3, [])]


def test_what_is_played_once_goes_the_same_way_whatever_the_seed() -> None:
    def play(seed: int) -> list[list[bytes]]:
        played = histories(Vault, seed=seed, only=lambda scenario: scenario.fixed)
        return [[encode_line(event) for event in history.events] for history in played]

    first = play(0)

    assert [len(events) > 1000 for events in first] == [True] * len(FIXED)
    assert first == play(1)


def test_no_other_scenario_is_the_same_with_two_seeds() -> None:
    def written(scenario: Scenario, seed: int) -> Workload:
        return scenario.workload(Plan(planter=Planter(f"{seed}:{scenario.name}:0"), taken=scenario.settings))

    assert [scenario.name for scenario in DIRECTED if written(scenario, 0) == written(scenario, 1)] == []


def test_quick_counts_what_a_quick_check_plays(catalogue) -> None:
    _, found = run(str(catalogue(wrong='(PointsOnlyAtTheLatest, "PTR-4")')), *QUICK)

    assert (found["effort"], found["as_checked"], found["played_once"]) == ("quick", True, [])
    assert found["defects"][0]["seeds_caught"] == 1
    assert found["defects"][0]["operations"] > 0


def test_right_ones_alone_are_checked_where_only_false_alarms_are_asked_for(catalogue) -> None:
    path = str(catalogue(wrong='(Fine, "PTR-4")', right="PlainList"))
    status, found = run(path, "--right", "--seeds", "2", *QUICK)

    assert (status, found["defects"], found["right"], found["right_seeds"]) == (0, [], 1, 2)


def test_a_scenario_alone_is_played_where_it_is_named(catalogue) -> None:
    path = str(catalogue(wrong='(PointsOnlyAtTheLatest, "PTR-4")', right="PlainList"))
    status, found = run(path, "--scenario", "generations", "--scenario", "late-results")
    _, other = run(path, "--scenario", "late-results", "--right")

    assert (status, found["scenarios"], found["played_once"]) == (0, ["generations", "late-results"], [])
    assert other["scenarios"] == ["late-results"]
    assert run(path, "--scenario", "no-such")[0] == 2
    assert run(path, "--scenario", "late-results", *QUICK)[0] == 2


def test_the_reference_is_among_the_right_ones() -> None:
    assert Reference in read_catalogue(PROJECT).right


def test_every_job_is_done_however_many_workers_there_are(catalogue) -> None:
    many = ", ".join(f'(type("W{n}", (PointsOnlyAtTheLatest,), {{}}), "PTR-4")' for n in range(5))
    path = str(catalogue(wrong=many))

    alone, two = run(path)[1], run(path, "--workers", "2")[1]

    assert [defect["seeds_caught"] for defect in alone["defects"]] == [1] * 5
    assert alone["defects"] == two["defects"]


def test_rule_without_a_wrong_compactor_is_named(catalogue) -> None:
    status, found = run(str(catalogue(wrong='(PointsOnlyAtTheLatest, "PTR-4")')))

    assert status == 1
    assert "PTR-4" not in found["rules_without_defect"]
    assert "ANC-1" in found["rules_without_defect"]


@pytest.mark.parametrize(
    ("text", "said"),
    [("x = 1", "neither WRONG nor RIGHT"), ("RIGHT = [3]", "no class"), (None, "there is no catalogue")],
)
def test_file_that_is_no_catalogue_is_refused_with_the_reason(text: str | None, said: str, tmp_path: Path) -> None:
    path = tmp_path / "mine.py"
    if text is not None:
        path.write_text(text)

    with pytest.raises(CatalogueError, match=said):
        read_catalogue(path)
    status, found = run(str(path))
    assert (status, said in found["error"].replace("\n", " ")) == (2, True)


def test_project_s_catalogue_has_at_least_what_is_asked_of_it() -> None:
    listed = read_catalogue(PROJECT)
    other = [kind for kind in listed.defects if "reference" not in listed.architecture(kind)]

    assert len(listed.defects) >= 120
    assert len(other) >= 40
    assert len(listed.right) >= 6
    assert len(listed.blind) >= 30
