"""What the caller takes out of the window: all of it, or everything after a turn. A compaction under way is undone in
the same transaction, so that nothing of it comes back (CON-3)."""

import contextlib
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from anchorhold_reference import cold, index
from anchorhold_reference.ages import advance
from anchorhold_reference.anchors import Pin, holds_without_tombstone, pins_of, without_original
from anchorhold_reference.decide import Copy, Holding
from anchorhold_reference.errors import UnknownTurnError
from anchorhold_reference.extract.facts import UnreadableError
from anchorhold_reference.pairs import any_answers, bring_back, came_back, cleared, issued_by, place_of, put_back
from anchorhold_reference.planning import grouped
from anchorhold_reference.recovery import release_spans, take_all_back
from anchorhold_reference.session import Live, Session
from anchorhold_reference.steps import claims_of, lines_for, write_summary
from anchorhold_reference.summaries import manifest, remnant_line
from anchorhold_reference.values import Clock, Uptime


def clear(session: Session, *, clock: Clock, uptime: Uptime) -> None:
    """Empty the window. What was in it can still be asked for: it gets a pointer, and its copy is made afterwards, so
    that no store can stand in the way of a clear; the source is held until then (ANC-1)."""
    ledger = session.ledger
    with ledger.transaction():
        take_all_back(ledger, session.id)
        live = session.live()
        take_out(session, live, now=clock(), age=advance(ledger, uptime()))
        # Nothing that came before comes back, the newest turn that is out of the window already included.
        newest = ledger.one(
            "SELECT max(t.carrier) FROM lineage g JOIN turn t ON t.session = g.node "
            "AND t.carrier BETWEEN g.first AND g.last WHERE g.session = ?",
            (session.id,),
        )
        _archive(session, {one.carrier for one in live} | {int(span) for span in newest if span is not None})
        session.new_version()


def take_out(session: Session, carriers: list[Live], *, now: float, age: float) -> None:
    """Take carriers out of the window, and keep them to be asked for. Inside a transaction."""
    ledger = session.ledger
    for one in carriers:
        if one.turn is not None:
            # One that cannot be read has no assertions on record (MAN-3); its original is kept like any other.
            with contextlib.suppress(UnreadableError):
                session.record({one.carrier: session.read(one)}, calling={one.carrier} if one.turn.calls else ())
            if cold.pointer_to(ledger, one.carrier) is None:
                # Another branch's compaction may have copied it and not pointed to it yet. It will find this pointer,
                # nothing would lead to its copy, and nobody would ever remove that (ERA-1).
                for slot, epoch in ledger.all("SELECT slot, epoch FROM cold WHERE span = ?", (one.carrier,)):
                    cold.remove(ledger, slot, epoch)
                (mark,) = ledger.one("SELECT digest FROM turn WHERE carrier = ?", (one.carrier,))
                ((slot, epoch),) = cold.allocate(ledger, 1)
                cold.issue(
                    ledger,
                    [cold.Named(span=one.carrier, slot=slot, epoch=epoch, mark=mark)],
                    now=now,
                    age=age,
                    holding=Holding.COMMITTED,
                    copy=Copy.OUTSTANDING,
                )
            # Another branch's compaction may just be copying it.
            ledger.run(
                "UPDATE pointer SET holding = 'committed' WHERE span = ? AND holding = 'staged'", (one.carrier,)
            )
            index.enter(ledger, [one.carrier])
    _out_of_window(session, [one.carrier for one in carriers])
    # Those that had come back into the window have their copies; the others are let go as these land.
    release_spans(ledger, [one.carrier for one in carriers if one.turn is not None])


def _archive(session: Session, carriers: Collection[int]) -> None:
    session.ledger.many(
        "INSERT INTO archived (session, carrier) VALUES (?, ?) ON CONFLICT DO NOTHING",
        [(session.id, one) for one in sorted(carriers)],
    )


