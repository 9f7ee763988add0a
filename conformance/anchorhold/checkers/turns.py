"""What was said, and where it stands in a window."""

from collections.abc import Iterable, Iterator, Mapping
from typing import TypeAlias

import msgspec

from anchorhold.checkers.lanes import Lanes
from anchorhold.checkers.record import WITHDRAWING, Operation, Said, changed, convert
from anchorhold.checkers.words import carries_calls, content, holds, plain, words
from anchorhold.history import EventType, Header
from anchorhold.workload import Append, Meanwhile
from anchorhold_spec.vocabulary import (
    CarrierKind,
    Fact,
    Item,
)


def _planted(header: Header, operation: Operation, turn: str) -> tuple[Fact, ...]:
    """The facts that a turn asserts: as its `append` says, or as the workload does where an `append` says nothing."""
    if "facts" in operation.arguments:
        facts = operation.arguments["facts"]
        if type(facts) is tuple and (not facts or isinstance(facts[0], msgspec.Struct)):
            return facts
        return convert(facts, tuple[Fact, ...])
    steps = header.workload.steps
    here = steps[operation.step] if operation.step < len(steps) else None
    if isinstance(here, Append):
        return here.facts if here.turn.id == turn else ()
    # What is taken beside stands in a step before the one that it is taken in.
    inside = (s for step in reversed(steps[: operation.step]) if isinstance(step, Meanwhile) for s in step.steps)
    return next((s.facts for s in inside if isinstance(s, Append) and s.turn.id == turn), ())


def said_in(header: Header, done: tuple[Operation, ...], lanes: Lanes) -> tuple[dict[str, Said], dict[str, str]]:
    """What was said, by the suite's ids of turns, and these ids by the compactor's own."""
    said: dict[str, Said] = {}
    aliases: dict[str, str] = {}
    taking = [operation for operation in done if operation.op in WITHDRAWING]
    for operation in done:
        if operation.op == "append":
            amid = any(other.start < operation.end and other.end > operation.start for other in taking)
            say(header, operation, lanes.of(operation.start), said, aliases, amid=amid)
    return said, aliases


def say(
    header: Header,
    append: Operation,
    session: str,
    said: dict[str, Said],
    aliases: dict[str, str],
    *,
    amid: bool = False,
) -> str | None:
    """Take the turn of an append in; answers with its id where it is new, or is certain now.

    `amid`: something was taken away while it came in, and whether the turn was among that is not known.
    """
    if append.ended is EventType.FAIL:
        return None
    turn = append.turn
    new = turn.id not in said or not said[turn.id].certain
    if new:
        said[turn.id] = Said(
            turn=turn,
            facts=_planted(header, append, turn.id),
            at=append.end,
            certain=append.ok and not amid,
            session=session,
        )
    if append.ok and isinstance(append.value, str):
        aliases.setdefault(append.value, turn.id)
    return turn.id if new else None


REPLY = 12
"""Characters that a reply has at least, for an item to be told by it."""


def replies_in(done: tuple[Operation, ...], said: Mapping[str, Said]) -> list[tuple[int, str]]:
    """What the model wrote, and when; not where it repeats words of the transcript, and not where it is too short."""
    turns = [plain(words(one.turn)) for one in said.values()]
    written = [reply for operation in done for reply in written_in(operation.calls)]
    return [(at, text) for at, text in written if len(text) >= REPLY and not any(text in turn for turn in turns)]


def written_in(calls: Iterable[Operation]) -> Iterator[tuple[int, str]]:
    """What the model wrote when it was called, and when."""
    for call in calls:
        if call.op == "summarise" and call.ok and isinstance(call.value, dict):
            yield call.end, plain(str(call.value["text"]))


def as_summary(item: Item, said: Mapping[str, Said], aliases: Mapping[str, str], replies: list[str]) -> Item:
    """An item with its kind; what holds what the model wrote is a summary, whatever the compactor calls it."""
    if item.kind is CarrierKind.SUMMARY or item.turn in said or (item.turn or "") in aliases:
        return item
    flat = plain(content(item))
    if any(reply in flat for reply in replies):
        return changed(item, kind=CarrierKind.SUMMARY)
    return item


Stood: TypeAlias = dict[str, tuple[Item, Said, bool]]
"""Of turns: an item of theirs, and whether the turn stood there as it was."""


def raw_turns(
    items: tuple[Item, ...], said: Mapping[str, Said], aliases: Mapping[str, str], stood: Stood | None = None
) -> frozenset[str]:
    """Which turns stand in the window as they were: by their id where it is told, otherwise by their words.

    Several turns may have been merged into one item, and an item may frame a turn (a name before it), so words that
    stand inside a raw item count. A turn with calls is there as it was only with the arguments of its calls.
    `stood`: what was found out for an earlier window, which is made use of; it is left with what is found out now.
    """
    before: Stood = {} if stood is None else dict(stood)
    if stood is not None:
        stood.clear()

    def called(flat: str, turn: str) -> bool:
        return carries_calls(flat, said[turn].turn.calls)

    found: set[str] = set()
    loose: list[str] = []
    for item in items:
        if item.kind is not CarrierKind.RAW:
            continue
        name = item.turn if item.turn in said else aliases.get(item.turn or "")
        # Ids are known of the whole history, also of a turn that is only being appended.
        if name is not None and name in said:
            one = said[name]
            turn, text = one.turn, item.text
            if text is not None and text == turn.text and not turn.calls and turn.data is None and text.strip():
                found.add(name)
                continue
            known = before.get(name)
            if known is not None and known[1] is one and known[0] == item:
                there = known[2]
            else:
                text = content(item)
                there = one.stands_in(text) or not one.forms
                there = there and (not one.turn.calls or called(plain(text), name))
            if stood is not None:
                stood[name] = item, one, there
            if there:
                found.add(name)
            continue
        flat = plain(content(item))
        twins = [i for i, s in said.items() if i not in found and s.forms and flat in s.forms[0] and called(flat, i)]
        if twins:
            found.add(twins[0])
        else:
            loose.append(flat)
    if loose:
        found.update(i for i, s in said.items() if any(holds(flat, s.forms) and called(flat, i) for flat in loose))
    return frozenset(found)
