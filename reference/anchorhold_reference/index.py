"""The full-text index of the originals that have left the window: where a text may stand, in time that does not grow
with the session (REC-1, REC-4).

It holds words and no text: what it finds are candidates, newest first, and whoever asks reads each and looks. A
candidate may be wrong; none that is right is missing, because the words of a literal that stands in a text as a whole
stand there in a row. Entries are written in the transaction that commits the pointer, so the index does not lag;
`pointer.indexed` says so for each, and where one is 0, as after a table was restored without its index, no negative
answer is given until `catch_up` has run.

In SQLite a contentless FTS5 table with BM25; in PostgreSQL an array of words under a GIN index, without rank.
"""

import re
from collections.abc import Iterable, Iterator, Sequence

from anchorhold_reference.codec import decode, shown
from anchorhold_reference.ledger import Ledger

_WORD = re.compile(r"[^\W_]+")
LONGEST = 64
"""Longer words are kept by their first characters only; the text itself is looked at in any case."""
PAGE = 64
"""Candidates that are fetched at a time."""


def words_of(text: str) -> list[str]:
    """The words of a text, case levelled, in order: runs of letters and digits, so that an identifier or a path is
    several in a row."""
    return [word.casefold()[:LONGEST] for word in _WORD.findall(text)]


def add(ledger: Ledger, entries: Iterable[tuple[int, str]]) -> None:
    """Enter spans with their texts. Inside the transaction that commits their pointers."""
    rows = [(span, words_of(text)) for span, text in entries]
    if ledger.dialect.name == "sqlite":
        ledger.many(
            "INSERT INTO entry (rowid, words) VALUES (?, ?)", [(span, " ".join(words)) for span, words in rows]
        )
    else:
        ledger.many(
            "INSERT INTO entry (span, words) VALUES (?, ?) ON CONFLICT DO NOTHING",
            [(span, sorted(set(words))) for span, words in rows],
        )
    ledger.many("UPDATE pointer SET indexed = 1 WHERE span = ?", [(span,) for span, _ in rows])


def remove(ledger: Ledger, entries: Iterable[tuple[int, str]]) -> None:
    """Take spans out, given the texts that they were entered with. Inside a transaction.

    After an erasure call `purge` too: until then the words are marked as deleted and still there (ERA-1).
    """
    spans = []
    for span, text in entries:
        if ledger.first("SELECT 1 FROM pointer WHERE span = ? AND indexed = 0", (span,)) is not None:
            continue  # an entry that never was: taking it out would spoil the counts of the others
        spans.append((span,))
        if ledger.dialect.name == "sqlite":
            ledger.run(
                "INSERT INTO entry (entry, rowid, words) VALUES ('delete', ?, ?)", (span, " ".join(words_of(text)))
            )
        else:
            ledger.run("DELETE FROM entry WHERE span = ?", (span,))
    ledger.many("UPDATE pointer SET indexed = 0 WHERE span = ?", spans)


def purge(ledger: Ledger) -> None:
    """Write the index anew without what was taken out, so that no word of it stays in the file (ERA-1)."""
    if ledger.dialect.name == "sqlite":
        ledger.run("INSERT INTO entry (entry) VALUES ('optimize')")


def missing(ledger: Ledger, session: int) -> int:
    """How many originals of a session are not in the index; 0 where it is complete (REC-4)."""
    (lacking,) = ledger.one(
        "SELECT count(*) FROM pointer WHERE session = ? AND indexed = 0 AND holding = 'committed'", (session,)
    )
    return int(lacking)


def catch_up(ledger: Ledger, session: int) -> int:
    """Enter what is missing, from the originals; how many were entered. An original that is not there is left."""
    with ledger.transaction():
        found = ledger.all(
            "SELECT p.span, o.payload FROM pointer p JOIN cold o ON o.slot = p.slot AND o.epoch = p.epoch "
            "WHERE p.session = ? AND p.indexed = 0 AND p.holding = 'committed'",
            (session,),
        )
        entries = []
        for span, payload in found:
            try:
                entries.append((int(span), shown(decode(bytes(payload))) or ""))
            except (ValueError, TypeError):  # damaged: who asks for it is told so
                continue
        add(ledger, entries)
    return len(entries)


def candidates(ledger: Ledger, session: int, literal: str, *, begun: bool = False) -> Iterator[int] | None:
    """Spans in whose original a literal may stand, newest first; None where it has no word to look for.

    With `begun` the last word may be the beginning of a longer one.
    """
    words = words_of(literal)
    if not words:
        return None
    return _pages(ledger, session, words, begun=begun)


def _pages(ledger: Ledger, session: int, words: Sequence[str], *, begun: bool) -> Iterator[int]:
    before = 1 << 62
    while True:
        if ledger.dialect.name == "sqlite":
            found = ledger.all(
                "SELECT e.rowid FROM entry e JOIN pointer p ON p.span = e.rowid "
                "WHERE e.entry MATCH ? AND e.rowid < ? AND p.session = ? AND p.holding = 'committed' "
                "ORDER BY e.rowid DESC LIMIT ?",
                (f'"{" ".join(words)}"' + (" *" if begun else ""), before, session, PAGE),
            )
        else:
            whole = list(words[:-1] if begun else words)
            found = ledger.all(
                "SELECT e.span FROM entry e JOIN pointer p ON p.span = e.span "
                "WHERE e.words @> CAST(? AS text[]) AND e.span < ? AND p.session = ? AND p.holding = 'committed' "
                "ORDER BY e.span DESC LIMIT ?",
                (whole, before, session, PAGE),
            )
        for (span,) in found:
            yield int(span)
        if len(found) < PAGE:
            return
        before = int(found[-1][0])


def ranked(ledger: Ledger, session: int, query: str, *, limit: int) -> list[tuple[int, float]]:
    """The spans that a query fits best, with how well: BM25 over its words in SQLite, higher is better; in
    PostgreSQL the share of its words that stand there, of the newest thousand that have one."""
    words = list(dict.fromkeys(words_of(query)))
    if not words:
        return []
    if ledger.dialect.name == "sqlite":
        return [
            (int(span), -float(rank))
            for span, rank in ledger.all(
                "SELECT e.rowid, bm25(entry) FROM entry e JOIN pointer p ON p.span = e.rowid "
                "WHERE e.entry MATCH ? AND p.session = ? AND p.holding = 'committed' ORDER BY bm25(entry) LIMIT ?",
                (" OR ".join(f'"{word}"' for word in words), session, limit),
            )
        ]
    wanted = set(words)
    found = ledger.all(
        "SELECT e.span, e.words FROM entry e JOIN pointer p ON p.span = e.span "
        "WHERE e.words && CAST(? AS text[]) AND p.session = ? AND p.holding = 'committed' "
        "ORDER BY e.span DESC LIMIT 1000",
        (words, session),
    )
    scored = sorted(((len(wanted & set(there)) / len(wanted), int(span)) for span, there in found), reverse=True)
    return [(span, share) for share, span in scored[:limit]]
