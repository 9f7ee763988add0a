import pytest
from transcripts import fill, port, token_of, turn

from anchorhold_reference import Settings
from anchorhold_reference.errors import NotUnicodeError
from anchorhold_reference.extract import stands_in
from anchorhold_spec.vocabulary import AnswerKind, OutcomeKind, ToolCall, Turn


def test_rec_1_a_slot_is_answered_by_what_was_said_of_exactly_it(make):
    transcript = make()
    fill(transcript, 1, 12)
    transcript.compact()
    answer = transcript.reconstitute("db-1", "port")

    assert (answer.kind, answer.value, answer.source, answer.text) == (AnswerKind.FOUND, "7001", "t1", port(1))
    assert transcript.reconstitute("DB-1", " Port ").source == "t1"
    assert transcript.reconstitute("the db-1", "port").source == "t1"


@pytest.mark.parametrize(
    ("subject", "attribute"), [("db", "port"), ("db-", "port"), ("db-111", "port"), ("db-1", "ports"), ("1", "port")]
)
@pytest.mark.parametrize("compacted", [True, False])
def test_rec_1_never_a_neighbour(make, subject, attribute, compacted):
    transcript = make()
    fill(transcript, 1, 12)
    if compacted:
        transcript.compact()
    answer = transcript.reconstitute(subject, attribute)

    assert answer.kind in {AnswerKind.ABSENT, AnswerKind.UNANCHORED}
    assert (answer.text, answer.value) == (None, None)


@pytest.mark.parametrize("literal", ["700", "db-", "b-1", "70011", "7001.5", "port of db", "port of db-1"])
def test_rec_1_a_literal_is_found_as_a_whole_or_not_at_all(make, literal):
    transcript = make()
    fill(transcript, 1, 3)
    found = transcript.search(literal).kind

    assert found is (AnswerKind.FOUND if literal == "port of db-1" else AnswerKind.ABSENT)


@pytest.mark.parametrize(
    ("text", "literal", "stands"),
    [
        ("job J-88 ran", "J-8", False),
        ("job J-88 ran", "J-88", True),
        ("J-88-b ran", "J-88", False),
        ("in /srv/a/b", "/srv/a", False),
        ("in /srv/a.", "/srv/a", True),
        ("took 30.5 s", "30", False),
        ("took 30. Then", "30", True),
        ("1,300 rows", "300", False),
        ("30, 40", "30", True),
        ("a_b", "a", False),
        ("v1.2.3", "1.2", False),
        ("xx then x", "x", True),
        ("“not 80”", "not 80", True),
        ("anything", "", False),
    ],
)
def test_rec_1_what_it_means_to_stand_in_a_text(text, literal, stands):
    assert (stands_in(text, literal) >= 0) is stands


def test_rec_1_what_only_a_summary_invents_is_no_content(make, script):
    script.say("The audit port of ghost-1 is 61000.")
    transcript = make()
    fill(transcript, 1, 5)
    transcript.compact()

    assert transcript.search("61000").kind is AnswerKind.INSUFFICIENT
    assert transcript.search("61000").text is None
    assert transcript.reconstitute("ghost-1", "audit port").kind is AnswerKind.ABSENT


def test_rec_1_the_newest_value_answers_and_says_that_there_are_others(make):
    transcript = make()
    transcript.append(turn(1, "The port of db is 80."))
    fill(transcript, 2, 4)
    transcript.append(turn(5, "db: port = 81."))
    fill(transcript, 6, 8)
    transcript.compact()
    answer = transcript.reconstitute("db", "port")

    assert (answer.value, answer.source) == ("81", "t5")
    assert "earlier" in answer.reason
    assert transcript.search("80").source == "t1"


def test_rec_1_a_denied_value_does_not_answer(make):
    transcript = make()
    transcript.append(turn(1, "The port of db is 80."))
    transcript.append(turn(2, "The port of db is 81."))
    transcript.append(turn(3, "The port of db is not 81."))
    assert transcript.reconstitute("db", "port").value == "80"
    transcript.append(turn(4, "The port of db is not 80."))
    answer = transcript.reconstitute("db", "port")

    assert (answer.value, answer.text) == ("not 80", "The port of db is not 80.")


