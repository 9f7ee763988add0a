import pytest
from transcripts import fill, port, token_of, turn

from anchorhold_reference import Settings
from anchorhold_spec.vocabulary import AnswerKind, CarrierKind, OutcomeKind, ToolCall, Turn


def literals(transcript):
    return sorted(e.literal for e in transcript.manifest(transcript.live()[0].id))


def test_man_1_each_assertion_of_a_replaced_carrier_is_carried_or_its_original_is_there(make, script):
    script.say(port(2))
    transcript = make()
    fill(transcript, 1, 8)
    transcript.compact()

    assert literals(transcript) == ["7002"]
    for n in range(1, 9):
        assert transcript.reconstitute(f"db-{n}", "port", evidence=True).value == str(7000 + n)


def test_man_2_an_invented_or_altered_statement_earns_no_entry(make, script):
    script.say(
        port(1), "The port of db-2 is 70020.", "The audit port of ghost is 1.", "The port of db-3 is not 7003."
    )
    transcript = make()
    fill(transcript, 1, 6)
    transcript.compact()

    assert literals(transcript) == ["7001"]


def test_man_2_every_entry_stands_in_the_carrier_and_in_its_source(make, script):
    script.say(port(1), port(3), "We saw /srv/a7 and job J-88.")
    transcript = make()
    fill(transcript, 1, 3)
    transcript.append(turn(4, "Look at /srv/a7 for job J-88."))
    fill(transcript, 5, 6)
    transcript.compact()
    summary = transcript.live()[0]
    entries = transcript.manifest(summary.id)

    assert sorted(e.literal for e in entries) == ["/srv/a7", "7001", "7003", "J-88"]
    for entry in entries:
        assert entry.literal in summary.text
        assert entry.literal in transcript.get(token_of(transcript, entry.source)).text


def test_man_2_words_put_into_the_wrong_mouth_earn_no_entry(make, script):
    script.say("assistant: " + port(1), "user: " + port(3))
    transcript = make()
    fill(transcript, 1, 6)
    transcript.compact()

    assert literals(transcript) == ["7003"]


def test_man_2_a_number_needs_its_sentence(make, script):
    script.say("The latency was 30 ms at most.")
    transcript = make()
    transcript.append(turn(1, "We waited 30 ms for the lock."))
    fill(transcript, 2, 5)
    transcript.compact()

    assert literals(transcript) == []


def test_man_2_the_line_that_the_compactor_adds_earns_no_entry(make, script):
    transcript = make()
    transcript.append(turn(1, "stands for 4 turns"))
    fill(transcript, 2, 6)
    transcript.compact()

    assert "stands for 4 turns" in transcript.live()[0].text
    assert literals(transcript) == []


@pytest.mark.parametrize("content", [{"data": b"\xff\xfe"}, {"text": "a\x00b"}, {"text": "half \ud83d pair"}])
def test_man_3_a_span_without_a_manifest_stays_raw_and_does_not_stop_the_rest(make, content):
    transcript = make()
    transcript.append(Turn(id="t1", speaker="user", **content))
    fill(transcript, 2, 6)
    outcome = transcript.compact()
    kept = next(item for item in transcript.live() if item.turn == "t1")

    assert outcome.kind is OutcomeKind.COMMITTED
    assert outcome.covered == ("t2", "t3", "t4")
    assert (kept.text, kept.data) == (content.get("text"), content.get("data"))


def test_man_4_a_tombstone_covers_one_assertion_and_not_the_same_said_again(make):
    transcript = make()
    transcript.append(turn(1, port(1)))
    transcript.append(turn(2, port(1)))
    fill(transcript, 3, 6)
    transcript.compact()
    assert transcript.tombstone("7001", "t1", "stale").kind is OutcomeKind.COMMITTED

    assert transcript.evict(token_of(transcript, "t1")).kind is OutcomeKind.COMMITTED
    assert transcript.evict(token_of(transcript, "t2")).kind is OutcomeKind.REFUSED
    answer = transcript.reconstitute("db-1", "port")
    assert (answer.kind, answer.source) == (AnswerKind.FOUND, "t2")


