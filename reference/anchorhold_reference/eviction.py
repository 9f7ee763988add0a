"""The gate: what may leave the cold store, and on whose decision an assertion may be dropped.

Policies propose and callers ask; both come through `evict`, and nothing else empties a slot of a committed pointer
(ANC-2). The check and the removal are one immediate transaction, so of two removals that are safe alone and not
together the second sees the first (ANC-3).
"""

from collections.abc import Sequence

from anchorhold_reference import cold
from anchorhold_reference.anchors import anchors_of
from anchorhold_reference.decide import Holding, stays_anchored
from anchorhold_reference.extract import Mention
from anchorhold_reference.extract.facts import UnreadableError
from anchorhold_reference.pointer import Address, seal, unseal
from anchorhold_reference.session import Session
from anchorhold_reference.values import Candidate
from anchorhold_spec.vocabulary import Outcome, OutcomeKind, Tombstone


def evict(session: Session, token: str) -> Outcome:
    """Remove the original under a pointer, if each assertion that it alone anchors is carried or tombstoned
    (ANC-1)."""
    address = unseal(token)
    ledger = session.ledger
    with ledger.transaction():
        issued = None if address is None else cold.look_up(ledger, session.id, address)
        if issued is None:
            return Outcome(kind=OutcomeKind.REFUSED, reason="this session never issued that pointer (EPO-2)")
        if issued.holding is Holding.GONE:
            return Outcome(kind=OutcomeKind.NOTHING, reason="the original has left the store already")
        if issued.holding is Holding.STAGED:
            return Outcome(
                kind=OutcomeKind.REFUSED,
                reason="a compaction is just copying this original (PTR-2); ask again after it",
            )
        loose = tuple(words for words, anchors in anchors_of(ledger, issued.span) if not stays_anchored(anchors))
        if loose:
            return Outcome(
                kind=OutcomeKind.REFUSED,
                reason=f"{len(loose)} assertion{'' if len(loose) == 1 else 's'} would come loose (ANC-1): only this "
                "original anchors them; tombstone each by name, or keep it",
                facts=loose,
            )
        cold.remove(ledger, issued.address.slot)
        ledger.run("UPDATE pointer SET holding = 'gone' WHERE epoch = ?", (issued.address.epoch,))
    return Outcome(kind=OutcomeKind.COMMITTED)


def candidates(session: Session) -> list[Candidate]:
    """Every original in the cold store, oldest first."""
    return [
        Candidate(
            token=seal(Address(slot=slot, epoch=epoch, issuer=bytes(issuer), digest=bytes(mark))),
            turn=turn,
            stored=stored,
            size=size,
        )
        for slot, epoch, issuer, mark, turn, stored, size in session.ledger.all(
            "SELECT p.slot, p.epoch, p.issuer, p.digest, t.id, p.time, length(o.payload) FROM pointer p "
            "JOIN turn t ON t.carrier = p.span JOIN cold o ON o.slot = p.slot AND o.epoch = p.epoch "
            "WHERE p.session = ? AND p.holding = 'committed' ORDER BY p.time, p.epoch",
            (session.id,),
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
            if superseder is None or not _anchored(session, superseder):
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
        )
        for literal, turn, decided_by, reason, time, subject, attribute in session.ledger.all(
            "SELECT x.literal, t.id, x.decided_by, x.reason, x.time, f.subject, f.attribute FROM tombstone x "
            "JOIN turn t ON t.carrier = x.span JOIN fact f ON f.id = x.fact "
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
            session.record(span, found)
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
    around = sorted((len(text), fact) for fact, text in rows if literal and literal in text)
    if around:
        return [fact for length, fact in around if length == around[0][0]]
    return [fact for fact, text in rows if text in literal]


def _anchored(session: Session, span: int) -> bool:
    """Whether what a span asserts can still be had from its original."""
    row = session.ledger.first(
        "SELECT c.state = 'live' OR EXISTS (SELECT 1 FROM pointer p WHERE p.span = c.id AND p.holding = 'committed') "
        "FROM carrier c WHERE c.id = ?",
        (span,),
    )
    return row is not None and bool(row[0])
