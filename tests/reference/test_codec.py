"""Turns as bytes, and back."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from anchorhold_reference.codec import decode, encode, shown, told, verbatim
from anchorhold_reference.errors import NotUnicodeError
from anchorhold_spec.vocabulary import ToolCall, Turn

TEXT = st.text(max_size=12) | st.sampled_from(['"', "\\", "\n", 'a"b', "\udc80", "\x00", "t1"])
TURNS = st.builds(
    Turn,
    id=TEXT,
    speaker=st.sampled_from(["user", "assistant", "tool"]) | TEXT,
    text=st.none() | TEXT,
    data=st.none() | st.binary(max_size=8),
    time=st.none() | st.floats(allow_nan=False) | st.integers(0, 2**40),
    calls=st.lists(st.builds(ToolCall, id=TEXT, name=TEXT, arguments=TEXT), max_size=2).map(tuple),
    result_of=st.none() | TEXT,
    status=st.none() | st.sampled_from(["consumed", "killed", "unfinished"]),
    protected=st.booleans(),
    declared=st.none() | st.sampled_from(["narrative", "side-effecting"]),
)


class Name(str):
    """A text of a type of its own, as a caller may have one."""


@given(TURNS)
def test_str_3_a_turn_comes_back_from_its_bytes_as_it_was(turn):
    assert decode(encode(turn)) == turn


@given(TURNS)
def test_what_an_answer_tells_of_a_turn_is_what_its_bytes_decode_to(turn):
    assert told(encode(turn)) == (turn.id, shown(turn), turn.data)


@given(TURNS)
def test_str_3_a_turn_that_is_kept_as_it_was_appended_is_the_one_that_its_bytes_decode_to(turn):
    if verbatim(turn):
        again = decode(encode(turn))
        assert [(type(value), value) for value in map(again.__getattribute__, Turn.__slots__)] == [
            (type(value), value) for value in map(turn.__getattribute__, Turn.__slots__)
        ]


def test_str_3_a_turn_with_values_of_other_types_is_read_from_its_bytes():
    turn = Turn(id="t1", speaker="user", text="The port is 1.")

    assert verbatim(turn)
    for other in (
        replace(turn, text=Name("The port is 1.")),
        replace(turn, id=Name("t1")),
        replace(turn, speaker=Name("user")),
        replace(turn, status=Name("killed")),
        replace(turn, calls=[]),
        replace(turn, data=bytearray(b"x")),
    ):
        assert not verbatim(other)


PAIR = "\ud83d\udc4d"
"""Two characters, of which JSON makes one."""


@pytest.mark.parametrize("halves", [PAIR, f"a{PAIR}b", f"\ud83d{PAIR}"])
@pytest.mark.parametrize("name", ["id", "speaker", "status", "result_of", "declared"])
def test_str_3_a_name_that_its_bytes_would_change_is_refused(name, halves):
    turn = Turn(id="t1", speaker="user", text="The port is 1.")

    with pytest.raises(NotUnicodeError, match="surrogate pair"):
        encode(replace(turn, **{name: halves}))
    whole = replace(turn, **{name: "👍\udc4d\ud83d"})
    assert decode(encode(whole)) == whole


@pytest.mark.parametrize("name", ["id", "name"])
def test_str_3_a_call_whose_bytes_would_change_its_name_is_refused(name):
    call = replace(ToolCall(id="c1", name="run", arguments=PAIR), **{name: PAIR})

    with pytest.raises(NotUnicodeError, match="surrogate pair"):
        encode(Turn(id="t1", speaker="assistant", calls=(call,)))


def test_str_3_text_arguments_and_data_may_hold_a_pair_as_two_characters():
    call = ToolCall(id="c1", name="run", arguments=PAIR)
    turn = Turn(id="t1", speaker="assistant", text=PAIR, data=b"x", calls=(call,))

    assert decode(encode(turn)) == turn
