"""EVI-1 to EVI-4 and EVI-7: what may be reclaimed with loss, and what the gate may not go by.

A turn is *structured* here where the suite planted a fact in it or it calls a tool; every honest reading of its
content comes to the same. It is *reclaimed with loss* once it is out of the window and the window no longer says all
of it that can be verified.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from itertools import pairwise

from anchorhold.checkers.holding import HELD, Hold, hold, through_pointers, tombstoned
from anchorhold.checkers.reading import Reading
from anchorhold.checkers.record import Assertion, Observation, Said, Stretch
from anchorhold.checkers.retention import led_to
from anchorhold.checkers.rule import RuleChecker
from anchorhold.checkers.tally import Tally
from anchorhold.checkers.words import content, plain, sentences, shorten, words
from anchorhold.compactor import Mechanism
from anchorhold_spec.vocabulary import Item

LABEL = re.compile(r"\bclass:? narrative\b|\[narrative\]|\bnarrative only\b", re.IGNORECASE)
"""How a turn declares itself to be of no consequence."""
OMITTING = re.compile(
    r"\bomi(?:t|ssion)|\bleft out\b|\bleav(?:es|ing) out\b|\bdropped\b|\belided\b|\bmissing\b|\bshortened\b|"
    r"\bnot (?:\w+ )?(?:repeated|included|carried|kept|shown|said|stated|listed|in this summary)\b|"
    # The same in other languages: a compactor writes its notes for whom it serves.
    r"ausgelassen|weggelassen|nicht enthalten|gekürzt|omis(?:e?s?|ion|ão)\b|omitid|omess|laissée?s? de côté|"
    r"опущен|пропущен|省略|略去|未列出|割愛|생략",
    re.IGNORECASE,
)
WHAT = re.compile(
    r"\d|\b(?:paths?|numbers?|identifiers?|names?|times?|calls?|arguments?|turns?|statements?|facts?|values?|quot)",
    re.IGNORECASE,
)
"""What is left out is named at least by kind or by number: that something is missing is true of every summary."""


class Fate(StrEnum):
    """What became of a turn that left the window."""

    SAID = "said"
    """The window still says all of it that can be verified."""
    RETRIEVABLE = "retrievable"
    LOST = "lost"


@dataclass(frozen=True, slots=True, kw_only=True)
class Reclaimed:
    """A structured turn that left the window, and what became of it at the first look that shows it."""

    turn: str
    fate: Fate
    stretch: Stretch
    """In which it left."""
    seen: Observation


def structured(said: Said) -> bool:
    """Whether a turn has something that could be verified."""
    return bool(said.facts or said.turn.calls)


def _said_all(reading: Reading, observation: Observation, turn: str) -> bool:
    texts = [content(item) for item in observation.items]
    facts = [a for a in reading.assertions if a.turn == turn]
    calls = reading.said[turn].turn.calls
    return all(any(a.number in reading.stated(text) for text in texts) for a in facts) and (
        not calls or any(reading.with_calls(text, turn) for text in texts)
    )


def _dropped(reading: Reading, observation: Observation, turn: str) -> bool:
    facts = [a for a in reading.assertions if a.turn == turn]
    return bool(facts) and all(tombstoned(reading, observation, a) for a in facts)


def _fate(reading: Reading, observation: Observation, turn: str) -> Fate | None:
    """None where it cannot be told yet."""
    if _said_all(reading, observation, turn) or _dropped(reading, observation, turn):
        return Fate.SAID
    held = through_pointers(reading, observation, turn)
    if held in HELD:
        return Fate.RETRIEVABLE
    return Fate.LOST if held is Hold.LOOSE else None


def reclaimed(reading: Reading) -> Iterator[Reclaimed]:
    """Every structured turn that a compaction took out of the window."""
    for lane in reading.lanes:
        waiting: dict[str, Stretch] = {}
        for stretch in lane:
            if any(o.op in ("evict", "expire", "tombstone", "supersede") for o in stretch.operations):
                waiting.clear()
            if stretch.of("compact") or stretch.of("append"):
                waiting |= {t: stretch for t in reading.removed(stretch) if structured(reading.said[t])}
            for turn in tuple(waiting):
                if turn in stretch.after.raw or reading.excused(stretch.after, turn):
                    del waiting[turn]
                    continue
                fate = _fate(reading, stretch.after, turn)
                if fate is not None:
                    yield Reclaimed(turn=turn, fate=fate, stretch=waiting.pop(turn), seen=stretch.after)


def _what(said: Said) -> str:
    """What of a turn can be verified, in words."""
    if said.facts:
        return f"“{plain(said.facts[0].text)}”"
    return f"a call of {said.turn.calls[0].name}"


def evi_1(reading: Reading, tally: Tally) -> None:
    """Each structured turn that was reclaimed: all of it is still said, or a pointer leads to its original."""
    for one in reclaimed(reading):
        tally.trigger()
        if one.fate is Fate.LOST:
            tally.fail(
                f"{reading.quote(one.turn, first=True)} is structured ({_what(reading.said[one.turn])}) and was "
                "reclaimed with loss, and no pointer leads to an original.",
                fact=one.turn,
                event=one.seen.end,
            )


def names_omissions(reading: Reading, observation: Observation, item: Item) -> bool:
    """Whether a summary, in words that are not the model's alone, says what it leaves out."""
    said = [s for s in sentences(content(item)) if OMITTING.search(s) and WHAT.search(s)]
    turns = [plain(words(one.turn)) for one in reading.present(observation)]
    return any(not any(sentence in turn for turn in turns) for sentence in said)


