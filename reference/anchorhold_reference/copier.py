"""Copies that are made after the commit: they land, are checked, and only then are their sources let go (PTR-5).

What is to be copied is not kept in a queue but read from the pointers that say `outstanding`: a process that dies
forgets nothing, and the next one goes on (CRA-2). A copy that cannot be made because its source was damaged is
declared unresolvable; one that the store refuses is tried again.
"""

import logging
import threading

from anchorhold_reference import cold
from anchorhold_reference.codec import digest
from anchorhold_reference.decide import Copy
from anchorhold_reference.errors import AnchorholdError, StoreError
from anchorhold_reference.pointer import Address
from anchorhold_reference.recovery import release_spans
from anchorhold_reference.session import Session
from anchorhold_reference.values import Copies, StepHook

log = logging.getLogger("anchorhold.copier")

LATER_STEPS = ("land", "reconcile", "let-go")
"""Names of the steps of one copy that comes after the commit, in order, as the `steps` hook gets them."""
PAUSE = 5.0
"""Seconds after which a copy that the store refused is tried again."""


class Copier:
    """Makes the outstanding copies of one branch's originals, in a thread of its own where copies come after the
    commit."""

    def __init__(self, session: Session, *, copies: Copies, steps: StepHook, held: bool = False) -> None:
        """Of that session; `held`: no copy lands until the hold is lifted. Nothing runs before `start`."""
        self.session = session
        self.ledger = session.ledger
        self._copies = copies
        self._hook = steps
        self._held = held or copies is Copies.HELD
        self._closed = False
        self._wake = threading.Condition()
        self._asked = False
        self._working = threading.RLock()
        self._thread: threading.Thread | None = None

    @property
    def held(self) -> bool:
        """Whether no copy lands."""
        return self._held

    @property
    def later(self) -> bool:
        """Whether compactions are to commit before their copies have landed."""
        return self._held or self._copies is Copies.AFTER_COMMIT

    def start(self) -> None:
        """Take up what is outstanding."""
        if self._copies is Copies.AFTER_COMMIT:
            self._thread = threading.Thread(target=self._work, name="anchorhold-copier", daemon=True)
            self._thread.start()
            self.kick()
        else:
            self.run()

    def kick(self) -> None:
        """Say that something is outstanding."""
        with self._wake:
            self._asked = True
            self._wake.notify_all()

    def hold(self, held: bool) -> None:
        """Let no copy land, or let them land again: while the cold store is being seen to."""
        # Whoever is just copying has finished with that when this returns.
        with self._working:
            self._held = held
        if not held:
            self.kick()

    def settle(self) -> int:
        """Lift the hold and make every outstanding copy now; answers with how many the store would not take."""
        self.hold(False)
        return self.run()

    def close(self) -> None:
        """Stop the thread; what is outstanding stays so until somebody opens the session again."""
        with self._wake:
            self._closed = True
            self._wake.notify_all()
        if self._thread is not None and self._thread is not threading.current_thread():
            self._thread.join()
        self._thread = None

    def run(self) -> int:
        """Make every outstanding copy; answers with how many the store would not take."""
        refused = 0
        with self._working:
            if self._held:
                return 0
            for epoch, span in self.ledger.all(
                "SELECT p.epoch, p.span FROM lineage g JOIN pointer p ON p.session = g.node "
                "AND p.copy = 'outstanding' AND p.holding = 'committed' AND p.span BETWEEN g.first AND g.last "
                "WHERE g.session = ? ORDER BY p.epoch",
                (self.session.id,),
            ):
                if self._closed:
                    break
                try:
                    self._land(int(epoch), int(span))
                except (AnchorholdError, OSError) as error:
                    log.warning("copy refused", extra={"span": span, "epoch": epoch, "error": type(error).__name__})
                    refused += 1
        return refused

    def _land(self, epoch: int, span: int) -> None:
        """One copy: written, read back, marked as landed, its source let go; each durable before the next."""
        self._hook("land")
        with self.ledger.transaction():
            row = self._outstanding(epoch)
            if row is None:
                return
            slot, mark, payload, session, _ = row
            if payload is None or digest(cold.as_bytes(payload)) != mark:
                self.ledger.run("UPDATE pointer SET copy = ? WHERE epoch = ?", (Copy.UNRESOLVABLE.value, epoch))
                log.error("source damaged before its copy landed", extra={"span": span, "epoch": epoch})
                return
            place = cold.Place(
                slot=slot, epoch=epoch, span=span, session=session, address=None, payload=cold.as_bytes(payload)
            )
            there = self._there(place)
            if not there and self.ledger.outer is None:
                cold.land(self.ledger, place)
            elif not there:
                cold.reserve(self.ledger, [place])
        if not there and self.ledger.outer is not None:
            self._place(place)
        self._hook("reconcile")
        with self.ledger.transaction():
            row = self._outstanding(epoch)
            if row is None:
                return
            slot, mark, _, _, issuer = row
            stored = cold.stored(self.ledger, slot, epoch)
            if stored is None or digest(stored) != mark:
                # It said that it succeeded, and has other bytes or none: away with them, and again (OUT-3).
                self.ledger.run("DELETE FROM cold WHERE slot = ? AND epoch = ?", (slot, epoch))
                landed = False
            else:
                landed = True
                cold.read_back(self.ledger, Address(slot, epoch, issuer, mark))
                self.ledger.run("UPDATE pointer SET copy = ? WHERE epoch = ?", (Copy.LANDED.value, epoch))
        if not landed:
            raise StoreError(f"the store does not hold the copy at epoch {epoch} as it was written (OUT-3)")
        self._hook("let-go")
        with self.ledger.transaction():
            release_spans(self.ledger, [span])

    def _there(self, place: cold.Place) -> bool:
        row = self.ledger.first("SELECT 1 FROM cold WHERE slot = ? AND epoch = ?", (place.slot, place.epoch))
        return row is not None

    def _place(self, place: cold.Place) -> None:
        """The copy outside, while others go on writing; it may have been erased, or made by another, meanwhile."""
        try:
            cold.place_all(self.ledger, [place])
            with self.ledger.transaction():
                if self._outstanding(place.epoch) is not None and not self._there(place):
                    cold.land(self.ledger, place)
                    return
        except BaseException:
            cold.give_up(self.ledger, [place])
            raise
        cold.give_up(self.ledger, [place])

    def _outstanding(self, epoch: int) -> tuple[int, bytes, bytes | None, int, bytes] | None:
        return self.ledger.first(
            "SELECT p.slot, p.digest, t.payload, p.session, p.issuer FROM pointer p "
            "JOIN turn t ON t.carrier = p.span "
            "WHERE p.epoch = ? AND p.copy = 'outstanding' AND p.holding = 'committed'",
            (epoch,),
        )

    def _work(self) -> None:
        while True:
            with self._wake:
                if not self._asked and not self._closed:
                    self._wake.wait()
                if self._closed:
                    return
                self._asked = False
            try:
                refused = self.run()
            except Exception:
                # The thread goes on: what is outstanding is still on record, and nothing was let go.
                log.exception("copying failed")
                refused = 1
            if refused:
                with self._wake:
                    self._wake.wait(PAUSE)
                    self._asked = not self._closed
