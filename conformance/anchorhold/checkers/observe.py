"""Reads a history once, for all checkers: pairs every `invoke` with its end, and takes looks together.

It judges nothing.
"""

from bisect import bisect_left
from collections import deque
from collections.abc import Iterator, Mapping
from itertools import accumulate

import msgspec

from anchorhold.checkers.lanes import Lanes, withdrawals
from anchorhold.checkers.looking import Look, Reach
from anchorhold.checkers.naming import named
from anchorhold.checkers.pairing import operations
from anchorhold.checkers.reading import Reading
from anchorhold.checkers.record import (
    COMMON,
    DROPPING,
    LEADING,
    READS,
    SIDELINES,
    Assertion,
    Drop,
    Forked,
    Observation,
    Operation,
    Said,
    Source,
    Stretch,
    Withdrawal,
)
from anchorhold.checkers.turns import as_summary, raw_turns, replies_in, said_in
from anchorhold.checkers.words import plain, words
from anchorhold.history import MAIN, Header
from anchorhold.verdict import History
from anchorhold_spec.vocabulary import (
    Pointer,
)


def read(history: History) -> Reading:
    """Read a whole history."""
    done = operations(named(history.header, history.events))
    lanes = Lanes(history.header, done)
    said, aliases = said_in(history.header, done, lanes)
    taken_away = tuple(withdrawals(done, said, lanes))
    observations = tuple(_observations(history.header, done, said, aliases, lanes, taken_away))
    pointers: dict[str, Pointer] = {}
    issued: dict[str, int] = {}
    for observation in observations:
        for pointer in (*(observation.pointers or ()), *observation.relisted):
            pointers.setdefault(pointer.token, pointer)
            issued.setdefault(pointer.token, observation.start)
    return Reading(
        header=history.header,
        operations=done,
        said=said,
        aliases=aliases,
        assertions=tuple(
            Assertion(number=n, fact=fact, turn=i, at=s.at, session=s.session)
            for n, (i, s, fact) in enumerate((i, s, fact) for i, s in said.items() for fact in s.facts)
        ),
        observations=observations,
        stretches=tuple(_stretches(observations, done, lanes)),
        withdrawals=taken_away,
        forks=lanes.forks,
        drops=tuple(
            Drop(
                literal=str(o.arguments.get("literal", "")),
                source=str(o.arguments.get("source", "")),
                reason=str(o.arguments.get("reason", "")),
                operation=o,
                superseder=o.arguments.get("superseder"),
            )
            for o in done
            if o.op in DROPPING
        ),
        sources=_sources(done, said),
        pointers=pointers,
        issued=issued,
    )


def _sources(done: tuple[Operation, ...], said: Mapping[str, Said]) -> tuple[Source, ...]:
    told = [(one.at, words(one.turn)) for one in said.values()]
    written = [
        (call.end, str(call.value["text"]))
        for operation in done
        for call in operation.calls
        if call.op == "summarise" and call.ok and isinstance(call.value, dict)
    ]
    return tuple(Source(at=at, text=text, flat=plain(text)) for at, text in (*told, *written))


def _observations(
    header: Header,
    done: tuple[Operation, ...],
    said: Mapping[str, Said],
    aliases: Mapping[str, str],
    lanes: Lanes,
    withdrawals: tuple[Withdrawal, ...],
) -> Iterator[Observation]:
    look = Look()
    raw: frozenset[str] = frozenset()
    reach = Reach(header)

    replies = replies_in(done, said)
    coming = deque(sorted(said.items(), key=lambda pair: pair[1].at))
    known: dict[str, Said] = {}
    """What had been said when a look ended, in order; it grows from look to look."""
    changing = [o for o in done if o.op not in READS and o.op not in SIDELINES]
    leading = [(o.start, o.end) for o in done if o.op in LEADING and o.process != MAIN]
    begun, over = [o.start for o in changing], list(accumulate((o.end for o in changing), max))

    def under_way(look: Look) -> bool:
        assert look.start is not None
        before = bisect_left(begun, look.end)
        return before > 0 and over[before - 1] > look.start

    def flush() -> Iterator[Observation]:
        nonlocal raw
        # While somebody else goes over to another session it is not known which one is looked at.
        if look.start is None or any(start < look.end and end > look.start for start, end in leading):
            return
        live = look.live
        if live is not None:
            written = [text for at, text in replies if at < look.end]
            live = tuple(as_summary(item, said, aliases, written) for item in live)
            while coming and coming[0][1].at < look.end:
                known.update([coming.popleft()])
            raw = raw_turns(live, known, aliases)
        session = lanes.of(look.start)
        yield look.seen(
            session,
            live=live,
            raw=raw if live is not None else frozenset(),
            away=lanes.withdrawn(session, withdrawals, look.start),
            reach=reach,
            amid=under_way(look),
        )

    for operation in done:
        if operation.op in READS:
            # What is looked at beside shows a state in the middle of something.
            if operation.process == MAIN:
                look.take(operation)
            continue
        if operation.op in SIDELINES:
            continue
        yield from flush()
        look = Look()
        reach.follow(operation, said, raw)
    yield from flush()


def _stretches(observations: tuple[Observation, ...], done: tuple[Operation, ...], lanes: Lanes) -> Iterator[Stretch]:
    last: dict[str, Observation] = {}
    changes = [
        (lanes.of(operation.start), operation)
        for operation in done
        if operation.op not in READS
        and operation.op not in SIDELINES
        and not (operation.op in ("switch", "fork") and operation.ok)
    ]
    begun = [operation.start for _, operation in changes]
    for after in observations:
        if after.live is None:
            continue
        # Every session starts with an empty window, whether or not anybody looked at it.
        before = last.get(after.session) or beginning(after.session, last, lanes.forks)
        first, behind = bisect_left(begun, before.end), bisect_left(begun, after.start)
        between = tuple(o for of, o in changes[first:behind] if of == after.session or o.op in COMMON)
        yield Stretch(before=before, operations=between, after=after)
        last[after.session] = after


def beginning(session: str, last: Mapping[str, Observation], forks: Mapping[str, Forked]) -> Observation:
    """How the window of a session stood before anybody looked at it: empty, or as that of which it is a branch."""
    forked = forks.get(session)
    if forked is None or forked.parent not in last:
        return Observation(start=0, end=0, session=session, live=())
    parent = last[forked.parent]
    if parent.start > forked.at or forked.beside:
        # The parent was looked at again since, or changed meanwhile; what it was like then is not known any more.
        return Observation(start=forked.at, end=forked.at, session=session, live=())
    return msgspec.structs.replace(parent, session=session)