def _told_otherwise(stretch: Stretch, missing: list[Assertion]) -> bool:
    """Whether the outcome lists what the summary leaves out."""
    told = [plain(fact) for o in stretch.of("compact") if (outcome := o.outcome()) for fact in outcome.facts]
    return bool(missing) and all(any(plain(a.fact.literal) in fact for fact in told) for a in missing)


def left_out(reading: Reading, stretch: Stretch) -> list[Assertion]:
    """What turns that left the window assert, no item of it says, and nobody decided to drop."""
    removed = set(reading.removed(stretch))
    return [
        a
        for a in reading.assertions
        if a.turn in removed
        and not any(a.number in reading.stated(content(item)) for item in stretch.after.items)
        and not tombstoned(reading, stretch.after, a)
    ]


def omissions_named(reading: Reading, stretch: Stretch) -> bool:
    """Whether what summaries leave out of the turns that they replace is named, by one of them or by the outcome."""
    missing = left_out(reading, stretch)
    return (
        not missing
        or any(names_omissions(reading, stretch.after, item) for item in stretch.new_summaries)
        or _told_otherwise(stretch, missing)
    )


def _almost(reading: Reading, stretch: Stretch) -> str:
    """What a new summary says of leaving out, where it does not say what, in words."""
    turns = [plain(words(one.turn)) for one in reading.present(stretch.after)]
    for item in stretch.new_summaries:
        for sentence in sentences(content(item)):
            if OMITTING.search(sentence) and not any(sentence in turn for turn in turns):
                return (
                    f": “{shorten(sentence)}” names no number, and no kind (PROTOCOL.md, What a summary leaves out)"
                )
    return ""


def evi_2(reading: Reading, tally: Tally) -> None:
    """Each summary that leaves out something of structured turns: it says so, and says of what kind."""
    for stretch in reading.stretches:
        removed = reading.removed(stretch)
        if not removed or not stretch.new_summaries:
            continue
        tally.trigger(int(any(structured(reading.said[turn]) for turn in removed)))
        if omissions_named(reading, stretch):
            continue
        missing = left_out(reading, stretch)
        item = stretch.new_summaries[-1]
        tally.fail(
            f"Summary {item.id} leaves out {missing[0]}"
            f"{f' and {len(missing) - 1} more' if len(missing) > 1 else ''}, and neither it nor the outcome says "
            f"what is missing{_almost(reading, stretch)}.",
            fact=missing[0].fact.text,
            event=stretch.after.end,
        )


def evi_3(reading: Reading, tally: Tally) -> None:
    """Time passes, and the horizon is not over: what was reclaimed for the sake of its original still has it."""
    for stretch in reading.stretches:
        if not stretch.of("expire") or any(o.op != "expire" for o in stretch.operations):
            continue
        for said in reading.present(stretch.before):
            turn = said.turn.id
            if not structured(said) or reading.excused(stretch.after, turn):
                continue
            if turn in stretch.before.raw:
                # Kept as it is: that is what a compactor does whose originals may expire.
                continue
            if through_pointers(reading, stretch.before, turn) not in HELD:
                continue
            after = through_pointers(reading, stretch.after, turn)
            if after in HELD:
                tally.trigger()
                continue
            lost = [
                a
                for a in reading.assertions
                if a.turn == turn and hold(reading, stretch.after, a) not in HELD | {Hold.UNKNOWN, Hold.PENDING}
            ]
            if after is Hold.LOOSE:
                tally.trigger()
            if after is Hold.LOOSE and lost:
                tally.fail(
                    f"{reading.quote(turn, first=True)} was reclaimed since its original could be had; the original "
                    f"expired before the horizon, and {lost[0]} went with it.",
                    fact=turn,
                    event=stretch.after.end,
                )


