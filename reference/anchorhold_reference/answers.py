"""Answers to what is asked: by pointer, by slot, by literal. Each carries what was asked for, or says why it
cannot (REC-1).

Originals are asked before summaries, and a summary answers only with a statement of its manifest. What stands in a
summary's text alone, unsupported by any turn, is never content.
"""

from dataclasses import dataclass

from anchorhold_reference import cold, index
from anchorhold_reference.anchors import anchors_of
from anchorhold_reference.codec import decode, digest, shown
from anchorhold_reference.decide import Copy, Holding, Statement, current, resolution
from anchorhold_reference.errors import MismatchError, StoreError
from anchorhold_reference.extract import stands_in
from anchorhold_reference.extract.slots import name
from anchorhold_reference.pointer import unseal
from anchorhold_reference.session import UNDER, Live, Session, carrier_id
from anchorhold_reference.status import causes
from anchorhold_reference.window import Window
from anchorhold_spec.vocabulary import Answer, AnswerKind, Turn


def resolve(session: Session, token: str) -> Answer:
    """Follow a pointer to the original.

    Raises `MismatchError` where the bytes are not those that it names (EPO-3), `StoreError` where they are lost.
    """
    address = unseal(token)
    ledger = session.ledger
    with ledger.reading():
        issued = None if address is None else cold.look_up(ledger, session.id, address)
        decision = AnswerKind.FOREIGN if issued is None else resolution(issued.holding, issued.copy)
        if issued is None or decision is AnswerKind.FOREIGN:
            return Answer(kind=AnswerKind.FOREIGN, reason="this session never issued that pointer (EPO-2)")
        if decision is None:
            return _gone(session, issued)
        if decision is not AnswerKind.FOUND:
            return Answer(kind=decision, reason=_WHY[issued.holding, issued.copy])
        turn = cold.fetch(ledger, issued)
    return original(turn, carrier=issued.address.key)


_WHY = {
    (Holding.STAGED, Copy.OUTSTANDING): "the compaction that wrote it has not committed (PTR-6)",
    (Holding.STAGED, Copy.LANDED): "the compaction that wrote it has not committed (PTR-6)",
    (
        Holding.COMMITTED,
        Copy.OUTSTANDING,
    ): "its copy is outstanding, and the source is held until it has landed (PTR-5)",
    (Holding.COMMITTED, Copy.UNRESOLVABLE): "its source was damaged before the copy had landed (PTR-5)",
    **{(Holding.EXPIRED, copy): "its lifetime has ended, beyond the horizon" for copy in Copy},
    **{(Holding.ERASED, copy): "erased: it was forgotten on request (ERA-1)" for copy in Copy},
}
"""Why a pointer that this session issued does not lead to an original."""


def original(turn: Turn, *, carrier: str, value: str | None = None, reason: str | None = None) -> Answer:
    """The answer that an original is."""
    return Answer(
        kind=AnswerKind.FOUND,
        text=shown(turn),
        data=turn.data,
        value=value,
        carrier=carrier,
        source=turn.id,
        evidence=True,
        reason=reason,
    )


def _gone(session: Session, issued: cold.Issued) -> Answer:
    """What to say of an original that left through the gate."""
    reasons = session.ledger.all(
        "SELECT DISTINCT reason FROM tombstone WHERE session = ? AND span = ?", (session.id, issued.span)
    )
    if reasons:
        said = "; ".join(str(reason) for (reason,) in reasons)
        return Answer(
            kind=AnswerKind.TOMBSTONED, reason=f"the original was let go after assertions were dropped: {said}"
        )
    over = session.summary_over(issued.span)
    if anchors_of(session, issued.span) and over is not None:
        return Answer(
            kind=AnswerKind.INSUFFICIENT,
            carrier=carrier_id(over[0], 1),
            reason="the original was let go; a summary repeats what it asserted (EVI-5)",
        )
    return Answer(kind=AnswerKind.UNANCHORED, reason="the original was let go; it asserted nothing that had to stay")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Said:
    """One assertion of a slot, with what is needed to answer from it."""

    order: int
    span: int
    fact: int
    value: str
    literal: str
    negated: bool
    live: Live | None
    dropped: str | None = None
    """The tombstone's reason."""


