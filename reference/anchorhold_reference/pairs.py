"""Calls and their results stand in the window together (STR-1): whoever puts a result there brings the turn back that
issued its call, and with that turn the latest results of its other calls.

Of a turn that left, its calls are on record; what a result answers stands in the result alone. But a call and its
results leave together, so the results are looked for among what left with the call. Where a turn has one call nothing
is read for that, since the result of that one has just come.
"""

import contextlib
from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from anchorhold_reference import cold
from anchorhold_reference.codec import decode, digest
from anchorhold_reference.decide import Holding
from anchorhold_reference.decoded import damage_of
from anchorhold_reference.errors import MismatchError, StoreError
from anchorhold_reference.ledger import Ledger, batched, marks
from anchorhold_reference.under import COVERED, UNDER
from anchorhold_spec.vocabulary import Turn

if TYPE_CHECKING:
    from anchorhold_reference.session import Session


def source_of(ledger: Ledger, span: int) -> bytes | None:
    """The bytes of a raw span, its own or from the cold store; none where they are not there any more.

    Raises `MismatchError` where they are others (EPO-3), `StoreError` where they are lost.
    """
    held, mark, turn = ledger.one("SELECT payload, digest, id FROM turn WHERE carrier = ?", (span,))
    if held is not None and digest(cold.as_bytes(held)) == bytes(mark):
        return cold.as_bytes(held)
    issued = cold.pointer_to(ledger, span)
    if issued is not None and issued.holding is Holding.COMMITTED:
        return cold.checked(ledger, issued)
    if held is not None:
        raise StoreError(damage_of(str(turn)))
    return None


def put_back(session: "Session", span: int) -> Turn | None:
    """Put a raw span back into the window, at its place; none where its bytes are not there any more. Inside a
    transaction.

    Raises as `source_of` does; nothing is changed then.
    """
    ledger = session.ledger
    source = source_of(ledger, span)
    if source is None:
        return None
    there = ledger.first("SELECT carrier FROM live WHERE session = ? AND position = ?", (session.id, span))
    if there is not None and int(there[0]) != span:
        # The summary, which stands where the first turn under it stood: that is another one from now on.
        ledger.run(
            "UPDATE live SET position = ? WHERE session = ? AND carrier = ?",
            (place_of(session, int(there[0]), without=span), session.id, there[0]),
        )
    ledger.run(
        "UPDATE turn SET payload = ? WHERE carrier = ? AND (payload IS NULL OR payload <> ?)", (source, span, source)
    )
    ledger.run(
        "INSERT INTO live (session, position, carrier) VALUES (?, ?, ?) ON CONFLICT DO NOTHING",
        (session.id, span, span),
    )
    return decode(source)


def place_of(session: "Session", summary: int, *, without: int | None = None) -> int:
    """Where in the window a summary stands: at the place of the first turn under it; at its own, which is nobody
    else's, where none is under it any more."""
    (first,) = session.ledger.one(
        f"SELECT min(k.carrier) FROM {UNDER} JOIN carrier r ON r.id = k.carrier AND r.generation = 0 "  # noqa: S608
        "WHERE x.carrier = ? AND k.carrier <> ?",
        (session.id, summary, -1 if without is None else without),
    )
    return summary if first is None else int(first)


def bring_back(session: "Session", results: Iterable[tuple[str, int]], *, strict: bool) -> None:
    """Bring the turns back that issued calls, of which the window has results: call and span of each. Inside a
    transaction.

    Not those that a clear took out (CON-3), and not those whose original has left through the gate. Where an original
    is damaged the result stands alone, or `MismatchError` and `StoreError` are raised where it is `strict`.
    """
    wanted = list(results)
    while wanted:
        call, result = wanted.pop()
        issuer = issued_by(session, call, before=result)
        if issuer is not None and not _is_live(session, issuer):
            wanted += _return(session, issuer, strict=strict)


def issued_by(session: "Session", call: str, *, before: int) -> int | None:
    """The turn that issued a call, the newest that came before its result: ids of calls come again."""
    row = session.ledger.first(
        "SELECT k.carrier FROM lineage g JOIN tool_call k ON k.session = g.node AND k.id == ? "
        "AND k.carrier BETWEEN g.first AND g.last WHERE g.session = ? AND k.carrier < ? "
        "ORDER BY k.carrier DESC LIMIT 1",
        (call, session.id, before),
    )
    return None if row is None else int(row[0])


