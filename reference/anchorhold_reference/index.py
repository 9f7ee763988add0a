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
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple

from anchorhold_reference import cold, vectors
from anchorhold_reference.codec import decode, digest, shown
from anchorhold_reference.errors import StoreError
from anchorhold_reference.extract.standing import UNSPACED
from anchorhold_reference.ledger import AT_A_TIME, Ledger, Row, batched, marks

_WORD = re.compile(rf"[{UNSPACED}]|[^\W_{UNSPACED}]+")
LONGEST = 64
"""Longer words are kept by their first characters only; the text itself is looked at in any case."""
ASKED = 256
"""Words of a question that are looked for: the index goes through its entries of each of them."""
PAGE = 64
"""Candidates that are fetched at a time."""
FEW = 4
"""Candidates that are fetched first: mostly there are no more, and the first one is right."""
# CROSS: in this order, or SQLite may go through the pointers and ask the index about each.
_OF_BRANCH = (
    "CROSS JOIN pointer p ON p.span = e.rowid "
    "CROSS JOIN lineage g ON g.node = p.session AND p.span BETWEEN g.first AND g.last"
)
_OF_BRANCH_THERE = (
    "JOIN pointer p ON p.span = e.span JOIN lineage g ON g.node = p.session AND p.span BETWEEN g.first AND g.last"
)
_SEEN = "lineage g JOIN pointer p ON p.session = g.node AND p.span BETWEEN g.first AND g.last"
"""The pointers that a branch sees (ISO-1)."""


_LEVELLED = {code: chr(code).lower() if chr(code).isalnum() else " " for code in range(128)}


def words_of(text: str) -> list[str]:
    """The words of a text, in order, case levelled and what Unicode has two ways to write: runs of letters and
    digits, so that an identifier or a path is several in a row; where a script puts nothing between words, each
    character."""
    if text.isascii():  # the same, without a look at each word
        words = text.translate(_LEVELLED).split()
        if max(map(len, words), default=0) <= LONGEST:
            return words
        return [word[:LONGEST] for word in words]
    return [word.casefold()[:LONGEST] for word in _WORD.findall(unicodedata.normalize("NFC", text))]


_LETTERS = bytes.maketrans(
    bytes(range(128)), bytes(ord("a") if chr(code).isalnum() else ord(" ") for code in range(128))
)
_TOO_LONG = b"a" * (LONGEST + 1)


def _entry(text: str) -> str:
    """What the full-text index of SQLite is given of a text: it cuts ASCII into the same words by itself, as long as
    none of them has to be cut short; a null character ends what it reads."""
    if text.isascii() and "\x00" not in text and _TOO_LONG not in text.encode("ascii").translate(_LETTERS):
        return text
    return " ".join(words_of(text))


def enter(ledger: Ledger, spans: Sequence[int]) -> None:
    """Enter spans that are not there yet, from their originals. Inside the transaction that commits their pointers.

    One whose original is in another store, or damaged, is left, and the index is not complete then.
    """
    note(ledger, write(ledger, spans))


def write(ledger: Ledger, spans: Sequence[int], *, known: Mapping[int, str] | None = None) -> list[int]:
    """The same, from the texts of the originals where the caller has just checked these and knows that none of them
    is there; gives those that it entered, of which the caller writes down that they are (`note`)."""
    entered: list[int] = []
    for some in batched(spans, PAGE if known is None else AT_A_TIME):
        said = list(texts(ledger, some, indexed=0)) if known is None else [(span, known[span]) for span in some]
        if ledger.dialect.name == "sqlite":
            ledger.many(
                "INSERT INTO entry (rowid, words) VALUES (?, ?)", [(span, _entry(text)) for span, text in said]
            )
        else:
            ledger.many(
                "INSERT INTO entry (span, words) VALUES (?, ?)",
                [(span, sorted(set(words_of(text)))) for span, text in said],
            )
        entered += [span for span, _ in said]
    return entered


def note(ledger: Ledger, entered: Sequence[int], *, marked: bool = False) -> None:
    """Write down that spans were entered, unless their pointers are `marked` so, and that they are to get vectors."""
    if not marked:
        for some in batched(entered):
            ledger.run(f"UPDATE pointer SET indexed = 1 WHERE span IN ({marks(some)})", some)  # noqa: S608
    vectors.expect(ledger, entered)


def texts(ledger: Ledger, spans: Sequence[int], *, indexed: int) -> Iterator[tuple[int, str]]:
    """The texts of originals that are in the index, or are not, as far as they can be read and are those that their
    pointers name."""
    for span, payload, slot, epoch, mark in ledger.all(
        "SELECT p.span, t.payload, p.slot, p.epoch, p.digest FROM pointer p JOIN turn t ON t.carrier = p.span "  # noqa: S608
        f"WHERE p.indexed = ? AND p.span IN ({marks(spans)}) ORDER BY p.span",
        (indexed, *spans),
    ):
        try:
            held = cold.stored(ledger, slot, epoch) if payload is None else payload
            # Bytes of another digest may read like a turn, and have other words than those that were entered (ERA-1).
            if held is not None and digest(bytes(held)) == bytes(mark):
                yield int(span), shown(decode(bytes(held))) or ""
        except (ValueError, TypeError, StoreError):  # damaged: who asks for it is told so
            continue