def _out_of_window(session: Session, carriers: Collection[int]) -> None:
    session.ledger.many(
        "DELETE FROM live WHERE session = ? AND carrier = ?", [(session.id, one) for one in sorted(carriers)]
    )


def rewind(session: Session, turn: str) -> None:
    """Take back everything that came after a turn: the window is again as it was when that turn was the newest, save
    for what was cleared or forgotten since (CON-3). Other branches keep what they have (ISO-1).

    A summary that was written since is gone, and what it had replaced is raw again; a call that a late result has
    brought back since is under its summary again (STR-1). Originals that a summary had outlived are not there to come
    back: what it says for them is carried on by a summary of these statements alone (ANC-1), which stands for the
    other half of a call and its result, too. A decision that names what was taken back is taken back (MAN-4).
    Raises `UnknownTurnError`; and `MismatchError` or `StoreError` where an original is damaged: nothing is changed
    then.
    """
    ledger = session.ledger
    with ledger.transaction():
        span = session.span_of(turn)
        if span is None:
            raise UnknownTurnError(turn)
        take_all_back(ledger, session.id)
        undone = _undone(session, span)
        _cut(session, span)
        returned = came_back(session)
        _out_of_window(session, returned)
        for chain in undone:
            if chain.cleared:
                _stay_cleared(session, chain)
        gone = [one for chain in undone if not chain.cleared for one in _restore(session, chain.freed)]
        older = _latest_summary(session)
        if older is not None and not _was_archived(session, [older[0]]):
            _put_live(session, older[0], position=place_of(session, older[0]))
        # What has come back into the window until then, and only that, is there again.
        bring_back(session, _answering(session.live()), strict=True)
        halves = _halves(session, undone, returned)
        _out_of_window(session, halves)
        gone += [one for one in sorted(halves) if session.leaf_over(one) is None]
        latest = next((chain for chain in reversed(undone) if not chain.cleared), None)
        if latest is not None:
            _carry_on(session, latest, gone, live=True)
        release_spans(ledger, [*returned, *halves])
        _take_decisions_back(session, span)
        session.new_version()


@dataclass(frozen=True, slots=True, kw_only=True)
class _Undone:
    """Summaries of one chain that a rewind undoes."""

    chain: int
    said_by: int
    """The newest of them, which was in the window, or in it when that was cleared."""
    freed: tuple[int, ...]
    """The raw spans, not after the rewind's, that they had replaced, in order."""
    since: tuple[int, ...]
    """Those after it."""
    pins: frozenset[Pin]
    """What it alone anchors of the spans that are not after the rewind's."""
    cleared: bool


def _undone(session: Session, span: int) -> list[_Undone]:
    """The summaries of the branch that were written after a span came, by chain, oldest first; while the branch
    still sees them."""
    chains: dict[int, list[int]] = {}
    for summary, chain in session.ledger.all(
        "SELECT s.carrier, s.chain FROM lineage g JOIN summary s ON s.session = g.node "
        "AND s.carrier BETWEEN g.first AND g.last JOIN carrier c ON c.id = s.carrier AND c.state = 'committed' "
        "WHERE g.session = ? AND s.carrier > ? ORDER BY s.carrier",
        (session.id, span),
    ):
        chains.setdefault(int(chain), []).append(int(summary))
    found = []
    for chain, summaries in chains.items():
        covered: set[int] = set()
        for summary in summaries:
            covered |= {
                int(one)
                for (one,) in session.ledger.all(
                    "SELECT k.carrier FROM covers k JOIN carrier c ON c.id = k.carrier AND c.generation = 0 "
                    "AND c.state = 'raw' WHERE k.summary = ?",
                    (summary,),
                )
            }
        newest = summaries[-1]
        found.append(
            _Undone(
                chain=chain,
                said_by=newest,
                freed=tuple(sorted(one for one in covered if one <= span)),
                since=tuple(sorted(one for one in covered if one > span)),
                pins=frozenset(
                    pin
                    for one in without_original(session, newest)
                    if one <= span
                    for pin in pins_of(session, one, newest)
                ),
                cleared=_was_archived(session, summaries),
            )
        )
    return found


