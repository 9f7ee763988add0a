"""ANC-2 and ANC-3: whatever wants something gone asks the gate, and two that are safe alone are not safe together."""

from collections.abc import Iterator

from anchorhold.checkers.anchoring import where_looked
from anchorhold.checkers.holding import HELD, Hold, hold, same_literal
from anchorhold.checkers.reading import Reading
from anchorhold.checkers.record import CONTENT, Assertion, Observation, Operation, Stretch
from anchorhold.checkers.rule import RuleChecker
from anchorhold.checkers.tally import Tally
from anchorhold.checkers.words import content, plain, shorten, words
from anchorhold.compactor import Mechanism
from anchorhold_spec.vocabulary import Outcome, OutcomeKind

POLICIES = frozenset({"evict", "expire"})
"""What proposes that something go: a request for one original, and the passing of time."""
STAKED = frozenset({Hold.POINTER, Hold.SEARCH})
"""Held by nothing but what a policy may take away."""
LONG_WORD = 4
"""Characters of a word by which a refusal may be recognised as speaking of a turn."""


def led_to(reading: Reading, operation: Operation) -> frozenset[str]:
    """The turns whose original a token stands for: by what it declared, otherwise by what it last resolved to."""
    token = str(operation.arguments.get("token", ""))
    pointer = reading.pointers.get(token)
    covers = reading.turns_of(pointer.covers) if pointer is not None else None
    if covers is not None:
        return covers
    for observation in reversed(reading.observations):
        answer = observation.answers.get(token)
        if observation.end < operation.start and answer is not None and answer.kind in CONTENT:
            return reading.contained(content(answer))
    return frozenset()


def at_stake(reading: Reading, observation: Observation) -> dict[int, Hold]:
    """What holds each assertion of the session that was acknowledged before a look, and was not put out of reach."""
    found = {}
    for assertion in reading.assertions:
        said = reading.said[assertion.turn]
        if (
            said.certain
            and said.at < observation.start
            and assertion.session == observation.session
            and not reading.excused(observation, assertion.turn)
        ):
            found[assertion.number] = hold(reading, observation, assertion)
    return found


def _names(reading: Reading, outcome: Outcome, turns: frozenset[str], staked: list[Assertion]) -> bool:
    """Whether a refusal names a fact of the turns: one that was planted, or any other words of theirs."""
    told = [*outcome.facts, *([outcome.reason] if outcome.reason else [])]
    if any(same_literal(a.fact.literal, one) or plain(a.fact.literal) in plain(one) for a in staked for one in told):
        return True
    said = {word for turn in turns for word in words(reading.said[turn].turn).casefold().split()}
    return any(len(word) >= LONG_WORD and word in said for fact in outcome.facts for word in fact.casefold().split())


def anc_2(reading: Reading, tally: Tally) -> None:
    """Each time a policy proposes: what nothing else holds stays, and whoever refuses says for the sake of what."""
    granted = any(o.op == "evict" and o.committed for o in reading.operations)
    for stretch in reading.stretches:
        if not stretch.operations or any(o.op not in POLICIES for o in stretch.operations):
            continue
        before, after = at_stake(reading, stretch.before), at_stake(reading, stretch.after)
        turns = frozenset[str]().union(*(led_to(reading, o) for o in stretch.of("evict")))
        for assertion in reading.assertions:
            was, now = before.get(assertion.number), after.get(assertion.number)
            concerned = assertion.turn in turns or (bool(stretch.of("expire")) and was is not Hold.RAW)
            if was not in HELD or was is Hold.TOMBSTONE or not concerned:
                continue
            if now in HELD or now is Hold.LOOSE:
                tally.trigger()
            if now is Hold.LOOSE:
                tally.fail(
                    f"{_policy(stretch)} took away what alone held {assertion}: {where_looked(reading)}.",
                    fact=assertion.fact.text,
                    event=stretch.after.end,
                )
        # One that lets nothing go at all weighs no facts, and has none to name.
        if granted and stretch.alone is not None:
            _refusal(reading, tally, stretch, before, turns)


