"""OUT-3, PRO-2: a turn whose bytes were changed in the window is told, stays, and stands in nobody else's way."""

import pytest
from transcripts import fill

from anchorhold_reference import Settings
from anchorhold_reference.codec import encode
from anchorhold_spec.vocabulary import AnswerKind, OutcomeKind, ToolCall, Turn

DAMAGE = {
    "a letter differs": lambda payload: payload.replace(b"7003", b"7999"),
    "no turn": lambda payload: b"\0",
    "nothing": lambda payload: b"",
    "cut short": lambda payload: payload[:-4],
    "not UTF-8": lambda payload: payload[:-4] + b"\xff\xff\xff\xff",
    "of another turn": lambda payload: encode(Turn(id="t5", speaker="user", text="The port of db-5 is 7003.")),
    "lost": lambda payload: None,
    "an empty header": lambda payload: b"{}",
    "another header": lambda payload: b'{"id": 1}\nx',
    "a header that is a list": lambda payload: b"[]\n",
    "a header of other types": lambda payload: b'{"text":{},"calls":3,"data":[]}\n',
}


def damage(behind, turn, change):
    ((before,),) = behind.query("SELECT payload FROM turn WHERE id = ?", (turn,))
    behind.query("UPDATE turn SET payload = ? WHERE id = ?", (change(bytes(before)), turn))
    return bytes(before)


@pytest.fixture(params=DAMAGE.values(), ids=DAMAGE.keys())
def damaged(request, make, behind):
    transcript = make(clock=lambda: 50.0)
    fill(transcript, 1, 6)
    before = damage(behind, "t3", request.param)
    transcript.reopen()
    return transcript, before


def test_out_3_the_status_names_the_turn_until_it_is_right_again(damaged, behind):
    transcript, before = damaged
    status = transcript.status()
    assert not status.lossless
    assert status.since == 50.0
    assert "'t3'" in str(status.reasons)

    behind.query("UPDATE turn SET payload = ? WHERE id = ?", (before, "t3"))
    assert transcript.repair().lossless
    assert "7003" in transcript.search("7003").text


def test_epo_3_the_window_shows_the_turn_and_no_bytes_that_are_not_its_own(damaged):
    transcript, _ = damaged
    items = transcript.live()
    assert [item.turn for item in items] == [f"t{i}" for i in range(1, 7)]
    assert (items[2].text, items[2].data) == (None, b"")
    assert transcript.manifest(items[2].id) == []


def test_pro_2_the_other_turns_are_compacted_and_it_stays(damaged):
    transcript, _ = damaged
    assert transcript.compact().kind is OutcomeKind.COMMITTED
    assert "t3" in [item.turn for item in transcript.live()]
    assert "7002" in transcript.search("7002").text

    fill(transcript, 7, 12)
    assert transcript.compact().kind is OutcomeKind.COMMITTED
    assert "t3" in [item.turn for item in transcript.live()]


def test_ret_3_lossy_eviction_stops_until_the_loss_is_accepted(damaged):
    transcript, _ = damaged
    transcript.compact()
    token = transcript.pointer("t1").token
    refused = transcript.evict(token)
    assert refused.kind is OutcomeKind.REFUSED
    assert "'t3'" in refused.reason

    assert transcript.override("seen to").kind is OutcomeKind.COMMITTED
    assert not transcript.status().stopped


def test_rec_4_other_reads_answer_and_negative_ones_are_degraded(damaged):
    transcript, _ = damaged
    assert transcript.search("7004").kind is AnswerKind.FOUND
    assert transcript.reconstitute("db-4", "port").value == "7004"
    for answer in (
        transcript.search("7003"),
        transcript.search("7999"),
        transcript.search("()"),
        transcript.search("never said"),
        transcript.reconstitute("db-3", "port"),
    ):
        assert answer.kind is AnswerKind.DEGRADED
        assert "t3" in answer.reason


def test_era_1_forgetting_it_ends_the_damage(damaged):
    transcript, _ = damaged
    transcript.status()
    assert transcript.forget("t3").kind is OutcomeKind.COMMITTED
    status = transcript.status()
    assert status.lossless
    assert status.since is None
    assert transcript.search("never said").kind is not AnswerKind.DEGRADED


def test_con_3_the_window_can_be_cleared_and_the_loss_is_told(damaged):
    transcript, _ = damaged
    transcript.clear()
    assert transcript.live() == []
    assert not transcript.status().lossless
    assert transcript.search("7004").kind is AnswerKind.FOUND
    assert transcript.search("never said").kind is AnswerKind.DEGRADED


def test_iso_1_a_fork_goes_on_and_knows_of_the_damage(damaged):
    transcript, _ = damaged
    with transcript.fork("other") as other:
        assert not other.status().lossless
        assert other.compact().kind is OutcomeKind.COMMITTED
        assert "t3" in [item.turn for item in other.live()]
        other.rewind("t4")
        assert "t3" in [item.turn for item in other.live()]


@pytest.mark.parametrize("damaged_turn", ["call", "result"])
def test_str_1_a_damaged_half_keeps_the_other_half_beside_it(make, behind, damaged_turn):
    transcript = make(settings=Settings(keep=1))
    transcript.append(
        Turn(id="call", speaker="assistant", text="Look.", calls=(ToolCall(id="c", name="ls", arguments="{}"),))
    )
    transcript.append(Turn(id="result", speaker="tool", text="It has 7003 rows.", result_of="c"))
    fill(transcript, 4, 6)
    damage(behind, damaged_turn, lambda payload: b"\0")
    transcript.reopen()

    assert transcript.compact().kind is OutcomeKind.COMMITTED
    assert {"call", "result"} <= {item.turn for item in transcript.live()}


def test_out_3_damage_while_it_is_open_is_noticed_where_it_is_read(make, behind):
    transcript = make()
    fill(transcript, 1, 6)
    transcript.live()
    damage(behind, "t3", lambda payload: payload.replace(b"7003", b"7999"))

    assert transcript.compact().kind is OutcomeKind.COMMITTED
    assert transcript.live()[1].turn == "t3"
    assert not transcript.status().lossless


def test_ret_3_a_repair_takes_the_turn_from_the_original_that_another_branch_has(make, behind):
    transcript = make()
    fill(transcript, 1, 6)
    with transcript.fork("other") as other:
        assert other.compact().kind is OutcomeKind.COMMITTED
    damage(behind, "t3", lambda payload: b"\0")
    transcript.reopen()
    assert not transcript.status().lossless

    assert transcript.repair().lossless
    assert "7003" in transcript.live()[2].text
