"""The runner: what it does to a compactor, and what of it stands in the history."""

from itertools import pairwise
from typing import Any

import msgspec
import pytest
from toy_compactors import Archive, Automatic, CannotOpen, Crashes, Plain, Raises, said

from anchorhold.compactor import OPERATIONS_OF, Description, Settings
from anchorhold.errors import AdapterError
from anchorhold.history import Event, EventType
from anchorhold.planting import Planter
from anchorhold.run import PIECES, asked_for, play
from anchorhold.size import window_size
from anchorhold.verdict import History
from anchorhold.workload import (
    AnyStep,
    Append,
    Ask,
    Compact,
    Corrupt,
    CrashAt,
    Evict,
    Expire,
    Fill,
    Follow,
    LosePower,
    Meanwhile,
    Probe,
    Reopen,
    Summariser,
    Switch,
    Workload,
)
from anchorhold_spec.vocabulary import Answer, AnswerKind, Item, Outcome, OutcomeKind, Pointer, Turn

EVERY = frozenset(op for operations in OPERATIONS_OF.values() for op in operations)


def run(compactor: Any, *steps: AnyStep, settings: Settings | None = None) -> History:
    offered = frozenset({"append", "compact", "live"}) | {op for op in EVERY if hasattr(compactor, op)}
    described = compactor.describe()
    return play(
        compactor,
        Workload(name="test", aims=(), steps=steps, settings=settings or Settings(budget=600, watermark=0.5)),
        description=Description(
            name=described.name, version="1", operations=offered, crash_points=described.crash_points
        ),
        location="toy",
    )


def invoked(history: History, *ops: str) -> list[Event]:
    return [e for e in history.events if e.type is EventType.INVOKE and (not ops or e.op in ops)]


def names(history: History) -> list[str]:
    return [event.op for event in invoked(history)]


def talk(count: int, facts: int = 0, seed: int = 1) -> tuple[Append, ...]:
    planter = Planter(seed)
    return planter.talk(count, *planter.facts(facts))


def test_every_operation_is_invoked_and_ends_once() -> None:
    open_: list[str] = []
    for event in run(Archive(), *talk(20, 6), Compact(until_idle=3)).events:
        if event.type is EventType.INVOKE:
            open_.append(event.op)
        else:
            assert open_.pop() == event.op

    assert open_ == []


def test_the_summariser_stands_inside_the_operation_that_called_it() -> None:
    ops = [
        (event.op, event.type.value)
        for event in run(Archive(), *talk(12), Compact()).events
        if event.op in ("compact", "summarise")
    ]

    assert ops[:4] == [("compact", "invoke"), ("summarise", "invoke"), ("summarise", "ok"), ("compact", "ok")]


def test_a_compaction_stands_between_two_looks_at_the_window() -> None:
    ops = [op for op in names(run(Archive(), *talk(12), Compact())) if op != "summarise"]
    at = ops.index("compact")

    assert ops[at - 1] == ops[at + 1] == "live"


def test_appends_carry_the_turn_and_the_facts_that_were_planted_in_it() -> None:
    appends = talk(6, 4)
    history = run(Archive(), *appends)

    assert [event.value["turn"]["id"] for event in invoked(history, "append")] == [a.turn.id for a in appends]
    assert [
        (fact["text"], fact["literal"]) for event in invoked(history, "append") for fact in event.value["facts"]
    ] == [(fact.text, fact.literal) for append in appends for fact in append.facts]


def test_every_token_ever_seen_is_followed_at_every_later_look() -> None:
    history = run(Archive(), *talk(12), Compact(), Probe())
    looks: list[set[str]] = []
    for event in invoked(history, "pointers", "get"):
        if event.op == "pointers":
            looks.append(set())
        else:
            looks[-1].add(event.value["token"])

    assert len(looks[0]) >= 4
    assert all(earlier <= later for earlier, later in pairwise(looks))


