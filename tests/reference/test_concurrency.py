import threading

import pytest
from transcripts import fill, port

from anchorhold_reference import Reply, Settings
from anchorhold_reference.recovery import recover
from anchorhold_spec.vocabulary import AnswerKind, CarrierKind, OutcomeKind, Turn


@pytest.mark.parametrize("appended", [1, 2, 50])
@pytest.mark.parametrize("by", ["the same transcript", "another transcript", "another thread"])
def test_con_1_turns_appended_while_the_summary_is_written_survive_in_order(make, script, appended, by):
    transcript = make()
    fill(transcript, 1, 8)
    other = make() if by == "another transcript" else transcript

    def write(request):
        if by == "another thread":
            thread = threading.Thread(target=fill, args=(other, 9, 8 + appended))
            thread.start()
            thread.join(timeout=30)
            assert not thread.is_alive(), "appending waits for the summariser"
        else:
            fill(other, 9, 8 + appended)
        return "The first part is done."

    script.write = write
    outcome = transcript.compact()
    live = transcript.live()

    assert outcome.covered == tuple(f"t{n}" for n in range(1, 7))
    assert live[0].kind is CarrierKind.SUMMARY
    assert [(i.turn, i.text) for i in live[1:]] == [(f"t{n}", port(n)) for n in range(7, 9 + appended)]


@pytest.mark.parametrize("step", ["stage", "copy", "point", "commit", "release", "acknowledge"])
def test_con_1_turns_appended_between_the_steps_survive(make, step):
    transcript = None

    def steps(name):
        if name == step:
            fill(transcript, 9, 10)

    transcript = make(steps=steps)
    fill(transcript, 1, 8)
    transcript.compact()

    assert [i.turn for i in transcript.live()[1:]] == ["t7", "t8", "t9", "t10"]


def test_con_2_of_two_compactions_of_overlapping_ranges_one_commits(make, script):
    first, second = make(), make()
    fill(first, 1, 8)
    outcomes = {}

    def write(request):
        if len(script.shown) == 1:  # the first one is being written: the second overtakes it
            outcomes["second"] = second.compact()
            return "The slower one is done."
        return "The faster one is done."

    script.write = write
    outcomes["first"] = first.compact()

    assert outcomes["second"].kind is OutcomeKind.COMMITTED
    assert outcomes["first"].kind is OutcomeKind.REFUSED
    assert "CON-2" in outcomes["first"].reason
    summaries = [i for i in first.live() if i.kind is CarrierKind.SUMMARY]
    assert len(summaries) == 1
    assert len(first.pointers()) == 6
    assert first.compact().kind is OutcomeKind.NOTHING


@pytest.mark.parametrize("step", ["copy", "point", "commit"])
def test_con_2_nor_while_one_of_them_is_between_its_steps(make, script, step):
    outcomes = []

    def steps(name):
        if name == step:
            outcomes.append(second.compact())

    second = make()
    first = make(steps=steps)
    fill(first, 1, 8)

    assert first.compact().kind is OutcomeKind.COMMITTED
    assert [o.kind for o in outcomes] == [OutcomeKind.REFUSED]
    assert len(first.pointers()) == 6


def test_con_2_one_transcript_has_one_compaction_at_a_time(make, script):
    transcript = make()
    fill(transcript, 1, 8)
    inner = []

    def write(request):
        inner.append(transcript.compact())
        return "The first part is done."

    script.write = write
    assert transcript.compact().kind is OutcomeKind.COMMITTED
    assert [o.kind for o in inner] == [OutcomeKind.REFUSED]


@pytest.mark.parametrize("step", ["copy", "point", "commit", "release"])
def test_cra_2_opening_the_session_leaves_the_compaction_of_somebody_alive_alone(make, step):
    def steps(name):
        if name == step:
            make()

    transcript = make(steps=steps)
    fill(transcript, 1, 8)

    assert transcript.compact().kind is OutcomeKind.COMMITTED
    assert len(transcript.pointers()) == 6


def test_con_2_a_compaction_that_a_recovery_undid_changes_nothing_and_says_so(make, monkeypatch):
    """An opening that is taken for dead: its lock was lost, as by a network file system."""

    def steps(name):
        if name == "commit":
            other = make()
            monkeypatch.setattr(other._ledger, "alive", lambda _opening: False)
            recover(other._ledger, other._session.id)

    transcript = make(steps=steps)
    fill(transcript, 1, 8)
    before = transcript.live()
    outcome = transcript.compact()

    assert outcome.kind is OutcomeKind.REFUSED
    assert "CRA-2" in outcome.reason
    assert transcript.live() == before


def test_con_1_threads_appending_reading_and_compacting_lose_nothing(make, script):
    transcript = make(settings=Settings(horizon=0, budget=300, watermark=0.5, keep=2))
    errors = []

    def guarded(work):
        def run():
            try:
                work()
            except Exception as error:  # noqa: BLE001 - handed to the assertion below
                errors.append(error)

        return threading.Thread(target=run)

    def append(worker):
        for n in range(30):
            transcript.append(Turn(id=f"w{worker}-{n}", speaker="user", text=f"w{worker}: n{n} = {n}."))

    def compact():
        for _ in range(15):
            assert transcript.compact().kind is not OutcomeKind.FAILED

    def read():
        for _ in range(15):
            for pointer in transcript.pointers()[:5]:
                assert transcript.get(pointer.token).kind is AnswerKind.FOUND

    threads = [guarded(lambda w=w: append(w)) for w in range(3)] + [guarded(compact), guarded(read)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == []
    held = [i.turn for i in transcript.live() if i.turn] + [p.covers[0] for p in transcript.pointers()]
    assert sorted(held) == sorted(f"w{w}-{n}" for w in range(3) for n in range(30))
    for worker in range(3):
        mine = [int(t.split("-")[1]) for t in held if t.startswith(f"w{worker}-")]
        live = [int(i.turn.split("-")[1]) for i in transcript.live() if i.turn and i.turn.startswith(f"w{worker}-")]
        assert live == sorted(live)
        assert len(set(mine)) == 30


def test_con_1_the_summariser_may_be_given_any_reply_object(make):
    transcript = make(summarise=lambda request: Reply(text="Done so far.", finish="end_turn"))
    fill(transcript, 1, 6)
    assert transcript.compact().kind is OutcomeKind.COMMITTED
