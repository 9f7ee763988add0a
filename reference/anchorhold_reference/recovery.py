"""What an interrupted compaction left behind: undone before its commit, finished after it (CRA-1, CRA-2).

Both are the very same calls that a compaction itself makes when a step fails, and either may be repeated.
"""

from collections.abc import Iterable, Sequence

from anchorhold_reference import cold, index
from anchorhold_reference.decide import may_release
from anchorhold_reference.ledger import Ledger, Row, batched, marks


def recover(ledger: Ledger, session: int) -> None:
    """Bring a session to a state that no dead compaction has left traces in. Twice is as good as once.

    A compaction that another opening of the store has under way is left alone, as long as that opening lives.
    """
    for summary, owner in ledger.all(
        "SELECT c.id, s.owner FROM carrier c JOIN summary s ON s.carrier = c.id "
        "WHERE c.session = ? AND c.state = 'staged'",
        (session,),
    ):
        if not ledger.alive(bytes(owner)):
            undo(ledger, summary)
    for (summary,) in ledger.all(
        "SELECT s.carrier FROM summary s JOIN carrier c ON c.id = s.carrier AND c.state = 'committed' "
        "WHERE s.session = ? AND s.released = 0",
        (session,),
    ):
        release(ledger, summary)
    index.catch_up(ledger, session)


def undo_own(ledger: Ledger, session: int) -> None:
    """Undo what this opening of the store staged and never finished. Call it while it has no compaction under way."""
    for (summary,) in ledger.all(
        "SELECT c.id FROM carrier c JOIN summary s ON s.carrier = c.id "
        "WHERE c.session = ? AND c.state = 'staged' AND s.owner = ?",
        (session, ledger.issuer),
    ):
        undo(ledger, summary)


def take_all_back(ledger: Ledger, session: int) -> None:
    """Undo every compaction of a branch that has not committed, whoever has it under way: what the caller decides
    wins (CON-3). Inside a transaction."""
    for (summary,) in ledger.all("SELECT id FROM carrier WHERE session = ? AND state = 'staged'", (session,)):
        take_back(ledger, summary)


def undo(ledger: Ledger, summary: int) -> None:
    """Take a staged summary back with everything that was written for it; one that is committed stays (ANC-5,
    PTR-6). A copy that another branch's compaction is about to point to stays, too."""
    with ledger.transaction():
        take_back(ledger, summary)


def take_back(ledger: Ledger, summary: int) -> None:
    """`undo`, inside a transaction."""
    if ledger.first("SELECT 1 FROM carrier WHERE id = ? AND state = 'staged'", (summary,)) is not None:
        for (span,) in ledger.all(
            "SELECT t.carrier FROM covers k JOIN turn t ON t.carrier = k.carrier WHERE k.summary = ? "
            "AND NOT EXISTS (SELECT 1 FROM pointer p WHERE p.span = k.carrier AND p.holding != 'staged') "
            "AND NOT EXISTS (SELECT 1 FROM covers o JOIN carrier c ON c.id = o.summary "
            "  WHERE o.carrier = k.carrier AND o.summary != k.summary AND c.state = 'staged')",
            (summary,),
        ):
            for slot, epoch in ledger.all(
                "SELECT slot, epoch FROM cold WHERE span = ? UNION SELECT slot, epoch FROM pointer WHERE span = ?",
                (span, span),
            ):
                cold.remove(ledger, slot, epoch)
            ledger.run("DELETE FROM pointer WHERE span = ?", (span,))
        ledger.run("UPDATE live SET claimed = NULL WHERE claimed = ?", (summary,))
        drop_summary(ledger, summary)


def drop_summary(ledger: Ledger, summary: int) -> None:
    """Delete a summary's rows. Inside a transaction."""
    ledger.run("DELETE FROM carries WHERE summary = ?", (summary,))
    ledger.run("DELETE FROM covers WHERE summary = ?", (summary,))
    ledger.run("DELETE FROM summary WHERE carrier = ?", (summary,))
    ledger.run("DELETE FROM carrier WHERE id = ?", (summary,))


def release(ledger: Ledger, summary: int) -> None:
    """Let go of the sources of a committed summary, each only while its copy is there (PTR-2)."""
    with ledger.transaction():
        states = ledger.all(
            f"{_STATES} FROM covers k JOIN turn t ON t.carrier = k.carrier {_ITS_COPY} "
            "WHERE k.summary = ? AND t.payload IS NOT NULL",
            (summary,),
        )
        if _let_go(ledger, states) == len(states):
            ledger.run("UPDATE summary SET released = 1 WHERE carrier = ?", (summary,))


def release_spans(ledger: Ledger, spans: Iterable[int]) -> None:
    """Let go of the sources of spans, each only while its committed copy is there and no window shows it (PTR-2).
    Inside a transaction."""
    for some in batched(list(spans)):
        _let_go(ledger, ledger.all(f"{_STATES} FROM turn t {_ITS_COPY} WHERE t.carrier IN ({marks(some)})", some))


_STATES = (
    "SELECT t.carrier, "
    "p.holding = 'committed' AND NOT EXISTS (SELECT 1 FROM live w WHERE w.carrier = t.carrier), "
    "p.copy = 'landed' AND o.slot IS NOT NULL"
)
"""What `decide.may_release` asks of a source."""
_ITS_COPY = "LEFT JOIN pointer p ON p.span = t.carrier LEFT JOIN cold o ON o.slot = p.slot AND o.epoch = p.epoch"


def _let_go(ledger: Ledger, states: Sequence[Row]) -> int:
    """Let go of those sources that may be; how many these are."""
    free = [span for span, committed, landed in states if may_release(committed=bool(committed), landed=bool(landed))]
    for some in batched(free):
        ledger.run(f"UPDATE turn SET payload = NULL WHERE carrier IN ({marks(some)})", some)  # noqa: S608
    return len(free)
