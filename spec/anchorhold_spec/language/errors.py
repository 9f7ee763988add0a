"""What is raised when a machine, or a finite instance of one, is not well formed."""

from __future__ import annotations


class MalformedMachine(Exception):  # noqa: N818 - says what is the matter, as the reader meets it
    """A machine was refused when it was defined.

    `where` names the place from the outside in (machine, action, conjunct); `what` says what is wrong with it
    and what to do. Nothing of a refused machine can be used.
    """

    def __init__(self, where: tuple[str, ...], what: str) -> None:
        super().__init__(f"{' / '.join(where)}: {what}")
        self.where = where
        self.what = what

    def __reduce__(self) -> tuple[type[MalformedMachine], tuple[tuple[str, ...], str]]:
        """So that a process can be told by another."""
        return type(self), (self.where, self.what)


class UnknownChoice(ValueError):  # noqa: N818
    """A size, switch, action, guard or machine was named that does not exist; the message lists what does."""
