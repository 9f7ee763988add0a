"""PTR-1, PTR-3, PTR-4, CRA-1, CRA-2, IDX-2, ISO-1 on histories written by hand."""

import pytest
from history_builder import COMMITTED, KEEPING, PLAIN, Play, answer, found, judge, raw, slot, summary

from anchorhold.history import EventType
from anchorhold_spec.vocabulary import AnswerKind, CarrierKind, Item, Outcome, OutcomeKind, Pointer

ONE = "Please look at the rollout first."
TWO = "The canary was green all night."
THREE = "Then the import job can follow."
FULL = (*KEEPING, "evict", "reopen", "crash")
BOTH = {"k1": found(ONE), "k2": found(TWO)}


def point(*covers: str, summary: str = "s1", token: str | None = None) -> Pointer:
    return Pointer(summary=summary, token=token or f"k{covers[0][1:]}", covers=covers)


EACH = [point("t1"), point("t2")]


def told(operations: tuple[str, ...] = FULL, *, covers: tuple[str, ...] = ("t1", "t2")) -> Play:
    play = Play(operations)
    play.say("t1", ONE).say("t2", TWO).look(play.raws("t1", "t2"))
    return play.compact(shown=("t1", "t2"), reply="In short.")


class TestPointersAtTheCommit:
    def test_ptr_1_holds_where_each_replaced_turn_can_be_had_back(self) -> None:
        judged = judge("PTR-1", told().look([summary("s1", "In short.")], pointers=EACH, answers=BOTH))

        assert judged.failures == ()
        assert judged.triggered == 2

    @pytest.mark.parametrize(
        ("pointers", "answers"),
        [
            ([Pointer(summary="s1", token="span")], {"span": found(f"user: {ONE}\nuser: {TWO}")}),
            ([point("t1", "t2", token="1-2")], {"1-2": found(f"{ONE}\n{TWO}")}),
            (
                [Pointer(summary="s1", token="f.json")],
                {"f.json": found(f'[{{"text": "{ONE}"}}, {{"text": "{TWO}"}}]')},
            ),
        ],
    )
    def test_ptr_1_lets_one_pointer_lead_to_several_turns(self, pointers: list[Pointer], answers: dict) -> None:
        judged = judge("PTR-1", told().look([summary("s1", "…")], pointers=pointers, answers=answers))

        assert judged.failures == ()
        assert judged.triggered == 2

    @pytest.mark.parametrize(
        ("pointers", "answers", "why"),
        [
            ([point("t1")], {"k1": found(ONE)}, "no pointer stands for it"),
            (EACH, {"k1": found(ONE), "k2": answer(AnswerKind.UNANCHORED)}, "pointer k2 answers with “unanchored”"),
            (EACH, {"k1": found(ONE), "k2": found(ONE)}, "pointer k2 answers with other words"),
            (EACH, {"k1": found(ONE), "k2": found(TWO[:12])}, "pointer k2 answers with other words"),
            (EACH, {"k1": found(ONE), "k2": RuntimeError("no such row")}, "error (no such row)"),
        ],
    )
    def test_ptr_1_names_the_turn_that_cannot_be_had_back(self, pointers: list, answers: dict, why: str) -> None:
        judged = judge("PTR-1", told().look([summary("s1", "…")], pointers=pointers, answers=answers))

        assert [failure.fact for failure in judged.failures] == ["t2"]
        assert why in judged.failures[0].sentence
        assert TWO in judged.failures[0].sentence

    def test_ptr_1_accepts_a_summary_that_is_declared_pending(self) -> None:
        item = summary("s1", "…", pending=True)
        declared = told().look([item], pointers=EACH, answers={"k1": found(ONE), "k2": answer(AnswerKind.UNANCHORED)})
        answered = told().look([item], pointers=EACH, answers={"k1": found(ONE), "k2": answer(AnswerKind.PENDING)})

        assert judge("PTR-1", declared).failures == ()
        assert judge("PTR-1", answered).failures == ()
        assert judge("PTR-1", answered).triggered == 1

    def test_ptr_1_does_not_take_a_pending_answer_for_a_declaration(self) -> None:
        play = told().look(
            [summary("s1", "…")], pointers=EACH, answers={"k1": found(ONE), "k2": answer(AnswerKind.PENDING)}
        )

        judged = judge("PTR-1", play)

        assert [failure.fact for failure in judged.failures] == ["t2"]
        assert "nothing declared pending" in judged.failures[0].sentence

    @pytest.mark.parametrize("times", [3, 4])
    @pytest.mark.parametrize("landed", [True, False])
    def test_ptr_1_lets_what_is_declared_wait_and_not_for_ever(self, times: int, landed: bool) -> None:
        item, outstanding = summary("s1", "…", pending=True), {"k1": found(ONE), "k2": answer(AnswerKind.PENDING)}
        play = told()
        for _ in range(times):
            play.look([item], pointers=EACH, answers=outstanding).call("reopen")
        play.look([item], pointers=EACH, answers=BOTH if landed else outstanding)

        late = not landed or times == 4
        assert [failure.fact for failure in judge("PTR-1", play).failures] == (["t2"] if late else [])

    @pytest.mark.parametrize("settled", [True, False])
    @pytest.mark.parametrize("landed", [True, False])
    @pytest.mark.parametrize("held", [True, False])
    def test_ptr_1_lets_it_wait_for_settle_where_that_is_offered(
        self, settled: bool, landed: bool, held: bool
    ) -> None:
        item, outstanding = summary("s1", "…", pending=True), {"k1": found(ONE), "k2": answer(AnswerKind.PENDING)}
        play = Play((*FULL, "hold_copies", "settle"))
        play.say("t1", ONE).say("t2", TWO).look(play.raws("t1", "t2")).call("hold_copies", {"held": held})
        play.compact(shown=("t1", "t2"), reply="In short.")
        for _ in range(8):
            play.look([item], pointers=EACH, answers=outstanding).call("reopen")
        if settled:
            play.call("settle")
        play.look([item], pointers=EACH, answers=BOTH if landed else outstanding)

        failures = judge("PTR-1", play).failures
        assert [failure.fact for failure in failures] == (["t2"] if settled and not landed else [])
        assert all("after all background work had ended" in failure.sentence for failure in failures)

    def test_ptr_1_blames_a_summary_that_is_no_longer_pending_without_its_source(self) -> None:
        gone = {"k1": found(ONE), "k2": answer(AnswerKind.UNANCHORED)}
        play = told().look([summary("s1", "…", pending=True)], pointers=EACH, answers=gone).call("reopen")

        judged = judge("PTR-1", play.look([summary("s1", "…")], pointers=EACH, answers=gone))

        assert [failure.fact for failure in judged.failures] == ["t2"]

    def test_ptr_1_speaks_of_notices_that_carry_pointers_as_well(self) -> None:
        notice = Item(id="n1", kind=CarrierKind.OTHER, text="[2 earlier turns are archived]")
        pointers = [point("t1", summary="n1"), point("t2", summary="n1")]
        kept = Play(FULL).say("t1", ONE).say("t2", TWO)
        kept.look(kept.raws("t1", "t2")).compact().look([notice], pointers=pointers, answers=BOTH)
        lost = Play(FULL).say("t1", ONE).say("t2", TWO)
        lost.look(lost.raws("t1", "t2")).compact().look([notice], pointers=pointers[:1], answers={"k1": found(ONE)})

        assert judge("PTR-1", kept).failures == ()
        assert judge("PTR-1", kept).triggered == 2
        assert [failure.fact for failure in judge("PTR-1", lost).failures] == ["t2"]

    def test_ptr_1_is_not_triggered_by_turns_that_stay_in_the_window(self) -> None:
        play = told()

        assert judge("PTR-1", play.look([summary("s1", "…"), *play.raws("t1", "t2")])).triggered == 0

    def test_ptr_1_looks_again_after_the_session_was_opened_again(self) -> None:
        play = told().look([summary("s1", "…")], pointers=EACH, answers=BOTH).call("reopen")
        lost = play.look(
            [summary("s1", "…")], pointers=EACH, answers={"k1": found(ONE), "k2": answer(AnswerKind.FOREIGN)}
        )

        judged = judge("PTR-1", lost)

        assert [failure.fact for failure in judged.failures] == ["t2"]
        assert "opened again" in judged.failures[0].sentence

    def test_ptr_1_does_not_blame_an_eviction_that_was_asked_for(self) -> None:
        play = told().look([summary("s1", "…")], pointers=EACH, answers=BOTH)
        play.call("evict", {"token": "k2"}, COMMITTED)
        gone = {"k1": found(ONE), "k2": answer(AnswerKind.EXPIRED)}
        play.look([summary("s1", "…")], pointers=EACH[:1], answers=gone).call("reopen")
        play.look([summary("s1", "…")], pointers=EACH[:1], answers=gone)

        assert judge("PTR-1", play).failures == ()


