"""The public face: one session's transcript on one database."""

import contextlib
import time
from dataclasses import replace
from pathlib import Path
from types import TracebackType
from typing import Self

from anchorhold_reference import answers, cold, erasure, eviction, withdrawal
from anchorhold_reference.ages import advance, uptime
from anchorhold_reference.audit import audit, audit_due, audit_span, audits, failed_audits, note_damage, repair
from anchorhold_reference.branches import fork
from anchorhold_reference.codec import shown
from anchorhold_reference.compaction import Compaction
from anchorhold_reference.copier import Copier
from anchorhold_reference.decide import Holding
from anchorhold_reference.embedding import Embedding
from anchorhold_reference.errors import LedgerError, MismatchError, StoreError, UnknownCarrierError
from anchorhold_reference.extract.facts import UnreadableError
from anchorhold_reference.following import FOLLOWING, WHOLE
from anchorhold_reference.pointer import unseal
from anchorhold_reference.policies import lifetime
from anchorhold_reference.provenance import is_pending, pointers, ratios
from anchorhold_reference.recovery import recover
from anchorhold_reference.retrieval import retrieve
from anchorhold_reference.searching import search
from anchorhold_reference.session import Session, carrier_id
from anchorhold_reference.status import accepted, causes, note, status
from anchorhold_reference.stores.comparing import comparing
from anchorhold_reference.stores.opening import OpenLedger, open_ledger, settled, settled_store
from anchorhold_reference.stores.outer import ColdStore
from anchorhold_reference.stores.sqlite import SqliteFile
from anchorhold_reference.telemetry import Telemetry
from anchorhold_reference.under import UNDER
from anchorhold_reference.values import (
    Audit,
    Clock,
    CountTokens,
    Policy,
    Ratios,
    Settings,
    Status,
    StepHook,
    Summarise,
    Uptime,
    four_characters,
    no_steps,
)
from anchorhold_spec.vocabulary import (
    Answer,
    AnswerKind,
    CarrierKind,
    Entry,
    Item,
    Outcome,
    OutcomeKind,
    Pointer,
    Tombstone,
    Turn,
)


