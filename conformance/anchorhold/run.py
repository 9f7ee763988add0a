"""Plays a workload against a compactor and keeps record of everything that happened.

The runner looks around by itself (`Probe`, `Ask`) wherever something may have changed, and writes the observations
into the explicit workload that the history's header holds. It decides nothing about right and wrong.

What the steps become, beyond the operation of the same name:

- `Compact`: `live`, `compact`, `live`, so that what a compaction removed can be told.
- `Probe`: `live`, `pointers`, a `get` of every token that was ever seen in this history, `manifest` of every live
  summary, `tombstones`, `status`.
- `Ask`: `search` for the literal and `reconstitute` of the slot.
- Wherever an answer is `partial` and names a continuation: a `get` of it right after, and so on, at most `PIECES` in
  all, so that the pieces can be joined (REC-3).
- `Evict`, `Corrupt`: of the newest token that is known to lead to the turn, by what the compactor says that it covers
  or by what it once resolved to. Where no token leads there, nothing is attempted, and a `note` says so.
- `CrashAt`: `live`, `crash`, `compact`, `reopen`.

An operation that the compactor does not offer is left out, and a step with it of which nothing would be left.
"""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, TypeVar, assert_never, cast

from anchorhold.compactor import Capabilities, Compactor, Description, Settings
from anchorhold.errors import AdapterError, Fault
from anchorhold.history import Event, Header
from anchorhold.recorder import Recorder
from anchorhold.size import high_water, turn_size, window_size
from anchorhold.summariser import ScriptedSummariser, escaped
from anchorhold.verdict import History
from anchorhold.workload import (
    AnyStep,
    Append,
    Ask,
    Compact,
    Corrupt,
    CrashAt,
    DropFact,
    Evict,
    Expire,
    Fill,
    Follow,
    Probe,
    Reopen,
    Step,
    Summariser,
    Switch,
    Workload,
)
from anchorhold_spec.vocabulary import Answer, AnswerKind, CarrierKind, Fact, Item, Outcome, OutcomeKind

SAMPLE = 12
"""Facts asked for after each compaction; at the end of the workload all are."""

PIECES = 64
"""Pieces of one answer that are fetched at most: continuations that never end must not keep the check from ending."""

OBSERVATIONS = ("live", "pointers", "get", "manifest", "tombstones", "status")
"""What a `Probe` observes by, in this order."""

NEEDS: dict[type[Step], tuple[str, ...]] = {
    Ask: ("search", "reconstitute"),
    Follow: ("get",),
    Evict: ("evict",),
    DropFact: ("tombstone",),
    Reopen: ("reopen",),
    CrashAt: ("crash",),
    Corrupt: ("corrupt",),
    Expire: ("expire",),
    Switch: ("switch",),
}
"""Operations of which a compactor must offer one for the step to be taken."""

