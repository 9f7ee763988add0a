import pytest
from toy_compactors import Archive

from anchorhold.compactor import OPERATIONS_OF, Description, Settings, Unit
from anchorhold.planting import Planter
from anchorhold.run import play
from anchorhold.scenarios import ASKED_FOR, DIRECTED, Effort, Plan, Scenario, scenarios
from anchorhold.scenarios.damage import crash_at
from anchorhold.scenarios.mixtures import mixture
from anchorhold.summariser import MODES
from anchorhold.workload import Append, Ask, Compact, DropFact, Evict, Fill, Summariser
from anchorhold_spec.catalogue import RULES

EVERY = frozenset(op for operations in OPERATIONS_OF.values() for op in operations)
WINDOWS = (
    ASKED_FOR,
    Settings(budget=20, watermark=None, unit=Unit.ITEMS),
    Settings(budget=8, watermark=0.5, unit=Unit.ITEMS),
    Settings(),
)
ALL = (*DIRECTED, crash_at(0, "first"), mixture(0, 0), mixture(1, 0))


def plan(taken: Settings = ASKED_FOR, seed: str = "s") -> Plan:
    return Plan(planter=Planter(seed), taken=taken, points=("first",), tokens=("elsewhere",))


def names(scenario: Scenario) -> str:
    return scenario.name


@pytest.mark.parametrize("scenario", ALL, ids=names)
def test_aims_are_rules_and_needs_are_operations(scenario: Scenario) -> None:
    assert set(scenario.aims) <= set(RULES)
    assert scenario.needs <= EVERY


@pytest.mark.parametrize("scenario", ALL, ids=names)
@pytest.mark.parametrize("taken", WINDOWS, ids=["tokens", "items", "few-items", "unknown"])
def test_facts_are_said_before_they_are_dropped_and_turns_before_they_are_evicted(
    scenario: Scenario, taken: Settings
) -> None:
    turns: set[str] = set()
    facts: set[str] = set()
    for step in scenario.workload(plan(taken)).steps:
        for append in step.turns if isinstance(step, Fill) else (step,) if isinstance(step, Append) else ():
            assert append.turn.id not in turns
            turns.add(append.turn.id)
            facts |= {fact.text for fact in append.facts}
            assert all(fact.text in (append.turn.text or "") for fact in append.facts)
        if isinstance(step, DropFact):
            assert step.turn in turns
            assert step.fact.text in facts
        if isinstance(step, Evict):
            assert step.turn in turns
        if isinstance(step, Summariser):
            assert step.mode in MODES


@pytest.mark.parametrize("scenario", ALL, ids=names)
def test_the_same_seed_writes_the_same_workload(scenario: Scenario) -> None:
    assert scenario.workload(plan()) == scenario.workload(plan())


@pytest.mark.parametrize("taken", WINDOWS, ids=["tokens", "items", "few-items", "unknown"])
def test_every_fact_that_a_filling_carries_is_said_even_where_the_window_is_full_before(taken: Settings) -> None:
    class Window(Archive):
        least = 10_000

        def open(self, settings: Settings, summarise: object) -> Settings:
            super().open(settings, summarise)  # type: ignore[arg-type]
            return taken

    at = plan(taken)
    facts = at.facts(4)
    history = play(
        Window(),
        Scenario(name="x", aims=(), build=lambda p: (at.fill(), at.fill(*facts))).workload(at),
        description=Description(name="toy", version="1", operations=frozenset({"append", "compact", "live"})),
        location="toy",
    )
    said = [fact for step in history.header.workload.steps if isinstance(step, Append) for fact in step.facts]

    assert said == list(facts)


def test_what_was_never_said_is_asked_for_too() -> None:
    steps = next(s for s in DIRECTED if s.name == "neighbours").workload(plan()).steps
    said = {
        fact.text
        for step in steps
        for append in (step.turns if isinstance(step, Fill) else (step,) if isinstance(step, Append) else ())
        for fact in append.facts
    }
    asked = {step.fact.text for step in steps if isinstance(step, Ask)}

    assert asked - said
    assert asked & said


def test_every_bad_reply_is_followed_by_a_good_one() -> None:
    for mode in ("fail", "empty", "blank", "truncated", "refusal", "error-text", "echo", "same"):
        steps = next(s for s in DIRECTED if s.name == f"reply-{mode}").workload(plan()).steps
        modes = [step.mode for step in steps if isinstance(step, Summariser)]

        assert modes[-2:] == [mode, "faithful"]
        assert isinstance(steps[-2], Compact)


def test_scenarios_that_a_compactor_cannot_play_are_left_out_and_each_crash_point_has_one() -> None:
    few = {s.name for s, _ in scenarios(effort=Effort.STANDARD, seed=0, operations=frozenset(), points=())}
    every = {s.name for s, _ in scenarios(effort=Effort.STANDARD, seed=0, operations=EVERY, points=("a", "b"))}

    assert "last-carrier" not in few
    assert {"last-carrier", "crash-a", "crash-b"} <= every


def test_more_effort_plays_more_and_another_seed_plants_other_facts() -> None:
    def seeds(effort: Effort, seed: int) -> list[str]:
        return [s for _, s in scenarios(effort=effort, seed=seed, operations=EVERY, points=())]

    assert set(seeds(Effort.QUICK, 0)) < set(seeds(Effort.STANDARD, 0)) < set(seeds(Effort.THOROUGH, 0))
    assert not set(seeds(Effort.QUICK, 0)) & set(seeds(Effort.QUICK, 1))
    assert len(set(seeds(Effort.THOROUGH, 0))) == len(seeds(Effort.THOROUGH, 0))