def reconstitute(session: Session, subject: str, attribute: str, *, evidence: bool) -> Answer:
    """The value of a slot, from what was asserted of exactly this slot; the newest assertion wins, see
    `decide.current`.

    A tombstoned assertion is unknown: it answers `tombstoned`, and an older value does not step into its place. With
    `evidence` only an original answers (EVI-5).
    """
    with session.ledger.reading():
        window = session.window()
        said, unread = _assertions(session, window, name(subject), name(attribute))
        open_ = [one for one in said if one.dropped is None]
        at = current(tuple(_statement(one) for one in said))
        if at is None:
            return _never(session, window, unread, subject, attribute)
        chosen = said[at]
        # The same value may have been said by another turn, whose assertion no tombstone covers (MAN-4).
        same = [one for one in open_ if (one.value, one.negated) == (chosen.value, chosen.negated)]
        if not same:
            return Answer(kind=AnswerKind.TOMBSTONED, reason=chosen.dropped, source=_turn_id(session, chosen.span))
        earlier = sum(1 for one in said if one.value != chosen.value)
        note = f"the newest of {earlier + 1} values; earlier ones can be found by their words" if earlier else None
        faults: list[str] = []
        for one in sorted(same, key=lambda s: s.order, reverse=True):
            try:
                answer = _from_original(session, one, note)
            except (MismatchError, StoreError) as error:
                faults.append(str(error))
                continue
            if answer is not None:
                return answer
        return _from_summary(session, same, evidence=evidence, note=note, faults=faults)


def _statement(one: _Said) -> Statement:
    return Statement(order=one.order, value=one.value, negated=one.negated)


def _assertions(session: Session, window: Window, subject: str, attribute: str) -> tuple[list[_Said], list[str]]:
    """Every assertion of a slot: those on record, and those of turns in the window that have not been recorded
    yet."""
    at = window.by_carrier
    found: dict[tuple[int, int], _Said] = {}
    for span, order, fact, value, literal, negated, dropped in session.ledger.all(
        "SELECT a.span, a.span, f.id, f.value, f.literal, f.negated, x.reason FROM fact f "
        "JOIN assertion a ON a.fact = f.id JOIN visible v ON v.carrier = a.span AND v.session = ? "
        "LEFT JOIN tombstone x ON x.session = v.session AND x.span = a.span AND x.fact = a.fact "
        "WHERE f.session = ? AND f.kind = 'slot' AND f.subject_name = ? AND f.attribute_name = ?",
        (session.id, session.root, subject, attribute),
    ):
        found[span, fact] = _Said(
            order=order,
            span=span,
            fact=fact,
            value=value,
            literal=literal,
            negated=bool(negated),
            live=at.get(span),
            dropped=dropped,
        )
    recorded = {span for span, _ in found}
    stated, unread = window.stated(subject, attribute)
    for one, i, m in stated:
        if one.carrier not in recorded:
            found[one.carrier, -i] = _Said(
                order=one.carrier,
                span=one.carrier,
                fact=-i,
                value=m.value or "",
                literal=m.literal,
                negated=m.negated,
                live=one,
            )
    return list(found.values()), unread


def _from_original(session: Session, one: _Said, note: str | None) -> Answer | None:
    if one.live is not None and one.live.turn is not None:
        return original(one.live.turn, carrier=one.live.id, value=one.literal, reason=note)
    held = _held(session, one.span)
    if held is not None:
        return original(held, carrier=carrier_id(one.span, 0), value=one.literal, reason=note)
    issued = cold.pointer_to(session.ledger, one.span)
    if issued is None or issued.holding is not Holding.COMMITTED:
        return None
    return original(cold.fetch(session.ledger, issued), carrier=issued.address.key, value=one.literal, reason=note)


