"""Is an assertion still held by anything? The definition of *anchored* for any architecture.

An assertion is anchored where the turn stands in the window, a live text makes the statement, a carried pointer
resolves to the turn's words, or the compactor's own retrieval finds it. A compactor that offers manifests is taken at
its word: a summary of its anchors only what stands in its manifest as well.
"""

from collections.abc import Iterator
from enum import StrEnum

from anchorhold.checkers.reading import Reading
from anchorhold.checkers.record import CONTENT, Assertion, Observation, Question
from anchorhold.checkers.words import content, piece_of, plain, says, stands, words
from anchorhold_spec.vocabulary import Answer, AnswerKind, CarrierKind, Entry, Item, Pointer, Tombstone


class Hold(StrEnum):
    """What can be said of an assertion at one observation."""

    RAW = "raw"
    TEXT = "text"
    POINTER = "pointer"
    PENDING = "pending"
    """Everything was looked at, nothing holds it yet, and something promises that it will."""
    SEARCH = "search"
    TOMBSTONE = "tombstone"
    UNKNOWN = "unknown"
    """Nothing that was looked at holds it, and not everything was looked at."""
    LOOSE = "loose"
    """Everything was looked at, and nothing holds it."""


HELD = frozenset({Hold.RAW, Hold.TEXT, Hold.POINTER, Hold.SEARCH, Hold.TOMBSTONE})
WAITING = frozenset({Hold.UNKNOWN, Hold.PENDING})
"""Neither held nor lost as far as can be seen: there may be more to see later."""
PATIENCE = 4
"""Looks in which something may be answered `pending`, where copies cannot be made to land by `settle`; each follows a
change, so that the copy had time to."""


class Waits:
    """Counts how often each thing was found pending without ever having been found held in between."""

    def __init__(self, *, settles: bool) -> None:
        self._settles = settles
        """Whether background work can be let run to its end. What is pending may then be so until that was done."""
        self._times: dict[int | str, int] = {}
        self._since: dict[int | str, int] = {}
        """When each was first found so."""

    @property
    def how_long(self) -> str:
        """How long something was pending that is over, in words."""
        return "before and after all background work had ended" if self._settles else f"{PATIENCE} times"

    def over(self, what: int | str, held: Hold, *, at: Observation) -> bool:
        """Whether one more look in which it stands so is one too many (PTR-5: pending ends).

        Looks while the suite itself holds the copies back do not count.
        """
        if held in HELD:
            self._times.pop(what, None)
            self._since.pop(what, None)
        elif held is not Hold.UNKNOWN:
            self._times[what] = self._times.get(what, 0) + (not at.copies_held)
            self._since.setdefault(what, at.start)
        if self._settles:
            return not at.copies_held and at.settled > self._since.get(what, at.settled)
        return self._times.get(what, 0) >= PATIENCE


SLACK = 2000
"""Characters that a store's own framing may add to what it hands out."""


def same_literal(one: str, other: str) -> bool:
    """Whether two literals are about the same words: compactors cut them out differently."""
    return stands(one, other) or stands(other, one)


def hold(reading: Reading, observation: Observation, assertion: Assertion) -> Hold:
    """What holds an assertion, as far as this observation shows."""
    if assertion.turn in observation.raw:
        return Hold.RAW
    saying = [item for item in observation.items if assertion.number in reading.stated(content(item))]
    if any(_carries(reading, observation, item, assertion) for item in saying):
        return Hold.TEXT
    if tombstoned(reading, observation, assertion):
        return Hold.TOMBSTONE
    by_pointer = through_pointers(reading, observation, assertion.turn)
    if by_pointer not in HELD and _archived_elsewhere(reading, observation, assertion):
        return Hold.POINTER
    if by_pointer in HELD:
        return by_pointer
    by_search = _through_search(reading, observation, assertion)
    if by_search in HELD:
        return by_search
    for unsettled in (Hold.UNKNOWN, Hold.PENDING):
        if unsettled in (by_pointer, by_search):
            return unsettled
    # A manifest of another look may have been made anew since.
    if any(item.id not in observation.manifests for item in saying):
        return Hold.UNKNOWN
    return Hold.LOOSE


def says_item(reading: Reading, observation: Observation, item: Item, assertion: Assertion) -> bool:
    """Whether a live item carries an assertion: in its text and, where it has a manifest, in that as well."""
    return assertion.number in reading.stated(content(item)) and _carries(reading, observation, item, assertion)


def _carries(reading: Reading, observation: Observation, item: Item, assertion: Assertion) -> bool:
    """Whether an item that states an assertion carries it: by its manifest, where it has one."""
    entries = reading.manifest_of(observation, item) if item.kind is CarrierKind.SUMMARY else None
    return entries is None or any(names(reading, entry, assertion) for entry in entries)


def carried_on(reading: Reading, before: Observation, after: Observation, assertion: Assertion) -> bool:
    """Whether an item that carried an assertion at one look stands at the other as it stood: nobody let go of it,
    whatever of its manifest, or of what else holds the assertion, was looked at."""
    there = {(item.id, content(item)) for item in after.items}
    return any(
        (item.id, content(item)) in there and says_item(reading, before, item, assertion) for item in before.items
    )


def names(reading: Reading, entry: Entry, assertion: Assertion) -> bool:
    """Whether a manifest's entry is about an assertion. Entries may name spans that the suite does not know."""
    source = reading.turn_of(entry.source)
    return source in (None, assertion.turn) and same_literal(entry.literal, assertion.fact.literal)