def _was_archived(session: Session, carriers: Sequence[int]) -> bool:
    return any(
        session.ledger.first("SELECT 1 FROM archived WHERE session = ? AND carrier = ?", (session.id, one))
        for one in carriers
    )


def _latest_summary(session: Session, chain: int | None = None) -> tuple[int, int] | None:
    """The latest summary that the branch sees, of one chain or of all, with its generation."""
    row = session.ledger.first(
        "SELECT s.carrier, c.generation FROM lineage g JOIN summary s ON s.session = g.node "
        "AND s.carrier BETWEEN g.first AND g.last JOIN carrier c ON c.id = s.carrier AND c.state = 'committed' "
        "WHERE g.session = ? AND s.chain = coalesce(?, s.chain) ORDER BY s.carrier DESC LIMIT 1",
        (session.id, chain),
    )
    return None if row is None else (int(row[0]), int(row[1]))


def _cut(session: Session, span: int) -> None:
    """Let the branch see nothing after a span, but whatever is made from now on."""
    ledger = session.ledger
    (newest,) = ledger.one("SELECT max(id) FROM carrier")
    ledger.run("DELETE FROM lineage WHERE session = ? AND first > ?", (session.id, span))
    ledger.run("UPDATE lineage SET last = ? WHERE session = ? AND last > ?", (span, session.id, span))
    session.see(session.id, session.id, first=newest + 1)
    ledger.run("DELETE FROM live WHERE session = ? AND carrier > ?", (session.id, span))


def _put_live(session: Session, carrier: int, *, position: int) -> None:
    """Put a summary into the window, unless it is there."""
    session.ledger.run(
        "INSERT INTO live (session, position, carrier) SELECT ?, ?, id FROM carrier WHERE id = ? "
        "AND NOT EXISTS (SELECT 1 FROM live w WHERE w.session = ? AND w.carrier = ?)",
        (session.id, position, carrier, session.id, carrier),
    )


def _stay_cleared(session: Session, chain: _Undone) -> None:
    """A clear is not undone by a rewind to before it: what takes a cleared summary's place is cleared, too."""
    freed = [one for one in chain.freed if session.leaf_over(one) is None]
    older = _latest_summary(session, chain.chain)
    _archive(session, [*freed, *([] if older is None else [older[0]])])
    _carry_on(session, chain, [one for one in freed if not _is_there(session, one)], live=False)


def _restore(session: Session, freed: Sequence[int]) -> list[int]:
    """Put spans that are under no summary any more back into the window; those whose originals are gone."""
    return [
        one
        for one in freed
        if session.leaf_over(one) is None and not _was_archived(session, [one]) and put_back(session, one) is None
    ]


def _is_there(session: Session, span: int) -> bool:
    """Whether the original of a span that has left the window can be had."""
    return (
        session.ledger.first(
            "SELECT 1 FROM turn t WHERE t.carrier = ? AND t.payload IS NOT NULL UNION ALL "
            "SELECT 1 FROM pointer p WHERE p.span = ? AND p.holding = 'committed' "
            "AND NOT EXISTS (SELECT 1 FROM damage d WHERE d.epoch = p.epoch)",
            (span, span),
        )
        is not None
    )


def _answering(live: Sequence[Live]) -> list[tuple[str, int]]:
    """The results in a window: the call that each answers, and its span."""
    return [
        (one.turn.result_of, one.carrier) for one in live if one.turn is not None and one.turn.result_of is not None
    ]