def _held(session: Session, span: int) -> Turn | None:
    """The source of a span that left the window and whose copy is outstanding; none where there is none, or where it
    is not what it was."""
    row = session.ledger.first(
        "SELECT t.payload, t.digest FROM turn t JOIN pointer p ON p.span = t.carrier AND p.copy = 'outstanding' "
        "WHERE t.carrier = ? AND t.payload IS NOT NULL",
        (span,),
    )
    if row is None or digest(cold.as_bytes(row[0])) != row[1]:
        return None
    return decode(row[0])


def _from_summary(
    session: Session, same: list[_Said], *, evidence: bool, note: str | None, faults: list[str]
) -> Answer:
    for one in sorted(same, key=lambda s: s.order, reverse=True):
        over = session.summary_over(one.span)
        row = None
        if over is not None:
            row = session.ledger.first(
                "SELECT k.summary, k.said, t.id FROM turn t "
                "JOIN carries k ON k.summary = ? AND k.fact = ? AND k.speaker IN ('', t.speaker) WHERE t.carrier = ?",
                (over[0], one.fact, one.span),
            )
        if row is None:
            continue
        summary, said, turn = row
        if evidence:
            return Answer(
                kind=AnswerKind.INSUFFICIENT,
                carrier=carrier_id(summary, 1),
                source=turn,
                reason="a summary repeats it; the original was let go, so there is no evidence (EVI-5)",
            )
        return Answer(
            kind=AnswerKind.FOUND,
            text=said,
            value=one.literal,
            carrier=carrier_id(summary, 1),
            source=turn,
            evidence=False,
            reason=note,
        )
    if faults:
        return Answer(kind=AnswerKind.DEGRADED, reason="; ".join(faults))
    return Answer(
        kind=AnswerKind.UNANCHORED, reason="it was asserted, and nothing holds it any more (ANC-1 is broken)"
    )


def _turn_id(session: Session, span: int) -> str | None:
    row = session.ledger.first("SELECT id FROM turn WHERE carrier = ?", (span,))
    return None if row is None else str(row[0])


def _never(session: Session, window: Window, unread: list[str], subject: str, attribute: str) -> Answer:
    """Nothing asserts the slot. Whether that means "never said" depends on what was read (REC-4)."""
    if unread:
        return Answer(
            kind=AnswerKind.DEGRADED,
            reason=f"no statement of it was found, and these turns cannot be read: {', '.join(unread)}",
        )
    if _removed(session):
        return Answer(
            kind=AnswerKind.UNANCHORED,
            reason="no statement of it is on record; some originals were let go, and may have said it in other words",
        )
    mention, faults = _originals_with(session, window, subject, anywhere=True)
    faults += _lost(session)
    if faults and mention is None:
        return Answer(kind=AnswerKind.DEGRADED, reason="; ".join(faults))
    if mention is not None:
        return Answer(
            kind=AnswerKind.UNANCHORED,
            reason=f"turns speak of {subject!r}, none in a form that states its {attribute!r}",
        )
    return Answer(kind=AnswerKind.ABSENT, reason=f"no turn of this session speaks of {subject!r}; all were read")


def _lost(session: Session) -> list[str]:
    """What is known not to be there to be searched (RET-3, REC-4)."""
    return [cause.reason for cause in causes(session) if cause.stops]


