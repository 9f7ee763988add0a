"""Tokens and originals, read by the Python code and by the compiled, where that is installed."""

from dataclasses import replace
from types import SimpleNamespace

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from test_codec import TURNS, Name

from anchorhold_reference import following
from anchorhold_reference.codec import digest, encode, shown
from anchorhold_reference.pointer import Address, pack, seal, unseal
from anchorhold_spec.vocabulary import Answer, AnswerKind, Turn

NUMBER = st.integers(0, 2**63 - 1)
TOO_GREAT = st.integers(2**63, 2**64 - 1)
ADDRESSES = st.builds(Address, NUMBER, NUMBER, st.binary(min_size=8, max_size=8), st.binary(min_size=32, max_size=32))


@pytest.fixture(params=["python", "native"], scope="module")
def kind(request):
    if request.param == "python":
        return following.PYTHON
    pytest.importorskip("anchorhold_native.pointers", reason="anchorhold-native is not installed")
    assert following.FOLLOWING.name == "native"
    return following.FOLLOWING


@given(ADDRESSES)
def test_epo_2_a_token_says_which_address_it_was_made_of(kind, address):
    assert kind.asked(seal(address), 7) == (7, address.slot, pack(address))
    assert unseal(seal(address)) == address


@given(ADDRESSES, st.integers(0, 78), st.characters() | st.sampled_from("AB-_+/=\n"))
def test_epo_2_no_two_tokens_have_one_address(kind, address, at, character):
    token = seal(address)
    other = token[:at] + character + token[at + 1 :]

    found = unseal(other)
    assert kind.asked(other, 7) == (None if found is None else (7, found.slot, pack(found)))
    assert found is None or seal(found) == other
    assert kind.asked(token + character, 7) is kind.asked(token[:-1], 7) is None


@pytest.mark.parametrize("token", ["", "ah1-", "slot-1", "\udc80" * 79, "é" * 40, "ah1-" + "A" * 74 + "\udc80"])
def test_epo_2_what_is_no_token_has_no_address(kind, token):
    assert kind.asked(token, 7) is None


@given(NUMBER | TOO_GREAT, TOO_GREAT, st.booleans())
def test_epo_2_a_number_that_no_database_counts_to_is_in_no_token_of_ours(kind, number, great, swapped):
    slot, epoch = (great, number) if swapped else (number, great)

    assert kind.asked(seal(Address(slot, epoch, b"i" * 8, b"d" * 32)), 7) is None


def test_epo_2_a_token_is_text_of_whatever_class(kind):
    address = Address(1, 2, b"i" * 8, b"d" * 32)

    assert kind.asked(Name(seal(address)), 7) == (7, 1, pack(address))
    assert kind.asked(Name("slot-1"), 7) is None


HEADER = tuple(
    b'{"calls":[],"data":null,|"id":"|t1|",|"protected":|false|,"result_of":|null|,"speaker":"|user|",'
    b'"status":|null|,"text":|5|,"time":|null}|\n|hello'.split(b"|")
)
"""What `encode` makes of a turn that is a text, in pieces."""
OTHER = st.sampled_from(
    [
        b"",
        b'"',
        b"\\",
        b"\n",
        b"\xff",
        b"\xed\xa0\x80",
        b"}",
        b"0",
        b"7",
        b"05",
        b"1" * 13,
        b"null",
        b"true",
        b'"x"',
        b"\0",
    ]
) | st.binary(max_size=3)


def _at(payload, slot=3):
    return pack(Address(slot, 2, b"i" * 8, digest(payload)))


def _told(kind, payload):
    try:
        return kind.opened(payload, _at(payload))
    except (ValueError, TypeError, AttributeError, KeyError) as error:
        return type(error)


@given(st.dictionaries(st.integers(0, len(HEADER) - 1), OTHER, max_size=3), st.integers(0, len(HEADER)))
@example({2: b"x" * 100}, 3)
@example({}, 0)
@example({14: b"2"}, len(HEADER))
@example({16: b"null}} "}, len(HEADER))
def test_epo_3_whatever_the_bytes_are_both_codes_tell_the_same_of_them(kind, others, many):
    """Also of bytes that `encode` has not written: nothing is told but what stands in them."""
    payload = b"".join(others.get(i, piece) for i, piece in enumerate(HEADER[:many]))

    for whole in (payload, payload + b"\n", payload + b"\n" + HEADER[-1]):
        assert _told(kind, whole) == _told(following.PYTHON, whole)


@given(TURNS, NUMBER)
@example(Turn(id="t1", speaker="user", text=None), 1)
@example(Turn(id="t1", speaker="user", text=""), 1)
@example(Turn(id="t1", speaker="user", text="a\nb", declared="narrative"), 1)
@example(Turn(id='"text":null', speaker='"text":null', text="said", result_of='"text":null'), 1)
def test_str_3_an_original_answers_with_what_was_appended(kind, turn, slot):
    payload = encode(turn)

    answer = kind.opened(payload, _at(payload, slot))
    assert answer is not None
    assert (answer.kind, answer.text, answer.data, answer.source, answer.carrier, answer.evidence) == (
        AnswerKind.FOUND,
        shown(turn),
        turn.data,
        turn.id,
        f"slot-{slot}",
        True,
    )
    assert answer == following.PYTHON.opened(payload, _at(payload, slot))
    assert type(answer) is Answer
    assert hash(answer) == hash(replace(answer))


@given(TURNS, st.integers(0), st.integers(1, 255))
def test_epo_3_bytes_of_another_digest_are_no_answer(kind, turn, at, by):
    payload = bytearray(encode(turn))
    address = _at(bytes(payload))
    payload[at % len(payload)] ^= by

    assert kind.opened(bytes(payload), address) is None
    assert kind.opened(b"", address) is None


@pytest.mark.parametrize("stored", [None, "text", 7, 1.5])
def test_epo_3_what_is_no_bytes_is_no_answer(kind, stored):
    """Bytes that lie outside, and a column that damage has given another type."""
    assert kind.opened(stored, _at(b"")) is None


def test_compiled_code_of_another_layout_is_not_used(caplog):
    found = following.choose(lambda name: SimpleNamespace(LAYOUT=-1))

    assert found is following.PYTHON
    assert "layout -1" in caplog.text


def test_compiled_code_that_cannot_be_loaded_is_not_used(caplog):
    def load(name):
        if name == "anchorhold_native":
            return SimpleNamespace(LAYOUT=following.LAYOUT)
        raise ImportError("built for another Python")

    assert following.choose(load) is following.PYTHON
    assert "built for another Python" in caplog.text