class Transcript:
    """A session: turns go in, the window comes out, and what was compacted away can still be had.

    Make one with `open`. Safe to use from several threads; each operation is atomic and durable when it returns.
    """

    def __init__(
        self,
        path: str | Path | SqliteFile,
        *,
        cold_store: str | Path | ColdStore | None,
        session: str,
        user: str,
        branch: str,
        settings: Settings,
        summarise: Summarise,
        count: CountTokens,
        steps: StepHook,
        clock: Clock,
        uptime: Uptime,
        ledger: OpenLedger,
        held: bool = False,
    ) -> None:
        """Use `open`, which has the defaults; `held` as after `hold_copies`."""
        self._path = settled(path)
        self._cold_store = cold_store if not isinstance(cold_store, str | Path) else settled_store(cold_store)
        self._identity = (user, session, branch)
        self._settings = settings
        self._summarise = summarise
        self._count = count
        self._steps = steps
        self._clock = clock
        self._uptime = uptime
        self._open_ledger = ledger
        self._telemetry = Telemetry()
        self._used: dict[str, tuple[str, float]] = {}
        self._start(held=held)

    @classmethod
    def open(
        cls,
        path: str | Path | SqliteFile,
        *,
        summarise: Summarise,
        session: str = "default",
        user: str = "default",
        branch: str = "main",
        cold_store: str | Path | ColdStore | None = None,
        settings: Settings | None = None,
        count: CountTokens = four_characters,
        steps: StepHook = no_steps,
        clock: Clock = time.time,
        uptime: Uptime = uptime,
        ledger: OpenLedger = open_ledger,
    ) -> Self:
        """Open a session of the database at `path`, making either where it does not exist, and recover it (CRA-2).

        `path` is a file for SQLite, or `postgresql://user@host/database` (`?schema=` says where its tables stand).
        `cold_store` says where originals go that leave the window: into the ledger where it is not given, else into a
        directory, or `s3://bucket/prefix` or another URL of an object store.
        `summarise` writes the summaries; `count` gives a text's size in tokens; `steps` is called before each durable
        step of a compaction; `clock` gives seconds since the epoch, for records; `uptime` is what lifetimes are
        measured with; `ledger` opens the database. Sessions are told apart by user, session and branch; begin a
        branch with `fork`. Raises `ForeignStoreError` where the file is something else.
        """
        return cls(
            path,
            cold_store=cold_store,
            session=session,
            user=user,
            branch=branch,
            settings=settings or Settings(),
            summarise=summarise,
            count=count,
            steps=steps,
            clock=clock,
            uptime=uptime,
            ledger=ledger,
        )

    def _start(self, *, held: bool = False) -> None:
        user, name, branch = self._identity
        where = self._path if self._settings.embed is None else comparing(self._path)
        self._ledger = self._open_ledger(where, scope=f"{user}\0{name}", cold_store=self._cold_store)
        self._session = Session(self._ledger, user=user, name=name, branch=branch)
        recover(self._ledger, self._session.id)
        erasure.sweep(self._ledger)
        self._embedding = Embedding(self._session, self._settings.embed)
        try:
            self._embedding.start()
        except BaseException:
            self._ledger.close()
            raise
        self._copier = Copier(self._session, copies=self._settings.copies, steps=self._steps, held=held)
        self._copier.start()
        self._compaction = Compaction(
            self._session,
            settings=self._settings,
            summarise=self._summarise,
            count=self._count,
            steps=self._steps,
            clock=self._clock,
            uptime=self._uptime,
            copier=self._copier,
            embedding=self._embedding,
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Let go of the database. May be called again."""
        self._copier.close()
        self._compaction.close()
        self._ledger.close()

    def reopen(self) -> None:
        """Close, and open again from what is durable, as a new process would."""
        self.close()
        self._start()

    # -- the window --

    def append(self, turn: Turn) -> str:
        """Add a turn; durable on return (CRA-3). Answers with its span's id. The same turn again adds nothing
        (IDX-5).

        Raises `TurnConflictError` where the turn's id stands for other content.
        """
        return carrier_id(self._session.append(turn), 0)

    def compact(self) -> Outcome:
        """Replace what may be replaced by a summary, where the window is over its watermark (PRO-1).

        Never raises for what the summariser or the store does: the outcome says `failed` or `refused`, and why
        (OUT-2).
        """
        begun = time.monotonic()
        # One that could not be made at its turn, as while no copy had landed, is made up for: overdue, it stops what
        # follows (RET-3). Where the store fails the compaction will say so.
        with contextlib.suppress(LedgerError):
            self._audit_if_due()
        outcome = self._compaction.run()
        self._telemetry.outcome("compact", outcome, seconds=time.monotonic() - begun)
        try:
            if outcome.kind is OutcomeKind.COMMITTED:
                self._after_commit()
            erasure.sweep(self._ledger)
        except LedgerError as error:
            # The outcome stands whatever becomes of this: it is tried again by a later call.
            late = f"record keeping is still to be done: {error}"
            outcome = replace(outcome, reason=late if outcome.reason is None else f"{outcome.reason}; {late}")
        return outcome

    def _after_commit(self) -> None:
        self._embedding.catch_up()
        self._audit_if_due()
        if self._settings.lifetime is not None:
            self.expire()
        note(self._session, now=self._clock())
        self._measure()

    def _audit_if_due(self) -> None:
        if audit_due(self._session, every=self._settings.audit_every):
            self.audit()

    def _measure(self) -> None:
        if self._telemetry.measures:
            self._telemetry.ratios(self.ratios())

    def clear(self) -> None:
        """Empty the window; a compaction under way brings nothing back (CON-3). What was in it can still be asked
        for."""
        withdrawal.clear(self._session, clock=self._clock, uptime=self._uptime)
        self._copies_outstanding()
        self._embedding.catch_up()

    def rewind(self, turn: str) -> None:
        """Take back everything that came after this turn (CON-3); it is not found and not pointed at any more.

        Raises `UnknownTurnError`; `MismatchError` or `StoreError` where an original that has to come back is damaged.
        """
        withdrawal.rewind(self._session, turn)
        note(self._session, now=self._clock())

    def fork(self, branch: str) -> "Transcript":
        """Begin a branch from the present state and open it; this transcript stays where it is (ISO-1). Where copies
        are held here they are held there, too, since it is the same cold store.

        Raises `BranchExistsError`.
        """
        fork(self._session, branch)
        return self._on(branch)

    def _on(self, branch: str) -> "Transcript":
        user, name, _ = self._identity
        return Transcript(
            self._path,
            cold_store=self._cold_store,
            session=name,
            user=user,
            branch=branch,
            settings=self._settings,
            summarise=self._summarise,
            count=self._count,
            steps=self._steps,
            clock=self._clock,
            uptime=self._uptime,
            ledger=self._open_ledger,
            held=self._copier.held,
        )

    def forget(self, turn: str) -> Outcome:
        """Erase what a turn says: window, index, manifests, summaries, cold store, pointers, in every branch, and the
        bytes in the database's files (ERA-1). Its id, key and epoch remain, and that and when it was erased.

        The outcome is pending where another connection still reads from the log; then it is emptied by a later call.
        """
        begun = time.monotonic()
        outcome = erasure.forget(self._session, turn, clock=self._clock, uptime=self._uptime)
        self._telemetry.outcome("forget", outcome, seconds=time.monotonic() - begun)
        self._copies_outstanding()
        swept = erasure.sweep(self._ledger)
        note(self._session, now=self._clock())
        if swept:
            return outcome
        return replace(
            outcome,
            pending=True,
            reason="erased; a later call empties the log, which another connection reads yet, or the cold store",
        )

    def _copies_outstanding(self) -> None:
        """Make copies that are outstanding: here, or in the copier's thread where there is one."""
        if self._copier.later:
            self._copier.kick()
        else:
            self._copier.run()

    # -- copies --

    def hold_copies(self, held: bool) -> None:
        """While held no copy lands: the cold store is being seen to. Compactions commit as pending (PTR-5)."""
        self._copier.hold(held)

    def settle(self) -> None:
        """Lift the hold and make every outstanding copy and vector now; what the store refuses stays pending and is
        told by `ratios`."""
        self._copier.settle()
        self._embedding.catch_up()
        self._measure()
        note(self._session, now=self._clock())

    def ratios(self) -> Ratios:
        """Committed summaries, how many are pending, and how many unresolvable (PTR-5)."""
        return ratios(self._session)

    # -- audits and losses --

    def audit(self) -> bool | None:
        """Fetch a pinned fact of a replaced span verbatim (RET-2); none where nothing was replaced yet.

        Compactions run one by themselves every `Settings.audit_every`; `status` tells how the last one went.
        """
        passed = audit(self._session, now=self._clock())
        if passed is not None:
            self._telemetry.audited(passed=passed)
        note(self._session, now=self._clock())
        return passed

    def audits(self) -> list[Audit]:
        """Every audit of this branch, in order."""
        return audits(self._session)

    def repair(self) -> Status:
        """Look again at what was found lost or damaged, after the store was seen to; what is right again ends the
        degraded state (RET-3)."""
        self.live()
        repair(self._session)
        self._session.look_again()
        for span, _ in failed_audits(self._session):
            audit_span(self._session, span, now=self._clock())
        return self.status()

    def override(self, reason: str) -> Outcome:
        """Accept, on record, the losses that stop lossy eviction now; those that come later stop it again (RET-3)."""
        if not reason.strip():
            return Outcome(
                kind=OutcomeKind.REFUSED, reason="an override says why the loss is accepted; give a reason"
            )
        self.status()  # what has got lost is accepted only if it is known
        with self._ledger.transaction():
            known = accepted(self._session)
            new = [cause.key for cause in causes(self._session) if cause.stops and cause.key not in known]
            self._ledger.many(
                "INSERT INTO override (session, cause, reason, time) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING",
                [(self._session.id, key, reason, self._clock()) for key in new],
            )
        if not new:
            return Outcome(
                kind=OutcomeKind.NOTHING, reason="nothing stops lossy eviction; there is no loss to accept"
            )
        return Outcome(kind=OutcomeKind.COMMITTED)

    def live(self) -> list[Item]:
        """What the model is to see now, in order."""
        with self._ledger.reading():
            items = []
            for one in self._session.live():
                if one.turn is not None:
                    items.append(
                        Item(
                            id=one.id,
                            kind=CarrierKind.RAW,
                            text=shown(one.turn) if one.damage is None else None,
                            data=one.turn.data,
                            turn=one.turn.id,
                            speaker=one.turn.speaker,
                            generation=0,
                        )
                    )
                else:
                    covers = tuple(turn for _, turn, _ in self._session.under(one.carrier))
                    items.append(
                        Item(
                            id=one.id,
                            kind=CarrierKind.SUMMARY,
                            text=one.text,
                            covers=covers,
                            generation=one.generation,
                            pending=is_pending(self._session, one.carrier),
                        )
                    )
        return items

    def manifest(self, carrier: str) -> list[Entry]:
        """Which assertions a live carrier carries verbatim (MAN-2); empty for one whose facts cannot be read (MAN-3).

        Raises `UnknownCarrierError` where no live carrier has that id.
        """
        with self._ledger.reading():
            one = next((one for one in self._session.live() if one.id == carrier), None)
            if one is None:
                raise UnknownCarrierError(carrier)
            if one.turn is None:
                return [
                    Entry(literal=literal, source=turn, kind=kind, subject=subject, attribute=attribute)
                    for literal, turn, kind, subject, attribute, _, _ in self._ledger.all(
                        "SELECT DISTINCT f.literal, t.id, f.kind, f.subject, f.attribute, t.carrier, f.id "  # noqa: S608
                        f"FROM {UNDER} JOIN assertion a ON a.span = k.carrier "
                        "JOIN carries e ON e.summary = x.carrier AND e.fact = a.fact JOIN fact f ON f.id = e.fact "
                        "JOIN turn t ON t.carrier = a.span AND e.speaker IN ('', t.speaker) "
                        "WHERE x.carrier = ? ORDER BY t.carrier, f.id",
                        (self._session.id, one.carrier),
                    )
                ]
            try:
                found = self._session.read(one)
            except UnreadableError:
                return []
            return [
                Entry(literal=m.literal, source=one.turn.id, kind=m.kind, subject=m.subject, attribute=m.attribute)
                for m in found
            ]

    # -- originals --

    def pointers(self) -> list[Pointer]:
        """A pointer to each original under the live summaries that is in the cold store: one step away (PTR-4)."""
        return [
            Pointer(
                summary=carrier_id(summary, 1),
                token=issued.token,
                covers=(turn,),
                key=issued.address.key,
                epoch=issued.address.epoch,
            )
            for summary, turn, issued in pointers(self._session)
        ]

    def pointer(self, turn: str) -> Pointer | None:
        """The pointer to the original of one turn, by the turn's id; none where no live summary stands for it, or
        where its original was let go."""
        with self._ledger.reading():
            span = self._session.span_of(turn)
            over = None if span is None else self._session.summary_over(span)
            issued = None if span is None else cold.pointer_to(self._ledger, span)
        if issued is None or over is None or issued.holding is not Holding.COMMITTED:
            return None
        return Pointer(
            summary=carrier_id(over[0], 1),
            token=issued.token,
            covers=(turn,),
            key=issued.address.key,
            epoch=issued.address.epoch,
        )

    def get(self, token: str) -> Answer:
        """Follow a pointer.

        Raises `MismatchError` where the bytes are not those that it names (EPO-3), `StoreError` where they are lost.
        """
        # Mostly the original is there, in the ledger, and one look at it is of one moment.
        asked = FOLLOWING.asked(token, self._session.id)
        row = None if asked is None else self._ledger.first(WHOLE, asked)
        found = None if row is None or asked is None else FOLLOWING.opened(row[0], asked[2])
        if found is not None:
            self._used[token] = self._uptime()
            return found
        address = unseal(token)
        try:
            answer = answers.steadily(self._session, lambda: answers.resolve(self._session, address))
        except (MismatchError, StoreError) as error:
            if address is not None:
                self._damaged(address.epoch, error)
            raise
        if answer.kind is AnswerKind.FOUND:
            self._used[token] = self._uptime()
        return answer

    def _damaged(self, epoch: int, error: Exception) -> None:
        note_damage(self._session, epoch=epoch, message=str(error), now=self._clock())
        note(self._session, now=self._clock())

    def reconstitute(self, subject: str, attribute: str, *, evidence: bool = False) -> Answer:
        """The value of a slot. With `evidence` an original answers, or none does (EVI-5).

        Where several values were asserted the newest answers, and the reason says that there are others.
        """
        return answers.steadily(
            self._session, lambda: answers.reconstitute(self._session, subject, attribute, evidence=evidence)
        )

    def search(self, literal: str) -> Answer:
        """Look a literal up, as a whole word or words, in the window and in every original (REC-1)."""
        return answers.steadily(self._session, lambda: search(self._session, literal))

    def retrieve(self, query: str, *, limit: int = 8) -> list[Answer]:
        """The originals outside the window that a question in words fits best, the best first; with `Settings.embed`
        those that say the like in other words, too. Where none was found and not all could be searched, one answer
        says so, `pending` or `degraded` (REC-4).

        Likeness is no answer: for whether something was said ask `search`, for a value `reconstitute`.
        """
        return retrieve(self._session, query, limit=limit, embedding=self._embedding)

    def evict(self, token: str) -> Outcome:
        """Ask that an original be removed from the cold store. Refused where an assertion would come loose (ANC-1),
        and before the horizon (PTR-2)."""
        begun = time.monotonic()
        outcome = eviction.evict(self._session, token, now=self._uptime(), horizon=self._settings.horizon)
        self._telemetry.outcome("evict", outcome, seconds=time.monotonic() - begun)
        note(self._session, now=self._clock())
        return outcome

    def sweep(self, policy: Policy) -> list[Outcome]:
        """Let a retention policy propose, and the gate and the horizon decide on each proposal (ANC-2, PTR-2)."""
        now = self._uptime()
        with self._ledger.transaction():
            age = advance(self._ledger, now)
        # A copy, since other threads follow pointers meanwhile.
        used = {token: age - (now[1] - at) for token, (boot, at) in self._used.copy().items() if boot == now[0]}
        known = {one.token: one for one in eviction.candidates(self._session, used)}
        outcomes = [
            eviction.evict(self._session, token, now=now, horizon=self._settings.horizon, holding=Holding.EXPIRED)
            for token in policy(list(known.values()), age)
            if token in known
        ]
        note(self._session, now=self._clock())
        return outcomes

    def expire(self) -> list[Outcome]:
        """Let the lifetime of `Settings` propose what is past it. Compactions do this by themselves."""
        if self._settings.lifetime is None:
            return []
        return self.sweep(lifetime(self._settings.lifetime))

    def tombstone(
        self,
        literal: str,
        source: str,
        reason: str,
        *,
        decided_by: str = "caller",
        superseded_by: str | None = None,
    ) -> Outcome:
        """Drop on the record what turn `source` asserts with `literal` (MAN-6); that one assertion only (MAN-4).

        `superseded_by` names the turn that took its place, which has to be anchored itself.
        """
        return eviction.tombstone(
            self._session,
            literal=literal,
            source=source,
            reason=reason,
            decided_by=decided_by,
            superseded_by=superseded_by,
            now=self._clock(),
        )

    def tombstones(self) -> list[Tombstone]:
        """Every tombstone of the session."""
        return eviction.tombstones(self._session)

    def status(self) -> Status:
        """Lossless or degraded, why, and the counts (RET-5)."""
        return replace(
            status(self._session, now=self._clock()),
            unembedded=self._embedding.outstanding(),
            embedding_fault=self._embedding.fault,
        )

    def files(self) -> list[Path]:
        """Every file that holds state of the store or lies beside it."""
        outer = self._ledger.outer
        return [*self._ledger.files(), *(() if outer is None else outer.files())]
