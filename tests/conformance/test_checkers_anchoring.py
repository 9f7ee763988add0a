"""ANC-1, ANC-4, MAN-1, MAN-2, MAN-6 on histories written by hand."""

from typing import Any

import pytest
from history_builder import ALL, COMMITTED, KEEPING, PLAIN, Play, answer, found, judge, raw, slot, summary

from anchorhold_spec.vocabulary import (
    AnswerKind,
    CarrierKind,
    Entry,
    Fact,
    Item,
    Outcome,
    OutcomeKind,
    Pointer,
    Tombstone,
)

TARGET = slot("job J-88", "deploy target", "/srv/a7")
UNPAID = Fact(
    text="Invoice 88213 is not paid.",
    literal="not paid",
    kind="negation",
    subject="Invoice 88213",
    attribute="paid",
)
ONE = f"Please note: {TARGET.text} Thanks."
TWO = f"{UNPAID.text} I checked twice."


def told(operations: tuple[str, ...] = PLAIN) -> Play:
    play = Play(operations)
    play.say("t1", ONE, TARGET).say("t2", TWO, UNPAID)
    return play.look(play.raws("t1", "t2")).compact(shown=("t1", "t2"), reply="…")


def with_manifest() -> Play:
    return told((*KEEPING, "manifest", "tombstone", "tombstones", "evict"))


ENTRIES = (
    Entry(literal="/srv/a7", source="t1", subject="job J-88", attribute="deploy target"),
    Entry(literal="not paid", source="t2", subject="Invoice 88213"),
)


def test_anc_1_holds_while_a_summary_repeats_the_statement() -> None:
    judged = judge("ANC-1", told().look([summary("s1", f"Notes.\n{TARGET.text}\n{UNPAID.text}")]))

    assert judged.failures == ()
    assert judged.triggered == 2


def test_anc_1_accepts_subject_and_literal_in_one_sentence() -> None:
    text = "We learned that job J-88 goes to /srv/a7. Also, Invoice 88213 was not paid, it seems."

    assert judge("ANC-1", told().look([summary("s1", text)])).failures == ()


@pytest.mark.parametrize(
    "text",
    [
        "The job was configured and the invoice looked at.",
        "The deploy target of job J-881 is /srv/a7. Invoice 88213 is not paid.",
        "The deploy target of job J-88 is /srv/a7/new. Invoice 88213 is not paid.",
        "Job J-88 has nothing to do with it. Something is at /srv/a7. Invoice 88213 is not paid.",
        "The deploy target of job J-88 is not /srv/a7. Invoice 88213 is not paid.",
    ],
)
def test_anc_1_names_the_fact_that_a_summary_lost(text: str) -> None:
    judged = judge("ANC-1", told().look([summary("s1", text)]))

    assert TARGET.text in [failure.fact for failure in judged.failures]
    sentence = judged.failures[0].sentence
    assert "compact" in sentence
    assert "t1" in sentence
    assert TARGET.text in sentence


def test_anc_1_sees_a_lost_negation() -> None:
    judged = judge("ANC-1", told().look([summary("s1", f"{TARGET.text} Invoice 88213 is paid.")]))

    assert [failure.fact for failure in judged.failures] == [UNPAID.text]


def test_anc_1_is_not_triggered_while_turns_stand_in_the_window() -> None:
    play = told()

    assert judge("ANC-1", play.look(play.raws("t1", "t2"))).triggered == 0


def test_anc_1_accepts_one_file_for_the_whole_session_as_the_pointer() -> None:
    file = f"# Conversation history\n\nHuman: {ONE}\n\nHuman: {TWO}\n"
    play = told(KEEPING).look(
        [summary("s1", "See history.md.")],
        pointers=[Pointer(summary="s1", token="history.md")],
        answers={"history.md": found(file)},
    )

    judged = judge("ANC-1", play)

    assert judged.failures == ()
    assert judged.triggered == 2


def test_anc_1_does_not_count_a_pointer_that_nothing_carries_any_more() -> None:
    play = told(KEEPING).look([summary("s1", "…")], answers={"k1": found(ONE), "k2": found(TWO)})

    assert len(judge("ANC-1", play).failures) == 2


def test_anc_1_waits_for_the_rest_of_a_partial_answer() -> None:
    pointer = Pointer(summary="s1", token="k")
    first = answer(AnswerKind.PARTIAL, text=ONE[:20], continuation="k+20")
    waiting = told(KEEPING).look([summary("s1", "…")], pointers=[pointer], answers={"k": first})
    joined = told(KEEPING).look(
        [summary("s1", "…")],
        pointers=[pointer],
        answers={"k": first, "k+20": found(f"{ONE[20:]}\n{TWO}")},
    )

    assert judge("ANC-1", waiting).failures == ()
    assert judge("ANC-1", waiting).triggered == 0
    assert judge("ANC-1", joined).failures == ()
    assert judge("ANC-1", joined).triggered == 2