def _removed(session: Session) -> bool:
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
        found, faults = _originals_with(session, window, literal)
        if found is not None:
            return found
        repeated = _in_manifests(session, literal)
        if repeated is not None:
            return repeated
        dropped = ledger.first(
            "SELECT x.reason, t.id FROM tombstone x JOIN turn t ON t.carrier = x.span JOIN fact f ON f.id = x.fact "
            "JOIN visible v ON v.carrier = x.span AND v.session = x.session "
            "WHERE x.session = ? AND (x.literal = ? OR f.literal = ?) ORDER BY x.time DESC",
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
        unread = [one.turn.id for one in live if one.turn is not None and one.turn.data is not None]
        faults += _lost(session)
        if faults or unread:
            reason = "; ".join([*faults, *(f"turn {turn!r} is not text" for turn in unread)])
            return Answer(kind=AnswerKind.DEGRADED, reason=f"not found where it could be searched: {reason}")
        if _removed(session):
            return Answer(
                kind=AnswerKind.UNANCHORED,
                reason="nothing holds it; some originals were let go, so it may have been said",
            )
    return Answer(kind=AnswerKind.ABSENT, reason="no turn of this session says it; all were searched")


def _in_manifests(session: Session, literal: str) -> Answer | None:
    """An assertion with the literal that a summary in the window, or one that a clear archived, carries."""
    ledger = session.ledger
    for (summary,) in ledger.all(
        "SELECT w.carrier FROM live w JOIN summary s ON s.carrier = w.carrier WHERE w.session = ? UNION ALL "
        "SELECT r.carrier FROM archived r JOIN summary s ON s.carrier = r.carrier WHERE r.session = ?",
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


def _originals_with(
    session: Session, window: Window, literal: str, *, anywhere: bool = False
) -> tuple[Answer | None, list[str]]:
    """The newest original in which a literal stands, and what could not be searched.

    `anywhere` levels case and looks for any mention, for the question whether something was spoken of at all.
    """
    ledger = session.ledger
    dropped = {
        int(span)
        for (span,) in ledger.all(
            "SELECT span FROM tombstone WHERE session = ? AND literal = ? UNION "
            "SELECT x.span FROM fact f JOIN tombstone x ON x.fact = f.id AND x.session = ? "
            "WHERE f.session = ? AND f.literal = ?",
            (session.id, literal, session.id, session.root, literal),
        )
    }
    faults: list[str] = []
    for one in reversed(window.live if anywhere or window.may_say(literal) else ()):
        if one.turn is not None and one.carrier not in dropped and _says(one.turn, literal, anywhere=anywhere):
            return original(one.turn, carrier=one.id, value=literal), faults
    spans = index.candidates(ledger, session.id, literal, begun=anywhere)
    if spans is None:
        # Nothing but punctuation: no index has it, so each original is read.
        spans = iter(_every_original(session))
    for span in spans:
        if span in dropped:
            continue
        issued = cold.pointer_to(ledger, span)
        turn = _held(session, span)
        try:
            if turn is None and issued is not None:
                turn = cold.fetch(ledger, issued)
        except (MismatchError, StoreError) as error:
            faults.append(str(error))
            continue
        if turn is not None and _says(turn, literal, anywhere=anywhere):
            where = carrier_id(span, 0) if issued is None else issued.address.key
            return original(turn, carrier=where, value=literal), faults
    lacking = index.missing(ledger, session.id)
    if lacking:
        faults.append(f"{lacking} originals are not in the full-text index yet (REC-4)")
    return None, faults


def _every_original(session: Session) -> list[int]:
    return [
        int(span)
        for (span,) in session.ledger.all(
            "SELECT p.span FROM lineage g JOIN pointer p ON p.session = g.node AND p.holding = 'committed' "
            "AND p.span BETWEEN g.first AND g.last WHERE g.session = ? ORDER BY p.span DESC",
            (session.id,),
        )
    ]


def _says(turn: Turn, literal: str, *, anywhere: bool) -> bool:
    text = shown(turn) or ""
    if not anywhere:
        return stands_in(text, literal) >= 0
    spoken, words = index.words_of(text), index.words_of(literal)
    return literal.casefold() in text.casefold() and (not words or any(w.startswith(words[-1]) for w in spoken))
