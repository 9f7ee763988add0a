import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anchorhold.compactor import Settings
from anchorhold.history import Event, EventType, Header
from anchorhold.operations import looks, operations
from anchorhold.planting import Planter
from anchorhold.selection import weight
from anchorhold.shrink import OPENING, Enough, Failing, cut, shrink
from anchorhold.verdict import Failure, History
from anchorhold.workload import AnyStep, Append, Ask, Compact, Corrupt, CrashAt, Forget, Probe, Reopen, Workload
from anchorhold_spec.vocabulary import Fact


def failing(steps: tuple[AnyStep, ...], at: int | None = None) -> Failing:
    """A history of one event a step, failing at one of them."""
    events = tuple(
        event
        for n, step in enumerate(steps)
        for event in (
            Event(index=2 * n, step=n, type=EventType.INVOKE, op=type(step).__name__.lower()),
            Event(index=2 * n + 1, step=n, type=EventType.OK, op=type(step).__name__.lower()),
        )
    )
    header = Header(
        compactor="x",
        name="x",
        version="1",
        operations=(),
        mechanisms=(),
        settings=Settings(),
        seed=0,
        workload=Workload(name="w", aims=(), steps=steps, explicit=True),
        length=len(events),
    )
    event = 2 * (len(steps) - 1 if at is None else at) + 1
    return Failing(
        history=History(header=header, events=events),
        failure=Failure(rule="ANC-1", sentence="It was lost.", fact="it", event=event),
    )


class Needs:
    """Fails as long as every wanted step is there, in whatever order."""

    def __init__(self, *wanted: AnyStep) -> None:
        self.wanted = wanted
        self.runs = 0

    def __call__(self, workload: Workload) -> Failing | None:
        self.runs += 1
        return failing(workload.steps) if all(step in workload.steps for step in self.wanted) else None


def steps(seed: int = 0, turns: int = 20) -> tuple[AnyStep, ...]:
    planter = Planter(seed)
    facts = planter.facts(6)
    talk = planter.talk(turns, *facts, tools=False)
    middle = turns // 2
    return (
        *talk[:middle],
        Compact(),
        Probe(),
        *(Ask(fact=fact) for fact in facts),
        *talk[middle:],
        Reopen(),
        Compact(),
        Probe(),
    )


@settings(deadline=None)
@given(seed=st.integers(0, 50), data=st.data())
def test_exactly_the_steps_that_are_needed_are_left(seed: int, data: st.DataObject) -> None:
    every = steps(seed)
    wanted = data.draw(st.lists(st.sampled_from(every), min_size=1, max_size=4, unique_by=id))
    shrunk = shrink(failing(every), attempt=Needs(*wanted), effort=200_000)

    assert not shrunk.exhausted
    assert set(shrunk.failing.workload.steps) == set(wanted)
    assert len(shrunk.failing.workload.steps) == len(set(wanted))


def test_what_came_after_the_failure_is_the_first_to_go() -> None:
    every = steps()
    sizes: list[int] = []

    def attempt(workload: Workload) -> Failing | None:
        sizes.append(len(workload.steps))
        return failing(workload.steps) if every[3] in workload.steps else None

    shrink(failing(every, at=3), attempt=attempt, effort=10_000)

    assert sizes[0] == 4


def test_what_is_played_is_bounded_and_the_best_so_far_is_kept() -> None:
    every = steps()
    played: list[int] = []

    def attempt(workload: Workload) -> Failing | None:
        played.append(OPENING + weight(workload))
        return Needs(every[2], every[-1])(workload)

    shrunk = shrink(failing(every), attempt=attempt, effort=300)

    assert shrunk.exhausted
    assert 0 < sum(played) == shrunk.spent <= 300
    assert {every[2], every[-1]} <= set(shrunk.failing.workload.steps) < set(every)


def test_the_same_failure_is_always_shortened_to_the_same_history() -> None:
    every = steps()

    def once() -> Failing:
        return shrink(failing(every), attempt=Needs(every[4], every[-2]), effort=50_000).failing

    assert once() == once()


def test_an_attempt_that_has_enough_ends_it_with_the_best_so_far() -> None:
    every = steps()
    needs = Needs(every[-1])

    def attempt(workload: Workload) -> Failing | None:
        if needs.runs == 3:
            raise Enough
        return needs(workload)

    shrunk = shrink(failing(every), attempt=attempt, effort=50_000)

    assert shrunk.exhausted
    assert len(shrunk.failing.workload.steps) < len(every)


def test_other_errors_of_an_attempt_are_passed_on() -> None:
    def attempt(workload: Workload) -> Failing | None:
        raise LookupError("not reachable")

    with pytest.raises(LookupError, match="not reachable"):
        shrink(failing(steps()), attempt=attempt, effort=1000)


def test_turns_lose_facts_and_words_that_are_not_needed() -> None:
    planter = Planter(1)
    kept, other = planter.fact(), planter.fact()
    every: tuple[AnyStep, ...] = (planter.say(other, kept), planter.say(), Compact())

    def says(workload: Workload, fact: Fact) -> bool:
        return any(isinstance(s, Append) and fact.text in (s.turn.text or "") for s in workload.steps)

    def attempt(workload: Workload) -> Failing | None:
        return failing(workload.steps) if says(workload, kept) and len(workload.steps) == 3 else None

    first, second, _ = shrink(failing(every), attempt=attempt, effort=40_000).failing.workload.steps

    assert isinstance(first, Append)
    assert isinstance(second, Append)
    assert (first.turn.text, first.facts) == (kept.text, (kept,))
    assert second.turn.text == "Go on (t2)."


