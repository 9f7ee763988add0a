"""RET: lossless is said only while it is so, degraded while it is not, and time takes nothing early."""

from collections.abc import Iterator
from dataclasses import dataclass

from anchorhold.checkers.holding import HELD, Hold, asks_for, covering, hold, through_pointers
from anchorhold.checkers.reading import CONTENT, Observation, Operation, Reading, Stretch
from anchorhold.checkers.tally import RuleChecker, Tally
from anchorhold.checkers.words import shorten
from anchorhold.compactor import Mechanism
from anchorhold_spec.vocabulary import AnswerKind

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
        if through_pointers(reading, observation, turn) is not Hold.LOOSE:
            continue
        tokens = [pointer.token for pointer in covering(reading, observation.pointers, turn)]
        return f"{reading.quote(turn)} left the window, and " + (
            f"pointer {tokens[0]} does not lead to it" if tokens else "no pointer leads to it"
        )
    return None


def _never_left(reading: Reading, tally: Tally) -> None:
    """An audit of what stood in the window at the time fetched nothing that could have been missing."""
    if any(o.op in ("switch", "fork", "clear", "rewind") for o in reading.operations):
        # Compactions are then counted over several windows, or turns leave without one.
        return
    left: dict[str, int] = {}
    done = [o for o in reading.operations if o.op == "compact" and o.committed]
    for number, operation in enumerate(done, start=1):
        outcome = operation.outcome()
        for turn in reading.turns_of(outcome.covered if outcome else None) or ():
            left.setdefault(turn, number)
    told = {audit: observation for observation in reading.observations for audit in observation.audits or ()}
    for audit, observation in told.items():
        of = reading.turn_of(audit.turn)
        if of is not None and left.get(of, 0) > audit.compaction:
            tally.fail(
                f"The audit after {audit.compaction} compactions fetched a fact of {reading.quote(of)}, which left "
                f"the window with compaction {left[of]}.",
                fact="audits",
                event=observation.end,
            )


def ret_2_whole(reading: Reading, tally: Tally) -> None:
    """Audits are run in time, of what had left the window, and say the truth."""
    ret_2(reading, tally)
    _never_left(reading, tally)


def ret_2(reading: Reading, tally: Tally) -> None:
    """Each period of compactions: an audit in it, of a turn that had left the window, and its word is true."""
    done = [o for o in reading.operations if o.op == "compact" and o.committed]
    for observation in reading.observations:
        if observation.audits is None:
            continue
        until = sum(1 for o in done if o.end < observation.start)
        periods = until // PERIOD
        if periods:
            tally.trigger()
        fetched = [audit for audit in observation.audits if audit.turn is not None]
        if periods and len(fetched) < periods:
            tally.fail(
                f"{until} compactions were committed, and {len(fetched)} audits fetched a fact of an evicted turn.",
                fact="audits",
                event=observation.end,
            )
        for audit in fetched:
            turn = reading.turn_of(audit.turn)
            if turn is not None and turn in reading.said and reading.said[turn].at > observation.start:
                continue
            if turn is None or turn not in reading.said:
                tally.fail(
                    f"An audit says that it fetched a fact of {audit.turn}, which is no turn.",
                    fact="audits",
                    event=observation.end,
                )


@dataclass(slots=True)
class _Accepted:
    """Whether the caller accepted the loss, and since when."""

    since: int | None = None


def ret_3(reading: Reading, tally: Tally) -> None:
    """While degraded: nothing is let go that alone held something, and reads that may be affected say so."""
    for lane in reading.lanes:
        accepted: _Accepted = _Accepted()
        for stretch in lane:
            overridden = [o for o in stretch.of("override") if o.committed]
            if overridden:
                accepted.since = overridden[0].end
            if _degraded(stretch.before) and stretch.before.status is not None:
                _let_go(reading, tally, stretch, accepted)
            _affected(reading, tally, stretch.after)


