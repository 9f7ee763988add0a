"""One compaction: choose, ask the summariser, and replace in two phases.

The steps, each durable before the next begins: `stage` the summary and claim what it replaces → `copy` the
originals to the cold store → `point` to them → `commit`, after reading everything back → `release` the sources. A
process that dies before `commit` leaves the old state, after it the new one; `recover` clears what is half done
either way (CRA-1).
"""

import threading
from collections.abc import Sequence

from anchorhold_reference import cold, index
from anchorhold_reference.anchors import Pin, pinned
from anchorhold_reference.codec import decode, digest, shown
from anchorhold_reference.decide import Assertion, Holding, Source, keeps, provenance_holds
from anchorhold_reference.errors import AnchorholdError, LedgerError, StoreError
from anchorhold_reference.extract import mentions
from anchorhold_reference.planning import Plan, make_plan, window_size
from anchorhold_reference.recovery import release, undo, undo_own
from anchorhold_reference.reply import fault, said, shorten
from anchorhold_reference.session import Live, Session, carrier_id
from anchorhold_reference.summaries import Carried, Claim, manifest, omissions, request
from anchorhold_reference.values import Clock, CountTokens, Request, Settings, Steps, Summarise
from anchorhold_spec.vocabulary import Outcome, OutcomeKind

STEPS = ("stage", "copy", "point", "commit", "release", "acknowledge")
"""Names of the steps, in order, as the `steps` hook gets them, each right before it is taken. Nothing is written
in the last: there the work is done and the caller does not know it yet."""

LINE_RESERVE = 60
"""Tokens set aside for the line that names a summary's omissions."""


class Conflict(Exception):  # noqa: N818 - it is an outcome on its way up, not an error
    """The window or the store is not as it was when the compaction was planned; nothing was changed."""

    def __init__(self, reason: str, facts: tuple[str, ...] = ()) -> None:
        super().__init__(reason)
        self.facts = facts


