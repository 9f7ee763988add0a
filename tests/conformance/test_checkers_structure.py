"""STR, IDX-1, IDX-3 to IDX-5, PRO-4, REC-3 and REC-4: windows, originals and the index, from look to look."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace

import pytest
from history_builder import ALL, KEEPING, Play, answer, found, judge, raw, slot, summary

from anchorhold.checkers.ids import MOST
from anchorhold.compactor import Settings
from anchorhold.history import EventType
from anchorhold.workload import Append
from anchorhold_spec.vocabulary import (
    Answer,
    AnswerKind,
    CarrierKind,
    Entry,
    Fact,
    Item,
    Outcome,
    OutcomeKind,
    Pointer,
    ToolCall,
    Turn,
)

PORT = slot("argus-relay-12", "listen port", "40211")
CALL = Turn(
    id="call",
    speaker="assistant",
    text="Looking.",
    calls=(ToolCall(id="c1", name="read", arguments='{"path": "/a"}'),),
)
RESULT = Turn(id="result", speaker="tool", text="It reads so.", result_of="c1")


def say(play: Play, turn: Turn, *, ended: EventType = EventType.OK) -> Play:
    play.texts[turn.id] = turn.text or ""
    return play.call("append", {"turn": turn}, None, ended=ended)


def item(turn: Turn, text: str | None = None) -> Item:
    return Item(id=f"m-{turn.id}", kind=CarrierKind.RAW, text=text or turn.text, data=turn.data, turn=turn.id)


@pytest.mark.parametrize(("kept", "failures"), [(("call", "result"), 0), ((), 0), (("result",), 1), (("call",), 1)])
def test_str_1_a_call_and_its_result_are_there_or_not_together(kept: Sequence[str], failures: int) -> None:
    play = say(say(Play(), CALL), RESULT).compact()
    play.look([summary("s1", "Notes."), *(item(t) for t in (CALL, RESULT) if t.id in kept)])
    told = judge("STR-1", play)

    assert told.triggered == 1
    assert len(told.failures) == failures


LATER = replace(CALL, id="later", text="Looking again.")
ITS_OWN = replace(RESULT, id="its-own", text="It reads otherwise.")
MORE = replace(RESULT, id="more", text="And the rest of it.")


@pytest.mark.parametrize(
    ("turns", "kept", "failures"),
    [
        ((CALL, RESULT, LATER, ITS_OWN), ("later", "its-own"), 0),
        ((CALL, RESULT, LATER, ITS_OWN), ("call", "result"), 0),
        ((CALL, RESULT, LATER, ITS_OWN), ("call", "its-own"), 1),
        ((CALL, RESULT, LATER, ITS_OWN), ("call", "result", "later"), 1),
        ((CALL, RESULT, MORE), ("call", "result", "more"), 0),
        ((CALL, RESULT, MORE), ("call", "more"), 0),
        ((CALL, RESULT, MORE), ("more",), 1),
        ((CALL, RESULT, MORE), ("call",), 1),
        ((RESULT, CALL), ("call",), 1),
    ],
)
def test_str_1_a_result_is_of_the_latest_call_of_its_id_and_not_always_the_only_one(
    turns: Sequence[Turn], kept: Sequence[str], failures: int
) -> None:
    play = Play()
    for turn in turns:
        say(play, turn)
    play.compact().look([summary("s1", "Notes."), *(item(turn) for turn in turns if turn.id in kept)])

    assert len(judge("STR-1", play).failures) == failures


def test_str_1_a_result_whose_words_were_cleared_is_still_there() -> None:
    play = say(say(Play(), CALL), RESULT).compact().look([item(CALL), item(RESULT, "[cleared]")])

    assert judge("STR-1", play).failures == ()


@pytest.mark.parametrize(("order", "words"), [("ab", ""), ("ba", "came before"), ("aab", "2 times"), ("b", "")])
def test_str_2_turns_stand_in_order_and_once(order: str, words: str) -> None:
    play = Play().say("a", "One.").say("b", "Two.")
    play.look([Item(id=f"m{n}", kind=CarrierKind.RAW, text=play.texts[t], turn=t) for n, t in enumerate(order)])
    told = judge("STR-2", play)

    assert bool(told.failures) is bool(words)
    assert not words or words in told.failures[0].sentence


def test_str_2_no_id_stands_for_two_items() -> None:
    play = Play().say("a", "One.").say("b", "Two.")
    play.look([Item(id="m", kind=CarrierKind.RAW, text=play.texts[t], turn=t) for t in "ab"])

    assert "2 items" in judge("STR-2", play).failures[0].sentence


def taking_places(*ids: str, before_last: str | None = None, named: str = "m-{turn}") -> Play:
    """Summaries of these ids take each other's place, and each says something else; one turn stays all the while."""
    play = Play((*KEEPING, "reopen", "clear", "rewind", "crash"), mechanisms=("summariser",))
    play.say("t0", "This one stays.")
    for number, name in enumerate(ids):
        if number == len(ids) - 1 and before_last is not None:
            play.call(before_last, {})
        stays = Item(id=named.format(turn="t0", at=number), kind=CarrierKind.RAW, text="This one stays.", turn="t0")
        play.say(f"n{number}", f"Note {number}.").compact().look([summary(name, f"As of note {number}."), stays])
    return play


