"""What every reader turns a transcript into: turns made of pieces, compactions, and what could not be read."""

from dataclasses import dataclass
from enum import StrEnum
from typing import TypeAlias


class Role(StrEnum):
    """Whose words a piece is."""

    SYSTEM = "system"
    USER = "user"
    ASSISTANT = "assistant"
    """What the agent tells the user."""
    THINKING = "thinking"
    """The agent's own reasoning: recorded, and shown to nobody afterwards."""
    CALL = "call"
    """An argument of a call."""
    RESULT = "result"


@dataclass(frozen=True, slots=True, kw_only=True)
class Piece:
    """A run of text of a turn, with the place in its record where it stands."""

    role: Role
    text: str
    field: str = ""
    """JSON pointer into the record; empty for formats that are text themselves."""
    tool: str | None = None
    """The tool that is called or answers."""
    call: str | None = None
    """Id of that call."""
    product: bool = False
    """Text that the call writes into a file: made by the agent, not asked after by it."""
    addresses: bool = False
    """The argument is a path: what the call reads or writes."""
    failed: bool = False
    """The result says that the call failed: it shows nothing of what was asked for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """One message, call or result."""

    session: str
    record: int
    """Number of the record in its file, from 0."""
    pieces: tuple[Piece, ...]
    time: str | None = None
    human: bool = False
    """A request that a person wrote, not text that the harness injected."""
    context: tuple[str, ...] = ()
    """What the agent always sees besides the transcript: working directory, branch."""
    counted: bool = True
    """Counts as a turn of the file; false for what merely explains one."""
    recorded: tuple[str, ...] = ()
    """What the harness wrote down beside the turn, as a result's structure: shown to nobody, and yet a source."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Compaction:
    """A point where turns gave way to a summary."""

    session: str
    record: int
    """Number of the record that says so."""
    summary_record: int
    summary: str
    field: str = ""
    time: str | None = None
    trigger: str | None = None
    tokens_before: int | None = None
    """Size of the context when it was compacted, as the harness counted it."""
    kept_from: int | None = None
    """Turns from this record on stayed verbatim; none: nothing did."""
    covers: frozenset[int] | range | None = None
    """Records of the turns that were replaced, where the format names them."""
    left: frozenset[int] = frozenset()
    """Records of turns on a branch that was left before: the agent no longer had them, and nothing replaced them."""
    transcript: str | None = None
    """The file of originals that the summary names, where the harness put it there."""
    counted: bool = False
    """The summary is itself a message of the file, and counts as a turn."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Damage:
    """Something in a file that could not be read as what it should be. Never dropped silently."""

    kind: str
    """`torn`, `doubled`, `copied`, `continued`, `surrogate`, `order`, `unknown`, `ill-typed`, `encoding`, `lacking`,
    `left-out`, `compaction`, `failed`."""
    record: int
    detail: str


Event: TypeAlias = Turn | Compaction | Damage