def test_anc_1_does_not_wait_for_ever_for_what_is_pending() -> None:
    def waited(times: int) -> Play:
        play = told((*KEEPING, "reopen"))
        for _ in range(times):
            play.look(
                [summary("s1", "…", pending=True)],
                pointers=[Pointer(summary="s1", token="k")],
                answers={"k": answer(AnswerKind.PENDING)},
            ).call("reopen")
        return play

    assert judge("ANC-1", waited(3)).failures == ()
    assert judge("ANC-1", waited(3)).triggered == 0
    assert len(judge("ANC-1", waited(4)).failures) == 2
    assert "never became anything else" in judge("ANC-1", waited(4)).failures[0].sentence


def test_anc_1_accepts_what_the_compactors_own_search_finds_and_blames_only_what_was_asked() -> None:
    searchable = (*PLAIN, "search")
    unasked = told(searchable).look([summary("s1", "…")])
    kept = told(searchable).look([summary("s1", "…")])
    kept.call("search", {"literal": "/srv/a7"}, found(ONE))
    gone = told(searchable).look([summary("s1", "…")])
    gone.call("search", {"literal": "/srv/a7"}, answer(AnswerKind.UNANCHORED))

    assert judge("ANC-1", unasked).failures == ()
    assert judge("ANC-1", kept).failures == ()
    assert judge("ANC-1", kept).triggered == 1
    assert [failure.fact for failure in judge("ANC-1", gone).failures] == [TARGET.text]


def test_anc_1_names_the_eviction_that_took_the_last_carrier() -> None:
    pointers = [Pointer(summary="s1", token="k1", covers=("t1",)), Pointer(summary="s1", token="k2", covers=("t2",))]
    play = told((*KEEPING, "evict")).look(
        [summary("s1", "…")], pointers=pointers, answers={"k1": found(ONE), "k2": found(TWO)}
    )
    play.call("evict", {"token": "k1"}, Outcome(kind=OutcomeKind.COMMITTED))
    play.look(
        [summary("s1", "…")],
        pointers=pointers,
        answers={"k1": answer(AnswerKind.UNANCHORED), "k2": found(TWO)},
    )

    judged = judge("ANC-1", play)

    assert [failure.fact for failure in judged.failures] == [TARGET.text]
    assert judged.failures[0].sentence.startswith("After evict,")


def test_anc_1_lets_an_explicit_tombstone_stand_for_its_own_turn_only() -> None:
    play = Play((*PLAIN, "tombstone", "tombstones"))
    play.say("t1", ONE, TARGET).say("t2", f"Again: {TARGET.text}", TARGET).look(play.raws("t1", "t2"))
    stone = Tombstone(literal="/srv/a7", source="t1", decided_by="caller", reason="moved")
    play.compact(shown=("t1", "t2"), reply="…").look([summary("s1", "…")], tombstones=[stone])

    judged = judge("ANC-1", play)

    assert [failure.sentence.count("t2") for failure in judged.failures] == [1]


@pytest.mark.parametrize("source", [None, "span-17"])
def test_anc_1_lets_a_tombstone_without_a_turn_stand_for_what_was_decided_and_no_more(source: str | None) -> None:
    play = Play((*PLAIN, "tombstone", "tombstones"))
    play.say("t1", ONE, TARGET).say("t2", f"Again: {TARGET.text}", TARGET).look(play.raws("t1", "t2"))
    play.call("tombstone", {"literal": "/srv/a7", "source": "t1", "reason": "moved"}, COMMITTED)
    stone = Tombstone(literal="/srv/a7", source=source, decided_by="caller", reason="moved")
    play.compact(shown=("t1", "t2"), reply="…").look([summary("s1", "…")], tombstones=[stone])

    judged = judge("ANC-1", play)

    assert [failure.sentence.count("(turn t2)") for failure in judged.failures] == [1]


def test_anc_1_does_not_blame_for_what_the_suite_damaged() -> None:
    pointers = [Pointer(summary="s1", token="k")]
    play = told((*KEEPING, "corrupt")).look([summary("s1", "…")], pointers=pointers, answers={"k": found(ONE + TWO)})
    play.call("corrupt", {"token": "k"}, True)
    play.look([summary("s1", "…")], pointers=pointers, answers={"k": RuntimeError("digest differs")})

    assert judge("ANC-1", play).failures == ()


