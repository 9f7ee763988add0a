"""MAN: what a summary replaces is in its manifest, still anchored, or dropped on the record; manifests are sound."""

import re
from collections.abc import Iterable

from anchorhold.checkers.anchoring import where_looked
from anchorhold.checkers.attribution import another
from anchorhold.checkers.holding import WAITING, Hold, buries, hold, same_literal, says_item
from anchorhold.checkers.qualifiers import core
from anchorhold.checkers.reading import Reading
from anchorhold.checkers.record import Drop, Said, Stretch
from anchorhold.checkers.rule import RuleChecker
from anchorhold.checkers.tally import Tally
from anchorhold.checkers.words import (
    content,
    negative,
    places,
    plain,
    sentences,
    shorten,
    stands,
    statements,
    words,
)
from anchorhold.compactor import Mechanism
from anchorhold_spec.vocabulary import Entry, Fact, Item, Tombstone

UNIT = re.compile(
    r"\s?(%|percent|[µumn]?s|sec(?:ond)?s?|min(?:ute)?s?|h|hours?|days?|[KMGT]i?B|bytes|req/s|°C)(?![\w/])"
)
"""A unit right after a number. A number with another unit is another number."""


COMMITTING = frozenset({"append", "compact", "crash", "reopen"})
"""Operations between which a commit can still be told from what came after it."""


def replaced(reading: Reading, stretch: Stretch) -> frozenset[str]:
    """The turns that the summaries committed in a stretch stand for: removed now, or under a summary that went.

    Turns that a compaction took away without putting anything in their place were replaced as well, by nothing.
    """
    if not stretch.new_summaries:
        return frozenset(reading.removed(stretch)) if stretch.of("compact") or stretch.of("append") else frozenset()
    earlier: set[str] = set()
    if stretch.gone_summaries:
        gone = {said.turn.id for said in reading.present(stretch.before)}
        earlier = gone - stretch.before.raw
    return frozenset(reading.removed(stretch)) | (frozenset(earlier) - stretch.after.raw)


def man_1(reading: Reading, tally: Tally) -> None:
    """At each commit: every assertion of every carrier that was replaced."""
    for lane in reading.lanes:
        _man_1(reading, tally, lane)


def _man_1(reading: Reading, tally: Tally, lane: tuple[Stretch, ...]) -> None:
    lost: set[int] = set()
    waiting: dict[int, str] = {}
    for stretch in lane:
        if any(o.op not in COMMITTING for o in stretch.operations):
            waiting.clear()
        turns = replaced(reading, stretch)
        now = turns & frozenset(reading.removed(stretch))
        names = ", ".join(item.id for item in stretch.new_summaries)
        summaries = f"summary {names} was committed it" if names else f"{stretch.named()} took turns away it"
        for assertion in reading.assertions:
            of_session = reading.belongs(assertion.turn, stretch.after.session)
            if not of_session or reading.excused(stretch.after, assertion.turn):
                continue
            # What an earlier commit lost is that commit's fault, and is reported there.
            if assertion.turn in now or (
                assertion.turn in turns and hold(reading, stretch.before, assertion) is not Hold.LOOSE
            ):
                waiting.setdefault(assertion.number, summaries)
            if assertion.number in lost or assertion.number not in waiting:
                continue
            held = hold(reading, stretch.after, assertion)
            # Several compactions may run before everything is looked at.
            if held in WAITING:
                continue
            committed = waiting.pop(assertion.number)
            tally.trigger()
            if held is Hold.LOOSE:
                lost.add(assertion.number)
                tally.fail(
                    f"When {committed} replaced what carried {assertion}, and neither "
                    f"carries it on nor leaves it anchored: {where_looked(reading)}.",
                    fact=assertion.fact.text,
                    event=stretch.after.end,
                )


def _different_unit(literal: str, carrier: str, source: str) -> bool:
    if not literal[-1:].isdigit():
        return False

    def units(text: str) -> set[str]:
        found = (UNIT.match(text, at + len(literal)) for at in places(literal, text))
        return {match.group(1) for match in found if match}

    here, there = units(carrier), units(source)
    return bool(here and there) and not here & there


