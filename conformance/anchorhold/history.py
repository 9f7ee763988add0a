"""What happened: one event a line, as history checkers read them.

A history opens with a `Header`; every operation is an `invoke` followed by one `ok`, `fail` (definite: it did not
happen) or `info` (indefinite: it may have). Operations of the summariser stand between the `invoke` and the end of
the operation that called it. Checkers read nothing but this.
"""

from enum import StrEnum
from typing import Any

import msgspec

from anchorhold.compactor import Settings
from anchorhold.workload import Workload

FORMAT = 1


class EventType(StrEnum):
    """As in the histories of Jepsen and its relatives."""

    INVOKE = "invoke"
    OK = "ok"
    FAIL = "fail"
    INFO = "info"


class Header(msgspec.Struct, frozen=True, kw_only=True):
    """First line of a history file."""

    anchorhold_history: int = FORMAT
    compactor: str
    """How to reach it: what `anchorhold check` was given."""
    name: str
    version: str
    operations: tuple[str, ...]
    mechanisms: tuple[str, ...]
    hidden: dict[str, str] = {}
    irreversible: str | None = None
    settings: Settings
    """The settings that the compactor took."""
    seed: int
    workload: Workload
    rule: str | None = None
    """Where the history was kept as a counterexample: the rule that it breaks."""


class Event(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One line of a history."""

    index: int
    """Position in the history, from 0."""
    step: int
    """Which step of the workload this belongs to, from 0."""
    process: str = "main"
    type: EventType
    op: str
    """Operation: `append`, `compact`, `live`, `pointers`, `get`, …, `summarise`."""
    value: Any = None
    """`invoke`: the arguments, as a mapping. `ok`: the result. `fail`, `info`: null."""
    error: str | None = None