def test_man_4_a_superseder_has_to_be_anchored(make, script):
    transcript = make()
    transcript.append(turn(1, "The port of db is 80."))
    transcript.append(turn(2, "The port of db is 81."))
    fill(transcript, 3, 6)
    script.say("The port of db is 81.")
    transcript.compact()
    assert transcript.tombstone("80", "t1", "moved", superseded_by="t9").kind is OutcomeKind.REFUSED
    assert transcript.evict(token_of(transcript, "t2")).kind is OutcomeKind.COMMITTED
    assert transcript.tombstone("80", "t1", "moved", superseded_by="t2").kind is OutcomeKind.REFUSED
    assert transcript.tombstones() == []
    assert transcript.tombstone("80", "t1", "moved", superseded_by="t3").kind is OutcomeKind.COMMITTED


@pytest.mark.parametrize(
    ("said", "summary"),
    [
        ("The port of db is maybe 80.", "The port of db is 80."),
        ("Perhaps job J-88 is done.", "Job J-88 is done."),
        ("Invoice INV-3 is NOT paid.", "Invoice INV-3 is paid."),
        ("If J-88 fails, use /srv/b.", "Use /srv/b."),
    ],
)
def test_man_5_a_lost_doubt_or_a_lost_not_earns_no_entry(make, script, said, summary):
    script.say(summary)
    transcript = make()
    transcript.append(turn(1, said))
    fill(transcript, 2, 5)
    transcript.compact()

    assert literals(transcript) == []
    assert transcript.evict(token_of(transcript, "t1")).kind is OutcomeKind.REFUSED


def test_man_5_a_summary_of_a_summary_carries_nothing_that_its_source_did_not(make, script):
    transcript = make()
    fill(transcript, 1, 5)
    script.say(port(1))
    transcript.compact()
    fill(transcript, 6, 9)
    script.say(port(1), port(2))
    transcript.compact()

    assert literals(transcript) == ["7001"]


def test_man_6_what_a_summariser_leaves_out_is_never_tombstoned(make, script):
    transcript = make()
    for start in range(1, 40, 6):
        fill(transcript, start, start + 5)
        transcript.compact()

    assert transcript.tombstones() == []
    assert transcript.status().tombstones == 0


@pytest.mark.parametrize(
    ("literal", "source", "reason", "decider"),
    [("7001", "t1", " ", "me"), ("7001", "t1", "why", ""), ("7001", "t2", "why", "me"), ("7001", "t77", "why", "me")],
)
def test_man_6_a_tombstone_needs_an_assertion_a_decider_and_a_reason(make, literal, source, reason, decider):
    transcript = make()
    fill(transcript, 1, 5)

    assert transcript.tombstone(literal, source, reason, decided_by=decider).kind is OutcomeKind.REFUSED
    assert transcript.tombstones() == []


def test_man_6_a_tombstone_says_what_who_why_and_when(make):
    transcript = make(clock=lambda: 12.5)
    fill(transcript, 1, 5)
    transcript.tombstone("7001", "t1", "rotated", decided_by="ops")
    (found,) = transcript.tombstones()

    assert (found.literal, found.source, found.decided_by, found.reason, found.time) == (
        "7001",
        "t1",
        "ops",
        "rotated",
        12.5,
    )
    assert (found.subject, found.attribute) == ("db-1", "port")
    assert transcript.tombstone("7001", "t1", "again").kind is OutcomeKind.NOTHING


def test_evi_1_arguments_of_calls_are_assertions_that_hold_their_original(make):
    transcript = make()
    call = ToolCall(id="c1", name="write_file", arguments='{"path": "/etc/app/conf.yaml", "mode": "overwrite"}')
    transcript.append(turn(1, "", calls=(call,), speaker="assistant"))
    transcript.append(turn(2, "written", speaker="tool", result_of="c1"))
    fill(transcript, 3, 6)
    transcript.compact()
    refused = transcript.evict(token_of(transcript, "t1"))

    assert refused.kind is OutcomeKind.REFUSED
    assert any("/etc/app/conf.yaml" in fact for fact in refused.facts)
    assert "/etc/app/conf.yaml" in transcript.search("/etc/app/conf.yaml").text


def test_evi_2_a_summary_names_what_it_omits(make, script):
    script.say(port(1))
    transcript = make(settings=Settings(horizon=0, keep=1))
    fill(transcript, 1, 3)
    transcript.append(turn(4, "See /srv/a7 and J-88, not /srv/b."))
    fill(transcript, 5, 5)
    transcript.compact()
    summary = transcript.live()[0]

    assert summary.kind is CarrierKind.SUMMARY
    assert "stands for 4 turns" in summary.text
    assert "1 identifier, 1 negation, 2 paths, 2 slots" in summary.text
