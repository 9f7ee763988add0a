"""The public face: one session's transcript on one database."""

import time
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import Self

from anchorhold_reference import answers, cold, eviction
from anchorhold_reference.audit import audit, note_damage
from anchorhold_reference.codec import shown
from anchorhold_reference.compaction import Compaction
from anchorhold_reference.decide import Holding
from anchorhold_reference.errors import MismatchError, UnknownCarrierError
from anchorhold_reference.extract.facts import UnreadableError
from anchorhold_reference.recovery import recover
from anchorhold_reference.retrieval import retrieve
from anchorhold_reference.session import Session, carrier_id
from anchorhold_reference.status import status
from anchorhold_reference.stores.opening import open_ledger
from anchorhold_reference.values import (
    Clock,
    CountTokens,
    Policy,
    Settings,
    Status,
    Steps,
    Summarise,
    four_characters,
    no_steps,
)
from anchorhold_spec.vocabulary import (
    Answer,
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
        path: str | Path,
        *,
        session: str,
        user: str,
        branch: str,
        settings: Settings,
        summarise: Summarise,
        count: CountTokens,
        steps: Steps,
        clock: Clock,
    ) -> None:
        """Use `open`, which has the defaults."""
        self._path = path
        self._identity = (user, session, branch)
        self._settings = settings
        self._summarise = summarise
        self._count = count
        self._steps = steps
        self._clock = clock
        self._start()

    @classmethod
    def open(
        cls,
        path: str | Path,
        *,
        summarise: Summarise,
        session: str = "default",
        user: str = "default",
        branch: str = "main",
        settings: Settings | None = None,
        count: CountTokens = four_characters,
        steps: Steps = no_steps,
        clock: Clock = time.time,
    ) -> Self:
        """Open a session of the database at `path`, making either where it does not exist, and recover it (CRA-2).

        `path` is a file for SQLite, or `postgresql://user@host/database` (`?schema=` says where its tables stand).
        `summarise` writes the summaries; `count` gives a text's size in tokens; `steps` is called before each durable
        step of a compaction; `clock` gives seconds since the epoch. Sessions are told apart by user, session and
        branch. Raises `ForeignStoreError` where the file is something else.
        """
        return cls(
            path,
            session=session,
            user=user,
            branch=branch,
            settings=settings or Settings(),
            summarise=summarise,
            count=count,
            steps=steps,
            clock=clock,
        )

    def _start(self) -> None:
        user, name, branch = self._identity
        self._ledger = open_ledger(self._path, scope=f"{user}\0{name}")
        self._session = Session(self._ledger, user=user, name=name, branch=branch)
        recover(self._ledger, self._session.id)
        self._compaction = Compaction(
            self._session,
            settings=self._settings,
            summarise=self._summarise,
            count=self._count,
            steps=self._steps,
            clock=self._clock,
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Let go of the database. May be called again."""
        self._ledger.close()

    def reopen(self) -> None:
        """Close, and open again from what is durable, as a new process would."""
        self._ledger.close()
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
        outcome = self._compaction.run()
        if outcome.kind is OutcomeKind.COMMITTED and self._session.compactions() % self._settings.audit_every == 0:
            self.audit()
        return outcome

    def audit(self) -> bool | None:
        """Fetch a pinned fact of a replaced span verbatim (RET-2); none where nothing was replaced yet.

        Compactions run one by themselves every `Settings.audit_every`; `status` tells how the last one went.
        """
        return audit(self._session, now=self._clock())

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
                            text=shown(one.turn),
                            data=one.turn.data,
                            turn=one.turn.id,
                            speaker=one.turn.speaker,
                            generation=0,
                        )
                    )
                else:
                    covers = tuple(turn for _, turn, _ in self._session.under([one.carrier]))
                    items.append(
                        Item(
                            id=one.id,
                            kind=CarrierKind.SUMMARY,
                            text=one.text,
                            covers=covers,
                            generation=one.generation,
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
                found = [
                    Entry(literal=literal, source=turn, kind=kind, subject=subject, attribute=attribute)
                    for literal, turn, kind, subject, attribute in self._ledger.all(
                        "SELECT f.literal, t.id, f.kind, f.subject, f.attribute FROM carries k "
                        "JOIN fact f ON f.id = k.fact "
                        "JOIN carrier l ON l.top = k.summary JOIN carrier c ON c.leaf = l.id "
                        "JOIN assertion a ON a.span = c.id AND a.fact = k.fact JOIN turn t ON t.carrier = c.id "
                        "WHERE k.summary = ? AND k.speaker IN ('', t.speaker) ORDER BY c.position, f.id",
                        (one.carrier,),
                    )
                ]
                return list(dict.fromkeys(found))
            try:
                read = self._session.read(one)
            except UnreadableError:
                return []
            return [
                Entry(literal=m.literal, source=one.turn.id, kind=m.kind, subject=m.subject, attribute=m.attribute)
                for m in read
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
            for summary, turn, issued in cold.pointers(self._ledger, self._session.id)
        ]

    def pointer(self, turn: str) -> Pointer | None:
        """The pointer to the original of one turn, by the turn's id; none while it is in the window, or where its
        original was let go."""
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
        try:
            return answers.resolve(self._session, token)
        except MismatchError as error:
            note_damage(self._session, epoch=error.epoch, message=str(error), now=self._clock())
            raise

    def reconstitute(self, subject: str, attribute: str, *, evidence: bool = False) -> Answer:
        """The value of a slot. With `evidence` an original answers, or none does (EVI-5).

        Where several values were asserted the newest answers, and the reason says that there are others.
        """
        return answers.reconstitute(self._session, subject, attribute, evidence=evidence)

    def search(self, literal: str) -> Answer:
        """Look a literal up, as a whole word or words, in the window and in every original (REC-1)."""
        return answers.search(self._session, literal)

    def retrieve(self, query: str, *, limit: int = 8) -> list[Answer]:
        """The originals outside the window that a question in words fits best, the best first.

        Likeness is no answer: for whether something was said ask `search`, for a value `reconstitute`.
        """
        return [
            answers.original(turn, carrier=carrier) for turn, carrier in retrieve(self._session, query, limit=limit)
        ]

    def evict(self, token: str) -> Outcome:
        """Ask that an original be removed from the cold store. Refused where an assertion would come loose
        (ANC-1)."""
        return eviction.evict(self._session, token)

    def sweep(self, policy: Policy) -> list[Outcome]:
        """Let a retention policy propose, and the gate decide on each proposal (ANC-2)."""
        proposed: Sequence[str] = policy(eviction.candidates(self._session), self._clock())
        return [self.evict(token) for token in proposed]

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
        return status(self._session)
