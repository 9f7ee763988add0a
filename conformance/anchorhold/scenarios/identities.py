"""Ids that are equal to whoever normalises them, and ids of calls that come again: what has another id, or was said
another time, is another turn (IDX-2)."""

import random
from collections.abc import Iterator
from dataclasses import replace

from anchorhold.scenarios.plan import Plan, Scenario
from anchorhold.workload import AnyStep, Append, Ask, Probe, Reopen

ALIKE = (
    ("msg_ﬁ{n}", "msg_fi{n}"),
    ("msg_é{n}", "msg_e\N{COMBINING ACUTE ACCENT}{n}"),
    ("１{n}", "1{n}"),
    ("Ⅳ-{n}", "IV-{n}"),
    ("K\N{KELVIN SIGN}{n}", "KK{n}"),
    ("item {n}", "item\N{NO-BREAK SPACE}{n}"),
    ("turn-{n} ", "turn-{n}"),
    (" call-{n}", "call-{n}"),
    ("a{n}\t", "a{n}"),
    ("b  {n}", "b {n}"),
    ("Straße-{n}", "STRASSE-{n}"),
    ("Ref{n}", "rEF{n}"),
    ("{n}", "0{n}"),
    ("{n}.0", "+{n}"),
    ("{n}e0", "{n}.00"),
    ("0x{n}", "0X{n}"),
    ("c-{n}\N{ZERO WIDTH SPACE}", "c-{n}"),
    ("%2Fd{n}", "/d{n}"),
    ("f/{n}", "f//{n}"),
    ("g{n}/", "g{n}"),
    ("{{h{n}}}", "h{n}"),
    ("{n}-i", "{n}_i"),
)
"""Two ids each, of two turns: the same by some form of Unicode, without case, without blanks, as numbers, as parts of
an address."""


def _pairs(rng: random.Random) -> Iterator[tuple[str, str]]:
    for one, other in ALIKE:
        number = str(rng.randrange(1201, 9899))
        pair = (one.format(n=number), other.format(n=number))
        yield pair if rng.random() < 0.5 else pair[::-1]


def _ids_normalised(plan: Plan) -> tuple[AnyStep, ...]:
    """Turns whose ids are the same after this or that normalisation, some side by side and some far apart."""
    rng = random.Random(plan.planter.subject())  # noqa: S311 - replayable
    pairs = [*_pairs(rng)]
    rng.shuffle(pairs)
    near, far = pairs[::2], pairs[1::2]
    names = [*(name for pair in near for name in pair), *(one for one, _ in far)]
    late = [other for _, other in far]
    facts = iter(plan.facts(len(names) + len(late)))

    def said(name: str) -> Append:
        fact = next(facts)
        append = plan.planter.utter(f"{fact.text} (note {fact.literal})", fact, speaker="assistant")
        return plan.planter.named(append, name)

    first, second = [said(name) for name in names], [said(name) for name in late]
    asked = rng.sample([fact for append in (*first, *second) for fact in append.facts], 8)
    return (
        *first,
        *plan.compacted("drop"),
        *second,
        Reopen(),
        *plan.compacted("drop"),
        Probe(),
        *(Ask(fact=fact, evidence=True) for fact in asked),
    )


def _calls_again(plan: Plan) -> tuple[AnyStep, ...]:
    """A call is answered twice, and later calls have the id of an earlier one, as where a service numbers the calls
    of each answer anew; every result is a turn of its own (IDX-2, STR-1)."""
    planter = plan.planter

    def call(name: str | None) -> tuple[Append, Append]:
        asking, result = planter.call(planter.argument(), planter.loose(), *plan.facts(1))
        name = name or asking.turn.calls[0].id
        calls = (replace(asking.turn.calls[0], id=name),)
        return (
            Append(turn=replace(asking.turn, text=f"Looking ({asking.turn.id}).", calls=calls), facts=asking.facts),
            Append(turn=replace(result.turn, result_of=name), facts=result.facts),
        )

    def more(answered: Append) -> Append:
        """Another result of the same call: the rest of it, or a correction."""
        other = planter.say(*plan.facts(1), speaker="tool")
        return Append(turn=replace(other.turn, result_of=answered.turn.result_of), facts=other.facts)

    one, result = call(None)
    again = [step for _ in range(2) for step in call("call_0")]
    later = call("call_0")
    facts = [fact for append in (result, *again, *later) for fact in append.facts]
    return (
        one,
        result,
        more(result),
        *again,
        *plan.compacted("drop"),
        *later,
        *call(one.turn.calls[0].id),
        *plan.compacted("drop"),
        Reopen(),
        *(Ask(fact=fact, only=("search",)) for fact in facts),
        Probe(),
    )


IDENTITIES = (
    Scenario(name="ids-normalised", aims=("IDX-2", "IDX-1", "ANC-1"), build=_ids_normalised),
    Scenario(name="calls-again", aims=("IDX-2", "STR-1", "PTR-1"), build=_calls_again),
)