def _policy(stretch: Stretch) -> str:
    return "A request to evict" if not stretch.of("expire") else "Time passed, and the lifetime of an entry"


def _refusal(
    reading: Reading, tally: Tally, stretch: Stretch, before: dict[int, Hold], turns: frozenset[str]
) -> None:
    outcome = stretch.operations[0].outcome()
    staked = [a for a in reading.assertions if a.turn in turns and before.get(a.number) in STAKED]
    if outcome is None or outcome.kind is not OutcomeKind.REFUSED or not staked:
        return
    tally.trigger()
    if not _names(reading, outcome, turns, staked):
        told = f"“{shorten(outcome.reason)}”" if outcome.reason else "nothing at all"
        tally.fail(
            f"The eviction of {reading.quote(staked[0].turn)} was refused with {told}, and the refusal names no fact "
            f"that would have come loose.",
            fact=staked[0].fact.text,
            event=stretch.after.end,
        )


def _removals(reading: Reading) -> Iterator[tuple[Operation, frozenset[str]]]:
    """Each request to evict that ended, with the turns that it was about."""
    for operation in reading.operations:
        if operation.op == "evict":
            turns = led_to(reading, operation)
            if turns:
                yield operation, turns


def _overlap(one: Operation, other: Operation) -> bool:
    return one.start < other.end and other.start < one.end


def anc_3(reading: Reading, tally: Tally) -> None:
    """Requests for two carriers of one statement, and requests while a compaction was under way."""
    removals = tuple(_removals(reading))
    for text in dict.fromkeys(a.fact.text for a in reading.assertions):
        sayings = [a for a in reading.assertions if a.fact.text == text]
        for session in dict.fromkeys(a.session for a in sayings):
            among = {a.turn: a for a in sayings if a.session == session}
            asked = [(o, next(iter(turns & among.keys()))) for o, turns in removals if turns & among.keys()]
            if len({turn for _, turn in asked}) > 1:
                _together(reading, tally, asked, tuple(among.values()))
    for compact in (o for o in reading.operations if o.op == "compact" and o.committed):
        for operation, turns in removals:
            if operation.committed and _overlap(compact, operation):
                among = {a.turn: a for a in reading.assertions if a.turn in turns}
                for assertion in among.values():
                    _together(reading, tally, [(operation, assertion.turn), (compact, "")], (assertion,))


def _together(
    reading: Reading, tally: Tally, asked: list[tuple[Operation, str]], sayings: tuple[Assertion, ...]
) -> None:
    """Requests of which each alone may be granted: after all of them the statement is still held."""
    last = max(o.end for o, _ in asked)
    tally.trigger()
    granted = [(o, turn) for o, turn in asked if o.committed]
    if len({turn for _, turn in granted}) < 2:
        return
    for observation in reading.observations:
        if observation.start < last or observation.live is None or observation.session != sayings[0].session:
            continue
        holds = [hold(reading, observation, a) for a in sayings if not reading.excused(observation, a.turn)]
        if not holds or any(h not in HELD | {Hold.LOOSE} for h in holds):
            continue
        if all(h is Hold.LOOSE for h in holds):
            done = " and ".join(dict.fromkeys(o.op if not turn else f"evicting turn {turn}" for o, turn in granted))
            tally.fail(
                f"{done[0].upper()}{done[1:]} were both carried out, each with the other in mind, and now nothing "
                f"holds “{plain(sayings[0].fact.text)}”: {where_looked(reading)}.",
                fact=sayings[0].fact.text,
                event=observation.end,
            )
        return


CHECKERS = (
    RuleChecker(rule="ANC-2", minimum=3, mechanisms=((Mechanism.EVICTION, Mechanism.EXPIRY),), examine=anc_2),
    RuleChecker(rule="ANC-3", minimum=1, mechanisms=(Mechanism.EVICTION,), examine=anc_3),
)
