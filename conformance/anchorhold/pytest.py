"""One pytest test a rule.

    from anchorhold.pytest import rules

    @rules("my_package:MyCompactor", expect="expectations.toml")
    def test_rule(verdict):
        \"\"\"Held, known to fail, or failed with the shortest history.\"\"\"

The compactor is checked once a session, whatever the number of rules and of xdist's workers. A rule that fails fails
its test; what could not be decided is skipped with its reason, and so is what is vacuous; with `level=N` the rules
of that level have to be held. Needs the extra `anchorhold[pytest]`, which also brings the plugin with the fixture.
"""

import functools
import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import pytest

from anchorhold.expectations import NOTHING, ExpectationError, Expected, Met, meet, read_expectations
from anchorhold.level import HELD
from anchorhold.result import FailureResult, RuleResult
from anchorhold.scenarios import Effort
from anchorhold.verdict import VerdictKind
from anchorhold_spec.catalogue import LEVELS, RULES, near

ARGUMENT: Final = "verdict"
"""Name of the argument, and of the fixture, through which a test gets its verdict."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Checking:
    """A check that tests ask for. Two that are equal are run once."""

    target: str
    """As `anchorhold check` takes it."""
    effort: Effort
    seed: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What one test asks for."""

    checking: Checking
    rule: str
    expected: str | None
    """Why the rule is expected to fail, where it is."""
    demanded: int | None
    """The level that was asked for, where it demands this rule."""
    kind: type[Any] | None = None
    """The class to check, where it was given and not named."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RuleVerdict:
    """What the check says of one rule."""

    asked: Asked
    found: RuleResult
    failures: Sequence[FailureResult]

    @property
    def rule(self) -> str:
        """Id of the rule."""
        return self.asked.rule

    @property
    def kind(self) -> VerdictKind:
        """The verdict."""
        return self.found.verdict

    def must_hold(self) -> None:
        """End the test as the verdict says. `rules` has every test begin with this."""
        met = meet(self.kind, expected=self.asked.expected is not None)
        if met is Met.KNOWN:
            pytest.xfail(f"{self.asked.expected}: {self.found.reason}")
        if met is Met.HELD:
            pytest.fail(
                f"{self.rule} is expected to fail ({self.asked.expected}), and is held ({self.kind}): take it out of "
                "the expectations",
                pytrace=False,
            )
        if self.kind is VerdictKind.FAIL:
            pytest.fail(self._told(), pytrace=False)
        if self.kind is VerdictKind.PASS:
            return
        why = f"{self.kind}: {self.found.reason}"
        if self.kind in HELD:
            pytest.skip(f"{why} (counts as held)")
        if self.asked.demanded is not None:
            pytest.fail(f"level {self.asked.demanded} demands {self.rule}, which is {why}", pytrace=False)
        pytest.skip(why)

    def _told(self) -> str:
        # What happened comes first: pytest's summary shows the beginning of it alone.
        lines = [f"{self.rule}: {self.found.reason}", "", f"rule:   {RULES[self.rule].statement}"]
        lines += [f"replay: {each.replay}" for each in self.failures]
        return "\n".join(lines)


def rules(
    compactor: str | type[Any],
    *,
    expect: str | Path | None = None,
    only: Sequence[str] | None = None,
    level: int | None = None,
    effort: str = Effort.QUICK.value,
    seed: int = 0,
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Turn a function with an argument `verdict` into one test a rule of the catalogue.

    `compactor`: a class, or what `anchorhold check` takes. `expect`: an expectations file; a relative path is looked
    for beside the test file. `only`: ids of the rules to test, in place of all. `level`, 1 to 5: its rules have to be
    held, and not merely not to fail. `effort`: `quick`, `standard` or `thorough`. The function's body runs after the
    verdict was found to be held. In a test class `rules` stands over a method. Raises ValueError for a rule, level or
    effort that does not exist, and `ExpectationError`, a ValueError too, where the file is none; TypeError for what
    is neither a class nor a text, and over what is no function with an argument `verdict`.
    """
    if not isinstance(compactor, str | type):
        raise TypeError(f"{compactor!r} is neither a class nor what `anchorhold check` takes: give the class itself")
    chosen = tuple(RULES) if only is None else tuple(_rule(each) for each in only)
    if level is not None and level not in LEVELS:
        raise ValueError(f"level {level} does not exist; there are {', '.join(map(str, LEVELS))}")
    demanded = frozenset(
        rule
        for number, each in LEVELS.items()
        if level is not None and number <= level
        for rule in each.first_demanded
    )
    target = compactor if isinstance(compactor, str) else _named(compactor)
    if effort not in tuple(Effort):
        raise ValueError(f"effort {effort!r} does not exist; there are {', '.join(Effort)}")
    checking = Checking(target=target, effort=Effort(effort), seed=seed)

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        if isinstance(function, type):
            raise TypeError(f"{function.__name__} is a class: put `rules` over a method of it, or over a function")
        if ARGUMENT not in inspect.signature(function).parameters:
            raise TypeError(
                f"{function.__name__} needs an argument {ARGUMENT!r}: each rule's verdict is handed to it"
            )
        expected: Expected = NOTHING
        if expect is not None:
            expected = read_expectations(Path(inspect.getfile(function)).parent / expect)
            if strangers := sorted(expected.keys() - set(chosen)):
                raise ExpectationError(f"{expect}: {', '.join(strangers)} is not among the rules that are tested")

        @functools.wraps(function)
        def test(*args: Any, **given: Any) -> Any:
            __tracebackhide__ = True
            given[ARGUMENT].must_hold()
            return function(*args, **given)

        asked = [
            Asked(
                checking=checking,
                rule=rule,
                expected=expected.get(rule),
                demanded=level if rule in demanded else None,
                kind=None if isinstance(compactor, str) else compactor,
            )
            for rule in chosen
        ]
        tests: Callable[..., Any] = pytest.mark.parametrize(ARGUMENT, asked, ids=chosen, indirect=True)(test)
        return tests

    return decorate


def _named(kind: type[Any]) -> str:
    """Where a class can be found again, by its file: a test module need not be importable by its name."""
    return f"{Path(inspect.getfile(kind)).resolve()}:{kind.__qualname__}"


def _rule(given: str) -> str:
    if given in RULES:
        return given
    meant = near(given)
    raise ValueError(f"no rule is called {given!r}" + (f": did you mean {' or '.join(meant)}?" if meant else ""))
