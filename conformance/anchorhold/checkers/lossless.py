"""RET: lossless is said only while it is so, degraded while it is not, and time takes nothing early."""

from array import array
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass

from anchorhold.checkers.holding import HELD, Hold, asks_for, carried_on, covering, hold, through_pointers
from anchorhold.checkers.keys import Key, Keys
from anchorhold.checkers.reading import Known, Reading
from anchorhold.checkers.record import CONTENT, READS, SIDELINES, Observation, Operation, Stretch
from anchorhold.checkers.rule import RuleChecker, WatchChecker
from anchorhold.checkers.tally import Tally
from anchorhold.checkers.watch import Watch
from anchorhold.checkers.words import shorten
from anchorhold.compactor import Mechanism
from anchorhold.wire.messages import METHODS
from anchorhold_spec.vocabulary import Answer, AnswerKind

PERIOD = 500
"""Compactions in which there is to be at least one audit."""
LOSSLESS = "lossless"


def _degraded(observation: Observation) -> bool:
    return observation.status is not None and observation.status != LOSSLESS


def ret_1(reading: Reading, tally: Tally) -> None:
    """Each time that `lossless` is reported: nothing that is known then contradicts it."""
    archived: set[tuple[str, str]] = set()
    for observation in reading.observations:
        archived |= {(observation.session, turn) for turn in _left(reading, observation)}
        if observation.status is None:
            continue
        tally.trigger()
        if observation.status != LOSSLESS:
            continue
        turns = [turn for session, turn in sorted(archived) if session == observation.session]
        why = (
            _short_lived(reading)
            or _not_audited(reading, observation)
            or _still_damaged(reading, observation)
            or _not_there(reading, observation, sorted(turns, key=list(reading.said).index))
        )
        if why is not None:
            tally.fail(f"The status is “lossless”, although {why}.", fact="status", event=observation.end)


def _left(reading: Reading, observation: Observation) -> Iterator[str]:
    """Turns that are no longer in the window."""
    if observation.live is None:
        return
    standing = reading.standing(observation)
    yield from (said.turn.id for said in reading.present(observation) if said.forms and said.turn.id not in standing)


def _short_lived(reading: Reading) -> str | None:
    settings = reading.header.settings
    if settings.lifetime is None or (settings.horizon is not None and settings.lifetime >= settings.horizon):
        return None
    horizon = "the session's end" if settings.horizon is None else f"{settings.horizon:g} s"
    return f"an entry may expire after {settings.lifetime:g} s, and evidence may be asked for until {horizon}"


def _not_audited(reading: Reading, observation: Observation) -> str | None:
    ratios = observation.ratios
    if observation.audits:
        last = observation.audits[-1]
        if not last.passed:
            return f"the latest audit (after {last.compaction} compactions) failed"
        if ratios is not None and ratios.committed - last.compaction > PERIOD:
            return f"the latest audit was {ratios.committed - last.compaction} compactions ago"
        return None
    if ratios is not None and ratios.unresolvable:
        return f"{ratios.unresolvable} summaries are counted as unresolvable"
    done = sum(1 for o in reading.operations if o.op == "compact" and o.committed and o.end < observation.start)
    return f"{done} compactions were committed, and there was no audit" if done > PERIOD else None


def _still_damaged(reading: Reading, observation: Observation) -> str | None:
    """A pointer whose bytes were damaged, and which the compactor itself says leads to damage: also where its summary
    is no longer in the window."""
    for token in sorted(observation.damaged.intersection(reading.homes)):
        if token in observation.errors:
            return f"pointer {token} leads to damaged bytes (“{shorten(observation.errors[token])}”)"
        answer = observation.answers.get(token)
        if answer is not None and answer.kind is AnswerKind.DEGRADED:
            return f"pointer {token} leads to damaged bytes, and is answered with “{answer.kind}”"
    return None


def _not_there(reading: Reading, observation: Observation, turns: list[str]) -> str | None:
    """A turn outside the window whose original cannot be had, in words."""
    if not reading.offers("pointers", "get"):
        return f"nothing leads to {reading.quote(turns[0])}, which left the window" if turns else None
    if observation.pointers is None:
        return None
    horizon = reading.header.settings.horizon
    waited = sum(
        float(o.arguments.get("seconds", 0))
        for o in reading.operations
        if o.op == "expire" and o.end < observation.start
    )
    if horizon is not None and waited >= horizon:
        return None
    standing = reading.standing(observation) if observation.live is not None else frozenset()
    for turn in turns:
        if turn in standing | observation.withdrawn or any(drop.source == turn for drop in reading.drops):
            continue
        if reading.parted.get(turn, observation.start) < observation.start:
            continue
        if through_pointers(reading, observation, turn) is not Hold.LOOSE:
            continue
        tokens = [pointer.token for pointer in covering(reading, observation.pointers, turn)]
        return f"{reading.quote(turn)} left the window, and " + (
            f"pointer {tokens[0]} does not lead to it" if tokens else "no pointer leads to it"
        )
    return None


