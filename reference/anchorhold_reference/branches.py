"""Branches of a session: a fork begins with what the parent has, shares the past, and goes its own way (ISO-1).

What is copied is the window, which has a bounded size, and the few rows that say how far the branch sees. Turns,
originals, pointers, facts and summaries of the past are the parent's, read through these rows.
"""

from anchorhold_reference.errors import BranchExistsError
from anchorhold_reference.recovery import take_all_back
from anchorhold_reference.session import Session


def fork(session: Session, branch: str) -> None:
    """Begin a branch from the present state; durable on return.

    A compaction of the parent that is between its steps is undone, so that the branch does not begin in the middle of
    one. Raises `BranchExistsError`.
    """
    ledger = session.ledger
    with ledger.transaction():
        found = ledger.first(
            'SELECT 1 FROM session WHERE "user" == ? AND name == ? AND branch == ?',
            (session.user, session.name, branch),
        )
        if found is not None:
            raise BranchExistsError(branch)
        take_all_back(ledger, session.id)
        made = ledger.insert(
            'INSERT INTO session ("user", name, branch, root, compactions, degraded_since) '
            'SELECT "user", name, ?, root, compactions, degraded_since FROM session WHERE id = ?',
            (branch, session.id),
        )
        (newest,) = ledger.one("SELECT coalesce(max(id), 0) FROM carrier")
        ledger.run(
            "INSERT INTO lineage (session, node, first, last) "
            "SELECT ?, node, first, CASE WHEN last > ? THEN ? ELSE last END FROM lineage WHERE session = ?",
            (made, newest, newest, session.id),
        )
        session.see(made, made, first=newest + 1)
        ledger.run(
            "INSERT INTO live (session, position, carrier) SELECT ?, position, carrier FROM live WHERE session = ?",
            (made, session.id),
        )
        ledger.run(
            "INSERT INTO archived (session, carrier) SELECT ?, carrier FROM archived WHERE session = ?",
            (made, session.id),
        )
        ledger.run(
            "INSERT INTO tombstone (session, span, fact, literal, decided_by, reason, time, superseder) "
            "SELECT ?, span, fact, literal, decided_by, reason, time, superseder FROM tombstone WHERE session = ?",
            (made, session.id),
        )
        ledger.run(
            "INSERT INTO override (session, cause, reason, time) "
            "SELECT ?, cause, reason, time FROM override WHERE session = ?",
            (made, session.id),
        )
        # From where the next one is counted (RET-2), and what it found (RET-1).
        ledger.run(
            "INSERT INTO audit (session, compaction, span, passed, message, time) "
            "SELECT ?, compaction, span, passed, message, time FROM audit WHERE session = ? ORDER BY id DESC LIMIT 1",
            (made, session.id),
        )
