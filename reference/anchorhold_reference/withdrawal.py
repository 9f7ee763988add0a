"""What the caller takes out of the window: all of it, or everything after a turn. A compaction under way is undone in
the same transaction, so that nothing of it comes back (CON-3)."""

import contextlib

from anchorhold_reference import cold, index
from anchorhold_reference.ages import advance
from anchorhold_reference.anchors import pins_of
from anchorhold_reference.decide import Copy, Holding
from anchorhold_reference.errors import UnknownTurnError
from anchorhold_reference.extract.facts import UnreadableError
from anchorhold_reference.recovery import take_all_back
from anchorhold_reference.session import Live, Session, restore_payload
from anchorhold_reference.steps import claims_of, lines_for, write_summary
from anchorhold_reference.summaries import manifest, remnant_line
from anchorhold_reference.values import Clock, Uptime


def clear(session: Session, *, clock: Clock, uptime: Uptime) -> None:
    """Empty the window. What was in it can still be asked for: it gets a pointer, and its copy is made afterwards, so
    that no store can stand in the way of a clear; the source is held until then (ANC-1)."""
    ledger = session.ledger
    with ledger.transaction():
        take_all_back(ledger, session.id)
        archive(session, session.live(), now=clock(), age=advance(ledger, uptime()))
        session.new_version()


def archive(session: Session, carriers: list[Live], *, now: float, age: float) -> None:
    """Take carriers out of the window for good, and keep them to be asked for. Inside a transaction."""
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
    ids = [one.carrier for one in carriers]
    ledger.many(
        "INSERT INTO archived (session, carrier) VALUES (?, ?) ON CONFLICT DO NOTHING",
        [(session.id, one) for one in ids],
    )
    ledger.many("DELETE FROM live WHERE session = ? AND carrier = ?", [(session.id, one) for one in ids])


def rewind(session: Session, turn: str) -> None:
    """Take back everything that came after a turn: the window is again as it was when that turn was the newest, save
    for what was cleared or forgotten since (CON-3). Other branches keep what they have (ISO-1).

    A summary that was written since is gone, and what it had replaced is raw again. Originals that it had outlived
    are not there to come back: what it says for them is carried on by a summary of these statements alone (ANC-1).
    Raises `UnknownTurnError`; and `MismatchError` or `StoreError` where an original is damaged: nothing is changed
    then.
    """
    ledger = session.ledger
    with ledger.transaction():
        span = session.span_of(turn)
        if span is None:
            raise UnknownTurnError(turn)
        take_all_back(ledger, session.id)
        undone = _summaries_after(session, span)
        newest = undone[-1] if undone else None
        archived = {
            int(carrier) for (carrier,) in ledger.all("SELECT carrier FROM archived WHERE session = ?", (session.id,))
        }
        # A clear is not undone by a rewind to before it: what takes a cleared summary's place is cleared, too.
        cleared_chains = {chain for summary, chain, _ in undone if summary in archived}
        freed: list[tuple[int, int]] = []
        for summary, chain, _ in undone:
            freed += [
                (int(carrier), chain)
                for (carrier,) in ledger.all(
                    "SELECT k.carrier FROM covers k JOIN carrier c ON c.id = k.carrier AND c.generation = 0 "
                    "AND c.state = 'raw' WHERE k.summary = ? AND k.carrier <= ? ORDER BY k.carrier",
                    (summary, span),
                )
            ]
        _cut(session, span)
        gone: list[int] = []
        for carrier, chain in dict(freed).items():
            if session.leaf_over(carrier) is not None or carrier in archived:
                continue
            if chain in cleared_chains:
                _archive_one(session, carrier)
            elif restore_payload(ledger, carrier):
                _put_live(session, carrier, position=carrier)
            else:
                gone.append(carrier)
        older = _latest_summary(session)
        if older is not None and older[0] not in archived:
            if older[1] in cleared_chains:
                _archive_one(session, older[0])
            else:
                under = session.under(older[0])
                _put_live(session, older[0], position=under[0][0] if under else older[0])
        if gone and newest is not None:
            _carry_on(session, gone, said_by=newest[0])
        session.new_version()


def _summaries_after(session: Session, span: int) -> list[tuple[int, int, str]]:
    """Committed summaries of the branch that were written after a span came, with chain and body, oldest first."""
    return [
        (int(summary), int(chain), str(body))
        for summary, chain, body in session.ledger.all(
            "SELECT s.carrier, s.chain, s.body FROM lineage g JOIN summary s ON s.session = g.node "
            "AND s.carrier BETWEEN g.first AND g.last JOIN carrier c ON c.id = s.carrier AND c.state = 'committed' "
            "WHERE g.session = ? AND s.carrier > ? ORDER BY s.carrier",
            (session.id, span),
        )
    ]


def _latest_summary(session: Session) -> tuple[int, int] | None:
    row = session.ledger.first(
        "SELECT s.carrier, s.chain FROM lineage g JOIN summary s ON s.session = g.node "
        "AND s.carrier BETWEEN g.first AND g.last JOIN carrier c ON c.id = s.carrier AND c.state = 'committed' "
        "WHERE g.session = ? ORDER BY s.carrier DESC LIMIT 1",
        (session.id,),
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
    session.ledger.run(
        "INSERT INTO live (session, position, carrier) VALUES (?, ?, ?) ON CONFLICT DO NOTHING",
        (session.id, position, carrier),
    )


def _archive_one(session: Session, carrier: int) -> None:
    session.ledger.run(
        "INSERT INTO archived (session, carrier) VALUES (?, ?) ON CONFLICT DO NOTHING", (session.id, carrier)
    )


def _carry_on(session: Session, gone: list[int], *, said_by: int) -> None:
    """Write a summary of what an undone one says for spans whose originals have left, and take the older one in."""
    ledger = session.ledger
    older = next((one for one in session.live() if one.turn is None), None)
    (body,) = ledger.one("SELECT body FROM summary WHERE carrier = ?", (said_by,))
    asserted = claims_of(session, said_by)
    pins = {pin for span in gone for pin in pins_of(session, span, said_by)}
    lines = lines_for(body, asserted, pins)
    if older is not None:
        lines = [older.body or "", *lines]
        for key, claims in claims_of(session, older.carrier).items():
            asserted.setdefault(key, []).extend(claims)
    text = "\n".join(lines)
    turns = len(gone) + (0 if older is None else len(session.under(older.carrier)))
    summary = write_summary(
        session,
        generation=1 + (0 if older is None else older.generation),
        older=None if older is None else older.carrier,
        carriers=[*gone, *([] if older is None else [older.carrier])],
        text=f"{text}\n{remnant_line(turns)}",
        body=text,
        reply="",
        entries=manifest(text, asserted),
    )
    ledger.run("UPDATE carrier SET state = 'committed' WHERE id = ?", (summary,))
    if older is not None:
        ledger.run("DELETE FROM live WHERE session = ? AND carrier = ?", (session.id, older.carrier))
    _put_live(session, summary, position=min(span for span, _, _ in session.under(summary)))
