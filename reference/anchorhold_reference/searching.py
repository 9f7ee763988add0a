"""Where a literal stands, word for word: in the window, in the originals, in what summaries repeat (REC-1)."""

import unicodedata
from collections.abc import Callable, Iterable
from functools import partial

from anchorhold_reference import index
from anchorhold_reference.codec import shown
from anchorhold_reference.errors import MismatchError, StoreError
from anchorhold_reference.extract import stands_in
from anchorhold_reference.extract.facts import UnreadableError
from anchorhold_reference.originals import DROPPED, Original, as_answer, of_row, original, outside, with_original
from anchorhold_reference.session import Session, carrier_id
from anchorhold_reference.status import faults_in_short
from anchorhold_reference.under import UNDER
from anchorhold_reference.window import Window
from anchorhold_spec.vocabulary import Answer, AnswerKind


def lost(session: Session) -> list[str]:
    """What is known not to be there to be searched (RET-3, REC-4)."""
    return faults_in_short(session)


def removed(session: Session) -> bool:
    """Whether originals of the branch were let go or erased: what they said is not known any more."""
    return (
        session.ledger.first(
            "SELECT 1 FROM lineage g JOIN pointer p ON p.session = g.node "
            "AND p.holding IN ('gone', 'expired', 'erased') AND p.span BETWEEN g.first AND g.last "
            "WHERE g.session = ? UNION ALL "
            "SELECT 1 FROM erasure e JOIN visible v ON v.carrier = e.span WHERE v.session = ? LIMIT 1",
            (session.id, session.id),
        )
        is not None
    )


def search(session: Session, literal: str) -> Answer:
    """Where a literal stands, word for word: in the window, else in the originals, else in a summary's manifest.

    A turn whose assertion with this literal was tombstoned does not answer for it.
    """
    if not literal.strip():
        return Answer(kind=AnswerKind.UNANCHORED, reason="nothing was asked for; give a literal")
    ledger = session.ledger
    with ledger.reading():
        window = session.window()
        live = window.live
        found, faults = originals_with(session, window, literal)
        if found is not None:
            return found
        argued = _as_argument(session, window, literal)
        if argued is not None:
            return argued
        repeated = _in_manifests(session, literal)
        if repeated is not None:
            return repeated
        dropped = ledger.first(
            "SELECT x.reason, t.id FROM tombstone x JOIN turn t ON t.carrier = x.span JOIN fact f ON f.id = x.fact "
            "JOIN visible v ON v.carrier = x.span AND v.session = x.session "
            "WHERE x.session = ? AND (x.literal == ? OR f.literal == ?) ORDER BY x.time DESC",
            (session.id, literal, literal),
        )
        if dropped is not None:
            return Answer(kind=AnswerKind.TOMBSTONED, reason=dropped[0], source=dropped[1])
        for one in live:
            if one.body is not None and stands_in(one.body, literal) >= 0:
                return Answer(
                    kind=AnswerKind.INSUFFICIENT,
                    carrier=one.id,
                    reason="only a summary's own words say it; no turn supports them (MAN-2)",
                )
        unread = [
            one.turn.id
            for one in live
            if one.turn is not None and one.turn.data is not None and one.carrier not in session.damaged
        ]
        faults += lost(session)
        if faults or unread:
            reason = "; ".join([*faults, *(f"turn {turn!r} is not text" for turn in unread)])
            return Answer(kind=AnswerKind.DEGRADED, reason=f"not found where it could be searched: {reason}")
        if removed(session):
            return Answer(
                kind=AnswerKind.UNANCHORED,
                reason="nothing holds it; some originals were let go, so it may have been said",
            )
        alike = _otherwise(session, window, literal)
        if alike is not None:
            return Answer(
                kind=AnswerKind.UNANCHORED,
                source=alike,
                reason=f"no turn says it letter for letter; turn {alike!r} does in other case, spacing or characters",
            )
    return Answer(kind=AnswerKind.ABSENT, reason="no turn of this session says it; all were searched")


def _in_manifests(session: Session, literal: str) -> Answer | None:
    """An assertion with the literal that a summary in the window, or one that a clear archived, carries."""
    ledger = session.ledger
    for (summary,) in ledger.all(
        "SELECT w.carrier FROM live w JOIN summary s ON s.carrier = w.carrier WHERE w.session = ? UNION ALL "
        "SELECT r.carrier FROM archived r JOIN summary s ON s.carrier = r.carrier "
        "JOIN visible v ON v.carrier = r.carrier AND v.session = r.session WHERE r.session = ?",
        (session.id, session.id),
    ):
        for fact, said, speaker in ledger.all(
            "SELECT fact, said, speaker FROM carries WHERE summary = ?", (summary,)
        ):
            if stands_in(said, literal) < 0:
                continue
            row = ledger.first(
                f"SELECT t.id FROM {UNDER} JOIN assertion a ON a.span = k.carrier AND a.fact = ? "  # noqa: S608
                "JOIN turn t ON t.carrier = a.span AND ? IN ('', t.speaker) WHERE x.carrier = ? AND NOT EXISTS "
                "(SELECT 1 FROM tombstone x WHERE x.session = v.session AND x.span = a.span AND x.fact = a.fact)",
                (session.id, fact, speaker, summary),
            )
            if row is not None:
                return Answer(
                    kind=AnswerKind.FOUND,
                    text=said,
                    value=literal,
                    carrier=carrier_id(int(summary), 1),
                    source=row[0],
                    evidence=False,
                )
    return None


