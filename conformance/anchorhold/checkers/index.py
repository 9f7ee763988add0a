"""IDX: spans are told apart by what they are, not by what they say."""

from dataclasses import dataclass

from anchorhold.checkers.reading import Reading
from anchorhold.checkers.record import CONTENT, Observation
from anchorhold.checkers.rule import RuleChecker
from anchorhold.checkers.tally import Tally
from anchorhold.checkers.words import content, plain
from anchorhold.compactor import Mechanism
from anchorhold_spec.vocabulary import AnswerKind, Pointer

Forms = tuple[tuple[str, ...], ...]


def _twins(reading: Reading) -> dict[tuple[str, Forms], list[str]]:
    """Turns of one session with equal words, in order."""
    groups: dict[tuple[str, Forms], list[str]] = {}
    for turn, said in reading.said.items():
        if said.certain and said.forms:
            groups.setdefault((said.session, said.forms), []).append(turn)
    return {key: turns for key, turns in groups.items() if len(turns) > 1}


def _times(text: str, forms: Forms) -> int:
    flat = plain(text)
    return min(max(flat.count(form) for form in part) for part in forms)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Supply:
    """How often a text can be had back through the carried pointers."""

    times: int
    certain: bool
    """Whether every pointer that may lead there was followed to the end."""


def _entry(pointer: Pointer) -> tuple[str, int | None]:
    """What tells stored entries apart: the key with its epoch where it can be seen, otherwise the token."""
    return (pointer.token, None) if pointer.key is None else (pointer.key, pointer.epoch)


def _supply(reading: Reading, observation: Observation, turns: list[str], forms: Forms) -> _Supply:
    entries: dict[tuple[str, int | None], int] = {}
    certain = True
    for pointer in observation.pointers or ():
        covers = reading.turns_of(pointer.covers)
        answer = observation.answers.get(pointer.token)
        if answer is None or answer.kind is AnswerKind.PENDING:
            certain &= covers is not None and not covers & set(turns)
            continue
        if answer.kind not in CONTENT:
            continue
        times = _times(content(answer), forms)
        # Where nothing follows, a partial answer is all there is; one that holds none of it was clipped.
        if answer.kind is AnswerKind.PARTIAL and (answer.continuation is not None or not times):
            certain = False
        entries[_entry(pointer)] = max(times, entries.get(_entry(pointer), 0))
    return _Supply(times=sum(entries.values()), certain=certain)


def _released(reading: Reading, until: int, turns: list[str], forms: Forms) -> int:
    """How many of the twins were evicted on request: by what the tokens declared, otherwise by what they held."""
    gone = 0
    for operation in reading.operations:
        if operation.op != "evict" or operation.start >= until or not operation.committed:
            continue
        token = str(operation.arguments.get("token", ""))
        covers = reading.turns_of(reading.pointers[token].covers) if token in reading.pointers else None
        if covers is not None:
            gone += len(covers & set(turns))
            continue
        seen = [o.answers[token] for o in reading.observations if token in o.answers and o.start < operation.start]
        gone += max((_times(content(answer), forms) for answer in seen if answer.kind in CONTENT), default=0)
    return gone


def idx_2(reading: Reading, tally: Tally) -> None:
    """Turns of equal words, once one of them has left the window: all can still be told apart."""
    for (session, forms), twins in _twins(reading).items():
        complete = False
        for observation in reading.observations:
            if observation.session != session or observation.live is None:
                continue
            turns = [i for i in twins if reading.said[i].at < observation.start]
            out = [i for i in turns if i not in observation.raw]
            if len(turns) < 2 or not out or observation.exempt & set(turns):
                continue
            _confused(reading, tally, observation, frozenset(turns))
            if not observation.summaries and len(out) < len(turns) and not _compacted(reading, observation):
                tally.trigger()
                tally.fail(
                    f"{reading.quote(turns[0], first=True)} and turn {turns[-1]} say the same, and the window holds "
                    f"{len(turns) - len(out)} of {len(turns)} although nothing was compacted.",
                    fact=turns[-1],
                    event=observation.end,
                )
                continue
            if observation.pointers is None or not reading.offers("pointers", "get"):
                continue
            supply = _supply(reading, observation, out, forms)
            needed = len(out) - _released(reading, observation.start, out, forms)
            # Where none can be had back the pointers are at fault, unless evicting one twin took the other.
            together = supply.times == 0 and complete and needed < len(out)
            if not supply.certain or needed < 1 or (supply.times == 0 and not together):
                continue
            complete = supply.times >= needed
            tally.trigger()
            if not complete:
                tally.fail(
                    f"{reading.quote(out[0], first=True)} and turn {out[-1]} say the same in different turns; "
                    f"{needed} of them should be had back after they left the window, and {supply.times} can be.",
                    fact=out[-1],
                    event=observation.end,
                )


def _confused(reading: Reading, tally: Tally, observation: Observation, twins: frozenset[str]) -> None:
    """A pointer to one of several turns that say the same answers with the words of that one."""
    for token, answer in observation.answers.items():
        pointer = reading.pointers.get(token)
        covers = reading.turns_of(pointer.covers) if pointer is not None else None
        source = reading.turn_of(answer.source)
        if covers is not None and len(covers) == 1 and covers <= twins and source in twins - covers:
            tally.trigger()
            tally.fail(
                f"{reading.quote(next(iter(covers)), first=True)} and turn {source} say the same, and the pointer to "
                f"the first, {token}, answers with the second.",
                fact=source,
                event=observation.end,
            )


def _compacted(reading: Reading, observation: Observation) -> bool:
    return any(o.start < observation.start and (o.op == "compact" or o.calls) for o in reading.operations)


CHECKERS = (RuleChecker(rule="IDX-2", minimum=2, mechanisms=(Mechanism.POINTERS,), examine=idx_2),)
