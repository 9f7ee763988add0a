"""CON-3, ISO-1: clear, rewind and fork; nothing that was taken back comes back, nothing of a branch crosses over."""

import pytest
from transcripts import fill, port, token_of, turn

from anchorhold_reference import BranchExistsError, Settings, UnknownTurnError
from anchorhold_spec.vocabulary import AnswerKind, CarrierKind, OutcomeKind


def ids(transcript):
    return [item.turn for item in transcript.live()]


def each(transcript, first, last):
    """Every turn of a range is there verbatim, in the window or one step away."""
    held = [i.turn for i in transcript.live() if i.turn]
    for pointer in transcript.pointers():
        assert transcript.get(pointer.token).source == pointer.covers[0]
        held.append(pointer.covers[0])
    assert sorted(held) == sorted(f"t{n}" for n in range(first, last + 1))
    for n in range(first, last + 1):
        assert transcript.reconstitute(f"db-{n}", "port", evidence=True).value == str(7000 + n)


# -- clear --


def test_con_3_a_clear_empties_the_window_and_originals_can_still_be_asked_for(make, script):
    script.say(port(1))
    transcript = make()
    fill(transcript, 1, 6)
    transcript.compact()
    transcript.evict(token_of(transcript, "t1"))
    fill(transcript, 7, 8)
    transcript.clear()

    assert transcript.live() == []
    assert transcript.pointers() == []
    for n in range(2, 9):
        assert transcript.reconstitute(f"db-{n}", "port", evidence=True).value == str(7000 + n)
    assert transcript.reconstitute("db-1", "port").value == "7001"
    assert transcript.search("7001").kind is AnswerKind.FOUND
    (held,) = transcript._ledger.one("SELECT count(*) FROM turn WHERE payload IS NOT NULL")
    assert held == 0
    fill(transcript, 9, 14)
    assert transcript.compact().covered == ("t9", "t10", "t11", "t12")
    assert ids(transcript) == [None, "t13", "t14"]


@pytest.mark.parametrize("when", ["model", "copy", "point", "commit"])
@pytest.mark.parametrize("how", ["clear", "rewind"])
def test_con_3_a_compaction_under_way_brings_nothing_back(make, script, when, how):
    def withdraw():
        if how == "clear":
            transcript.clear()
        else:
            transcript.rewind("t3")

    def steps(name):
        if name == when:
            withdraw()

    def write(request):
        if when == "model":
            withdraw()
        return f"Part {len(script.shown)}.\n{port(4)}"

    script.write = write
    transcript = make(steps=steps)
    fill(transcript, 1, 6)
    outcome = transcript.compact()

    assert outcome.kind is OutcomeKind.REFUSED
    assert "CON-3" in outcome.reason
    assert ids(transcript) == ([] if how == "clear" else ["t1", "t2", "t3"])
    transcript.reopen()
    assert ids(transcript) == ([] if how == "clear" else ["t1", "t2", "t3"])
    if how == "rewind":
        assert transcript.search("7004").kind is AnswerKind.ABSENT


def test_con_3_a_clear_does_not_wait_for_the_cold_store(make):
    transcript = make()
    transcript.hold_copies(True)
    fill(transcript, 1, 4)
    transcript.clear()

    assert transcript.live() == []
    assert transcript.reconstitute("db-1", "port", evidence=True).value == "7001"
    transcript.settle()
    assert transcript.reconstitute("db-1", "port", evidence=True).value == "7001"
    assert transcript.status().pending == 0


# -- rewind --


@pytest.mark.parametrize("to", range(1, 12))
def test_con_3_a_rewind_restores_the_window_of_then(make, script, to):
    """Two generations over 1-9, then 10 and 11."""
    transcript = make()
    windows = {}
    for n in range(1, 12):
        fill(transcript, n, n)
        windows[n] = [(i.kind, i.text, i.covers) for i in transcript.live()]
        if n in {5, 9}:
            transcript.compact()
    tokens = {p.covers[0]: p.token for p in transcript.pointers()}
    transcript.rewind(f"t{to}")

    assert [(i.kind, i.text, i.covers) for i in transcript.live()] == windows[to]
    each(transcript, 1, to)
    for n in range(to + 1, 12):
        assert transcript.search(str(7000 + n)).kind is AnswerKind.ABSENT
        assert transcript.reconstitute(f"db-{n}", "port").kind is AnswerKind.ABSENT
        if f"t{n}" in tokens:
            assert transcript.get(tokens[f"t{n}"]).kind is AnswerKind.FOREIGN
    transcript.reopen()
    for n in range(to + 1, 20):
        transcript.append(turn(n))
    transcript.compact()
    each(transcript, 1, 19)


def test_con_3_a_turn_of_the_same_id_may_come_anew_after_a_rewind(make):
    transcript = make()
    fill(transcript, 1, 4)
    transcript.rewind("t2")
    transcript.append(turn(3, "The port of db-3 is 9999."))

    assert transcript.reconstitute("db-3", "port").value == "9999"
    assert transcript.search("7003").kind is AnswerKind.ABSENT