def originals_with(
    session: Session, window: Window, literal: str, *, anywhere: bool = False
) -> tuple[Answer | None, list[str]]:
    """The newest original in which a literal stands, and what could not be searched.

    `anywhere` levels case and looks for any mention, for the question whether something was spoken of at all.
    """
    ledger = session.ledger
    faults: list[str] = []
    for one in reversed(window.live if anywhere or window.may_say(literal) else ()):
        if (
            one.turn is not None
            and one.damage is None
            and _says(shown(one.turn) or "", literal, anywhere=anywhere)
            and not _dropped(session, one.carrier, literal)
        ):
            return original(one.turn, carrier=one.id, value=literal), faults
    rows = index.candidates(ledger, session.id, literal, with_original(session, literal), begun=anywhere)
    reads: Iterable[Callable[[], Original | None]]
    if rows is not None:
        reads = (partial(of_row, ledger, row) for row in rows)
    else:  # nothing but punctuation: no index has it, so each original is read
        reads = (partial(outside, session, span, unless_dropped=literal) for span in _every_original(session))
    for read in reads:
        try:
            there = read()
        except (MismatchError, StoreError) as error:
            faults.append(str(error))
            continue
        if there is not None and _says(there.text or "", literal, anywhere=anywhere):
            return as_answer(*there[:3], carrier=there.key, value=literal), faults
    lacking = index.missing(ledger, session.id)
    if lacking:
        faults.append(f"{lacking} originals are not in the full-text index yet (REC-4)")
    return None, faults


def _as_argument(session: Session, window: Window, literal: str) -> Answer | None:
    """The newest turn that calls a tool with this very argument. Within the call it may stand otherwise, since JSON
    writes some characters by escapes: the call asserts it, and no look at its text finds it."""
    why = "an argument of a call, which JSON may write in other characters"
    for one in reversed(window.live):
        if one.turn is not None and one.turn.calls and not _dropped(session, one.carrier, literal):
            try:
                said = any(m.kind == "argument" and m.literal == literal for m in session.read(one))
            except UnreadableError:
                continue
            if said:
                return original(one.turn, carrier=one.id, value=literal, reason=why)
    for (span,) in session.ledger.all(
        "SELECT a.span FROM fact f JOIN assertion a ON a.fact = f.id JOIN visible v ON v.carrier = a.span "
        "WHERE f.session = ? AND f.literal == ? AND f.kind = 'argument' AND v.session = ? ORDER BY a.span DESC",
        (session.root, literal, session.id),
    ):
        try:
            there = outside(session, int(span), unless_dropped=literal)
        except (MismatchError, StoreError):
            continue  # the look through the originals has said so
        if there is not None:
            return as_answer(*there[:3], carrier=there.key, value=literal, reason=why)
    return None


def _dropped(session: Session, span: int, literal: str) -> bool:
    asked = f"SELECT 1 WHERE {DROPPED.format('?')}"
    return session.ledger.first(asked, (session.id, span, literal, literal)) is not None


def _otherwise(session: Session, window: Window, literal: str) -> str | None:
    """The newest turn in which a literal stands as a whole, but in other case or spacing, or as Unicode has another
    way to write it. No answer to the question; but that nobody said it would be none either (REC-4)."""
    wanted = _levelled(literal)
    for one in reversed(window.live):
        if one.turn is not None and stands_in(_levelled(shown(one.turn) or ""), wanted) >= 0:
            return one.turn.id
    for row in index.candidates(session.ledger, session.id, literal, with_original(session, literal)) or ():
        try:
            there = of_row(session.ledger, row)
        except (MismatchError, StoreError):
            continue  # told before
        if there is not None and stands_in(_levelled(there.text or ""), wanted) >= 0:
            return there.turn
    return None


def _every_original(session: Session) -> list[int]:
    return [
        int(span)
        for (span,) in session.ledger.all(
            "SELECT p.span FROM lineage g JOIN pointer p ON p.session = g.node AND p.holding = 'committed' "
            "AND p.span BETWEEN g.first AND g.last WHERE g.session = ? ORDER BY p.span DESC",
            (session.id,),
        )
    ]


def _says(text: str, literal: str, *, anywhere: bool) -> bool:
    if not anywhere:
        return stands_in(text, literal) >= 0
    spoken, words = index.words_of(text), index.words_of(literal)
    return _levelled(literal) in _levelled(text) and (not words or any(w.startswith(words[-1]) for w in spoken))


_UNSEEN = dict.fromkeys(map(ord, "\u00ad\u200b\u200c\u200d\u2060\ufeff"))
"""Characters that nobody sees: where a word may be broken, and such."""


def _levelled(text: str) -> str:
    """A text, with case, white space and what looks the same in Unicode levelled."""
    return " ".join(unicodedata.normalize("NFKC", text.translate(_UNSEEN)).casefold().split())