@pytest.mark.parametrize(
    ("ids", "failures"),
    [("abc", 0), ("aba", 1), ("abcb", 1), ("aaa", 0), ("abab", 2)],
)
def test_str_2_no_summary_gets_the_id_of_one_that_left(ids: str, failures: int) -> None:
    assert len(judge("STR-2", taking_places(*ids)).failures) == failures


@pytest.mark.parametrize(
    ("operation", "failures"),
    [("reopen", 1), ("clear", 0), ("rewind", 0), ("crash", 0)],
)
def test_str_2_what_was_undone_may_be_done_again(operation: str, failures: int) -> None:
    assert len(judge("STR-2", taking_places(*"aba", before_last=operation)).failures) == failures


def test_str_2_where_ids_are_places_in_the_window_they_name_nothing() -> None:
    assert judge("STR-2", taking_places(*"aba", named="m{at}")).failures == ()


@pytest.mark.parametrize("many", [MOST // 2, 4 * MOST])
def test_str_2_the_first_ids_and_the_latest_are_remembered_however_many_there_were(many: int) -> None:
    ids = [f"s{number}" for number in range(many)]

    assert [f.fact for f in judge("STR-2", taking_places(*ids, "s0")).failures] == ["s0"]
    assert [f.fact for f in judge("STR-2", taking_places(*ids, ids[-2])).failures] == [ids[-2]]
    assert judge("STR-2", taking_places(*ids, "new")).failures == ()


def test_str_2_leaves_turns_that_came_in_twice_to_idx_5() -> None:
    play = Play().say("a", "One.").say("b", "Two.").say("a", "One.")
    play.look([Item(id=f"m-{t}", kind=CarrierKind.RAW, text=play.texts[t], turn=t) for t in "aba"])

    assert judge("STR-2", play).failures == ()


@pytest.mark.parametrize(("text", "there"), [("Looking.", False), ('Looking.\n{"path": "/a"}', True)])
def test_anc_1_a_turn_is_in_the_window_only_with_the_arguments_of_its_calls(text: str, there: bool) -> None:
    path = Fact(text='"path": "/a"', literal="/a", kind="argument")
    play = Play()
    play.steps.append(Append(turn=CALL, facts=(path,)))
    play = say(play, CALL).look([item(CALL, text)])

    assert bool(judge("ANC-1", play).failures) is not there


def archive(*times: int, crashed: bool = False) -> Play:
    """An archive that is looked at before a compaction, after one that failed, and after the next one; `crashed`: one
    that added nothing failed before, and the second one died."""
    play = Play(KEEPING).say("a", "Words of a.").say("b", "Words of b.").say("z", "Go on.")
    held = ["Words of a."]

    def look(name: str, *live: str) -> None:
        play.look(
            [summary(name, f"Notes {name}."), *play.raws(*live)],
            pointers=[Pointer(summary=name, token="/history")],
            answers={"/history": found("\n".join(held))},
        )

    play.look(play.raws("a", "b", "z")).compact(shown=("a",), reply="Notes s1.")
    look("s1", "b", "z")
    if crashed:
        play.compact(Outcome(kind=OutcomeKind.REFUSED, reason="no answer"), shown=("b",), reply="")
        look("s1", "b", "z")
    for attempt, number in enumerate(times, start=1):
        held += ["Words of b."] * number
        last = attempt == len(times)
        play.compact(
            Outcome(kind=OutcomeKind.COMMITTED if last else OutcomeKind.FAILED, reason="no answer"),
            shown=("b",),
            reply="Notes s2." if last else TimeoutError("no answer"),
            ended=EventType.INFO if crashed and not last else EventType.OK,
        )
        look("s2" if last else "s1", *(("z",) if last else ("b", "z")))
    return play


def test_anc_5_what_a_failed_attempt_archived_is_not_archived_again() -> None:
    twice, once, late = (judge("ANC-5", archive(*times)) for times in ((1, 1), (1, 0), (0, 1)))

    assert "it is there 2 times" in twice.failures[0].sentence
    assert (once.triggered, once.failures) == (1, ())
    assert late.failures == ()


def test_anc_5_what_a_crash_left_behind_is_not_laid_at_a_refusal_before_it() -> None:
    assert judge("ANC-5", archive(1, 1, crashed=True)).failures == ()


@pytest.mark.parametrize(("later", "failures"), [("Words of b. Words of z.", 0), ("Words of z.", 1)])
def test_epo_1_what_a_pointer_never_led_to_was_not_replaced(later: str, failures: int) -> None:
    play = Play(KEEPING, mechanisms=("key-recycling",)).say("a", "Words of a.").say("b", "Words of b.")
    play.say("z", "Words of z.").look([]).compact(shown=("a", "b"), reply="Notes.")
    for text in ("Words of b.", later):
        play.look(
            [summary("s", "Notes.")],
            pointers=[Pointer(summary="s", token="p", covers=("a", "b"))],
            answers={"p": found(text)},
        ).compact()

    assert len(judge("EPO-1", play).failures) == failures


def test_str_2_a_mark_that_was_shown_stays() -> None:
    turn = Turn(id="a", speaker="user", text="Go ahead.", status="consumed")
    shown = say(Play(), turn).look([item(turn, "(consumed) Go ahead.")]).compact()
    never = say(Play(), turn).look([item(turn)]).compact().look([item(turn)])

    assert judge("STR-2", shown.look([item(turn)])).failures[0].fact == "a"
    assert judge("STR-2", never).failures == ()


ODD = "two  spaces,\ta tab\r\nand \x1b[1mbold\x1b[0m é"


@pytest.mark.parametrize(
    ("back", "word"),
    [
        (ODD, ""),
        (f"# a frame\n{ODD}\n# its end", ""),
        (json.dumps({"role": "user", "content": ODD}), ""),
        (json.dumps({"role": "user", "content": ODD}, ensure_ascii=False), ""),
        (json.dumps({"role": "user", "content": " ".join(ODD.split())}), "white space"),
        (" ".join(ODD.split()), "white space"),
        (ODD.replace("\x1b", ""), "control characters"),
        (ODD.replace("é", "\N{REPLACEMENT CHARACTER}"), "U+FFFD"),
    ],
)
def test_str_3_text_comes_back_character_by_character(back: str, word: str) -> None:
    play = Play(KEEPING).say("a", ODD).say("z", "Go on.").look([]).compact(shown=("a",), reply="Notes.")
    play.look(
        [summary("s1", "Notes."), *play.raws("z")],
        pointers=[Pointer(summary="s1", token="p", covers=("a",))],
        answers={"p": found(back)},
    )
    told = judge("STR-3", play)

    assert told.triggered == 1
    assert bool(told.failures) is bool(word)
    assert not word or word in told.failures[0].sentence


@pytest.mark.parametrize(("text", "data", "failures"), [(None, b"\xff\x00", 0), ("??", None, 1), (None, b"\xff", 1)])
def test_str_3_bytes_come_back_as_those_bytes(text: str | None, data: bytes | None, failures: int) -> None:
    play = say(Play(KEEPING), Turn(id="a", speaker="user", data=b"\xff\x00")).look([]).compact()
    play.look(
        [summary("s1", "Notes.")],
        pointers=[Pointer(summary="s1", token="p", covers=("a",))],
        answers={"p": Answer(kind=AnswerKind.FOUND, text=text, data=data)},
    )

    assert len(judge("STR-3", play).failures) == failures


@pytest.mark.parametrize("kept", [True, False])
@pytest.mark.parametrize(
    "turn",
    [
        Turn(id="x", speaker="system", text="Be careful."),
        Turn(id="x", speaker="user", text="Never delete.", protected=True),
        Turn(id="x", speaker="user", text="Please fix it."),
    ],
    ids=["system", "protected", "latest-request"],
)
def test_str_4_what_has_to_stay_stays(turn: Turn, kept: bool) -> None:
    play = say(Play().say("a", "Words.", speaker="assistant"), turn)
    play = say(say(play, CALL), RESULT).look([*play.raws("a"), item(turn), item(CALL), item(RESULT)])
    play.compact(shown=("a",), reply="Notes.")
    play.look([summary("s1", "Notes."), *([item(turn)] if kept else []), item(CALL), item(RESULT)])
    told = judge("STR-4", play)

    assert told.triggered == 1
    assert bool(told.failures) is not kept


ASKED = '{"account":9007199254740993,"city":"Zürich","share":0.10,"names":["  a","b\\tc"]}'
"""Arguments as a model may write them: without spaces, with a number that no double is."""


def called_back(back: str, *, shown: str = ASKED) -> Play:
    """A call stood in the window with its arguments written so, and its original comes back with them written so."""
    call = ToolCall(id="c1", name="read", arguments=ASKED)
    turn = Turn(id="t1", speaker="assistant", text="Looking.", calls=(call,))
    play = say(Play(KEEPING), turn).look([item(turn, f"Looking.\n{shown}")]).compact()
    pointers = [Pointer(summary="s1", token="k1", covers=("t1",))]
    return play.look([summary("s1", "x")], pointers=pointers, answers={"k1": found(f"Looking.\n{back}")})


SPACED = json.dumps(json.loads(ASKED))


@pytest.mark.parametrize(
    ("back", "shown", "words"),
    [
        (ASKED, ASKED, None),
        (json.dumps({"text": ASKED}), ASKED, None),
        (SPACED, ASKED, "written otherwise than the window showed them"),
        # Who holds them parsed writes them down anew in both places: spaces, escapes, order and `0.1` are his own.
        (SPACED, SPACED, None),
        (json.dumps(json.loads(ASKED), sort_keys=True, indent=2, ensure_ascii=False), SPACED, None),
        (SPACED.replace("9007199254740993", "9007199254740992"), SPACED, "9007199254740993"),
        (SPACED.replace("9007199254740993", "9.007199254740993e15"), SPACED, None),
        (SPACED.replace("9007199254740993", "90071992547409930"), SPACED, "9007199254740993"),
        (SPACED.replace("0.1", "0.11"), SPACED, "0.10"),
        # What reads as a number too large for anybody is none of theirs: part of a digest.
        (f"{SPACED} 1e99999999999999999999", SPACED, None),
        (SPACED.replace("Z\\u00fcrich", "Zu\\u0308rich"), SPACED, "Zürich"),
        (SPACED.replace("  a", "a"), SPACED, "a"),
        (SPACED.replace("b\\tc", "b c"), SPACED, "b"),
    ],
)
def test_str_3_arguments_come_back_with_every_value(back: str, shown: str, words: str | None) -> None:
    told = judge("STR-3", called_back(back, shown=shown))

    assert told.triggered >= 1
    assert [words in failure.sentence for failure in told.failures] == [True] * (words is not None)


def test_str_3_arguments_that_are_no_json_come_back_as_they_are() -> None:
    turn = Turn(id="t1", speaker="assistant", text="So.", calls=(ToolCall(id="c1", name="read", arguments="{a: 1"),))
    for back, failures in (("{a: 1", 0), ("{a:1", 1)):
        play = say(Play(KEEPING), turn).look([item(turn, "So.\n{a: 1")]).compact()
        pointers = [Pointer(summary="s1", token="k1", covers=("t1",))]
        play.look([summary("s1", "x")], pointers=pointers, answers={"k1": found(f"So.\n{back}")})

        assert len(judge("STR-3", play).failures) == failures


def test_str_4_a_request_that_was_answered_may_go() -> None:
    play = Play().say("a", "Please fix it.").say("b", "Done.", speaker="assistant").look([])
    play.compact(shown=("a",), reply="Notes.").look([summary("s1", "Notes."), *play.raws("b")])

    assert judge("STR-4", play).triggered == 0


def generations(
    first: Mapping[str, Answer], second: Mapping[str, Answer], *, covers: Mapping[str, str] | None = None
) -> Play:
    """Two compactions; what the pointers of each look are, and what following them is answered with."""
    play = Play(KEEPING).say("a", "Words of a.").say("b", "Words of b.").say("z", "Go on.")
    play.look(play.raws("a", "b", "z"))
    names = {"p": "a", "q": "b", "r": "a", **(covers or {})}

    def look(name: str, answers: Mapping[str, Answer], *live: str) -> None:
        listed = [Pointer(summary=name, token=t, covers=(names[t],)) for t, a in answers.items() if a.kind == "found"]
        play.look([summary(name, f"Notes {name}."), *play.raws(*live)], pointers=listed, answers=dict(answers))

    play.compact(shown=("a",), reply="Notes s1.")
    look("s1", first, "b", "z")
    play.compact(shown=("b",), reply="Notes s2.")
    look("s2", second, "z")
    return play


A, B = found("Words of a."), found("Words of b.")
NO = answer(AnswerKind.EXPIRED)


@pytest.mark.parametrize("covers", [("b",), None], ids=["declared", "undeclared"])
@pytest.mark.parametrize(("taken", "failures"), [("a", 0), (None, 1)])
def test_idx_1_an_entry_of_a_turn_that_was_taken_back_may_lead_nowhere(
    taken: str | None, failures: int, covers: tuple[str, ...] | None
) -> None:
    """Also where its pointer does not declare the turn: what it first held says of which it is."""
    play = Play((*KEEPING, "rewind"), settings=Settings())
    play.say("a", "Words of a.").say("b", "Words of b.").say("z", "Go on.").look(play.raws("a", "b", "z"))
    pointers = [Pointer(summary="s1", token="q", covers=covers)]
    live = [*play.raws("a"), summary("s1", "Notes."), *play.raws("z")]
    play.compact(shown=("b",), reply="Notes.").look(live, pointers=pointers, answers={"q": B})
    if taken is not None:
        play.call("rewind", {"turn": taken})
        live = play.raws("a")
    play.look(live, pointers=pointers, answers={"q": answer(AnswerKind.UNANCHORED)})

    assert len(judge("IDX-1", play).failures) == failures


def test_idx_an_index_that_is_only_added_to_holds() -> None:
    play = generations({"p": A}, {"p": A, "q": B})

    for rule in ("IDX-1", "IDX-3", "IDX-4"):
        told = judge(rule, play)
        assert told.triggered > 0
        assert told.failures == ()


@pytest.mark.parametrize(
    ("second", "caught"),
    [
        ({"p": NO, "q": B}, {"IDX-1", "IDX-4"}),
        ({"p": B, "q": B}, {"IDX-1", "IDX-3"}),
        ({"p": NO, "r": A, "q": B}, {"IDX-1", "IDX-3", "IDX-4"}),
        ({"p": A, "r": A, "q": B}, set()),
        ({"p": found("Words of a. Words of b.")}, {"IDX-1"}),
    ],
    ids=["lost", "overwritten", "renamed", "a-second-name", "grown"],
)
def test_idx_an_index_that_changes_is_caught(second: Mapping[str, Answer], caught: set[str]) -> None:
    play = generations({"p": A}, second)

    assert {rule for rule in ("IDX-1", "IDX-3", "IDX-4") if judge(rule, play).failures} == caught


@pytest.mark.parametrize(("live", "failures"), [((), 0), (("a",), 1)])
def test_idx_5_a_turn_that_comes_in_again_adds_nothing(live: Sequence[str], failures: int) -> None:
    play = (
        Play()
        .say("a", "Words of a.")
        .say("z", "Go on.")
        .compact()
        .look([summary("s1", "Notes."), raw("z", "Go on.")])
    )
    play.say("a", "Words of a.").look([summary("s1", "Notes."), *play.raws("z", *live)])
    told = judge("IDX-5", play)

    assert told.triggered == 1
    assert len(told.failures) == failures


@pytest.mark.parametrize("again", [True, False])
@pytest.mark.parametrize("called", [True, False])
def test_idx_5_a_compaction_that_a_known_turn_sets_off_is_no_addition(again: bool, called: bool) -> None:
    """The window is compacted whenever a turn comes in; only the turn itself must not be there once more."""
    play = Play().say("a", "Words of a.").say("z", "Go on.").compact()
    play.look([summary("s1", "Notes."), raw("z", "Go on.")])
    turn = Turn(id="a", speaker="user", text="Words of a.")
    asked = [(["Notes.", "Go on."], "More notes.")] if called else []
    play.call("append", {"turn": turn}, asked=asked)
    told = judge("IDX-5", play.look([summary("s2", "More notes."), *(play.raws("a") if again else [])]))

    assert told.triggered == 1
    assert len(told.failures) == again


@pytest.mark.parametrize(("growth", "failures"), [(0, 0), (300, 1)])
def test_pro_4_a_summary_does_not_grow_with_its_generations(growth: int, failures: int) -> None:
    play = Play()
    for number in range(8):
        play.say(f"t{number}", f"Words of turn {number}.").look([])
        text = f"Notes {number}." + "x" * growth * number
        play.compact(shown=(f"t{number}",), reply=f"Notes {number}.").look([summary(f"s{number}", text)])
    told = judge("PRO-4", play)

    assert told.triggered >= 6
    assert len(told.failures) == failures


@pytest.mark.parametrize(("budget", "failures"), [(None, 1), (4000, 0)])
def test_pro_4_summaries_that_stand_beside_each_other_are_bounded_by_the_watermark(
    budget: int | None, failures: int
) -> None:
    play, live = Play(settings=Settings(budget=budget)), []
    for number in range(8):
        play.say(f"t{number}", f"Words of turn {number}.").look(live)
        live = [*live, summary(f"s{number}", f"Notes {number}." + "x" * 300)]
        play.compact(shown=(f"t{number}",), reply=f"Notes {number}." + "x" * 300).look(live)
    told = judge("PRO-4", play)

    assert told.triggered >= 6
    assert len(told.failures) == failures
    assert all(" summaries have come to hold " in failure.sentence for failure in told.failures)


def test_pro_4_a_manifest_does_not_repeat_itself() -> None:
    entry = Entry(literal=PORT.literal, source="a")
    play = Play(ALL).say("a", PORT.text, PORT).look([]).compact(shown=("a",), reply=PORT.text)

    assert judge("PRO-4", play.look([summary("s", PORT.text)], manifests={"s": [entry] * 3})).failures


LONG = " ".join(f"Sentence number {n} of a long log." for n in range(80))


@pytest.mark.parametrize(
    ("told", "word"),
    [
        (found(LONG), ""),
        (found(LONG[:400]), "as if that were all"),
        (answer(AnswerKind.PARTIAL, text=LONG[:400]), "names no continuation"),
        (answer(AnswerKind.PARTIAL, text=LONG[:400], continuation="more"), ""),
        (found(LONG.replace(" of a", "\nof a")), "do not join"),
    ],
    ids=["whole", "clipped", "partial", "goes-on", "joined-otherwise"],
)
def test_rec_3_a_part_is_not_passed_off_as_the_whole(told: Answer, word: str) -> None:
    play = Play(KEEPING).say("a", LONG).say("z", "Go on.").look([]).compact(shown=("a",), reply="Notes.")
    play.look(
        [summary("s1", "Notes."), *play.raws("z")],
        pointers=[Pointer(summary="s1", token="p", covers=("a",))],
        answers={"p": told},
    )
    judged = judge("REC-3", play)

    assert judged.triggered == 1
    assert bool(judged.failures) is bool(word)
    assert not word or word in judged.failures[0].sentence


def asked(kind: AnswerKind, *, said: bool, raw_: bool = False) -> Play:
    play = Play((*KEEPING, "search")).say("a", PORT.text, *((PORT,) if said else ())).say("z", "Go on.").look([])
    play.compact(shown=("a",), reply="Notes.")
    play.look(
        [summary("s1", "Notes."), *play.raws("z", *("a" if raw_ else ""))],
        pointers=[Pointer(summary="s1", token="p", covers=("a",))],
        answers={"p": found(PORT.text)},
    )
    return play.call("search", {"literal": PORT.literal}, answer(kind))


@pytest.mark.parametrize(
    ("kind", "said", "raw_", "failures"),
    [
        (AnswerKind.ABSENT, True, False, 1),
        (AnswerKind.UNANCHORED, True, False, 1),
        (AnswerKind.UNANCHORED, True, True, 0),
        (AnswerKind.ABSENT, False, False, 0),
        (AnswerKind.PENDING, True, False, 0),
        (AnswerKind.DEGRADED, True, False, 0),
    ],
)
def test_rec_4_no_is_said_only_of_what_is_not_there(kind: AnswerKind, said: bool, raw_: bool, failures: int) -> None:
    assert len(judge("REC-4", asked(kind, said=said, raw_=raw_)).failures) == failures


def test_rec_4_a_pointer_that_is_denied_and_then_found_was_denied_too_early() -> None:
    play = generations({"p": A}, {"p": A, "q": B})
    early = Play(KEEPING).say("a", "Words of a.").say("z", "Go on.").look([]).compact(shown=("a",), reply="Notes.")
    for told in (answer(AnswerKind.UNANCHORED), A):
        early.look(
            [summary("s1", "Notes."), *early.raws("z")],
            pointers=[Pointer(summary="s1", token="p", covers=("a",))],
            answers={"p": told},
        ).compact()

    assert judge("REC-4", play).failures == ()
    assert judge("REC-4", early).failures[0].fact == "p"
