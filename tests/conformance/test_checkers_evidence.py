"""EVI and MAN-5: content decides, originals answer, doubts stay."""

import html
import json
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from history_builder import ALL, COMMITTED, KEEPING, PLAIN, Play, answer, found, judge, raw, slot, summary

from anchorhold.history import EventType
from anchorhold.verdict import Judgement
from anchorhold_spec.vocabulary import AnswerKind, Entry, Fact, Outcome, OutcomeKind, Pointer

PORT = slot("argus-relay-12", "listen port", "40211")
ADMIN = slot("argus-relay-12", "admin port", "40977")
DOUBT = replace(slot("job J-88", "memory limit", "probably 512 MiB"), kind="hedge")
ASKING = (*KEEPING, "reconstitute")


def gone(
    *facts: Fact,
    text: str = "Notes.",
    reply: str | None = None,
    resolves: bool = True,
    says: str = "{}",
    operations: tuple[str, ...] = KEEPING,
    outcome: Outcome | None = None,
) -> Play:
    """One turn for each fact, and one more; the first are replaced by a summary with this text."""
    play = Play(operations)
    turns = [f"t{n}" for n in range(len(facts))]
    for turn, fact in zip(turns, facts, strict=True):
        play.say(turn, says.format(fact.text), fact)
    play.say("z", "Go on.").look(play.raws(*turns, "z"))
    more = {} if outcome is None else {"outcome": outcome}
    play.compact(shown=turns, reply=text if reply is None else reply, **more)
    return play.look(
        [summary("s1", text), *play.raws("z")],
        pointers=[Pointer(summary="s1", token=f"p-{turn}", covers=(turn,)) for turn in turns],
        answers={f"p-{turn}": found(play.texts[turn]) if resolves else answer(AnswerKind.EXPIRED) for turn in turns},
    )


def ask(play: Play, fact: Fact, told: object, *, evidence: bool = True) -> Play:
    return play.call(
        "reconstitute", {"subject": fact.subject, "attribute": fact.attribute, "evidence": evidence}, told
    )


@pytest.mark.parametrize(
    ("resolves", "text", "failures"), [(True, "Notes.", 0), (False, "Notes.", 1), (False, PORT.text, 0)]
)
def test_evi_1_what_can_be_verified_is_said_or_can_be_had_back(resolves: bool, text: str, failures: int) -> None:
    told = judge("EVI-1", gone(PORT, resolves=resolves, text=text, says="Hear this. {}"))

    assert told.triggered == 1
    assert len(told.failures) == failures


def test_evi_1_narrative_may_go() -> None:
    play = Play().say("a", "It looks calm.").say("z", "Go on.").look([])
    play.compact(shown=("a",), reply="Notes.").look([summary("s1", "Notes."), *play.raws("z")])

    assert judge("EVI-1", play).triggered == 0


@pytest.mark.parametrize(
    ("text", "failures"),
    [
        ("Notes.", 1),
        ("Notes. There was more to it.", 1),
        ("Notes. Some details were left out.", 1),
        ("Notes.\n[left out here: 1 turn, which can be asked for]", 0),
        ("Notes.\n[not repeated here: 2 paths]", 0),
    ],
)
def test_evi_2_a_summary_names_what_it_leaves_out(text: str, failures: int) -> None:
    assert len(judge("EVI-2", gone(PORT, text=text)).failures) == failures


@pytest.mark.parametrize(
    "note",
    [
        "Der Wortlaut von 3 Beiträgen ist hier ausgelassen.",
        "Le texte complet de 3 messages est omis.",
        "El texto de 3 mensajes fue omitido.",
        "Полный текст 3 сообщений опущен.",
        "此处省略了先前 3 条消息的原文。",
    ],
)
def test_evi_2_omissions_are_named_in_the_language_of_who_reads_the_summary(note: str) -> None:
    assert judge("EVI-2", gone(PORT, text=f"Notes. {note}")).failures == ()


PROTOCOL = (Path(__file__).parents[2] / "conformance" / "PROTOCOL.md").read_text(encoding="utf-8")
SAID = re.findall(r"^\| `(.+?)` \| (yes|no)", PROTOCOL.partition("| EVI-2 takes it |")[2].partition("### ")[0], re.M)
"""What PROTOCOL.md says of the ways to name an omission."""


@pytest.mark.parametrize(("text", "taken"), SAID)
def test_evi_2_takes_what_the_protocol_says_that_it_takes(text: str, taken: str) -> None:
    assert bool(judge("EVI-2", gone(PORT, text=f"Notes.\n{text}")).failures) is (taken == "no")