class TestExactCoverage:
    def test_ptr_3_holds_where_what_went_was_shown_and_declared(self) -> None:
        judged = judge("PTR-3", told(PLAIN).look([summary("s1", "In short.", covers=("t1", "t2"))]))

        assert judged.failures == ()
        assert judged.triggered == 2

    def test_ptr_3_lets_a_summary_declare_nothing(self) -> None:
        assert judge("PTR-3", told(PLAIN).look([summary("s1", "In short.")])).failures == ()

    def test_ptr_3_lets_the_shown_text_be_escaped_and_framed(self) -> None:
        play = Play().say("t1", 'He said "go"\nand left.')
        play.look(play.raws("t1")).compact(
            shown=('[{"role": "user", "content": "He said \\"go\\"\\nand left."}]',), reply="x"
        )

        assert judge("PTR-3", play.look([summary("s1", "x")])).failures == ()

    def test_ptr_3_names_the_turn_that_was_never_shown(self) -> None:
        play = Play().say("t1", ONE).say("t2", TWO)
        play.look(play.raws("t1", "t2")).compact(shown=("t2",), reply="In short.")

        judged = judge("PTR-3", play.look([summary("s1", "In short.")]))

        assert [failure.fact for failure in judged.failures] == ["t1"]
        assert "never shown" in judged.failures[0].sentence

    def test_ptr_3_leaves_it_to_out_1_what_a_failed_call_may_be_replaced_by(self) -> None:
        play = Play().say("t1", ONE)
        play.look(play.raws("t1")).compact(shown=("t1",), reply=RuntimeError("rate limit"))
        play.look([summary("s1", "x")])

        assert judge("PTR-3", play).failures == ()
        assert {failure.fact for failure in judge("OUT-1", play).failures} == {"s1", "t1"}

    @pytest.mark.parametrize(
        ("covers", "live", "fact", "why"),
        [
            (("t1",), (), "t2", "no summary declares"),
            (("t1", "t2"), ("t2",), "t2", "still in the window"),
        ],
    )
    def test_ptr_3_compares_what_is_declared(self, covers: tuple, live: tuple, fact: str, why: str) -> None:
        play = told(PLAIN)

        judged = judge("PTR-3", play.look([summary("s1", "…", covers=covers), *play.raws(*live)]))

        assert [failure.fact for failure in judged.failures] == [fact]
        assert why in judged.failures[0].sentence

    @pytest.mark.parametrize(
        ("outcome", "covers", "why"),
        [
            (Outcome(kind=OutcomeKind.COMMITTED, summary="s1", covered=("t1", "t2")), ("t1", "t2"), None),
            (Outcome(kind=OutcomeKind.COMMITTED, covered=("span-1",)), None, None),
            (Outcome(kind=OutcomeKind.COMMITTED, summary="s9"), ("t1", "t2"), "which is not in the window"),
            (Outcome(kind=OutcomeKind.COMMITTED, covered=("t1",)), ("t1", "t2"), "does not say so"),
            (Outcome(kind=OutcomeKind.COMMITTED, covered=("t1", "t2", "t3")), None, "still in the window"),
            (COMMITTED, ("t1", "t2", "t9999"), "which is no turn and no item"),
            (Outcome(kind=OutcomeKind.COMMITTED, covered=("t1", "t2", "t9999")), None, "no turn and no item"),
        ],
    )
    def test_ptr_3_holds_the_outcome_against_the_window(
        self, outcome: Outcome, covers: tuple | None, why: str | None
    ) -> None:
        play = Play().say("t1", ONE).say("t2", TWO).say("t3", THREE)
        play.look(play.raws("t1", "t2", "t3")).compact(outcome, shown=("t1", "t2"), reply="In short.")

        failures = judge("PTR-3", play.look([summary("s1", "In short.", covers=covers), *play.raws("t3")])).failures

        assert (why is None) == (failures == ())
        assert why is None or why in failures[0].sentence

    def test_ptr_3_lets_turns_that_stay_be_shown_and_says_so(self) -> None:
        play = Play().say("t1", ONE).say("t2", TWO).say("t3", THREE)
        play.look(play.raws("t1", "t2", "t3")).compact(shown=("t1", "t2", "t3"), reply="In short.")

        judged = judge("PTR-3", play.look([summary("s1", "In short.", covers=("t1", "t2")), *play.raws("t3")]))

        assert judged.failures == ()
        assert "shown as well" in str(judged.note)

    def test_ptr_3_asks_for_nothing_to_be_shown_where_no_model_is(self) -> None:
        notice = summary("n1", "[earlier turns are archived]", covers=("t1",))
        play = Play().say("t1", ONE).say("t2", TWO)
        play.look(play.raws("t1", "t2")).compact()
        right, wrong = [notice, *play.raws("t2")], [notice]

        assert judge("PTR-3", play.look(right)).failures == ()
        more = Play().say("t1", ONE).say("t2", TWO)
        more.look(more.raws("t1", "t2")).compact()
        assert [failure.fact for failure in judge("PTR-3", more.look(wrong)).failures] == ["t2"]

    @pytest.mark.parametrize("shown", ["In short.", f"{ONE}\n{TWO}"])
    def test_ptr_3_wants_a_replaced_summary_shown_or_what_is_under_it(self, shown: str) -> None:
        def play(*messages: str) -> Play:
            made = (
                told(PLAIN).look([summary("s1", "Summary so far:\nIn short.", covers=("t1", "t2"))]).say("t3", THREE)
            )
            made.look([summary("s1", "Summary so far:\nIn short.", covers=("t1", "t2")), *made.raws("t3")])
            made.compact(shown=(*messages, "t3"), reply="Shorter.")
            return made.look([summary("s2", "Shorter.", covers=("t1", "t2", "t3"))])

        assert judge("PTR-3", play(shown)).failures == ()
        assert [failure.fact for failure in judge("PTR-3", play()).failures] == ["s1"]


