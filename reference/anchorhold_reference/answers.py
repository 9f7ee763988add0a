"""Answers to what is asked: by pointer, by slot, by literal. Each carries what was asked for, or says why it
cannot (REC-1).

Originals are asked before summaries, and a summary answers only with a statement of its manifest. What stands in a
summary's text alone, unsupported by any turn, is never content.
"""

from collections.abc import Callable
from dataclasses import dataclass

from anchorhold_reference import cold
from anchorhold_reference.anchors import anchors_of
from anchorhold_reference.decide import Copy, Holding, Statement, current, resolution, spelled_so
from anchorhold_reference.errors import MismatchError, NotUnicodeError, StoreError
from anchorhold_reference.extract.slots import Spelling, name, spelled, spelling
from anchorhold_reference.ledger import Row
from anchorhold_reference.originals import as_answer, original, outside
from anchorhold_reference.pointer import Address
from anchorhold_reference.searching import lost, originals_with, removed
from anchorhold_reference.session import Live, Session, carrier_id
from anchorhold_reference.window import Window
from anchorhold_spec.vocabulary import Answer, AnswerKind


def steadily(session: Session, ask: Callable[[], Answer]) -> Answer:
    """Ask, and ask again where an original could not be read because it left meanwhile.

    An original outside the ledger may go between the look at its entry and the read of its bytes; what is then
    missed is not lost, and the answer is what it is from then on. Raises what `ask` raises where nothing has left;
    what is no valid Unicode has no answer.
    """
    answer = None
    try:
        answer = ask()
    except NotUnicodeError as error:
        return Answer(kind=AnswerKind.UNANCHORED, reason=f"it cannot be looked for: {error}")
    except StoreError:
        if session.ledger.outer is None:
            raise
    while answer is None or (answer.kind is AnswerKind.DEGRADED and session.ledger.outer is not None):
        before, answer = _departures(session), None
        try:
            answer = ask()
        except StoreError:
            if _departures(session) == before:
                raise
        if answer is not None and _departures(session) == before:
            break
    return answer


def _departures(session: Session) -> Row:
    """Is another one after anything has left the session."""
    return session.ledger.one(
        "SELECT (SELECT sum(s.version) FROM session s WHERE s.root = ?1), "
        "(SELECT count(*) FROM session s JOIN pointer p ON p.session = s.id "
        "AND p.holding IN ('gone', 'expired', 'erased') WHERE s.root = ?1)",
        (session.root,),
    )


def resolve(session: Session, address: Address | None) -> Answer:
    """Follow a pointer to the original; none: its token has not the form of one.

    Raises `MismatchError` where the bytes are not those that it names (EPO-3), `StoreError` where they are lost.
    """
    ledger = session.ledger
    with ledger.reading():
        # What is said of an original that is not there is to hold of one moment.
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
    subject: Spelling
    attribute: Spelling
    live: Live | None
    dropped: str | None = None
    """The tombstone's reason."""


def reconstitute(session: Session, subject: str, attribute: str, *, evidence: bool) -> Answer:
    """The value of a slot, from what was asserted of exactly this slot, see `decide.spelled_so`; the newest assertion
    wins, see `decide.current`.

    A tombstoned assertion is unknown: it answers `tombstoned`, and an older value does not step into its place. With
    `evidence` only an original answers (EVI-5).
    """
    with session.ledger.reading():
        window = session.window()
        found, unread = _assertions(session, window, name(subject), name(attribute))
        said = _exactly(session, window, found, subject, attribute)
        open_ = [one for one in said if one.dropped is None]
        at = current(tuple(_statement(one) for one in said))
        if at is None:
            return _never(session, window, unread, subject, attribute, otherwise=found)
        chosen = said[at]
        # The same value may have been said by another turn, whose assertion no tombstone covers (MAN-4).
        same = [one for one in open_ if (one.value, one.negated) == (chosen.value, chosen.negated)]
        if not same:
            return Answer(kind=AnswerKind.TOMBSTONED, reason=chosen.dropped, source=_turn_id(session, chosen.span))
        earlier = sum(1 for one in said if one.value != chosen.value)
        notes = [f"the newest of {earlier + 1} values; earlier ones can be found by their words"] if earlier else []
        notes += _other_case(chosen, found, said, subject, attribute)
        note = "; ".join(notes) or None
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
    for span, order, fact, value, literal, negated, written, of, words, dropped in session.ledger.all(
        "SELECT a.span, a.span, f.id, f.value, f.literal, f.negated, f.subject, f.attribute, a.said, "
        "x.reason FROM fact f "
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
            subject=spelling(written, words),
            attribute=spelling(of, words),
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
                subject=spelling(m.subject or "", m.said),
                attribute=spelling(m.attribute or "", m.said),
                live=one,
            )
    return list(found.values()), unread


