"""The durable steps of one compaction, each a transaction of its own.

`stage` the summary and claim what it replaces → `copy` the originals to the cold store → `point` to them → `commit`,
after reading everything back. Where copies are made later, `point` writes pointers to copies that are outstanding,
the summary commits as `pending`, and the sources stay until the copies have landed (PTR-5).
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache

from anchorhold_reference import cold, index, vectors
from anchorhold_reference.ages import advance
from anchorhold_reference.anchors import Pin, loose_without, pinned, without_original
from anchorhold_reference.codec import digest
from anchorhold_reference.decide import Copy, EvidentialClass, Holding, Source, may_reclaim, provenance_holds
from anchorhold_reference.errors import StoreError
from anchorhold_reference.extract import mentions
from anchorhold_reference.ledger import Row
from anchorhold_reference.pairs import bring_back
from anchorhold_reference.planning import Plan
from anchorhold_reference.pointer import Address, pack
from anchorhold_reference.session import Live, Session
from anchorhold_reference.summaries import Carried, Claim, manifest, names_omissions, omissions
from anchorhold_reference.values import Clock, Uptime

_PAGE = 64
"""Originals that are read back at a time."""


class Conflict(Exception):  # noqa: N818 - it is an outcome on its way up, not an error
    """The window or the store is not as it was when the compaction was planned; nothing was changed."""

    def __init__(self, reason: str, facts: tuple[str, ...] = ()) -> None:
        super().__init__(reason)
        self.facts = facts


@dataclass(frozen=True, slots=True, kw_only=True)
class Staged:
    """What was staged, to be compared with what the store says that it holds (OUT-3)."""

    summary: int
    text: str
    body: str
    carriers: tuple[int, ...]
    entries: int
    replaced: int | None
    """The older summary among what is replaced."""
    newest: int
    """The newest turn that was in the window when it was planned."""


class Steps:
    """The steps of one session's compactions."""

    def __init__(self, session: Session, *, clock: Clock, uptime: Uptime) -> None:
        """Take what every step needs."""
        self.session = session
        self.ledger = session.ledger
        self.clock = clock
        self.uptime = uptime

    # -- stage --

    def stage(self, plan: Plan, *, reply: str, body: str, left_out: int) -> Staged:
        """Write the summary, not yet live, and claim what it is to replace."""
        ledger, session = self.ledger, self.session
        carriers = [one.carrier for one in plan.chosen]
        older = next((one for one in plan.chosen if one.turn is None), None)
        with ledger.transaction():
            self._unchanged(plan)
            session.record(plan.read, calling=plan.calling)
            pins = [] if older is None else pinned(session, older.carrier)
            # Of all that the turns say, what may stand in the summary: its own words, and those of the older one.
            facts = session.facts([m.key for text in (body, older and older.body) for m in mentions(text or "")])
            asserted = self._asserted(plan, older, facts)
            body = carry_pins(body, asserted, older, pins)
            entries = manifest(body, asserted)
            lost = lacking(pins, entries)
            if lost:
                raise Conflict(
                    "the summary cannot repeat what no original anchors any more (MAN-1)", self._in_words(lost)
                )
            carried = {entry.fact for entry in entries}
            dropped = [m.kind for found in plan.read.values() for m in found if facts.get(m.key) not in carried]
            turns = len(plan.read) + (0 if older is None else session.count_under(older.carrier))
            text = f"{body}\n{omissions(turns, dropped, left_out)}"
            summary = write_summary(
                session,
                generation=1 + max(one.generation for one in plan.chosen),
                older=None if older is None else older.carrier,
                carriers=carriers,
                text=text,
                body=body,
                reply=reply,
                entries=entries,
            )
            ledger.run(
                "UPDATE live SET claimed = ? WHERE session = ? "
                "AND carrier IN (SELECT carrier FROM covers WHERE summary = ?)",
                (summary, session.id, summary),
            )
        return Staged(
            summary=summary,
            text=text,
            body=body,
            carriers=tuple(carriers),
            entries=len(entries),
            replaced=None if older is None else older.carrier,
            newest=plan.newest,
        )

    def _unchanged(self, plan: Plan) -> None:
        if self.session.version() != plan.version:
            raise Conflict(
                "the window was compacted, cleared or rewound, or a turn was forgotten, while the summary was being "
                "written (CON-2, CON-3); nothing was changed, compact again"
            )
        free = {
            int(carrier)
            for (carrier,) in self.ledger.all(
                "SELECT carrier FROM live WHERE session = ? AND claimed IS NULL", (self.session.id,)
            )
        }
        for one in plan.chosen:
            if one.carrier not in free:
                raise Conflict(
                    f"{one.id} was claimed by another compaction while the summary was being written (CON-2); "
                    "nothing was changed, compact again"
                )

    def _asserted(self, plan: Plan, older: Live | None, facts: Mapping[bytes, int]) -> dict[bytes, list[Claim]]:
        """What stands behind the new summary, by key: those of the raw spans' assertions that `facts` has, and the
        manifest of the older summary. A statement of an older original that its summary does not repeat was not
        shown, and so supports nothing (MAN-5); this also keeps the cost to what the window holds, however long the
        session."""
        found: dict[bytes, list[Claim]] = {}
        for one in plan.chosen if facts else ():
            if one.turn is None:
                continue
            for m in plan.read[one.carrier]:
                if m.key in facts:
                    found.setdefault(m.key, []).append(Claim(fact=facts[m.key], speaker=one.turn.speaker))
        if older is not None:
            for key, claims in claims_of(self.session, older.carrier).items():
                found.setdefault(key, []).extend(claims)
        return found

    def _in_words(self, pins: set[Pin]) -> tuple[str, ...]:
        return tuple(
            said
            for fact, _ in sorted(pins)
            for (said,) in self.ledger.all("SELECT said FROM assertion WHERE fact = ? LIMIT 1", (fact,))
        )

    # -- copy, point --

    def copy(self, staged: Staged) -> None:
        """Put each original that is not there yet into the cold store."""
        ledger = self.ledger
        with ledger.transaction():
            self._still_staged(staged.summary)
            wanted = self._uncopied(staged.summary)
            slots = cold.allocate(ledger, len(wanted))
            taken = [
                (int(span), Address(slot, epoch, ledger.issuer, mark))
                for (slot, epoch), (span, mark) in zip(slots, wanted, strict=True)
            ]
            if ledger.outer is None:
                cold.land_sources(ledger, taken)
                return
            places = [self._place(*one) for one in taken]
            cold.reserve(ledger, places)
        try:
            cold.place_all(ledger, places)
            with ledger.transaction():
                self._still_staged(staged.summary)
                # In another branch somebody may have been faster meanwhile: a span has one original.
                free = {span for span, _ in self._uncopied(staged.summary)}
                cold.land_all(ledger, [place for place in places if place.span in free])
        except BaseException:
            cold.give_up(ledger, places)
            raise
        if len(free) < len(places):
            cold.give_up(ledger, [place for place in places if place.span not in free])

    def _uncopied(self, summary: int) -> list[Row]:
        """Span and digest of each turn under a staged summary that has neither a copy nor a pointer."""
        return self.ledger.all(
            "SELECT t.carrier, t.digest FROM covers k JOIN turn t ON t.carrier = k.carrier WHERE k.summary = ? "
            "AND NOT EXISTS (SELECT 1 FROM pointer p WHERE p.span = t.carrier) "
            "AND NOT EXISTS (SELECT 1 FROM cold o WHERE o.span = t.carrier) ORDER BY t.carrier",
            (summary,),
        )

    def _place(self, span: int, address: Address) -> cold.Place:
        payload, session = self.ledger.one("SELECT payload, session FROM turn WHERE carrier = ?", (span,))
        return cold.Place(
            slot=address.slot,
            epoch=address.epoch,
            span=span,
            session=session,
            address=pack(address),
            payload=cold.as_bytes(payload),
        )

    def point(self, staged: Staged, *, landed: bool) -> None:
        """Write the pointer of each original: to its copy, or to where its copy is going to be."""
        ledger, now = self.ledger, self.clock()
        with ledger.transaction():
            self._still_staged(staged.summary)
            age = advance(ledger, self.uptime())
            # Where copies come later, those that another branch's compaction has just made are there already.
            cold.issue_staged(ledger, staged.summary, now=now, age=age)
            if landed:
                # Where a store only said that it had a copy, the commit will find no pointer, and refuse.
                return
            found = ledger.all(
                "SELECT t.carrier, t.digest FROM covers k JOIN turn t ON t.carrier = k.carrier WHERE k.summary = ? "
                "AND NOT EXISTS (SELECT 1 FROM pointer p WHERE p.span = t.carrier) ORDER BY t.carrier",
                (staged.summary,),
            )
            originals = [
                cold.Named(span=span, slot=slot, epoch=epoch, mark=mark)
                for (slot, epoch), (span, mark) in zip(cold.allocate(ledger, len(found)), found, strict=True)
            ]
            cold.issue(ledger, originals, now=now, age=age, holding=Holding.STAGED, copy=Copy.OUTSTANDING)

    # -- commit --

    def commit(self, staged: Staged, *, texts: Mapping[int, str], embedded: vectors.Embedded | None = None) -> None:
        """Flip: the summary becomes live, what it replaces leaves the window. Checked here, acted on here (PTR-1,
        MAN-1, EVI-1). `texts` are those of the raw spans, for the index."""
        ledger, session, summary = self.ledger, self.session, staged.summary
        with ledger.transaction():
            self._still_staged(summary)
            self._as_staged(staged)
            named = names_omissions(staged.text)
            raw: list[int] = []
            for span, turn, kind, source, indexed in self._sources(summary):
                if not indexed:
                    raw.append(span)
                if not provenance_holds(source):
                    raise StoreError(
                        f"the original of turn {turn!r} is not in the cold store as its pointer names it (PTR-1, "
                        "OUT-3); nothing was replaced, see to the store and compact again"
                    )
                # Nothing expires before the horizon, since every lifetime asks `decide.may_expire` (EVI-3).
                lasts = source.landed or source.held
                if not may_reclaim(kind, pointed=source.pointed, lasts=lasts, omissions_named=named):
                    raise Conflict(
                        f"insufficient provenance, original retained: turn {turn!r} is {kind} (EVI-2); nothing was "
                        "replaced"
                    )
            self._keeps_all(staged)
            (position,) = ledger.one("SELECT min(position) FROM live WHERE claimed = ?", (summary,))
            ledger.run("DELETE FROM live WHERE claimed = ?", (summary,))
            ledger.run(
                "INSERT INTO live (session, position, carrier) VALUES (?, ?, ?)", (session.id, position, summary)
            )
            ledger.run("UPDATE carrier SET state = 'committed' WHERE id = ?", (summary,))
            self._late_results(staged.newest)
            index.write(ledger, raw, known=texts)
            committed = ledger.run(
                "UPDATE pointer SET holding = 'committed', indexed = 1 WHERE holding = 'staged' "
                "AND span IN (SELECT carrier FROM covers WHERE summary = ?)",
                (summary,),
            )
            # Where there are more, some had a pointer already, and were not in the index.
            index.note(ledger, raw, marked=committed == len(raw))
            if embedded is not None:
                vectors.write(ledger, session.root, embedded)
            ledger.run("UPDATE session SET compactions = compactions + 1 WHERE id = ?", (session.id,))
            session.new_version()
        if ledger.first("SELECT 1 FROM carrier WHERE id = ? AND state = 'committed'", (summary,)) is None:
            raise StoreError("the store said that the summary was committed, and does not have it so (OUT-3)")

    def _late_results(self, newest: int) -> None:
        """Let results that came while the summary was being written find calls that it has just replaced: for them
        it is as if they had come after it (STR-1)."""
        came = self.ledger.first(
            "SELECT 1 FROM live WHERE session = ? AND position > ? LIMIT 1", (self.session.id, newest)
        )
        if came is not None:
            answering = [
                (one.turn.result_of, one.carrier)
                for one in self.session.live()
                if one.turn is not None and one.turn.result_of is not None and one.carrier > newest
            ]
            bring_back(self.session, answering, strict=False)

    def _as_staged(self, staged: Staged) -> None:
        """Read back what was staged: a store may say that it wrote, and have written less (OUT-3)."""
        text, body = self.ledger.first("SELECT text, body FROM summary WHERE carrier = ?", (staged.summary,)) or (
            None,
            None,
        )
        (entries,) = self.ledger.one("SELECT count(*) FROM carries WHERE summary = ?", (staged.summary,))
        covered = {c for (c,) in self.ledger.all("SELECT carrier FROM covers WHERE summary = ?", (staged.summary,))}
        claimed = {c for (c,) in self.ledger.all("SELECT carrier FROM live WHERE claimed = ?", (staged.summary,))}
        wanted = set(staged.carriers)
        if (text, body, entries) != (staged.text, staged.body, staged.entries) or {*covered, *claimed} - wanted:
            raise StoreError("the store does not hold the staged summary as it was written (OUT-3)")
        if covered != wanted or claimed != wanted:
            raise StoreError("the store does not hold all that the staged summary claimed (OUT-3, PTR-3)")

    def _sources(self, summary: int) -> Iterator[tuple[int, str, EvidentialClass, Source, bool]]:
        """Span, turn and class of each raw span under a summary, with what the store really holds of it: read back,
        because a store may only say that it succeeded; and whether its words are in the index."""
        after = -1
        while True:
            rows = self.ledger.all(
                "SELECT t.carrier, t.id, r.class, p.indexed, p.holding, p.copy, p.digest, p.slot, p.epoch, o.epoch, "
                "o.payload, CASE p.copy WHEN 'outstanding' THEN t.payload END "
                "FROM covers k JOIN turn t ON t.carrier = k.carrier JOIN reading r ON r.span = k.carrier "
                "LEFT JOIN pointer p ON p.span = k.carrier LEFT JOIN cold o ON o.slot = p.slot AND o.epoch = p.epoch "
                "WHERE k.summary = ? AND k.carrier > ? ORDER BY k.carrier LIMIT ?",
                (summary, after, _PAGE),
            )
            for span, turn, kind, indexed, holding, copy, mark, slot, epoch, entry, payload, source in rows:
                after = int(span)
                stored = None if entry is None else cold.bytes_of(self.ledger, slot, epoch, payload)
                landed = stored is not None and digest(stored) == mark
                held = copy == Copy.OUTSTANDING.value and source is not None and digest(cold.as_bytes(source)) == mark
                yield after, str(turn), _CLASSES[kind], _source(holding, landed, held), bool(indexed)
            if len(rows) < _PAGE:
                return

    def _keeps_all(self, staged: Staged) -> None:
        """That nothing comes loose which only the older summary anchors (MAN-1)."""
        if staged.replaced is None:
            return
        loose = [
            words
            for span in without_original(self.session, staged.replaced)
            for words in loose_without(self.session, span, before=staged.replaced, after=staged.summary)
        ]
        if loose:
            raise Conflict("the summary would let go of what nothing else anchors (MAN-1)", tuple(loose))

    def _still_staged(self, summary: int) -> None:
        if self.ledger.first("SELECT 1 FROM carrier WHERE id = ? AND state = 'staged'", (summary,)) is None:
            raise Conflict(
                "this compaction was undone meanwhile: the window was cleared or rewound, a turn was forgotten, or "
                "another opening recovered the session (CON-3, CRA-2); nothing was changed, compact again"
            )