def test_evi_2_says_why_a_note_that_something_is_left_out_does_not_do() -> None:
    (failure,) = judge("EVI-2", gone(PORT, text="Notes.\nSome details were left out.")).failures

    assert "says what is missing: “Some details were left out.” names no number, and no kind" in failure.sentence
    assert judge("EVI-2", gone(PORT, text="Notes.")).failures[0].sentence.endswith("says what is missing.")


@pytest.mark.parametrize("kind", [None, "3"])
def test_evi_2_knows_the_words_that_the_protocol_lists(kind: str | None) -> None:
    first, second = re.findall(
        r"\*\*(?:First|Second)\*\* (.*?)(?:or their like|\n- |A sentence that)", PROTOCOL, re.S
    )
    leaving, kinds = (re.findall(r"`([^`]+)`", part) for part in (first, second))
    words = [word.strip("…") for word in leaving if word not in ("not", *leaving[leaving.index("not") :])]
    words += [f"not {word}" for word in leaving[leaving.index("not") + 1 :]]
    assert len(words) > 15
    assert {"left out", "not repeated"} <= {*words}
    assert {"turn", "value", "quot"} <= {*kinds}
    assert {taken for _, taken in SAID} == {"yes", "no"}

    for text in [f"{word}: {kind or kinds[0]}" for word in words] + [f"left out: {kind or each}" for each in kinds]:
        assert judge("EVI-2", gone(PORT, text=f"Notes.\n{text}")).failures == (), text


@pytest.mark.parametrize(("note", "failures"), [("", 1), ("\nLeft out: t0", 0)])
def test_evi_2_has_the_summary_alone_to_go_by_where_the_answer_was_lost(note: str, failures: int) -> None:
    play = Play(KEEPING).say("t0", PORT.text, PORT).say("z", "Go on.")
    play.look(play.raws("t0", "z")).call("crash", {"point": "committed"})
    play.compact(shown=("t0",), reply="Notes.", ended=EventType.INFO, error="it died").call("reopen")
    left = [summary("s1", f"Notes.{note}"), *play.raws("z")]
    play.look(left, pointers=[Pointer(summary="s1", token="p", covers=("t0",))], answers={"p": found(PORT.text)})

    assert len(judge("EVI-2", play).failures) == failures


def test_evi_2_the_outcome_may_name_it_in_the_summarys_place() -> None:
    told = Outcome(kind=OutcomeKind.COMMITTED, facts=(f"listen port = {PORT.literal}",))

    assert judge("EVI-2", gone(PORT, outcome=told)).failures == ()


@pytest.mark.parametrize("resolves", [True, False])
def test_evi_3_an_original_that_expires_was_none(resolves: bool) -> None:
    play = gone(PORT).call("expire", {"seconds": 7200.0})
    play.look(
        [summary("s1", "Notes."), *play.raws("z")],
        pointers=[Pointer(summary="s1", token="p-t0", covers=("t0",))],
        answers={"p-t0": found(play.texts["t0"]) if resolves else answer(AnswerKind.EXPIRED)},
    )
    told = judge("EVI-3", play)

    assert told.triggered == 1
    assert bool(told.failures) is not resolves


def test_evi_4_a_label_changes_nothing() -> None:
    labelled = judge("EVI-4", gone(PORT, resolves=False, says="[narrative] {}"))
    plain = judge("EVI-4", gone(PORT, resolves=False))
    kept = judge("EVI-4", gone(PORT, says="class: narrative. {}"))

    assert len(labelled.failures) == 1
    assert (plain.triggered, kept.triggered, kept.failures) == (0, 1, ())


@pytest.mark.parametrize(
    ("told", "resolves", "failures"),
    [
        (found(PORT.text, evidence=True), True, 0),
        (found(PORT.text, evidence=False), True, 1),
        (found("The listen port is 40211, it seems.", evidence=True), True, 1),
        (answer(AnswerKind.FOUND, value="40211"), True, 1),
        (answer(AnswerKind.INSUFFICIENT), False, 0),
        (found("argus-relay-12 is 40211", evidence=True), False, 1),
    ],
)
def test_evi_5_evidence_is_an_original(told: object, resolves: bool, failures: int) -> None:
    play = ask(gone(PORT, resolves=resolves, operations=ASKING, text=PORT.text), PORT, told)

    assert len(judge("EVI-5", play).failures) == failures


@pytest.mark.parametrize(("note", "failures"), [("", 1), ("\n[left out: the words of 1 turn]", 0)])
def test_evi_6_a_summary_that_admits_nothing_vouches_for_nothing(note: str, failures: int) -> None:
    sentence = "In short, argus-relay-12 listens on 40211."
    play = gone(PORT, operations=ASKING, resolves=False, text=f"{sentence}{note}", reply=sentence)
    told = judge("EVI-6", ask(play, PORT, found(sentence, value="40211", evidence=True), evidence=False))

    assert told.triggered == 1
    assert len(told.failures) == failures