def second_generation(pointers: list[Pointer], answers: dict) -> Play:
    play = told().look([summary("s1", "In short.")], pointers=EACH, answers=BOTH).say("t3", THREE)
    play.look([summary("s1", "In short."), *play.raws("t3")], pointers=EACH, answers=BOTH)
    play.compact(shown=("In short.", "t3"), reply="Shorter.")
    return play.look([summary("s2", "Shorter.")], pointers=pointers, answers={**BOTH, "k3": found(THREE), **answers})


def test_ptr_4_wants_every_original_one_step_from_the_latest_summary() -> None:
    carried = [point(t, summary="s2") for t in ("t1", "t2", "t3")]
    kept = judge("PTR-4", second_generation(carried, {}))
    only_latest = judge("PTR-4", second_generation(carried[2:], {}))
    by_summary = judge(
        "PTR-4", second_generation([*carried[2:], Pointer(summary="s2", token="s1")], {"s1": found("In short.")})
    )

    assert kept.failures == ()
    assert kept.triggered == 2
    assert [failure.fact for failure in only_latest.failures] == ["t1", "t2"]
    assert [failure.fact for failure in by_summary.failures] == ["t1", "t2"]


def crashed(*live: object, pointers: list[Pointer] | None = None, answers: dict | None = None) -> Play:
    play = Play(FULL)
    play.say("t1", ONE).say("t2", TWO).say("t3", THREE).look(play.raws("t1", "t2", "t3"))
    play.call("crash", {"point": "commit"})
    play.call("compact", {}, ended=EventType.INFO, error="died at commit", asked=[([ONE, TWO], "In short.")])
    play.call("reopen")
    items = [item if not isinstance(item, str) else raw(item, play.texts[item]) for item in live]
    return play.look(items, pointers=pointers or [], answers=answers or {})


