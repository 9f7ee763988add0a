"""Results and histories for the tests of the reports: one compactor that breaks two rules, one that breaks none."""

from collections.abc import Mapping
from typing import Any

from anchorhold.compactor import Settings
from anchorhold.history import Event, EventType, Header
from anchorhold.level import NOT_ASKED
from anchorhold.result import FailureResult, Result, result
from anchorhold.verdict import History, Verdict, VerdictKind
from anchorhold.workload import AnyStep, Append, Ask, Compact, Evict, Probe, Summariser, Workload
from anchorhold_spec.catalogue import RULES
from anchorhold_spec.vocabulary import Fact, Turn

FACT = "deploy target of job J-88 is /srv/a7"
LITERAL = "/srv/a7"


def turn(number: int, text: str) -> Turn:
    return Turn(id=f"t{number}", speaker="user" if number % 2 else "assistant", text=text, time=1000.0 + number)


def history(
    steps: tuple[AnyStep, ...], events: list[tuple[int, EventType, str, Any]], *, rule: str, error: str = "it broke"
) -> History:
    wrong = {EventType.FAIL, EventType.INFO}
    return History(
        header=Header(
            compactor="forgetful",
            name="forgetful",
            version="0.3.1",
            operations=("append", "compact", "get", "live", "pointers", "search"),
            mechanisms=("summariser", "pointers", "retrieval"),
            settings=Settings(budget=400, watermark=0.7),
            seed=7,
            workload=Workload(name="drop-then-evict", aims=(rule,), steps=steps),
            rule=rule,
        ),
        events=tuple(
            Event(
                index=index,
                step=step,
                process="summariser" if op == "summarise" else "main",
                type=kind,
                op=op,
                value=None if kind in wrong else value,
                error=error if kind in wrong else None,
            )
            for index, (step, kind, op, value) in enumerate(events)
        ),
    )


def unanchored(*, noise: int = 0) -> History:
    """A fact is summarised away, then its original is evicted; `noise` more turns that say nothing of it."""
    said = turn(1, f"For the record: the {FACT}, and nothing else is settled yet.")
    chat = tuple(turn(number, f"Let us look at item {number} of the list.") for number in range(2, 5 + noise))
    fact = Fact(text=FACT, literal=LITERAL, kind="path", subject="job J-88", attribute="deploy target")
    steps: tuple[AnyStep, ...] = (
        Append(turn=said, facts=(fact,)),
        *(Append(turn=each) for each in chat),
        Summariser(mode="drop"),
        Compact(),
        Probe(),
        Evict(turn="t1"),
        Ask(fact=fact, evidence=True),
    )
    invoke, ok = EventType.INVOKE, EventType.OK
    first = len(chat) + 2
    summary = {"id": "s1", "kind": "summary", "text": "They talked about a deployment.", "covers": ["t1", "t2"]}
    raw = [{"id": f"m{n}", "kind": "raw", "turn": f"t{n}", "text": each.text} for n, each in enumerate(chat[1:], 3)]
    events: list[tuple[int, EventType, str, Any]] = []
    for number, each in enumerate((said, *chat)):
        events += [(number, invoke, "append", {"turn": each, "facts": [fact] if number == 0 else []})]
        events += [(number, ok, "append", each.id)]
    events += [
        (first, invoke, "compact", None),
        (first, invoke, "summarise", {"messages": ["Summarise this.", f"{said.text}\n{chat[0].text}"]}),
        (first, ok, "summarise", {"text": "They talked about a deployment.", "finish": "stop", "mode": "drop"}),
        (first, ok, "compact", {"kind": "committed", "summary": "s1", "covered": ["t1", "t2"]}),
        (first + 1, invoke, "live", None),
        (first + 1, ok, "live", [summary, *raw]),
        (first + 1, invoke, "pointers", None),
        (first + 1, ok, "pointers", [{"summary": "s1", "token": "p-1", "covers": ["t1", "t2"]}]),
        (first + 1, invoke, "get", {"token": "p-1"}),
        (first + 1, ok, "get", {"kind": "found", "text": said.text, "source": "t1", "evidence": True}),
        (first + 2, invoke, "evict", {"token": "p-1"}),
        (first + 2, ok, "evict", {"kind": "committed"}),
        (first + 3, invoke, "search", {"literal": LITERAL}),
        (first + 3, ok, "search", {"kind": "absent"}),
    ]
    return history(steps, events, rule="ANC-1")


