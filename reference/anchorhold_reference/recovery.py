"""What an interrupted compaction left behind: undone before its commit, finished after it (CRA-1, CRA-2).

Both are the very same calls that a compaction itself makes when a step fails, and either may be repeated.
"""

from anchorhold_reference import cold, index
from anchorhold_reference.decide import may_release
from anchorhold_reference.ledger import Ledger


def recover(ledger: Ledger, session: int) -> None:
    """Bring a session to a state that no compaction is under way in. Twice is as good as once.

    Another process that is in the middle of a compaction of the same session notices at its next step, changes
    nothing and says so: a session has one compactor at a time, and the one that opened it last goes on.
    """
    for (summary,) in ledger.all("SELECT id FROM carrier WHERE session = ? AND state = 'staged'", (session,)):
        undo(ledger, summary)
    for (summary,) in ledger.all(
        "SELECT DISTINCT c.leaf FROM turn t JOIN carrier c ON c.id = t.carrier "
        "WHERE t.session = ? AND t.payload IS NOT NULL AND c.leaf IS NOT NULL",
        (session,),
    ):
        release(ledger, summary)
    if index.missing(ledger, session):
        index.catch_up(ledger, session)


def undo_own(ledger: Ledger, session: int) -> None:
    """Undo what this opening of the store staged and never finished. Call it while it has no compaction under way."""
    for (summary,) in ledger.all(
        "SELECT c.id FROM carrier c JOIN summary s ON s.carrier = c.id "
        "WHERE c.session = ? AND c.state = 'staged' AND s.owner = ?",
        (session, ledger.issuer),
    ):
        undo(ledger, summary)


def undo(ledger: Ledger, summary: int) -> None:
    """Take a staged summary back with everything that was written for it; one that is committed stays (ANC-5,
    PTR-6)."""
    with ledger.transaction():
        if ledger.first("SELECT 1 FROM carrier WHERE id = ? AND state = 'staged'", (summary,)) is None:
            return
        for slot, epoch in ledger.all(
            "SELECT o.slot, o.epoch FROM carrier c JOIN cold o ON o.span = c.id WHERE c.claimed = ?", (summary,)
        ):
            cold.remove(ledger, slot)
            ledger.run("DELETE FROM pointer WHERE epoch = ? AND holding = 'staged'", (epoch,))
        # Pointers whose bytes a failing store lost again.
        ledger.run(
            "DELETE FROM pointer WHERE holding = 'staged' AND span IN (SELECT id FROM carrier WHERE claimed = ?)",
            (summary,),
        )
        ledger.run("UPDATE carrier SET claimed = NULL WHERE claimed = ?", (summary,))
        ledger.run("DELETE FROM carries WHERE summary = ?", (summary,))
        ledger.run("DELETE FROM summary WHERE carrier = ?", (summary,))
        ledger.run("DELETE FROM carrier WHERE id = ?", (summary,))


def release(ledger: Ledger, summary: int) -> None:
    """Let go of the sources of a committed summary, each only while its copy is there (PTR-2)."""
    with ledger.transaction():
        for span, state, landed in ledger.all(
            "SELECT t.carrier, c.state, EXISTS (SELECT 1 FROM pointer p "
            "  JOIN cold o ON o.slot = p.slot AND o.epoch = p.epoch WHERE p.span = c.id AND p.holding = 'committed') "
            "FROM carrier c JOIN turn t ON t.carrier = c.id WHERE c.leaf = ? AND t.payload IS NOT NULL",
            (summary,),
        ):
            if may_release(committed=state == "replaced", landed=bool(landed)):
                ledger.run("UPDATE turn SET payload = NULL WHERE carrier = ?", (span,))
