"""What comes in between, and journeys: that they reach what they are there for."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anchorhold.planting import Planter
from anchorhold.scenarios import ASKED_FOR, Plan, Scenario
from anchorhold.scenarios.crossings import BETWEEN, CROSSINGS
from anchorhold.scenarios.journeys import DAMAGED, journey
from anchorhold.workload import (
    AnyStep,
    Append,
    Ask,
    Corrupt,
    Fill,
    Forget,
    Fork,
    Meanwhile,
    Rewind,
    Summariser,
    Switch,
)


def written(scenario: Scenario, seed: str = "0") -> tuple[AnyStep, ...]:
    return scenario.workload(Plan(planter=Planter(seed), taken=ASKED_FOR)).steps


OVER = [scenario for scenario in CROSSINGS if scenario.name.startswith("over-")]
DAMAGE = [scenario for scenario in CROSSINGS if scenario.name.startswith("damage-over-")]


def test_whatever_comes_in_between_does_so_with_damage_and_without() -> None:
    names = [name for name, _, _, _ in BETWEEN]
    assert [scenario.name for scenario in OVER] == [f"over-{name}" for name in names]
    assert [scenario.name for scenario in DAMAGE] == [f"damage-over-{name}" for name in names]


@pytest.mark.parametrize("scenario", OVER, ids=lambda scenario: scenario.name)
def test_all_is_established_before_and_asked_for_after(scenario: Scenario) -> None:
    steps = written(scenario)
    said = [step for step in steps if isinstance(step, Append)]
    first = next(at for at, step in enumerate(steps) if isinstance(step, Forget))
    early = {fact.text for step in steps[:first] if isinstance(step, Append) for fact in step.facts}
    last = max(at for at, step in enumerate(steps) if isinstance(step, Summariser) and step.mode == "same")
    asked = {step.fact.text for step in steps[last:] if isinstance(step, Ask)}
    # The standing rule is in the window, and is not asked for.
    assert len(early - asked) == 1
    assert {turn.turn.status for turn in said} >= {"consumed", "killed", "unfinished"}
    assert sum(turn.turn.protected for turn in said) == 2
    # What was erased is handed in again.
    erased = next(step.turn for step in steps if isinstance(step, Forget))
    assert sum(turn.turn.id == erased for turn in said) >= 2


@pytest.mark.parametrize("scenario", DAMAGE, ids=lambda scenario: scenario.name)
def test_what_is_damaged_is_asked_for_after_something_came_in_between(scenario: Scenario) -> None:
    steps = written(scenario)
    at = next(at for at, step in enumerate(steps) if isinstance(step, Corrupt))
    damaged = next(step for step in steps if isinstance(step, Append) and step.turn.id == steps[at].turn)  # type: ignore[union-attr]
    assert {fact.text for fact in damaged.facts} <= {step.fact.text for step in steps[at:] if isinstance(step, Ask)}


def flat(steps: tuple[AnyStep, ...]) -> list[AnyStep]:
    """Steps that are taken beside among the others."""
    return [one for step in steps for one in (step, *(flat(step.steps) if isinstance(step, Meanwhile) else ()))]


@settings(max_examples=30, deadline=None)
@given(number=st.integers(0, 200), seed=st.integers(0, 10_000))
def test_a_journey_goes_only_where_it_can_and_names_only_what_was_said(number: int, seed: int) -> None:
    steps = flat(written(journey(number, seed), f"{seed}:{number}"))
    places: dict[tuple[str, str], list[str]] = {("s", "main"): []}
    here = ("s", "main")
    for step in steps:
        said = places[here]
        match step:
            case Append():
                said.append(step.turn.id)
            case Fill():
                said.extend(append.turn.id for append in step.turns)
            case Fork():
                here = (here[0], step.branch)
                assert here not in places
                places[here] = list(said)
            case Switch():
                here = (step.session, step.branch)
                assert step.branch == "main" or here in places
                places.setdefault(here, [])
            case Rewind():
                assert step.turn in said
                del said[said.index(step.turn) + 1 :]
            case Forget():
                assert step.turn in said
            case _:
                pass
    assert any(isinstance(step, Corrupt) for step in steps) <= (number % DAMAGED == DAMAGED - 1)


def test_the_same_seed_is_the_same_journey_and_another_number_another_one() -> None:
    assert written(journey(1, 0)) == written(journey(1, 0))
    assert written(journey(1, 0)) != written(journey(2, 0))