def _exactly(session: Session, window: Window, found: list[_Said], subject: str, attribute: str) -> list[_Said]:
    """Those of the assertions found that are of the slot as it is spelled; none where several spellings may be
    meant."""
    if not found:
        return []
    subjects, asked = [one.subject for one in found], spelled(subject)
    known = set(subjects)
    if asked not in {one.text for one in known} or any(one.text != one.plain for one in known):
        known |= _spellings(session, window, name(subject))
    of_it = [found[i] for i in spelled_so(asked, subjects, known)]
    attributes = [one.attribute for one in of_it]
    return [of_it[i] for i in spelled_so(spelled(attribute), attributes, set(attributes))] if of_it else []


def _spellings(session: Session, window: Window, subject: str) -> set[Spelling]:
    """How everything that was asserted of a subject spells it, by its name as it is compared."""
    rows = session.ledger.all(
        # Of the sentence only what tells whether it begins with an article.
        "SELECT DISTINCT f.subject, substr(a.said, 1, 5) FROM fact f "
        "JOIN assertion a ON a.fact = f.id JOIN visible v ON v.carrier = a.span AND v.session = ? "
        "WHERE f.session = ? AND f.kind = 'slot' AND f.subject_name = ?",
        (session.id, session.root, subject),
    )
    return {spelling(written, begun) for written, begun in rows} | window.spellings(subject)


_NAMED = 5
"""Spellings that a reason names at most."""


def _in_words(found: list[_Said]) -> str:
    slots = list(dict.fromkeys(f"the {one.attribute.text!r} of {one.subject.text!r}" for one in found))
    more = len(slots) - _NAMED
    return ", ".join(slots[:_NAMED]) + (f" and {more} more" if more > 0 else "")


def _other_case(chosen: _Said, found: list[_Said], said: list[_Said], subject: str, attribute: str) -> list[str]:
    """What an answer says of spellings: that it is not of the one asked for, or that there are others."""
    if spelled(subject) not in chosen.subject or spelled(attribute) not in chosen.attribute:
        return [f"said of {_in_words([chosen])}, the only spelling there is"]
    others = [one for one in found if one not in said]
    return [f"in other case there is {_in_words(others)}, too"] if others else []


def _from_original(session: Session, one: _Said, note: str | None) -> Answer | None:
    if one.live is not None and one.live.turn is not None:
        return original(one.live.turn, carrier=one.live.id, value=one.literal, reason=note)
    there = outside(session, one.span)
    if there is None:
        return None
    carrier = carrier_id(one.span, 0) if there.held else there.key
    return as_answer(*there[:3], carrier=carrier, value=one.literal, reason=note)


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


def _never(
    session: Session, window: Window, unread: list[str], subject: str, attribute: str, *, otherwise: list[_Said]
) -> Answer:
    """Nothing asserts the slot, though `otherwise` may in other case. Whether that means "never said" depends on what
    was read (REC-4)."""
    if unread:
        return Answer(
            kind=AnswerKind.DEGRADED,
            reason=f"no statement of it was found, and these turns cannot be read: {', '.join(unread)}",
        )
    if otherwise:
        return Answer(
            kind=AnswerKind.UNANCHORED,
            reason=f"nothing states it in this spelling, but there is {_in_words(otherwise)}; what differs in case "
            "may be another thing: ask for it as it is spelled",
        )
    if removed(session):
        return Answer(
            kind=AnswerKind.UNANCHORED,
            reason="no statement of it is on record; some originals were let go, and may have said it in other words",
        )
    mention, faults = originals_with(session, window, subject, anywhere=True)
    faults += lost(session)
    if faults and mention is None:
        return Answer(kind=AnswerKind.DEGRADED, reason="; ".join(faults))
    if mention is not None:
        return Answer(
            kind=AnswerKind.UNANCHORED,
            reason=f"turns speak of {subject!r}, none in a form that states its {attribute!r}",
        )
    return Answer(kind=AnswerKind.ABSENT, reason=f"no turn of this session speaks of {subject!r}; all were read")