def test_anc_1_blames_a_turn_that_was_acknowledged_and_is_nowhere() -> None:
    play = Play()
    play.say("t1", ONE, TARGET).say("t2", TWO, UNPAID)

    judged = judge("ANC-1", play.look(play.raws("t1")))

    assert [failure.fact for failure in judged.failures] == [UNPAID.text]


def test_man_1_blames_the_commit_that_dropped_and_not_the_later_eviction() -> None:
    play = told().look([summary("s1", f"Nothing much. {UNPAID.text}")])

    judged = judge("MAN-1", play)

    assert [failure.fact for failure in judged.failures] == [TARGET.text]
    assert judged.triggered == 2
    assert "s1" in judged.failures[0].sentence


def test_man_1_wants_it_in_the_manifest_where_there_are_manifests() -> None:
    text = f"{TARGET.text} {UNPAID.text}"
    without = with_manifest().look([summary("s1", text)], manifests={"s1": ENTRIES[:1]})
    complete = with_manifest().look([summary("s1", text)], manifests={"s1": ENTRIES})

    assert [failure.fact for failure in judge("MAN-1", without).failures] == [UNPAID.text]
    assert judge("MAN-1", complete).failures == ()
    assert judge("MAN-1", complete).triggered == 2


def test_man_1_speaks_of_turns_that_were_taken_away_without_a_summary() -> None:
    judged = judge("MAN-1", told().look([]))

    assert {failure.fact for failure in judged.failures} == {TARGET.text, UNPAID.text}
    assert judged.triggered == 2


@pytest.mark.parametrize("kind", [CarrierKind.OTHER, CarrierKind.RAW])
def test_man_1_knows_a_summary_by_what_the_model_wrote(kind: CarrierKind) -> None:
    play = Play().say("t1", ONE, TARGET).say("t2", TWO, UNPAID)
    play.look(play.raws("t1", "t2")).compact(shown=("t1", "t2"), reply="Things were looked at and settled.")
    item = Item(id="s1", kind=kind, text="So far:\nThings were looked at and settled.")

    judged = judge("MAN-1", play.look([item]))

    assert {failure.fact for failure in judged.failures} == {TARGET.text, UNPAID.text}
    assert "summary s1" in judged.failures[0].sentence
    assert judge("PTR-3", play).triggered == 2


def test_man_1_is_held_by_an_original_that_stays_anchored() -> None:
    play = told(KEEPING).look(
        [summary("s1", "…")], pointers=[Pointer(summary="s1", token="k")], answers={"k": found(f"{ONE}\n{TWO}")}
    )

    judged = judge("MAN-1", play)

    assert judged.failures == ()
    assert judged.triggered == 2


def test_man_1_follows_what_a_replaced_summary_carried() -> None:
    kept = f"{TARGET.text} {UNPAID.text}"
    play = told().look([summary("s1", kept)])
    play.say("t3", "All right, thank you so far.").look([summary("s1", kept), *play.raws("t3")])
    play.compact(shown=(kept, "t3"), reply="…").look([summary("s2", UNPAID.text)])

    judged = judge("MAN-1", play)

    assert [failure.fact for failure in judged.failures] == [TARGET.text]
    assert "s2" in judged.failures[0].sentence


def test_man_1_looks_at_every_commit_of_several_in_a_row() -> None:
    play = Play(KEEPING)
    play.say("t1", ONE, TARGET).say("t2", TWO, UNPAID).look(play.raws("t1", "t2"))
    play.compact(shown=("t1",), reply="…").call("live", {}, [summary("s1", "a"), *play.raws("t2")])
    play.compact(shown=("t2",), reply="…").look(
        [summary("s1", "a"), summary("s2", "b")],
        pointers=[Pointer(summary="s2", token="k2")],
        answers={"k2": found(TWO)},
    )

    judged = judge("MAN-1", play)

    assert [failure.fact for failure in judged.failures] == [TARGET.text]
    assert "s1" in judged.failures[0].sentence


def test_man_2_is_sound_for_entries_that_stand_in_carrier_and_source() -> None:
    play = with_manifest().look([summary("s1", f"{TARGET.text} {UNPAID.text}")], manifests={"s1": ENTRIES})

    judged = judge("MAN-2", play)

    assert judged.failures == ()
    assert judged.triggered == 2


