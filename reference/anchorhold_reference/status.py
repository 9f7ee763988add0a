"""Whether every original can still be had: counted from the ledger, not remembered (RET-5, PTR-5)."""

from anchorhold_reference.audit import PERIOD
from anchorhold_reference.session import Session
from anchorhold_reference.values import Status


def status(session: Session) -> Status:
    """Lossless or degraded, with the reasons and the counts."""
    ledger = session.ledger

    def count(query: str) -> int:
        (n,) = ledger.one(query, (session.id,))
        return int(n)

    with ledger.reading():
        turns = count("SELECT count(*) FROM turn WHERE session = ?")
        compactions = count("SELECT compactions FROM session WHERE id = ?")
        committed = count("SELECT count(*) FROM pointer WHERE session = ? AND holding = 'committed'")
        pending = count("SELECT count(*) FROM pointer WHERE session = ? AND holding = 'staged'")
        evicted = count("SELECT count(*) FROM pointer WHERE session = ? AND holding = 'gone'")
        dropped = count("SELECT count(*) FROM tombstone WHERE session = ?")
        lost = count(
            "SELECT count(*) FROM pointer p WHERE p.session = ? AND p.holding = 'committed' AND NOT EXISTS "
            "(SELECT 1 FROM cold o WHERE o.slot = p.slot AND o.epoch = p.epoch)"
        )
        audits = count("SELECT count(*) FROM audit WHERE session = ?")
        damaged = count("SELECT count(*) FROM damage WHERE session = ?")
        audited = ledger.first(
            "SELECT compaction, passed, message FROM audit WHERE session = ? ORDER BY id DESC LIMIT 1", (session.id,)
        )
    reasons = []
    if lost or damaged:
        reasons.append(f"{lost + damaged} originals are lost or damaged (EPO-3)")
    if evicted:
        reasons.append(f"{evicted} originals were removed through the gate (RET-1)")
    if audited is not None and not audited[1]:
        reasons.append(f"the last audit failed: {audited[2]} (RET-1)")
    if committed and compactions - (0 if audited is None else audited[0]) > PERIOD:
        reasons.append(f"no audit for more than {PERIOD} compactions (RET-2)")
    return Status(
        lossless=not reasons,
        reasons=tuple(reasons),
        turns=turns,
        compactions=compactions,
        committed=committed,
        pending=pending,
        unresolvable=lost + damaged,
        evicted=evicted,
        tombstones=dropped,
        audits=audits,
    )
