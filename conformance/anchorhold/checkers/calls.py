"""Are calls in the window with their results (STR-1)?"""

from dataclasses import dataclass, field

from anchorhold.checkers.keys import Keys
from anchorhold.checkers.reading import Known, said_by
from anchorhold.checkers.record import Observation, Operation
from anchorhold.checkers.tally import Tally
from anchorhold.checkers.watch import Watch
from anchorhold_spec.vocabulary import CarrierKind


def _there(known: Known, look: Observation) -> frozenset[str]:
    """The turns that have an item of their own in the window, whatever it says by now, or stand in one."""
    raw, said = look.raw, known.said
    more: set[str] | None = None
    for item in look.items:
        if item.turn is None or item.turn in raw or item.kind is CarrierKind.SUMMARY:
            continue
        turn = known.turn_of(item.turn)
        if turn is not None and turn in said:
            more = more or set()
            more.add(turn)
    return raw | more if more else raw


@dataclass(slots=True)
class _Call:
    """A call, and the turns that answer it: one, as a rule."""

    id: str
    asking: str
    results: list[str] = field(default_factory=list)


class CallsAndResults(Watch):
    """Each call that was answered, in every look after a first compaction: it is in the window with a result, or
    nothing of it is.

    Ids of calls come again, since some services number the calls of each turn anew: a result is of the latest call of
    that id before it.
    """

    operations = frozenset({"append", "compact"})

    def __init__(self, known: Known, keys: Keys, tally: Tally) -> None:
        super().__init__(known, keys, tally)
        self._compacted = False
        self._calls: dict[str, list[_Call]] = {}
        """By their ids, in the order in which they were made."""
        self._early: dict[str, list[str]] = {}
        """Results that came before any call of that id."""
        self._of: dict[str, list[_Call]] = {}
        """Calls that a turn asks or answers."""
        self._pairs: dict[str, int] = {}
        """How many calls of each session were answered."""

    def operation(self, operation: Operation) -> None:
        if operation.op == "compact":
            self._compacted = True
            return
        turn = operation.turn
        if not turn.calls and turn.result_of is None:
            return
        said = said_by(self.known, operation)
        if said is None:
            return
        for call in said.turn.calls:
            made = _Call(id=call.id, asking=said.turn.id)
            self._calls.setdefault(call.id, []).append(made)
            self._of.setdefault(said.turn.id, []).append(made)
            for result in self._early.pop(call.id, ()):
                self._answer(made, result)
        answered = said.turn.result_of
        if answered is not None:
            calls = reversed(self._calls.get(answered, ()))
            asked = next((one for one in calls if self.known.belongs(one.asking, said.session)), None)
            if asked is None:
                self._early.setdefault(answered, []).append(said.turn.id)
            else:
                self._answer(asked, said.turn.id)

    def _answer(self, call: _Call, result: str) -> None:
        if not call.results:
            session = self.known.said[call.asking].session
            self._pairs[session] = self._pairs.get(session, 0) + 1
        call.results.append(result)
        self._of.setdefault(result, []).append(call)

    def look(self, look: Observation) -> None:
        if look.live is None or not self._compacted or not self._pairs:
            return
        there = _there(self.known, look)
        # Of pairs that are wholly in or wholly out nothing has to be said; what is in is not more than the window.
        concerned = {id(call): call for turn in there if turn in self._of for call in self._of[turn]}
        if look.withdrawn or self.known.forks:
            calls = (call for made in self._calls.values() for call in made)
            self.tally.trigger(sum(bool(self._answers(look, call)) for call in calls))
        else:
            self.tally.trigger(self._pairs.get(look.session, 0))
        torn = [c for c in concerned.values() if (c.asking in there) is there.isdisjoint(c.results)]
        for call in sorted(torn, key=lambda call: self.known.order.get(call.asking, -1)):
            results = self._answers(look, call)
            if not results or (call.asking in there) is not there.isdisjoint(results):
                continue
            result = next((turn for turn in results if turn in there), results[-1])
            what = (
                f"Call {call.id} is in the window (turn {call.asking}) and its result (turn {result}) is not"
                if call.asking in there
                else f"The result of call {call.id} is in the window (turn {result}) and the call "
                f"(turn {call.asking}) is not"
            )
            self.tally.fail(f"{what}.", fact=call.id, event=look.end)

    def _answers(self, look: Observation, call: _Call) -> list[str]:
        """The turns that answer a call, as far as both are there to be seen."""
        return [result for result in call.results if self._present(look, call.asking, result)]

    def _present(self, look: Observation, *turns: str) -> bool:
        said = [self.known.said[turn] for turn in turns]
        return all(
            one.certain
            and one.at < look.start
            and one.turn.id not in look.withdrawn
            and self.known.belongs(one.turn.id, look.session)
            for one in said
        )
