import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anchorhold.compactor import Shown, SummariserError
from anchorhold.planting import ARGUMENTS, LOOSE, Planter
from anchorhold.summariser import MODES, SUMMARIES, ScriptedSummariser
from anchorhold_spec.vocabulary import Fact

PLANTER = Planter("summariser")
TURNS = [PLANTER.say(fact) for fact in PLANTER.facts(10)]
FACTS = [fact for turn in TURNS for fact in turn.facts]


def summariser(mode: str = "faithful", times: int | None = None) -> ScriptedSummariser:
    made = ScriptedSummariser()
    for turn in TURNS:
        made.learn(turn.turn.text, turn.facts)
    made.tell(mode, times)
    return made


def shown(*numbers: int) -> Shown:
    return Shown(messages=("Summarise.", *(TURNS[n].turn.text or "" for n in numbers)))


@settings(deadline=None)
@given(st.sets(st.integers(0, 9)))
def test_faithful_keeps_exactly_the_planted_statements_that_it_was_shown(numbers: set[int]) -> None:
    lines = summariser()(shown(*numbers)).text.splitlines()

    assert lines[1:-1] == [FACTS[n].text for n in sorted(numbers)]


@pytest.mark.parametrize("mode", ["paraphrase", "drop"])
def test_a_vague_summary_holds_no_literal_and_is_not_empty(mode: str) -> None:
    text = summariser(mode)(shown(*range(10))).text

    assert text.strip()
    assert [fact.literal for fact in FACTS if fact.literal in text] == []


LOOSE_FACTS = (*(PLANTER.loose(kind) for kind in LOOSE), *(PLANTER.argument(name) for name in ARGUMENTS))


def wrapped(text: str, times: int) -> str:
    for _ in range(times):
        text = json.dumps({"content": text, "note": "Übergabe"}, ensure_ascii=times == 1)
    return text


@pytest.mark.parametrize("times", [0, 1, 2])
@pytest.mark.parametrize("fact", LOOSE_FACTS, ids=lambda fact: fact.text[:20])
def test_a_loose_fact_is_recognised_in_whatever_escaping_it_is_shown(fact: Fact, times: int) -> None:
    made = ScriptedSummariser()
    made.learn("Something else was said.", LOOSE_FACTS)

    lines = made(Shown(messages=("Summarise.", wrapped(f"So far.\n{fact.text}\nGo on.", times)))).text.splitlines()

    assert lines[1:-1] == [fact.text]


@pytest.mark.parametrize("fact", LOOSE_FACTS, ids=lambda fact: fact.text[:20])
def test_of_a_loose_fact_that_is_laid_out_anew_the_summary_holds_what_was_shown(fact: Fact) -> None:
    made = ScriptedSummariser()
    made.learn("Something else was said.", LOOSE_FACTS)
    shown_as = Shown(messages=("Summarise.", f"called with value={fact.literal}; done"))

    assert made(shown_as).text.splitlines()[1:-1] == [fact.literal]


@pytest.mark.parametrize("fact", LOOSE_FACTS, ids=lambda fact: fact.text[:20])
def test_a_longer_word_is_not_taken_for_the_literal_in_it(fact: Fact) -> None:
    made = ScriptedSummariser()
    made.learn("Something else was said.", LOOSE_FACTS)

    assert len(made(Shown(messages=(f"x{fact.literal}x 1{fact.literal}1",))).text.splitlines()) == 2


@pytest.mark.parametrize("mode", ["paraphrase", "drop"])
def test_a_vague_summary_holds_no_loose_literal_either(mode: str) -> None:
    made = ScriptedSummariser()
    made.learn("Something else was said.", LOOSE_FACTS)
    made.tell(mode)
    text = made(Shown(messages=tuple(fact.text for fact in LOOSE_FACTS))).text

    assert [fact.literal for fact in LOOSE_FACTS if fact.literal in text] == []


