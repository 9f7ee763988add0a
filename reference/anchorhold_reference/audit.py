"""Audits and damage: whether what is said to be retrievable was in fact retrieved (RET-1, RET-2).

An audit takes a span that has left the window, pins one of its facts, and fetches the original by the path on which
reconstitution fetches it.
"""

import contextlib

from anchorhold_reference import cold
from anchorhold_reference.codec import digest, shown
from anchorhold_reference.decide import Holding
from anchorhold_reference.errors import MismatchError, StoreError
from anchorhold_reference.pairs import source_of
from anchorhold_reference.pointer import Address, pack
from anchorhold_reference.session import Session
from anchorhold_reference.values import Audit

PERIOD = 500
"""Compactions after the last audit from which the store may no longer be called lossless (RET-2)."""
STRIDE = 2654435761
"""Spreads audits over the spans: a multiplier that has no factor in common with any count below it."""


def audit_due(session: Session, *, every: int) -> bool:
    """Whether so many compactions have committed since the last audit. Counted from that audit on: were it asked
    whether the number of compactions is a multiple, the audit would be left out whenever another process commits
    in between, or an audit could not be made at its turn."""
    return session.compactions() - audited_at(session) >= every


def audit(session: Session, *, now: float) -> bool | None:
    """Audit one span; whether it passed, or none where no original is in the cold store."""
    ledger = session.ledger
    with ledger.reading():
        (done,) = ledger.one("SELECT count(*) FROM audit WHERE session = ?", (session.id,))
        (stored,) = ledger.one(f"SELECT count(*) FROM {_STORED}", (session.id,))  # noqa: S608
        if not stored:
            return None
        (span,) = ledger.one(
            f"SELECT p.span FROM {_STORED} ORDER BY p.span LIMIT 1 OFFSET ?",  # noqa: S608
            (session.id, (done + 1) * STRIDE % stored),
        )
    return audit_span(session, int(span), now=now)


_STORED = (
    "lineage g JOIN pointer p ON p.session = g.node AND p.holding = 'committed' AND p.copy = 'landed' "
    "AND p.span BETWEEN g.first AND g.last WHERE g.session = ?"
)


def audit_span(session: Session, span: int, *, now: float) -> bool | None:
    """Audit this span, and write down how it went; whether it passed, or none where its original has left the cold
    store through the gate meanwhile: that is no failure of the store's."""
    ledger = session.ledger
    with ledger.reading():
        message = _look(session, span)
    with ledger.transaction():
        if message is not None and not _stored(session, span):
            return None
        ledger.run(
            "INSERT INTO audit (session, compaction, span, passed, message, time) VALUES (?, ?, ?, ?, ?, ?)",
            (session.id, session.compactions(), span, int(message is None), message or "", now),
        )
    return message is None


def audited_at(session: Session) -> int:
    """After how many compactions the branch's latest audit was, those of its past counted; 0 where there was none."""
    (last,) = session.ledger.one("SELECT coalesce(max(compaction), 0) FROM audit WHERE session = ?", (session.id,))
    return int(last)


def failed_audits(session: Session) -> list[tuple[int, str]]:
    """Spans whose latest audit failed, with what was wrong: of those that the branch sees, whichever branch audited
    them, because they have one original; and that of its own latest audit, also where its original has left since."""
    rows = session.ledger.all(
        # CROSS: from what failed, of which there is little.
        "SELECT a.id, a.span, a.message FROM audit a CROSS JOIN pointer p CROSS JOIN lineage g "  # noqa: S608
        "WHERE a.passed = 0 AND p.span = a.span AND p.holding = 'committed' AND g.session = ? "
        f"AND g.node = p.session AND p.span BETWEEN g.first AND g.last AND {_LATEST} "
        f"UNION SELECT a.id, a.span, a.message FROM audit a WHERE a.passed = 0 AND {_LATEST} "
        "AND a.id = (SELECT max(c.id) FROM audit c WHERE c.session = ?) ORDER BY 1",
        (session.id, session.id),
    )
    return [(int(span), str(message)) for _, span, message in rows]