def test_anc_1_a_rewind_carries_on_what_only_a_summary_says(make, script):
    script.say(port(1), port(2))
    transcript = make()
    fill(transcript, 1, 6)
    transcript.compact()
    assert transcript.evict(token_of(transcript, "t2")).kind is OutcomeKind.COMMITTED
    transcript.rewind("t5")

    live = transcript.live()
    assert [i.turn for i in live] == ["t1", None, "t3", "t4", "t5"]
    assert port(2) in live[1].text
    assert transcript.reconstitute("db-2", "port").value == "7002"
    assert transcript.reconstitute("db-2", "port", evidence=True).kind is AnswerKind.INSUFFICIENT
    fill(transcript, 6, 9)
    assert transcript.compact().kind is OutcomeKind.COMMITTED
    assert transcript.reconstitute("db-2", "port").value == "7002"


def test_con_3_a_rewind_to_before_a_clear_does_not_undo_it(make):
    transcript = make()
    for n in range(1, 9):
        fill(transcript, n, n)
        if n in {5, 7}:
            transcript.compact()
    transcript.clear()
    fill(transcript, 9, 10)
    transcript.rewind("t6")

    assert transcript.live() == []
    assert transcript.reconstitute("db-2", "port", evidence=True).value == "7002"
    assert transcript.reconstitute("db-8", "port").kind is AnswerKind.ABSENT


def test_con_3_a_rewind_to_nowhere_changes_nothing(make):
    transcript = make()
    fill(transcript, 1, 4)
    with pytest.raises(UnknownTurnError, match="t9"):
        transcript.rewind("t9")
    assert ids(transcript) == ["t1", "t2", "t3", "t4"]


# -- fork --


def test_iso_1_a_branch_begins_with_the_past_and_neither_sees_what_the_other_appends(make):
    main = make()
    fill(main, 1, 8)
    main.compact()
    before = main.live()
    with main.fork("side") as side:
        assert side.live() == before
        fill(main, 9, 12)
        for n in range(20, 24):
            side.append(turn(n))
        main.compact()
        side.compact()
        fill(main, 13, 14)
        each(main, 1, 14)
        assert sorted(p.covers[0] for p in side.pointers()) == sorted(
            ["t1", "t2", "t3", "t4", "t5", "t6", "t7", "t8", "t20", "t21"]
        )
        for n in range(9, 15):
            assert side.search(str(7000 + n)).kind is AnswerKind.ABSENT
            assert side.reconstitute(f"db-{n}", "port").kind is AnswerKind.ABSENT
        for n in range(20, 24):
            assert main.search(str(7000 + n)).kind is AnswerKind.ABSENT
        mine = {p.covers[0]: p.token for p in main.pointers()}
        assert {"t9", "t10"} < mine.keys()
        for turn_id in ("t9", "t10"):
            assert side.get(mine[turn_id]).kind is AnswerKind.FOREIGN
        assert side.get(mine["t2"]).source == "t2"
        with pytest.raises(BranchExistsError):
            main.fork("side")
    main.close()
    side = make(branch="side")
    assert side.search("7021").kind is AnswerKind.FOUND


def test_iso_1_a_fork_copies_the_window_and_not_the_past(make, behind):
    transcript = make(settings=Settings(horizon=0, budget=400, watermark=0.5, keep=2))
    for n in range(1, 120):
        transcript.append(turn(n))
        transcript.compact()

    def rows():
        return sum(len(found) for found in behind.state().values())

    before, window = rows(), len(transcript.live())
    transcript.fork("side").close()

    assert rows() - before <= window + 5


@pytest.mark.parametrize("first", ["main", "side"])
def test_anc_1_a_branch_s_gate_looks_at_the_other_branch_too(make, script, first):
    """One branch's summary repeats the fact, the other's does not: the original stays for the other."""
    main = make()
    fill(main, 1, 4)
    with main.fork("side") as side:
        fill(main, 5, 6)
        fill(side, 7, 8)
        script.say(port(1))
        main.compact()
        assert main.evict(token_of(main, "t1")).kind is OutcomeKind.REFUSED  # side has it in its window
        script.say("Nothing of note.")
        side.compact()
        one = main if first == "main" else side
        assert one.evict(token_of(one, "t1")).kind is OutcomeKind.REFUSED
        assert side.reconstitute("db-1", "port", evidence=True).value == "7001"
        assert main.reconstitute("db-1", "port", evidence=True).value == "7001"


