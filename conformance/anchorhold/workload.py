"""A workload: what the suite does to a compactor, as symbolic steps.

Steps name things by position (the third pointer, the second turn), never by the compactor's own tokens, so that
one workload can be played against any compactor, played again, and shortened by leaving steps out.
"""

from typing import TypeAlias

import msgspec

from anchorhold.compactor import Settings
from anchorhold_spec.vocabulary import Fact, Turn


class Step(msgspec.Struct, frozen=True, kw_only=True, tag_field="step", omit_defaults=True):
    """One thing to do."""


class Append(Step, frozen=True, kw_only=True, tag="append"):
    """Add a turn; `facts` are the assertions that the suite planted in its text."""

    turn: Turn
    facts: tuple[Fact, ...] = ()


class Summariser(Step, frozen=True, kw_only=True, tag="summariser"):
    """From here on the summariser behaves so: see `anchorhold.summariser.MODES`."""

    mode: str
    times: int | None = None
    """For how many calls; afterwards it is faithful again. None: until told otherwise."""


class Compact(Step, frozen=True, kw_only=True, tag="compact"):
    """Run one compaction, `until_idle`: at most that many, until one has nothing more to do."""

    until_idle: int = 1


class Probe(Step, frozen=True, kw_only=True, tag="probe"):
    """Observe everything: live, pointers, get of each pointer ever seen, manifests, tombstones, status."""


class Ask(Step, frozen=True, kw_only=True, tag="ask"):
    """Ask for a fact by every way that the compactor has (search for the literal, reconstitute the slot).

    A fact that no turn asserted is asked for as well: the answer must then not be `found` (REC-1).
    """

    fact: Fact
    evidence: bool = False


class Evict(Step, frozen=True, kw_only=True, tag="evict"):
    """Ask that the original of a turn be removed from the store."""

    turn: str


class DropFact(Step, frozen=True, kw_only=True, tag="tombstone"):
    """The caller decides that one assertion may go."""

    fact: Fact
    turn: str
    reason: str


class Reopen(Step, frozen=True, kw_only=True, tag="reopen"):
    """Close, and open again from durable state."""


class CrashAt(Step, frozen=True, kw_only=True, tag="crash"):
    """The next compaction dies at crash point number `point` (modulo how many there are); then reopen."""

    point: int


class Corrupt(Step, frozen=True, kw_only=True, tag="corrupt"):
    """Damage the stored original of a turn, then follow its pointer."""

    turn: str


class Expire(Step, frozen=True, kw_only=True, tag="expire"):
    """Move the store's clock forward by so many seconds."""

    seconds: float


AnyStep: TypeAlias = (
    Append | Summariser | Compact | Probe | Ask | Evict | DropFact | Reopen | CrashAt | Corrupt | Expire
)


class Workload(msgspec.Struct, frozen=True, kw_only=True):
    """Steps to play against one session."""

    name: str
    aims: tuple[str, ...]
    """Ids of the rules that it is meant to trigger."""
    settings: Settings = Settings()
    steps: tuple[AnyStep, ...] = ()
