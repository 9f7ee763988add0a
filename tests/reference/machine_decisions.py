"""What the machines' guards say to what the reference's decisions are asked: states made from the same inputs.

Each function puts a machine into the state that its arguments describe and tries the step. Arguments are turned into
plain values first: whoever executes symbolically branches there, and the interpreter runs on one state a branch.
"""

from collections.abc import Mapping

from anchorhold_reference.decide import Copy, EvidentialClass, Holding
from anchorhold_spec.machines import load
from anchorhold_spec.run import UNDEFINED, Instance, Interpreter, NotEnabled, State, Step, instances

Cells = Mapping[str, Mapping[tuple[int, ...], int]]
"""By symbol, what differs from the first state."""


class Machine:
    """One small instance of a machine, whose states can be written down by symbol."""

    def __init__(
        self, name: str, sizes: Mapping[str, int], rigid: Mapping[str, tuple[int, ...]] | None = None
    ) -> None:
        self.instance = next(each for each in instances(load(name), sizes) if self._is(each, rigid or {}))
        self.interpreter = Interpreter(self.instance)

    @staticmethod
    def _is(instance: Instance, rigid: Mapping[str, tuple[int, ...]]) -> bool:
        given = {s.name: table for s, table in zip(instance.machine.rigid_symbols, instance.rigid, strict=True)}
        return all(given[name] == table for name, table in rigid.items())

    def value(self, sort: str, name: str) -> int:
        """The index of an enumeration's value."""
        found = next(each for each in self.instance.machine.sorts if each.name == sort)
        return found.values.index(name)

    def state(self, cells: Cells) -> State:
        """The first state with some entries changed."""
        symbols = self.instance.machine.state_symbols
        assert cells.keys() <= {symbol.name for symbol in symbols}
        tables = []
        for symbol, table in zip(symbols, self.interpreter.initial(), strict=True):
            changed = list(table)
            for cell, value in cells.get(symbol.name, {}).items():
                changed[self.instance.place(symbol, cell)] = value
            tables.append(tuple(changed))
        return tuple(tables)

    def allows(self, cells: Cells, action: str, *binding: int) -> bool:
        """Whether every guard of the action holds there."""
        try:
            self.interpreter.apply(self.state(cells), Step(action, binding))
        except NotEnabled:
            return False
        return True


ANCHORING = Machine("anchoring", {"raws": 1, "summaries": 2, "assertions": 1, "facts": 1})
RELEASE_RACE = Machine("release-race", {"spans": 1, "keys": 1, "epochs": 1})
EVIDENCE = {
    kind: Machine("evidence", {"spans": 1}, {"class_of": (i,), "labelled_narrative": (0,)})
    for i, kind in enumerate(EvidentialClass)
}
ASYNCHRONOUS = Machine("asynchronous-copy", {"spans": 1, "numbers": 1})
INDEX = Machine("index", {"spans": 1, "keys": 1, "texts": 1, "counts": 2})
ANCHORED_RELEASE = Machine("anchored-release", {"spans": 1, "summaries": 1, "keys": 1, "epochs": 1})
POINTERS = Machine("pointer-before-commit", {"spans": 1, "keys": 1, "epochs": 1})

RAW, LIVE, NEXT = 0, 1, 2
"""The carriers of `ANCHORING`: a raw span, the summary that stands for it, and the one that may replace that."""


def plain(truth: bool) -> int:
    """0 or 1, whatever stands for the truth value."""
    return 1 if truth else 0


def original_may_leave(*, tombstoned: bool, carried: bool, leaving: bool, carried_on: bool) -> bool:
    """anchoring, `claim`: the raw span's entry may be removed.

    A summary that is leaving is one that a reaper has let pass already: it does not count any more.
    """
    known = ANCHORING.value("phase", "known")
    is_leaving = plain(leaving)
    return ANCHORING.allows(
        {
            "phase_of": {(RAW,): known, (LIVE,): known, (NEXT,): known},
            "asserted_by": {(0,): RAW},
            "read": {(RAW,): 1},
            "carries": {(RAW, 0): 1, (LIVE, 0): plain(carried), (NEXT, 0): plain(carried_on)},
            "in_index": {(RAW,): 1, (LIVE,): is_leaving},
            "claimed": {(LIVE,): is_leaving},
            "in_window": {(LIVE,): 1 - is_leaving, (NEXT,): is_leaving},
            "tombstoned": {(0,): plain(tombstoned)},
        },
        "claim",
        RAW,
    )


def replacement_may_commit(*, carried: bool, original: bool, tombstoned: bool) -> bool:
    """anchoring, `commit`: a summary may replace the raw span in the window."""
    return ANCHORING.allows(
        {
            "phase_of": {(RAW,): ANCHORING.value("phase", "known"), (LIVE,): ANCHORING.value("phase", "open")},
            "asserted_by": {(0,): RAW},
            "read": {(RAW,): 1},
            "carries": {(RAW, 0): 1, (LIVE, 0): plain(carried)},
            "shown": {(LIVE, RAW): 1},
            "in_index": {(RAW,): plain(original)},
            "in_window": {(RAW,): 1},
            "tombstoned": {(0,): plain(tombstoned)},
        },
        "commit",
        LIVE,
    )