def measured(*, lost: str) -> Play:
    """A small turn and a large one, of which one has no original any more."""
    play = Play(KEEPING)
    play.say("small", PORT.text, PORT).say("large", f"{'Words. ' * 200}{ADMIN.text}", ADMIN).say("z", "Go on.")
    play.look(play.raws("small", "large", "z")).compact(shown=("small", "large"), reply="Notes.")
    return play.look(
        [summary("s1", "Notes."), *play.raws("z")],
        pointers=[Pointer(summary="s1", token=f"p-{turn}", covers=(turn,)) for turn in ("small", "large")],
        answers={
            f"p-{turn}": answer(AnswerKind.UNANCHORED) if turn == lost else found(play.texts[turn])
            for turn in ("small", "large")
        },
    )


@pytest.mark.parametrize(("lost", "word"), [("large", "larger"), ("small", "smaller"), ("", "")])
def test_evi_7_size_does_not_move_the_gate(lost: str, word: str) -> None:
    told = judge("EVI-7", measured(lost=lost))

    assert bool(told.failures) is bool(lost)
    assert not lost or f"the {word} ones are let go" in told.failures[0].sentence


@pytest.mark.parametrize("repeated", [True, False])
def test_evi_7_a_gate_may_go_by_the_words_of_a_summary_that_its_manifest_does_not_list(repeated: bool) -> None:
    text = f"{PORT.text} {DOUBT.text}" if repeated else "In short."
    play = Play(ALL).say("a", PORT.text, PORT).say("b", DOUBT.text, DOUBT).say("z", "Go on.").look([])
    play.compact(shown=("a", "b"), reply=text)
    pointers = {turn: Pointer(summary="s1", token=f"p-{turn}", covers=(turn,)) for turn in "ab"}
    for turn, outcome in (("a", COMMITTED), ("b", Outcome(kind=OutcomeKind.REFUSED, reason="it alone holds it"))):
        there = {pointer.token: found(play.texts[each]) for each, pointer in pointers.items()}
        window = [summary("s1", text, covers=("a", "b")), *play.raws("z")]
        play.look(window, pointers=[*pointers.values()], answers=there, manifests={"s1": []})
        play.call("evict", {"token": f"p-{turn}"}, outcome)
        if outcome is COMMITTED:
            del pointers[turn]
    play.look(window, pointers=[*pointers.values()], answers={"p-b": there["p-b"]}, manifests={"s1": []})

    assert bool(judge("EVI-7", play).failures) is not repeated


def doubted(text: str, *, reply: str | None = None, manifest: bool = False, original: bool = True) -> Play:
    play = Play(ALL if manifest else KEEPING if original else PLAIN)
    play.say("t0", DOUBT.text, DOUBT).say("z", "Go on.").look([])
    play.compact(shown=("t0",), reply=text if reply is None else reply)
    entry = Entry(literal="512 MiB", source="t0", subject=DOUBT.subject, attribute=DOUBT.attribute)
    return play.look(
        [summary("s1", text), *play.raws("z")],
        pointers=[Pointer(summary="s1", token="p", covers=("t0",))],
        answers={"p": found(DOUBT.text)},
        manifests={"s1": [entry] if manifest else []},
    )


CERTAIN = "The memory limit of job J-88 is 512 MiB."


def test_man_5_a_doubt_that_goes_is_the_compactors_where_it_vouches_writes_or_keeps_nothing_else() -> None:
    vouched = judge("MAN-5", doubted(CERTAIN, manifest=True))
    written = judge("MAN-5", doubted(CERTAIN, reply="Notes."))
    left = judge("MAN-5", doubted(CERTAIN, original=False))
    models = judge("MAN-5", doubted(CERTAIN))
    kept = judge("MAN-5", doubted(DOUBT.text, original=False))

    assert "vouches" in vouched.failures[0].sentence
    assert "not the model's doing" in written.failures[0].sentence
    assert "nothing else holds" in left.failures[0].sentence
    assert (models.triggered, models.failures) == (1, ())
    assert (kept.triggered, kept.failures) == (1, ())