def test_what_a_calls_arguments_hold_is_not_said_beside_it_when_words_are_left_out() -> None:
    planter = Planter(1)
    kept = planter.argument()
    silent, mixed = planter.call(planter.argument())[0], planter.call(kept)[0]
    silent, mixed = (silent, mixed) if silent.turn.text is None else (mixed, silent)

    def attempt(workload: Workload) -> Failing | None:
        return failing(workload.steps) if len(workload.steps) == 2 else None

    one, two = shrink(failing((silent, mixed)), attempt=attempt, effort=40_000).failing.workload.steps

    assert isinstance(one, Append)
    assert isinstance(two, Append)
    assert (one.turn, one.facts) == (silent.turn, ())
    assert two.turn.calls == mixed.turn.calls
    assert two.turn.text == f"Go on ({mixed.turn.id})."


def test_observations_become_as_narrow_as_possible() -> None:
    def attempt(workload: Workload) -> Failing | None:
        looks = [s for s in workload.steps if isinstance(s, Probe)]
        return failing(workload.steps) if any(not s.only or "status" in s.only for s in looks) else None

    shrunk = shrink(failing(steps()), attempt=attempt, effort=40_000)

    assert shrunk.failing.workload.steps == (Probe(only=("status",)),)


def test_a_call_is_never_left_without_its_result_nor_a_result_without_its_call() -> None:
    planter = Planter(2)
    call, result = planter.call(planter.fact())
    every: tuple[AnyStep, ...] = (planter.say(), call, result, planter.say(), Compact())
    seen: list[tuple[bool, bool]] = []

    def attempt(workload: Workload) -> Failing | None:
        turns = [s.turn for s in workload.steps if isinstance(s, Append)]
        seen.append((any(t.calls for t in turns), any(t.result_of for t in turns)))
        return failing(workload.steps) if any(t.result_of for t in turns) else None

    shrunk = shrink(failing(every), attempt=attempt, effort=40_000)

    assert set(seen) == {(True, True), (False, False)}
    assert len(shrunk.failing.workload.steps) == 2


def test_cutting_leaves_the_failing_event_the_last_step() -> None:
    every = steps()
    short = cut(failing(every, at=5))

    assert short.header.workload.steps == every[:6]
    assert short.header.length == len(short.events) == 12
    assert short.events[-1].step == 5


def test_two_steps_that_are_there_for_each_other_go_together() -> None:
    planter = Planter(3)
    one, between, other = (planter.say(planter.fact()) for _ in range(3))

    def attempt(workload: Workload) -> Failing | None:
        there = [step in workload.steps for step in (one, other)]
        return failing(workload.steps) if between in workload.steps and len(set(there)) == 1 else None

    start = (one, between, other)
    left = shrink(failing(start), attempt=attempt, effort=10_000).failing.workload.steps

    assert [step.turn.id for step in left if isinstance(step, Append)] == [between.turn.id]


def test_one_turn_says_what_two_said_where_that_is_enough() -> None:
    planter = Planter(4)
    one, other = planter.fact(), planter.fact()

    def attempt(workload: Workload) -> Failing | None:
        said = " ".join(s.turn.text or "" for s in workload.steps if isinstance(s, Append))
        return failing(workload.steps) if one.text in said and other.text in said else None

    (left,) = shrink(
        failing((planter.say(one), Compact(), planter.say(other))), attempt=attempt, effort=10_000
    ).failing.workload.steps

    assert isinstance(left, Append)
    assert set(left.facts) == {one, other}


def test_question_is_asked_in_one_way_where_one_is_enough() -> None:
    fact = Planter(5).fact()

    def attempt(workload: Workload) -> Failing | None:
        asked = any(isinstance(s, Ask) and "search" in (s.only or ("search",)) for s in workload.steps)
        return failing(workload.steps) if asked else None

    start = (Compact(), Ask(fact=fact, evidence=True))
    left = shrink(failing(start), attempt=attempt, effort=10_000).failing.workload.steps

    assert left == (Ask(fact=fact, only=("search",)),)


def test_operations_are_what_the_caller_does_and_not_what_the_suite_looks_at() -> None:
    def history(*said: tuple[AnyStep, tuple[str, ...]]) -> History:
        events = [
            Event(index=0, step=at, type=EventType.INVOKE, op=op) for at, (_, ops) in enumerate(said) for op in ops
        ]
        plain = failing(tuple(step for step, _ in said)).history
        return History(header=plain.header, events=tuple(events))

    planter = Planter(6)
    turn, fact = planter.say(), planter.fact()
    played = history(
        (turn, ("open", "append")),
        (Compact(), ("live", "compact", "summarise", "live")),
        (Probe(), ("live", "pointers", "get", "status")),
        (Corrupt(turn=turn.turn.id), ("note", "corrupt", "get")),
        (Ask(fact=fact), ("search", "get", "reconstitute")),
        (CrashAt(point=0), ("live", "crash", "compact", "reopen", "live")),
        (Forget(turn=turn.turn.id), ("forget", "files", "scan")),
    )

    assert operations(played) == 1 + 1 + 0 + 1 + 3 + 3 + 1
    assert looks(played) == 0 + 2 + 4 + 1 + 0 + 2 + 2
