"""A store whose keys are taken again, with an epoch each time: what `pointer_before_commit` and `anchored_release`
state alike of it. Guards and lemmas only: what the rules say, and every step, stand in the machines themselves.
"""

from dataclasses import dataclass

from anchorhold_spec.language import (
    Formula,
    Function,
    Guard,
    MachineBuilder,
    Relation,
    Var,
    exists,
    forall,
    safety,
    succ,
)


@dataclass(frozen=True, kw_only=True)
class RecycledKeys:
    """The symbols of the store, of the copies that are on their way to it, and of the pointers into it."""

    slot: Function
    """Key → span: whose original it holds."""
    epoch: Function
    """Key → epoch: how often it has been taken."""
    copy_key: Function
    """Span → key: where the compactor puts its copy; in memory."""
    copy_epoch: Function
    """Span → epoch."""
    ptr_key: Function
    """Span → key: the pointer table; durable."""
    ptr_epoch: Function
    """Span → epoch."""
    marked: Relation
    """Of keys: the reaper is about to delete what they hold; in memory."""

    def taken(self, k: Var, e: Var, later: Var) -> tuple[Guard, ...]:
        """A key may be taken where nothing lies, and its epoch grows."""
        return (
            safety("key free", ~self.slot(k).defined),
            safety("this epoch", self.epoch(k) == e),
            safety("next epoch", succ(e, later)),
        )

    def copied_to(self, s: Var, k: Var, e: Var) -> tuple[Guard, ...]:
        """A pointer is made to the copy that the compactor has made itself."""
        return (
            safety("to its copy", self.copy_key(s) == k),
            safety("at its epoch", self.copy_epoch(s) == e),
        )

    def led_to(self, s: Var, k: Var, e: Var, found: Var, *, compared: Formula) -> tuple[Guard, ...]:
        """The pointer to a span is followed, and this is found. `compared`: what is looked at besides the key."""
        return (
            safety("its key", self.ptr_key(s) == k),
            safety("its epoch", self.ptr_epoch(s) == e),
            safety("still that epoch", compared),
            safety("what lies there", self.slot(k) == found),
        )

    def resolves(self, s: Var, k: Var, e: Var) -> Formula:
        """The pointer to a span is this key at this epoch, and leads to the span."""
        pointer = (self.ptr_key(s) == k) & (self.ptr_epoch(s) == e)
        return pointer & (self.slot(k) == s) & (self.epoch(k) == e)

    def resolvable(self, s: Var, k: Var, e: Var) -> Formula:
        """The pointer to a span is there, and leads to it."""
        return exists(k, e, self.resolves(s, k, e))

    def lemmas(self, m: MachineBuilder, s: Var, t: Var, k: Var, e: Var) -> None:
        """What the proofs need: no pointer is of an epoch to come, and what is marked stays nobody's copy."""
        m.auxiliary(
            "no pointer is ahead of its key",
            forall(s, k, e, ((self.ptr_key(s) == k) & (self.ptr_epoch(s) == e)) >> (e <= self.epoch(k))),
        )
        m.auxiliary(
            "a pointer's epoch is its span's",
            forall(
                s,
                t,
                k,
                e,
                ((self.ptr_key(s) == k) & (self.ptr_epoch(s) == e) & (self.epoch(k) == e) & (self.slot(k) == t))
                >> (s == t),
            ),
        )
        m.auxiliary("a marked key is occupied", forall(k, self.marked(k) >> self.slot(k).defined))
        m.auxiliary("a marked key is nobody's copy", forall(s, k, self.marked(k) >> ~(self.copy_key(s) == k)))

    def lemmas_of_copies_under_way(self, m: MachineBuilder, s: Var, t: Var, k: Var, e: Var) -> None:
        """The same of copies that have taken a key and have not landed yet."""
        copy_of_s = (self.copy_key(s) == k) & (self.copy_epoch(s) == e)
        m.auxiliary("no copy is ahead of its key", forall(s, k, e, copy_of_s >> (e <= self.epoch(k))))
        m.auxiliary(
            "a copy that has landed is of this epoch",
            forall(s, k, e, (copy_of_s & (self.slot(k) == s)) >> (self.epoch(k) == e)),
        )
        m.auxiliary(
            "no two copies of one epoch",
            forall(s, t, k, e, (copy_of_s & (self.copy_key(t) == k) & (self.copy_epoch(t) == e)) >> (s == t)),
        )
        m.auxiliary(
            "no pointer of a copy's epoch",
            forall(s, t, k, e, (copy_of_s & (self.ptr_key(t) == k) & (self.ptr_epoch(t) == e)) >> (s == t)),
        )