def test_a_token_that_no_summary_carries_any_more_is_still_followed() -> None:
    class Forgetful(Archive):
        def pointers(self) -> Any:
            return super().pointers() if self.summaries == 1 else []

    history = run(Forgetful(), *talk(12), Compact(), *talk(12, seed=2), Compact())
    tokens = [event.value["token"] for event in invoked(history, "get")]

    assert tokens.count(tokens[0]) >= 3


class InPieces(Archive):
    """Hands out what it holds in pieces of ten characters: one by one, or always the same one again."""

    size = 10
    endless = False

    def _piece(self, name: str, text: str, at: int = 0) -> Answer:
        if len(text) <= at + self.size and not self.endless:
            return Answer(kind=AnswerKind.FOUND, text=text[at:])
        more = f"more:{name}:{at + self.size}"
        return Answer(kind=AnswerKind.PARTIAL, text=text[at : at + self.size], continuation=more)

    def get(self, token: str) -> Answer:
        if not token.startswith("more:"):
            answer = super().get(token)
            return answer if answer.text is None else self._piece(token, answer.text)
        name, _, at = token.removeprefix("more:").rpartition(":")
        text = self._asked[2:] if name.startswith("?") else super().get(name).text
        return self._piece(name, text or "", int(at))

    def search(self, literal: str) -> Answer:
        answer = super().search(literal)
        if answer.text is None:
            return answer
        self._asked = f"? {answer.text}"
        return self._piece("?", answer.text)

    def reconstitute(self, subject: str, attribute: str, evidence: bool) -> Answer:
        return self.search(subject)


def pieces(history: History, first: str) -> list[list[dict[str, Any]]]:
    """For each operation of this name: its answer and those of the continuations that were followed right after."""
    found: list[tuple[str, list[dict[str, Any]]]] = []
    for invoke, end in zip(history.events, history.events[1:], strict=False):
        if invoke.type is not EventType.INVOKE or end.type is not EventType.OK:
            continue
        token = (invoke.value or {}).get("token", "")
        if invoke.op == "get" and token.startswith("more:"):
            assert token == found[-1][1][-1]["continuation"]
            found[-1][1].append(end.value)
        elif invoke.op in ("get", "search", "reconstitute") and end.value["kind"] in ("partial", "found"):
            found.append((invoke.op, [end.value]))
    return [answers for op, answers in found if op == first]


def test_the_continuations_of_a_pointers_answer_are_followed_right_after_it_and_join_to_the_original() -> None:
    appends = talk(12)
    history = run(InPieces(), *appends, Compact())
    joined = {"".join(piece["text"] for piece in each) for each in pieces(history, "get")}

    assert joined
    assert joined <= {said(append.turn) for append in appends}


@pytest.mark.parametrize("op", ["search", "reconstitute"])
def test_the_continuations_of_what_was_asked_for_are_followed_right_after_it(op: str) -> None:
    appends = talk(4, 2)
    facts = [fact for append in appends for fact in append.facts]
    history = run(InPieces(), *appends, *(Ask(fact=fact) for fact in facts))
    joined = ["".join(piece["text"] for piece in each) for each in pieces(history, op)]

    assert len(joined) >= len(facts)
    assert set(joined) <= {said(append.turn) for append in appends}


def test_a_continuation_is_followed_when_it_is_seen_and_at_no_later_look() -> None:
    history = run(InPieces(), *talk(12), Compact(), Probe(), Probe())
    asked = [event.value["token"] for event in invoked(history, "get")]
    whole = [token for token in asked if not token.startswith("more:")]

    assert {asked.count(token) for token in asked if token.startswith("more:")} == {
        whole.count(token) for token in whole
    }


def test_a_long_answer_is_followed_to_its_end_however_small_its_pieces() -> None:
    class Crumbs(InPieces):
        size = 20

    long = Append(turn=Turn(id="long", speaker="user", text="Each of these words is part of it. " * 200))
    history = run(Crumbs(), long, *talk(12), Compact(), Probe())

    assert max(map(len, pieces(history, "get"))) == 350
    assert any("".join(piece["text"] for piece in each) == long.turn.text for each in pieces(history, "get"))


