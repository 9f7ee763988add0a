"""Walks that Hypothesis draws: judged by the suite's checkers, and handed on."""

from pathlib import Path

import pytest

from anchorhold.checkers import CHECKERS
from anchorhold.errors import AdapterError
from anchorhold.load import load
from anchorhold.verdict import History, Judgement
from anchorhold.walks import Arena, walk

TOYS = Path(__file__).with_name("toy_compactors.py")


def walked(kind: str, *rules: str, walks: int = 6, seed: int = 0) -> list[tuple[History, tuple[Judgement, ...]]]:
    found: list[tuple[History, tuple[Judgement, ...]]] = []
    checkers = [checker for checker in CHECKERS if checker.rule in rules]
    with load(f"{TOYS}:{kind}") as loaded:
        arena = Arena(loaded, checkers, seed=seed, take=lambda history, said: found.append((history, said)))
        walk(arena, walks=walks)
    return found


def test_a_right_compactor_is_walked_through_as_often_as_asked() -> None:
    found = walked("Archive", "PTR-1", "PTR-3")

    assert len(found) == 6
    assert not any(judgement.failures for _, said in found for judgement in said)
    assert sum(judgement.triggered for _, said in found for judgement in said) > 0


@pytest.mark.slow
def test_a_failure_is_found_and_shortened() -> None:
    found = walked("Loses", "PTR-1", walks=10)
    failing = [history for history, (judgement,) in found if judgement.failures]

    assert failing
    assert min(len(history.events) for history in failing) <= len(failing[0].events)


@pytest.mark.slow
def test_the_same_seed_draws_the_same_walks() -> None:
    first, second = (walked("Archive", "PTR-1", walks=3, seed=7) for _ in range(2))

    assert [history.events for history, _ in first] == [history.events for history, _ in second]


def test_an_adapter_error_ends_the_walking() -> None:
    with pytest.raises(AdapterError, match="could not be opened"):
        walked("CannotOpen", "PTR-1")