def neighbour() -> History:
    """A question that nothing answers is answered with something else."""
    fact = Fact(text="the port is 7443", literal="7443", kind="number", subject="gateway", attribute="port")
    steps: tuple[AnyStep, ...] = (Append(turn=turn(1, "The gateway has port 8443.")), Ask(fact=fact))
    invoke, ok, info = EventType.INVOKE, EventType.OK, EventType.INFO
    return history(
        steps,
        [
            (0, invoke, "append", {"turn": turn(1, "The gateway has port 8443."), "facts": []}),
            (0, ok, "append", None),
            (1, invoke, "search", {"literal": "7443"}),
            (1, ok, "search", {"kind": "found", "text": "The gateway has port 8443.", "carrier": "m1"}),
            (1, invoke, "reconstitute", {"subject": "gateway", "attribute": "port", "evidence": False}),
            (1, info, "reconstitute", None),
        ],
        rule="REC-1",
        error="TimeoutError: no answer in 5 s",
    )


def verdict(rule: str, kind: VerdictKind, reason: str = "because", triggered: int = 0) -> Verdict:
    return Verdict(rule=rule, kind=kind, reason=reason, triggered=triggered)


def failing(*, noise: int = 0, compactor: str = "forgetful", stderr: str = "") -> tuple[Result, dict[str, History]]:
    """Two failures, with every kind of verdict among the rules."""
    first = unanchored(noise=noise)
    failures = (
        FailureResult(
            rule="ANC-1",
            sentence=f'"{FACT}" (turn t1) was in no carrier and behind no pointer after its original was evicted.',
            fact=FACT,
            history="histories/ANC-1.jsonl",
            replay="anchorhold replay histories/ANC-1.jsonl",
            event=len(first.events) - 3,
        ),
        FailureResult(
            rule="REC-1",
            sentence='Asked for "7443", which no turn asserts, the compactor answered `found` with other words.',
            fact="7443",
            history="histories/REC-1.jsonl",
            replay="anchorhold replay histories/REC-1.jsonl",
            event=3,
        ),
    )
    verdicts = [
        verdict("ANC-1", VerdictKind.FAIL, failures[0].sentence, 14),
        verdict("REC-1", VerdictKind.FAIL, failures[1].sentence, 9),
        verdict("EPO-1", VerdictKind.VACUOUS, "the compactor has no key-recycling"),
        verdict("EPO-2", VerdictKind.PASS, "held 12 times", 12),
        verdict("EPO-3", VerdictKind.NOT_OBSERVABLE, "store-faults: its store is remote and cannot be damaged"),
        verdict("REC-2", VerdictKind.PASS, "held 31 times", 31),
        verdict("PRO-1", VerdictKind.PASS, "held 6 times", 6),
        verdict("OUT-1", VerdictKind.PASS, "held 40 times", 40),
        verdict("OUT-2", VerdictKind.PASS, "held 44 times", 44),
        verdict("PTR-1", VerdictKind.PASS, "held 20 times", 20),
        verdict("PTR-3", VerdictKind.INCONCLUSIVE, "triggered 2 times, and 3 are needed to say anything", 2),
        verdict("MAN-1", VerdictKind.PASS, "held 20 times", 20),
    ]
    document = result(
        compactor=compactor,
        version="0.3.1",
        verdicts=verdicts,
        failures=failures,
        seconds=12.34,
        seed=7,
        stderr=stderr,
    )
    return document, {"histories/ANC-1.jsonl": first, "histories/REC-1.jsonl": neighbour()}


def conforming() -> Result:
    """Everything demanded by level 3 passes, and nothing else has a checker."""
    verdicts = [verdict(rule.id, VerdictKind.PASS, "held 9 times", 9) for rule in RULES.values() if rule.level <= 3]
    return result(compactor="reference", version="0.1.0", verdicts=verdicts, failures=(), seconds=8.0, seed=0)


def partial(kinds: Mapping[str, VerdictKind]) -> Result:
    """A run that was asked for these rules only."""
    verdicts = [verdict(rule, kinds.get(rule, VerdictKind.UNTESTED), NOT_ASKED) for rule in RULES]
    failures = [
        FailureResult(
            rule=rule, sentence="It broke.", fact="f", history="h.jsonl", replay="anchorhold replay h.jsonl"
        )
        for rule, kind in kinds.items()
        if kind is VerdictKind.FAIL
    ]
    return result(compactor="toy", version="1", verdicts=verdicts, failures=failures, seconds=1.0, seed=0)
