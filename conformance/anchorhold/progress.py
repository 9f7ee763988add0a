"""What is told while a check runs. The check knows nothing of terminals; whoever runs it hands in a listener."""

import time
from collections.abc import Callable
from types import TracebackType
from typing import Final, Protocol, Self

from rich.console import Console
from rich.live import Live
from rich.spinner import Spinner
from rich.text import Text

from anchorhold.errors import one_line

EVERY: Final = 30.0
"""Seconds after which a log is told once more that the check goes on."""


class Progress(Protocol):
    """Told of each step of a check."""

    def started(self, name: str, version: str, scenarios: int) -> None:
        """The compactor was reached; so many scenarios are to be played."""

    def playing(self, number: int, scenario: str) -> None:
        """The scenario with this number, from 1, is played now."""

    def failed(self, rule: str, sentence: str) -> None:
        """A rule was seen to fail for the first time."""

    def shrinking(self, rule: str, spent: int, effort: int, steps: int) -> None:
        """A failing workload is being shortened: so many runs of at most so many, so many steps left."""


class Silent:
    """Says nothing."""

    def started(self, name: str, version: str, scenarios: int) -> None:
        """Say nothing."""

    def playing(self, number: int, scenario: str) -> None:
        """Say nothing."""

    def failed(self, rule: str, sentence: str) -> None:
        """Say nothing."""

    def shrinking(self, rule: str, spent: int, effort: int, steps: int) -> None:
        """Say nothing."""


class OnTerminal:
    """One line that changes, and a line that stays for each rule that fails. A context.

    Where it is no terminal no line can change: there is one now and then, at most once in `EVERY` seconds by `clock`,
    unless it is told not to (`quiet`).
    """

    def __init__(self, console: Console, *, quiet: bool = False, clock: Callable[[], float] = time.monotonic) -> None:
        self._console = console
        self._clock = clock
        self._quiet = quiet
        self._told = clock()
        """When a line was last printed that is there to show that it goes on."""
        self._failing: dict[str, None] = {}
        self._spinner = Spinner("dots", Text("starting"))
        self._live = Live(self._spinner, console=console, transient=True, refresh_per_second=8)
        self._total = 0

    def __enter__(self) -> Self:
        """Show the line."""
        if self._console.is_terminal:
            self._live.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Take the line away."""
        self._live.stop()

    def started(self, name: str, version: str, scenarios: int) -> None:
        """Say who is checked."""
        self._total = scenarios
        self._console.print(
            Text.assemble("checking ", (one_line(name), "bold"), f" {one_line(version)}: {scenarios} scenarios")
        )

    def playing(self, number: int, scenario: str) -> None:
        """Say which scenario is played."""
        # Walks are drawn as they are played, and come on top.
        of = f" of {self._total}" if number <= self._total else ""
        failing = f"; failing so far: {', '.join(self._failing)}" if self._failing else "; no rule failed so far"
        self._say(f"{number}/{self._total} {scenario}", plainly=f"playing {number}{of}, {scenario}{failing}")

    def failed(self, rule: str, sentence: str) -> None:
        """Say at once what failed: the shortest history comes later."""
        self._failing[rule] = None
        self._console.print(Text.assemble((f"{rule} ", "bold red"), one_line(sentence)))

    def shrinking(self, rule: str, spent: int, effort: int, steps: int) -> None:
        """Say how far shortening has come."""
        text = f"{rule}: looking for the shortest history ({spent}/{effort} operations, {steps} steps left)"
        self._say(text, plainly=text)

    def _say(self, text: str, *, plainly: str) -> None:
        self._spinner.update(text=Text(text))
        now = self._clock()
        if self._quiet or self._console.is_terminal or now - self._told < EVERY:
            return
        self._told = now
        self._console.print(Text(plainly), soft_wrap=True)
