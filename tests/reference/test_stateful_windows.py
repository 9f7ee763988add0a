"""STR-1, STR-2, ANC-1, CON-3, MAN-4, PRO-3: any sequence of what changes a window, against lists of what was said."""

import tempfile
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule
from transcripts import in_memory, port

from anchorhold_reference import Reply, Settings, Transcript
from anchorhold_spec.vocabulary import AnswerKind, OutcomeKind, ToolCall, Turn

Shown = list[str | tuple[str, ...]]
"""A window: ids of turns, and what summaries cover."""


@dataclass
class Branch:
    """What one branch was told, and what it is to remember of it."""

    turns: list[Turn]
    cleared: int = 0
    """So many of the turns were there at the last clear."""
    dropped: dict[str, str | None] = field(default_factory=dict)
    """Turns whose assertion was tombstoned, with the superseder."""
    shown: dict[str, Shown] = field(default_factory=dict)
    """The window right after a turn, as long as a rewind to it has to restore that."""

    def at(self, turn: str) -> int:
        return next(i for i, one in enumerate(self.turns) if one.id == turn)

    def results(self, call: str) -> list[Turn]:
        return [one for one in self.turns if one.result_of == call]


class Windows(RuleBasedStateMachine):
    """Appends, calls, answers late, compacts, clears, rewinds, forks, forgets, evicts, drops and reopens at will."""

    def __init__(self) -> None:
        super().__init__()
        self.directory = tempfile.TemporaryDirectory(dir=in_memory())
        self.branches = {"main": Branch(turns=[])}
        self.opened: dict[str, Transcript] = {}
        self.here = "main"
        self.count = 0
        self.erased: set[str] = set()
        self.evicted: set[str] = set()
        self.mode = "all"
        self.meanwhile: Callable[[], None] | None = None
        self.when = ""

    @initialize(keep=st.integers(1, 3))
    def begin(self, keep: int) -> None:
        self.opened["main"] = Transcript.open(
            Path(self.directory.name) / "ledger.db",
            summarise=self.summarise,
            steps=self.step,
            settings=Settings(horizon=0, keep=keep),
        )

    @property
    def transcript(self) -> Transcript:
        return self.opened[self.here]

    @property
    def branch(self) -> Branch:
        return self.branches[self.here]

    def summarise(self, request) -> Reply:
        self.now("model")
        self.count += 1
        whole = "\n".join(request.messages[1:])
        seen = [one.text for one in self.branch.turns if one.text and one.text in whole]
        lines = {"all": seen, "half": seen[::2], "none": []}[self.mode]
        return Reply(text="\n".join([f"Part {self.count}.", *lines]))

    def step(self, name: str) -> None:
        self.now(name)

    def now(self, when: str) -> None:
        if self.meanwhile is not None and when == self.when:
            act, self.meanwhile = self.meanwhile, None
            act()

    def window(self) -> Shown:
        return [item.turn or tuple(item.covers or ()) for item in self.transcript.live()]

    # -- what comes in --

    def put(self, **more: object) -> None:
        self.count += 1
        turn = Turn(id=f"t{self.count}", text=port(self.count), **{"speaker": "assistant", **more})
        self.transcript.append(turn)
        self.branch.turns.append(turn)
        if not self.when:
            self.branch.shown[turn.id] = self.window()

    @rule()
    def say(self) -> None:
        self.put()

    @rule(calls=st.integers(1, 3))
    def call(self, calls: int) -> None:
        self.put(calls=tuple(ToolCall(id=f"c{self.count}-{n}", name="run", arguments="") for n in range(calls)))

    def calls(self) -> list[str]:
        return [call.id for one in self.branch.turns if one.id not in self.erased for call in one.calls]

    @precondition(lambda self: self.calls())
    @rule(data=st.data(), late=st.booleans())
    def answer(self, data: st.DataObject, late: bool) -> None:
        calls = self.calls()
        waiting = [call for call in calls if not self.branch.results(call)]
        self.put(speaker="tool", result_of=data.draw(st.sampled_from(calls if late or not waiting else waiting)))

    # -- what goes --

    @rule(mode=st.sampled_from(["all", "half", "none"]))
    def compact(self, mode: str) -> None:
        self.mode = mode
        outcome = self.transcript.compact()
        assert outcome.kind in {OutcomeKind.COMMITTED, OutcomeKind.NOTHING}, outcome.reason
        for one in self.branch.turns if "outstanding" in (outcome.reason or "") else ():
            if f"{one.id!r} holds a call" in (outcome.reason or ""):
                assert not all(self.branch.results(call.id) for call in one.calls), "it waits in vain"

    @precondition(lambda self: self.calls())
    @rule(data=st.data(), when=st.sampled_from(["model", "stage", "copy", "commit"]))
    def compact_meanwhile(self, data: st.DataObject, when: str) -> None:
        call = data.draw(st.sampled_from(self.calls()))
        self.meanwhile, self.when = (lambda: self.put(speaker="tool", result_of=call)), when
        self.compact("half")
        self.meanwhile, self.when = None, ""

    @precondition(lambda self: self.branch.turns)
    @rule()
    def clear(self) -> None:
        self.transcript.clear()
        self.branch.cleared = len(self.branch.turns)
        self.branch.shown.clear()
        assert self.transcript.live() == []

    def kept(self) -> list[str]:
        return [one.id for one in self.branch.turns if one.id not in self.erased]

    @precondition(lambda self: self.kept())
    @rule(data=st.data())
    def rewind(self, data: st.DataObject) -> None:
        turn = data.draw(st.sampled_from(self.kept()))
        branch = self.branch
        gone = {one.id for one in branch.turns[branch.at(turn) + 1 :]}
        self.transcript.rewind(turn)
        branch.turns = [one for one in branch.turns if one.id not in gone]
        branch.cleared = min(branch.cleared, len(branch.turns))
        for one, superseder in list(branch.dropped.items()):
            if one in gone or (superseder in gone and one not in self.evicted):
                del branch.dropped[one]
            elif superseder in gone:
                dropped = self.transcript.reconstitute(f"db-{one[1:]}", "port").kind is AnswerKind.TOMBSTONED
                branch.dropped.pop(one)
                branch.dropped.update({one: None} if dropped else {})
        branch.shown = {one: shown for one, shown in branch.shown.items() if one not in gone}
        if turn in branch.shown:
            assert self.window() == branch.shown[turn], (self.window(), branch.shown[turn])

    @precondition(lambda self: len(self.branches) < 4)
    @rule()
    def fork(self) -> None:
        name = f"branch-{len(self.branches)}"
        self.opened[name] = self.transcript.fork(name)
        was = self.branch
        self.branches[name] = replace(was, turns=list(was.turns), dropped=dict(was.dropped), shown=dict(was.shown))
        self.here = name

    @rule(data=st.data())
    def switch(self, data: st.DataObject) -> None:
        self.here = data.draw(st.sampled_from(sorted(self.branches)))

    @precondition(lambda self: self.kept())
    @rule(data=st.data())
    def forget(self, data: st.DataObject) -> None:
        turn = data.draw(st.sampled_from(self.kept()))
        assert self.transcript.forget(turn).kind is OutcomeKind.COMMITTED
        self.erased.add(turn)
        for branch in self.branches.values():
            branch.shown.clear()
            branch.dropped.pop(turn, None)
            branch.dropped = {one: None if by == turn else by for one, by in branch.dropped.items()}

    @rule()
    def evict(self) -> None:
        for pointer in self.transcript.pointers():
            if self.transcript.evict(pointer.token).kind is OutcomeKind.COMMITTED:
                self.evicted.add(pointer.covers[0])
                for branch in self.branches.values():
                    branch.shown.clear()

    @precondition(lambda self: len(self.kept()) > 1)
    @rule(data=st.data(), named=st.booleans())
    def drop(self, data: st.DataObject, named: bool) -> None:
        turn, by = data.draw(st.lists(st.sampled_from(self.kept()), min_size=2, max_size=2, unique=True))
        # What has not been told of its statements yet, or has left already, may be refused.
        outcome = self.transcript.tombstone(
            str(7000 + int(turn[1:])), turn, "the machine says so", superseded_by=by if named else None
        )
        if outcome.kind is OutcomeKind.COMMITTED:
            self.branch.dropped[turn] = by if named else None

    @rule()
    def reopen(self) -> None:
        self.transcript.reopen()

    # -- what holds --

    @invariant()
    def holds(self) -> None:
        if not self.opened:
            return
        live = self.transcript.live()
        there = [item.turn for item in live if item.turn]
        assert len({item.id for item in live}) == len(live), "a carrier stands twice in the window"
        assert sorted(there, key=self.branch.at) == there, "the window is not in order"
        assert sum(item.turn is None for item in live) <= 1
        self.pairs(set(there))
        self.anchored()
        visible = set(self.kept())
        for one in self.transcript.tombstones():
            assert one.superseder is None or one.superseder in visible

    def can_come(self, turn: Turn) -> bool:
        """Whether a turn can be in the window still: nobody took it away."""
        return turn.id not in self.erased | self.evicted and self.branch.at(turn.id) >= self.branch.cleared

    def pairs(self, there: set[str]) -> None:
        for asking in self.branch.turns:
            for call in asking.calls:
                results = [one for one in self.branch.results(call.id) if one.id not in self.erased]
                if self.can_come(asking):
                    for result in results:
                        assert result.id not in there or asking.id in there, "a result stands without its call"
                if results and asking.id in there and self.can_come(results[-1]):
                    assert results[-1].id in there, "a call stands without its result"

    def anchored(self) -> None:
        for turn in self.kept():
            answer = self.transcript.reconstitute(f"db-{turn[1:]}", "port")
            if turn in self.branch.dropped:
                assert answer.kind is AnswerKind.TOMBSTONED
            else:
                assert (answer.kind, answer.source) == (AnswerKind.FOUND, turn), f"{turn} came loose: {answer}"
        assert {one.source for one in self.transcript.tombstones()} == set(self.branch.dropped)
        assert self.transcript.status().tombstones == len(self.branch.dropped)

    def teardown(self) -> None:
        for transcript in self.opened.values():
            transcript.close()
        self.directory.cleanup()


Windows.TestCase.settings = settings(
    max_examples=60, stateful_step_count=30, deadline=None, suppress_health_check=list(HealthCheck)
)
TestWindowsUnderAnySequence = Windows.TestCase
