"""What one compaction is to replace, and why what stays has to stay."""

from collections.abc import Sequence
from dataclasses import dataclass

from anchorhold_reference.codec import size_text
from anchorhold_reference.decide import Candidate, select
from anchorhold_reference.extract import Mention
from anchorhold_reference.extract.facts import UnreadableError
from anchorhold_reference.pairs import been_away
from anchorhold_reference.session import Live, Session
from anchorhold_reference.values import CountTokens, Settings
from anchorhold_spec.vocabulary import ToolCall


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What one compaction is about to replace."""

    chosen: tuple[Live, ...]
    read: dict[int, list[Mention]]
    """Assertions of the raw spans among them."""
    calling: frozenset[int]
    """Those of the raw spans that call a tool."""
    version: int
    """Of the window when it was read (CON-2, CON-3)."""
    newest: int
    """The newest turn in it then."""
    stay: int
    """Size of what stays in the window."""
    held_up_by: tuple[str, ...]
    """Why carriers stay that are not simply the newest, in words."""


def carrier_size(one: Live, count: CountTokens) -> int:
    """Size of one carrier in the window."""
    return count(one.text or "" if one.turn is None else size_text(one.turn))


def window_size(live: Sequence[Live], count: CountTokens) -> int:
    """Size of a window."""
    return sum(carrier_size(one, count) for one in live)


def make_plan(
    session: Session, live: Sequence[Live], *, sizes: Sequence[int], version: int, settings: Settings
) -> Plan:
    """Choose what to replace, of carriers of these sizes; nothing is chosen where nothing may be."""
    read: dict[int, list[Mention]] = {}
    unreadable: dict[int, str] = {}
    for one in live:
        if one.turn is not None and not one.turn.protected:
            try:
                read[one.carrier] = session.read(one)
            except UnreadableError as error:
                unreadable[one.carrier] = f"{one.turn.id!r} has no manifest (MAN-3): {error}"
    groups, waiting = grouped(live)
    if waiting:
        waiting -= _waited(session, live, waiting)
    asked = latest_request(live)
    reasons: list[str] = []
    candidates: list[Candidate] = []
    for i, one in enumerate(live):
        why = None
        if one.turn is not None:
            if one.turn.protected or one.turn.speaker == "system":
                why = f"{one.turn.id!r} is protected (STR-4)"
            elif i == asked:
                why = f"{one.turn.id!r} is the latest unanswered request (STR-4)"
            elif one.carrier in unreadable:
                why = unreadable[one.carrier]
            elif i in waiting:
                why = f"{one.turn.id!r} holds a call whose result is outstanding (STR-1)"
        if why:
            reasons.append(why)
        candidates.append(Candidate(size=sizes[i], summary=one.turn is None, bound=why is not None, group=groups[i]))
    high_water = settings.high_water
    picked = select(
        tuple(candidates),
        keep=settings.keep,
        high_water=high_water,
        reserve=0 if high_water is None else high_water // 4,
    )
    chosen = tuple(live[i] for i in picked)
    staying = set(range(len(live))) - set(picked)
    return Plan(
        chosen=chosen,
        read={one.carrier: read[one.carrier] for one in chosen if one.turn is not None},
        calling=frozenset(one.carrier for one in chosen if one.turn is not None and one.turn.calls),
        version=version,
        newest=max((one.carrier for one in live if one.turn is not None), default=0),
        stay=sum(candidates[i].size for i in staying),
        held_up_by=tuple(reasons),
    )


def _calls(one: Live) -> tuple[ToolCall, ...]:
    return () if one.turn is None else one.turn.calls


def _waited(session: Session, live: Sequence[Live], waiting: set[int]) -> set[int]:
    """Those of the waiting that a late result brought back: all their calls had been answered before they left, and
    what answered one of them was forgotten or let go since. It would be waited for in vain (PRO-2)."""
    here = {one.turn.result_of for one in live if one.turn is not None and one.turn.status != "unfinished"}
    partly = {live[i].carrier: i for i in waiting if any(call.id in here for call in _calls(live[i]))}
    return {partly[span] for span in been_away(session.ledger, list(partly))}


def latest_request(live: Sequence[Live]) -> int | None:
    """Index of the latest turn of the user's that no assistant's text has answered."""
    for i in range(len(live) - 1, -1, -1):
        turn = live[i].turn
        if turn is None:
            return None
        if turn.speaker == "user":
            return i
        if turn.speaker == "assistant" and turn.text and not turn.calls:
            return None
    return None


def grouped(live: Sequence[Live]) -> tuple[list[int], set[int]]:
    """A group's number for each carrier, calls with their results in one, and which carriers hold open calls
    (STR-1)."""
    group = list(range(len(live)))
    by_call: dict[str, int] = {}
    open_calls: dict[str, int] = {}
    for i, one in enumerate(live):
        if one.turn is None:
            continue
        for call in one.turn.calls:
            by_call[call.id] = i
            # A call whose process died will never be answered: waiting for it would stop all progress (PRO-2).
            if one.turn.status != "killed":
                open_calls[call.id] = i
        answered = one.turn.result_of
        if answered is not None and answered in by_call:
            group[i] = group[by_call[answered]]
            if one.turn.status != "unfinished":
                open_calls.pop(answered, None)
    return group, set(open_calls.values())