def test_an_answer_without_an_end_is_followed_for_a_bounded_number_of_pieces() -> None:
    class Endless(InPieces):
        endless = True

    history = run(Endless(), *talk(12), Compact())

    assert {len(each) for each in pieces(history, "get")} == {PIECES}


def test_a_continuation_that_leads_to_itself_is_followed_once() -> None:
    class Circle(Archive):
        def get(self, token: str) -> Answer:
            return Answer(kind=AnswerKind.PARTIAL, text="again", continuation="more:again")

    history = run(Circle(), *talk(12), Compact())

    assert {len(each) for each in pieces(history, "get")} == {2}


def test_an_eviction_finds_its_token_by_what_the_joined_pieces_hold() -> None:
    class Silent(InPieces):
        def pointers(self) -> Any:
            return [Pointer(summary=p.summary, token=p.token, covers=None) for p in super().pointers()]

        def evict(self, token: str) -> Outcome:
            self.originals.pop(token.removeprefix("original:"))
            return Outcome(kind=OutcomeKind.COMMITTED)

    appends = talk(12)
    history = run(Silent(), *appends, Compact(), Evict(turn=appends[1].turn.id))

    assert [event.value["token"] for event in invoked(history, "evict")] == [f"original:{appends[1].turn.id}"]


def test_what_a_compactor_does_not_offer_is_never_attempted_and_leaves_no_step() -> None:
    fact = Planter(1).fact()
    steps: tuple[AnyStep, ...] = (
        Ask(fact=fact),
        Evict(turn="t1"),
        Corrupt(turn="t1"),
        CrashAt(point=0),
        Reopen(),
        Expire(seconds=1.0),
        Switch(session="b", user="b"),
        Follow(token="x"),
    )
    history = run(Plain(), *talk(8), *steps, Compact())

    assert set(names(history)) == {"open", "append", "live", "compact"}
    assert {type(step) for step in history.header.workload.steps} == {Append, Compact, Probe}


def test_an_explicit_workload_plays_to_the_same_history_again() -> None:
    planter = Planter(5)
    history = run(
        Archive(),
        Summariser(mode="drop"),
        Fill(turns=planter.talk(40, *planter.facts(4))),
        Compact(until_idle=3),
        Summariser(mode="fail", times=1),
        Fill(turns=planter.talk(40, *planter.facts(4))),
        Compact(until_idle=3),
        Follow(token="original:nowhere"),
    )
    workload = history.header.workload
    again = play(
        Archive(),
        msgspec.json.decode(msgspec.json.encode(workload), type=Workload),
        description=Description(name="toy archive", version="1", operations=frozenset(history.header.operations)),
        location="toy",
    )

    assert workload.explicit
    assert again == history


def test_steps_of_events_point_into_the_explicit_workload() -> None:
    history = run(Archive(), *talk(12, 4), Compact(until_idle=2))
    steps = history.header.workload.steps
    for event in invoked(history):
        step = steps[event.step]
        match event.op:
            case "append":
                assert isinstance(step, Append)
                assert step.turn.id == event.value["turn"]["id"]
            case "compact":
                assert isinstance(step, Compact)
            case "search":
                assert isinstance(step, Ask)
                assert step.fact.literal == event.value["literal"]


def test_filling_ends_once_the_window_is_over_its_watermark() -> None:
    history = run(Archive(), Fill(turns=talk(60)))
    sizes = [
        window_size(msgspec.convert(event.value, list[Item]), history.header.settings.unit)
        for event in history.events
        if event.op == "live" and event.type is EventType.OK
    ]

    assert sizes[-1] > 300
    assert len(invoked(history, "append")) < 12


def test_filling_says_at_least_what_it_was_told_to() -> None:
    history = run(Archive(), *talk(20), Fill(turns=talk(30, seed=2), least=5))

    assert len(invoked(history, "append")) == len(talk(20)) + 5


def test_a_window_of_unknown_size_is_filled_with_all_the_turns() -> None:
    assert len(invoked(run(Plain(), Fill(turns=talk(9))), "append")) == len(talk(9))