def test_cra_1_accepts_the_old_state_and_the_new_one() -> None:
    old = crashed("t1", "t2", "t3")
    new = crashed(summary("s1", "In short.", covers=("t1", "t2")), "t3", pointers=EACH, answers=BOTH)

    assert judge("CRA-1", old).failures == ()
    assert judge("CRA-1", new).failures == ()
    assert judge("CRA-1", new).triggered == 1


@pytest.mark.parametrize(
    ("play", "why"),
    [
        (crashed("t3"), "no summary stands for it"),
        (crashed("t1", summary("s1", "In short.", covers=("t1", "t2")), "t3"), "in the window as well"),
        (crashed(summary("s1", "In short."), "t1", "t2", "t3"), "so is everything that was there before"),
        (crashed(summary("s1", "In short."), "t3"), "no pointer leads"),
        (crashed(summary("s1", ""), "t3", pointers=EACH, answers=BOTH), "says nothing"),
    ],
)
def test_cra_1_names_what_is_half_done(play: Play, why: str) -> None:
    judged = judge("CRA-1", play)

    assert len(judged.failures) == 1
    assert why in judged.failures[0].sentence
    assert "commit" in judged.failures[0].sentence


def test_cra_2_wants_a_second_recovery_to_change_nothing() -> None:
    still = crashed("t1", "t2", "t3").call("reopen")
    still.look(still.raws("t1", "t2", "t3"))
    again = crashed("t1", "t2", "t3").call("reopen")
    again.look(again.raws("t1", "t2"))

    assert judge("CRA-2", still).failures == ()
    assert judge("CRA-2", still).triggered == 1
    assert "changed it" in judge("CRA-2", again).failures[0].sentence


