"""What the summaries of a branch lead to: pointers, and how many of them cannot be followed yet, or at all."""

from anchorhold_reference import cold
from anchorhold_reference.session import Session
from anchorhold_reference.under import UNDER
from anchorhold_reference.values import Ratios


def pointers(session: Session) -> list[tuple[int, str, cold.Issued]]:
    """Every pointer to an original under the summaries in the window, with the summary and the turn, in order of
    the turns; those whose copy is outstanding among them (PTR-4)."""
    found: dict[int, tuple[int, str, cold.Issued]] = {}
    for (summary,) in session.ledger.all(
        "SELECT w.carrier FROM live w JOIN summary s ON s.carrier = w.carrier WHERE w.session = ? "
        "ORDER BY w.position",
        (session.id,),
    ):
        for turn, *row in session.ledger.all(
            f"SELECT t.id, {cold.COLUMNS} FROM {UNDER} JOIN turn t ON t.carrier = k.carrier "  # noqa: S608
            "JOIN pointer p ON p.span = t.carrier AND p.holding = 'committed' WHERE x.carrier = ? ORDER BY t.carrier",
            (session.id, summary),
        ):
            issued = cold.issued_of(*row)
            found[issued.span] = int(summary), str(turn), issued
    return list(found.values())


def is_pending(session: Session, summary: int) -> bool:
    """Whether a copy of an original under a summary is outstanding: the summary is declared pending (PTR-1)."""
    # Mostly nothing is outstanding at all, and then nobody goes through what is under the summary.
    outstanding = session.ledger.first(
        "SELECT 1 FROM lineage g JOIN pointer p ON p.session = g.node AND p.copy = 'outstanding' "
        "AND p.holding || '' = 'committed' AND p.span BETWEEN g.first AND g.last WHERE g.session = ? LIMIT 1",
        (session.id,),
    )
    return (
        outstanding is not None
        and session.ledger.first(
            f"SELECT 1 FROM {UNDER} JOIN pointer p ON p.span = k.carrier AND p.copy = 'outstanding' "  # noqa: S608
            "AND p.holding = 'committed' WHERE x.carrier = ? LIMIT 1",
            (session.id, summary),
        )
        is not None
    )


def ratios(session: Session) -> Ratios:
    """Committed summaries of the branch, how many of them are pending, and how many unresolvable (PTR-5).

    A summary is counted by the turns that it was the first to replace. What was erased counts as neither (ERA-1);
    what had landed and was damaged later is told by `status`.
    """
    ledger = session.ledger

    def count(condition: str) -> int:
        (n,) = ledger.one(
            "SELECT count(*) FROM lineage g JOIN summary s ON s.session = g.node "  # noqa: S608
            "AND s.carrier BETWEEN g.first AND g.last JOIN carrier c ON c.id = s.carrier AND c.state = 'committed' "
            f"WHERE g.session = ? {condition}",
            (session.id,),
        )
        return int(n)

    def of(pointer: str) -> str:
        # From the pointers of that kind, which are few, and not from all that is under the summaries.
        return (
            "AND s.carrier IN (SELECT k.summary FROM pointer p JOIN covers k ON k.carrier = p.span "  # noqa: S608
            f"WHERE p.holding || '' = 'committed' AND {pointer})"
        )

    with ledger.reading():
        return Ratios(
            committed=count(""),
            pending=count(of("p.copy = 'outstanding'")),
            unresolvable=count(of("p.copy = 'unresolvable'")),
        )
