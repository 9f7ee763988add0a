"""PRO-1 on histories written by hand."""

from typing import Any

import pytest
from history_builder import (
    COMMITTED,
    FAILED,
    NOTHING,
    ONE,
    REFUSED,
    THREE,
    TWO,
    Play,
    judge,
    raw,
    summary,
)
from hypothesis import given
from hypothesis import strategies as st

from anchorhold.compactor import Settings
from anchorhold.workload import Append
from anchorhold_spec.vocabulary import Item, Outcome, OutcomeKind, ToolCall, Turn

WINDOW = [raw("t1", ONE), raw("t2", TWO), raw("t3", THREE)]


class TestProgress:
    SMALL = Settings(budget=20, watermark=0.5)

    def compacted(self, outcome: Outcome, live: list[Item], *, times: int = 1, mode: str = "faithful") -> Any:
        play = Play(settings=self.SMALL).say("t1", ONE).say("t2", TWO).say("t3", THREE).look(WINDOW)
        for _ in range(times):
            play.compact(outcome, shown=("t1", "t2"), reply=("Done.", mode)).look(live)
        return judge("PRO-1", play)

    def test_pro_1_is_triggered_by_a_window_that_comes_under_its_watermark(self) -> None:
        judged = self.compacted(COMMITTED, [summary("s1", "Done."), raw("t3", THREE)])

        assert judged.failures == ()
        assert judged.triggered == 1

    def test_pro_1_lets_a_compactor_say_what_holds_it_up(self) -> None:
        held = Outcome(kind=OutcomeKind.NOTHING, reason="the latest turns are protected")

        play = Play(settings=self.SMALL).say("t1", ONE).say("t2", TWO).say("t3", THREE).look(WINDOW)
        left = [summary("s1", "Done."), raw("t2", TWO), raw("t3", THREE)]
        play.compact(shown=("t1",), reply="Done.").look(left).compact(held).look(left)

        assert judge("PRO-1", play).failures == ()

    @pytest.mark.parametrize(
        ("settings", "full", "blamed"), [(SMALL, False, False), (SMALL, True, True), (Settings(), True, False)]
    )
    def test_pro_1_a_branch_of_a_compacted_window_is_not_compacted_before_it_is_full(
        self, settings: Settings, full: bool, blamed: bool
    ) -> None:
        """Full is a window of a known size; of another it is not known when it is."""
        play = Play(("append", "compact", "live", "fork"), settings=settings)
        names, late = [f"t{number}" for number in range(1, 30)], [f"u{number}" for number in range(1, 9)]
        for name in names:
            play.say(name, f"{name}. {TWO}")
        play.look(play.raws(*names)).compact(shown=names[:-1], reply="Done.")
        play.look([summary("s1", "Done.")]).call("fork", {"branch": "twig"})
        for name in late:
            play.say(name, f"{name}. {TWO if full else ''}")
        live = [summary("s1", "Done."), *play.raws(*late)]
        play.look(live).compact(NOTHING).look(live)

        assert bool(judge("PRO-1", play).failures) is blamed

    def never_replaced(self, outcome: Outcome, *, turns: int) -> Any:
        """Two compactions of a window of so many turns, all of which are there afterwards."""
        play = Play(settings=self.SMALL)
        names = [f"t{number}" for number in range(1, turns + 1)]
        for name in names:
            play.say(name, f"{name}. {TWO}")
        play.look(play.raws(*names))
        for _ in range(2):
            play.compact(outcome, shown=tuple(names), reply="Done.").look(play.raws(*names))
        return judge("PRO-1", play)

    @pytest.mark.parametrize(("keep", "blamed"), [(None, True), (2, True), (9, True), (10, False), (12, False)])
    @pytest.mark.parametrize("reply", ["Done.", "Done. " * 9])
    def test_pro_1_believes_what_can_be_seen_of_an_excuse(self, keep: int | None, blamed: bool, reply: str) -> None:
        """So many newest turns stay always, as was said at the start; or the reply alone is over the watermark."""
        play = Play(settings=Settings(budget=20, watermark=0.5, keep=keep))
        names = [f"t{number}" for number in range(1, 12)]
        for name in names:
            play.say(name, f"{name}. {TWO}")
        play.look(play.raws(*names)).compact(shown=("t1",), reply="Done.")
        left = [summary("s1", "Done."), *play.raws(*names[1:])]
        play.look(left).compact(REFUSED, shown=("t2",), reply=reply).look(left)

        assert bool(judge("PRO-1", play).failures) == (blamed and reply == "Done.")

    @pytest.mark.parametrize(("budget", "blamed"), [(25, True), (26, False), (31, False)])
    def test_pro_1_lets_everybody_round(self, budget: int, blamed: bool) -> None:
        """Eight turns of 13 characters are 26 tokens, and 32 where each turn is rounded up."""
        play = Play(settings=Settings(budget=budget))
        names = [f"t{number}" for number in range(1, 9)]
        for name in names:
            play.say(name, f"So it is: {name}.")
        for _ in range(2):
            play.look(play.raws(*names)).compact(NOTHING)
        play.look(play.raws(*names))

        assert bool(judge("PRO-1", play).failures) == blamed

    @pytest.mark.parametrize("outcome", [Outcome(kind=OutcomeKind.NOTHING), REFUSED, COMMITTED])
    def test_pro_1_names_a_compactor_that_never_replaces_anything(self, outcome: Outcome) -> None:
        judged = self.never_replaced(outcome, turns=7)

        assert (
            "not one turn was ever replaced" in judged.failures[-1].sentence
            or "no lower" in judged.failures[0].sentence
        )

    @pytest.mark.parametrize("outcome", [Outcome(kind=OutcomeKind.NOTHING), REFUSED, FAILED, COMMITTED])
    @pytest.mark.parametrize("replaced", [False, True])
    def test_pro_1_judges_a_window_that_has_no_budget(self, outcome: Outcome, replaced: bool) -> None:
        names = [f"t{number}" for number in range(1, 80)]
        play = Play(settings=Settings())
        for name in names:
            play.say(name, f"{name}. {TWO}")
        play.look(play.raws(*names))
        if replaced:
            play.compact(shown=("t1",), reply="Done.").look([summary("s1", "Done."), *play.raws(*names[1:])])
        for _ in range(4):
            play.compact(outcome, shown=("t2",), reply="Done.")
            play.look([summary("s1", "Done."), *play.raws(*names[1:])] if replaced else play.raws(*names))
        judged = judge("PRO-1", play)

        if not replaced:
            assert "not one turn was ever replaced" in judged.failures[-1].sentence
        assert not [failure for failure in judged.failures if "watermark" in failure.sentence]

    @pytest.mark.parametrize("turns", [1, 3, 6])
    def test_pro_1_asks_nobody_to_replace_the_latest_turns(self, turns: int) -> None:
        held = Outcome(kind=OutcomeKind.NOTHING, reason="the latest turns stay as they are")

        assert self.never_replaced(held, turns=turns).failures == ()

    @pytest.mark.parametrize("together", [True, False])
    def test_pro_1_asks_nobody_to_part_the_latest_turns_from_what_they_answer(self, together: bool) -> None:
        """The sixth last turn is a result: its call stays, with the results of what was called together with it."""
        play = Play(settings=self.SMALL).say("t1", ONE)
        names = [f"c{number}" for number in range(4)]
        calls = tuple(ToolCall(id=name, name="look", arguments=f'{{"at": "{name}"}}') for name in names)
        turns = [Turn(id="asking", speaker="assistant", text=THREE, calls=calls if together else ())]
        turns += [
            Turn(id=f"of-{name}", speaker="tool", text=f"{name}. {TWO}", result_of=name if together else None)
            for name in names
        ]
        turns += [Turn(id=f"z{number}", speaker="assistant", text=f"{number}. {TWO}") for number in range(5)]
        for turn in turns:
            play.texts[turn.id] = "\n".join((turn.text or "", *(call.arguments for call in turn.calls)))
            play.steps.append(Append(turn=turn, facts=()))
            play.call("append", {"turn": turn})
        left = [summary("s1", "Done."), *play.raws(*(turn.id for turn in turns))]
        play.look(play.raws("t1", *(turn.id for turn in turns))).compact(shown=("t1",), reply="Done.").look(left)
        held = Outcome(kind=OutcomeKind.NOTHING, reason="the latest turns stay as they are")
        judged = judge("PRO-1", play.compact(held).look(left))

        assert bool(judged.failures) is not together

    def test_pro_1_names_a_window_that_stays_over_without_a_word(self) -> None:
        play = Play(settings=self.SMALL).say("t1", ONE).say("t2", TWO).say("t3", THREE).look(WINDOW)
        left = [summary("s1", "Done."), raw("t2", TWO), raw("t3", THREE)]
        play.compact(shown=("t1",), reply="Done.").look(left)
        play.compact(Outcome(kind=OutcomeKind.NOTHING)).look(left)

        assert "brings it no lower" in judge("PRO-1", play).failures[0].sentence

    def over(self, outcome: Outcome, *, reply: str = "Done.", turns: int = 9, times: int = 1) -> Any:
        """A window that was compacted once stays over its watermark with so many turns in it."""
        play = Play(settings=self.SMALL)
        for number in range(1, turns + 2):
            play.say(f"t{number}", f"{number}. {TWO}")
        left = [f"t{number}" for number in range(2, turns + 2)]
        play.look(play.raws("t1", *left)).compact(shown=("t1",), reply="Done.")
        for _ in range(times):
            play.look([summary("s1", "Done."), *play.raws(*left)]).compact(outcome, shown=tuple(left), reply=reply)
        return judge("PRO-1", play.look([summary("s1", "Done."), *play.raws(*left)]))

    @pytest.mark.parametrize(
        "outcome",
        [
            Outcome(kind=OutcomeKind.NOTHING, reason="-"),
            Outcome(kind=OutcomeKind.REFUSED, reason="insufficient provenance"),
            Outcome(kind=OutcomeKind.REFUSED, reason="a gate", facts=("x",)),
            Outcome(kind=OutcomeKind.REFUSED, reason="a gate", facts=("canary was green",)),
        ],
    )
    def test_pro_1_takes_no_excuse_that_names_nothing_the_reply_left_out(self, outcome: Outcome) -> None:
        judged = self.over(outcome, reply="The canary was green all night.")

        assert "names no fact" in judged.failures[0].sentence
        assert judged.triggered == 1

    def test_pro_1_says_nothing_of_facts_where_the_compactor_speaks_of_none_but_of_the_summary(self) -> None:
        long = "Notes. " * 5 + "Done."
        for outcome, reply in (
            (Outcome(kind=OutcomeKind.FAILED, reason="still over its watermark"), "Notes."),
            (Outcome(kind=OutcomeKind.FAILED, reason="still over its watermark"), long),
            (Outcome(kind=OutcomeKind.REFUSED, reason="still over its watermark"), long),
        ):
            (failure,) = self.over(outcome, reply=reply).failures

            assert "fact" not in failure.sentence
            assert failure.sentence.endswith(
                f": it says “still over its watermark”, of an answer of its model of {-(-len(reply) // 4)} tokens."
            )

    @given(lengths=st.lists(st.integers(min_value=1, max_value=120), min_size=7, max_size=12))
    def test_pro_1_counts_as_the_protocol_does_in_what_it_says(self, lengths: list[int]) -> None:
        texts = {f"t{n}": f"{n:x}" + "x" * length for n, length in enumerate(lengths)}
        play = Play(settings=Settings(budget=4, watermark=0.5))
        for turn, text in texts.items():
            play.say(turn, text)
        left = play.raws(*texts)
        play.look(left)
        for _ in range(2):
            play.compact(NOTHING, shown=tuple(texts)).look(left)
        tokens = sum(-(-len(text) // 4) for text in texts.values())

        over = [each for each in judge("PRO-1", play).failures if "brings it no lower" in each.sentence]
        assert [each.sentence.split(",")[0] for each in over] == [f"The window holds {tokens} tokens"]

    def test_pro_1_neither_blames_nor_counts_a_refusal_for_what_the_reply_left_out(self) -> None:
        judged = self.over(Outcome(kind=OutcomeKind.REFUSED, reason="a gate", facts=("canary was green",)))

        assert judged.failures == ()
        assert judged.triggered == 0
        assert "left out" in str(judged.note)

    @pytest.mark.parametrize(("times", "turns", "fails"), [(1, 9, False), (3, 9, True), (3, 5, False)])
    def test_pro_1_wants_several_commits_to_bring_the_window_down(self, times: int, turns: int, fails: bool) -> None:
        judged = self.over(COMMITTED, times=times, turns=turns)

        assert bool(judged.failures) is fails

    def test_pro_1_says_nothing_of_a_model_that_is_not_faithful(self) -> None:
        judged = self.compacted(FAILED, WINDOW, mode="error-text")

        assert judged.failures == ()
        assert judged.triggered == 0

    def test_pro_1_says_nothing_of_a_session_that_is_small(self) -> None:
        play = Play(settings=Settings(budget=2000, watermark=0.5)).say("t1", ONE).look([raw("t1", ONE)])

        assert judge("PRO-1", play.compact(NOTHING).look([raw("t1", ONE)])).triggered == 0