DISTURBING = (Compact, Evict, DropFact, Reopen, CrashAt, Corrupt, Expire, Switch)
"""Steps after which the runner looks around."""


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
    player = _Player(compactor, description, explicit=workload.explicit)
    taken = player.open(workload.settings)
    try:
        for step in workload.steps:
            player.take(step)
        if not workload.explicit:
            player.finish()
    finally:
        player.close()
    return History(
        header=Header(
            compactor=location,
            name=description.name,
            version=description.version,
            operations=tuple(sorted(description.operations)),
            mechanisms=tuple(sorted(str(m) for m in description.mechanisms)),
            hidden={str(mechanism): reason for mechanism, reason in sorted(description.hidden.items())},
            irreversible=description.irreversible,
            settings=taken,
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


R = TypeVar("R")


def could_not_open(cause: str) -> AdapterError:
    """Without an open session there is nothing to check."""
    return AdapterError(
        "the compactor could not be opened",
        code=Fault.ADAPTER,
        cause=cause,
        hint="open starts an empty session on a fresh store each time that it is called",
    )


class _Player:
    """One playing of one workload."""

    def __init__(self, compactor: Compactor, description: Description, *, explicit: bool) -> None:
        self.taken: list[AnyStep] = []
        self._compactor = compactor
        self._more = cast("Capabilities", compactor)
        self._offered = description.operations
        self._points = description.crash_points
        self._explicit = explicit
        self._summariser = ScriptedSummariser()
        self._recorder = Recorder(self._summariser)
        self._settings = Settings()
        self._tokens: dict[str, set[str]] = {}
        """Every token that was seen, in that order, with the turns that it is known to lead to."""
        self._texts: dict[str, tuple[str, ...]] = {}
        """The words of each turn, in the ways in which they may be written down."""
        self._facts: list[Fact] = []
        self._asked = 0
        self._size = 0

    @property
    def events(self) -> tuple[Event, ...]:
        return tuple(self._recorder.events)

    def open(self, settings: Settings) -> Settings:
        """Open the session; there is no run without one."""
        taken = self._do("open", lambda: self._compactor.open(settings, self._recorder.summarise), settings=settings)
        if taken is None:
            raise could_not_open(str(self.events[-1].error))
        self._settings = taken
        return taken

    def close(self) -> None:
        """Release the session. What goes wrong here is noted, and breaks no rule."""
        try:
            self._compactor.close()
        except AdapterError:
            raise
        except Exception as error:  # noqa: BLE001 - whatever the compactor under test raises is an observation
            self._recorder.note({"step": "close", "why": f"{type(error).__name__}: {error}"})

    def take(self, step: AnyStep) -> None:
        """Take one step of the workload, and look around where that may have changed something."""
        needed = NEEDS.get(type(step), ())
        if needed and not self._offered.intersection(needed):
            return
        if isinstance(step, Fill):
            self._fill(step)
            return
        if isinstance(step, Compact) and not self._explicit:
            self._compact_until_idle(step)
            return
        before = self._recorder.summaries
        self._enter(step)
        self._carry_out(step)
        if not self._explicit and (isinstance(step, DISTURBING) or self._recorder.summaries != before):
            self._enter(Probe())
            self._probe(OBSERVATIONS)

    def finish(self) -> None:
        """At the end: ask for everything that was planted, and look around once more."""
        if self._offered.intersection(NEEDS[Ask]):
            for number, fact in enumerate(self._facts):
                self.take(Ask(fact=fact, evidence=number % 2 == 0))
        self.take(Probe())

    # Steps

    def _enter(self, step: AnyStep) -> None:
        self._recorder.step = len(self.taken)
        self.taken.append(step)

    def _carry_out(self, step: AnyStep) -> None:
        match step:
            case Append():
                self._append(step)
            case Summariser(mode=mode, times=times):
                self._summariser.tell(mode, times)
            case Compact():
                self._compact()
            case Probe(only=only):
                self._probe(only or OBSERVATIONS)
            case Ask(fact=fact, evidence=evidence):
                self._ask(fact, evidence=evidence)
            case Follow(token=token):
                self._whole(self._do("get", lambda: self._more.get(token), token=token), token)
            case Evict(turn=turn):
                self._evict(turn)
            case DropFact(fact=fact, turn=turn, reason=reason):
                self._do(
                    "tombstone",
                    lambda: self._more.tombstone(fact.literal, turn, reason),
                    literal=fact.literal,
                    source=turn,
                    reason=reason,
                )
            case Reopen():
                self._do("reopen", self._more.reopen)
            case CrashAt(point=point):
                self._crash(point)
            case Corrupt(turn=turn):
                self._corrupt(turn)
            case Expire(seconds=seconds):
                self._do("expire", lambda: self._more.expire(seconds), seconds=seconds)
            case Switch(session=session, user=user):
                self._do("switch", lambda: self._more.switch(session, user), session=session, user=user)
            case Fill():
                raise ValueError("an explicit workload has no Fill: play the open one")
            case _:
                assert_never(step)

    def _append(self, step: Append) -> None:
        self._summariser.learn(step.turn.text, step.facts)
        self._do("append", lambda: self._compactor.append(step.turn), turn=step.turn, facts=step.facts)
        if self._recorder.succeeded:
            self._size += turn_size(step.turn, self._settings.unit)
            # A call that is all that its turn says is known again by its arguments.
            said = step.turn.text or "\n".join(call.arguments for call in step.turn.calls)
            self._texts[step.turn.id] = escaped(said) if said else ()
            self._facts.extend(fact for fact in step.facts if fact not in self._facts)

    def _fill(self, step: Fill) -> None:
        limit = high_water(self._settings)
        before = self._recorder.summaries
        for number, append in enumerate(step.turns, start=1):
            self.take(append)
            if number < step.least:
                continue
            if self._recorder.summaries != before:
                return
            if limit is not None and self._size > limit:
                self.take(Probe(only=("live",)))
                if self._size > limit:
                    return

    def _compact_until_idle(self, step: Compact) -> None:
        for _ in range(max(1, step.until_idle)):
            self._enter(Compact())
            outcome = self._compact()
            self._enter(Probe())
            self._probe(OBSERVATIONS)
            if outcome is None or outcome.kind is not OutcomeKind.COMMITTED:
                break
        if self._offered.intersection(NEEDS[Ask]):
            for fact in self._sample():
                self._asked += 1
                self.take(Ask(fact=fact, evidence=self._asked % 2 == 0))

    def _sample(self) -> Sequence[Fact]:
        """Some of the facts planted so far: the oldest, which were compacted most often, and others in turn."""
        if len(self._facts) <= SAMPLE:
            return self._facts
        oldest = self._facts[: SAMPLE // 2]
        others = self._facts[SAMPLE // 2 :]
        start = self._asked % len(others)
        return [*oldest, *(others[start:] + others[:start])[: SAMPLE - len(oldest)]]

    def _compact(self) -> Outcome | None:
        self._live()
        outcome = self._do("compact", self._compactor.compact)
        self._live()
        return outcome

    def _crash(self, point: int) -> None:
        if not self._points:
            self._recorder.note({"step": "crash", "why": "the compactor names no crash points"})
            return
        name = self._points[point % len(self._points)]
        self._live()
        self._do("crash", lambda: self._more.crash(name), point=name)
        if self._recorder.succeeded:
            self._do("compact", self._compactor.compact)
        if "reopen" in self._offered:
            self._do("reopen", self._more.reopen)
        self._live()

    def _ask(self, fact: Fact, *, evidence: bool) -> None:
        if "search" in self._offered:
            self._whole(self._do("search", lambda: self._more.search(fact.literal), literal=fact.literal))
        if "reconstitute" in self._offered and fact.subject is not None and fact.attribute is not None:
            subject, attribute = fact.subject, fact.attribute
            self._whole(
                self._do(
                    "reconstitute",
                    lambda: self._more.reconstitute(subject, attribute, evidence),
                    subject=subject,
                    attribute=attribute,
                    evidence=evidence,
                )
            )

    def _evict(self, turn: str) -> None:
        token = self._token_of(turn, "evict")
        if token is not None:
            self._do("evict", lambda: self._more.evict(token), token=token)

    def _corrupt(self, turn: str) -> None:
        token = self._token_of(turn, "corrupt")
        if token is not None:
            self._do("corrupt", lambda: self._more.corrupt(token), token=token)
            self._get(token)

    def _token_of(self, turn: str, step: str) -> str | None:
        for token in reversed(self._tokens):
            if turn in self._tokens[token]:
                return token
        self._recorder.note({"step": step, "turn": turn, "why": f"no pointer is known to lead to turn {turn}"})
        return None

    # Observations

    def _probe(self, only: Sequence[str]) -> None:
        items: Sequence[Item] = ()
        if "live" in only or "manifest" in only:
            items = self._live() or ()
        if "pointers" in only and "pointers" in self._offered:
            for pointer in self._do("pointers", self._more.pointers) or ():
                self._tokens.setdefault(pointer.token, set()).update(pointer.covers or ())
        if "get" in only and "get" in self._offered:
            for token in list(self._tokens):
                self._get(token)
        if "manifest" in only and "manifest" in self._offered:
            for item in items:
                if item.kind is CarrierKind.SUMMARY:
                    self._manifest(item.id)
        if "tombstones" in only and "tombstones" in self._offered:
            self._do("tombstones", self._more.tombstones)
        if "status" in only and "status" in self._offered:
            self._do("status", self._more.status)

    def _live(self) -> Sequence[Item] | None:
        items = self._do("live", self._compactor.live)
        if items is not None:
            self._size = window_size(items, self._settings.unit)
        return items

    def _manifest(self, carrier: str) -> None:
        self._do("manifest", lambda: self._more.manifest(carrier), carrier=carrier)

    def _get(self, token: str) -> None:
        if "get" not in self._offered:
            return
        text = self._whole(self._do("get", lambda: self._more.get(token), token=token), token)
        leads = self._tokens.setdefault(token, set())
        if not text or leads:
            return
        # A compactor that does not say what its pointers cover shows it by what they resolve to.
        leads.update(turn for turn, forms in self._texts.items() if any(form in text for form in forms))

    def _whole(self, answer: Answer | None, token: str | None = None) -> str:
        """Follow the continuations of a partial answer, each by a `get` of its own; answers with the joined text.

        A continuation is no pointer: it is followed here and now, and not at every later look.
        """
        if answer is None:
            return ""
        pieces = [answer.text or ""]
        followed = {token}
        while answer.kind is AnswerKind.PARTIAL and "get" in self._offered and len(pieces) < PIECES:
            following = answer.continuation
            if following is None or following in followed:
                break
            followed.add(following)
            rest = self._do("get", partial(self._more.get, following), token=following)
            if rest is None or rest.kind not in (AnswerKind.FOUND, AnswerKind.PARTIAL):
                break
            answer = rest
            pieces.append(answer.text or "")
        return "".join(pieces)

    def _do(self, op: str, call: Callable[[], R], **arguments: Any) -> R | None:
        return self._recorder.do(op, call, arguments)