def test_a_compaction_that_happens_by_itself_is_looked_at_when_it_happened() -> None:
    history = run(Automatic(), *talk(13))
    ops = names(history)
    at = ops.index("summarise")

    assert ops[at - 1] == "append"
    assert ops[at + 1 : at + 3] == ["live", "pointers"]


def test_all_facts_are_asked_for_at_the_end() -> None:
    history = run(Archive(), *talk(30, 20))
    facts = [fact for append in talk(30, 20) for fact in append.facts]

    assert [event.value["literal"] for event in invoked(history, "search")] == [fact.literal for fact in facts]


def test_an_exception_of_the_compactor_is_indefinite_where_it_may_have_changed_something() -> None:
    history = run(Raises(), *talk(4, 1), Compact())
    ends = {event.op: event for event in history.events if event.type is not EventType.INVOKE}

    assert ends["compact"].type is EventType.INFO
    assert ends["compact"].error == "ZeroDivisionError: in the middle"
    assert ends["search"].type is EventType.FAIL
    assert (ends["pointers"].type, ends["pointers"].error) == (EventType.FAIL, "not now")


def test_a_crash_is_armed_runs_into_and_is_followed_by_a_restart() -> None:
    history = run(Crashes(), *talk(12), CrashAt(point=3))
    ops = [op for op in names(history) if op not in ("append", "search")]
    died = next(event for event in history.events if event.op == "compact" and event.type is not EventType.INVOKE)

    assert ops[1:6] == ["live", "crash", "compact", "reopen", "live"]
    assert invoked(history, "crash")[0].value == {"point": "after-store"}
    assert died.type is EventType.INFO


def test_an_eviction_takes_the_token_that_leads_to_the_turn() -> None:
    history = run(Crashes(), *talk(12), Compact(), Evict(turn="t2"))

    assert [event.value for event in invoked(history, "evict")] == [{"token": "original:t2"}]


def test_an_eviction_finds_its_token_by_what_it_resolved_to_where_coverage_is_not_told() -> None:
    class Mute(Crashes):
        def pointers(self) -> Any:
            return [Pointer(summary=p.summary, token=p.token) for p in super().pointers()]

    history = run(Mute(), *talk(12), Compact(), Evict(turn="t2"))

    assert [event.value for event in invoked(history, "evict")] == [{"token": "original:t2"}]


def test_where_no_pointer_leads_to_the_turn_nothing_is_attempted_and_a_note_says_so() -> None:
    history = run(Crashes(), *talk(3), Evict(turn="t2"))
    (note,) = invoked(history, "note")

    assert invoked(history, "evict") == []
    assert note.value == {"step": "evict", "turn": "t2", "why": "no pointer is known to lead to turn t2"}


def test_a_compactor_that_cannot_be_opened_is_an_adapter_error_and_no_history() -> None:
    with pytest.raises(AdapterError, match="could not be opened: FileNotFoundError: no store here"):
        run(CannotOpen(), *talk(1))


def test_a_compactor_that_does_not_close_is_a_note() -> None:
    class Stuck(Archive):
        def close(self) -> None:
            raise RuntimeError("stuck")

    assert invoked(run(Stuck(), *talk(1)), "note")[0].value == {"step": "close", "why": "RuntimeError: stuck"}


def test_an_adapter_hears_before_it_is_opened_what_may_be_asked_of_it() -> None:
    heard: list[Any] = []

    class Foresees(Crashes):
        def foresee(self, operations: frozenset[str]) -> None:
            heard.append(operations)

        def open(self, settings: Settings, summarise: Any) -> Settings:
            heard.append("open")
            return super().open(settings, summarise)

    meanwhile = Meanwhile(steps=(Evict(turn="t1"), LosePower()))
    run(Foresees(), *talk(2), CrashAt(point=0), Probe(), meanwhile)

    # It offers no loss of power: nobody will ask for that.
    assert heard[0] >= {"crash"}
    assert "lose_power" not in heard[0]
    assert heard[1] == "open"
    assert asked_for((meanwhile,)) >= {"evict", "lose_power"}