@pytest.mark.parametrize(
    ("text", "entry", "why"),
    [
        ("The job runs.", ENTRIES[0], "own text does not say it"),
        (f"{TARGET.text} Port 7443.", Entry(literal="7443", source="t1"), "source does not say it"),
        ("Job J-90 goes to /srv/a7.", ENTRIES[0], "does not mention job J-88"),
        ("The deploy target of job J-88 is never /srv/a7.", ENTRIES[0], "denies what the source affirms"),
        (UNPAID.text, Entry(literal="not paid", source="t1"), "source does not say it"),
        ("Job J-88 runs. Another goes to /srv/a7.", ENTRIES[0], "no sentence of the summary says it"),
        (TARGET.text, Entry(literal="/srv/a7", subject="zzz"), "does not speak of zzz"),
        (TARGET.text, Entry(literal="Thanks", source="t1", subject="job J-88"), "own text does not say it"),
    ],
)
def test_man_2_names_the_entry_that_is_not_supported(text: str, entry: Entry, why: str) -> None:
    judged = judge("MAN-2", with_manifest().look([summary("s1", text)], manifests={"s1": [entry]}))

    assert len(judged.failures) == 1
    assert why in judged.failures[0].sentence


def test_man_2_compares_the_unit_after_a_number() -> None:
    play = Play((*KEEPING, "manifest"))
    limit = Fact(text="The timeout of job J-88 is 30 seconds.", literal="30", kind="number", subject="job J-88")
    play.say("t1", limit.text, limit).look(play.raws("t1")).compact(shown=("t1",), reply="…")
    entry = Entry(literal="30", source="t1", kind="number", subject="job J-88")
    other = summary("s1", "The timeout of job J-88 is 30 minutes.")

    assert "another unit" in judge("MAN-2", play.look([other], manifests={"s1": [entry]})).failures[0].sentence


def test_man_2_sees_a_value_go_to_another_attribute_of_the_same_subject() -> None:
    play = Play((*KEEPING, "manifest"))
    target, log = TARGET, slot("job J-88", "log file", "/var/b2")
    play.say("t1", f"{target.text} {log.text}", target, log).look(play.raws("t1")).compact(shown=("t1",), reply="…")
    entry = Entry(literal="/srv/a7", source="t1", subject="job J-88", attribute="deploy target")
    swapped = "The deploy target of job J-88 is /var/b2. The log file of job J-88 is /srv/a7."

    judged = judge("MAN-2", play.look([summary("s1", swapped)], manifests={"s1": [entry]}))

    assert "another attribute" in judged.failures[0].sentence


@pytest.mark.parametrize(
    ("speaker", "text", "whom"),
    [
        ("user", f"assistant: {TARGET.text}", "assistant"),
        ("user", f"- **Assistant:** {TARGET.text}", "assistant"),
        ("user", f"Notes.\nThe agent reported that {TARGET.text}\nMore.", "assistant"),
        ("assistant", f"The user said: {TARGET.text}", "user"),
        ("assistant", f"human: {TARGET.text} It runs.\n2. [User]: {TARGET.text}", "user"),
        ("user", f"user: {TARGET.text}", None),
        ("assistant", f"AI: {TARGET.text}", None),
        ("user", f"assistant: {TARGET.text}\n{TARGET.text}", None),
        ("user", f"assistant: {TARGET.text}\nuser: {TARGET.text}", None),
        ("user", f"assistant: Notes on the work so far. {TARGET.text}", None),
        ("user", f"system: {TARGET.text}", None),
        ("user", f"tool: {TARGET.text}", None),
        ("tool", f"user: {TARGET.text}", None),
        ("tool", f"assistant: {TARGET.text}", None),
        ("system", f"user: {TARGET.text}", None),
        ("user", f"agent-7: {TARGET.text}", None),
    ],
)
def test_man_2_an_entry_is_of_whom_the_summary_has_say_it(speaker: str, text: str, whom: str | None) -> None:
    play = Play((*KEEPING, "manifest")).say("t1", TARGET.text, TARGET, speaker=speaker)
    play.look(play.raws("t1")).compact(shown=("t1",), reply="…")
    entry = Entry(literal="/srv/a7", source="t1", subject="job J-88", attribute="deploy target")
    judged = judge("MAN-2", play.look([summary("s1", text)], manifests={"s1": [entry]}))

    assert judged.triggered == 1
    assert [f"has the {whom} say it" in failure.sentence for failure in judged.failures] == [True] * (
        whom is not None
    )


def test_man_2_lets_an_entry_name_a_span_of_the_compactors_own() -> None:
    entry = Entry(literal="/srv/a7", source="span-0001", subject="job J-88")
    play = with_manifest().look([summary("s1", TARGET.text, covers=("t1", "t2"))], manifests={"s1": [entry]})

    assert judge("MAN-2", play).failures == ()


STONE = Tombstone(literal="/srv/a7", source="t1", decided_by="caller", reason="moved away")


