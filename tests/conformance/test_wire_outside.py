"""Programs that are killed, and whose disk fails, from outside: nothing of it is asked of their adapters."""

import contextlib
import json
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from mountable import skip_where_not_mountable

from anchorhold.checkers import CHECKERS
from anchorhold.compactor import Description, Mechanism, OperationError, Reply, Settings
from anchorhold.disk import client
from anchorhold.disk.faults import Change
from anchorhold.judging import judge
from anchorhold.load import Loaded, load
from anchorhold.planting import Planter
from anchorhold.run import play
from anchorhold.scenarios import DIRECTED, Plan
from anchorhold.scenarios.damage import crash_at
from anchorhold.scenarios.plan import ASKED_FOR, Scenario
from anchorhold.scenarios.trouble import store_fails_at
from anchorhold.smoke import smoke
from anchorhold.wire.damage import damage
from anchorhold.wire.outside import MODEL, point_of, points
from anchorhold_spec.vocabulary import Turn

HERE = Path(__file__).parent
SDK = HERE.parents[1] / "conformance/anchorhold/adapters/anchorhold_sdk.py"
SCENARIOS = {scenario.name: scenario for scenario in DIRECTED}


@pytest.fixture
def keeper(tmp_path: Path) -> Callable[[str], str]:
    for file in (SDK, HERE / "file_adapter.py"):
        shutil.copy(file, tmp_path)

    def command(defect: str = "") -> str:
        return shlex.join([sys.executable, str(tmp_path / "file_adapter.py"), *defect.split()])

    return command


@pytest.fixture
def disk() -> None:
    skip_where_not_mountable()


def found(loaded: Loaded, scenario: Scenario, rules: set[str]) -> dict[str, tuple[int, list[str]]]:
    """By rule: how often it was triggered, and in which sentences it failed."""
    description = loaded.describe()
    plan = Plan(planter=Planter("outside"), taken=ASKED_FOR, points=description.crash_points)
    history = play(loaded.make(), scenario.workload(plan), description=description, location=loaded.target)
    judged = judge([checker for checker in CHECKERS if checker.rule in rules], history)
    return {j.rule: (j.triggered, [failure.sentence for failure in j.failures]) for j in judged}


# What is offered


def test_each_step_is_a_point_with_a_name_that_says_all_of_it() -> None:
    steps = (Change.CREATE, Change.WRITE, Change.SYNC, Change.RENAME, Change.SYNC)
    made = points(steps)
    assert [point.name for point in made] == [
        "killed before step 1 (create)",
        "killed before step 2 (write)",
        "killed before step 4 (rename)",
        "power cut before step 3 (sync)",
        "power cut before step 5 (sync)",
    ]
    assert [point_of(point.name) for point in made] == list(made)
    assert point_of(MODEL) is None
    many = points((Change.WRITE,) * 100 + (Change.SYNC,))
    assert [point.at for point in many] == [1, 21, 41, 60, 80, 100, 101]


def test_a_program_that_can_be_started_again_can_be_killed_and_nothing_more_is_said_of_its_disk(
    keeper: Callable[[str], str],
) -> None:
    with load(f"cmd:{keeper('')}") as loaded:
        description = loaded.describe()
    assert description.operations >= {"kill", "crash", "reopen"}
    assert not description.operations & {"lose_power", "fail_store", "corrupt"}
    assert description.crash_points == (MODEL,)
    assert "cmd+store" in description.hidden[Mechanism.POWER_LOSS]