NARRATIVE = "narrative"


def evi_4(reading: Reading, tally: Tally) -> None:
    """Each structured turn that declares itself narrative: it is treated as what it is."""
    for one in reclaimed(reading):
        said = reading.said[one.turn]
        if said.turn.declared != NARRATIVE and LABEL.search(words(said.turn)) is None:
            continue
        tally.trigger()
        if one.fate is Fate.LOST:
            tally.fail(
                f"{reading.quote(one.turn, first=True)} declares itself narrative and is not ({_what(said)}); it was "
                "reclaimed with loss, and no pointer leads to an original.",
                fact=one.turn,
                event=one.seen.end,
            )


def evi_7(reading: Reading, tally: Tally) -> None:
    """The same kind of turn at different sizes and ages: reclaimed in one way, and let go in one way."""
    _by_measure(reading, tally)
    _by_request(reading, tally)


def _by_measure(reading: Reading, tally: Tally) -> None:
    order = list(reading.said)
    fates = tuple(reclaimed(reading))
    tally.trigger(len(fates))
    lost = [one for one in fates if one.fate is Fate.LOST]
    kept = [one for one in fates if one.fate is Fate.RETRIEVABLE]
    if not lost or not kept:
        return

    def size(one: Reclaimed) -> int:
        return len(words(reading.said[one.turn].turn))

    def age(one: Reclaimed) -> int:
        removed = reading.removed(one.stretch)
        return order.index(removed[-1]) - order.index(one.turn)

    for name, measure in (("size", size), ("age", age)):
        a, b = [measure(one) for one in lost], [measure(one) for one in kept]
        if max(a) < min(b) or max(b) < min(a):
            which = ("smaller", "younger") if max(a) < min(b) else ("larger", "older")
            tally.fail(
                f"{reading.quote(lost[0].turn, first=True)} was reclaimed without an original, and "
                f"{reading.quote(kept[0].turn)} with one, although both are structured: the {which[name == 'age']} "
                "ones are let go.",
                fact=lost[0].turn,
                event=lost[0].seen.end,
            )
            return


def _by_request(reading: Reading, tally: Tally) -> None:
    """Requests to let originals go that alone hold something: all are granted, or none is."""
    verdicts: list[tuple[bool, str, int]] = []
    for stretch in reading.stretches:
        operation = stretch.alone
        if operation is None or operation.op != "evict":
            continue
        outcome = operation.outcome()
        if outcome is None:
            continue
        turns = led_to(reading, operation)
        alone = [a for a in reading.assertions if a.turn in turns and _only_here(reading, stretch.before, a)]
        if alone and outcome.kind in ("committed", "refused"):
            tally.trigger()
            verdicts.append((operation.committed, alone[0].turn, stretch.after.end))
    for (one, turn, _), (other, then, event) in pairwise(verdicts):
        if one is not other:
            granted, kept = (turn, then) if one else (then, turn)
            tally.fail(
                f"The original of {reading.quote(granted)} was let go and that of {reading.quote(kept)} was not, "
                "although each alone held what it says: the gate went by something else.",
                fact=granted,
                event=event,
            )
            return


def _only_here(reading: Reading, observation: Observation, assertion: Assertion) -> bool:
    """Whether nothing but its own original holds an assertion. What a summary says without listing it in its manifest
    is held by no more, and a gate may go by the words of summaries all the same."""
    if hold(reading, observation, assertion) is not Hold.POINTER:
        return False
    if any(assertion.number in reading.stated(content(item)) for item in observation.items):
        return False
    return not any(
        other.number != assertion.number and other.fact.text == assertion.fact.text for other in reading.assertions
    )


CHECKERS = (
    RuleChecker(rule="EVI-1", minimum=5, mechanisms=(Mechanism.SUMMARISER,), examine=evi_1),
    RuleChecker(rule="EVI-2", minimum=2, mechanisms=(Mechanism.SUMMARISER,), examine=evi_2),
    RuleChecker(rule="EVI-3", minimum=2, mechanisms=(Mechanism.EXPIRY,), examine=evi_3),
    RuleChecker(rule="EVI-4", minimum=3, mechanisms=(Mechanism.SUMMARISER,), examine=evi_4),
    RuleChecker(rule="EVI-7", minimum=4, mechanisms=(Mechanism.SUMMARISER,), examine=evi_7),
)
