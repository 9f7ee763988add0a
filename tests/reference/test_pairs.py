"""STR-1: a call and its result are in the window together, or neither is, whatever leaves it and comes back."""

import pytest
from transcripts import fill, port, token_of, turn

from anchorhold_reference import Settings
from anchorhold_reference.pointer import unseal
from anchorhold_spec.vocabulary import AnswerKind, OutcomeKind, ToolCall

ONE = Settings(horizon=0, keep=1)


def call(n, *ids):
    """A turn that issues calls."""
    return turn(n, speaker="assistant", calls=tuple(ToolCall(id=i, name="run", arguments="") for i in ids))


def result(n, of):
    return turn(n, speaker="tool", result_of=of)


def shown(transcript):
    """The window: a summary as None."""
    return [item.turn for item in transcript.live()]


def each(transcript, *turns):
    """Every turn is found, and every original that is pointed to comes back."""
    for n in turns:
        assert transcript.reconstitute(f"db-{n}", "port").value == str(7000 + n)
    for pointer in transcript.pointers():
        assert transcript.get(pointer.token).source == pointer.covers[0]


@pytest.mark.parametrize("before", [0, 1, 2])
@pytest.mark.parametrize("after", [0, 1, 2])
def test_str_1_a_late_result_finds_its_call_wherever_that_stood(make, before, after):
    transcript = make(settings=ONE)
    fill(transcript, 1, before)
    at = before + 1
    transcript.append(call(at, "c"))
    transcript.append(result(at + 1, "c"))
    fill(transcript, at + 2, at + 2 + after)
    last = at + 2 + after
    transcript.compact()
    transcript.append(result(last + 1, "c"))

    assert sorted(filter(None, shown(transcript))) == sorted([f"t{at}", f"t{last}", f"t{last + 1}"])
    assert shown(transcript).index(f"t{at}") < shown(transcript).index(f"t{last}")
    each(transcript, *range(1, last + 2))
    fill(transcript, last + 2, last + 4)
    assert transcript.compact().kind is OutcomeKind.COMMITTED
    assert shown(transcript) == [None, f"t{last + 4}"]
    each(transcript, *range(1, last + 5))


def test_str_1_with_a_call_the_latest_results_of_its_turns_other_calls_come_back(make):
    transcript = make(settings=ONE)
    transcript.append(call(1, "a", "b"))
    for n, of in ((2, "a"), (3, "b"), (4, "b")):
        transcript.append(result(n, of))
    fill(transcript, 5, 6)
    transcript.compact()
    transcript.append(result(7, "a"))

    assert set(shown(transcript)) == {None, "t1", "t4", "t6", "t7"}
    fill(transcript, 8, 9)
    assert transcript.compact().covered == ("t1", "t4", "t6", "t7", "t8")


@pytest.mark.parametrize("when", ["model", "stage", "copy", "point", "commit", "release", "acknowledge"])
def test_str_1_a_result_that_comes_during_a_compaction_finds_the_call_that_it_replaces(make, script, when):
    def come():
        if "t6" not in shown(transcript):
            transcript.append(result(6, "c"))

    def write(request):
        if when == "model":
            come()
        return "The work went well."

    script.write = write
    transcript = make(settings=ONE, steps=lambda name: come() if name == when else None)
    fill(transcript, 1, 2)
    transcript.append(call(3, "c"))
    transcript.append(result(4, "c"))
    fill(transcript, 5, 5)

    assert transcript.compact().kind is OutcomeKind.COMMITTED
    assert shown(transcript) == [None, "t3", "t5", "t6"]
    transcript.reopen()
    assert shown(transcript) == [None, "t3", "t5", "t6"]
    each(transcript, *range(1, 7))


@pytest.mark.parametrize("to", range(1, 12))
def test_str_1_a_rewind_restores_what_late_results_had_brought_back_until_then_and_no_more(make, to):
    transcript = make(settings=ONE)
    windows = {}
    turns = [turn(1), call(2, "c", "d"), result(3, "c"), result(4, "d"), turn(5), turn(6)]
    turns += [result(7, "c"), turn(8), result(9, "d"), turn(10), turn(11)]
    for n, one in enumerate(turns, 1):
        transcript.append(one)
        windows[n] = [(i.kind, i.turn, i.text, i.covers) for i in transcript.live()]
        if n in {5, 8, 10}:
            transcript.compact()
    transcript.rewind(f"t{to}")

    assert [(i.kind, i.turn, i.text, i.covers) for i in transcript.live()] == windows[to]
    each(transcript, *range(1, to + 1))
    fill(transcript, 20, 22)
    assert transcript.compact().kind is OutcomeKind.COMMITTED
    each(transcript, *range(1, to + 1), 20, 21, 22)