def test_rec_2_the_answers_are_told_apart(make, script):
    script.say(port(1), port(2))
    transcript = make()
    fill(transcript, 1, 7)
    transcript.append(turn(8, "Nothing to see here."))
    fill(transcript, 9, 10)
    transcript.compact()
    carried, narrative = token_of(transcript, "t1"), token_of(transcript, "t8")
    assert transcript.evict(carried).kind is OutcomeKind.COMMITTED
    assert transcript.get(carried).kind is AnswerKind.INSUFFICIENT
    transcript.tombstone("7003", "t3", "not needed")
    dropped = token_of(transcript, "t3")
    assert transcript.evict(dropped).kind is OutcomeKind.COMMITTED

    assert transcript.get(token_of(transcript, "t2")).kind is AnswerKind.FOUND
    assert transcript.get(dropped).kind is AnswerKind.TOMBSTONED
    assert "not needed" in transcript.get(dropped).reason
    assert transcript.get("nonsense").kind is AnswerKind.FOREIGN
    assert transcript.search("7003").kind is AnswerKind.TOMBSTONED
    assert transcript.reconstitute("db-3", "port").kind is AnswerKind.TOMBSTONED
    assert transcript.reconstitute("db-3", "port").reason == "not needed"
    assert narrative


def test_rec_2_an_original_without_assertions_that_was_let_go_is_unanchored(make):
    transcript = make()
    transcript.append(turn(1, "Hello there."))
    fill(transcript, 2, 5)
    transcript.compact()
    token = token_of(transcript, "t1")
    assert transcript.evict(token).kind is OutcomeKind.COMMITTED

    assert transcript.get(token).kind is AnswerKind.UNANCHORED
    assert transcript.search("Hello there").kind is AnswerKind.UNANCHORED


def test_rec_2_a_dropped_value_does_not_give_way_to_an_older_one(make):
    transcript = make()
    transcript.append(turn(1, "The port of db is 80."))
    transcript.append(turn(2, "The port of db is 81."))
    transcript.tombstone("81", "t2", "secret")

    assert transcript.reconstitute("db", "port").kind is AnswerKind.TOMBSTONED


def test_rec_3_an_original_comes_back_byte_and_type_equal(make):
    texts = ["plain", "tab\tand\r\nline", "ünïcödé 漢字 🎈", " leading", "trailing \n", "", "x" * 100_000, 'q"uote\\']
    call = ToolCall(id="c", name="run", arguments='{"cmd": "ls -la \\"/srv\\""}')
    transcript = make(settings=Settings(horizon=0, keep=1))
    turns = [Turn(id=f"t{n}", speaker="user", text=text, time=1.5 * n) for n, text in enumerate(texts)]
    turns.append(Turn(id="call", speaker="assistant", calls=(call,), status="consumed"))
    turns.append(Turn(id="result", speaker="tool", text="done", result_of="c"))
    for one in turns:
        transcript.append(one)
    transcript.append(turn(99))
    transcript.compact()

    for one in turns:
        if one.calls:
            assert call.arguments in transcript.get(token_of(transcript, one.id)).text
        else:
            assert transcript.get(token_of(transcript, one.id)).text == one.text


def test_rec_4_absent_only_where_everything_was_read_and_nothing_was_let_go(make):
    transcript = make()
    transcript.append(turn(1, "Plain talk."))
    fill(transcript, 2, 5)
    assert transcript.search("J-1").kind is AnswerKind.ABSENT
    assert transcript.reconstitute("J-1", "target").kind is AnswerKind.ABSENT
    transcript.compact()
    assert transcript.search("J-1").kind is AnswerKind.ABSENT
    transcript.evict(token_of(transcript, "t1"))

    assert transcript.search("J-1").kind is AnswerKind.UNANCHORED
    assert transcript.reconstitute("J-1", "target").kind is AnswerKind.UNANCHORED


