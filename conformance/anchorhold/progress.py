"""What is told while a check runs. The check knows nothing of terminals; whoever runs it hands in a listener."""

from types import TracebackType
from typing import Protocol, Self

from rich.console import Console
from rich.live import Live
from rich.spinner import Spinner
from rich.text import Text

from anchorhold.errors import one_line


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
    """One line that changes, and a line that stays for each rule that fails. A context."""

    def __init__(self, console: Console) -> None:
        self._console = console
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
        self._say(f"{number}/{self._total} {scenario}")

    def failed(self, rule: str, sentence: str) -> None:
        """Say at once what failed: the shortest history comes later."""
        self._console.print(Text.assemble((f"{rule} ", "bold red"), one_line(sentence)))

    def shrinking(self, rule: str, spent: int, effort: int, steps: int) -> None:
        """Say how far shortening has come."""
        self._say(f"{rule}: looking for the shortest history ({spent}/{effort} operations, {steps} steps left)")

    def _say(self, text: str) -> None:
        self._spinner.update(text=Text(text))