def test_man_6_wants_a_decision_behind_every_tombstone() -> None:
    silent = with_manifest().look([summary("s1", "…")], tombstones=[STONE])
    asked = with_manifest()
    asked.call(
        "tombstone",
        {"literal": "/srv/a7", "source": "t1", "reason": "moved away"},
        Outcome(kind=OutcomeKind.COMMITTED),
    )
    asked.look([summary("s1", "…")], tombstones=[STONE])

    assert [failure.fact for failure in judge("MAN-6", silent).failures] == [TARGET.text]
    assert "no caller decided" in judge("MAN-6", silent).failures[0].sentence
    assert judge("MAN-6", asked).failures == ()
    assert judge("MAN-6", asked).triggered == 3


def test_man_6_does_not_stretch_a_decision_to_another_turn() -> None:
    play = with_manifest()
    play.call(
        "tombstone",
        {"literal": "/srv/a7", "source": "t2", "reason": "moved away"},
        Outcome(kind=OutcomeKind.COMMITTED),
    )
    play.look([summary("s1", "…")], tombstones=[STONE])

    assert len(judge("MAN-6", play).failures) == 1


def test_man_6_wants_a_reason() -> None:
    play = with_manifest()
    play.call("tombstone", {"literal": "/srv/a7", "source": "t1", "reason": "x"}, Outcome(kind=OutcomeKind.COMMITTED))
    play.look(
        [summary("s1", "…")], tombstones=[Tombstone(literal="/srv/a7", source="t1", decided_by="c", reason=" ")]
    )

    assert "gives no reason" in judge("MAN-6", play).failures[0].sentence


def test_man_6_is_not_triggered_where_nothing_was_left_out() -> None:
    play = with_manifest().look([summary("s1", f"{TARGET.text} {UNPAID.text}")], manifests={"s1": ENTRIES})

    assert judge("MAN-6", play).triggered == 0


def test_all_operations_are_known_to_the_builder() -> None:
    assert set(KEEPING) <= set(ALL)


def test_anc_4_names_what_the_replaced_summary_alone_still_said() -> None:
    def generations(second: str) -> Any:
        play = Play().say("t1", TARGET.text, TARGET).look([raw("t1", TARGET.text)])
        first = summary("s1", f"Notes. {TARGET.text}")
        play.compact(shown=("t1",), reply=first.text).look([first]).say("t2", TWO).look([first, raw("t2", TWO)])
        play.compact(shown=(first.text or "", "t2"), reply=second)
        return judge("ANC-4", play.look([summary("s2", second)]))

    assert generations(f"Shorter. {TARGET.text}").failures == ()
    assert generations(f"Shorter. {TARGET.text}").triggered == 1
    assert [failure.fact for failure in generations("Shorter.").failures] == [TARGET.text]
    assert "s1" in generations("Shorter.").failures[0].sentence


LIMIT = Fact(
    text="The memory limit of job J-88 is 512 MiB.",
    literal="512 MiB",
    kind="number",
    subject="job J-88",
    attribute="memory limit",
)
DOUBT = Fact(
    text="The queue bound of job J-88 is probably 40.",
    literal="probably 40",
    kind="hedge",
    subject="job J-88",
    attribute="queue bound",
)


@pytest.mark.parametrize(
    ("fact", "literal", "kind", "gone"),
    [
        (UNPAID, "not paid", "negation", None),
        (UNPAID, "paid", "negation", None),
        (UNPAID, "paid", "slot", "“not” is gone"),
        (DOUBT, "probably 40", "hedge", None),
        (DOUBT, "40", "number", "“probably” is gone"),
        (LIMIT, "512 MiB", "number", None),
        (LIMIT, "is 512 MiB", "number", None),
        (LIMIT, "512", "number", "unit is gone"),
    ],
)
def test_man_2_an_entry_of_a_slot_has_all_of_its_value(fact: Fact, literal: str, kind: str, gone: str | None) -> None:
    def judged(**slot: str) -> Any:
        play = Play((*KEEPING, "manifest")).say("t1", fact.text, fact)
        play.look(play.raws("t1")).compact(shown=("t1",), reply=fact.text)
        entry = Entry(literal=literal, source="t1", kind=kind, **slot)
        return judge("MAN-2", play.look([summary("s1", fact.text)], manifests={"s1": [entry]})).failures

    failures = judged(subject=fact.subject or "", attribute=fact.attribute or "")

    assert [gone in failure.sentence for failure in failures if gone] == [True] * bool(gone)
    assert len(failures) == bool(gone)
    # Whoever lists words, and claims no slot for them, says nothing of the value.
    assert judged() == ()
