"""Evidence and structure: labels that lie, sizes and ages, originals that may expire, questions that demand evidence,
calls that are answered late, bytes that are easily changed, and turns that may never go."""

import json
from dataclasses import replace

from anchorhold.planting import ARGUMENT
from anchorhold.scenarios.keeping import HOUR, asks, noise
from anchorhold.scenarios.plan import ASKED_FOR, Plan, Scenario
from anchorhold.workload import AnyStep, Append, Ask, Compact, Evict, Expire, Probe, Reopen
from anchorhold_spec.vocabulary import Fact

SHORT_LIVED = replace(ASKED_FOR, lifetime=HOUR)
"""Entries may expire after an hour, and evidence may be asked for until the session's end."""
LABEL = "[narrative] Only thinking aloud, class: narrative."
LARGE = 1600
ODD = (
    "two  spaces,\ttabs\t\tand a trailing one \n\n\nand three empty lines\n",
    "line ends of\r\nanother\r\nsystem, and one\ralone",
    "\x1b[31mred\x1b[0m, a bell \x07, a form feed \x0c, a unit separator \x1f and a delete \x7f",
    "café, cafe\N{COMBINING ACUTE ACCENT} in two parts, \N{ZERO WIDTH SPACE}zero width, \N{RIGHT-TO-LEFT MARK}marks",
    "“curly” and ‘single’ quotes, an ellipsis…, \N{NO-BREAK SPACE}a hard space, ﬁne ligatures, ½ and № 2",
    "\N{WOMAN}\N{EMOJI MODIFIER FITZPATRICK TYPE-5}\N{ZERO WIDTH JOINER} 東京 \N{LINE SEPARATOR}次の行 <a&b> \\n ✓",
    "a zero \x00 in the middle, and what comes after it",
    "a京\N{GRINNING FACE}é" * 150,
)
"""Text that a careless store changes: white space, control characters, other scripts, markup, and
characters of one to four bytes in so long a row that whoever cuts by bytes cuts one of them."""
SURROGATES = b"half a pair: \xed\xa0\xbd, and the other half: \xed\xb8\x80."

MANY = 9
"""Standing rules of one session."""


def _labelled(plan: Plan) -> tuple[AnyStep, ...]:
    """Structured turns of each kind that declare themselves narrative (EVI-4)."""
    planter = plan.planter
    facts = tuple(planter.fact(kind) for kind in ("path", "number", "negation", "identifier"))
    more = tuple(planter.fact(kind) for kind in ("path", "negation"))
    argument = planter.argument("command")
    asking, result = planter.call(argument)
    asking = Append(turn=replace(asking.turn, text=f"{LABEL} Just looking around."), facts=asking.facts)
    # Declared where no word of the text says so: a field that the caller fills in.
    declared = tuple(planter.declare(planter.utter(f.text, f, speaker="assistant"), "narrative") for f in more)
    return (
        *declared,
        *(planter.utter(f"{LABEL} {fact.text}", fact, speaker="assistant") for fact in facts),
        asking,
        result,
        *plan.compacted("drop"),
        *asks(*facts),
        *plan.compacted("paraphrase", *plan.facts(2)),
        *asks(*facts),
    )


