"""Which session and branch everything concerns, and what the caller took away there."""

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence

from anchorhold.checkers.reading import Place
from anchorhold.checkers.record import LEADING, WITHDRAWING, Forked, Operation, Said, Withdrawal
from anchorhold.history import MAIN, EventType, Header
from anchorhold_spec.vocabulary import (
    OutcomeKind,
)


class Lanes:
    """In which session, of which user, and in which branch each operation was done."""

    def __init__(self, header: Header, done: Iterable[Operation] = ()) -> None:
        self.forks: dict[str, Forked] = {}
        self._place = Place.first(header)
        self._starts = [0]
        self._names = [self._place.lane]
        for operation in done:
            self.follow(operation)

    def follow(self, operation: Operation) -> None:
        """Go where an operation leads, in the order in which they began."""
        if operation.op not in LEADING or not operation.ok:
            return
        self._place = self._place.after(operation.op, operation.arguments)
        name = self._place.lane
        if operation.op == "fork":
            beside = operation.process != MAIN
            self.forks.setdefault(name, Forked(parent=self._names[-1], at=operation.end, beside=beside))
        # Operations that began before it ended were asked of the session that was left.
        self._starts.append(operation.end)
        self._names.append(name)

    def of(self, event: int) -> str:
        """The lane in which what begins at this event is done."""
        if event >= self._starts[-1]:
            return self._names[-1]
        return self._names[bisect_right(self._starts, event) - 1]

    def lineage(self, said: Said, session: str) -> bool:
        """Whether a turn was said in a session, or in an ancestor before the session branched off."""
        while said.session != session:
            forked = self.forks.get(session)
            if forked is None or forked.at < said.at:
                return False
            session = forked.parent
        return True

    def withdrawn(self, session: str, withdrawals: Sequence[Withdrawal], until: int) -> frozenset[str]:
        """The turns that were taken away from a session before an event: what is forgotten is gone everywhere."""
        away = frozenset[str]()
        while True:
            for each in withdrawals:
                if each.operation.start < until and (each.session == session or each.operation.op == "forget"):
                    away |= each.turns
            forked = self.forks.get(session)
            if forked is None:
                return away
            session, until = forked.parent, min(until, forked.at)


def withdrawals(done: tuple[Operation, ...], said: Mapping[str, Said], lanes: Lanes) -> Iterator[Withdrawal]:
    """Whatever the caller took away, in order."""
    for operation in done:
        withdrawal = withdrawal_by(operation, said, lanes)
        if withdrawal is not None:
            yield withdrawal


def withdrawal_by(operation: Operation, said: Mapping[str, Said], lanes: Lanes) -> Withdrawal | None:
    """What a clear, rewind or forget took away; where it is not known whether it happened, as well."""
    if operation.op not in WITHDRAWING or operation.ended is EventType.FAIL:
        return None
    outcome = operation.outcome() if operation.op == "forget" else None
    if outcome is not None and outcome.kind is not OutcomeKind.COMMITTED:
        return None
    session = lanes.of(operation.start)
    named = str(operation.arguments.get("turn", ""))
    if operation.op == "forget":
        return Withdrawal(operation=operation, session=session, turns=frozenset({named} & said.keys()))
    before = {i: s for i, s in said.items() if s.at < operation.start and lanes.lineage(s, session)}
    if operation.op == "rewind":
        order = list(before)
        turns = frozenset(order[order.index(named) + 1 :]) if named in before else frozenset()
    else:
        turns = frozenset(before)
    return Withdrawal(operation=operation, session=session, turns=turns)
