"""Content that some tool on the way takes for its own, and content that is larger than many a store takes at once: it
comes back as it came, and is found by what it says."""

import json
import random
from collections.abc import Iterable, Sequence
from dataclasses import replace

from anchorhold.planting import ARGUMENT
from anchorhold.scenarios.plan import ASKED_FOR, Plan, Scenario
from anchorhold.workload import AnyStep, Append, Ask, Compact, Probe, Reopen, Summariser
from anchorhold.written import FORMS, LAID_OUT, SCALARS, filled, lines
from anchorhold_spec.vocabulary import Fact

ALIKE = 8
"""Of the scalars, so many are sent, beside those that are sent always."""
ALWAYS = ("00{n}", "{n}.10", "no", "null", "true")
A_COLUMN = 65_536
"""Bytes of what a column of text, a datagram or a pipe takes at once."""
A_MEGABYTE = 1_048_576
OVER = (1, 4000)
"""By how much more a turn is longer than such a limit."""
AFTER = 7
"""Ordinary turns that come after the large ones, so that these are none of the latest."""


def _rng(plan: Plan) -> random.Random:
    return random.Random(plan.planter.subject())  # noqa: S311 - replayable


def _kinds(plan: Plan, kinds: Iterable[str], rng: random.Random) -> list[Append]:
    """For each kind a turn of lines, one for each of its forms; every other line is a fact that is asked for."""
    said = []
    for kind in kinds:
        texts = [filled(form, rng) for form in FORMS[kind]]
        rng.shuffle(texts)
        told = [(f"Row {number} of it read {text} there.", text) for number, text in enumerate(texts, start=1)]
        facts = [Fact(text=line, literal=text, kind="quotation") for line, text in told]
        page = "\n".join((f"What the page said ({plan.planter.subject()}):", *(line for line, _ in told)))
        said.append(plan.planter.utter(page, *facts, speaker="assistant"))
    return said


def _argued(plan: Plan, kinds: Iterable[str], rng: random.Random) -> list[Append]:
    """The same in the arguments of calls, each with its result. Asked for is what JSON writes as it is; every other
    call is all that its turn says."""
    steps: list[Append] = []
    for number, kind in enumerate(kinds):
        asking, result = plan.planter.call()
        call = asking.turn.calls[0]
        texts = [filled(form, rng) for form in FORMS[kind]]
        # Without blanks, so that STR-3 looks at them: who parses and writes them anew has every string in them.
        arguments = json.dumps({"about": call.id, "lines": texts}, ensure_ascii=False, separators=(",", ":"))
        facts = (Fact(text=text, literal=text, kind=ARGUMENT) for text in texts if json.dumps(text)[1:-1] == text)
        call = replace(call, arguments=arguments)
        turn = replace(asking.turn, text=f"Looking this up ({call.id})." if number % 2 else None, calls=(call,))
        steps += (Append(turn=turn, facts=tuple(facts)), result)
    return steps


def _asked(plan: Plan, said: Sequence[Append], rng: random.Random) -> tuple[AnyStep, ...]:
    """The turns, their compaction, and questions for some of what they say, in each of two generations."""
    facts = [fact for append in said for fact in append.facts]
    half = len(said) // 2
    questions = tuple(Ask(fact=fact, only=("search",)) for fact in rng.sample(facts, min(len(facts), 10)))
    return (
        *said[:half],
        *plan.compacted("drop"),
        *said[half:],
        Probe(),
        *plan.compacted("drop"),
        Reopen(),
        *questions,
        Probe(),
    )


def _markup(plan: Plan) -> tuple[AnyStep, ...]:
    """Entities, tags, variables, URLs and Markdown, in turns and in arguments (STR-3, ANC-1, IDX-1)."""
    rng = _rng(plan)
    kinds = ("entities", "tags", "variables", "urls", "markdown")
    return _asked(plan, (*_kinds(plan, kinds, rng), *_argued(plan, kinds, rng)), rng)


def _tokens(plan: Plan) -> tuple[AnyStep, ...]:
    """Addresses, keys, numbers with separators, and escapes, in turns and in arguments (STR-3, ANC-1, IDX-1)."""
    rng = _rng(plan)
    kinds = ("personal", "secrets", "numbers", "escapes")
    return _asked(plan, (*_kinds(plan, kinds, rng), *_argued(plan, kinds, rng)), rng)


def _whole_turns(plan: Plan) -> tuple[AnyStep, ...]:
    """Turns all of which are one value to some reader, or that are told by their lines, their beginning or their end
    (STR-3, PTR-1)."""
    rng = _rng(plan)
    others = [form for form in SCALARS if form not in ALWAYS]
    chosen = [*ALWAYS, *rng.sample(others, ALIKE), *(form for forms in LAID_OUT.values() for form in forms)]
    rng.shuffle(chosen)
    said = [plan.planter.utter(filled(form, rng), speaker="assistant") for form in chosen]
    half = len(said) // 2
    return (
        *said[:half],
        Probe(),
        *plan.compacted("drop", *plan.facts(1)),
        *said[half:],
        Reopen(),
        *plan.compacted("drop", *plan.facts(1)),
        Probe(),
    )


def _large(plan: Plan) -> tuple[AnyStep, ...]:
    """Turns of just over 64 KiB and just over 1 MiB, as text, as bytes and as an argument, with what is needed at the
    very end of each (STR-3, PTR-1, REC-3)."""
    planter, rng = plan.planter, _rng(plan)
    said: list[Append] = []
    facts: list[Fact] = []
    for limit in (A_COLUMN, A_MEGABYTE):
        (fact,) = plan.facts(1)
        size = limit + rng.randrange(*OVER)
        said.append(planter.utter(f"{lines(size, rng)}\n{fact.text}", fact, speaker="assistant"))
        facts.append(fact)
        argument = planter.argument("path")
        asking, result = planter.call()
        call = asking.turn.calls[0]
        arguments = json.dumps({"content": lines(limit + rng.randrange(*OVER), rng)})[:-1] + f", {argument.text}}}"
        turn = replace(asking.turn, calls=(replace(call, arguments=arguments),))
        said += (Append(turn=turn, facts=(argument,)), result)
        facts.append(argument)
    said.append(planter.attach(b"\xff\xd8" + rng.randbytes(A_COLUMN + rng.randrange(*OVER))))
    after = [planter.say(fact) for fact in (*plan.facts(AFTER - 1), planter.loose())]
    return (
        *said,
        *after,
        Summariser(mode="drop"),
        Compact(),
        Probe(),
        Reopen(),
        *(Ask(fact=fact, only=("search",)) for fact in facts[::2]),
    )


CONTENTS = (
    Scenario(name="markup", aims=("STR-3", "PTR-1", "IDX-1", "ANC-1"), build=_markup),
    Scenario(name="tokens", aims=("STR-3", "PTR-1", "IDX-1", "ANC-1"), build=_tokens),
    Scenario(name="whole-turns", aims=("STR-3", "PTR-1", "IDX-1"), build=_whole_turns),
    Scenario(
        name="large-turns",
        aims=("STR-3", "PTR-1", "IDX-1", "REC-3"),
        build=_large,
        settings=replace(ASKED_FOR, budget=100_000),
        explicit=True,
    ),
)