def tombstoned(reading: Reading, observation: Observation, assertion: Assertion) -> bool:
    """Whether this assertion, and not merely the same words in another turn, was dropped on the record."""
    if observation.tombstones is not None:
        return any(buries(reading, t, assertion) for t in observation.tombstones)
    return any(
        same_literal(drop.literal, assertion.fact.literal)
        and drop.source == assertion.turn
        and drop.operation.ok
        and drop.operation.start < observation.start
        for drop in reading.drops
    )


def buries(reading: Reading, tombstone: Tombstone, assertion: Assertion) -> bool:
    """Whether a tombstone names an assertion.

    One that names no turn of the transcript covers what the caller decided on, and not the same words in other turns
    (MAN-4).
    """
    if not same_literal(tombstone.literal, assertion.fact.literal):
        return False
    source = reading.turn_of(tombstone.source)
    if source is not None:
        return source == assertion.turn
    return any(
        drop.source == assertion.turn and same_literal(drop.literal, tombstone.literal) for drop in reading.drops
    )


def covering(reading: Reading, pointers: tuple[Pointer, ...] | None, turn: str) -> Iterator[Pointer]:
    """The pointers that stand for a turn, or that do not say what they stand for."""
    for pointer in pointers or ():
        covers = reading.turns_of(pointer.covers)
        if covers is None or turn in covers:
            yield pointer


def credible(reading: Reading, answer: Answer, turns: frozenset[str] | None) -> bool:
    """Whether what was handed out so far can be part of these turns (of any turn, where it is not said of which)."""
    among = reading.said if turns is None else turns
    sources = [words(reading.said[turn].turn) for turn in among]
    text = content(answer)
    # What is longer by far than everything that it may stand for is no piece of it, and goes on for ever.
    if len(text) > SLACK + 4 * sum(map(len, sources)):
        return False
    return any(piece_of(text, source) for source in sources)


def unseen(observation: Observation) -> bool:
    """Whether a look neither shows where pointers lead nor excuses anybody for it."""
    return observation.pointers is None and not observation.exempt and not observation.damaged


def through_pointers(reading: Reading, observation: Observation, turn: str) -> Hold:
    """Whether a carried pointer leads to a turn's words."""
    if not reading.offers("pointers", "get"):
        return Hold.LOOSE
    if observation.pointers is None:
        return Hold.UNKNOWN
    unknown = pending = False
    for pointer in observation.pointers:
        answer = observation.answers.get(pointer.token)
        text = content(answer) if answer is not None and answer.kind in CONTENT else ""
        if text and turn in reading.contained(text) and reading.with_calls(text, turn):
            return Hold.POINTER
    for pointer in covering(reading, observation.pointers, turn):
        answer = observation.answers.get(pointer.token)
        if answer is None:
            unknown |= pointer.token not in observation.errors
        elif answer.kind is AnswerKind.PENDING:
            pending = True
        elif answer.kind is AnswerKind.PARTIAL and answer.continuation is not None:
            unknown |= credible(reading, answer, reading.turns_of(pointer.covers))
    if unknown:
        return Hold.UNKNOWN
    return Hold.PENDING if pending else Hold.LOOSE


def _archived_elsewhere(reading: Reading, observation: Observation, assertion: Assertion) -> bool:
    """Whether a carried pointer leads to another original that says the same: either may go while the other stays."""
    answers = (observation.answers.get(pointer.token) for pointer in observation.pointers or ())
    return any(
        answer is not None and answer.kind in CONTENT and assertion.number in reading.stated(content(answer))
        for answer in answers
    )


def asks_for(question: Question, assertion: Assertion) -> bool:
    """Whether a question was about an assertion."""
    arguments, fact = question.operation.arguments, assertion.fact
    if question.operation.op == "search":
        return plain(str(arguments.get("literal", ""))) == plain(fact.literal)
    return arguments.get("subject") == fact.subject and arguments.get("attribute") == fact.attribute


def _through_search(reading: Reading, observation: Observation, assertion: Assertion) -> Hold:
    if not (reading.offers("search") or reading.offers("reconstitute")):
        return Hold.LOOSE
    asked = [q for q in observation.questions if asks_for(q, assertion)]
    if any(_finds(reading, question.answer, assertion) for question in asked):
        return Hold.SEARCH
    unfinished = (
        q.answer for q in asked if q.answer.kind is AnswerKind.PARTIAL and q.answer.continuation is not None
    )
    if any(credible(reading, answer, frozenset({assertion.turn})) for answer in unfinished):
        return Hold.UNKNOWN
    # Every way of asking has to have been tried before silence means anything.
    tried = {question.operation.op for question in asked}
    possible = {op for op in ("search", "reconstitute") if reading.offers(op)}
    if assertion.fact.subject is None or assertion.fact.attribute is None:
        possible.discard("reconstitute")
    if not possible <= tried:
        return Hold.UNKNOWN
    return Hold.PENDING if any(q.answer.kind is AnswerKind.PENDING for q in asked) else Hold.LOOSE


def _finds(reading: Reading, answer: Answer, assertion: Assertion) -> bool:
    if answer.kind not in CONTENT:
        return False
    text = content(answer)
    if text and (assertion.turn in reading.contained(text) or says(text, assertion.fact)):
        return True
    return (
        answer.value is not None
        and same_literal(answer.value, assertion.fact.literal)
        and reading.turn_of(answer.source) in (None, assertion.turn)
    )
