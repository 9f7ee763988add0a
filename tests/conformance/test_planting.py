import re

from hypothesis import given
from hypothesis import strategies as st

from anchorhold.planting import KINDS, Planter

FORM = re.compile(r"The ([\w ]+) of ([\w -]+) is (not )?(.+)\.|([\w -]+): ([\w ]+) = (.+)\.", re.ASCII)


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


@given(st.integers(0, 1000))
def test_facts_stand_verbatim_in_their_turn_and_no_text_or_value_is_used_twice(seed: int) -> None:
    planter = Planter(seed)
    talk = planter.talk(60, *planter.facts(20))
    texts = [append.turn.text for append in talk]
    facts = [fact for append in talk for fact in append.facts]

    assert all(fact.text in (append.turn.text or "") for append in talk for fact in append.facts)
    assert len(set(texts)) == len(texts)
    assert len(facts) == 20
    assert len({fact.literal for fact in facts}) == 20
    assert len({append.turn.id for append in talk}) == len(talk)


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


@given(st.integers(0, 1000))
def test_a_sibling_is_a_near_neighbour_and_another_thing(seed: int) -> None:
    planter = Planter(seed)
    fact = planter.fact()
    sibling = planter.sibling(fact)

    assert sibling.attribute == fact.attribute
    assert sibling.subject != fact.subject
    assert sibling.literal != fact.literal
    assert (sibling.subject or "")[:5] == (fact.subject or "")[:5]


@given(st.integers(0, 1000))
def test_a_slot_asserted_again_has_another_value(seed: int) -> None:
    planter = Planter(seed)
    fact = planter.fact()
    again = planter.again(fact)

    assert (again.subject, again.attribute, again.kind) == (fact.subject, fact.attribute, fact.kind)
    assert again.literal != fact.literal
