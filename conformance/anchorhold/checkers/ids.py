"""Does a later summary get the id of one that left (STR-2)?

Pointers and outcomes name summaries that were replaced as well: an id that is given out again names two things. Of
each session the ids of the first summaries and of the latest are remembered: a counter that begins anew gives out the
first again, and whoever takes the lowest free number one of the latest.
"""

from collections.abc import Sequence
from typing import Final

from anchorhold.checkers.record import WITHDRAWING
from anchorhold_spec.vocabulary import CarrierKind, Item

SUMMARY: Final = CarrierKind.SUMMARY
UNMAKING: Final = WITHDRAWING | {"crash", "kill", "lose_power", "fail_store"}
"""Operations after which a compactor may be where it was before, and go on from there: what it gave out since may be
given out again."""
MOST: Final = 256
"""Ids that are remembered of each session from its beginning, and at least as many of the latest."""


class _Window:
    """The latest window of one session, and the ids of summaries that left it, each with the `hash` of what it said
    last."""

    __slots__ = ("first", "latest", "live", "older", "summaries")

    def __init__(self) -> None:
        self.live: tuple[Item, ...] = ()
        self.summaries: list[Item] = []
        self.first: dict[str, int] = {}
        self.latest: dict[str, int] = {}
        self.older: dict[str, int] = {}

    def left(self, item: Item) -> None:
        """A summary left."""
        if len(self.first) < MOST or item.id in self.first:
            self.first[item.id] = _said(item)
            return
        self.latest[item.id] = _said(item)
        if len(self.latest) == MOST:
            self.older, self.latest = self.latest, {}

    def other(self, item: Item) -> bool:
        """Whether this id stood for something else."""
        name = item.id
        for known in (self.latest, self.first, self.older):
            if name in known:
                return known[name] != _said(item)
        return False


def _said(item: Item) -> int:
    return hash(item.text if item.text is not None else item.data)


class Ids:
    """The ids of summaries, window after window."""

    def __init__(self) -> None:
        self._windows: dict[str, _Window] = {}

    def again(self, session: str, live: tuple[Item, ...]) -> Sequence[Item]:
        """The summaries of a window that have the id of another one which left it before."""
        window = self._windows.get(session)
        if window is None:
            window = self._windows[session] = _Window()
        summaries = [item for item in live if item.kind is SUMMARY]
        new, gone, last = summaries, window.summaries, window.live
        window.live, window.summaries = live, summaries
        if len(new) != 1 or len(gone) != 1 or new[0].id == gone[0].id:
            names, earlier = {item.id for item in new}, {item.id for item in gone}
            if names == earlier:
                return ()
            new = [item for item in new if item.id not in earlier]
            gone = [item for item in gone if item.id not in names]
        again = [item for item in new if window.other(item) and _lasting(last, live)]
        for item in gone:
            window.left(item)
        return again


def _lasting(before: tuple[Item, ...], now: tuple[Item, ...]) -> bool:
    """Whether ids are names of items at all, and not of places in a window: a turn that stayed has the same."""
    known = {item.turn: item.id for item in before if item.kind is CarrierKind.RAW and item.turn is not None}
    stayed = [(known[item.turn], item.id) for item in now if item.turn in known and item.kind is CarrierKind.RAW]
    return bool(stayed) and all(was == now_is for was, now_is in stayed)
