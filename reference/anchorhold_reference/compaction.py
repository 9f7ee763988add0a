"""One compaction: choose, ask the summariser, and replace in two phases.

The steps, each durable before the next begins: `stage` the summary and claim what it replaces → `copy` the
originals to the cold store → `point` to them → `commit`, after reading everything back → `release` the sources. A
process that dies before `commit` leaves the old state, after it the new one; `recover` clears what is half done
either way (CRA-1).
"""

import threading

from anchorhold_reference.codec import shown
from anchorhold_reference.copier import Copier
from anchorhold_reference.embedding import Embedding
from anchorhold_reference.errors import AnchorholdError, LedgerError, MismatchError, StoreError
from anchorhold_reference.planning import Plan, carrier_size, make_plan, window_size
from anchorhold_reference.provenance import is_pending
from anchorhold_reference.recovery import release, undo, undo_own
from anchorhold_reference.reply import fault, malformed, said, shorten
from anchorhold_reference.session import Session, carrier_id
from anchorhold_reference.status import stopped_by
from anchorhold_reference.steps import Conflict, Staged, Steps
from anchorhold_reference.summaries import request
from anchorhold_reference.summarisers.waiting import Waiter
from anchorhold_reference.values import Clock, CountTokens, Request, Settings, StepHook, Summarise, Uptime
from anchorhold_spec.vocabulary import Outcome, OutcomeKind

STEPS = ("stage", "copy", "point", "commit", "release", "acknowledge")
"""Names of the steps, in order, as the `steps` hook gets them, each right before it is taken. Nothing is written
in the last: there the work is done and the caller does not know it yet."""

LINE_RESERVE = 60
"""Tokens set aside for the line that names a summary's omissions."""


class Compaction:
    """Runs compactions of one session."""

    def __init__(
        self,
        session: Session,
        *,
        settings: Settings,
        summarise: Summarise,
        count: CountTokens,
        steps: StepHook,
        clock: Clock,
        uptime: Uptime,
        copier: Copier,
        embedding: Embedding,
    ) -> None:
        """Take what every compaction of the session needs."""
        self.session = session
        self.ledger = session.ledger
        self.settings = settings
        self.summarise = summarise
        self.count = count
        self.hook = steps
        self.copier = copier
        self.embedding = embedding
        self.steps = Steps(session, clock=clock, uptime=uptime)
        self._flight = threading.Lock()
        self._waiter = Waiter()

    def close(self) -> None:
        """Wait for no model any more."""
        self._waiter.close()

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
        except (LedgerError, MismatchError, StoreError) as error:
            # Of the store's, and before the commit: what comes after it says itself that it has happened.
            return Outcome(kind=OutcomeKind.FAILED, reason=str(error))
        finally:
            self._flight.release()

    def _run(self) -> Outcome:
        with self.ledger.reading():
            live = self.session.live()
            version = self.session.version()
            stopped = stopped_by(self.session, compaction=True)
        sizes = [carrier_size(one, self.count) for one in live]
        size, high_water = sum(sizes), self.settings.high_water
        if high_water is not None and size <= high_water:
            return Outcome(
                kind=OutcomeKind.NOTHING, reason=f"the window has {size} tokens, the watermark is at {high_water}"
            )
        if stopped:
            return Outcome(
                kind=OutcomeKind.REFUSED,
                reason=f"degraded: {'; '.join(stopped)}; nothing leaves the window until it is repaired, or the loss "
                "is accepted by override() (RET-3)",
            )
        plan = make_plan(self.session, live, sizes=sizes, version=version, settings=self.settings)
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
            reply = self._waiter.reply(self.summarise(asked))
        except Exception as error:  # noqa: BLE001 - whatever the caller's model client raises, it is the same to us
            return Outcome(
                kind=OutcomeKind.FAILED,
                reason=f"the summariser failed (OUT-1): {type(error).__name__}: {error}",
            )
        earlier = [text for (text,) in self._previous()]
        own = [(shown(one.turn) or "") if one.turn is not None else (one.body or "") for one in plan.chosen]
        # What would be an echo: anything that was shown, with and without who said it, by itself and all in a row.
        wrong = malformed(reply) or fault(
            reply,
            shown=(*asked.messages, *own),
            rows=(asked.messages, asked.messages[1:], own),
            previous=earlier,
        )
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
            "SELECT s.reply FROM lineage g "
            "JOIN summary s ON s.session = g.node AND s.carrier BETWEEN g.first AND g.last "
            "WHERE g.session = ? ORDER BY s.carrier DESC LIMIT 8",
            (self.session.id,),
        )

    def _replace(self, plan: Plan, *, reply: str, body: str, left_out: int) -> Outcome:
        staged: Staged | None = None
        texts = {one.carrier: shown(one.turn) or "" for one in plan.chosen if one.turn is not None}
        embedded = self.embedding.of(texts)
        # Where copies are held back the summary commits as pending, and its sources stay (PTR-5).
        later = self.copier.later
        try:
            self.hook("stage")
            staged = self.steps.stage(plan, reply=reply, body=body, left_out=left_out)
            if not later:
                self.hook("copy")
                self.steps.copy(staged)
            self.hook("point")
            self.steps.point(staged, landed=not later)
            self.hook("commit")
            self.steps.commit(staged, texts=texts, embedded=embedded)
        except (Conflict, AnchorholdError, OSError) as error:
            if staged is not None:
                undo(self.ledger, staged.summary)
            kind = OutcomeKind.REFUSED if isinstance(error, Conflict) else OutcomeKind.FAILED
            facts = error.facts if isinstance(error, Conflict) else ()
            return Outcome(kind=kind, reason=str(error), facts=facts)
        # From here on it has happened, and the outcome must say so even where tidying up does not succeed: the
        # sources that stay behind are released by the next recovery.
        self.session.forget_read(plan.read)
        late = None
        if later:
            self.copier.kick()
        else:
            self.hook("release")
            try:
                release(self.ledger, staged.summary)
            except LedgerError as error:
                late = f"sources not released yet: {error}"
        self.hook("acknowledge")
        return self._committed(plan, staged.summary, late, pending=later)

    def _committed(self, plan: Plan, summary: int, late: str | None, *, pending: bool) -> Outcome:
        size = 0
        try:
            with self.ledger.reading():
                pending = is_pending(self.session, summary)
                size = window_size(self.session.live(), self.count)
        except Exception as error:  # noqa: BLE001 - the store's, or of the caller's `count`: it has happened all the same
            late = f"the window could not be measured: {error}" if late is None else f"{late}; {error}"
        covered = tuple(one.turn.id for one in plan.chosen if one.turn is not None)
        high_water = self.settings.high_water
        reason = late
        if high_water is not None and size > high_water:
            over = _held_up(f"the window still has {size} tokens, the watermark is at {high_water}", plan)
            reason = over if late is None else f"{over}; {late}"
        return Outcome(
            kind=OutcomeKind.COMMITTED,
            reason=reason,
            summary=carrier_id(summary, 1),
            covered=covered,
            pending=pending,
        )


def _held_up(what: str, plan: Plan) -> str:
    """What happened, and what stands in the way (PRO-1)."""
    if plan.held_up_by:
        return f"{what}: {'; '.join(plan.held_up_by)}"
    return f"{what}: the newest turns are kept, and a summary alone is not summarised again"
