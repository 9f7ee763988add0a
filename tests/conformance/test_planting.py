import json
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anchorhold.planting import ARGUMENTS, KINDS, LOOSE, Planter

FORM = re.compile(r"The ([\w ]+) of ([\w -]+) is (not )?(.+)\.|([\w -]+): ([\w ]+) = (.+)\.", re.ASCII)


@settings(deadline=None)
@given(seed=st.integers(0, 10_000), kind=st.sampled_from(KINDS))
def test_every_statement_has_one_of_the_forms_and_holds_its_literal(seed: int, kind: str) -> None:
    fact = Planter(seed).fact(kind)

    assert FORM.fullmatch(fact.text)
    assert fact.text.count(fact.literal) == 1
    assert fact.subject is not None
    assert fact.attribute is not None
    assert fact.subject in fact.text
    assert fact.attribute in fact.text
    assert (" is not " in fact.text) == (kind == "negation")


@settings(deadline=None)
@given(st.integers(0, 1000))
def test_facts_stand_verbatim_in_their_turn_and_no_text_or_value_is_used_twice(seed: int) -> None:
    planter = Planter(seed)
    talk = planter.talk(60, *planter.facts(20))
    texts = [(append.turn.text, *(call.arguments for call in append.turn.calls)) for append in talk]
    facts = [fact for append in talk for fact in append.facts]

    assert all(fact.text in (append.turn.text or "") for append in talk for fact in append.facts)
    assert len(set(texts)) == len(texts)
    assert len(facts) == 20
    assert len({fact.literal for fact in facts}) == 20
    assert len({append.turn.id for append in talk}) == len(talk)


@settings(deadline=None)
@given(st.integers(0, 1000))
def test_a_result_follows_its_call(seed: int) -> None:
    open_calls: set[str] = set()
    results = 0
    for append in Planter(seed).talk(40):
        if append.turn.result_of is not None:
            open_calls.remove(append.turn.result_of)
            results += 1
        open_calls.update(call.id for call in append.turn.calls)

    assert not open_calls
    assert results


def test_the_same_seed_plants_the_same_and_another_seed_other_facts() -> None:
    def talk(seed: int) -> object:
        planter = Planter(seed)
        return planter.talk(30, *planter.facts(10))

    assert talk(1) == talk(1)
    assert talk(1) != talk(2)


@settings(deadline=None)
@given(st.integers(0, 1000))
def test_a_sibling_is_a_near_neighbour_and_another_thing(seed: int) -> None:
    planter = Planter(seed)
    fact = planter.fact()
    sibling = planter.sibling(fact)

    assert sibling.attribute == fact.attribute
    assert sibling.subject != fact.subject
    assert sibling.literal != fact.literal
    assert (sibling.subject or "")[:5] == (fact.subject or "")[:5]


@settings(deadline=None)
@given(st.integers(0, 1000))
def test_a_slot_asserted_again_has_another_value(seed: int) -> None:
    planter = Planter(seed)
    fact = planter.fact()
    again = planter.again(fact)

    assert (again.subject, again.attribute, again.kind) == (fact.subject, fact.attribute, fact.kind)
    assert again.literal != fact.literal


@settings(deadline=None)
@given(seed=st.integers(0, 10_000), kind=st.sampled_from(list(LOOSE)))
def test_a_loose_fact_has_a_literal_and_neither_slot_nor_form(seed: int, kind: str) -> None:
    fact = Planter(seed).loose(kind)

    assert fact.text.count(fact.literal) == 1
    assert (fact.subject, fact.attribute) == (None, None)
    assert FORM.search(fact.text) is None
    assert fact.kind in ("path", "number", "timestamp", "quotation", "entity", "identifier")


def test_loose_facts_are_of_every_kind_in_turn_with_an_argument_among_them() -> None:
    planter = Planter(1)
    facts = [fact for _ in range(5) for fact in planter.loose_facts(4)]

    assert {fact.kind for fact in facts} == {
        *("path", "number", "timestamp", "quotation", "entity", "identifier", "argument")
    }
    assert sum(fact.text.startswith("|") for fact in facts) >= 2
    assert {fact.text.split('"')[1] for fact in facts if fact.kind == "argument"} == set(ARGUMENTS)


@settings(deadline=None)
@given(st.integers(0, 1000))
def test_loose_facts_stand_verbatim_in_their_turn_rows_and_json_on_a_line_of_their_own(seed: int) -> None:
    planter = Planter(seed)
    talk = planter.talk(30, *(planter.loose(kind) for kind in LOOSE), planter.fact())
    said = [(append.turn.text or "", fact) for append in talk for fact in append.facts]

    assert len(said) == len(LOOSE) + 1
    assert all(fact.text in text for text, fact in said)
    assert all(fact.text in text.splitlines() for text, fact in said if fact.text.startswith(("|", "{")))


@settings(deadline=None)
@given(st.integers(0, 1000))
def test_an_argument_stands_in_a_call_and_nowhere_else_with_and_without_text_beside_it(seed: int) -> None:
    planter = Planter(seed)
    facts = [planter.argument(name) for name in (*ARGUMENTS, "path")]
    talk = planter.talk(20, *facts)
    holding = [(append, fact) for append in talk for fact in append.facts]

    assert [fact for _, fact in holding] == facts
    for append, fact in holding:
        (call,) = append.turn.calls
        assert fact.text in call.arguments
        assert fact.literal in json.loads(call.arguments).values()
        assert not any(fact.literal in (other.turn.text or "") for other in talk)
    assert {append.turn.text is None for append, _ in holding} == {True, False}


def test_two_facts_for_one_argument_need_two_calls() -> None:
    planter = Planter(1)

    with pytest.raises(ValueError, match="two calls"):
        planter.call(planter.argument("path"), planter.argument("path"))
    assert len(planter.call(planter.argument("path"), planter.argument("since"))[0].facts) == 2
