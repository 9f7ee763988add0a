"""ANC-2, ANC-3, MAN-3, MAN-4, RET-3, PRO-1, PRO-2: what policies may take away, and what stands in the way."""

from dataclasses import replace

import pytest
from history_builder import ALL, COMMITTED, Play, answer, found, judge, slot, summary

from anchorhold.checkers import CHECKERS
from anchorhold.compactor import Mechanism, Settings
from anchorhold.verdict import Judgement, VerdictKind, decide
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
    Turn,
)

PORT = slot("argus-relay-12", "listen port", "40211")
TARGET = slot("job J-88", "deploy target", "/srv/a7")
OPS = tuple(op for op in ALL if op not in ("manifest", "search", "reconstitute"))
GONE = answer(AnswerKind.EXPIRED)


def pointer(turn: str) -> Pointer:
    return Pointer(summary="s1", token=f"p-{turn}", covers=(turn,))


def archived(*turns: str, operations: tuple[str, ...] = OPS) -> Play:
    """Two turns and a third one; the first two are replaced by a summary that says nothing of them."""
    play = Play(operations)
    play.say("a", PORT.text, PORT).say("b", TARGET.text, TARGET).say("c", "Go on.")
    play.look(play.raws("a", "b", "c"))
    play.compact(shown=("a", "b"), reply="Notes.")
    return seen(play, *turns)


def seen(play: Play, *gone: str) -> Play:
    answers = {f"p-{turn}": GONE if turn in gone else found(play.texts[turn]) for turn in ("a", "b")}
    return play.look(
        [summary("s1", "Notes.", covers=("a", "b")), *play.raws("c")],
        pointers=[pointer("a"), pointer("b")],
        answers=answers,
    )


def evict(play: Play, turn: str, outcome: Outcome = COMMITTED) -> Play:
    return play.call("evict", {"token": f"p-{turn}"}, outcome)


def refused(*facts: str, reason: str = "no") -> Outcome:
    return Outcome(kind=OutcomeKind.REFUSED, reason=reason, facts=facts)


def test_anc_2_an_eviction_that_takes_the_last_original_overrides_the_gate() -> None:
    told = judge("ANC-2", seen(evict(archived(), "a"), "a"))

    assert [failure.fact for failure in told.failures] == [PORT.text]
    assert "request to evict" in told.failures[0].sentence


def test_anc_2_time_that_takes_the_last_original_overrides_the_gate() -> None:
    told = judge("ANC-2", seen(archived().call("expire", {"seconds": 9.0}), "a", "b"))

    assert {failure.fact for failure in told.failures} == {PORT.text, TARGET.text}


def test_anc_2_what_is_still_there_after_time_passed_holds() -> None:
    told = judge("ANC-2", seen(archived().call("expire", {"seconds": 9.0})))

    assert (told.triggered, told.failures) == (2, ())


@pytest.mark.parametrize("facts", [(), ("something else",)])
def test_anc_2_a_refusal_that_names_no_fact_is_caught_where_others_are_granted(facts: tuple[str, ...]) -> None:
    play = Play(OPS).say("x", "A word.")
    evict(archived(), "a")
    play = seen(evict(archived(), "a", refused(*facts)))
    assert judge("ANC-2", play).failures == ()

    play = seen(evict(play, "b", COMMITTED), "b")
    told = [failure for failure in judge("ANC-2", play).failures if "refused" in failure.sentence]

    assert len(told) == 1


def test_anc_2_a_refusal_that_names_the_fact_holds() -> None:
    play = seen(evict(archived(), "a", refused("listen port = 40211")))
    told = judge("ANC-2", seen(evict(play, "b", COMMITTED), "b"))

    assert [failure.fact for failure in told.failures] == [TARGET.text]


def twins(second: Outcome) -> Play:
    play = Play(OPS)
    play.say("a", f"First. {PORT.text}", PORT).say("b", f"Again. {PORT.text}", PORT).say("c", "Go on.")
    play.look(play.raws("a", "b", "c")).compact(shown=("a", "b"), reply="Notes.")
    seen(evict(seen(play), "a"), "a")
    both = second.kind is OutcomeKind.COMMITTED
    return seen(evict(play, "b", second), *("ab" if both else "a"))


