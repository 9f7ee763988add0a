"""A workload: what the suite does to a compactor, as symbolic steps.

Steps name things by the suite's own words (the turn, the fact), not by the compactor's tokens, so that one workload
can be played against any compactor, played again, and shortened by leaving steps out.

A workload is first written *open*: it may say "fill the window" without saying with how many turns, and it leaves
the looking around to the runner. Playing it makes it *explicit*: the steps that were in fact taken, observations
included. The header of a history holds the explicit one, and `Event.step` counts in its steps.
"""

from typing import TypeAlias

import msgspec

from anchorhold.compactor import Settings, StoreFault
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


class Fill(Step, frozen=True, kw_only=True, tag="fill"):
    """Append these turns, in order, until the window is over its watermark.

    It ends earlier where the compactor writes a summary by itself, and with the last turn where it has no window of
    known size. Only open workloads hold it: played, it becomes the `Append` steps that were needed.
    """

    turns: tuple[Append, ...]
    least: int = 0
    """Append at least so many, whatever the window's size."""


class Probe(Step, frozen=True, kw_only=True, tag="probe"):
    """Observe everything: live, pointers, get of each pointer ever seen, manifests, tombstones, status and counts."""

    only: tuple[str, ...] = ()
    """Observe only by these operations; none named: by all."""


class Follow(Step, frozen=True, kw_only=True, tag="follow"):
    """Follow a token that this session's store did not issue: made up, or of another store (EPO-2)."""

    token: str


class Switch(Step, frozen=True, kw_only=True, tag="switch"):
    """Go over to another session of the same store, or to another branch of one."""

    session: str
    user: str
    branch: str = "main"


class Ask(Step, frozen=True, kw_only=True, tag="ask"):
    """Ask for a fact by every way that the compactor has (search for the literal, reconstitute the slot).

    A fact that no turn asserted is asked for as well: the answer must then not be `found` (REC-1).
    """

    fact: Fact
    evidence: bool = False
    only: tuple[str, ...] = ()
    """Ask only by these operations; none named: by every one."""


class Evict(Step, frozen=True, kw_only=True, tag="evict"):
    """Ask that the original of a turn be removed from the store."""

    turn: str


class DropFact(Step, frozen=True, kw_only=True, tag="tombstone"):
    """The caller decides that one assertion may go."""

    fact: Fact
    turn: str
    reason: str


class Supersede(Step, frozen=True, kw_only=True, tag="supersede"):
    """The caller decides that one assertion may go, because another turn took its place."""

    fact: Fact
    turn: str
    superseder: str
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


class Clear(Step, frozen=True, kw_only=True, tag="clear"):
    """The caller empties the window."""


class Rewind(Step, frozen=True, kw_only=True, tag="rewind"):
    """The caller takes back everything that was appended after a turn."""

    turn: str


class Fork(Step, frozen=True, kw_only=True, tag="fork"):
    """Begin a branch from here, and go over to it."""

    branch: str


class Forget(Step, frozen=True, kw_only=True, tag="forget"):
    """Erase what a turn says; then look for it in every file that the compactor names."""

    turn: str


class HoldCopies(Step, frozen=True, kw_only=True, tag="hold"):
    """Hold background copies back, or let them land again."""

    held: bool


class Settle(Step, frozen=True, kw_only=True, tag="settle"):
    """Let background work run to its end."""


class Clock(Step, frozen=True, kw_only=True, tag="clock"):
    """The wall clock jumps by so many seconds; no time passes."""

    shift: float


class Kill(Step, frozen=True, kw_only=True, tag="kill"):
    """The process is killed now, between two operations; then reopen."""


class LosePower(Step, frozen=True, kw_only=True, tag="power"):
    """Power is lost now; then reopen."""


class FailStore(Step, frozen=True, kw_only=True, tag="fail-store"):
    """The next compaction's write at crash point number `point` (modulo how many there are) fails so; compact."""

    point: int
    fault: StoreFault


class Override(Step, frozen=True, kw_only=True, tag="override"):
    """While degraded, the caller accepts the loss."""

    reason: str


class Meanwhile(Step, frozen=True, kw_only=True, tag="meanwhile"):
    """The next call of the summariser is held while these steps are taken from another thread; then it is answered.

    A compactor that lets nobody in while it compacts makes the steps wait; the model is then answered after a while.
    """

    steps: tuple["AnyStep", ...]


class Task(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What a single-stepped worker does."""

    worker: str
    op: str
    """`compact`, `evict`, `get`, `expire`, …"""
    turn: str | None = None
    """Where the operation takes a token: of the newest token that is known to lead to this turn."""
    seconds: float | None = None
    """Where the operation is `expire`."""


class Workers(Step, frozen=True, kw_only=True, tag="workers"):
    """Run operations as workers that take turns as the schedule says, one access to a store at a time.

    Afterwards each is run to its end, in the order of the tasks.
    """

    tasks: tuple[Task, ...]
    schedule: tuple[str, ...] = ()
    """Names of workers; who is done is passed over."""


AnyStep: TypeAlias = (
    Append
    | Fill
    | Summariser
    | Compact
    | Probe
    | Ask
    | Follow
    | Evict
    | DropFact
    | Supersede
    | Reopen
    | CrashAt
    | Corrupt
    | Expire
    | Switch
    | Clear
    | Rewind
    | Fork
    | Forget
    | HoldCopies
    | Settle
    | Clock
    | Kill
    | LosePower
    | FailStore
    | Override
    | Meanwhile
    | Workers
)


class Workload(msgspec.Struct, frozen=True, kw_only=True):
    """Steps to play against one session."""

    name: str
    aims: tuple[str, ...]
    """Ids of the rules that it is meant to trigger."""
    settings: Settings = Settings()
    steps: tuple[AnyStep, ...] = ()
    explicit: bool = False
    """Every observation is written out as a step; the runner adds none but those around a compaction."""