def source_may_be_released(*, committed: bool, landed: bool) -> bool:
    """release-race, `release`."""
    phase = RELEASE_RACE.value("phase", "committed") if committed else RELEASE_RACE.value("phase", "pointed")
    return RELEASE_RACE.allows({"phase_of": {(0,): phase}, "cold": {(0,): plain(landed)}}, "release", 0)


def span_may_be_reclaimed(kind: EvidentialClass, *, pointed: bool, lasts: bool, omissions_named: bool) -> bool:
    """evidence, `clear`: the summary may take the span's place."""
    machine = EVIDENCE[kind]
    durable = machine.value("pointer", "durable") if pointed else machine.value("pointer", "written")
    kept = machine.value("original", "kept") if lasts else machine.value("original", "expiring")
    return machine.allows(
        {
            "pointer_of": {(0,): durable},
            "original_of": {(0,): kept},
            "omissions_named": {(0,): plain(omissions_named)},
        },
        "clear",
        0,
    )


def pending_summary_may_commit(*, pointed: bool) -> bool:
    """asynchronous-copy, `commit`: the copy is outstanding, and the source held."""
    return ASYNCHRONOUS.allows(
        {
            "phase_of": {(0,): ASYNCHRONOUS.value("phase", "staged")},
            "pointer": {(0,): 0 if pointed else UNDEFINED},
            "issued": {(0,): plain(pointed)},
            "queued": {(0,): 1},
        },
        "commit",
        0,
    )


def copy_is_returned(copy: Copy) -> bool:
    """asynchronous-copy, `resolve a copy`, of a committed summary."""
    marks = {Copy.OUTSTANDING: "pending", Copy.LANDED: "landed", Copy.UNRESOLVABLE: "unresolvable"}
    return ASYNCHRONOUS.allows(
        {
            "phase_of": {(0,): ASYNCHRONOUS.value("phase", "committed")},
            "mark_of": {(0,): ASYNCHRONOUS.value("mark", marks[copy])},
            "pointer": {(0,): 0},
            "issued": {(0,): 1},
            "cold": {(0,): 0 if copy is Copy.LANDED else UNDEFINED},
        },
        "resolve a copy",
        0,
        0,
        0,
    )


def original_may_be_reaped(*, horizon_over: bool) -> bool:
    """anchored-release, `mark`: the store's reaper may choose an original that a live summary carries."""
    return ANCHORED_RELEASE.allows(
        {
            "source_of": {(0,): ANCHORED_RELEASE.value("source", "gone")},
            "phase_of": {(0,): ANCHORED_RELEASE.value("phase", "live")},
            "carries": {(0, 0): 1},
            "covers": {(0, 0): 1},
            "slot": {(0,): 0},
            "epoch_of": {(0,): 1},
            "pointer_key": {(0,): 0},
            "pointer_epoch": {(0,): 1},
            "horizon_over": {(0,): plain(horizon_over)},
        },
        "mark",
        0,
    )


def span_may_leave_the_window(*, degraded: bool, accepted: bool) -> bool:
    """index, `evict`."""
    return INDEX.allows(
        {
            "status_of": {(): INDEX.value("status", "degraded" if degraded else "lossless")},
            "loss_accepted": {(): plain(accepted)},
        },
        "evict",
        0,
        0,
        0,
        1,
    )


def removed_span_may_be_covered() -> bool:
    """anchored-release, `commit` over a span whose original has left through the gate: its pointer is still there."""
    return ANCHORED_RELEASE.allows(
        {
            "source_of": {(0,): ANCHORED_RELEASE.value("source", "gone")},
            "phase_of": {(0,): ANCHORED_RELEASE.value("phase", "open")},
            "carries": {(0, 0): 1},
            "covers": {(0, 0): 1},
            "epoch_of": {(0,): 1},
            "pointer_key": {(0,): 0},
            "pointer_epoch": {(0,): 1},
            "horizon_over": {(0,): 1},
        },
        "commit",
        0,
    )


def original_is_returned(holding: Holding | None) -> bool:
    """pointer-before-commit, `resolve`."""
    phase = POINTERS.value("phase", "pointed")
    if holding is Holding.COMMITTED or holding is Holding.GONE:
        phase = POINTERS.value("phase", "committed")
    issued, gone = holding is not None, holding is Holding.GONE
    return POINTERS.allows(
        {
            "phase_of": {(0,): phase if issued else POINTERS.value("phase", "appended")},
            "slot": {(0,): UNDEFINED if gone or not issued else 0},
            "epoch_of": {(0,): plain(issued)},
            "pointer_key": {(0,): 0 if issued else UNDEFINED},
            "pointer_epoch": {(0,): 1 if issued else UNDEFINED},
            "horizon_over": {(0,): plain(gone)},
        },
        "resolve",
        0,
        0,
        1,
        0,
    )
