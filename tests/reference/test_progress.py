import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from transcripts import fill, port, turn

from anchorhold_reference import Settings
from anchorhold_reference.decide import Candidate, select
from anchorhold_reference.values import four_characters
from anchorhold_spec.vocabulary import CarrierKind, OutcomeKind, ToolCall


def size(transcript):
    return sum(four_characters(item.text or "") for item in transcript.live())


@pytest.mark.parametrize(("budget", "watermark"), [(200, 0.5), (400, 0.7), (2000, 0.9)])
def test_pro_1_compaction_brings_the_window_under_its_watermark(make, script, budget, watermark):
    transcript = make(settings=Settings(horizon=0, budget=budget, watermark=watermark))
    n = 0
    for _ in range(5):
        while size(transcript) <= budget * watermark:
            n += 1
            transcript.append(turn(n, f"{port(n)} It was said at length, and in several words."))
        assert transcript.compact().kind is OutcomeKind.COMMITTED
        assert size(transcript) <= budget * watermark


def test_pro_1_under_the_watermark_there_is_nothing_to_do_and_the_model_is_not_asked(make, script):
    transcript = make(settings=Settings(horizon=0, budget=10_000))
    fill(transcript, 1, 20)

    assert transcript.compact().kind is OutcomeKind.NOTHING
    assert script.shown == []


def test_pro_1_where_it_cannot_it_says_what_holds_it_up(make):
    transcript = make(settings=Settings(horizon=0, budget=100, watermark=0.5, keep=1))
    transcript.append(turn(1, "A long standing rule. " * 20, protected=True))
    fill(transcript, 2, 8)
    outcome = transcript.compact()

    assert outcome.kind is OutcomeKind.COMMITTED
    assert "still has" in outcome.reason
    assert "'t1' is protected (STR-4)" in outcome.reason
    again = transcript.compact()
    assert again.kind is OutcomeKind.REFUSED
    assert again.facts


def test_pro_1_the_caller_counts_the_tokens(make):
    transcript = make(settings=Settings(horizon=0, budget=10, watermark=0.5, keep=1), count=lambda text: 1)
    fill(transcript, 1, 5)
    assert transcript.compact().kind is OutcomeKind.NOTHING
    fill(transcript, 6, 6)
    assert transcript.compact().covered == ("t1", "t2", "t3", "t4", "t5")


def test_pro_2_bad_spans_do_not_stop_the_rest(make):
    transcript = make(settings=Settings(horizon=0, keep=1))
    for n in range(1, 13):
        bad = n % 3 == 0
        transcript.append(turn(n, "a\x00b" if bad else port(n)))
    outcome = transcript.compact()

    assert outcome.covered == tuple(f"t{n}" for n in range(1, 12) if n % 3)


def test_str_1_a_call_and_its_results_are_replaced_together_or_not_at_all(make):
    transcript = make(settings=Settings(horizon=0, keep=2))
    call = ToolCall(id="c1", name="run", arguments="{}")
    late = ToolCall(id="c2", name="wait", arguments="{}")
    transcript.append(turn(1))
    transcript.append(turn(2, "", speaker="assistant", calls=(late,)))
    transcript.append(turn(3, "first", speaker="assistant", calls=(call,)))
    transcript.append(turn(4, "done", speaker="tool", result_of="c1"))
    transcript.append(turn(5))
    transcript.append(turn(6, "x", speaker="assistant", calls=(ToolCall(id="c3", name="run", arguments="{}"),)))
    transcript.append(turn(7, "y", speaker="tool", result_of="c3"))
    transcript.append(turn(8))
    outcome = transcript.compact()

    assert outcome.covered == ("t1", "t3", "t4", "t5")
    transcript.append(turn(9, "at last", speaker="tool", result_of="c2"))
    transcript.append(turn(10))
    transcript.append(turn(11))
    assert transcript.compact().covered == ("t2", "t6", "t7", "t8", "t9")


def test_str_1_a_call_whose_process_died_does_not_wait_for_ever(make):
    transcript = make()
    call = ToolCall(id="c6", name="run", arguments="{}")
    transcript.append(turn(1, "go", speaker="assistant", calls=(call,), status="killed"))
    fill(transcript, 2, 4)

    assert transcript.compact().covered == ("t1", "t2")


def test_str_4_protected_turns_and_the_latest_unanswered_request_stay(make):
    transcript = make(settings=Settings(horizon=0, keep=1))
    transcript.append(turn(1, "You are careful.", speaker="system"))
    transcript.append(turn(2, "Never delete.", speaker="user", protected=True))
    fill(transcript, 3, 4)
    transcript.append(turn(5, "Please do a, b and c.", speaker="user"))
    for n in range(6, 9):
        transcript.append(turn(n, f"step {n}", speaker="tool"))
    outcome = transcript.compact()

    assert outcome.covered == ("t3", "t4", "t6", "t7")
    assert [i.turn for i in transcript.live()] == ["t1", "t2", None, "t5", "t8"]


def test_pro_1_a_summary_alone_is_not_summarised_again(make, script):
    transcript = make()
    fill(transcript, 1, 6)
    transcript.compact()
    for _ in range(3):
        assert transcript.compact().kind is OutcomeKind.NOTHING
    assert len(script.shown) == 1
    assert [i.kind for i in transcript.live()].count(CarrierKind.SUMMARY) == 1


@settings(max_examples=300, suppress_health_check=[HealthCheck.too_slow])
@given(
    carriers=st.lists(
        st.builds(
            Candidate,
            size=st.integers(0, 50),
            summary=st.booleans(),
            bound=st.booleans(),
            group=st.integers(0, 8),
        ),
        max_size=14,
    ),
    keep=st.integers(1, 6),
    high_water=st.none() | st.integers(1, 200),
    reserve=st.integers(0, 50),
)
def test_pro_1_selection_never_takes_what_must_stay(carriers, keep, high_water, reserve):
    chosen = select(tuple(carriers), keep=keep, high_water=high_water, reserve=reserve)
    rest = [c for i, c in enumerate(carriers) if i not in set(chosen)]

    assert list(chosen) == sorted(set(chosen))
    assert not any(carriers[i].bound for i in chosen)
    assert {carriers[i].group for i in chosen}.isdisjoint(c.group for c in rest)
    if chosen:
        assert any(not carriers[i].summary for i in chosen)
        assert carriers[-1].summary or len(carriers) - 1 not in chosen, "the newest turn is kept"
    elif high_water is None and carriers:
        free = [c for c in carriers[: max(0, len(carriers) - keep)] if not c.bound and not c.summary]
        stay = {c.group for i, c in enumerate(carriers) if c.bound or (i >= len(carriers) - keep and not c.summary)}
        if keep == 1:
            assert all(c.group in stay for c in free)