def _denials(text: str, entry: Entry) -> set[bool]:
    """How a text speaks of an entry: affirming (false), denying (true), both, or not at all."""
    if entry.subject is not None:
        return {d for s in sentences(text) for d in statements(s, entry.subject, entry.literal)}
    return {
        negative(s[max(0, at - 24) : at + len(entry.literal)])
        for s in sentences(text)
        for at in places(plain(entry.literal), s)
    }


def _elsewhere(entry: Entry, carrier: str, rivals: frozenset[str]) -> bool:
    """Whether a carrier gives the value to another attribute of the subject, and nowhere to the entry's own."""
    if entry.attribute is None or entry.subject is None:
        return False
    own = plain(entry.attribute).casefold()
    saying = [
        s.casefold()
        for s in sentences(carrier)
        if next(statements(s, entry.subject, entry.literal), None) is not None
    ]
    return not any(own in s for s in saying) and any(plain(r).casefold() in s for s in saying for r in rivals)


def unsound(entry: Entry, carrier: str, sources: list[str], *, rivals: frozenset[str] = frozenset()) -> str | None:
    """Why a manifest's entry is not supported by carrier and source, in words; none where it is.

    `rivals` are other attributes of the entry's subject.
    """
    if not stands(entry.literal, carrier):
        return "the summary's own text does not say it"
    having = [source for source in sources if stands(entry.literal, source)]
    if not having:
        return "the source does not say it"
    flat = plain(carrier)
    if all(_different_unit(entry.literal, flat, plain(source)) for source in having):
        return "the summary gives it another unit than the source"
    if entry.subject is not None:
        named = [s for s in having if plain(entry.subject).casefold() in plain(s).casefold()]
        if not named:
            return f"the source does not speak of {entry.subject}"
        if plain(entry.subject).casefold() not in flat.casefold():
            return f"the summary does not mention {entry.subject}"
    here = _denials(carrier, entry)
    there = set().union(*(_denials(source, entry) for source in having))
    if not there:
        return f"no sentence of the source says it of {entry.subject}"
    if not here:
        return f"no sentence of the summary says it of {entry.subject}"
    if _elsewhere(entry, carrier, rivals):
        return f"the summary says it of another attribute of {entry.subject} than its {entry.attribute}"
    if not here & there:
        return "the summary denies what the source affirms, or the reverse"
    return None


def _misattributed(entry: Entry, carrier: str, sources: Iterable[Said]) -> str | None:
    """Whom the carrier has say it who did not, in words; none where it names nobody, or who did."""
    literal, subject = plain(entry.literal), plain(entry.subject or "").casefold()
    saying = [s for s in sentences(carrier) if stands(literal, s) and subject in s.casefold()]
    having = [said.turn.speaker for said in sources if stands(literal, words(said.turn))]
    whom = another(saying, having)
    return None if whom is None else f"the summary has the {whom} say it, and it was the {having[0]} who did"


def _narrower(entry: Entry, facts: Iterable[Fact]) -> str | None:
    """What an entry of a slot leaves out of the value that the source gives that slot, in words; none where nothing.

    Polarity, certainty, bounds, conditions and unit are part of a value. An entry of the kind `negation` says so
    itself.
    """
    own = [f for f in facts if f.subject == entry.subject and f.attribute == entry.attribute]
    if entry.subject is None or entry.attribute is None or any(stands(f.literal, entry.literal) for f in own):
        return None
    for fact in own:
        value, literal = plain(fact.literal), plain(entry.literal)
        if core(value) == literal != value and (entry.kind != "negation" or value != f"not {literal}"):
            gone = " … ".join(part for part in map(str.strip, value.split(literal, 1)) if part)
            return f"the source says “{value}” of it, and the “{gone}” is gone"
        unit = value.removeprefix(literal)
        if unit != value and literal[-1:].isdigit() and UNIT.fullmatch(unit):
            return f"the source says “{value}” of it, and the unit is gone"
    return None