_LATEST = "NOT EXISTS (SELECT 1 FROM audit b WHERE b.span = a.span AND b.id > a.id)"


def audits(session: Session) -> list[Audit]:
    """Every audit of the branch, in order; of its past, the latest before it began."""
    return [
        Audit(compaction=compaction, turn=turn, passed=bool(passed))
        for compaction, turn, passed in session.ledger.all(
            "SELECT a.compaction, CASE c.state WHEN 'erased' THEN NULL ELSE t.id END, a.passed FROM audit a "
            "LEFT JOIN turn t ON t.carrier = a.span LEFT JOIN carrier c ON c.id = a.span "
            "WHERE a.session = ? ORDER BY a.id",
            (session.id,),
        )
    ]


def _stored(session: Session, span: int) -> bool:
    """Whether the original of a span is to be had, by its pointer."""
    issued = cold.pointer_to(session.ledger, span)
    return issued is not None and issued.holding is Holding.COMMITTED


def _look(session: Session, span: int) -> str | None:
    """What is wrong with the original of a span; none where its pinned fact was found verbatim."""
    issued = cold.pointer_to(session.ledger, span)
    if issued is None or issued.holding is not Holding.COMMITTED:
        return "its pointer is gone"
    try:
        turn = cold.fetch(session.ledger, issued)
    except (MismatchError, StoreError) as error:
        return str(error)
    pinned = session.ledger.first(
        "SELECT f.kind, f.literal FROM assertion a JOIN fact f ON f.id = a.fact WHERE a.span = ? LIMIT 1",
        (span,),
    )
    if pinned is None or pinned[0] == "argument":  # arguments are pinned decoded, and stand in the original as JSON
        return None
    return None if pinned[1] in (shown(turn) or "") else f"turn {turn.id!r} does not say what it is on record to say"


def note_damage(session: Session, *, epoch: int, message: str, now: float) -> None:
    """Remember that an original was found damaged: the store is not lossless from then on."""
    with session.ledger.transaction():
        session.ledger.run(
            "INSERT INTO damage (epoch, session, message, time) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING",
            (epoch, session.id, message, now),
        )


def repair(session: Session) -> int:
    """Look again at every original that was found lost or damaged, put those back whose source is still held, and
    answer with how many are still bad. A damaged turn in the window is put back where another branch has its original
    in the cold store.

    What is right again is taken off the record; an audit that had failed passes when it is made again.
    """
    ledger = session.ledger
    bad = 0
    for epoch, span, branch, landed, payload, *address in ledger.all(
        "SELECT p.epoch, p.span, p.session, p.copy = 'landed', t.payload, p.slot, p.epoch, p.issuer, p.digest "
        "FROM damage d JOIN pointer p ON p.epoch = d.epoch "
        "AND p.holding = 'committed' JOIN turn t ON t.carrier = p.span "
        "JOIN visible v ON v.carrier = p.span AND v.session = ? ORDER BY p.epoch",
        (session.id,),
    ):
        at = Address(*address)
        with ledger.transaction():
            stored = cold.stored(ledger, at.slot, epoch)
            right = stored is not None and digest(stored) == at.digest
            if not right and payload is not None and digest(cold.as_bytes(payload)) == at.digest:
                place = cold.Place(
                    slot=at.slot,
                    epoch=epoch,
                    span=span,
                    session=branch,
                    address=pack(at) if landed else None,
                    payload=bytes(payload),
                )
                cold.mend(ledger, place)
                right = True
            if right:
                ledger.run("DELETE FROM damage WHERE epoch = ?", (epoch,))
            else:
                bad += 1
    for span in session.damaged:
        with ledger.transaction(), contextlib.suppress(MismatchError, StoreError):
            source = source_of(ledger, span)
            if source is not None:
                ledger.run("UPDATE turn SET payload = ? WHERE carrier = ?", (source, span))
    return bad
