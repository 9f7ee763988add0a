"""Values at the edges of the compactor: what a summariser is handed and answers, settings, status."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import TypeAlias

CountTokens: TypeAlias = Callable[[str], int]
"""Size of a text in tokens."""

StepHook: TypeAlias = Callable[[str], None]
"""Called with a step's name right before the step is made durable; whatever it raises stops the operation there."""

Clock: TypeAlias = Callable[[], float]
"""Seconds since the epoch, by the clock on the wall: written into records for people to read, measured with never."""

Uptime: TypeAlias = Callable[[], tuple[str, float]]
"""A mark that is the same until the machine starts again, and seconds since some moment after that, which no setting
of a clock can move: what lifetimes are measured with (RET-4)."""


Embed: TypeAlias = Callable[[Sequence[str]], Sequence[Sequence[float]]]
"""One vector for each text, all of one dimension. It is given at most 64 texts at a time, each a turn as a model
reads it, whole: what is too long for the model behind it is the function's to cut. Whatever it raises means that
there are no vectors for these now (REC-4)."""


class Copies(StrEnum):
    """When originals are copied to the cold store."""

    BEFORE_COMMIT = "before-commit"
    """A summary commits when the copies have landed."""
    AFTER_COMMIT = "after-commit"
    """A summary commits as `pending`; a thread copies, and the sources are held until it has (PTR-5)."""
    HELD = "held"
    """As before, and no copy is made until the hold is lifted: the cold store is being seen to."""


def four_characters(text: str) -> int:
    """Four characters are a token, rounded up: the default where the caller has no tokenizer."""
    return -(-len(text) // 4)


def no_steps(_name: str) -> None:
    """Let every step pass."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """What a summariser is shown: instructions first, then each carrier that it is to stand for, whole, in order."""

    messages: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """What a summariser answered."""

    text: str
    finish: str = "stop"
    """Why the model stopped: `stop`, `end_turn`; `length`, `max_tokens`; `refusal`, `content_filter`; …"""


Summarise: TypeAlias = Callable[[Request], Reply | Awaitable[Reply]]
"""A function or a coroutine function. Any exception that it raises means: the model call failed (OUT-1)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """How a transcript is compacted. Sizes are in tokens, as the caller's function counts them."""

    budget: int | None = None
    """Size of the model's window; none: every call of `compact` replaces all that may be replaced."""
    watermark: float = 0.7
    """Share of the budget above which the window is compacted."""
    keep: int = 4
    """How many of the newest turns stay verbatim where they fit; at least one always does."""
    summary_limit: int = 2000
    """Bound on a summary where no budget bounds it (PRO-4)."""
    audit_every: int = 50
    """Compactions from one audit to the next; at most 500 (RET-2)."""
    horizon: float | None = None
    """Seconds for which originals may be asked for after they left the window; none: until the session's end. None is
    removed before, whoever asks, save by `forget` (PTR-2, IDX-1, EVI-3)."""
    lifetime: float | None = None
    """Seconds after which originals are proposed for removal; the gate and the horizon decide (ANC-2)."""
    copies: Copies = Copies.BEFORE_COMMIT
    embed: Embed | None = None
    """Makes vectors of originals and of questions, so that `retrieve` also finds what says the same in other words;
    none: words alone (BM25). Needs the extra `vectors` and a ledger in SQLite."""

    def __post_init__(self) -> None:
        """Say at once what cannot be meant."""
        if self.budget is not None and self.budget < 1:
            raise ValueError(f"budget is {self.budget}; give a positive number of tokens, or None for no budget")
        if not 0 < self.watermark <= 1:
            raise ValueError(f"watermark is {self.watermark}; give a share of the budget in (0, 1]")
        if self.keep < 1:
            raise ValueError(f"keep is {self.keep}; the newest turn always stays, so give 1 or more")
        if self.summary_limit < 1:
            raise ValueError(f"summary_limit is {self.summary_limit}; give a positive number of tokens")
        if not 1 <= self.audit_every <= 500:
            raise ValueError(f"audit_every is {self.audit_every}; give 1 to 500 compactions (RET-2)")
        if self.horizon is not None and not self.horizon >= 0:
            raise ValueError(f"horizon is {self.horizon}; give 0 or more seconds, or None for the session's end")
        if self.lifetime is not None and not self.lifetime >= 0:
            raise ValueError(f"lifetime is {self.lifetime}; give 0 or more seconds, or None for no lifetime")

    @property
    def kept_for(self) -> float | None:
        """Seconds for which originals are kept in any case: the lifetime, and never less than the horizon. None: as
        long as the session lives."""
        if self.lifetime is None or self.horizon is None:
            return None
        return max(self.lifetime, self.horizon)

    @property
    def high_water(self) -> int | None:
        """Size above which the window is to be compacted."""
        return None if self.budget is None else int(self.budget * self.watermark)


@dataclass(frozen=True, slots=True, kw_only=True)
class Status:
    """Whether every original can still be had, and the counts that say why (RET-5, PTR-5)."""

    lossless: bool
    reasons: tuple[str, ...]
    """Why not lossless; empty where it is."""
    turns: int
    compactions: int
    committed: int
    """Pointers under committed summaries."""
    pending: int
    unresolvable: int
    """Committed pointers whose bytes are missing or wrong; above 0 is a breach (PTR-5)."""
    evicted: int
    audits: int
    """Audits done (RET-2)."""
    tombstones: int
    erased: int = 0
    since: float | None = None
    """Degraded since when, in seconds since the epoch; none where lossless."""
    stopped: bool = False
    """Lossy eviction is stopped until the fault is repaired or a caller overrides it (RET-3)."""
    overridden: tuple[str, ...] = ()
    """Reasons that callers gave for accepting a loss."""
    unembedded: int = 0
    """Originals that are to get a vector and have none yet: no vector proposes them (REC-4)."""
    embedding_fault: str | None = None
    """Why the embedding function gave no vectors when it was last asked."""

    def __str__(self) -> str:
        """One line: `lossless`, or `degraded: ` and why."""
        return "lossless" if self.lossless else "degraded: " + "; ".join(self.reasons)


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """An original in the cold store, as a retention policy sees it."""

    token: str
    turn: str
    stored: float
    """When it was copied there, in seconds of the store's own life, which no clock can move (RET-4)."""
    used: float
    """When it was last asked for, or else stored, likewise."""
    size: int
    """Bytes."""


Policy: TypeAlias = Callable[[Sequence[Candidate], float], Sequence[str]]
"""Proposes tokens for eviction, from what is stored and how old the store is now. The gate decides (ANC-2)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ratios:
    """Counts of summaries (PTR-5)."""

    committed: int
    pending: int
    """Of these, with an original whose copy is outstanding."""
    unresolvable: int
    """Of these, with a source whose copy neither landed nor will: above 0 is a breach."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Audit:
    """One audit (RET-2)."""

    compaction: int
    """How many compactions had committed."""
    turn: str | None
    """The turn whose original was fetched; none where it was erased since."""
    passed: bool
