"""Does a later summary get the id of one that left (STR-2)?

Pointers and outcomes name summaries that were replaced as well: an id that is given out again names two things. Of
each session the ids of the first summaries and of the latest are remembered: a counter that begins anew gives out the
first again, and whoever takes the lowest free number one of the latest.
"""

from collections import OrderedDict
from collections.abc import Sequence
from typing import Final

from anchorhold.checkers.reading import WITHDRAWING
from anchorhold.checkers.words import content
from anchorhold_spec.vocabulary import CarrierKind, Item

SUMMARY: Final = CarrierKind.SUMMARY
UNMAKING: Final = WITHDRAWING | {"crash", "kill", "lose_power", "fail_store"}
"""Operations after which a compactor may be where it was before, and go on from there: what it gave out since may be
given out again."""
MOST: Final = 256
"""Ids that are remembered of each session from its beginning, and as many of the latest."""


class _Window:
    """The latest window of one session, and the ids of summaries that left it, each with the `hash` of what it said
    last."""

    __slots__ = ("first", "latest", "live", "summaries")

    def __init__(self) -> None:
        self.live: tuple[Item, ...] = ()
        self.summaries: dict[str, Item] = {}
        self.first: dict[str, int] = {}
        self.latest: OrderedDict[str, int] = OrderedDict()

    def left(self, item: Item) -> None:
        """A summary left."""
        said, first, latest = hash(content(item)), self.first, self.latest
        if len(first) < MOST or item.id in first:
            first[item.id] = said
            return
        latest[item.id] = said
        if len(latest) > MOST:
            latest.popitem(last=False)

    def other(self, item: Item) -> bool:
        """Whether this id stood for something else."""
        said = self.first.get(item.id) or self.latest.get(item.id)
        return said is not None and said != hash(content(item))


class Ids:
    """The ids of summaries, window after window."""

    def __init__(self) -> None:
        self._windows: dict[str, _Window] = {}

    def again(self, session: str, live: tuple[Item, ...]) -> Sequence[Item]:
        """The summaries of a window that have the id of another one which left it before."""
        window = self._windows.get(session)
        if window is None:
            window = self._windows[session] = _Window()
        before, last = window.summaries, window.live
        summaries = {item.id: item for item in live if item.kind is SUMMARY}
        window.live, window.summaries = live, summaries
        if before.keys() == summaries.keys():
            return ()
        again: list[Item] = []
        for name, item in summaries.items():
            if name not in before and window.other(item) and _lasting(last, live):
                again.append(item)
        for name, item in before.items():
            if name not in summaries:
                window.left(item)
        return again


def _lasting(before: tuple[Item, ...], now: tuple[Item, ...]) -> bool:
    """Whether ids are names of items at all, and not of places in a window: a turn that stayed has the same."""
    known = {item.turn: item.id for item in before if item.kind is CarrierKind.RAW and item.turn is not None}
    stayed = [(known[item.turn], item.id) for item in now if item.turn in known and item.kind is CarrierKind.RAW]
    return bool(stayed) and all(was == now_is for was, now_is in stayed)
