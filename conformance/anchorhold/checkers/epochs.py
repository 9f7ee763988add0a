"""EPO: a token leads to what it was issued for, or says that it does not; never to something else."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from anchorhold.checkers.reading import CONTENT, Observation, Reading
from anchorhold.checkers.rule import RuleChecker
from anchorhold.checkers.tally import Tally
from anchorhold.checkers.words import content, plain, shorten
from anchorhold.compactor import Mechanism
from anchorhold_spec.vocabulary import Answer, AnswerKind, Pointer

NUMBER = re.compile(r"\d+")
IDENTIFIER = re.compile(r"[\w:@/.+=-]*\d[\w:@/.+=-]*")
"""Something that names one thing of many: it has a figure in it."""
LEAVING = frozenset({"evict", "expire"})


@dataclass(slots=True)
class _Token:
    """What is known of one token while a history is gone through."""

    pointer: Pointer
    issued: int
    bound: frozenset[str] = frozenset()
    first: str | None = None
    """The content that it first resolved to."""


def _bind(reading: Reading, token: _Token, answer: Answer) -> None:
    """Bind a token by what it declares, otherwise by what it first resolves to."""
    if answer.kind not in CONTENT:
        return
    if token.first is None:
        token.first = content(answer)
    if not token.bound:
        token.bound = reading.contained(content(answer))


def _issued(reading: Reading, observation: Observation, tokens: dict[str, _Token]) -> bool:
    new = False
    for pointer in observation.pointers or ():
        if pointer.token not in tokens:
            new = True
            tokens[pointer.token] = _Token(
                pointer=pointer,
                issued=observation.start,
                bound=reading.turns_of(pointer.covers) or frozenset(),
            )
    return new


def _reused(token: _Token, tokens: dict[str, _Token]) -> bool:
    """Whether the key inside a token was given out again for something else."""
    mine = token.pointer
    return any(
        other.pointer.key == mine.key
        and other.issued > token.issued
        and (other.pointer.epoch != mine.epoch or not (other.bound & token.bound))
        for other in tokens.values()
        if other is not token
    )


def _instead(reading: Reading, token: _Token, answer: Answer) -> frozenset[str]:
    """The turns that an answer holds in place of those that the token is bound to; none where it is right."""
    there = reading.contained(content(answer))
    others = there - token.bound
    missing = token.bound - there
    if token.first is not None:
        if missing != token.bound:
            # What it never led to is missing, which is no fault of a key that was used again.
            missing &= reading.contained(token.first)
        # A file may hold other turns beside, and may have held them from the start.
        others -= reading.contained(token.first) if missing != token.bound else frozenset()
    if not missing or not others:
        return frozenset()
    if answer.kind is AnswerKind.PARTIAL and missing != token.bound:
        return frozenset()
    return others


def epo_1(reading: Reading, tally: Tally) -> None:
    """A token is followed after something left the store and something else was stored."""
    tokens: dict[str, _Token] = {}
    left: int | None = None
    stored_after_leaving: int | None = None
    alive: set[str] = set()
    leaving = [o for o in reading.operations if o.op in LEAVING and o.committed]
    for observation in reading.observations:
        if any(o.start < observation.start and (left is None or o.start > left) for o in leaving):
            left = max(o.start for o in leaving if o.start < observation.start)
        new = _issued(reading, observation, tokens)
        if new and left is not None:
            stored_after_leaving = observation.start
        for name, answer in observation.answers.items():
            token = tokens.get(name)
            if token is None or (observation.exempt - observation.withdrawn) & token.bound:
                continue
            _bind(reading, token, answer)
            if answer.kind not in CONTENT and name in alive:
                alive.discard(name)
                left = left if left is not None else observation.start
            if answer.kind in CONTENT:
                alive.add(name)
            recycled = (
                _reused(token, tokens)
                if token.pointer.key is not None
                else left is not None and stored_after_leaving is not None and token.issued < left
            )
            if recycled:
                tally.trigger()
            wrong = _instead(reading, token, answer) if answer.kind in CONTENT else frozenset()
            if wrong:
                mine = next(i for i in reading.said if i in token.bound)
                other = next(i for i in reading.said if i in wrong)
                tally.fail(
                    f"Pointer {name}, issued for {reading.quote(mine)}, now resolves to {reading.quote(other)}.",
                    fact=mine,
                    event=observation.end,
                )


def _never_issued(reading: Reading) -> Iterator[tuple[str, Answer | None, int]]:
    handed = _continuations(reading)
    for operation in reading.operations:
        token = str(operation.arguments.get("token", ""))
        if operation.op != "get" or token in reading.issued or token in handed:
            continue
        answer = next(
            (
                o.answers[token]
                for o in reading.observations
                if o.start <= operation.start <= o.end and token in o.answers
            ),
            None,
        )
        yield token, answer, operation.end


def _continuations(reading: Reading) -> frozenset[str]:
    return frozenset().union(*(observation.continuations for observation in reading.observations))


def _shape(token: str) -> str:
    """A token with its numbers taken out: addresses of one store look alike."""
    return NUMBER.sub("#", token)


def addresses(reading: Reading) -> frozenset[str]:
    """Tokens of elsewhere that are the address of something that this store has as well.

    Where a token is the address of what it names (a number, a range), one of another store may be the address of
    something here. What is no address, and what leads where others lead, is none.
    """
    shapes = {_shape(token) for token in reading.issued}
    strangers = tuple(_never_issued(reading))
    found: set[str] = set()
    for name, answer, _ in strangers:
        led = [a for other, a, _ in strangers if other != name and a is not None and a.kind in CONTENT]
        own = answer is not None and answer.kind in CONTENT and bool(reading.contained(content(answer)))
        if own and _shape(name) in shapes and all(content(a) != content(answer) for a in led if answer is not None):
            found.add(name)
    return frozenset(found)


def epo_2(reading: Reading, tally: Tally) -> None:
    """No key stands for two things, or its epoch grows; a token that was never issued is foreign."""
    tokens: dict[str, _Token] = {}
    for observation in reading.observations:
        for pointer in observation.pointers or ():
            bound = reading.turns_of(pointer.covers)
            if pointer.token in tokens:
                first = tokens[pointer.token].bound
                if bound and first and not bound & first:
                    tally.fail(
                        f"Pointer {pointer.token} was given out for {reading.quote(min(first))} and again for "
                        f"{reading.quote(min(bound))}.",
                        fact=pointer.token,
                        event=observation.end,
                    )
                continue
            if pointer.key is None:
                tokens[pointer.token] = _Token(pointer=pointer, issued=observation.start, bound=bound or frozenset())
                continue
            answer = observation.answers.get(pointer.token)
            if bound is None:
                held = answer is not None and answer.kind in CONTENT
                bound = reading.contained(content(answer)) if answer is not None and held else frozenset()
            token = _Token(pointer=pointer, issued=observation.start, bound=bound)
            for other in tokens.values():
                if other.pointer.key != pointer.key or not bound or not other.bound or bound & other.bound:
                    continue
                tally.trigger()
                before, now = other.pointer.epoch, pointer.epoch
                if before is None or now is None or now <= before:
                    tally.fail(
                        f"Key {pointer.key} was given out for {reading.quote(min(other.bound))} and again for "
                        f"{reading.quote(min(bound))}, and its epoch did not grow ({before}, then {now}).",
                        fact=pointer.key,
                        event=observation.end,
                    )
            tokens[pointer.token] = token
    local = addresses(reading)
    for name, answer, event in _never_issued(reading):
        if name in local:
            continue
        tally.trigger()
        if answer is None or answer.kind is not AnswerKind.FOREIGN:
            said = "an error" if answer is None else f"“{answer.kind}”"
            what = f" (“{shorten(content(answer))}”)" if answer is not None and content(answer) else ""
            tally.fail(
                f"Pointer “{name}” was never issued here, and following it answers with {said}{what} "
                "instead of “foreign”.",
                fact=name,
                event=event,
            )


def _names_both(reading: Reading, token: str, error: str) -> bool:
    """Whether an error names two things: the pointer, or what it names, and what was found instead of it.

    How a store names things is its own affair: a token, a key, a digest, a path, the id of a turn.
    """
    pointer = reading.pointers.get(token)
    known = [token, *((pointer.key or "", *(pointer.covers or ())) if pointer is not None else ())]
    named = {name for name in known if name and name in error}
    rest = error
    for name in sorted(named, key=len, reverse=True):
        rest = rest.replace(name, " ")
    return bool(named) + len(set(IDENTIFIER.findall(rest))) >= 2


def epo_3(reading: Reading, tally: Tally) -> None:
    """Stored bytes were damaged: following the pointer must not pass them off as the original."""
    good: dict[str, str] = {}
    damaged: set[str] = set()
    corrupting = [o for o in reading.operations if o.op == "corrupt" and o.ok and o.value is True]
    for observation in reading.observations:
        damaged |= {str(o.arguments.get("token", "")) for o in corrupting if o.start < observation.start}
        for name in sorted(damaged & observation.errors.keys()):
            tally.trigger()
            error = observation.errors[name]
            if not _names_both(reading, name, error):
                tally.fail(
                    f"The stored bytes under pointer {name} were damaged, and following it ends with an error that "
                    f"does not name both what was asked for and what was found (“{shorten(error)}”).",
                    fact=name,
                    event=observation.end,
                )
        for name, answer in observation.answers.items():
            if name not in damaged:
                if answer.kind in CONTENT and name in reading.issued:
                    good[name] = content(answer)
                continue
            tally.trigger()
            if answer.kind not in CONTENT:
                continue
            original, now = plain(good.get(name, "")), plain(content(answer))
            intact = original in now if answer.kind is AnswerKind.FOUND else now in original
            if name not in good:
                bound = reading.turns_of(reading.pointers[name].covers) if name in reading.pointers else None
                intact = bound is None or bound <= reading.contained(content(answer))
            if not intact:
                tally.fail(
                    f"The stored bytes under pointer {name} were damaged, and following it still answers "
                    f"“{answer.kind}” with other content than before (“{shorten(content(answer))}”).",
                    fact=name,
                    event=observation.end,
                )


CHECKERS = (
    RuleChecker(rule="EPO-1", minimum=3, mechanisms=(Mechanism.POINTERS, Mechanism.KEY_RECYCLING), examine=epo_1),
    RuleChecker(rule="EPO-2", minimum=3, mechanisms=(Mechanism.POINTERS,), examine=epo_2),
    RuleChecker(rule="EPO-3", minimum=1, mechanisms=(Mechanism.POINTERS, Mechanism.STORE_FAULTS), examine=epo_3),
)