def test_anc_3_two_evictions_that_count_on_each_other_are_caught() -> None:
    told = judge("ANC-3", twins(COMMITTED))

    assert len(told.failures) == 1
    assert "turn a" in told.failures[0].sentence
    assert "turn b" in told.failures[0].sentence


def test_anc_3_the_second_is_refused() -> None:
    told = judge("ANC-3", twins(refused(PORT.text)))

    assert (told.triggered, told.failures) == (1, ())


BYTES = bytes(range(128, 256))


def with_bytes(*, replaced: bool, entry: bool = False) -> Play:
    play = Play(ALL)
    play.call("append", {"turn": Turn(id="x", speaker="user", data=BYTES)})
    play.say("a", PORT.text, PORT).say("c", "Go on.")
    item = Item(id="m-x", kind=CarrierKind.RAW, data=BYTES, turn="x")
    play.look([item, *play.raws("a", "c")]).compact(shown=("a",), reply="Notes.")
    entries = [Entry(literal="an image", source="x")] if entry else []
    return play.look(
        [summary("s1", "Notes."), *([] if replaced else [item]), *play.raws("c")], manifests={"s1": entries}
    )


@pytest.mark.parametrize(("replaced", "entry", "failures"), [(True, False, 1), (True, True, 0), (False, False, 0)])
def test_man_3_bytes_stay_where_nothing_was_read_from_them(replaced: bool, entry: bool, failures: int) -> None:
    told = judge("MAN-3", with_bytes(replaced=replaced, entry=entry))

    assert told.triggered == 1
    assert len(told.failures) == failures


def said_again(*, answered: AnswerKind, held: bool) -> Play:
    play = archived()
    play.call("tombstone", {"literal": PORT.literal, "source": "a", "reason": "done"}, COMMITTED)
    stone = Tombstone(literal=PORT.literal, source="a", decided_by="caller", reason="done")
    play.operations = (*play.operations, "search")
    play.say("d", f"It still holds. {PORT.text}", PORT).compact(shown=("d",), reply="Notes.")
    play.look(
        [summary("s2", "Notes.")],
        pointers=[Pointer(summary="s2", token="p-d", covers=("d",))],
        answers={"p-d": found(play.texts["d"]) if held else GONE},
        tombstones=[stone],
    )
    return play.call("search", {"literal": PORT.literal}, answer(answered))


def test_man_4_what_is_said_again_is_not_buried_with_what_was_dropped() -> None:
    buried = judge("MAN-4", said_again(answered=AnswerKind.TOMBSTONED, held=True))
    lost = judge("MAN-4", said_again(answered=AnswerKind.UNANCHORED, held=False))
    right = judge("MAN-4", said_again(answered=AnswerKind.PENDING, held=True))

    assert "still answered with “tombstoned”" in buried.failures[0].sentence
    assert "nothing holds it" in lost.failures[0].sentence
    assert (right.triggered > 0, right.failures) == (True, ())


def stuck(*, replaces: bool, odd: Turn | None = None, settings: Settings | None = None) -> Play:
    play = Play(mechanisms=("summariser",), settings=settings)
    odd = odd or Turn(id="x", speaker="user", data=BYTES)
    play.call("append", {"turn": odd})
    item = Item(id="m-x", kind=CarrierKind.RAW, text=odd.text, data=odd.data, turn="x")
    turns = [f"t{n}" for n in range(30)]
    for turn in turns:
        play.say(turn, f"Words of turn {turn}.")
    for _ in range(4):
        play.look([item, *play.raws(*turns)])
        if not replaces:
            play.compact(Outcome(kind=OutcomeKind.REFUSED, reason="a turn cannot be read"))
            continue
        play.compact(shown=turns[:20], reply="Notes.")
        turns = turns[20:]
        play.look([item, summary("s1", "Notes."), *play.raws(*turns)])
        break
    return play.look([item, *([summary("s1", "Notes.")] if replaces else []), *play.raws(*turns)])