def _let_go(reading: Reading, tally: Tally, stretch: Stretch, accepted: _Accepted) -> None:
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
        if assertion.turn in stretch.after.withdrawn or mine & stretch.after.damaged:
            # Lost by what the suite did itself, and not by what was let go.
            continue
        was, now = hold(reading, stretch.before, assertion), hold(reading, stretch.after, assertion)
        if was in HELD and now is Hold.LOOSE:
            tally.fail(
                f"The status was “{stretch.before.status}”, nobody had accepted a loss, and {stretch.named()} let go "
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


def ret_4(reading: Reading, tally: Tally) -> None:
    """No clock step and no read makes anything expire before its lifetime has passed."""
    lifetime = reading.header.settings.lifetime
    passing = [o for o in reading.operations if o.op in ("expire", "clock") and o.ok]
    let_go = {str(o.arguments.get("token", "")): o.start for o in reading.operations if o.op == "evict"}
    archived: dict[str, int] = {}
    for observation in reading.observations:
        for token, answer in observation.answers.items():
            if token not in reading.issued or let_go.get(token, observation.start) < observation.start:
                continue
            begun = archived.setdefault(token, _archived_at(reading, token))
            since = [o for o in passing if begun < o.end < observation.start]
            passed = sum(float(o.arguments.get("seconds", 0)) for o in since if o.op == "expire")
            jumps = [o for o in since if o.op == "clock"]
            if passed > 0 and lifetime is None:
                # Whatever lifetime it has of its own is not known.
                continue
            if lifetime is not None and passed >= lifetime:
                continue
            tally.trigger(int(bool(since)))
            if answer.kind is not AnswerKind.EXPIRED:
                continue
            after = ", ".join(f"{float(o.arguments.get('shift', 0)):+g} s" for o in jumps)
            tally.fail(
                f"Pointer {token} answers with “expired” after {passed:g} s"
                + (f" of a lifetime of {lifetime:g} s" if lifetime is not None else "")
                + (f"; the clock had jumped by {after}" if jumps else "")
                + ".",
                fact=token,
                event=observation.end,
            )


def _archived_at(reading: Reading, token: str) -> int:
    """An event before which a token's original was not archived yet: its turn had just come in."""
    turns = reading.turns_of(reading.pointers[token].covers) or frozenset()
    return max((reading.said[turn].at for turn in turns), default=reading.issued[token])


def ret_5(reading: Reading, tally: Tally) -> None:
    """Every reading of the status, at whatever time: answered, and with the reason where it is degraded."""
    last: Operation | None = None
    for operation in reading.operations:
        if operation.op != "status":
            last = operation if operation.op not in ("live", "get", "pointers", "manifest", "tombstones") else last
            continue
        tally.trigger()
        after = last.op if last is not None else "the beginning"
        if not operation.ok:
            tally.fail(
                f"After {after} the status cannot be read: {operation.error or 'no answer'}.",
                fact="status",
                event=operation.end,
            )
        elif operation.value != LOSSLESS and not str(operation.value).partition(":")[2].strip():
            tally.fail(
                f"After {after} the status is “{operation.value}”, and says no reason.",
                fact="status",
                event=operation.end,
            )


def _since(reading: Reading, tally: Tally) -> None:
    """Since when: told while it is degraded and not otherwise, and the same as long as it stays so."""
    before: dict[str, Observation] = {}
    for observation in reading.observations:
        since, status, last = observation.since, observation.status, before.get(observation.session)
        if since is None or status is None:
            continue
        before[observation.session] = observation
        tally.trigger()
        if (status == LOSSLESS) is not (since.value is None):
            told = "nothing" if since.value is None else f"{since.value:g}"
            tally.fail(
                f"The status is “{shorten(status)}”, and since when it is degraded is told as {told}.",
                fact="status",
                event=since.at,
            )
        elif last is not None and last.since is not None and last.status == status != LOSSLESS:
            harmed = any(o.op == "corrupt" and last.end < o.end < observation.start for o in reading.operations)
            if last.since.value != since.value and not harmed:
                tally.fail(
                    f"The status is “{shorten(status)}” as it was before, and since when it is so was told as "
                    f"{last.since.value} and is now {since.value}.",
                    fact="status",
                    event=since.at,
                )


def ret_5_whole(reading: Reading, tally: Tally) -> None:
    """Why, and since when."""
    ret_5(reading, tally)
    _since(reading, tally)


STATUS = (Mechanism.STATUS,)

CHECKERS = (
    RuleChecker(rule="RET-1", minimum=3, mechanisms=STATUS, examine=ret_1),
    RuleChecker(rule="RET-2", minimum=1, mechanisms=(Mechanism.AUDITS,), examine=ret_2_whole),
    RuleChecker(rule="RET-3", minimum=1, mechanisms=STATUS, examine=ret_3),
    RuleChecker(rule="RET-4", minimum=3, mechanisms=(Mechanism.EXPIRY, Mechanism.CLOCKS), examine=ret_4),
    RuleChecker(rule="RET-5", minimum=5, mechanisms=STATUS, examine=ret_5_whole),
)