def _is_live(session: "Session", span: int) -> bool:
    found = session.ledger.first("SELECT 1 FROM live WHERE session = ? AND carrier = ?", (session.id, span))
    return found is not None


def cleared(session: "Session", span: int) -> bool:
    """Whether the window was cleared since a span came: then it does not come back (CON-3)."""
    found = session.ledger.first(
        "SELECT 1 FROM archived WHERE session = ? AND carrier >= ? LIMIT 1", (session.id, span)
    )
    return found is not None


def _return(session: "Session", span: int, *, strict: bool) -> list[tuple[str, int]]:
    """Put a turn back with the results of its calls; the results that look for their call now."""
    if cleared(session, span):
        return []
    leaf = session.leaf_over(span)
    turn = None
    with contextlib.suppress(*(() if strict else (MismatchError, StoreError))):
        turn = put_back(session, span)
    if turn is None:
        return []
    further = [] if turn.result_of is None else [(turn.result_of, span)]
    for result in _results(session, span, turn, leaf, strict=strict):
        further += _return(session, result, strict=strict)
    return further


def _results(session: "Session", span: int, turn: Turn, leaf: int | None, *, strict: bool) -> Iterator[int]:
    """The latest results, out of the window, of those calls of a turn to which the window has none."""
    here = {one.turn.result_of for one in session.live() if one.turn is not None and one.carrier > span}
    wanted = {call.id for call in turn.calls} - here
    for other in _left_with(session, span, leaf) if wanted else ():
        found = None
        with contextlib.suppress(*(() if strict else (MismatchError, StoreError))):
            found = source_of(session.ledger, other)
        answer = None if found is None else decode(found)
        if answer is None or answer.result_of not in wanted:
            continue
        if issued_by(session, answer.result_of, before=other) == span:
            wanted.discard(answer.result_of)
            yield other
        if not wanted:
            return


def _left_with(session: "Session", span: int, leaf: int | None) -> list[int]:
    """The spans after a span that left the window as it did, newest first: under the same summary, or under none,
    since what belonged to them was forgotten."""
    if leaf is not None:
        rows = session.ledger.all(
            "SELECT k.carrier FROM covers k JOIN carrier c ON c.id = k.carrier AND c.generation = 0 "
            "AND c.state = 'raw' WHERE k.summary = ? AND k.carrier > ? AND NOT EXISTS "
            "(SELECT 1 FROM live w WHERE w.session = ? AND w.carrier = k.carrier) ORDER BY k.carrier DESC",
            (leaf, span, session.id),
        )
    else:
        rows = session.ledger.all(
            "SELECT v.carrier FROM visible v WHERE v.session = ? AND v.generation = 0 AND v.state = 'raw' "  # noqa: S608
            "AND v.carrier > ? AND NOT EXISTS (SELECT 1 FROM live w WHERE w.session = v.session "
            f"AND w.carrier = v.carrier) AND NOT {COVERED} ORDER BY v.carrier DESC",
            (session.id, span),
        )
    return [int(one) for (one,) in rows]


def came_back(session: "Session") -> list[int]:
    """The raw spans in the window that a summary of the branch has covered once."""
    return [
        int(span)
        for (span,) in session.ledger.all(
            "SELECT w.carrier FROM live w JOIN visible v ON v.session = w.session AND v.carrier = w.carrier "  # noqa: S608
            f"WHERE w.session = ? AND v.generation = 0 AND {COVERED}",
            (session.id,),
        )
    ]


def been_away(ledger: Ledger, spans: Sequence[int]) -> set[int]:
    """Those spans that were out of the window before: an original of theirs is pointed to."""
    found: set[int] = set()
    for some in batched(spans):
        found.update(
            int(span)
            for (span,) in ledger.all(
                f"SELECT span FROM pointer WHERE holding = 'committed' AND span IN ({marks(some)})",  # noqa: S608
                some,
            )
        )
    return found


def any_answers(ledger: Ledger, spans: Iterable[int], calls: Collection[str]) -> bool:
    """Whether one of these spans is the result of one of the calls, as far as their originals are there."""
    for span in spans:
        source = source_of(ledger, span)
        if source is not None and decode(source).result_of in calls:
            return True
    return False