def test_iso_1_rewinding_a_branch_below_its_fork_leaves_the_parent_as_it_is(make):
    main = make()
    fill(main, 1, 8)
    main.compact()
    fill(main, 9, 10)
    with main.fork("side") as side:
        fill(side, 11, 12)
        side.rewind("t3")
        assert ids(side) == ["t1", "t2", "t3"]
        each(main, 1, 10)
        side.append(turn(4, "The port of db-4 is 9999."))
        assert side.reconstitute("db-4", "port").value == "9999"
        assert main.reconstitute("db-4", "port").value == "7004"
        with side.fork("further") as further:
            fill(further, 20, 24)
            further.compact()
            assert further.reconstitute("db-4", "port").value == "9999"
            assert further.reconstitute("db-2", "port", evidence=True).value == "7002"
            main.rewind("t5")
            assert ids(main) == ["t1", "t2", "t3", "t4", "t5"]
            assert further.reconstitute("db-2", "port", evidence=True).value == "7002"


def test_iso_1_both_branches_compact_the_same_span_and_each_has_a_pointer(make):
    main = make()
    fill(main, 1, 6)
    with main.fork("side") as side:
        main.compact()
        side.compact()
        assert [p.covers for p in side.pointers()] == [p.covers for p in main.pointers()]
        each(side, 1, 6)
        each(main, 1, 6)
        assert all(i.kind is CarrierKind.RAW or i.covers for i in side.live())


def test_man_4_a_tombstone_of_one_branch_is_none_of_the_other_s(make):
    main = make()
    fill(main, 1, 6)
    with main.fork("side") as side:
        side.tombstone("7001", "t1", "not any more")
        assert side.reconstitute("db-1", "port").kind is AnswerKind.TOMBSTONED
        assert main.reconstitute("db-1", "port").value == "7001"


# -- what only a summary says, and what was decided --


@pytest.mark.parametrize("to", range(1, 10))
@pytest.mark.parametrize("cleared", [False, True])
def test_anc_1_a_rewind_loses_nothing_that_only_a_summary_says(make, script, to, cleared):
    """Two generations over 1-8, every original that may go gone, before and after a clear."""
    script.say(*(port(n) for n in range(1, 10)))
    transcript = make(settings=Settings(horizon=0, keep=1))
    for n in range(1, 10):
        fill(transcript, n, n)
        if n in {5, 9}:
            transcript.compact()
            tokens = {p.covers[0]: p.token for p in transcript.pointers()}
            if cleared and n == 9:
                transcript.clear()
            for token in tokens.values():
                assert transcript.evict(token).kind is OutcomeKind.COMMITTED
    for last in (to, max(1, to - 1)):
        transcript.rewind(f"t{last}")
        if cleared:
            assert transcript.live() == []
        for n in range(1, last + 1):
            assert transcript.reconstitute(f"db-{n}", "port").value == str(7000 + n)
            assert transcript.search(str(7000 + n)).kind is AnswerKind.FOUND
    fill(transcript, 20, 23)
    assert transcript.compact().kind is OutcomeKind.COMMITTED
    for n in (*range(1, last + 1), 20, 21, 22, 23):
        assert transcript.reconstitute(f"db-{n}", "port").value == str(7000 + n)


def test_anc_1_nor_what_a_later_summary_says_for_an_earlier_turn(make, script):
    """The first summary does not say it; the second does, for another turn's sake, and the original goes."""
    transcript = make(settings=Settings(horizon=0, keep=1))
    fill(transcript, 1, 3)
    transcript.compact()
    fill(transcript, 4, 4)
    transcript.append(turn(5, port(1)))
    fill(transcript, 6, 6)
    script.say(port(1))
    transcript.compact()
    assert transcript.evict(token_of(transcript, "t1")).kind is OutcomeKind.COMMITTED
    transcript.rewind("t4")

    assert transcript.reconstitute("db-1", "port").value == "7001"
    assert transcript.live()[0].covers == ("t1", "t2")
    fill(transcript, 7, 9)
    assert transcript.compact().kind is OutcomeKind.COMMITTED
    assert transcript.reconstitute("db-1", "port").value == "7001"


@pytest.mark.parametrize("evicted", [False, True])
def test_man_4_a_decision_that_names_what_was_taken_back_is_taken_back(make, evicted):
    transcript = make(settings=Settings(horizon=0, keep=1))
    transcript.append(turn(1, "The owner of job J-1 is bob."))
    fill(transcript, 2, 3)
    if evicted:
        transcript.compact()
    transcript.append(turn(4, "The owner of job J-1 is eve."))
    assert transcript.tombstone("bob", "t1", "superseded", superseded_by="t4").kind is OutcomeKind.COMMITTED
    assert transcript.tombstone("eve", "t4", "a slip").kind is OutcomeKind.COMMITTED
    if evicted:
        assert transcript.evict(token_of(transcript, "t1")).kind is OutcomeKind.COMMITTED
    transcript.rewind("t3")

    answer = transcript.reconstitute("job J-1", "owner")
    left = [(one.source, one.superseder) for one in transcript.tombstones()]
    if evicted:  # nothing holds it any more, and its loss stays on record
        assert (answer.kind, left) == (AnswerKind.TOMBSTONED, [("t1", None)])
    else:
        assert (answer.kind, answer.value, left) == (AnswerKind.FOUND, "bob", [])
    assert transcript.status().tombstones == len(left)