def test_without_fuse_its_rules_are_not_observable_and_the_package_is_named(
    keeper: Callable[[str], str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(client, "UNMOUNT", None)
    with load(f"cmd+store:{keeper('')}") as loaded:
        description = loaded.describe()
    assert "fuse3" in description.hidden[Mechanism.STORE_ERRORS]
    assert "fuse3" in description.hidden[Mechanism.POWER_LOSS]
    assert "kill" in description.operations


# What is done


def test_who_is_killed_goes_on_with_what_was_acknowledged_and_answers_nothing_in_between(
    keeper: Callable[[str], str],
) -> None:
    with load(f"cmd:{keeper('')}") as loaded:
        compactor = loaded.make()
        compactor.open(Settings(budget=1200, watermark=0.7), lambda shown: Reply(text="S"))
        for number in range(6):
            compactor.append(Turn(id=f"t{number}", speaker="user", text=f"{number} " + "x" * 1000))

        compactor.kill()
        with pytest.raises(OperationError, match="killed") as caught:
            compactor.live()
        assert caught.value.definite
        compactor.reopen()
        assert [item.id for item in compactor.live()] == [f"t{number}" for number in range(6)]

        # While the model is asked: it was, and nobody heard what it said.
        compactor.crash(MODEL)
        with pytest.raises(OperationError, match="model") as caught:
            compactor.compact()
        assert not caught.value.definite
        compactor.reopen()
        assert [item.id for item in compactor.live()] == [f"t{number}" for number in range(6)]
        assert compactor.compact().kind == "committed"
        compactor.close()

        # The next session knows nothing of it.
        compactor = loaded.make()
        compactor.open(Settings(), lambda shown: Reply(text="S"))
        assert list(compactor.live()) == []
        compactor.close()


def test_what_a_text_says_is_damaged_wherever_it_lies_but_not_where_the_window_shows_it(tmp_path: Path) -> None:
    text = 'The "config" file\nof job J-7 is /etc/kestrel.yaml.'
    (tmp_path / "plain").write_text(f"before {text} after {text}")
    (tmp_path / "lines.jsonl").write_text(json.dumps({"text": text}) + "\n")
    (tmp_path / "other").write_text("nothing of it")

    assert not damage(str(tmp_path), text, [f"a summary that quotes: {text}"])
    assert not damage(str(tmp_path), "short", [])
    assert text in (tmp_path / "plain").read_text()
    assert damage(str(tmp_path), text, ["something else"])

    assert text not in (tmp_path / "plain").read_text()
    damaged = json.loads((tmp_path / "lines.jsonl").read_text())["text"]
    assert damaged != text
    assert len(damaged) == len(text)
    assert (tmp_path / "other").read_text() == "nothing of it"


DEFECTS = [
    ("never-syncs", ("power",), "CRA-3"),
    ("renames-unsynced", ("power",), "CRA-3"),
    ("writes-in-place", ("(write)",), "CRA-1"),
    ("archives-last", ("killed before step",), "CRA-1"),
    ("ignores-errors", ("(rename)",), "OUT-3"),
    ("never-reads-back", ("step 2 (write)",), "OUT-3"),
    ("trusts-its-disk", ("damaged-bytes",), "EPO-3"),
]


def chosen(description: Description, names: tuple[str, ...], rule: str) -> Iterator[Scenario]:
    """The scenarios of these names, or at the crash points in whose names these words stand."""
    for name in names:
        if name in SCENARIOS:
            yield SCENARIOS[name]
        else:
            make = store_fails_at if rule == "OUT-3" else crash_at
            for number, point in enumerate(description.crash_points):
                if name in point:
                    yield make(number, point)


@pytest.mark.slow
@pytest.mark.usefixtures("disk")
@pytest.mark.parametrize(("defect", "names", "rule"), DEFECTS)
def test_a_defect_of_durability_is_caught_in_a_program_that_knows_nothing_of_faults(
    keeper: Callable[[str], str], defect: str, names: tuple[str, ...], rule: str
) -> None:
    with load(f"cmd+store:{keeper(defect)}") as loaded:
        failed = [found(loaded, each, {rule})[rule][1] for each in chosen(loaded.describe(), names, rule)]
    assert any(failed)


RIGHT = {
    "stopped": {"CRA-3", "EPO-3", "PTR-1", "PTR-2", "ANC-1"},
    "crashed": {"CRA-1", "CRA-2", "PTR-1", "ANC-1"},
    "failing": {"OUT-3", "PRO-3", "PTR-1"},
}


@pytest.mark.slow
@pytest.mark.usefixtures("disk")
@pytest.mark.parametrize("how", RIGHT)
def test_a_program_that_does_all_of_it_right_is_not_blamed(keeper: Callable[[str], str], how: str) -> None:
    triggered = dict.fromkeys(RIGHT[how], 0)
    with load(f"cmd+store:{keeper('')}") as loaded:
        numbered = list(enumerate(loaded.describe().crash_points))
        assert {point_of(point) is not None for _, point in numbered} == {True, False}
        every = {
            "stopped": [SCENARIOS[name] for name in ("power", "killed", "restarts", "damaged-bytes")],
            "crashed": [crash_at(number, point) for number, point in numbered],
            "failing": [store_fails_at(number, point) for number, point in numbered],
        }
        for scenario in every[how]:
            for rule, (times, failures) in found(loaded, scenario, RIGHT[how]).items():
                assert failures == [], f"{scenario.name}: {rule}"
                triggered[rule] += times
    assert all(times > 0 for times in triggered.values()), triggered


@pytest.mark.usefixtures("disk")
def test_a_static_program_of_another_language_is_reached_as_well(tmp_path: Path) -> None:
    rustc = shutil.which("rustc")
    if rustc is None:
        pytest.skip("needs rustc")
    source = HERE.parents[1] / "conformance/examples/keepsake/src/main.rs"
    built = tmp_path / "keepsake"
    subprocess.run([rustc, "--edition", "2021", "-o", built, source], check=True, timeout=300)
    rules = {"CRA-1", "CRA-3", "OUT-3"}
    with load(f"cmd+store:{built}") as loaded:
        points_of = loaded.describe().crash_points
        at = next(number for number, point in enumerate(points_of) if "power cut" in point)
        for scenario, rule in (
            (SCENARIOS["power"], "CRA-3"),
            (crash_at(at, points_of[at]), "CRA-1"),
            (store_fails_at(at, points_of[at]), "OUT-3"),
        ):
            times, failures = found(loaded, scenario, rules)[rule]
            assert times > 0
            assert failures == []


@pytest.mark.usefixtures("disk")
def test_a_history_is_played_again_on_such_a_disk_without_asking_who_the_compactor_is(
    keeper: Callable[[str], str],
) -> None:
    with load(f"cmd+store:{keeper('never-syncs')}") as loaded:
        compactor = loaded.make()
        compactor.open(ASKED_FOR, lambda shown: Reply(text="S"))
        compactor.lose_power()
        with pytest.raises(OperationError):
            compactor.reopen()
        with pytest.raises(OperationError, match="did not"):
            compactor.live()
        # What its adapter makes of a session that it has not is its own matter.
        with contextlib.suppress(OperationError):
            compactor.close()


@pytest.mark.slow
def test_an_adapter_that_can_be_started_again_passes_smoke(keeper: Callable[[str], str]) -> None:
    tried = smoke(f"cmd:{keeper('')}", seconds=60)
    assert [str(finding) for finding in tried.findings] == []