class Audits(Watch):
    """Each period of compactions: an audit in it, of a turn that had left the window, and its word is true."""

    operations = frozenset({"compact", "switch", "fork", "clear", "rewind"})
    _committed = 0
    _several = False
    """Whether compactions are counted over several windows, or turns may have left without one."""

    def __init__(self, known: Known, keys: Keys, tally: Tally) -> None:
        super().__init__(known, keys, tally)
        self._held_against = known.offers("audits")
        self._left: dict[str, int] = {}
        """With which compaction each turn left the window; kept only where there are audits to be held against it."""

    def operation(self, operation: Operation) -> None:
        if operation.op != "compact":
            self._several = True
            return
        self._committed += operation.committed
        outcome = operation.outcome() if self._held_against and operation.committed else None
        for name in (outcome.covered if outcome else None) or ():
            turn = self.known.turn_of(name)
            if turn is not None:
                self._left.setdefault(turn, self._committed)

    def look(self, look: Observation) -> None:
        if look.audits is None:
            return
        periods = self._committed // PERIOD
        if periods:
            self.tally.trigger()
        fetched = [audit for audit in look.audits if audit.turn is not None]
        if periods and len(fetched) < periods:
            self.tally.fail(
                f"{self._committed} compactions were committed, and {len(fetched)} audits fetched a fact of an "
                "evicted turn.",
                fact="audits",
                event=look.end,
            )
        for audit in fetched:
            turn = self.known.turn_of(audit.turn)
            if turn is None or turn not in self.known.said:
                self.tally.fail(
                    f"An audit says that it fetched a fact of {audit.turn}, which is no turn.",
                    fact="audits",
                    event=look.end,
                )
            elif not self._several and self._left.get(turn, 0) > audit.compaction:
                self.tally.fail(
                    f"The audit after {audit.compaction} compactions fetched a fact of {self.known.quote(turn)}, "
                    f"which left the window with compaction {self._left[turn]}.",
                    fact="audits",
                    event=look.end,
                )


@dataclass(slots=True)
class _Accepted:
    """Whether the caller accepted the loss, and since when."""

    since: int | None = None


def ret_3(reading: Reading, tally: Tally) -> None:
    """While degraded: nothing is let go that alone held something, and reads that may be affected say so."""
    for lane in reading.lanes:
        accepted: _Accepted = _Accepted()
        status: str | None = None
        for stretch in lane:
            # The status is not read at every look; what was read last holds unless it is told otherwise now.
            status = stretch.before.status or status
            overridden = [o for o in stretch.of("override") if o.committed]
            if overridden:
                accepted.since = overridden[0].end
            if status not in (None, LOSSLESS) and stretch.after.status != LOSSLESS:
                _let_go(reading, tally, stretch, accepted, str(status))
            _affected(reading, tally, stretch.after)


def _let_go(reading: Reading, tally: Tally, stretch: Stretch, accepted: _Accepted, status: str) -> None:
    asked = [o for o in stretch.operations if o.op in ("evict", "compact")]
    if not asked:
        return
    tally.trigger()
    if accepted.since is not None:
        return
    for assertion in reading.assertions:
        if assertion.at > stretch.before.end or not reading.belongs(assertion.turn, stretch.after.session):
            continue
        pointers = (*(stretch.before.pointers or ()), *(stretch.after.pointers or ()))
        mine = {pointer.token for pointer in covering(reading, pointers, assertion.turn)}
        was = hold(reading, stretch.before, assertion)
        if assertion.turn in stretch.after.withdrawn or (mine & stretch.after.damaged and was is not Hold.TEXT):
            # Lost by what the suite did itself, and not by what was let go: unless a summary still said it.
            continue
        if was is Hold.TEXT and carried_on(reading, stretch.before, stretch.after, assertion):
            continue
        now = hold(reading, stretch.after, assertion)
        if was in HELD and now is Hold.LOOSE:
            tally.fail(
                f"The status was “{status}”, nobody had accepted a loss, and {stretch.named()} let go "
                f"of what alone held {assertion}.",
                fact=str(assertion),
                event=stretch.after.end,
            )


def _affected(reading: Reading, tally: Tally, observation: Observation) -> None:
    """Questions about what lies under damaged bytes: not answered as if it had never been there."""
    if not observation.damaged or not _degraded(observation):
        return
    for question in observation.questions:
        if question.answer.kind in CONTENT:
            continue
        about = [
            a
            for a in reading.assertions
            if asks_for(question, a)
            and reading.belongs(a.turn, observation.session)
            and any(p.token in observation.damaged for p in covering(reading, observation.pointers, a.turn))
        ]
        if not about:
            continue
        tally.trigger()
        if question.answer.kind in (AnswerKind.UNANCHORED, AnswerKind.ABSENT, AnswerKind.FOREIGN):
            tally.fail(
                f"The original of {about[0]} is damaged and the status is degraded, and a {question.operation.op} "
                f"for it answers with “{question.answer.kind}” instead of “degraded”.",
                fact=str(about[0]),
                event=question.operation.end,
            )


