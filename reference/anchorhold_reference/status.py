"""Whether every original can still be had: counted from the ledger, not remembered (RET-5, PTR-5); and what stops
while it cannot (RET-3)."""

from dataclasses import dataclass

from anchorhold_reference.audit import PERIOD, audited_at, failed_audits
from anchorhold_reference.decide import stopping
from anchorhold_reference.session import Session
from anchorhold_reference.values import Status

UNRESOLVABLE = (
    "p.copy = 'unresolvable' OR EXISTS (SELECT 1 FROM damage d WHERE d.epoch = p.epoch) OR (p.copy = 'landed' "
    "AND NOT EXISTS (SELECT 1 FROM cold o WHERE o.slot = p.slot AND o.epoch = p.epoch))"
)
"""That a committed pointer cannot be followed: its copy could not be made, is lost, or was found damaged."""
_WINDOW = "window:"
"""Begins the key of a cause that a damaged turn in the window is."""
_ALL = 1 << 62
"""More than there are of anything."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Cause:
    """One thing that keeps the store from being lossless."""

    key: str
    """Names it on record, so that a caller can accept it."""
    reason: str
    stops: bool
    """Lossy eviction stops while it lasts. What a caller let go on request does not: that was the decision."""


def causes(session: Session) -> list[Cause]:
    """What keeps the store from being lossless."""
    found = _faults(session)
    removed = _count(session, "p.holding IN ('gone', 'expired')")
    if removed:
        found.append(
            Cause(key="removed", reason=f"{removed} originals were removed through the gate (RET-1)", stops=False)
        )
    return found


def _faults(session: Session, *, most: int = _ALL) -> list[Cause]:
    """What stops lossy eviction, from records that are few: the gate asks each time, so nothing under the summaries
    is counted. `most`: so many of a kind are enough, where only whether there are any is asked."""
    ledger = session.ledger
    found = [
        Cause(key=f"damage:{epoch}", reason=f"an original is lost or damaged (EPO-3): {message}", stops=True)
        for epoch, message in ledger.all(
            # Not by a join, or SQLite may begin with every pointer: of what is damaged there is little.
            "SELECT d.epoch, d.message FROM damage d WHERE EXISTS (SELECT 1 FROM pointer p "
            "JOIN visible v ON v.carrier = p.span WHERE p.epoch = d.epoch AND p.holding = 'committed' "
            "AND v.session = ?) ORDER BY d.epoch LIMIT ?",
            (session.id, most),
        )
    ]
    found += [
        Cause(key=f"copy:{epoch}", reason="an original was damaged before its copy had landed (PTR-5)", stops=True)
        for (epoch,) in ledger.all(
            # Not by the index over `holding`, which has every original: by the one of those that cannot be had.
            "SELECT p.epoch FROM lineage g JOIN pointer p ON p.session = g.node AND p.copy = 'unresolvable' "
            "AND p.holding || '' = 'committed' AND p.span BETWEEN g.first AND g.last WHERE g.session = ? "
            "ORDER BY p.epoch LIMIT ?",
            (session.id, most),
        )
    ]
    found += [
        Cause(key=f"audit:{span}", reason=f"the last audit failed: {message} (RET-1)", stops=True)
        for span, message in failed_audits(session)
    ]
    found += [Cause(key=f"{_WINDOW}{span}", reason=reason, stops=True) for span, reason in _damaged(session)[:most]]
    overdue = session.compactions() - audited_at(session) > PERIOD
    if overdue and _any_stored(session):
        found.append(Cause(key="audit", reason=f"no audit for more than {PERIOD} compactions (RET-2)", stops=True))
    return found


def _damaged(session: Session) -> list[tuple[int, str]]:
    """What was damaged in the window when it was last read, and has not left it since."""
    if not session.damaged:
        return []
    there = {int(one) for (one,) in session.ledger.all("SELECT carrier FROM live WHERE session = ?", (session.id,))}
    return [(span, reason) for span, reason in session.damaged.items() if span in there]


def faults_in_short(session: Session) -> list[str]:
    """What stops lossy eviction, one of each kind in words, for answers: there may be as many as originals."""
    kinds: dict[str, list[str]] = {}
    for cause in _faults(session, most=2):
        kinds.setdefault(cause.key.partition(":")[0], []).append(cause.reason)
    return [
        reasons[0] if len(reasons) == 1 else f"{reasons[0]} (and more of that kind)" for reasons in kinds.values()
    ]


def _any_removed(session: Session) -> bool:
    return any(
        session.ledger.first(
            "SELECT 1 FROM lineage g JOIN pointer p ON p.session = g.node AND p.holding = ? "
            "AND p.span BETWEEN g.first AND g.last WHERE g.session = ? LIMIT 1",
            (holding, session.id),
        )
        for holding in ("gone", "expired")
    )


def _any_stored(session: Session) -> bool:
    return (
        session.ledger.first(
            "SELECT 1 FROM lineage g JOIN pointer p ON p.session = g.node AND p.holding = 'committed' "
            "AND p.copy = 'landed' AND p.span BETWEEN g.first AND g.last WHERE g.session = ? LIMIT 1",
            (session.id,),
        )
        is not None
    )


def stopped_by(session: Session, *, compaction: bool = False) -> tuple[str, ...]:
    """Reasons for which lossy eviction is stopped now (RET-3). A damaged turn in the window stops no `compaction`:
    that retains it, and makes and reads back a copy of all else that it replaces (PRO-2)."""
    found = {
        cause.key: cause.reason for cause in _faults(session) if not (compaction and cause.key.startswith(_WINDOW))
    }
    if not found:
        return ()
    return tuple(found[key] for key in stopping(tuple(found), accepted(session)))


def accepted(session: Session) -> frozenset[str]:
    """Causes that a caller has accepted on record."""
    return frozenset(
        str(cause) for (cause,) in session.ledger.all("SELECT cause FROM override WHERE session = ?", (session.id,))
    )


def note(session: Session, *, now: float) -> None:
    """Write down since when the store is degraded, or that it is not any more (RET-5). Call it after whatever may
    have changed that."""
    with session.ledger.transaction():
        degraded = bool(_faults(session, most=1)) or _any_removed(session)
        (since,) = session.ledger.one("SELECT degraded_since FROM session WHERE id = ?", (session.id,))
        if degraded != (since is not None):
            session.ledger.run(
                "UPDATE session SET degraded_since = ? WHERE id = ?", (now if degraded else None, session.id)
            )


def _count(session: Session, condition: str) -> int:
    """Pointers of the branch for which a condition holds."""
    (n,) = session.ledger.one(
        "SELECT count(*) FROM lineage g JOIN pointer p ON p.session = g.node "  # noqa: S608
        f"AND p.span BETWEEN g.first AND g.last WHERE g.session = ? AND {condition}",
        (session.id,),
    )
    return int(n)


def lost(session: Session) -> list[tuple[int, int]]:
    """Epoch and slot of committed pointers whose bytes are not in the store, where nobody has written it down yet."""
    return [
        (int(epoch), int(slot))
        for epoch, slot in session.ledger.all(
            "SELECT p.epoch, p.slot FROM lineage g JOIN pointer p ON p.session = g.node "
            "AND p.holding = 'committed' AND p.copy = 'landed' AND p.span BETWEEN g.first AND g.last "
            "WHERE g.session = ? "
            "AND NOT EXISTS (SELECT 1 FROM cold o WHERE o.slot = p.slot AND o.epoch = p.epoch) "
            "AND NOT EXISTS (SELECT 1 FROM damage d WHERE d.epoch = p.epoch)",
            (session.id,),
        )
    ]


def status(session: Session, *, now: float) -> Status:
    """Lossless or degraded, with the reasons, since when, and the counts."""
    ledger = session.ledger
    with ledger.reading():
        session.live()  # what is damaged there is found by reading it
    missing = lost(session)
    if missing:
        with ledger.transaction():
            ledger.many(
                "INSERT INTO damage (epoch, session, message, time) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING",
                [(epoch, session.id, f"slot-{slot} holds nothing at epoch {epoch}", now) for epoch, slot in missing],
            )
    note(session, now=now)
    with ledger.reading():
        found = causes(session)
        since, compactions = ledger.one("SELECT degraded_since, compactions FROM session WHERE id = ?", (session.id,))
        (turns,) = ledger.one(
            "SELECT count(*) FROM lineage g JOIN turn t ON t.session = g.node "
            "AND t.carrier BETWEEN g.first AND g.last WHERE g.session = ?",
            (session.id,),
        )
        (audits,) = ledger.one("SELECT count(*) FROM audit WHERE session = ?", (session.id,))
        (dropped,) = ledger.one("SELECT count(*) FROM tombstone WHERE session = ?", (session.id,))
        (erased,) = ledger.one(
            "SELECT count(*) FROM erasure e JOIN visible v ON v.carrier = e.span WHERE v.session = ?", (session.id,)
        )
        overridden = ledger.all(
            "SELECT DISTINCT reason, time FROM override WHERE session = ? ORDER BY time", (session.id,)
        )
        return Status(
            lossless=not found,
            reasons=_in_short(found),
            since=since,
            stopped=bool(stopped_by(session)),
            turns=turns,
            compactions=compactions,
            committed=_count(session, "p.holding = 'committed'"),
            pending=_count(session, "(p.holding = 'staged' OR (p.holding = 'committed' AND p.copy = 'outstanding'))"),
            unresolvable=_count(session, f"p.holding = 'committed' AND ({UNRESOLVABLE})"),
            evicted=_count(session, "p.holding IN ('gone', 'expired')"),
            audits=audits,
            tombstones=dropped,
            erased=erased,
            overridden=tuple(str(reason) for reason, _ in overridden),
        )


def _in_short(found: list[Cause]) -> tuple[str, ...]:
    """The reasons, those of one kind that are many counted."""
    kinds: dict[str, list[str]] = {}
    for cause in found:
        kinds.setdefault(cause.key.partition(":")[0], []).append(cause.reason)
    return tuple(
        reasons[0] if len(reasons) == 1 else f"{reasons[0]} (and {len(reasons) - 1} more of that kind)"
        for reasons in kinds.values()
    )