def test_pro_2_a_turn_that_cannot_be_read_does_not_stop_the_rest() -> None:
    assert "no text" in judge("PRO-2", stuck(replaces=False)).failures[0].sentence
    assert judge("PRO-2", stuck(replaces=True)).failures == ()


def test_pro_2_a_turn_as_long_as_many_does_not_stop_the_rest() -> None:
    long = Turn(id="x", speaker="assistant", text="A line of a log. " * 200)
    usual = Turn(id="x", speaker="assistant", text="Three words more.")

    assert "850 tokens long" in judge("PRO-2", stuck(replaces=False, odd=long)).failures[0].sentence
    assert judge("PRO-2", stuck(replaces=True, odd=long)).triggered == 1
    assert judge("PRO-2", stuck(replaces=False, odd=usual)).triggered == 0


BY_WORD = "it says that it always keeps its 1000 newest turns (`keep`)"


@pytest.mark.parametrize("rule", ["PRO-1", "PRO-2"])
def test_pro_who_keeps_everything_by_its_own_word_is_not_held_and_the_reason_says_so(rule: str) -> None:
    checker = next(checker for checker in CHECKERS if checker.rule == rule)
    settings = Settings(budget=100, watermark=0.7, keep=1000)
    told = judge(rule, stuck(replaces=False, settings=settings))
    verdict = decide(checker, present=frozenset(), hidden={}, judgements=[told])

    assert (told.triggered, told.failures) == (0, ())
    assert verdict.kind is VerdictKind.INCONCLUSIVE
    assert BY_WORD in verdict.reason
    # Without that word it is blamed, and one that says it of fewer turns than stand there too.
    for keep in (None, 12):
        blamed = judge(rule, stuck(replaces=False, settings=replace(settings, keep=keep)))
        assert len(blamed.failures) == 1


def degraded(*, said: bool, status: str | None = "degraded: a cell is damaged", after: str | None = None) -> Play:
    """The original of a statement is damaged; the summary that says it is replaced by one that says it as well, or
    not. Nobody read the status right before, which is nothing unusual."""
    play = Play((*OPS, "override"))
    play.say("a", PORT.text, PORT).say("b", TARGET.text, TARGET).say("c", "Go on.").look(play.raws("a", "b", "c"))
    play.compact(shown=("a", "b"), reply=PORT.text)
    pointers, answers = [pointer("a"), pointer("b")], {"p-a": ValueError("damaged"), "p-b": found(TARGET.text)}
    play.look([summary("s1", PORT.text, covers=("a", "b")), *play.raws("c")], pointers=pointers)
    play.call("corrupt", {"token": "p-a"}, True)
    play.look([summary("s1", PORT.text, covers=("a", "b")), *play.raws("c")], pointers=pointers, answers=answers)
    if status is not None:
        play.call("status", {}, status)
    play.say("d", "And on.")
    play.call("live", {}, [summary("s1", PORT.text, covers=("a", "b")), *play.raws("c", "d")])
    play.compact(shown=("c",), reply="Notes.")
    text = PORT.text if said else "Notes."
    play.look([summary("s2", text, covers=("a", "b", "c")), *play.raws("d")], pointers=pointers, answers=answers)
    return play if after is None else play.call("status", {}, after)


@pytest.mark.parametrize(
    ("play", "failures"),
    [
        (degraded(said=False), 1),
        (degraded(said=False, after="degraded: a cell is damaged"), 1),
        (degraded(said=True), 0),
        # It was repaired meanwhile, or never known to be degraded: other rules speak of that.
        (degraded(said=False, after="lossless"), 0),
        (degraded(said=False, status="lossless"), 0),
        (degraded(said=False, status=None), 0),
    ],
)
def test_ret_3_while_degraded_the_last_summary_that_says_something_goes_on_saying_it(
    play: Play, failures: int
) -> None:
    told = judge("RET-3", play)

    assert [failure.fact for failure in told.failures] == [str_of(PORT)] * failures


