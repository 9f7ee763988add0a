"""The shipped adapters, each in the environment that uv makes for it, over the wire protocol.

What is asserted here is the adapter's translation: which item is a turn, where a pointer leads, how an outcome is
told. What the compactor itself does right or wrong is for the checkers, and not frozen in tests.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from uv import find_uv_bin

from anchorhold.compactor import Reply, Settings, Shown, SummariserError, Unit
from anchorhold.wire.connection import Connection
from anchorhold.wire.driver import Pool, WireCompactor
from anchorhold.wire.process import Limits
from anchorhold_spec.vocabulary import AnswerKind, CarrierKind, OutcomeKind, ToolCall, Turn

pytestmark = pytest.mark.slow

ADAPTERS = Path(__file__).parents[2] / "conformance" / "anchorhold" / "adapters"
NAMES = ("agent-framework-core", "deepagents")
TURNS = tuple(
    Turn(id=f"t{i}", speaker=("user", "assistant")[i % 2], text=f"deploy J-{i} to /srv/a{i} & <wait>")
    for i in range(40)
)


@dataclass
class Model:
    """A summariser that remembers what it was shown."""

    text: str = "They talked about deployments."
    fails: bool = False
    shown: list[Shown] = field(default_factory=list)

    def __call__(self, shown: Shown) -> Reply:
        self.shown.append(shown)
        if self.fails:
            raise SummariserError("429: too many requests")
        return Reply(text=self.text)


@pytest.fixture(scope="module", params=NAMES)
def pool(request: pytest.FixtureRequest) -> Iterator[Pool]:
    program = ADAPTERS / f"{request.param.replace('-', '_')}_adapter.py"

    def start() -> Connection:
        command = (find_uv_bin(), "run", "--quiet", "--script", str(program))
        return Connection(command, name=request.param, version="0", limits=Limits(start=600.0))

    with_one = Pool(start, reuse=True)
    yield with_one
    with_one.close()


@pytest.fixture
def model() -> Model:
    return Model()


@pytest.fixture
def compactor(pool: Pool, model: Model) -> Iterator[WireCompactor]:
    opened = WireCompactor(take=pool.take, give_back=pool.give_back)
    taken = opened.open(Settings(), model)
    assert taken.unit is Unit.ITEMS
    assert taken.budget is not None
    yield opened
    opened.close()


def append(compactor: WireCompactor, turns: tuple[Turn, ...] = TURNS) -> None:
    for turn in turns:
        assert compactor.append(turn) == turn.id


def turns_live(compactor: WireCompactor) -> list[str | None]:
    return [item.turn for item in compactor.live() if item.kind is CarrierKind.RAW]


def test_turns_keep_id_text_and_order_in_the_window(compactor: WireCompactor) -> None:
    append(compactor)

    items = [item for item in compactor.live() if item.kind is CarrierKind.RAW]

    assert [(t.id, t.text, t.speaker) for t in TURNS] == [(i.turn, i.text, i.speaker) for i in items]


def test_below_the_watermark_nothing_is_compacted(compactor: WireCompactor, model: Model) -> None:
    append(compactor, TURNS[:4])

    assert compactor.compact().kind is OutcomeKind.NOTHING
    assert model.shown == []
    assert turns_live(compactor) == ["t0", "t1", "t2", "t3"]


def test_looking_does_not_compact(compactor: WireCompactor, model: Model) -> None:
    append(compactor)

    assert compactor.live() == compactor.live()
    assert model.shown == []


def test_a_compaction_is_told_with_what_it_replaced(compactor: WireCompactor, model: Model) -> None:
    append(compactor)
    before = turns_live(compactor)

    outcome = compactor.compact()

    assert outcome.kind is OutcomeKind.COMMITTED
    (summary,) = [item for item in compactor.live() if item.kind is CarrierKind.SUMMARY]
    assert summary.id == outcome.summary
    assert model.text in (summary.text or "")
    assert outcome.covered is not None
    assert outcome.covered == summary.covers
    assert before == [*outcome.covered, *turns_live(compactor)]
    (shown,) = model.shown
    assert all(f"deploy J-{turn[1:]} to" in "\n".join(shown.messages) for turn in outcome.covered)


def test_every_turn_that_was_replaced_is_behind_a_pointer(compactor: WireCompactor) -> None:
    for part in (TURNS[:24], TURNS[24:]):
        append(compactor, part)
        assert compactor.compact().kind is OutcomeKind.COMMITTED
    live = turns_live(compactor)

    found: dict[str, str] = {}
    for pointer in compactor.pointers():
        answer = compactor.get(pointer.token)
        assert answer.kind is AnswerKind.FOUND
        assert answer.evidence is True
        found |= dict.fromkeys(pointer.covers or (), answer.text or "")

    assert {turn.id for turn in TURNS} - set(live) == found.keys()
    assert all(TURNS[int(turn[1:])].text in text for turn, text in found.items())


def test_what_was_never_there_is_no_content(compactor: WireCompactor) -> None:
    append(compactor)
    compactor.compact()

    answer = compactor.get("no-such-token")

    assert (answer.kind, answer.text) == (AnswerKind.FOREIGN, None)


def test_search_finds_the_line_of_a_turn_that_left_the_window(compactor: WireCompactor) -> None:
    if "search" not in compactor.describe().operations:
        pytest.skip("this compactor searches nothing")
    append(compactor)
    compactor.compact()

    found, never_said = compactor.search("/srv/a3 "), compactor.search("/srv/a3-b")

    assert found.kind is AnswerKind.FOUND
    assert TURNS[3].text in (found.text or "")
    assert (never_said.kind, never_said.text) == (AnswerKind.UNANCHORED, None)


def test_a_session_is_the_same_after_reopening(compactor: WireCompactor) -> None:
    append(compactor)
    compactor.compact()
    before = (compactor.live(), compactor.pointers(), [compactor.get(p.token) for p in compactor.pointers()])

    compactor.reopen()

    assert before == (compactor.live(), compactor.pointers(), [compactor.get(p.token) for p in compactor.pointers()])
    compactor.append(Turn(id="after", speaker="user", text="go on"))
    assert turns_live(compactor)[-1] == "after"


def test_a_model_that_fails_changes_nothing(compactor: WireCompactor, model: Model) -> None:
    append(compactor)
    before = compactor.live()
    model.fails = True

    outcome = compactor.compact()

    assert model.shown
    assert outcome.kind is not OutcomeKind.COMMITTED
    assert before == compactor.live()


def test_damage_reaches_what_the_compactor_reads(compactor: WireCompactor) -> None:
    append(compactor)
    compactor.compact()
    token = compactor.pointers()[0].token
    before = compactor.get(token)

    assert compactor.corrupt(token)
    once = compactor.get(token)
    assert compactor.corrupt(token)

    # Damage done twice is still damage.
    assert before.text not in (once.text, compactor.get(token).text)
    assert not compactor.corrupt("no-such-token")


def test_calls_results_and_bytes_become_messages_of_their_kind(compactor: WireCompactor) -> None:
    call = ToolCall(id="c1", name="run", arguments='{"command": "make"}')
    append(
        compactor,
        (
            Turn(id="ask", speaker="user", text="build it"),
            Turn(id="call", speaker="assistant", text="Building.", calls=(call,)),
            Turn(id="result", speaker="tool", text="exit status 2", result_of="c1"),
        ),
    )

    items = {item.turn: item for item in compactor.live() if item.kind is CarrierKind.RAW}

    assert ((items["call"].text or "").split("\n"), items["call"].speaker) == (
        ["Building.", '{"command": "make"}'],
        "assistant",
    )
    assert (items["result"].text, items["result"].speaker) == ("exit status 2", "tool")


def test_each_opening_starts_with_nothing(pool: Pool) -> None:
    for _ in range(2):
        compactor = WireCompactor(take=pool.take, give_back=pool.give_back)
        compactor.open(Settings(), Model())
        assert turns_live(compactor) == []
        assert list(compactor.pointers()) == []
        append(compactor)
        compactor.compact()
        compactor.close()


def test_a_budget_in_items_is_taken(pool: Pool) -> None:
    compactor = WireCompactor(take=pool.take, give_back=pool.give_back)
    taken = compactor.open(Settings(budget=12, unit=Unit.ITEMS), Model())
    append(compactor)
    compactor.compact()
    size = len(compactor.live())
    compactor.close()

    assert taken.budget == 12
    assert size <= 12