SAME = "Yes, go on with it."


def twins(pointers: list[Pointer], answers: dict, *, live: tuple[str, ...] = ()) -> Play:
    play = Play(FULL)
    play.say("t1", SAME).say("t2", TWO).say("t3", SAME).look(play.raws("t1", "t2", "t3"))
    play.compact(shown=("t1", "t2", "t3"), reply="x")
    return play.look([summary("s1", "x"), *play.raws(*live)], pointers=pointers, answers=answers)


@pytest.mark.parametrize(
    ("pointers", "answers"),
    [
        ([point("t1"), point("t3")], {"k1": found(SAME), "k3": found(SAME)}),
        ([Pointer(summary="s1", token="file")], {"file": found(f"{SAME}\n\n{TWO}\n\n{SAME}")}),
    ],
)
def test_idx_2_is_held_by_designs_that_keep_both_turns(pointers: list[Pointer], answers: dict) -> None:
    judged = judge("IDX-2", twins(pointers, answers))

    assert judged.failures == ()
    assert judged.triggered == 1


@pytest.mark.parametrize(
    ("pointers", "answers"),
    [
        ([point("t1", "t3", token="hash")], {"hash": found(SAME)}),
        ([Pointer(summary="s1", token="file")], {"file": found(f"{SAME}\n\n{TWO}")}),
        ([point("t1"), point("t3")], {"k1": answer(AnswerKind.UNANCHORED), "k3": found(SAME)}),
        (
            [
                Pointer(summary="s1", token="a", covers=("t1",), key="9"),
                Pointer(summary="s1", token="b", covers=("t3",), key="9"),
            ],
            {"a": found(SAME), "b": found(SAME)},
        ),
    ],
)
def test_idx_2_sees_two_turns_become_one_entry(pointers: list[Pointer], answers: dict) -> None:
    judged = judge("IDX-2", twins(pointers, answers))

    assert [failure.fact for failure in judged.failures] == ["t3"]


