"""The gate: what may leave the cold store, and on whose decision an assertion may be dropped.

Policies propose and callers ask; both come through `evict`, and nothing else empties a slot of a committed pointer
(ANC-2). The check and the removal are one immediate transaction, so of two removals that are safe alone and not
together the second sees the first (ANC-3).
"""

from collections.abc import Mapping, Sequence

from anchorhold_reference import cold
from anchorhold_reference.ages import advance
from anchorhold_reference.anchors import anchors_of, original_there
from anchorhold_reference.decide import Copy, Holding, may_expire, stays_anchored
from anchorhold_reference.extract import Mention, stands_in
from anchorhold_reference.extract.facts import UnreadableError
from anchorhold_reference.pointer import unseal
from anchorhold_reference.session import Session
from anchorhold_reference.status import stopped_by
from anchorhold_reference.values import Candidate
from anchorhold_spec.vocabulary import Outcome, OutcomeKind, Tombstone


def evict(
    session: Session,
    token: str,
    *,
    now: tuple[str, float],
    horizon: float | None,
    holding: Holding = Holding.GONE,
) -> Outcome:
    """Remove the original under a pointer, if each assertion that it alone anchors is carried or tombstoned (ANC-1)
    in every branch that sees it, if its horizon is over (PTR-2, IDX-1), and if nothing is degraded (RET-3).

    `now` is what `Uptime` says; `horizon` as in `Settings`. The gate is asked first, so that a refusal names facts.
    """
    address = unseal(token)
    ledger = session.ledger
    with ledger.transaction():
        issued = None if address is None else cold.look_up(ledger, session.id, address)
        if issued is None:
            return _no("this session never issued that pointer (EPO-2)")
        if issued.holding in {Holding.GONE, Holding.EXPIRED, Holding.ERASED}:
            return Outcome(kind=OutcomeKind.NOTHING, reason="the original has left the store already")
        if issued.holding is Holding.STAGED or issued.copy is Copy.OUTSTANDING:
            return _no("this original is just being copied (PTR-2); ask again after it")
        stopped = stopped_by(session)
        if stopped:
            return _no(
                f"degraded: {'; '.join(stopped)}; nothing is removed until it is repaired, or the loss is accepted "
                "by override() (RET-3)"
            )
        loose: dict[str, None] = {}
        for branch in session.seen_by(issued.span):
            if (
                ledger.first("SELECT 1 FROM live WHERE session = ? AND carrier = ?", (branch.id, issued.span))
                is not None
            ):
                return _no(f"branch {branch.branch!r} has the turn in its window, and is to point to it (PTR-2)")
            for words, anchors in anchors_of(branch, issued.span):
                if not stays_anchored(anchors):
                    loose.setdefault(words)
        if loose:
            return Outcome(
                kind=OutcomeKind.REFUSED,
                reason=f"{len(loose)} assertion{'' if len(loose) == 1 else 's'} would come loose (ANC-1): only this "
                "original anchors them; tombstone each by name, or keep it",
                facts=tuple(loose),
            )
        age = advance(ledger, now)
        (stored,) = ledger.one("SELECT age FROM pointer WHERE epoch = ?", (issued.address.epoch,))
        if not may_expire(age=age - stored, horizon=horizon):
            until = "the session's end" if horizon is None else f"{horizon - (age - stored):.0f} s from now"
            return _no(f"evidence may be asked for until {until} (PTR-2, IDX-1); it stays, whoever wants it gone")
        cold.remove(ledger, issued.address.slot, issued.address.epoch)
        ledger.run("UPDATE pointer SET holding = ? WHERE epoch = ?", (holding.value, issued.address.epoch))
    cold.tidy(ledger)
    return Outcome(kind=OutcomeKind.COMMITTED)


def candidates(session: Session, used: Mapping[str, float]) -> list[Candidate]:
    """Every original in the cold store, oldest first; `used` gives when each token was last followed, as far as is
    known."""
    return [
        Candidate(token=token, turn=turn, stored=stored, used=max(stored, used.get(token, stored)), size=size)
        for turn, stored, size, token in (
            (turn, float(stored), int(size), cold.issued_of(*row).token)
            for turn, stored, size, *row in session.ledger.all(
                f"SELECT t.id, p.age, o.size, {cold.COLUMNS} FROM lineage g "  # noqa: S608
                "JOIN pointer p ON p.session = g.node AND p.holding = 'committed' "
                "AND p.span BETWEEN g.first AND g.last "
                "JOIN turn t ON t.carrier = p.span JOIN cold o ON o.slot = p.slot AND o.epoch = p.epoch "
                "WHERE g.session = ? ORDER BY p.age, p.epoch",
                (session.id,),
            )
        )
    ]


