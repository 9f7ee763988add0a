from collections.abc import Callable, Iterable

import pytest
from toy_compactors import Archive

from anchorhold.compactor import OPERATIONS_OF, Description, Mechanism, Settings, Unit
from anchorhold.planting import ARGUMENT, Planter
from anchorhold.run import play
from anchorhold.scenarios import ASKED_FOR, DIRECTED, Effort, Plan, Scenario, scenarios
from anchorhold.scenarios.damage import crash_at
from anchorhold.scenarios.mixtures import mixture
from anchorhold.scenarios.plan import LOOSE_A_FILL
from anchorhold.summariser import MODES
from anchorhold.workload import Append, Ask, Compact, DropFact, Evict, Fill, Reopen, Rewind, Summariser, Switch
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
    assert scenario.needs <= EVERY | {Mechanism.CONCURRENCY.value, "kill"}


AGAIN = frozenset({"ingested-again", "forgotten", "forgotten-in-a-branch"})
"""Scenarios in which a caller plays its transcript again."""
FREEING = (Rewind, Switch)
"""Steps after which an id may be another turn's."""


@pytest.mark.parametrize("scenario", ALL, ids=names)
@pytest.mark.parametrize("taken", WINDOWS, ids=["tokens", "items", "few-items", "unknown"])
def test_facts_are_said_before_they_are_dropped_and_turns_before_they_are_evicted(
    scenario: Scenario, taken: Settings
) -> None:
    turns: set[str] = set()
    seen: list[Append] = []
    facts: set[str] = set()
    free = False
    again = scenario.name in AGAIN or scenario.name.startswith(("over-", "damage-over-"))
    for step in scenario.workload(plan(taken)).steps:
        free = free or isinstance(step, FREEING)
        for append in step.turns if isinstance(step, Fill) else (step,) if isinstance(step, Append) else ():
            assert append.turn.id not in turns or free or (again and append in seen)
            seen.append(append)
            turns.add(append.turn.id)
            facts |= {fact.text for fact in append.facts}
            for fact in append.facts:
                inside = (
                    [call.arguments for call in append.turn.calls] if fact.kind == ARGUMENT else [append.turn.text]
                )
                assert any(fact.text in (words or "") for words in inside)
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

    assert [fact for fact in said if fact.subject is not None] == list(facts)
    assert len(said) == len(facts) + 2 * LOOSE_A_FILL


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


def appended(scenario: Scenario, at: Plan) -> list[Append]:
    steps = scenario.workload(at).steps
    return [
        append
        for step in steps
        for append in (step.turns if isinstance(step, Fill) else (step,) if isinstance(step, Append) else ())
    ]


QUIET = ("idle-talk", "generations")
"""What these are about is that little or nothing is said."""


@pytest.mark.parametrize("scenario", [s for s in ALL if s.name not in QUIET], ids=names)
@pytest.mark.parametrize("seed", ["0", "1", "2"])
def test_every_scenario_says_things_outside_the_forms_and_in_arguments(scenario: Scenario, seed: str) -> None:
    facts = [fact for append in appended(scenario, plan(seed=seed)) for fact in append.facts]

    assert any(fact.kind == ARGUMENT for fact in facts)
    assert any(fact.subject is None and fact.kind != ARGUMENT for fact in facts)


def test_idle_talk_says_nothing_that_could_be_lost() -> None:
    idle = next(s for s in DIRECTED if s.name == "idle-talk")

    assert not any(append.facts or append.turn.calls for append in appended(idle, plan()))


@pytest.mark.parametrize("seed", [str(n) for n in range(12)])
def test_every_near_miss_of_a_slot_and_of_a_literal_is_asked_for_whatever_the_seed(seed: str) -> None:
    scenario = next(s for s in DIRECTED if s.name == "neighbours")
    said = [fact for append in appended(scenario, plan(seed=seed)) for fact in append.facts]
    slots = {(f.subject, f.attribute) for f in said if f.subject and f.attribute}
    literals = {f.literal for f in said}
    subjects = {subject for subject, _ in slots}
    asked = [step.fact for step in scenario.workload(plan(seed=seed)).steps if isinstance(step, Ask)]
    missed = [f for f in asked if f.subject and (f.subject, f.attribute) not in slots]
    words = {f.literal for f in asked} - literals

    def misses(what: Callable[[str, str], bool], said: Iterable[str], asked: Iterable[str]) -> bool:
        return any(what(one, other) for one in said for other in asked)

    # Another attribute of a known subject; a subject's beginning; more than a subject; another case.
    assert any(f.subject in subjects for f in missed)
    others = {f.subject or "" for f in missed}
    assert misses(lambda one, other: one != other and one.startswith(other), subjects, others)
    assert misses(lambda one, other: one != other and other.startswith(one), subjects, others)
    assert misses(lambda one, other: one != other and one.casefold() == other.casefold(), subjects, others)
    # A literal with a character more, another one at the end, one less, and the other case.
    assert misses(lambda one, other: other[:-1] == one, literals, words)
    assert misses(lambda one, other: len(one) == len(other) and one[:-1] == other[:-1], literals, words)
    assert misses(lambda one, other: any(one[:n] + one[n + 1 :] == other for n in range(len(one))), literals, words)
    assert misses(lambda one, other: one.casefold() == other.casefold(), literals, words)
    # Whoever looks for words as grep does answers none of them by the words that they are near to.
    assert not any(word in f.text for word in words for f in said)


def test_more_replies_in_a_row_are_bad_than_a_compactor_has_patience_for() -> None:
    for mode in ("fail", "empty", "blank", "truncated", "refusal", "error-text", "echo", "same"):
        steps = next(s for s in DIRECTED if s.name == f"reply-{mode}").workload(plan()).steps
        begin = next(n for n, step in enumerate(steps) if isinstance(step, Summariser) and step.mode == mode)
        end = next(n for n, step in enumerate(steps) if isinstance(step, Reopen))

        assert sum(isinstance(step, Compact) for step in steps[begin:end]) > 5


def test_every_bad_reply_is_followed_by_a_good_one() -> None:
    for mode in ("fail", "empty", "blank", "truncated", "refusal", "error-text", "echo", "same"):
        steps = next(s for s in DIRECTED if s.name == f"reply-{mode}").workload(plan()).steps
        modes = [step.mode for step in steps if isinstance(step, Summariser)]

        assert modes[-2:] == [mode, "faithful"]
        assert isinstance(steps[-2], Compact)


def test_scenarios_that_a_compactor_cannot_play_are_left_out_and_each_crash_point_has_one() -> None:
    few = {s.name for s, _ in scenarios(effort=Effort.STANDARD, seed=0, means=frozenset(), points=())}
    every = {s.name for s, _ in scenarios(effort=Effort.STANDARD, seed=0, means=EVERY, points=("a", "b"))}

    assert "last-carrier" not in few
    assert {"last-carrier", "crash-a", "crash-b"} <= every


def test_more_effort_plays_more_and_another_seed_plants_other_facts() -> None:
    def seeds(effort: Effort, seed: int) -> list[str]:
        return [s for _, s in scenarios(effort=effort, seed=seed, means=EVERY, points=())]

    assert set(seeds(Effort.QUICK, 0)) < set(seeds(Effort.STANDARD, 0)) < set(seeds(Effort.THOROUGH, 0))
    assert not set(seeds(Effort.QUICK, 0)) & set(seeds(Effort.QUICK, 1))
    assert len(set(seeds(Effort.THOROUGH, 0))) == len(seeds(Effort.THOROUGH, 0))