def _halves(session: Session, undone: Sequence[_Undone], returned: Sequence[int]) -> set[int]:
    """Which of the spans that were put back are left without their other half, which was forgotten or let go since,
    with all that belongs to them: half a pair may not stay (STR-1)."""
    freed = {one for chain in undone if not chain.cleared for one in chain.freed}
    live = session.live()
    group, _ = grouped(live)
    there = {one.carrier for one in live}
    answered = {one.turn.result_of for one in live if one.turn is not None}
    torn: set[int] = set()
    for i, one in enumerate(live):
        if one.turn is None or one.carrier not in freed:
            continue
        if one.turn.result_of is not None:
            issuer = issued_by(session, one.turn.result_of, before=one.carrier)
            if issuer is not None and issuer not in there and not cleared(session, issuer):
                torn.add(group[i])
        # A call that was replaced had been answered: where its result is nowhere it is gone, and where it came later
        # it is to come again. One that has another of its turn's results beside it stays with that.
        calls = {call.id for call in one.turn.calls} if one.turn.status != "killed" else set[str]()
        if calls and not calls & answered:
            later = sorted(other for chain in undone for other in chain.since)
            if not any_answers(session.ledger, later, calls):
                torn.add(group[i])
    # What was never out of the window has no original to be asked for, and keeps its group there.
    torn -= {group[i] for i, one in enumerate(live) if one.carrier not in freed.union(returned)}
    return {one.carrier for i, one in enumerate(live) if group[i] in torn}


def _carry_on(session: Session, chain: _Undone, spans: Sequence[int], *, live: bool) -> None:
    """Write a summary that stands for spans, and says what an undone one alone says for them and for what is under
    the older one of its chain; it takes the older one in. Into the window, or where that was cleared outside."""
    ledger = session.ledger
    older = _latest_summary(session, chain.chain)
    asserted = claims_of(session, chain.said_by)
    have: set[Pin] = set()
    body = ""
    if older is not None:
        (body,) = ledger.one("SELECT body FROM summary WHERE carrier = ?", (older[0],))
        carried = ledger.all("SELECT fact, speaker FROM carries WHERE summary = ?", (older[0],))
        have = {(int(fact), str(speaker)) for fact, speaker in carried}
        for key, claims in claims_of(session, older[0]).items():
            asserted.setdefault(key, []).extend(claims)
    lacks = {pin for pin in chain.pins if pin not in have and (pin[0], "") not in have}
    if not lacks and not (spans and live):
        return
    (said,) = ledger.one("SELECT body FROM summary WHERE carrier = ?", (chain.said_by,))
    text = "\n".join([*([body] if body else []), *lines_for(said, claims_of(session, chain.said_by), lacks)])
    turns = len(spans) + (0 if older is None else session.count_under(older[0]))
    line = remnant_line(turns)
    summary = write_summary(
        session,
        generation=1 if older is None else 1 + older[1],
        older=None if older is None else older[0],
        carriers=[*spans, *([] if older is None else [older[0]])],
        text=f"{text}\n{line}" if text else line,
        body=text,
        reply="",
        entries=manifest(text, asserted),
    )
    ledger.run("UPDATE carrier SET state = 'committed' WHERE id = ?", (summary,))
    if not live:
        _archive(session, [summary])
        return
    if older is not None:
        _out_of_window(session, [older[0]])
    _put_live(session, summary, position=place_of(session, summary))


def _take_decisions_back(session: Session, span: int) -> None:
    """Take back the tombstones of what came after a span, and those that name something that did as superseder
    (MAN-4): it does not hold instead any more, so that what it took the place of is known again. Where nothing else
    holds that, its loss stays on record, and names no superseder."""
    ledger = session.ledger
    ledger.run("DELETE FROM tombstone WHERE session = ? AND span > ?", (session.id, span))
    for asserting, fact in ledger.all(
        "SELECT span, fact FROM tombstone WHERE session = ? AND superseder > ?", (session.id, span)
    ):
        if holds_without_tombstone(session, int(asserting), int(fact)):
            ledger.run(
                "DELETE FROM tombstone WHERE session = ? AND span = ? AND fact = ?", (session.id, asserting, fact)
            )
    ledger.run("UPDATE tombstone SET superseder = NULL WHERE session = ? AND superseder > ?", (session.id, span))