def _measures(plan: Plan) -> tuple[AnyStep, ...]:
    """The same kind of turn, small and large, old and young: one verdict for all of them (EVI-7)."""
    planter = plan.planter
    steps: list[AnyStep] = []
    turns: list[str] = []
    for _ in range(3):
        small, large = plan.facts(2)
        aside = " ".join(part for run in planter.asides(LARGE // 3) for part in run)
        said = (planter.utter(small.text, small), planter.utter(f"{aside} {large.text}", large))
        turns.extend(append.turn.id for append in said)
        steps.extend((*said, *plan.compacted("drop")))
    return (*steps, *(Evict(turn=turn) for turn in turns), Probe())


def _system_config(plan: Plan) -> tuple[AnyStep, ...]:
    """Did we ever change the system's configuration? Only the arguments of one call say so (S2's own question)."""
    planter = plan.planter
    path = Fact(text='"path": "/etc/app/conf.yaml"', literal="/etc/app/conf.yaml", kind=ARGUMENT)
    asking, result = planter.call(path)
    call = replace(asking.turn.calls[0], name="write_file")
    asking = Append(turn=replace(asking.turn, text=None, calls=(call,)), facts=asking.facts)
    return (
        asking,
        result,
        *plan.compacted("paraphrase"),
        *asks(path),
        *plan.compacted("drop", *plan.facts(2)),
        *asks(path),
        Reopen(),
        *asks(path),
    )


def _short_lived(plan: Plan) -> tuple[AnyStep, ...]:
    """Originals may expire in an hour, evidence may be asked for until the end (EVI-3)."""
    facts = plan.facts(3)
    return (
        *plan.said(*facts),
        *plan.compacted("drop"),
        Expire(seconds=HOUR / 2),
        *asks(*facts),
        Expire(seconds=2 * HOUR),
        *asks(*facts),
        *plan.compacted("paraphrase", *plan.facts(2)),
        Expire(seconds=24 * HOUR),
        *asks(*facts),
    )


def _demands(plan: Plan) -> tuple[AnyStep, ...]:
    """Summaries carry the statements word for word, some originals go, and evidence is demanded (EVI-5, EVI-6)."""
    facts = plan.facts(4)
    bare = tuple(plan.planter.utter(fact.text, fact) for fact in facts)
    return (
        *bare,
        *plan.compacted("faithful"),
        *asks(*facts),
        *(Evict(turn=append.turn.id) for append in bare[:2]),
        *asks(*facts),
        *plan.compacted("faithful"),
        *asks(*facts),
    )


def _late_results(plan: Plan) -> tuple[AnyStep, ...]:
    """One call waits for a person, a batch is answered bit by bit, and compactions come in between (STR-1)."""
    planter = plan.planter
    waiting, late = planter.call(*plan.facts(1))
    together, results = planter.batch(3)
    return (
        *plan.said(*plan.facts(1)),
        waiting,
        *plan.compacted("drop", *plan.facts(1)),
        together,
        results[0],
        *plan.compacted("faithful"),
        results[1],
        late,
        Compact(until_idle=2),
        results[2],
        Probe(),
        *plan.compacted("drop"),
        *plan.compacted("drop"),
    )


def _cuts(plan: Plan) -> tuple[AnyStep, ...]:
    """Nothing but calls and results, so that every cut goes through one of them (STR-1)."""
    steps: list[AnyStep] = []
    for number in range(3):
        for _ in range(plan.expected // 2 + number):
            asking, result = plan.planter.call(plan.planter.argument(), plan.planter.loose(), *plan.facts(1))
            steps.extend((asking, result))
        steps.append(Compact(until_idle=2))
    return (*steps, Probe())


def _written(number: int, arguments: str) -> str:
    """The same arguments as a model may write them: without spaces, over several lines, with and without escapes, and
    with numbers that a careless reader rounds."""
    values = json.loads(arguments) | {"city": "Zürich – 東京", "account": 9_007_199_254_740_993 + number}
    match number % 3:
        case 0:
            return json.dumps(values, separators=(",", ":"))
        case 1:
            return json.dumps({"where": [values, ["  two  spaces", "a\ttab"]]}, ensure_ascii=False, indent=4)
        case _:
            return json.dumps(values, ensure_ascii=False, separators=(" , ", " : "))[:-1] + ' , "share" : 0.10 }'


def _calls(plan: Plan) -> tuple[Append, ...]:
    """Calls whose arguments are not written as a library would write them, each with its result."""
    steps: list[Append] = []
    for number in range(3):
        asking, result = plan.planter.call(plan.planter.argument())
        call = asking.turn.calls[0]
        call = replace(call, arguments=_written(number, call.arguments))
        # It has words by which it is known again, whatever becomes of its arguments.
        turn = replace(asking.turn, text=f"Looking this up ({call.id}).", calls=(call,))
        facts = tuple(replace(fact, text=fact.literal) for fact in asking.facts)
        steps += (Append(turn=turn, facts=facts), result)
    return tuple(steps)


def _exact(plan: Plan) -> tuple[AnyStep, ...]:
    """Bytes and characters that are easily changed, in the window, behind pointers, and after a restart (STR-3)."""
    planter = plan.planter
    odd = (
        *(planter.utter(f"{text}(note {number})", speaker="assistant") for number, text in enumerate(ODD)),
        planter.utter("\n    Indented, and ended by a blank line (note outer). \t\n\n", speaker="assistant"),
        planter.attach(SURROGATES),
        planter.attach(noise(plan)),
        *_calls(plan),
    )
    return (
        *odd,
        Probe(),
        *plan.compacted("drop", *plan.facts(2)),
        Reopen(),
        *plan.compacted("faithful", *plan.facts(2)),
        Probe(),
    )


def _standing(plan: Plan) -> tuple[AnyStep, ...]:
    """A system turn, a standing rule, and a request that a long run of calls works on (STR-4)."""
    planter = plan.planter
    rule = planter.protect(planter.say(*plan.facts(1), speaker="user"))
    system = planter.protect(planter.utter("You are a careful agent. Never delete anything.", speaker="system"))
    request = planter.say(*plan.facts(1), speaker="user")
    work = [step for _ in range(plan.expected) for step in planter.call(planter.argument())]
    silent = [
        Append(turn=replace(step.turn, text=None), facts=step.facts) if step.turn.calls else step for step in work
    ]
    return (
        system,
        rule,
        *plan.compacted("drop", *plan.facts(2)),
        *plan.compacted("faithful", *plan.facts(1)),
        request,
        *silent,
        Compact(until_idle=3),
        *plan.compacted("drop"),
    )


def _many_standing(plan: Plan) -> tuple[AnyStep, ...]:
    """More standing rules than anybody counts on, said one by one while work goes on (STR-4)."""
    planter = plan.planter
    rules = [planter.protect(planter.utter(fact.text, fact)) for fact in plan.facts(MANY)]
    systems = [planter.utter(f"Standing order {n}: never delete anything.", speaker="system") for n in (1, 2)]
    third = MANY // 3
    return (
        systems[0],
        *rules[:third],
        systems[1],
        *plan.compacted("drop", *plan.facts(1)),
        *rules[third:],
        *plan.compacted("drop", *plan.facts(1)),
        *plan.compacted("faithful"),
    )


def _several_calls(plan: Plan) -> tuple[AnyStep, ...]:
    """Turns that make several calls at once: each call has arguments of its own, and a result (STR-1, ANC-1)."""
    planter = plan.planter
    batches = [planter.batch(3, *(planter.argument() for _ in range(3)), *plan.facts(3)) for _ in range(2)]
    (first, some), (second, more) = batches
    # Some tools have nothing to say.
    silent, result = planter.call()
    silenced = Append(turn=replace(result.turn, text=""), facts=())
    facts = tuple(fact for append in (first, *some, second, *more) for fact in append.facts)
    questions = tuple(Ask(fact=fact) for fact in facts)
    return (
        first,
        *some,
        silent,
        silenced,
        *plan.compacted("drop"),
        second,
        *reversed(more),
        *plan.compacted("drop"),
        *questions,
        *plan.compacted("faithful"),
        Probe(),
    )


def _consumed(plan: Plan) -> tuple[AnyStep, ...]:
    """An approval that was used, a run that was killed, a mail that was begun: past in every window; and ids of
    summaries that stay unique over a restart (STR-2)."""
    planter = plan.planter
    used = planter.marked(planter.utter("Go ahead with step one.", speaker="user"), "consumed")
    asking, result = planter.call(*plan.facts(1))
    mail = planter.marked(planter.say(*plan.facts(1), speaker="assistant"), "unfinished")
    return (
        used,
        planter.say(speaker="assistant"),
        asking,
        planter.marked(result, "killed"),
        mail,
        *plan.compacted("drop", *plan.facts(1)),
        *plan.compacted("faithful", *plan.facts(1)),
        Reopen(),
        *plan.compacted("paraphrase"),
        # A third summary in any case, after a restart: some take no paraphrase.
        *plan.compacted("faithful", *plan.facts(1), idle=1),
        *(Ask(fact=fact, evidence=True) for fact in (*result.facts, *mail.facts)),
    )


QUESTIONED = ("EVI-5", "EVI-6", "REC-1")

EVIDENCE = (
    Scenario(name="labelled", aims=("EVI-4", "EVI-1", "EVI-2"), build=_labelled),
    Scenario(name="measures", aims=("EVI-7", "EVI-1"), build=_measures),
    Scenario(name="system-config", aims=("EVI-1", "EVI-2", "EVI-6", "REC-4", "ANC-1"), build=_system_config),
    Scenario(
        name="short-lived",
        aims=("EVI-3", "ANC-2"),
        build=_short_lived,
        needs=frozenset({"expire"}),
        settings=SHORT_LIVED,
    ),
    Scenario(name="demands", aims=QUESTIONED, build=_demands, needs=frozenset({"reconstitute"})),
    Scenario(name="late-results", aims=("STR-1", "PRO-2"), build=_late_results),
    Scenario(name="cuts", aims=("STR-1", "PTR-3"), build=_cuts),
    Scenario(name="exact", aims=("STR-3", "PTR-1", "MAN-3"), build=_exact),
    Scenario(name="standing", aims=("STR-4", "STR-1"), build=_standing),
    Scenario(name="many-standing", aims=("STR-4",), build=_many_standing),
    Scenario(name="several-calls", aims=("STR-1", "ANC-1", "MAN-1"), build=_several_calls),
    Scenario(name="consumed", aims=("STR-2",), build=_consumed),
)