def erase(ledger: Ledger, span: int) -> None:
    """Take a span out while its original is still there, and leave no word of it in the file (ERA-1). Inside the
    transaction that erases it."""
    if ledger.first("SELECT 1 FROM pointer WHERE span = ? AND indexed = 1", (span,)) is None:
        return
    if ledger.dialect.name != "sqlite":
        ledger.run("DELETE FROM entry WHERE span = ?", (span,))
        ledger.run("UPDATE pointer SET indexed = 0 WHERE span = ?", (span,))
        return
    text = next((text for _, text in texts(ledger, [span], indexed=1)), None)
    if text is None:  # what was entered is not known any more, so the index is made anew without it
        ledger.run("INSERT INTO entry (entry) VALUES ('delete-all')")
        others = [
            int(one) for (one,) in ledger.all("SELECT span FROM pointer WHERE indexed = 1 AND span <> ?", (span,))
        ]
        ledger.run("UPDATE pointer SET indexed = 0 WHERE indexed = 1")
        enter(ledger, others)
        return
    ledger.run("INSERT INTO entry (entry, rowid, words) VALUES ('delete', ?, ?)", (span, _entry(text)))
    ledger.run("UPDATE pointer SET indexed = 0 WHERE span = ?", (span,))
    # Until its parts are merged an index holds what was deleted from it.
    ledger.run("INSERT INTO entry (entry) VALUES ('optimize')")


def missing(ledger: Ledger, session: int) -> int:
    """How many originals that a branch sees are not in the index; 0 where it is complete (REC-4)."""
    return len(_lacking(ledger, session))


def _lacking(ledger: Ledger, session: int) -> list[int]:
    return [
        int(span)
        for (span,) in ledger.all(
            # Not by the index over `holding`, which has every original: by the one of those that are missing.
            f"SELECT p.span FROM {_SEEN} WHERE g.session = ? AND p.indexed = 0 "  # noqa: S608
            "AND p.holding || '' = 'committed'",
            (session,),
        )
    ]


def catch_up(ledger: Ledger, session: int) -> None:
    """Enter what is missing, as far as the originals are there."""
    if _lacking(ledger, session):
        with ledger.transaction():
            enter(ledger, _lacking(ledger, session))


class Also(NamedTuple):
    """What is read with each candidate by the same statement, and on which condition it is one, in SQL."""

    columns: str
    joins: str
    """From the table `pointer p`."""
    condition: str
    parameters: tuple[object, ...]
    """Of the condition."""


def candidates(
    ledger: Ledger, session: int, literal: str, also: Also, *, begun: bool = False
) -> Iterator[Row] | None:
    """The columns of `also` for each span in whose original a literal may stand, newest first; None where it has no
    word to look for.

    With `begun` the last word may be the beginning of a longer one.
    """
    words = words_of(literal)
    if not words:
        return None
    return _pages(ledger, session, words, also, begun=begun)


def _pages(ledger: Ledger, session: int, words: Sequence[str], also: Also, *, begun: bool) -> Iterator[Row]:
    sqlite = ledger.dialect.name == "sqlite"
    wanted: object = list(words[:-1] if begun else words)
    if sqlite:
        wanted = f'"{" ".join(words)}"' + (" *" if begun else "")
    statement = _page(also.columns, also.joins, also.condition, sqlite=sqlite)
    # A row of words makes the index walk through all that has the commonest of them. One word alone, which is hardly
    # common where it is long, gives all that the row gives; only where it gives many is the row asked for.
    one = max(words[:-1] if begun else words, key=len, default="")
    first = f'"{one}"' if sqlite and len(words) > 1 and one else wanted
    before = 1 << 62
    for asked, most in ((first, FEW), (wanted, PAGE)):
        while True:
            found = ledger.all(statement, (asked, before, session, *also.parameters, most))
            for span, *row in found:
                before = span
                yield tuple(row)
            if len(found) < most:
                return
            if most == FEW:
                break


@lru_cache(maxsize=16)
def _page(columns: str, joins: str, condition: str, *, sqlite: bool) -> str:
    """The statement for a page of candidates; for the words, the span below which they are, the branch, the
    condition's own parameters, and how many."""
    if sqlite:
        span, branch, words = "e.rowid", _OF_BRANCH, "e.entry MATCH ?"
    else:
        span, branch, words = "e.span", _OF_BRANCH_THERE, "e.words @> CAST(? AS text[])"
    return (
        f"SELECT {span}, {columns} FROM entry e {branch} {joins} "  # noqa: S608
        f"WHERE {words} AND {span} < ? AND g.session = ? AND p.holding = 'committed' AND {condition} "
        f"ORDER BY {span} DESC LIMIT ?"
    )


def ranked(ledger: Ledger, session: int, query: str, *, limit: int) -> list[tuple[int, float]]:
    """The spans that a query fits best, with how well: BM25 over its words in SQLite, higher is better; in
    PostgreSQL the share of its words that stand there, of the newest thousand that have one.

    Of a question of more than `ASKED` different words its longest are looked for, which are hardly common, those that
    come first before others as long.
    """
    words = sorted(dict.fromkeys(words_of(query)), key=len, reverse=True)[:ASKED]
    if not words:
        return []
    if ledger.dialect.name == "sqlite":
        return [
            (int(span), -float(rank))
            for span, rank in ledger.all(
                f"SELECT e.rowid, bm25(entry) FROM entry e {_OF_BRANCH} "  # noqa: S608
                "WHERE e.entry MATCH ? AND g.session = ? AND p.holding = 'committed' "
                "ORDER BY bm25(entry) LIMIT ?",
                (" OR ".join(f'"{word}"' for word in words), session, limit),
            )
        ]
    wanted = set(words)
    found = ledger.all(
        f"SELECT e.span, e.words FROM entry e {_OF_BRANCH_THERE} "  # noqa: S608
        "WHERE e.words && CAST(? AS text[]) AND g.session = ? AND p.holding = 'committed' "
        "ORDER BY e.span DESC LIMIT 1000",
        (words, session),
    )
    scored = sorted(((len(wanted & set(there)) / len(wanted), int(span)) for span, there in found), reverse=True)
    return [(span, share) for share, span in scored[:limit]]