class Lifetimes(Watch):
    """No clock step and no read makes anything expire before its lifetime has passed."""

    operations = frozenset({"expire", "clock", "evict"})

    def __init__(self, known: Known, keys: Keys, tally: Tally) -> None:
        super().__init__(known, keys, tally)
        self._ends = array("q")
        self._passed = array("d")
        """Seconds that had passed after each operation by which time goes on, or the clock jumps."""
        self._jumps: list[tuple[int, float]] = []

    def operation(self, operation: Operation) -> None:
        if operation.op == "evict":
            key = self.keys.get(str(operation.arguments.get("token", "")))
            if key is not None:
                key.let_go = operation.start
        elif operation.ok:
            before = self._passed[-1] if self._passed else 0.0
            seconds = float(operation.arguments.get("seconds", 0)) if operation.op == "expire" else 0.0
            self._ends.append(operation.end)
            self._passed.append(before + seconds)
            if operation.op == "clock":
                self._jumps.append((operation.end, float(operation.arguments.get("shift", 0))))

    def look(self, look: Observation) -> None:
        if not self._ends:
            # Nothing went on: whatever is said to have expired did so by itself.
            for token, answer in look.answers.items():
                if answer.kind is AnswerKind.EXPIRED:
                    self._judge(look, token, answer)
            return
        for token, answer in look.answers.items():
            self._judge(look, token, answer)

    def _judge(self, look: Observation, token: str, answer: Answer) -> None:
        key, lifetime = self.keys.get(token), self.known.header.settings.lifetime
        if key is None or (key.let_go is not None and key.let_go < look.start):
            return
        begun = self._archived_at(key)
        since = bisect_right(self._ends, begun)
        some = since < len(self._ends)
        passed = self._passed[-1] - (self._passed[since - 1] if since else 0.0) if some else 0.0
        # Whatever lifetime it has of its own, where none is set, is not known.
        if passed > 0 and lifetime is None:
            return
        if lifetime is not None and passed >= lifetime:
            return
        self.tally.trigger(int(some))
        if answer.kind is not AnswerKind.EXPIRED:
            return
        jumps = ", ".join(f"{shift:+g} s" for end, shift in self._jumps if end > begun)
        self.tally.fail(
            f"Pointer {token} answers with “expired” after {passed:g} s"
            + (f" of a lifetime of {lifetime:g} s" if lifetime is not None else "")
            + (f"; the clock had jumped by {jumps}" if jumps else "")
            + ".",
            fact=token,
            event=look.end,
        )

    def _archived_at(self, key: Key) -> int:
        """An event before which a token's original was not archived yet: its turn had just come in."""
        return max((self.known.said[turn].at for turn in key.declared), default=key.issued)


class Status(Watch):
    """Every reading of the status, at whatever time: answered, and with the reason and since when it is degraded."""

    operations = frozenset({*METHODS}) - (READS | SIDELINES) | {"status"}
    _last = "the beginning"

    def __init__(self, known: Known, keys: Keys, tally: Tally) -> None:
        super().__init__(known, keys, tally)
        self._before: dict[str, Observation] = {}
        """The last look at each session in which since when was read."""
        self._harmed = 0
        """The latest event at which the suite damaged something: it may be degraded anew, for the same reason."""

    def look(self, look: Observation) -> None:
        since, status, last = look.since, look.status, self._before.get(look.session)
        if since is None or status is None:
            return
        self._before[look.session] = look
        self.tally.trigger()
        if (status == LOSSLESS) is not (since.value is None):
            told = "nothing" if since.value is None else f"{since.value:g}"
            self.tally.fail(
                f"The status is “{shorten(status)}”, and since when it is degraded is told as {told}.",
                fact="status",
                event=since.at,
            )
        elif (
            last is not None
            and last.since is not None
            and last.status == status != LOSSLESS
            and last.since.value != since.value
            and self._harmed < last.end
        ):
            self.tally.fail(
                f"The status is “{shorten(status)}” as it was before, and since when it is so was told as "
                f"{last.since.value} and is now {since.value}.",
                fact="status",
                event=since.at,
            )

    def operation(self, operation: Operation) -> None:
        if operation.op == "corrupt":
            self._harmed = operation.end
        if operation.op != "status":
            self._last = operation.op
            return
        self.tally.trigger()
        if not operation.ok:
            self.tally.fail(
                f"After {self._last} the status cannot be read: {operation.error or 'no answer'}.",
                fact="status",
                event=operation.end,
            )
        elif operation.value != LOSSLESS and not str(operation.value).partition(":")[2].strip():
            self.tally.fail(
                f"After {self._last} the status is “{operation.value}”, and says no reason.",
                fact="status",
                event=operation.end,
            )


STATUS = (Mechanism.STATUS,)

CHECKERS = (
    RuleChecker(rule="RET-1", minimum=3, mechanisms=STATUS, examine=ret_1),
    WatchChecker(rule="RET-2", minimum=1, mechanisms=(Mechanism.AUDITS,), watch=Audits),
    RuleChecker(rule="RET-3", minimum=1, mechanisms=STATUS, examine=ret_3),
    WatchChecker(rule="RET-4", minimum=3, mechanisms=(Mechanism.EXPIRY, Mechanism.CLOCKS), watch=Lifetimes),
    WatchChecker(rule="RET-5", minimum=5, mechanisms=STATUS, watch=Status),
)
