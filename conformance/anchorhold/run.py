"""Plays a workload against a compactor and keeps record of everything that happened.

The runner looks around by itself (`Probe`, `Ask`) wherever something may have changed, and writes the observations
into the explicit workload that the history's header holds. It decides nothing about right and wrong.

What the steps become, beyond the operation of the same name (`anchorhold.acts`, `anchorhold.looks`):

- `Compact`: `live`, `compact`, `live`, so that what a compaction removed can be told.
- `Probe`: `live`, `pointers`, a `get` of every token that was ever seen in this history, `manifest` of every live
  summary, `tombstones`, `status`, `ratios`, `audits`.
- `Ask`: `search` for the literal and `reconstitute` of the slot.
- Wherever an answer is `partial` and names a continuation: a `get` of it right after, and so on, at most `PIECES`, or
  as many as the longest turn takes, so that the pieces can be joined (REC-3).
- `Evict`, `Corrupt`: of the newest token that is known to lead to the turn, by what the compactor says that it covers
  or by what it once resolved to. Where no token leads there, nothing is attempted, and a `note` says so.
- `CrashAt`: `live`, `crash`, `compact`, `reopen`, `live`. `Kill`: `live`, `kill`, `reopen`, `live`;
  `LosePower` likewise.
- `FailStore`: `live`, `fail_store`, `compact`, `live`.
- `Forget`: `forget`, `files`, and a `scan` of the suite's own for what is left of the turn in these files.
- `Meanwhile`: nothing by itself. While the next call of the summariser in a `compact` is held its steps are taken
  from another thread; their events carry another process, and belong to the step in which the call was made.
- `Workers`: `begin` of each task, `advance` as the schedule says, and then of each until it is done.

An operation that the compactor does not offer is left out, and a step with it of which nothing would be left.
"""

from collections.abc import Sequence
from dataclasses import replace

from anchorhold.acts import Acts
from anchorhold.compactor import Compactor, Description, Mechanism, Settings
from anchorhold.errors import AdapterError, Fault
from anchorhold.history import Event, Header
from anchorhold.looks import OBSERVATIONS, PIECES, Looks
from anchorhold.recorder import Recorder
from anchorhold.size import high_water
from anchorhold.summariser import ScriptedSummariser
from anchorhold.verdict import History
from anchorhold.workload import (
    AnyStep,
    Ask,
    Clear,
    Clock,
    Compact,
    Corrupt,
    CrashAt,
    DropFact,
    Evict,
    Expire,
    FailStore,
    Fill,
    Follow,
    Forget,
    Fork,
    HoldCopies,
    Kill,
    LosePower,
    Meanwhile,
    Override,
    Probe,
    Reopen,
    Rewind,
    Settle,
    Step,
    Supersede,
    Switch,
    Workers,
    Workload,
)
from anchorhold_spec.vocabulary import Fact, OutcomeKind

__all__ = ["NEEDS", "OBSERVATIONS", "PIECES", "could_not_open", "means_of", "play"]

SAMPLE = 12
"""Facts asked for after each compaction; at the end of the workload all are."""

NEEDS: dict[type[Step], tuple[str, ...]] = {
    Ask: ("search", "reconstitute"),
    Follow: ("get",),
    Evict: ("evict",),
    DropFact: ("tombstone",),
    Supersede: ("supersede",),
    Reopen: ("reopen",),
    CrashAt: ("crash",),
    Corrupt: ("corrupt",),
    Expire: ("expire",),
    Switch: ("switch",),
    Clear: ("clear",),
    Rewind: ("rewind",),
    Fork: ("fork",),
    Forget: ("forget",),
    HoldCopies: ("hold_copies",),
    Settle: ("settle",),
    Clock: ("clock",),
    Kill: ("kill",),
    LosePower: ("lose_power",),
    FailStore: ("fail_store",),
    Override: ("override",),
    Meanwhile: (Mechanism.CONCURRENCY.value,),
    Workers: ("begin",),
}
"""Means (see `means_of`) of which a compactor must offer one for the step to be taken."""

DISTURBING = (
    Compact,
    Evict,
    DropFact,
    Supersede,
    Reopen,
    CrashAt,
    Corrupt,
    Expire,
    Switch,
    Clear,
    Rewind,
    Fork,
    Forget,
    Settle,
    Clock,
    Kill,
    LosePower,
    FailStore,
    Override,
    Workers,
)
"""Steps after which the runner looks around."""


def means_of(description: Description) -> frozenset[str]:
    """What a compactor can be driven by: its operations, and that it lets another thread in where it says so."""
    return description.operations | ({Mechanism.CONCURRENCY.value} & {str(m) for m in description.mechanisms})


def asked_for(steps: Sequence[AnyStep]) -> frozenset[str]:
    """The operations that steps may call, besides those that every compactor has and those of a look around."""
    inner = (asked_for(step.steps) for step in steps if isinstance(step, Meanwhile))
    return frozenset().union(*(NEEDS.get(type(step), ()) for step in steps), *inner)


def play(
    compactor: Compactor,
    workload: Workload,
    *,
    description: Description,
    location: str,
    seed: int = 0,
) -> History:
    """Play a workload on a fresh session and answer with its history.

    The compactor is one that holds to the types of the protocol: `anchorhold.load` makes such. It is closed at the
    end. Raises `AdapterError` where it cannot be opened, and passes on those that it raises; whatever else goes
    wrong is an event of the history.
    """
    player = Player(compactor, description, explicit=workload.explicit)
    foresee = getattr(compactor, "foresee", None)
    if foresee is not None:
        foresee(asked_for(workload.steps) & description.operations)
    player.open(workload.settings)
    try:
        for step in workload.steps:
            player.take(step)
        if not workload.explicit:
            player.finish()
    finally:
        player.close()
    return history_of(player, workload, description=description, location=location, seed=seed)