def test_idx_2_is_not_triggered_while_both_stand_in_the_window() -> None:
    assert judge("IDX-2", twins([], {}, live=("t1", "t3"))).triggered == 0


def test_idx_2_wants_evicting_one_to_leave_the_other() -> None:
    pointers = [point("t1"), point("t3")]
    alone = twins(pointers, {"k1": found(SAME), "k3": found(SAME)}).call("evict", {"token": "k1"}, COMMITTED)
    alone.look([summary("s1", "x")], pointers=pointers[1:], answers={"k3": found(SAME)})
    both = twins(pointers, {"k1": found(SAME), "k3": found(SAME)}).call("evict", {"token": "k1"}, COMMITTED)
    both.look([summary("s1", "x")], pointers=pointers[1:], answers={"k3": answer(AnswerKind.EXPIRED)})
    refused = twins(pointers, {"k1": found(SAME), "k3": found(SAME)})
    refused.call("evict", {"token": "k1"}, Outcome(kind=OutcomeKind.REFUSED, reason="last"))
    refused.look([summary("s1", "x")], pointers=pointers, answers={"k1": found(SAME), "k3": found(SAME)})

    assert judge("IDX-2", alone).failures == ()
    assert [failure.fact for failure in judge("IDX-2", both).failures] == ["t3"]
    assert judge("IDX-2", refused).failures == ()


SECRET = slot("job J-88", "deploy target", "/srv/a7")


def two_sessions(live: list, *, asked: object = None, token: object = None) -> Play:
    play = Play((*KEEPING, "search", "switch"))
    play.say("t1", SECRET.text, SECRET).look(play.raws("t1")).call("switch", {"session": "other", "user": "v"})
    play.say("t2", TWO)
    play.look(live, answers={} if token is None else {"k1": token})
    return play if asked is None else play.call("search", {"literal": SECRET.literal}, asked)


def test_iso_1_lets_sessions_be_apart() -> None:
    judged = judge(
        "ISO-1", two_sessions([raw("t2", TWO)], asked=answer(AnswerKind.ABSENT), token=answer(AnswerKind.FOREIGN))
    )

    assert judged.failures == ()
    assert judged.triggered == 1


@pytest.mark.parametrize(
    ("play", "where"),
    [
        (two_sessions([raw("t1", SECRET.text), raw("t2", TWO)]), "of the window"),
        (two_sessions([raw("t2", TWO)], asked=found(SECRET.text)), "a search"),
        (two_sessions([raw("t2", TWO)], asked=found("the target is /srv/a7")), "a search"),
        (two_sessions([raw("t2", TWO)], token=found(SECRET.text)), "pointer k1"),
    ],
)
def test_iso_1_names_the_turn_of_the_other_session(play: Play, where: str) -> None:
    judged = judge("ISO-1", play)

    assert [failure.fact for failure in judged.failures] == ["t1"]
    assert where in judged.failures[0].sentence