@pytest.mark.parametrize(
    ("entry", "blamed"),
    [
        (Entry(literal="MiB", source="t0"), False),
        (Entry(literal="512 MiB", source="t0"), True),
        (Entry(literal="512", source="t0"), True),
    ],
)
def test_man_5_an_entry_that_stands_in_another_sentence_vouches_for_that(entry: Entry, blamed: bool) -> None:
    """Here a unit, which the summary says once more, truly."""
    text = f"{CERTAIN} It took a good 23 MiB."
    play = Play(ALL).say("t0", f"{DOUBT.text} It took a good 23 MiB.", DOUBT).say("z", "Go on.").look([])
    play.compact(shown=("t0",), reply=text).look(
        [summary("s1", text), *play.raws("z")],
        pointers=[Pointer(summary="s1", token="p", covers=("t0",))],
        answers={"p": found(play.texts["t0"])},
        manifests={"s1": [entry]},
    )

    assert bool(judge("MAN-5", play).failures) is blamed


FRAMES: dict[str, Callable[[str], str]] = {
    "as it is": str,
    "a member of an object": lambda text: json.dumps({"notes": text}),
    "an object inside a string": lambda text: json.dumps(json.dumps({"notes": text})),
    "points": lambda text: "\n".join(f"- {line}" for line in text.splitlines()),
    "points in a string": lambda text: json.dumps("\n".join(f"* {line.rstrip('.')}" for line in text.splitlines())),
    "numbered": lambda text: "\n".join(f"{n}. {line}" for n, line in enumerate(text.splitlines(), start=1)),
    "one line": lambda text: " | ".join(line.rstrip(".") for line in text.splitlines()),
    "markup": lambda text: f"<notes>{html.escape(text)}</notes>",
    "a message": lambda text: f"assistant: This is what happened.\n{text}",
}
"""What compactors put around and between the lines that their model wrote."""


@pytest.mark.parametrize("frame", FRAMES.values(), ids=FRAMES)
def test_man_5_what_is_put_around_the_models_lines_is_no_word_of_the_compactors(frame: Callable[[str], str]) -> None:
    """A doubt and a "not" that the model dropped are its doing; one that it kept is kept, whatever stands beside."""
    target = slot("job J-90", "deploy target", "/srv/b2")
    denied = replace(slot("job J-91", "backup", "not owned by Tanaka"), literal="owned by Tanaka", kind="negation")
    facts = {"t0": DOUBT, "t1": target, "t2": denied}

    def told(lines: list[str], text: list[str]) -> Judgement:
        play = Play(ALL)
        for name, fact in facts.items():
            play.say(name, fact.text, fact)
        play.say("z", "Go on.").look([])
        pointers = [Pointer(summary="s1", token=f"p{name}", covers=(name,)) for name in facts]
        answers = {f"p{name}": found(play.texts[name]) for name in facts}
        play.compact(shown=tuple(facts), reply="\n".join(lines)).look(
            [summary("s1", frame("\n".join(text))), *play.raws("z")], pointers=pointers, answers=answers
        )
        return judge("MAN-5", play)

    true = ["Notes.", denied.text, DOUBT.text, target.text, "Work goes on."]
    false = ["Notes.", denied.text.replace(" not ", " "), CERTAIN, target.text, "Work goes on."]

    assert (told(true, true).triggered, told(true, true).failures) == (3, ())
    assert told(false, false).failures == ()
    if frame is not FRAMES["one line"]:
        # In one line the "not" of one statement may be taken for that of another.
        blamed = told(true, false).failures
        assert {failure.fact for failure in blamed} == {DOUBT.text, denied.text}
        assert all("not the model's doing" in failure.sentence for failure in blamed)


def test_man_5_values_swapped_between_attributes_are_not_what_was_said() -> None:
    play = Play(PLAIN)
    play.say("a", PORT.text, PORT).say("b", ADMIN.text, ADMIN).say("z", "Go on.").look([])
    swapped = (
        f"The listen port of argus-relay-12 is {ADMIN.literal}. The admin port of argus-relay-12 is {PORT.literal}."
    )
    play.compact(shown=("a", "b"), reply=swapped).look([summary("s1", swapped), raw("z", "Go on.")])
    told = judge("MAN-5", play)

    assert {failure.fact for failure in told.failures} == {PORT.text, ADMIN.text}
    assert "it is said of the" in told.failures[0].sentence


def test_man_5_an_answer_keeps_the_doubt_and_so_does_a_value_beside_it() -> None:
    certain = ask(gone(DOUBT, operations=ASKING), DOUBT, found(CERTAIN, value="512 MiB"))
    halved = ask(gone(DOUBT, operations=ASKING), DOUBT, found(DOUBT.text, value="512 MiB"))
    doubtful = ask(gone(DOUBT, operations=ASKING), DOUBT, found(DOUBT.text, value="probably 512 MiB"))

    for blamed in (certain, halved):
        assert "the doubt is gone" in judge("MAN-5", blamed).failures[0].sentence
    assert judge("MAN-5", doubtful).failures == ()