def history_of(
    player: "Player", workload: Workload, *, description: Description, location: str, seed: int = 0
) -> History:
    """What a player has played, under the name and with the aims of a workload."""
    return History(
        header=Header(
            compactor=location,
            name=description.name,
            version=description.version,
            operations=tuple(sorted(description.operations)),
            mechanisms=tuple(sorted(str(m) for m in description.mechanisms)),
            hidden={str(mechanism): reason for mechanism, reason in sorted(description.hidden.items())},
            irreversible=description.irreversible,
            settings=player.settings,
            seed=seed,
            workload=Workload(
                name=workload.name,
                aims=workload.aims,
                settings=workload.settings,
                steps=tuple(player.taken),
                explicit=True,
            ),
            length=len(player.events),
        ),
        events=player.events,
    )


def could_not_open(cause: str) -> AdapterError:
    """Without an open session there is nothing to check."""
    return AdapterError(
        "the compactor could not be opened",
        code=Fault.ADAPTER,
        cause=cause,
        hint="open starts an empty session on a fresh store each time that it is called",
    )


class Player:
    """One playing of one workload, step by step."""

    def __init__(self, compactor: Compactor, description: Description, *, explicit: bool) -> None:
        self.taken: list[AnyStep] = []
        self._compactor = compactor
        self._means = means_of(description)
        self._explicit = explicit
        summariser = ScriptedSummariser()
        self._recorder = Recorder(summariser)
        self._looks = Looks(compactor, self._recorder, offered=description.operations)
        self._acts = Acts(compactor, description, recorder=self._recorder, summariser=summariser, looks=self._looks)
        self._asked = 0

    @property
    def settings(self) -> Settings:
        """The settings that the compactor took."""
        return self._looks.settings

    @property
    def events(self) -> tuple[Event, ...]:
        return tuple(self._recorder.events)

    def open(self, settings: Settings) -> Settings:
        """Open the session; there is no run without one."""
        taken = self._recorder.do(
            "open", lambda: self._compactor.open(settings, self._recorder.summarise), {"settings": settings}
        )
        if taken is None:
            raise could_not_open(str(self.events[-1].error))
        # Sessions go by the names that the suite gives them. Who has another user for it than the one that was asked
        # for tells no users apart.
        user = settings.user if taken.user == settings.user else None
        taken = replace(taken, session=settings.session, branch=settings.branch, user=user)
        self._looks.settings = taken
        return taken

    def close(self) -> None:
        """Release the session. What goes wrong here is noted, and breaks no rule."""
        self._recorder.hold(None)
        try:
            self._compactor.close()
        except AdapterError:
            raise
        except Exception as error:  # noqa: BLE001 - whatever the compactor under test raises is an observation
            self._recorder.note({"step": "close", "why": f"{type(error).__name__}: {error}"})

    def take(self, step: AnyStep) -> None:
        """Take one step of the workload, and look around where that may have changed something."""
        needed = NEEDS.get(type(step), ())
        if needed and not self._means.intersection(needed):
            return
        if isinstance(step, Fill):
            self._fill(step)
            return
        if isinstance(step, Compact) and not self._explicit:
            self._compact_until_idle(step)
            return
        before = self._recorder.summaries
        self._enter(step)
        self._acts.carry_out(step)
        self._acts.join()
        if not self._explicit and (isinstance(step, DISTURBING) or self._recorder.summaries != before):
            self._probe()

    def finish(self) -> None:
        """At the end: ask for everything that was planted, let copies land, and look around once more."""
        if self._means.intersection(NEEDS[Ask]):
            for number, fact in enumerate(self._acts.facts):
                self.take(Ask(fact=fact, evidence=number % 2 == 0))
        # What is pending may stay so until then.
        self.take(Settle() if self._means.intersection(NEEDS[Settle]) else Probe())

    def _enter(self, step: AnyStep) -> None:
        self._recorder.step = len(self.taken)
        self.taken.append(step)

    def _probe(self) -> None:
        self._enter(Probe())
        self._looks.probe(OBSERVATIONS)

    def _fill(self, step: Fill) -> None:
        limit = high_water(self._looks.settings)
        before = self._recorder.summaries
        for number, append in enumerate(step.turns, start=1):
            self.take(append)
            if number < step.least:
                continue
            if self._recorder.summaries != before:
                return
            if limit is not None and self._looks.size > limit:
                self.take(Probe(only=("live",)))
                if self._looks.size > limit:
                    return

    def _compact_until_idle(self, step: Compact) -> None:
        for _ in range(max(1, step.until_idle)):
            self._enter(Compact())
            outcome = self._acts.compact()
            self._acts.join()
            self._probe()
            if outcome is None or outcome.kind is not OutcomeKind.COMMITTED:
                break
        if self._means.intersection(NEEDS[Ask]):
            for fact in self._sample():
                self._asked += 1
                self.take(Ask(fact=fact, evidence=self._asked % 2 == 0))

    def _sample(self) -> Sequence[Fact]:
        """Some of the facts planted so far: the oldest, which were compacted most often, and others in turn."""
        facts = self._acts.facts
        if len(facts) <= SAMPLE:
            return tuple(facts)
        oldest = facts[: SAMPLE // 2]
        others = facts[SAMPLE // 2 :]
        start = self._asked % len(others)
        return [*oldest, *(others[start:] + others[:start])[: SAMPLE - len(oldest)]]