@pytest.mark.parametrize("gone", ["t2", "t3", "t4"])
def test_str_1_a_rewind_leaves_no_half_whose_other_half_was_let_go(make, script, gone):
    script.say(*(port(n) for n in range(1, 7)))
    transcript = make(settings=ONE)
    for one in (turn(1), call(2, "c", "d"), result(3, "c"), result(4, "d"), turn(5), turn(6)):
        transcript.append(one)
    transcript.compact()
    assert transcript.evict(token_of(transcript, gone)).kind is OutcomeKind.COMMITTED
    transcript.rewind("t5")

    assert ("t2" in shown(transcript)) is (gone != "t2")
    if gone == "t2":
        assert shown(transcript) == ["t1", None, "t5"]
    each(transcript, *range(1, 6))


@pytest.mark.parametrize("gone", ["evict", "forget"])
def test_str_1_nor_a_call_whose_only_result_is_gone(make, script, gone):
    script.say(*(port(n) for n in range(1, 6)))
    transcript = make(settings=ONE)
    for one in (turn(1), call(2, "c"), result(3, "c"), turn(4), turn(5)):
        transcript.append(one)
    transcript.compact()
    if gone == "evict":
        assert transcript.evict(token_of(transcript, "t3")).kind is OutcomeKind.COMMITTED
    else:
        transcript.forget("t3")
    transcript.rewind("t4")

    assert shown(transcript) == ["t1", None, "t4"]
    assert transcript.reconstitute("db-2", "port", evidence=True).value == "7002"
    transcript.append(result(6, "c"))
    assert "t2" in shown(transcript)
    each(transcript, 1, 2, 4, 6)


def test_str_1_a_call_waits_again_for_a_result_that_was_taken_back(make):
    transcript = make(settings=ONE)
    for one in (turn(1), call(2, "c"), result(3, "c"), turn(4), turn(5)):
        transcript.append(one)
    transcript.compact()
    transcript.rewind("t2")
    fill(transcript, 6, 8)

    assert transcript.compact().covered == ("t1", "t6", "t7")
    transcript.append(result(9, "c"))
    assert shown(transcript) == [None, "t2", "t8", "t9"]


@pytest.mark.parametrize("first", ["forget", "answer"])
def test_str_1_the_call_of_two_is_there_though_the_result_of_one_was_forgotten(make, first):
    transcript = make(settings=ONE)
    for one in (turn(1), call(2, "c", "d"), result(3, "c")):
        transcript.append(one)
    if first == "forget":
        transcript.forget("t3")
        transcript.append(result(4, "d"))
        assert shown(transcript) == ["t1", "t2", "t4"]
    else:
        transcript.append(result(4, "d"))
        transcript.forget("t3")
        assert shown(transcript) == ["t1"]
        transcript.append(result(5, "d"))
        assert shown(transcript) == ["t1", "t2", "t5"]
    each(transcript, 1, 2, 4)
    fill(transcript, 6, 8)
    assert "t2" in transcript.compact().covered, "nothing else will come for the call of what was forgotten"
    each(transcript, 1, 2, 4, 6, 7, 8)


@pytest.mark.parametrize("where", ["window", "summary", "parted"])
def test_con_3_what_was_cleared_does_not_come_back_for_a_late_result(make, where):
    transcript = make(settings=ONE)
    for one in (turn(1), call(2, "c", "d"), result(3, "c"), result(4, "d")):
        transcript.append(one)
    if where == "summary":
        fill(transcript, 5, 6)
        transcript.compact()
    if where == "parted":
        transcript.forget("t4")
        assert shown(transcript) == ["t1"]
    transcript.clear()
    transcript.append(result(9, "c"))

    assert shown(transcript) == ["t9"]
    each(transcript, 1, 2, 3, 9)


def test_str_1_a_late_result_is_kept_though_its_call_is_damaged(make, behind):
    transcript = make(settings=ONE)
    transcript.append(call(1, "c"))
    transcript.append(result(2, "c"))
    fill(transcript, 3, 4)
    transcript.compact()
    behind.overwrite(b"{}", slot=unseal(token_of(transcript, "t1")).slot)
    transcript.append(result(5, "c"))

    assert shown(transcript) == [None, "t4", "t5"]
    assert transcript.search("7005").kind is AnswerKind.FOUND


@pytest.mark.parametrize("forgotten", ["t1", "t2", "t3"])
def test_str_2_a_summary_stands_once_whatever_was_forgotten_under_it(make, forgotten):
    transcript = make(settings=ONE)
    fill(transcript, 1, 4)
    transcript.compact()
    fill(transcript, 5, 5)
    transcript.forget(forgotten)
    transcript.rewind("t5")

    assert shown(transcript) == [None, "t4", "t5"]
    fill(transcript, 6, 8)
    assert transcript.compact().kind is OutcomeKind.COMMITTED
    each(transcript, *({*range(1, 9)} - {int(forgotten[1:])}))