_CLASSES = {one.value: one for one in EvidentialClass}


@cache
def _source(holding: str | None, landed: bool, held: bool) -> Source:
    """There are many sources, and few that differ; `holding` none: no pointer names it."""
    if holding is None:
        return Source(pointed=False, landed=False, removed=False)
    return Source(pointed=True, landed=landed, removed=Holding(holding) in {Holding.GONE, Holding.EXPIRED}, held=held)


def write_summary(
    session: Session,
    *,
    generation: int,
    older: int | None,
    carriers: Sequence[int],
    text: str,
    body: str,
    reply: str,
    entries: Sequence[Carried],
) -> int:
    """Write a summary, staged, over carriers of which `older` may be one. Inside a transaction."""
    ledger = session.ledger
    summary = ledger.insert(
        "INSERT INTO carrier (session, generation, state) VALUES (?, ?, 'staged')", (session.id, generation)
    )
    chain = summary
    if older is not None:
        (chain,) = ledger.one("SELECT chain FROM summary WHERE carrier = ?", (older,))
    ledger.run(
        "INSERT INTO summary (carrier, session, owner, chain, text, body, reply) VALUES (?, ?, ?, ?, ?, ?, ?)",
        (summary, session.id, ledger.issuer, chain, text, body, reply),
    )
    ledger.many("INSERT INTO covers (summary, carrier) VALUES (?, ?)", [(summary, one) for one in carriers])
    write_manifest(session, summary, entries)
    return summary