def test_a_misattributed_statement_is_said_by_the_one_who_did_not_and_by_nobody_where_both_did() -> None:
    planter = Planter("speakers")
    mine, yours, tools, ours = planter.facts(4)
    made = ScriptedSummariser()
    for speaker, facts in (("user", (mine, ours)), ("assistant", (yours, ours)), ("tool", (tools,))):
        made.learn("Something.", facts, speaker=speaker)
    made.tell("misattribute")
    lines = made(Shown(messages=tuple(fact.text for fact in (mine, yours, tools, ours)))).text.splitlines()

    assert set(lines[1:-1]) == {f"assistant: {mine.text}", f"user: {yours.text}", tools.text, ours.text}


def test_two_summaries_of_the_same_are_never_the_same_words() -> None:
    for mode in SUMMARIES:
        made = summariser(mode)

        assert len({made(shown(0, 1)).text for _ in range(6)}) == 6, mode


def test_fail_raises_as_often_as_told_and_then_it_is_faithful_again() -> None:
    made = summariser("fail", times=2)
    for _ in range(2):
        with pytest.raises(SummariserError):
            made(shown(0))

    assert FACTS[0].text in made(shown(0)).text
    assert [call.mode for call in made.calls] == ["fail", "fail", "faithful"]
    assert [call.reply is None for call in made.calls] == [True, True, False]


@pytest.mark.parametrize(("mode", "finish"), [("empty", "stop"), ("blank", "stop"), ("refusal", "refusal")])
def test_replies_that_are_no_summaries(mode: str, finish: str) -> None:
    reply = summariser(mode)(shown(0, 1))

    assert reply.finish == finish
    assert [fact for fact in FACTS if fact.text in reply.text] == []
    assert (reply.text.strip() == "") == (mode != "refusal")


def test_truncated_is_the_beginning_of_the_faithful_reply_and_says_that_it_was_cut() -> None:
    whole, part = summariser()(shown(0, 1, 2)), summariser("truncated")(shown(0, 1, 2))

    assert part.finish == "length"
    assert whole.text.startswith(part.text)
    assert 0 < len(part.text) < len(whole.text)


def test_truncated_is_cut_within_a_word_and_where_a_line_ends_by_turns() -> None:
    cut = summariser("truncated")
    first, second = cut(shown(0, 1, 2)), cut(shown(0, 1, 2))
    cut_faithfully = summariser()
    cut_faithfully(shown(0, 1, 2))
    whole = cut_faithfully(shown(0, 1, 2))

    assert first.finish == second.finish == "length"
    assert first.text.splitlines()[-1] not in summariser()(shown(0, 1, 2)).text.splitlines()
    assert whole.text.splitlines()[: len(second.text.splitlines())] == second.text.splitlines()


def test_echo_returns_the_last_turn_that_stands_in_what_was_shown() -> None:
    assert summariser("echo")(shown(3, 5)).text == TURNS[5].turn.text


def test_same_returns_the_summary_before_only_where_it_is_shown() -> None:
    made = summariser()
    first = made(shown(0, 1)).text
    made.tell("same")

    assert made(Shown(messages=("Go on from:", first, TURNS[2].turn.text or ""))).text == first
    assert made(shown(2)).text != first


def test_invent_adds_a_statement_that_no_turn_makes() -> None:
    extra = [
        line
        for line in summariser("invent")(shown(*range(10))).text.splitlines()[1:-1]
        if line not in {fact.text for fact in FACTS}
    ]

    assert len(extra) == 1
    assert all(extra[0] not in (turn.turn.text or "") for turn in TURNS)


def test_flip_loses_every_not_and_keeps_the_rest() -> None:
    negations = [n for n, fact in enumerate(FACTS) if fact.kind == "negation"]
    text = summariser("flip")(shown(*negations)).text

    assert negations
    for n in negations:
        assert FACTS[n].text not in text
        assert FACTS[n].text.replace(" not ", " ") in text


def test_error_text_reads_like_a_providers_error_and_comes_as_if_all_were_well() -> None:
    reply = summariser("error-text")(shown(0))

    assert reply.finish == "stop"
    assert "429" in reply.text


def test_an_unknown_mode_is_named_with_those_that_exist() -> None:
    with pytest.raises(ValueError, match=r"no summariser mode 'honest'.*faithful"):
        summariser("honest")


def test_every_mode_is_reachable() -> None:
    assert {"faithful", "paraphrase", "drop", "fail", "empty", "blank", "truncated", "refusal", "echo"} <= set(MODES)