class Compaction:
    """Runs compactions of one session."""

    def __init__(
        self,
        session: Session,
        *,
        settings: Settings,
        summarise: Summarise,
        count: CountTokens,
        steps: Steps,
        clock: Clock,
    ) -> None:
        """Take what every compaction of the session needs."""
        self.session = session
        self.ledger = session.ledger
        self.settings = settings
        self.summarise = summarise
        self.count = count
        self.steps = steps
        self.clock = clock
        self._flight = threading.Lock()

    # -- the run --

    def run(self) -> Outcome:
        """Compact once. Whatever goes wrong, the outcome says so and the sources stay (OUT-1, OUT-2, ANC-5)."""
        if not self._flight.acquire(blocking=False):
            return Outcome(
                kind=OutcomeKind.REFUSED, reason="a compaction of this session is under way (CON-2); wait for it"
            )
        try:
            # Left behind where a step was interrupted in this very process, which then went on (PRO-3).
            undo_own(self.ledger, self.session.id)
            return self._run()
        finally:
            self._flight.release()

    def _run(self) -> Outcome:
        with self.ledger.reading():
            live = self.session.live()
        size, high_water = window_size(live, self.count), self.settings.high_water
        if high_water is not None and size <= high_water:
            return Outcome(
                kind=OutcomeKind.NOTHING, reason=f"the window has {size} tokens, the watermark is at {high_water}"
            )
        plan = make_plan(self.session, live, settings=self.settings, count=self.count)
        if not plan.chosen:
            if high_water is None:
                return Outcome(kind=OutcomeKind.NOTHING, reason=_held_up("nothing is left to replace", plan))
            return Outcome(
                kind=OutcomeKind.REFUSED,
                reason=_held_up(f"{size} tokens over a watermark of {high_water}, and nothing may be replaced", plan),
                facts=plan.held_up_by,
            )
        # No transaction and no lock is held while the model writes: turns appended meanwhile simply come after
        # (CON-1).
        asked = Request(messages=request(plan.chosen))
        try:
            reply = self.summarise(asked)
        except Exception as error:  # noqa: BLE001 - whatever the caller's model client raises, it is the same to us
            return Outcome(
                kind=OutcomeKind.FAILED,
                reason=f"the summariser failed (OUT-1): {type(error).__name__}: {error}",
            )
        earlier = [text for (text,) in self._previous()]
        wrong = fault(reply, shown=_echoes(asked, plan.chosen), previous=earlier)
        if wrong:
            return Outcome(kind=OutcomeKind.REFUSED, reason=f"the reply is no summary (OUT-1): {wrong}")
        body = said(reply)
        limit = self._limit(plan)
        short = shorten(body, limit=limit, count=self.count)
        if short is None:
            return Outcome(
                kind=OutcomeKind.REFUSED,
                reason=f"the reply has {self.count(body)} tokens where {limit} are left for it, and its first "
                "sentence alone is longer (PRO-4); raise the budget, or have the summariser write less",
            )
        return self._replace(plan, reply=body, body=short[0], left_out=short[1])

    def _limit(self, plan: Plan) -> int:
        """Tokens that the summary's body may have (PRO-1, PRO-4)."""
        high_water = self.settings.high_water
        if high_water is None:
            return self.settings.summary_limit
        room = high_water - plan.stay - LINE_RESERVE
        return max(min(room, high_water // 2), high_water // 8, 16)

    def _previous(self) -> list[tuple[str]]:
        """What the summariser answered for the latest summaries."""
        return self.ledger.all(
            "SELECT reply FROM summary WHERE session = ? ORDER BY carrier DESC LIMIT 8", (self.session.id,)
        )

    def _replace(self, plan: Plan, *, reply: str, body: str, left_out: int) -> Outcome:
        summary: int | None = None
        try:
            self.steps("stage")
            summary = self._stage(plan, reply=reply, body=body, left_out=left_out)
            self.steps("copy")
            self._copy(summary)
            self.steps("point")
            self._point(summary)
            self.steps("commit")
            self._commit(summary)
        except (Conflict, AnchorholdError, OSError) as error:
            if summary is not None:
                undo(self.ledger, summary)
            kind = OutcomeKind.REFUSED if isinstance(error, Conflict) else OutcomeKind.FAILED
            facts = error.facts if isinstance(error, Conflict) else ()
            return Outcome(kind=kind, reason=str(error), facts=facts)
        # From here on it has happened, and the outcome must say so even where tidying up does not succeed: the
        # sources that stay behind are released by the next recovery.
        self.session.forget_read(plan.read)
        late = None
        self.steps("release")
        try:
            release(self.ledger, summary)
        except LedgerError as error:
            late = f"sources not released yet: {error}"
        self.steps("acknowledge")
        return self._committed(plan, summary, late)

    def _committed(self, plan: Plan, summary: int, late: str | None) -> Outcome:
        with self.ledger.reading():
            size = window_size(self.session.live(), self.count)
        covered = tuple(one.turn.id for one in plan.chosen if one.turn is not None)
        high_water = self.settings.high_water
        reason = late
        if high_water is not None and size > high_water:
            over = _held_up(f"the window still has {size} tokens, the watermark is at {high_water}", plan)
            reason = over if late is None else f"{over}; {late}"
        return Outcome(kind=OutcomeKind.COMMITTED, reason=reason, summary=carrier_id(summary, 1), covered=covered)

    # -- the steps --

    def _stage(self, plan: Plan, *, reply: str, body: str, left_out: int) -> int:
        """Write the summary, not yet live, and claim what it is to replace."""
        ledger, session = self.ledger, self.session
        carriers = [one.carrier for one in plan.chosen]
        replaced = [one for one in plan.chosen if one.turn is None]
        with ledger.transaction():
            for one in plan.chosen:
                row = ledger.first("SELECT state, claimed FROM carrier WHERE id = ?", (one.carrier,))
                if row != ("live", None):
                    raise Conflict(
                        f"{one.id} was replaced or claimed by another compaction while the summary was being written "
                        "(CON-2); nothing was changed, compact again"
                    )
            for span, found in plan.read.items():
                session.record(span, found)
            pins = [pin for one in replaced for pin in pinned(ledger, session.id, one.carrier)]
            asserted = self._asserted(plan, replaced)
            body = self._carry_pins(body, asserted, replaced, pins)
            entries = manifest(body, asserted)
            lost = _lacking(pins, entries)
            if lost:
                raise Conflict(
                    "the summary cannot repeat what no original anchors any more (MAN-1)", self._in_words(lost)
                )
            carried = {entry.fact for entry in entries}
            dropped = [m for found in plan.read.values() for m in found if session.fact(m.key) not in carried]
            turns = len(plan.read) + len(session.under([one.carrier for one in replaced]))
            text = f"{body}\n{omissions(turns, dropped, left_out)}"
            generation = 1 + max(one.generation for one in plan.chosen)
            (position,) = ledger.one(
                "SELECT min(position) FROM carrier WHERE id IN (?, ?)", (carriers[0], carriers[-1])
            )
            summary = ledger.insert(
                "INSERT INTO carrier (session, position, generation, state) VALUES (?, ?, ?, 'staged')",
                (session.id, position, generation),
            )
            ledger.run(
                "INSERT INTO summary (carrier, session, owner, text, body, reply) VALUES (?, ?, ?, ?, ?, ?)",
                (summary, session.id, ledger.issuer, text, body, reply),
            )
            self._write_manifest(summary, entries)
            ledger.many("UPDATE carrier SET claimed = ? WHERE id = ?", [(summary, one) for one in carriers])
        return summary

    def _asserted(self, plan: Plan, replaced: Sequence[Live]) -> dict[bytes, list[Claim]]:
        """What stands behind the new summary, by key: the assertions of the raw spans, and the manifests of the
        summaries. A statement of an older original that its summary does not repeat was not shown, and so supports
        nothing (MAN-5); this also keeps the cost to what the window holds, however long the session."""
        found: dict[bytes, list[Claim]] = {}
        for one in plan.chosen:
            if one.turn is None:
                continue
            for mention in plan.read[one.carrier]:
                fact = self.session.fact(mention.key)
                assert fact is not None  # recorded just before
                found.setdefault(mention.key, []).append(Claim(fact=fact, speaker=one.turn.speaker))
        for one in replaced:
            for key, fact, speaker in self.ledger.all(
                "SELECT f.key, f.id, k.speaker FROM carries k JOIN fact f ON f.id = k.fact WHERE k.summary = ?",
                (one.carrier,),
            ):
                found.setdefault(bytes(key), []).append(Claim(fact=fact, speaker=speaker or None))
        return found

    def _carry_pins(
        self, body: str, asserted: dict[bytes, list[Claim]], replaced: Sequence[Live], pins: Sequence[Pin]
    ) -> str:
        """Repeat under the body, word for word, each pinned statement that it lacks (MAN-1, ANC-4)."""
        wanted = _lacking(pins, manifest(body, asserted))
        if not wanted:
            return body
        keys = {(key, claim.fact) for key, claims in asserted.items() for claim in claims}
        needed = {(key, who) for key, fact in keys for pin, who in wanted if pin == fact}
        lines = [
            f"{mention.speaker}: {mention.said}" if mention.speaker else mention.said
            for one in replaced
            for mention in mentions(one.body or "")
            if (mention.key, mention.speaker or "") in needed
        ]
        return "\n".join([body, *dict.fromkeys(lines)])

    def _write_manifest(self, summary: int, entries: Sequence[Carried]) -> None:
        self.ledger.many(
            "INSERT INTO carries (summary, fact, speaker, said) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING",
            [(summary, entry.fact, entry.speaker or "", entry.said) for entry in entries],
        )

    def _in_words(self, pins: set[Pin]) -> tuple[str, ...]:
        return tuple(
            said
            for fact, _ in sorted(pins)
            for (said,) in self.ledger.all("SELECT said FROM assertion WHERE fact = ? LIMIT 1", (fact,))
        )

    def _copy(self, summary: int) -> None:
        """Put each original that is not there yet into the cold store."""
        with self.ledger.transaction():
            self._still_staged(summary)
            for span, payload in self.ledger.all(
                "SELECT t.carrier, t.payload FROM carrier c JOIN turn t ON t.carrier = c.id "
                "WHERE c.claimed = ? ORDER BY c.position",
                (summary,),
            ):
                cold.put(self.ledger, span, payload)

    def _point(self, summary: int) -> None:
        """Write the pointer of each original that was copied."""
        now = self.clock()
        with self.ledger.transaction():
            self._still_staged(summary)
            for span, mark, slot, epoch in self.ledger.all(
                "SELECT t.carrier, t.digest, o.slot, o.epoch FROM carrier c JOIN turn t ON t.carrier = c.id "
                "JOIN cold o ON o.span = c.id WHERE c.claimed = ?",
                (summary,),
            ):
                cold.issue(
                    self.ledger, session=self.session.id, span=span, slot=slot, epoch=epoch, mark=mark, now=now
                )

    def _commit(self, summary: int) -> None:
        """Flip: the summary becomes live, what it replaces leaves the window. Checked here, acted on here (PTR-1,
        MAN-1)."""
        ledger = self.ledger
        with ledger.transaction():
            self._still_staged(summary)
            raw = ledger.all(
                "SELECT c.id, t.id, t.payload FROM carrier c JOIN turn t ON t.carrier = c.id WHERE c.claimed = ?",
                (summary,),
            )
            for span, turn, _ in raw:
                source = self._source(span)
                if not provenance_holds(source):
                    raise StoreError(
                        f"the original of turn {turn!r} is not in the cold store as its pointer names it (PTR-1, "
                        "OUT-3); nothing was replaced, see to the store and compact again"
                    )
            unkept = self._unkept(summary)
            if unkept:
                raise Conflict("the summary would let go of what nothing else anchors (MAN-1)", unkept)
            ledger.run(
                "UPDATE carrier SET top = ? WHERE top IN (SELECT id FROM carrier WHERE claimed = ?)",
                (summary, summary),
            )
            ledger.run(
                "UPDATE carrier SET state = 'replaced', claimed = NULL, leaf = CASE generation WHEN 0 THEN ? END "
                "WHERE claimed = ?",
                (summary, summary),
            )
            ledger.run("UPDATE carrier SET state = 'live', top = id WHERE id = ?", (summary,))
            ledger.many("UPDATE pointer SET holding = 'committed' WHERE span = ?", [(span,) for span, _, _ in raw])
            index.add(ledger, [(span, shown(decode(bytes(payload))) or "") for span, _, payload in raw])
            ledger.run("UPDATE session SET compactions = compactions + 1 WHERE id = ?", (self.session.id,))

    def _source(self, span: int) -> Source:
        """What the store really holds of a span: read back, because a store may only say that it succeeded."""
        issued = cold.pointer_to(self.ledger, span)
        if issued is None:
            return Source(pointed=False, landed=False, removed=False)
        row = self.ledger.first(
            "SELECT payload FROM cold WHERE slot = ? AND epoch = ?", (issued.address.slot, issued.address.epoch)
        )
        landed = row is not None and digest(cold.as_bytes(row[0])) == issued.address.digest
        return Source(pointed=True, landed=landed, removed=issued.holding is Holding.GONE)

    def _unkept(self, summary: int) -> tuple[str, ...]:
        """Assertions under the summaries being replaced that would come loose, in words."""
        return tuple(
            str(said)
            for said, carried, tombstoned in self.ledger.all(
                "SELECT a.said, EXISTS (SELECT 1 FROM carries k WHERE k.summary = ?1 AND k.fact = a.fact "
                "  AND k.speaker IN ('', t.speaker)), "
                "EXISTS (SELECT 1 FROM tombstone x WHERE x.span = a.span AND x.fact = a.fact) "
                "FROM carrier s JOIN carrier l ON l.top = s.id JOIN carrier c ON c.leaf = l.id "
                "JOIN turn t ON t.carrier = c.id JOIN pointer p ON p.span = c.id AND p.holding = 'gone' "
                "JOIN assertion a ON a.span = c.id WHERE s.claimed = ?1",
                (summary,),
            )
            if not keeps(Assertion(carried=bool(carried), original=False, tombstoned=bool(tombstoned)))
        )

    def _still_staged(self, summary: int) -> None:
        row = self.ledger.first("SELECT state FROM carrier WHERE id = ?", (summary,))
        if row != ("staged",):
            raise Conflict(
                "this compaction was undone by a recovery meanwhile (CRA-2); nothing was changed, compact again"
            )


def _lacking(pins: Sequence[Pin], entries: Sequence[Carried]) -> set[Pin]:
    """Pins that these entries do not serve; one that names nobody serves every speaker's assertion."""
    have = {(entry.fact, entry.speaker or "") for entry in entries}
    return {pin for pin in pins if pin not in have and (pin[0], "") not in have}


def _echoes(asked: Request, chosen: Sequence[Live]) -> tuple[str, ...]:
    """What would be an echo: anything that was shown, with and without who said it, by itself and all in a row."""
    own = [(shown(one.turn) or "") if one.turn is not None else (one.body or "") for one in chosen]
    return (*asked.messages, *own, "\n".join(asked.messages[1:]), "\n".join(own))


def _held_up(what: str, plan: Plan) -> str:
    """What happened, and what stands in the way (PRO-1)."""
    if plan.held_up_by:
        return f"{what}: {'; '.join(plan.held_up_by)}"
    return f"{what}: the newest turns are kept, and a summary alone is not summarised again"