@pytest.mark.parametrize(
    ("listed", "kept", "failures"),
    [
        # Refused: the summary stands as it stood, and its manifest never had the statement.
        (False, True, 0),
        (True, True, 0),
        (True, False, 1),
        # What its manifest did not have, it held no more than the damaged original did.
        (False, False, 0),
    ],
)
@pytest.mark.parametrize("read", [True, False])
def test_ret_3_a_manifest_that_one_look_did_not_read_is_that_of_the_other(
    listed: bool, kept: bool, failures: int, read: bool
) -> None:
    play = Play((*OPS, "manifest"))
    play.say("a", PORT.text, PORT).say("b", "Go on.").look(play.raws("a", "b")).compact(shown=("a",), reply=PORT.text)
    entries = {"s1": [Entry(literal=PORT.literal, source="a")] if listed else []}
    before, answers = [summary("s1", PORT.text, covers=("a",)), *play.raws("b")], {"p-a": ValueError("damaged")}
    play.look(before, pointers=[pointer("a")], answers={"p-a": found(PORT.text)}, manifests=entries)
    play.call("corrupt", {"token": "p-a"}, True)
    play.look(before, pointers=[pointer("a")], answers=answers, manifests=entries)
    play.call("status", {}, "degraded: a cell is damaged").say("c", "And on.")
    before += play.raws("c")
    play.call("live", {}, before)
    if read:
        play.call("manifest", {"carrier": "s1"}, entries["s1"])
    if kept:
        play.compact(refused("b"))
        play.look(before, pointers=[pointer("a")], answers=answers, manifests=entries)
    else:
        play.compact(shown=("b",), reply="Notes.")
        play.look(
            [summary("s2", "Notes.", covers=("a", "b")), *play.raws("c")], answers=answers, manifests={"s2": []}
        )
    told = judge("RET-3", play)

    assert told.triggered == 1
    assert [failure.fact for failure in told.failures] == [str_of(PORT)] * failures


def test_ret_3_words_that_no_manifest_has_do_not_stand_for_an_original_that_was_let_go() -> None:
    play = Play((*OPS, "manifest"))
    play.say("a", PORT.text, PORT).say("b", "Go on.").look(play.raws("a", "b")).compact(shown=("a",), reply=PORT.text)
    live, answers = [summary("s1", PORT.text, covers=("a",)), *play.raws("b")], {"p-a": found(PORT.text)}
    play.look(live, pointers=[pointer("a")], answers=answers, manifests={"s1": []})
    play.call("status", {}, "degraded: a cell is damaged")
    evict(play, "a").look(live, pointers=[pointer("a")], answers={"p-a": GONE}, manifests={"s1": []})

    assert [failure.fact for failure in judge("RET-3", play).failures] == [str_of(PORT)]


def str_of(fact: Fact) -> str:
    return f"“{fact.text}” (turn a)"


class Either:
    rule, minimum = "ANC-2", 1
    mechanisms = ((Mechanism.EVICTION, Mechanism.EXPIRY),)


@pytest.mark.parametrize(
    ("present", "hidden", "kind"),
    [
        ((), {}, VerdictKind.VACUOUS),
        ((Mechanism.EXPIRY,), {}, VerdictKind.INCONCLUSIVE),
        ((), {Mechanism.EXPIRY: "no way to move the clock"}, VerdictKind.NOT_OBSERVABLE),
        ((Mechanism.EVICTION,), {Mechanism.EXPIRY: "no way to move the clock"}, VerdictKind.INCONCLUSIVE),
    ],
)
def test_of_several_mechanisms_any_one_will_do(
    present: tuple[Mechanism, ...], hidden: dict[Mechanism, str], kind: VerdictKind
) -> None:
    verdict = decide(
        Either(),  # type: ignore[arg-type]
        present=frozenset(present),
        hidden=hidden,
        judgements=[Judgement(rule="ANC-2", triggered=0)],
    )

    assert verdict.kind is kind