@pytest.mark.parametrize(
    ("text", "covers", "lost"),
    [
        # A stub without a model stands for what it declares.
        ("Two turns are filed.", ["t3", "t4"], []),
        ("Two turns are filed.", ["t3"], ["t4"]),
        ("Two turns are filed.", None, []),
        # What a model wrote of other turns does not come to stand for more.
        ("In short. Two more turns are filed.", ["t3", "t4"], ["t3", "t4"]),
    ],
)
def test_ptr_3_nobody_has_to_be_shown_what_a_stub_of_the_compactors_own_stands_for(
    text: str, covers: list[str] | None, lost: list[str]
) -> None:
    play = told(KEEPING).say("t3", THREE).say("t4", "Nothing else is due.")
    before = summary("s1", "In short.", covers=["t1", "t2"])
    play.look([before, *play.raws("t3", "t4")]).call("compact", {}, COMMITTED)
    judged = judge("PTR-3", play.look([before, summary("s2", text, covers=covers)]))

    assert [failure.fact for failure in judged.failures] == lost


FAILS = RuntimeError("rate limit")


@pytest.mark.parametrize(
    ("asked", "lost"),
    [
        # A note of the compactor's own, alone or beside what the model did answer.
        ([(("t1", "t2"), FAILS)], []),
        ([(("t1", "t2"), FAILS), (("t1", "t2"), FAILS)], []),
        ([(("t1",), "One."), (("t2",), FAILS)], []),
        ([(("t1",), "One.")], ["t2"]),
        # It was asked again with less: what it answered is of that alone.
        ([(("t1", "t2"), FAILS), (("t1",), "One.")], ["t2"]),
        ([(("t1",), "One."), (("t1",), FAILS)], ["t2"]),
    ],
)
def test_ptr_3_what_a_call_that_failed_was_shown_is_shown_unless_it_was_asked_again_with_less(
    asked: list, lost: list[str]
) -> None:
    play = Play(KEEPING).say("t1", ONE).say("t2", TWO)
    play.look(play.raws("t1", "t2"))
    calls = [([play.texts[turn] for turn in turns], reply) for turns, reply in asked]
    play.call("compact", {}, COMMITTED, asked=calls)
    answered = [reply for _, reply in asked if reply is not FAILS]
    judged = judge("PTR-3", play.look([summary("s1", f"{' '.join(answered)}\nTwo are filed.", covers=["t1", "t2"])]))

    assert judged.triggered == 2
    assert [failure.fact for failure in judged.failures] == lost


@pytest.mark.parametrize("taking", ["forget", "rewind"])
@pytest.mark.parametrize("shown", [True, False])
def test_ptr_3_a_note_in_place_of_what_a_caller_took_away_is_shown_without_its_frame(
    taking: str, shown: bool
) -> None:
    """No compaction put it there, so that nobody had to be shown what it stands for; the next one shows it."""
    play = Play((*KEEPING, "forget", "rewind"))
    for turn in ("t1", "t2", "t3", "t4"):
        play.say(turn, f"What turn {turn} says of the rollout.")
    play.look(play.raws("t1", "t2", "t3", "t4")).compact(shown=("t1", "t2", "t3"), reply="The rollout began.")
    play.look(
        [summary("s1", "The rollout began.\n[Left out: 3 turns.]", covers=["t1", "t2", "t3"]), *play.raws("t4")]
    )
    play.call(taking, {"turn": "t2"}, COMMITTED if taking == "forget" else None)
    note = "The notes were withdrawn."
    left = ["t1", "t3"] if taking == "forget" else ["t1"]
    play.look([summary("s2", f"{note}\n[Left out: {len(left)} turns.]", covers=left)])

    assert judge("PTR-3", play).failures == ()

    play.say("t5", "And what came after it.").look(
        [summary("s2", f"{note}\n[Left out: {len(left)} turns.]", covers=left), *play.raws("t5")]
    )
    play.compact(shown=(note, "t5") if shown else ("t5",), reply="Nothing is left to do.")
    play.look([summary("s3", "Nothing is left to do.", covers=[*left, "t5"])])

    failures = judge("PTR-3", play).failures
    assert [failure.fact for failure in failures] == ([] if shown else ["s2"])
