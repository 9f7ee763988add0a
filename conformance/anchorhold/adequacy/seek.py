"""Plays a check against a compactor until the rules that it breaks have failed, or to its end."""

from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from typing import Any

from anchorhold.adequacy.crashed import CrashedError, crashed
from anchorhold.check import survey
from anchorhold.checkers import CHECKERS
from anchorhold.errors import AdapterError
from anchorhold.judging import judge
from anchorhold.load import load_class
from anchorhold.operations import operations
from anchorhold.planting import Planter
from anchorhold.run import means_of, play
from anchorhold.scenarios import ASKED_FOR, Effort, Plan, Scenario
from anchorhold.scenarios import scenarios as every_scenario
from anchorhold.verdict import History


@dataclass(frozen=True, slots=True, kw_only=True)
class Sought:
    """What came of looking for the rules that one compactor breaks."""

    caught_by: frozenset[str]
    """Every rule that failed in what was played."""
    sentences: tuple[tuple[str, str], ...]
    """What was said of each, the first time."""
    operations: int | None
    """Operations (`anchorhold.operations`) played until the first rule failed that it is known to break; None where
    none did."""


def histories(
    kind: type[Any],
    *,
    seed: int = 0,
    first: Callable[[Scenario], bool] = lambda _scenario: True,
    only: Callable[[Scenario], bool] = lambda _scenario: True,
    effort: Effort = Effort.STANDARD,
) -> Iterator[History]:
    """The histories of a check, those of scenarios for which `first` says so before the others.

    Raises CrashedError.
    """
    with load_class(kind, name=kind.__qualname__) as loaded:
        description = loaded.describe()
        points = description.crash_points
        every = list(every_scenario(effort=effort, seed=seed, means=means_of(description), points=points))
        tokens: dict[str, None] = {}
        for scenario, at in sorted(every, key=lambda pair: not first(pair[0])):
            if not only(scenario):
                continue
            plan = Plan(planter=Planter(at), taken=ASKED_FOR, points=points, tokens=tuple(tokens))
            try:
                history = play(
                    loaded.make(), scenario.workload(plan), description=description, location=loaded.target, seed=seed
                )
            except AdapterError as error:
                # It speaks in no form that the suite takes: with `check` that ends in no verdict, and is no catch.
                raise CrashedError(f"{kind.__name__}: {scenario.name}: {error}") from None
            broken = crashed(history.events)
            if broken is not None:
                raise CrashedError(f"{kind.__name__}: `{broken.op}` in {scenario.name}: {broken.error}")
            for event in history.events:
                if event.op == "pointers" and event.value:
                    tokens.update((pointer["token"], None) for pointer in event.value if "token" in pointer)
            yield history


def seek(
    kind: type[Any],
    breaks: frozenset[str],
    *,
    seed: int = 0,
    effort: Effort = Effort.STANDARD,
    directed: bool = True,
    fixed: bool | None = None,
    scenarios: Collection[str] = (),
) -> Sought:
    """Look for the rules that a compactor breaks; where it breaks none, play everything.

    Scenarios that aim at those rules come first. Without `directed` only mixtures are played. `fixed`: only the
    scenarios that are the same whatever the seed, or none of them. `scenarios`: only those of these names, where any
    are given. Raises CrashedError.
    """
    said: dict[str, str] = {}
    played = 0
    found: int | None = None
    for history in histories(
        kind,
        seed=seed,
        first=lambda scenario: bool(breaks.intersection(scenario.aims)),
        only=lambda scenario: (
            (directed or not scenario.aims)
            and fixed in (None, scenario.fixed)
            and (not scenarios or scenario.name in scenarios)
        ),
        effort=effort,
    ):
        played += operations(history)
        for failure in (failure for judgement in judge(CHECKERS, history) for failure in judgement.failures):
            said.setdefault(failure.rule, failure.sentence)
        if found is None and said.keys() & breaks:
            found = played
        if breaks and said.keys() >= breaks:
            break
    return Sought(caught_by=frozenset(said), sentences=tuple(said.items()), operations=found)


def seek_as_checked(kind: type[Any], breaks: frozenset[str], *, seed: int, effort: Effort) -> Sought:
    """Look for the rules that a compactor breaks in what a check of this effort plays, and in nothing else.

    A quick check plays what it takes to say something of each rule, whoever is checked. Raises CrashedError.
    """
    with load_class(kind, name=kind.__qualname__) as loaded:
        try:
            found = survey(loaded, checkers=CHECKERS, seed=seed, effort=effort, until=breaks)
        except AdapterError as error:
            raise CrashedError(f"{kind.__name__}: {error}") from None
    for failing in found.failures.values():
        broken = crashed(failing.history.events)
        if broken is not None:
            raise CrashedError(f"{kind.__name__}: `{broken.op}` in {failing.workload.name}: {broken.error}")
    after = [found.after[rule] for rule in breaks if rule in found.after]
    return Sought(
        caught_by=frozenset(found.failures),
        sentences=tuple((rule, failing.failure.sentence) for rule, failing in found.failures.items()),
        operations=min(after) if after else None,
    )
