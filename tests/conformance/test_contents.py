"""What is sent: content of every kind, whatever the seed."""

import json
import random

import pytest

from anchorhold.planting import ARGUMENT, Planter
from anchorhold.scenarios import ASKED_FOR, DIRECTED, Plan, Scenario
from anchorhold.scenarios.contents import A_COLUMN, A_MEGABYTE, ALWAYS
from anchorhold.scenarios.identities import ALIKE
from anchorhold.workload import Append, Ask
from anchorhold.written import FORMS, LAID_OUT, SCALARS, filled, lines
from anchorhold_spec.vocabulary import Turn

SEEDS = ("0", "1", "2")
ANYTHING = random.Random(0)


def scenario(name: str) -> Scenario:
    return next(each for each in DIRECTED if each.name == name)


def turns(name: str, seed: str) -> list[Turn]:
    plan = Plan(planter=Planter(seed), taken=ASKED_FOR)
    return [step.turn for step in scenario(name).workload(plan).steps if isinstance(step, Append)]


@pytest.mark.parametrize(
    "form", [*(form for kinds in (FORMS, LAID_OUT) for kind in kinds.values() for form in kind), *SCALARS]
)
def test_every_form_can_be_filled_in_many_ways(form: str) -> None:
    made = {filled(form, ANYTHING) for _ in range(40)}

    assert len(made) > 8 or form in SCALARS
    assert all(text.strip() for text in made)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize(
    ("name", "kinds"),
    [
        ("markup", ("entities", "tags", "variables", "urls", "markdown")),
        ("tokens", ("personal", "secrets", "numbers", "escapes")),
    ],
)
def test_every_form_of_a_kind_is_sent_in_turns_and_in_arguments(name: str, kinds: tuple[str, ...], seed: str) -> None:
    said = turns(name, seed)
    pages = [turn.text or "" for turn in said if (turn.text or "").startswith("What the page said")]
    given = [call.arguments for turn in said for call in turn.calls if '"lines":' in call.arguments]

    assert [page.count("\nRow ") for page in pages] == [len(FORMS[kind]) for kind in kinds]
    assert [len(json.loads(arguments)["lines"]) for arguments in given] == [len(FORMS[kind]) for kind in kinds]


@pytest.mark.parametrize("seed", SEEDS)
def test_scalars_and_what_is_told_by_its_lines_are_all_of_a_turn(seed: str) -> None:
    texts = [turn.text for turn in turns("whole-turns", seed)]

    assert {"no", "null", "true"} <= set(texts)
    assert len(texts) >= len(ALWAYS) + sum(map(len, LAID_OUT.values()))
    assert sum("\n---\n" in (text or "") for text in texts) == 2
    assert any((text or "").startswith("\ufeff") for text in texts)


@pytest.mark.parametrize("seed", SEEDS)
def test_large_turns_are_just_over_the_limits_and_are_asked_for_by_their_end(seed: str) -> None:
    plan = Plan(planter=Planter(seed), taken=ASKED_FOR)
    steps = scenario("large-turns").workload(plan).steps
    said = [step for step in steps if isinstance(step, Append)]
    sizes = [
        max(
            len(append.turn.text or ""),
            len(append.turn.data or b""),
            *(len(json.loads(call.arguments).get("content", "")) for call in append.turn.calls),
            0,
        )
        for append in said
    ]
    ends = [a for a, size in zip(said, sizes, strict=True) if size > A_COLUMN and a.facts]

    assert sum(A_COLUMN < size < A_COLUMN + 5000 for size in sizes) == 3
    assert sum(A_MEGABYTE < size < A_MEGABYTE + 5000 for size in sizes) == 2
    asked = [step.fact for step in steps if isinstance(step, Ask)]
    assert asked == [fact for a in ends for fact in a.facts if fact.kind != ARGUMENT]
    for append in ends:
        (fact,) = append.facts
        where = append.turn.calls[0].arguments if fact.kind == ARGUMENT else append.turn.text or ""
        assert where.rstrip("}").endswith(fact.text)


@pytest.mark.parametrize("size", [1, 70, 65_536])
def test_a_log_is_as_long_as_it_is_to_be(size: int) -> None:
    log = lines(size, ANYTHING)

    assert len(log) == size
    assert len(set(log.splitlines())) == len(log.splitlines())


@pytest.mark.parametrize("seed", SEEDS)
def test_ids_come_in_pairs_that_differ(seed: str) -> None:
    names = [turn.id for turn in turns("ids-normalised", seed)]
    sides = {form.format(n="") for pair in ALIKE for form in pair}

    assert len(names) == len(set(names)) == 2 * len(ALIKE)
    assert len(sides) > len(ALIKE)


@pytest.mark.parametrize("seed", SEEDS)
def test_turns_come_with_times_that_go_back_and_without_any(seed: str) -> None:
    times = [turn.time for turn in turns("clocks-of-turns", seed)]
    known = [time for time in times if time is not None]

    assert len(times) - len(known) == 1
    assert known != sorted(known)


@pytest.mark.parametrize("seed", SEEDS)
def test_a_call_is_answered_twice_and_an_id_comes_again(seed: str) -> None:
    said = turns("calls-again", seed)
    asked = [call.id for turn in said for call in turn.calls]
    answered = [turn.result_of for turn in said if turn.result_of]

    assert len(answered) == len(asked) + 1
    assert asked.count("call_0") == 3