def tombstone(
    session: Session,
    *,
    literal: str,
    source: str,
    reason: str,
    decided_by: str,
    superseded_by: str | None,
    now: float,
) -> Outcome:
    """Drop one assertion on the record: what turn `source` says with `literal` (MAN-4, MAN-6)."""
    if not reason.strip() or not decided_by.strip():
        return _no("a tombstone names who decided and why (MAN-6); give both")
    ledger = session.ledger
    with ledger.transaction():
        span = session.span_of(source)
        if span is None:
            return _no(f"there is no turn {source!r} in this session; name the turn that asserts it")
        unreadable = _read_if_live(session, span)
        if unreadable:
            return _no(f"turn {source!r} has no manifest, so no assertion of it can be named (MAN-3): {unreadable}")
        facts = _named(session, span, literal)
        if not facts:
            return _no(
                f"turn {source!r} asserts nothing with {literal!r}; see manifest() for what it asserts (MAN-6)"
            )
        superseder = None
        if superseded_by is not None:
            superseder = session.span_of(superseded_by)
            if superseder is None or not original_there(session, superseder):
                return _no(f"turn {superseded_by!r}, named as superseder, is not anchored itself (MAN-4)")
        before = ledger.one("SELECT count(*) FROM tombstone WHERE session = ?", (session.id,))
        ledger.many(
            "INSERT INTO tombstone (span, fact, session, literal, decided_by, reason, time, superseder) "
            "VALUES (?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING",
            [(span, fact, session.id, literal, decided_by, reason, now, superseder) for fact in facts],
        )
        if ledger.one("SELECT count(*) FROM tombstone WHERE session = ?", (session.id,)) == before:
            return Outcome(kind=OutcomeKind.NOTHING, reason=f"{literal!r} of turn {source!r} is tombstoned already")
    return Outcome(kind=OutcomeKind.COMMITTED)


def tombstones(session: Session) -> list[Tombstone]:
    """Every tombstone of the session, in the order of the turns that asserted."""
    return [
        Tombstone(
            literal=literal,
            source=turn,
            decided_by=decided_by,
            reason=reason,
            time=time,
            subject=subject,
            attribute=attribute,
            superseder=superseder,
        )
        for literal, turn, decided_by, reason, time, subject, attribute, superseder in session.ledger.all(
            "SELECT x.literal, t.id, x.decided_by, x.reason, x.time, f.subject, f.attribute, "
            "(SELECT s.id FROM turn s WHERE s.carrier = x.superseder) FROM tombstone x "
            "JOIN turn t ON t.carrier = x.span JOIN fact f ON f.id = x.fact "
            "JOIN visible v ON v.carrier = x.span AND v.session = x.session "
            "WHERE x.session = ? ORDER BY x.span, x.fact",
            (session.id,),
        )
    ]


def _no(reason: str) -> Outcome:
    return Outcome(kind=OutcomeKind.REFUSED, reason=reason)


def _read_if_live(session: Session, span: int) -> str | None:
    """Write down what a span in the window asserts, if that was not done yet; why it cannot be, where it cannot."""
    for one in session.live():
        if one.carrier == span:
            try:
                found: Sequence[Mention] = session.read(one)
            except UnreadableError as error:
                return str(error)
            session.record({span: found}, calling={span} if one.turn is not None and one.turn.calls else ())
    return None


def _named(session: Session, span: int, literal: str) -> list[int]:
    """Facts of a span that a literal names: those that are it; else the narrowest that contain it; else those
    within it."""
    rows: list[tuple[int, str]] = session.ledger.all(
        "SELECT f.id, f.literal FROM assertion a JOIN fact f ON f.id = a.fact WHERE a.span = ?", (span,)
    )
    exact = [fact for fact, text in rows if text == literal]
    if exact:
        return exact
    # As whole words: `J-7` names nothing of a turn that says `J-77` (REC-1).
    around = sorted((len(text), fact) for fact, text in rows if stands_in(text, literal) >= 0)
    if around:
        return [fact for length, fact in around if length == around[0][0]]
    return [fact for fact, text in rows if stands_in(literal, text) >= 0]
