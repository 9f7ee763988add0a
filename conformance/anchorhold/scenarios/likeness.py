"""Things that are nearly alike: literals that a query language reads as patterns, numbers with a sign, ids and names
that differ in case or in one sign. Who compares carelessly takes one for the other."""

from dataclasses import replace

from anchorhold.planting import Planter, statement
from anchorhold.scenarios.keeping import asks
from anchorhold.scenarios.plan import ASKED_FOR, Plan, Scenario
from anchorhold.workload import AnyStep, Append, Ask, Forget, Probe, Reopen, Switch
from anchorhold_spec.vocabulary import Fact

PATTERNS = (("-41x07", "-41_07"), ("zz97", "%97"), ("x14", ".14"), ("7.log", "*.log"), ("a7", "[ab]7"), ("d7", "?7"))
"""Ends of a literal that somebody said, and of one that nobody did: as a pattern of LIKE, of a shell or of regular
expressions the second matches the first."""
SIGNS = (
    "retry_after=50%",
    r"C:\temp\new",
    "(x|y)+7",
    "O'Brien",
    'NOT "a" OR b',
    "col:val*",
    "^caret~3",
    "--dry-run",
    "{{name}}",
    "a;b--c",
)
"""Literals that mean something else in some query language, and are to be found as what they are."""
VALUES = ("-{} ms", "-0.{} percent", "00{}", "+{} s", "{}e-7", "{}.50")
"""Values that are others without their sign, their point or what stands at their ends."""
TWINS = (
    ("{}/re-try", "{}/re_try"),
    ("{}/bin-007", "{}/bin-7"),
    ("{}/résumé", "{}/resume"),
    ("{}/ﬁle", "{}/file"),
    ("{}/aGVsbG", "{}/AgvSBg"),
    ("{} re run", "{} rerun"),
)
"""A name that somebody said, and one that nobody did: the same to whoever reads dashes, zeros, accents, letters that
are one sign, case or blanks away, and the name of something else."""
LONG = (60, 140, 300)
"""Characters that two literals begin with before they differ: some reader or other takes no more of a question."""
WIDE = 18_000
"""Characters, most of them of four bytes: more than a column of 65,535 bytes holds."""
IN_A_ROW = 97
"""Of these characters in a line. With the line's end they take a number of bytes that no common size of a piece
divides: whoever cuts by bytes cuts most pieces inside a character."""


def _tail(planter: Planter) -> str:
    """A name that was not used yet, to build a literal on."""
    return planter.subject().replace(" ", "-")


def _patterns(plan: Plan) -> tuple[AnyStep, ...]:
    """What is asked for is a pattern that fits what was said, and nobody said it; and literals full of such signs
    are asked for that somebody did say (REC-1, REC-4)."""
    planter = plan.planter
    said: list[Append] = []
    strangers: list[Fact] = []
    for end, pattern in PATTERNS:
        tail = _tail(planter)
        text = f"Somebody had left {tail}{end} there before the restart."
        said.append(
            planter.utter(text, Fact(text=text, literal=f"{tail}{end}", kind="identifier"), speaker="assistant")
        )
        strangers.append(Fact(text=f"{tail}{pattern}", literal=f"{tail}{pattern}", kind="identifier"))
    for sign in SIGNS:
        text = f"In {_tail(planter)} the line was: {sign} and nothing else."
        said.append(planter.utter(text, Fact(text=text, literal=sign, kind="quotation"), speaker="assistant"))
    told = tuple(fact for append in said for fact in append.facts)
    questions = tuple(Ask(fact=fact) for fact in (*told, *strangers))
    return (
        *said[::2],
        *plan.compacted("drop"),
        *said[1::2],
        *plan.compacted("drop"),
        *questions,
        Reopen(),
        *questions,
    )