def test_rec_4_a_span_that_cannot_be_read_makes_the_answer_degraded(make):
    transcript = make()
    transcript.append(Turn(id="image", speaker="user", data=b"\xff\x00"))
    fill(transcript, 1, 2)

    for answer in (transcript.search("J-1"), transcript.reconstitute("J-1", "target")):
        assert answer.kind is AnswerKind.DEGRADED
        assert "image" in answer.reason


def test_rec_4_spoken_of_in_another_form_is_not_absent(make):
    transcript = make()
    transcript.append(turn(1, "Kelvo's target would be /srv/a7, I guess."))

    assert transcript.reconstitute("kelvo", "target").kind is AnswerKind.UNANCHORED


def test_iso_1_nothing_of_another_session_user_or_branch_is_reached(make):
    mine = make(user="ana", session="s")
    fill(mine, 1, 5)
    mine.compact()
    token = token_of(mine, "t1")
    for identity in ({"user": "ben"}, {"session": "z"}, {"branch": "side"}):
        other = make(**{"user": "ana", "session": "s", "branch": "main", **identity})
        assert other.live() == []
        assert other.pointers() == []
        assert other.get(token).kind is AnswerKind.FOREIGN
        assert other.evict(token).kind is OutcomeKind.REFUSED
        assert other.search("7001").kind is AnswerKind.ABSENT
        assert other.reconstitute("db-1", "port").kind is AnswerKind.ABSENT
        assert other.tombstone("7001", "t1", "mine").kind is OutcomeKind.REFUSED
        assert other.status().turns == 0
        other.append(turn(1, "The port of db-1 is 9.", speaker="user"))
        assert other.reconstitute("db-1", "port").value == "9"
    assert mine.get(token).text == port(1)
    assert mine.reconstitute("db-1", "port").value == "7001"


def test_iso_1_the_summariser_is_shown_nothing_of_another_session(make, script):
    one, two = make(session="one"), make(session="two")
    for n in range(1, 6):
        one.append(turn(n, f"secret-{n} of one"))
        two.append(turn(n, f"thing-{n} of two"))
    two.compact()

    assert "thing-1" in "".join(script.shown[0])
    assert "secret" not in "".join(script.shown[0])


@pytest.mark.parametrize("compacted", [False, True])
@pytest.mark.parametrize(
    ("said", "literal"),
    [
        ("Zoe\u0308 met them.", "Zo\u00eb"),
        ("Zo\u00eb met them.", "Zoe\u0308"),
        ("The Deploy Target is set.", "deploy target"),
        ("The deploy  target\nis set.", "deploy target is"),
        ("It weighs 10\u00a0kg.", "10 kg"),
        ("J\u00ad-88 is done.", "J-88"),
    ],
)
def test_rec_4_what_was_said_in_other_letters_or_spacing_is_neither_found_nor_absent(make, said, literal, compacted):
    transcript = make()
    transcript.append(turn(1, said))
    fill(transcript, 2, 6)
    if compacted:
        transcript.compact()
    answer = transcript.search(literal)

    assert (answer.kind, answer.source) == (AnswerKind.UNANCHORED, "t1")
    assert transcript.search(f"{literal}-xq-7").kind is AnswerKind.ABSENT
    assert transcript.search(literal[:-1] + "\u2603").kind is AnswerKind.ABSENT


@pytest.mark.parametrize("compacted", [False, True])
@pytest.mark.parametrize("form", ["Zo\u00eb", "Zoe\u0308", "ZO\u00cb"])
def test_rec_1_a_slot_is_one_however_unicode_writes_its_name(make, form, compacted):
    transcript = make()
    transcript.append(turn(1, "The age of Zoe\u0308 is 30."))
    fill(transcript, 2, 6)
    if compacted:
        transcript.compact()

    assert transcript.reconstitute(form, "age").value == "30"
    assert transcript.reconstitute(form, "weight").kind is AnswerKind.UNANCHORED
    assert transcript.reconstitute("Zoe", "age").kind is AnswerKind.ABSENT


