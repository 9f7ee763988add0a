"""The comparisons on words that every checker rests on."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from anchorhold.checkers.record import Said
from anchorhold.checkers.turns import raw_turns
from anchorhold.checkers.words import carries_calls, forms, holds, negative, plain, quotes, says, sentences, stands
from anchorhold.planting import KINDS, Planter
from anchorhold_spec.vocabulary import CarrierKind, Fact, Item, ToolCall, Turn

FACTS = st.builds(
    lambda seed, kind: Planter(seed).fact(kind), st.integers(min_value=0, max_value=10_000), st.sampled_from(KINDS)
)


@pytest.mark.parametrize(
    ("needle", "text", "expected"),
    [
        ("30", "wait 30 seconds", True),
        ("30", "wait 300 seconds", False),
        ("30", "wait 30.5 seconds", False),
        ("300", "wait 1,300 seconds", False),
        ("30", "It is 30.", True),
        ("/srv/a7", "at /srv/a7, now", True),
        ("/srv/a7", "at /srv/a7/b", False),
        ("/srv/a7", "at /mnt/srv/a7", False),
        ("/srv/a7", "path:/srv/a7", True),
        ("J-88", "J-881", False),
        ("J-88", "XJ-88", False),
        ("J-88", "J-88-b", False),
        ("J-88", '"first\\nJ-88\\nlast"', True),
        ("not  paid", "is not\npaid", True),
        ("", "anything", False),
    ],
)
def test_a_literal_stands_as_a_whole_or_not_at_all(needle: str, text: str, expected: bool) -> None:
    assert stands(needle, text) is expected


@given(FACTS, st.sampled_from([" ", "\n", "\t  "]))
def test_a_statement_survives_white_space_and_a_frame(fact: Fact, space: str) -> None:
    assert says(f"Notes:\n- {space.join(fact.text.split())}\nMore.", fact)


@given(FACTS)
def test_a_statement_is_lost_with_its_literal_its_subject_or_its_polarity(fact: Fact) -> None:
    assert fact.subject is not None
    flipped = fact.text.replace(" not ", " ") if " not " in fact.text else fact.text.replace(" is ", " is not ")

    assert not says(fact.text.replace(fact.literal, "as agreed"), fact)
    assert not says(fact.text.replace(fact.literal, f"{fact.literal}7"), fact)
    assert not says(fact.text.replace(fact.subject, f"{fact.subject}7"), fact)
    assert flipped == fact.text or not says(flipped, fact)


SAID = st.sampled_from(["The port of a-1 is 4410.", "b-2: path = /srv/new.", "Is it?"])
POINTS = st.sampled_from(["- a point", "2. another", "| a | row |", "* The port of a-1 is 4410."])


@given(st.lists(SAID), st.lists(POINTS), st.integers(min_value=0, max_value=2))
def test_the_sentences_of_a_text_are_those_of_the_string_that_it_stands_in(
    said: list[str], points: list[str], deep: int
) -> None:
    text = plainly = "\n".join([*said, *points])
    for _ in range(deep):
        text = json.dumps(text)[1:-1]

    assert sentences(text) == sentences(plainly)
    assert sentences(r"It is under C:\new\temp. Go on.") == [r"It is under C:\new\temp.", "Go on."]


@given(FACTS, FACTS)
def test_one_fact_does_not_say_another(one: Fact, other: Fact) -> None:
    if (one.subject, one.literal) != (other.subject, other.literal):
        assert not says(one.text, other)


@given(st.text(min_size=1).filter(str.strip), st.text(), st.text())
def test_a_copy_holds_a_turn_however_it_is_written_down(text: str, before: str, after: str) -> None:
    turn = forms(Turn(id="t", speaker="user", text=text))

    assert holds(plain(f"{before}\n{text}\n{after}"), turn)
    assert holds(plain(json.dumps({"content": text})), turn)
    assert holds(plain(json.dumps({"content": text}, ensure_ascii=False)), turn)


def test_a_turn_without_words_is_held_by_its_calls_and_without_those_by_nothing() -> None:
    call = ToolCall(id="c", name="write", arguments='{"path": "/etc/app"}')
    calling = forms(Turn(id="t", speaker="assistant", calls=(call,)))

    assert holds('write({"path": "/etc/app"})', calling)
    assert not holds("write()", calling)
    assert not holds("anything", forms(Turn(id="t", speaker="user", text=" ")))


@pytest.mark.parametrize("sort_keys", [False, True])
@pytest.mark.parametrize("separators", [(", ", ": "), (",", ":")])
def test_a_turn_of_nothing_but_a_call_is_known_again_where_its_arguments_were_parsed(
    separators: tuple[str, str], sort_keys: bool
) -> None:
    arguments = '{ "path" : "/srv/a7",  "city":"Zürich","all": true}'
    turn = Turn(id="t", speaker="assistant", calls=(ToolCall(id="c", name="read", arguments=arguments),))
    again = json.dumps(json.loads(arguments), separators=separators, sort_keys=sort_keys)

    assert holds(plain(f"called read with {again}"), forms(turn))
    assert not holds(plain(f"called read with {again.replace('/srv/a7', '/srv/a8')}"), forms(turn))


def test_a_text_quotes_a_source_by_a_run_of_its_words() -> None:
    assert quotes("So: the canary was green.", "The canary was green all night")
    assert not quotes("Summary of the conversation so far", "The canary was green all night")


ARGUMENTS = json.dumps({"path": "/srv/a b/\u00e9.yaml", "lines": ['one "two"', "three"], "deep": {"n": 7}})
CALLS = (ToolCall(id="c1", name="read", arguments=ARGUMENTS),)


@pytest.mark.parametrize(
    "text",
    [
        ARGUMENTS,
        f"assistant: [read({ARGUMENTS})]",
        json.dumps({"arguments": ARGUMENTS}),
        json.dumps([{"calls": json.dumps({"arguments": ARGUMENTS})}], ensure_ascii=False),
        json.dumps(json.loads(ARGUMENTS), indent=2, ensure_ascii=False),
        str(json.loads(ARGUMENTS)),
        'read(path=/srv/a b/\u00e9.yaml, lines: one "two" / three)',
    ],
)
def test_arguments_of_a_call_may_be_written_in_many_ways(text: str) -> None:
    assert carries_calls(plain(text), CALLS)


@pytest.mark.parametrize("text", ["", "Checking the file.", "read(path=/srv/a b/\u00e9.yaml, lines: one / three)"])
def test_arguments_of_a_call_are_missed_where_a_string_is_not_there(text: str) -> None:
    assert not carries_calls(plain(text), CALLS)


@given(
    given=st.lists(
        st.sampled_from(['{"path": "/srv/a7"}', '{"b":1,  "a":"ü"}', "ls -la", "", "  ", '{"q": "<a & b>"}']),
        max_size=3,
    ),
    own=st.sampled_from([None, "", " ", "Look."]),
    data=st.sampled_from([None, None, b"Look."]),
    text=st.lists(
        st.sampled_from(
            [
                '{"path":"/srv/a7"}',
                '{"path": "/srv/a7"}',
                '{"b":1, "a":"ü"}',
                '{"a":"\\u00fc","b":1}',
                "ls",
                "-la",
                "Look.",
            ]
        ),
        max_size=4,
    ),
)
def test_a_turn_stands_in_a_text_where_each_of_its_parts_does_in_one_of_its_forms(
    given: list[str], own: str | None, data: bytes | None, text: list[str]
) -> None:
    """However it is found out: most stand as they were given, and their other forms are worked out for the rest."""
    calls = tuple(ToolCall(id=f"c{n}", name="run", arguments=each) for n, each in enumerate(given))
    turn = Turn(id="t1", speaker="assistant", text=own if data is None else None, data=data, calls=calls)
    said = Said(turn=turn, facts=(), at=1, certain=True, session="s")
    flat = " ".join(text)

    assert said.stands_in(flat) is holds(plain(flat), forms(turn))


def test_arguments_that_are_no_json_have_to_be_there_as_they_are() -> None:
    calls = (ToolCall(id="c1", name="run", arguments="ls -l /srv"),)

    assert carries_calls("run: ls -l /srv", calls)
    assert not carries_calls("run: ls -l", calls)


@pytest.mark.parametrize("turn", ["t9", "m-9", None])
def test_a_turn_that_is_only_being_appended_is_none_of_those_that_were_said(turn: str | None) -> None:
    """Its item stands in the window before its append has ended; ids are known of the whole history."""
    item = Item(id="i", kind=CarrierKind.RAW, text="Go on.", turn=turn)

    assert raw_turns((item,), {}, {"t9": "t9", "m-9": "t9"}) == frozenset()


@pytest.mark.parametrize(
    ("text", "denies"),
    [
        ("can't reach it", True),
        ("can’t reach it", True),
        ("can&#x27;t reach it", True),
        ("can\\u2019t reach it", True),
        ("isn\\'t so", True),
        ("no longer so", True),
        ("not 5 ms", True),
        ("no more than 5 ms", False),
        ("not later than 5", False),
        ("another note", False),
    ],
)
def test_what_denies_may_be_written_in_many_ways_and_a_bound_denies_nothing(text: str, denies: bool) -> None:
    assert negative(text) is denies