def _twins(plan: Plan) -> tuple[AnyStep, ...]:
    """Of two names that only a careful reader tells apart one was said, and the other is asked for (REC-1)."""
    planter = plan.planter
    tails = [_tail(planter) for _ in TWINS]
    pairs = [(one.format(tail), other.format(tail)) for (one, other), tail in zip(TWINS, tails, strict=True)]
    for long in LONG:
        tail = _tail(planter)
        beginning = f"{tail}/" + "/".join(_tail(planter) for _ in range(1 + long // 16))
        beginning = beginning[: max(long, len(tail) + 1)].rstrip("-/")
        pairs.append((f"{beginning}/left", f"{beginning}/right"))
    said, strangers = list[Append](), list[Fact]()
    for one, other in pairs:
        text = f"The tool had written {one} there, as it does."
        said.append(planter.utter(text, Fact(text=text, literal=one, kind="identifier"), speaker="assistant"))
        strangers.append(Fact(text=other, literal=other, kind="identifier"))
    told = tuple(fact for append in said for fact in append.facts)
    questions = tuple(Ask(fact=fact) for fact in (*told, *strangers))
    return (*said[::2], *plan.compacted("drop"), *said[1::2], *questions, *plan.compacted("drop"), *questions)


def _parts_of_names(plan: Plan) -> tuple[AnyStep, ...]:
    """Slots are asked for of what is called as something else ends, begins or goes on (REC-1)."""
    facts = tuple(plan.planter.fact("identifier", subject=f"osprey-{_tail(plan.planter)}") for _ in range(3))
    strangers = tuple(
        Ask(fact=plan.planter.fact("identifier", subject=near, attribute=fact.attribute))
        for fact in facts
        if (name := fact.subject)
        for near in (name.removeprefix("osprey-"), f"{name}7", name[:-1], f"sea-{name}")
    )
    return (*plan.compacted("drop", *facts), *asks(*facts), *strangers, *plan.compacted("paraphrase"), *strangers)


def _values(plan: Plan) -> tuple[AnyStep, ...]:
    """Slots whose values have signs, points and zeros that belong to them (REC-1)."""
    facts = tuple(
        statement(
            "number",
            subject=plan.planter.subject(),
            attribute=plan.planter.fact("number").attribute or "",
            value=form.format(137 + 11 * number),
            form=number % 2,
        )
        for number, form in enumerate(VALUES)
    )
    return (*plan.compacted("drop", *facts), *asks(*facts), *plan.compacted("paraphrase"), *asks(*facts))


def _denied_later(plan: Plan) -> tuple[AnyStep, ...]:
    """A value is given, and later denied; the newest word of a slot holds, also where it is that it is not so."""
    planter = plan.planter
    facts = tuple(planter.fact(kind) for kind in ("path", "identifier", "port"))
    denials = tuple(
        statement("negation", subject=f.subject or "", attribute=f.attribute or "", value=f.literal) for f in facts
    )
    return (
        *plan.compacted("drop", *facts),
        *plan.said(*denials),
        *asks(*denials),
        *plan.compacted("drop"),
        *asks(*denials),
        *plan.compacted("paraphrase"),
        *asks(*denials),
    )


def _ids(plan: Plan) -> tuple[AnyStep, ...]:
    """Turns whose ids differ in case, in one sign, or only at the end, as those of real services do (IDX-2)."""
    planter = plan.planter
    long = "msg_" + "q7Zt" * 18
    names = (
        "msg_01AbXq",
        "msg_01abXQ",
        "msg-01AbXq",
        "msg_01AbXq7",
        "msg_01AbXq.7",
        f"{long}1",
        f"{long}2",
        "1",
        "01",
    )
    facts = plan.facts(len(names))
    said = tuple(
        _named(planter.utter(f"{fact.text} (note {number})", fact), name)
        for number, (name, fact) in enumerate(zip(names, facts, strict=True))
    )
    return (
        *said,
        Probe(),
        *plan.compacted("drop"),
        *(Ask(fact=fact, evidence=True) for fact in facts),
        Reopen(),
        *plan.compacted("drop"),
        Probe(),
    )


def _named(append: Append, name: str) -> Append:
    return Append(turn=replace(append.turn, id=name), facts=append.facts)


def _names(plan: Plan) -> tuple[AnyStep, ...]:
    """Sessions whose names and users are told apart by all of both, and by nothing less: by case, by where one ends
    and the other begins, by what comes after a beginning that they share (ISO-1)."""
    mine = plan.facts(2)
    others = [("S", "u"), ("ss", "u"), ("s-1", "u")]
    others += [("s-11", "u")] if plan.taken.user is None else [("s", "us"), ("1", "u-s"), ("s", "U")]
    known = list(mine)
    steps: list[AnyStep] = [*plan.compacted("drop", *mine)]
    for number, (session, user) in enumerate(others):
        facts = plan.facts(2)
        steps += (Switch(session=session, user=user), *plan.said(*facts))
        # Something is in the store of two of them, and not in the window alone.
        steps += plan.compacted("drop") if number < 2 else ()
        steps += (*(Ask(fact=fact) for fact in known), Probe())
        known += facts
    questions = tuple(Ask(fact=fact) for fact in known)
    return (*steps, Switch(session="s", user="u"), Probe(), *questions, *plan.compacted("drop"), *questions)


def _wide(plan: Plan) -> tuple[AnyStep, ...]:
    """Two turns of more bytes than many a column holds, nearly all of their characters of four bytes (STR-3)."""
    planter = plan.planter
    said: list[Append] = []
    for character in ("\N{GRINNING FACE}", "\N{CJK UNIFIED IDEOGRAPH-20000}"):
        (fact,) = plan.facts(1)
        lines = "\n".join([character * IN_A_ROW] * (WIDE // IN_A_ROW))
        said.append(planter.utter(f"The board as it stood:\n{lines}\n{fact.text}", fact, speaker="assistant"))
    facts = tuple(fact for append in said for fact in append.facts)
    return (*said, *plan.compacted("drop"), Probe(), Reopen(), *asks(*facts), *plan.compacted("drop"), Probe())


def _results(plan: Plan) -> tuple[AnyStep, ...]:
    """The same call with the same result, again and again: each is a turn of its own (IDX-2, EPO-2)."""
    planter = plan.planter
    (fact,) = plan.facts(1)
    asking, result = planter.call(fact)

    def again(number: int) -> tuple[Append, Append]:
        call = replace(asking.turn.calls[0], id=f"{asking.turn.calls[0].id}-{number}")
        one, other = planter.call()
        return (
            Append(turn=replace(asking.turn, id=one.turn.id, time=one.turn.time, calls=(call,)), facts=asking.facts),
            Append(
                turn=replace(result.turn, id=other.turn.id, time=other.turn.time, result_of=call.id),
                facts=result.facts,
            ),
        )

    return (
        asking,
        result,
        *again(1),
        *plan.compacted("drop"),
        *again(2),
        Reopen(),
        *plan.compacted("drop"),
        Ask(fact=fact, evidence=True),
        Probe(),
    )


def _one_of_two(plan: Plan) -> tuple[AnyStep, ...]:
    """The same words in two turns, and one of them is erased: the other was not (IDX-2, ANC-1)."""
    fact, other = plan.facts(2)
    words = f"Again, so that nobody misses it. {fact.text}"
    first, second = plan.planter.utter(words, fact), plan.planter.utter(words, fact)
    return (
        first,
        *plan.said(other),
        second,
        *plan.compacted("drop"),
        Probe(),
        Forget(turn=first.turn.id),
        Probe(),
        Ask(fact=fact, evidence=True),
        *plan.compacted("drop"),
        Ask(fact=fact, evidence=True),
        Probe(),
    )


LIKENESS = (
    Scenario(name="patterns", aims=("REC-1", "REC-4"), build=_patterns, needs=frozenset({"search"})),
    Scenario(name="twins-in-name", aims=("REC-1",), build=_twins, needs=frozenset({"search"})),
    Scenario(name="parts-of-names", aims=("REC-1",), build=_parts_of_names, needs=frozenset({"reconstitute"})),
    Scenario(name="signs", aims=("REC-1",), build=_values, needs=frozenset({"reconstitute"})),
    Scenario(name="denied-later", aims=("REC-1",), build=_denied_later, needs=frozenset({"reconstitute"})),
    Scenario(name="ids-alike", aims=("IDX-2", "IDX-1", "ANC-1"), build=_ids),
    Scenario(name="names-alike", aims=("ISO-1",), build=_names, needs=frozenset({"switch"})),
    Scenario(
        name="wide-text", aims=("STR-3", "REC-3", "PTR-1"), build=_wide, settings=replace(ASKED_FOR, budget=10_000)
    ),
    Scenario(name="equal-results", aims=("IDX-2", "EPO-2"), build=_results),
    Scenario(name="one-of-two-erased", aims=("IDX-2", "ANC-1"), build=_one_of_two, needs=frozenset({"forget"})),
)