@pytest.mark.parametrize("compacted", [False, True])
@pytest.mark.parametrize("literal", ["上海", "J-88", "部署目标"])
def test_rec_4_a_script_without_spaces_is_searched_within(make, literal, compacted):
    transcript = make()
    transcript.append(turn(1, "请把J-88的部署目标改为上海。"))
    fill(transcript, 2, 6)
    if compacted:
        transcript.compact()

    assert transcript.search(literal).source == "t1"
    assert transcript.search("J-8").kind is AnswerKind.ABSENT
    assert transcript.reconstitute(literal, "owner").kind is AnswerKind.UNANCHORED


@pytest.mark.parametrize("compacted", [False, True])
def test_rec_4_an_argument_that_json_escapes_is_found_by_its_value(make, compacted):
    transcript = make()
    call = ToolCall(id="c", name="write", arguments='{"text": "\\u00e9tage \\"Q-7\\""}')
    transcript.append(turn(1, None, speaker="assistant", calls=(call,)))
    transcript.append(Turn(id="r", speaker="tool", text="done", result_of="c"))
    fill(transcript, 2, 6)
    if compacted:
        transcript.compact()
    answer = transcript.search('étage "Q-7"')

    assert (answer.kind, answer.source, answer.value) == (AnswerKind.FOUND, "t1", 'étage "Q-7"')
    transcript.tombstone('étage "Q-7"', "t1", "not needed")
    assert transcript.search('étage "Q-7"').kind is AnswerKind.TOMBSTONED


@pytest.mark.parametrize(
    "denial", ["is not 7001 any more", "isn't 7001, as of today", "is no longer 7001 but something else"]
)
def test_rec_1_a_denial_takes_a_value_back_whatever_else_it_says(make, denial):
    transcript = make()
    transcript.append(turn(1))
    transcript.append(turn(2, f"The port of db-1 {denial}."))
    answer = transcript.reconstitute("db-1", "port")

    assert (answer.kind, answer.source) == (AnswerKind.FOUND, "t2")
    transcript.append(turn(3, "The port of db-1 is not 17001."))
    assert transcript.reconstitute("db-1", "port").source != "t1"


def test_str_3_a_question_that_is_no_unicode_is_answered_and_an_id_refused_by_name(make):
    transcript = make()
    fill(transcript, 1, 3)

    assert transcript.search("a\ud800").kind is AnswerKind.UNANCHORED
    assert transcript.reconstitute("a\ud800", "port").kind is AnswerKind.UNANCHORED
    with pytest.raises(NotUnicodeError, match="STR-3"):
        transcript.append(Turn(id="a\ud800", speaker="user", text="x"))
    assert len(transcript.live()) == 3


@pytest.mark.parametrize(
    ("name", "arguments", "replaced"),
    [
        ("run", '{"a": "x\\u0000y"}', True),
        ("run", '{"a\\u0000b": [1, "\\ud800"]}', True),
        ("run", '{"a": "x\x00y"}', False),
        ("run\x00", "{}", False),
        ("run\ud800", "{}", False),
    ],
)
def test_pro_2_a_call_that_no_ledger_holds_as_text_does_not_stop_the_rest(make, name, arguments, replaced):
    transcript = make()
    call = ToolCall(id="c", name=name, arguments=arguments)
    transcript.append(turn(1, "Starting.", speaker="assistant", calls=(call,)))
    transcript.append(Turn(id="r", speaker="tool", text="done", result_of="c"))
    fill(transcript, 2, 8)

    assert transcript.compact().kind is OutcomeKind.COMMITTED
    assert (transcript.pointer("t1") is not None) is replaced
    assert transcript.search("a\x00b").kind in {AnswerKind.ABSENT, AnswerKind.UNANCHORED}
