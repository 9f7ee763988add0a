"""Which code reads facts: the Python code or, where `anchorhold-native` is installed, the same compiled.

Both give the same answers, so that it is no setting. Who wants the Python code names it:
`mentions(text, engine=engine.PYTHON)`.
"""

import logging
from collections.abc import Callable
from importlib import import_module
from types import ModuleType
from typing import Final, Protocol, cast

from anchorhold_reference.compiled import compiled
from anchorhold_reference.extract.mention import Fact, Mention
from anchorhold_reference.extract.python import Python

RULES: Final = 5
"""The rules by which facts are read, counted up with every change of what is read out of any text. Compiled code for
other rules is not used."""

log = logging.getLogger("anchorhold.extract")


class Engine(Protocol):
    """Reads facts out of text. May be shared between threads; remembers a bounded number of lines."""

    @property
    def name(self) -> str:
        """`python` or `native`."""

    @property
    def missed(self) -> int:
        """How many lines were not remembered, and had to be read."""

    def mentions(self, text: str) -> list[Mention]:
        """Every fact that a text says, parts of slots included, line by line."""

    def distinct(self, text: str) -> dict[bytes, Mention]:
        """By its key the first mention of each fact that a text says, without the parts of slots."""

    def facts_in(self, line: str) -> tuple[Fact, ...]:
        """The facts of a line that begins with a word, parts of slots included, by places in the line."""

    def read_line(self, line: str) -> tuple[Fact, ...]:
        """The same, read anew."""

    def remembered(self) -> int:
        """How many lines are remembered, besides as many older ones."""

    def forget(self) -> None:
        """Remember nothing."""


PYTHON: Final = Python()


def choose(load: Callable[[str], ModuleType] = import_module) -> Engine:
    """The compiled code where it is installed and belongs to these rules, else the Python code.

    `load` imports a module. Of an installation that cannot be used a warning tells once: its user expects it to be.
    """
    native: Engine | None = compiled(
        load,
        "engine",
        lambda module: cast("Engine", module.Native()),
        number="RULES",
        wanted=RULES,
        lacks="reads no facts",
        log=log,
    )
    return PYTHON if native is None else native


ENGINE: Final = choose()
"""The one in use."""
