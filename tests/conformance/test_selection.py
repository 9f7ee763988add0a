"""What a quick check plays: what it takes to say something of each rule, chosen by a rule and not by name."""

from collections import Counter
from functools import partial
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from anchorhold.check import Checked, check
from anchorhold.checkers import CHECKERS
from anchorhold.effort import Effort
from anchorhold.load import load
from anchorhold.planting import Planter
from anchorhold.progress import Silent
from anchorhold.run import NEEDS
from anchorhold.scenarios import ASKED_FOR, Plan, scenarios
from anchorhold.selection import following, weight
from anchorhold.verdict import VerdictKind
from anchorhold.workload import Append, Ask, Compact, Probe, Workload

TOYS = Path(__file__).with_name("toy_compactors.py")
RULES = ("A", "B", "C", "D")
LONG = {"RET-2"}
"""Rules whose scenario is too long for a quick check."""
LEFT = st.lists(st.tuples(st.sets(st.sampled_from(RULES)), st.integers(1, 100)), max_size=12)
WANTED = st.dictionaries(st.sampled_from(RULES), st.integers(-1, 3))


@given(left=LEFT, wanted=WANTED)
def test_each_wanted_rule_is_served_by_as_many_as_were_asked_for_or_by_all_there_are(
    left: list[tuple[set[str], int]], wanted: dict[str, int]
) -> None:
    chosen = following(left, wanted)

    served = Counter(rule for place in chosen for rule in left[place][0])
    there = Counter(rule for aims, _ in left for rule in aims)
    assert all(served[rule] >= min(number, there[rule]) for rule, number in wanted.items())
    assert list(chosen) == sorted(set(chosen))


@given(left=LEFT, wanted=WANTED)
def test_nothing_is_chosen_that_serves_no_wanted_rule(
    left: list[tuple[set[str], int]], wanted: dict[str, int]
) -> None:
    needed = {rule for rule, number in wanted.items() if number > 0}

    assert all(left[place][0] & needed for place in following(left, wanted))


def test_the_one_is_taken_that_serves_most_for_what_it_is_to_play() -> None:
    left = [({"A"}, 10), ({"A", "B"}, 12), ({"B"}, 10), ({"A", "B"}, 40)]

    assert following(left, {"A": 1, "B": 1}) == (1,)
    assert following(left, {"A": 2, "B": 1}) == (0, 1)
    assert following(left, {}) == ()


def test_a_workload_weighs_more_the_more_it_is_to_play() -> None:
    def weighed(*steps: Append | Ask | Compact | Probe, explicit: bool = False) -> int:
        return weight(Workload(name="w", aims=(), steps=steps, explicit=explicit))

    said = tuple(Planter(1).say() for _ in range(9))

    assert weighed() >= 1
    assert weighed(*said) < weighed(*said, Compact()) < weighed(*said, Compact(), Compact(), Probe())
    assert weighed(*said, Compact(), explicit=True) < weighed(*said, Compact())


def test_the_longest_scenario_of_a_standard_check_is_known_as_such() -> None:
    means = frozenset({one for needed in NEEDS.values() for one in needed} | {"audits", "status", "advance"})
    every = list(scenarios(effort=Effort.STANDARD, seed=0, means=means, points=("a",)))
    weights = {s.name: weight(s.workload(Plan(planter=Planter(at), taken=ASKED_FOR))) for s, at in every}

    assert max(weights, key=lambda name: weights[name]) == "many-compactions"


class _Heard(Silent):
    def __init__(self) -> None:
        self.names: list[str] = []

    def playing(self, number: int, scenario: str) -> None:
        self.names.append(scenario)


def _quick(target: str, folder: Path, *, workers: int = 1) -> tuple[Checked, list[str]]:
    heard = _Heard()
    again = partial(load, target)
    with again() as loaded:
        checked = check(
            loaded,
            checkers=CHECKERS,
            histories=folder,
            effort=Effort.QUICK,
            again=again,
            workers=workers,
            progress=heard,
        )
    return checked, heard.names


@pytest.mark.slow
@pytest.mark.parametrize("target", ["reference", f"{TOYS}:Archive", f"{TOYS}:Loses"])
def test_a_quick_check_plays_and_finds_the_same_however_many_play(target: str, tmp_path: Path) -> None:
    one, played = _quick(target, tmp_path / "one")
    two, played_by_two = _quick(target, tmp_path / "two", workers=2)

    assert sorted(played) == sorted(played_by_two)
    assert len(set(played)) == len(played)
    assert dict(one.result.rules) == dict(two.result.rules)
    assert [(f.rule, f.sentence) for f in one.result.failures] == [(f.rule, f.sentence) for f in two.result.failures]


@pytest.mark.slow
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_a_quick_check_of_the_reference_leaves_no_rule_inconclusive_that_is_not_too_long_for_it(
    seed: int, tmp_path: Path
) -> None:
    with load("reference") as loaded:
        checked = check(loaded, checkers=CHECKERS, histories=tmp_path, effort=Effort.QUICK, seed=seed)

    rules = checked.result.rules
    assert {rule for rule, told in rules.items() if told.verdict is VerdictKind.INCONCLUSIVE} == LONG
    assert {rule for rule, told in rules.items() if told.verdict is VerdictKind.FAIL} == set()


def test_what_is_asked_for_by_rule_is_played_in_full(tmp_path: Path) -> None:
    heard = _Heard()
    with load(f"{TOYS}:Archive") as loaded:
        description = loaded.describe()
        check(loaded, checkers=CHECKERS, histories=tmp_path, effort=Effort.QUICK, rules={"IDX-2"}, progress=heard)

    may = scenarios(effort=Effort.QUICK, seed=0, means=description.operations, points=description.crash_points)
    assert {s.name for s, _ in may if "IDX-2" in s.aims or not s.aims} == set(heard.names)