def write_manifest(session: Session, summary: int, entries: Sequence[Carried]) -> None:
    """Write the entries that a summary carries. Inside a transaction."""
    session.ledger.many(
        "INSERT INTO carries (summary, fact, speaker, said) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING",
        [(summary, entry.fact, entry.speaker or "", entry.said) for entry in entries],
    )


def claims_of(session: Session, summary: int) -> dict[bytes, list[Claim]]:
    """What a summary's manifest says, by key."""
    found: dict[bytes, list[Claim]] = {}
    for key, fact, speaker in session.ledger.all(
        "SELECT f.key, f.id, k.speaker FROM carries k JOIN fact f ON f.id = k.fact WHERE k.summary = ?", (summary,)
    ):
        found.setdefault(bytes(key), []).append(Claim(fact=fact, speaker=speaker or None))
    return found


def carry_pins(body: str, asserted: Mapping[bytes, list[Claim]], older: Live | None, pins: Sequence[Pin]) -> str:
    """Repeat under the body, word for word, each pinned statement that it lacks (MAN-1, ANC-4)."""
    wanted = lacking(pins, manifest(body, asserted))
    if not wanted or older is None:
        return body
    return "\n".join([body, *lines_for(older.body or "", asserted, wanted)])


def lines_for(body: str, asserted: Mapping[bytes, list[Claim]], wanted: set[Pin]) -> list[str]:
    """The statements of a summary's body that carry these pins, each with whom it is attributed to."""
    keys = {(key, claim.fact) for key, claims in asserted.items() for claim in claims}
    needed = {(key, who) for key, fact in keys for pin, who in wanted if pin == fact}
    lines = [
        f"{mention.speaker}: {mention.said}" if mention.speaker else mention.said
        for mention in mentions(body)
        if (mention.key, mention.speaker or "") in needed
    ]
    return list(dict.fromkeys(lines))


def lacking(pins: Sequence[Pin], entries: Sequence[Carried]) -> set[Pin]:
    """Pins that these entries do not serve; one that names nobody serves every speaker's assertion."""
    have = {(entry.fact, entry.speaker or "") for entry in entries}
    return {pin for pin in pins if pin not in have and (pin[0], "") not in have}
