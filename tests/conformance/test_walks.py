"""Walks that Hypothesis draws: judged by the suite's checkers, and handed on."""

from pathlib import Path
from typing import Any

import pytest
from hypothesis.database import InMemoryExampleDatabase
from typer.testing import CliRunner

from anchorhold.checkers import CHECKERS
from anchorhold.cli import application
from anchorhold.errors import AdapterError
from anchorhold.load import load
from anchorhold.playing import UnknownScenario
from anchorhold.verdict import History, Judgement
from anchorhold.walks import Arena, Kept, walk

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

    # One that runs over Hypothesis' bounds does not count, and was played all the same.
    assert 6 <= len(found) <= 9
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


def first_failure(kind: str, *rules: str, examples: Path | None, seed: int = 0, walks: int = 12) -> int | None:
    """Which walk was the first to fail."""
    checkers = [checker for checker in CHECKERS if checker.rule in rules]
    with load(f"{TOYS}:{kind}") as loaded:
        arena = Arena(loaded, checkers, seed=seed, take=lambda _history, _said: None)
        walk(arena, walks=walks, examples=examples)
    return arena.failed_at


def late_seed(kind: str, *rules: str) -> tuple[int, int]:
    """A seed with which the first walk that fails is a later one, and which."""
    for seed in range(20):
        failed = first_failure(kind, *rules, examples=None, seed=seed)
        if failed is not None and failed > 1:
            return seed, failed
    raise AssertionError("it fails at once with every seed")


@pytest.mark.slow
def test_a_walk_that_failed_is_kept_and_is_the_first_that_the_next_check_plays(tmp_path: Path) -> None:
    seed, later = late_seed("Loses", "PTR-1")
    place = tmp_path / "examples"

    assert first_failure("Loses", "PTR-1", examples=place, seed=seed) == later
    assert any(path.is_file() for path in place.rglob("*"))
    # What it says is in the walk: another seed does not change it.
    assert first_failure("Loses", "PTR-1", examples=place, seed=seed) == 1
    assert first_failure("Loses", "PTR-1", examples=place, seed=seed + 100) == 1


@pytest.mark.slow
def test_a_kept_walk_is_for_the_compactor_and_the_rules_that_it_failed_with(tmp_path: Path) -> None:
    seed, later = late_seed("Loses", "PTR-1")
    first_failure("Loses", "PTR-1", examples=tmp_path, seed=seed)

    first_failure("Archive", "PTR-1", examples=tmp_path, seed=seed)
    first_failure("Loses", "PTR-3", examples=tmp_path, seed=seed)

    # Neither has played it and found that it holds: it is still there.
    assert first_failure("Loses", "PTR-1", examples=tmp_path, seed=seed) == 1
    assert first_failure("Loses", "PTR-1", examples=None, seed=seed) == later


def test_a_walk_that_was_not_played_any_more_is_not_forgotten() -> None:
    within = InMemoryExampleDatabase()
    with load(f"{TOYS}:Archive") as loaded:
        arena = Arena(loaded, CHECKERS[:1], seed=0, take=lambda _history, _said: None)
        kept = Kept(within, arena)
        kept.save(b"key", b"walk")
        arena.failed_at, arena.count = 1, 1000

        kept.delete(b"key", b"walk")
        assert set(kept.fetch(b"key")) == {b"walk"}
        arena.failed_at = None
        kept.delete(b"key", b"walk")
        assert set(kept.fetch(b"key")) == set()


@pytest.mark.parametrize(
    ("arguments", "place"),
    [
        ((), Path(".hypothesis/examples")),
        (("--examples", "kept"), Path("kept")),
        (("--no-examples",), None),
    ],
)
def test_where_walks_are_kept_can_be_chosen_and_turned_off(
    monkeypatch: pytest.MonkeyPatch, arguments: tuple[str, ...], place: Path | None
) -> None:
    asked: list[Path | None] = []

    def noted(*_: object, **given: Any) -> None:
        asked.append(given["examples"])
        raise UnknownScenario("none", ())

    monkeypatch.delenv("HYPOTHESIS_STORAGE_DIRECTORY", raising=False)
    monkeypatch.setattr("anchorhold.cli.checking.run_check", noted)
    given = ["check", f"{TOYS}:Archive", *arguments]
    CliRunner().invoke(application(given), given)
    assert asked == [place]
    monkeypatch.setenv("HYPOTHESIS_STORAGE_DIRECTORY", "/elsewhere")
    CliRunner().invoke(application(given), given)
    assert asked[1] == (Path("/elsewhere/examples") if not arguments else place)
