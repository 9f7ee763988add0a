"""What an audit says of one compaction, before it is written anywhere."""

from dataclasses import dataclass, field
from enum import StrEnum


class Fate(StrEnum):
    """What became of a fact of the replaced turns."""

    CARRIED = "carried"
    """Stands in the summary, verbatim or so that it can be derived."""
    REACHABLE = "reachable"
    """Does not, and the summary names the file of the transcript or the file that it was read from."""
    LOST = "lost"
    """Nothing in sight leads to it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where words stand: record of the file, JSON pointer, characters; and some of the text around them."""

    record: int
    field: str = ""
    start: int = 0
    end: int = 0
    excerpt: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Example:
    """One thing worth showing to a person."""

    what: str
    """`needed`, `unsupported`, `flipped`, `protected`, `drifted`, `re-read`."""
    kind: str
    literal: str
    fate: str = ""
    said: Place | None = None
    """The turn that had it."""
    summary: Place | None = None
    used: Place | None = None
    """The turn that needed it, or read it again."""
    detail: str = ""
    tokens: int = 0
    later: bool = False
    """It was needed only after another compaction had followed the one that dropped it."""


@dataclass(slots=True, kw_only=True)
class Finding:
    """One compaction, judged."""

    session: str
    at: str
    file: str = ""
    record: int = 0
    summary_record: int = 0
    generation: int = 1
    trigger: str | None = None
    replaced: int = 0
    """Turns that were replaced."""
    first_record: int = 0
    summary_tokens: int = 0
    replaced_tokens: int = 0
    incomplete: bool = False
    """Most of what was replaced is not in the file: what the summary says beyond it is not judged."""
    facts: dict[str, int] = field(default_factory=dict)
    carried: int = 0
    reachable: int = 0
    lost: int = 0
    needed: int = 0
    needed_lost: int = 0
    unsupported: int = 0
    flipped: int = 0
    protected_lost: int = 0
    drifted: int = 0
    """Facts that the summary before carried and this one does not."""
    reread_tokens: int = 0
    reread_turns: int = 0
    restored: int = 0
    """Replaced turns that the harness showed again without recording it: the agent copied from them."""
    forgotten: int = 0
    """Facts that it dropped and that were no longer looked for after later compactions: more than are remembered."""
    watched: int = 0
    """Turns after the compaction in which needs were looked for."""
    summary_text: str = ""
    """The summary's beginning, to be shown beside what it left out."""
    examples: list[Example] = field(default_factory=list)