def man_2(reading: Reading, tally: Tally) -> None:
    """Every entry of every live summary's manifest, once for each text that it stands in."""
    seen: set[tuple[str, str, str, str | None]] = set()
    for observation in reading.observations:
        carriers = {item.id: item for item in observation.summaries}
        for carrier, entries in observation.manifests.items():
            if carrier not in carriers:
                continue
            item = carriers[carrier]
            for entry in entries:
                key = (carrier, content(item), entry.literal, entry.source)
                if key in seen:
                    continue
                seen.add(key)
                tally.trigger()
                why = _why(reading, entry, item, observation.start)
                if why is not None:
                    tally.fail(
                        f"The manifest of summary {carrier} claims “{shorten(entry.literal)}”"
                        f"{f' of turn {entry.source}' if entry.source else ''}, but {why}.",
                        fact=entry.literal,
                        event=observation.end,
                    )


def _why(reading: Reading, entry: Entry, item: Item, at: int) -> str | None:
    source = reading.turn_of(entry.source)
    if source is not None:
        sources = [source]
    else:
        # A span of the compactor's own, or no source at all: any turn under the summary may support it.
        covers = reading.turns_of(item.covers)
        sources = sorted(covers) if covers else [i for i, said in reading.said.items() if said.at < at]
    rivals = frozenset(
        a.fact.attribute
        for a in reading.assertions
        if a.fact.attribute is not None and a.fact.subject == entry.subject and a.fact.attribute != entry.attribute
    )
    said = [reading.said[i] for i in sources]
    return (
        unsound(entry, content(item), [words(one.turn) for one in said], rivals=rivals)
        or _misattributed(entry, content(item), said)
        or _narrower(entry, (fact for one in said for fact in one.facts))
    )


def _decided(reading: Reading, tombstone: Tombstone, before: int) -> Drop | None:
    source = reading.turn_of(tombstone.source)
    for drop in reading.drops:
        if (
            drop.operation.start < before
            and same_literal(drop.literal, tombstone.literal)
            and source in (None, drop.source)
        ):
            return drop
    return None


def man_6(reading: Reading, tally: Tally) -> None:
    """Every tombstone has a decision behind it; every time a summary left something out is a chance to cheat."""
    seen: set[tuple[str, str | None]] = set()
    omitted: set[int] = set()
    for stretch in reading.stretches:
        if not stretch.new_summaries or not reading.offers("tombstones"):
            continue
        for assertion in reading.assertions:
            if (
                assertion.turn in reading.removed(stretch)
                and assertion.number not in omitted
                and not any(says_item(reading, stretch.after, i, assertion) for i in stretch.after.items)
            ):
                omitted.add(assertion.number)
                tally.trigger()
    for observation in reading.observations:
        for tombstone in observation.tombstones or ():
            key = (tombstone.literal, tombstone.source)
            if key in seen:
                continue
            seen.add(key)
            tally.trigger()
            whose = next((a for a in reading.assertions if buries(reading, tombstone, a)), None)
            named = str(whose) if whose else f"“{shorten(tombstone.literal)}” (turn {tombstone.source})"
            if _decided(reading, tombstone, observation.start) is None:
                sentence = (
                    f"{named} was tombstoned by {tombstone.decided_by or 'nobody'} "
                    f"(“{shorten(tombstone.reason)}”), although no caller decided that it may go."
                )
            elif not tombstone.reason.strip():
                sentence = f"The tombstone of {named} gives no reason."
            else:
                continue
            tally.fail(sentence, fact=whose.fact.text if whose else tombstone.literal, event=observation.end)


CHECKERS = (
    RuleChecker(rule="MAN-1", minimum=5, mechanisms=(), examine=man_1),
    RuleChecker(rule="MAN-2", minimum=3, mechanisms=(Mechanism.MANIFESTS,), examine=man_2),
    RuleChecker(rule="MAN-6", minimum=2, mechanisms=(Mechanism.TOMBSTONES,), examine=man_6),
)
