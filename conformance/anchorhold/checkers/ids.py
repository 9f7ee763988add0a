"""Does a later summary get the id of one that left (STR-2)?

Pointers and outcomes name summaries that were replaced as well: an id that is given out again names two things. Of
each session the ids of the first summaries and of the latest are remembered: a counter that begins anew gives out the
first again, and whoever takes the lowest free number one of the latest.
"""

from collections import OrderedDict
from collections.abc import Iterator
from typing import Final

from anchorhold.checkers.reading import WITHDRAWING
from anchorhold.checkers.words import content
from anchorhold_spec.vocabulary import CarrierKind, Item

UNMAKING: Final = WITHDRAWING | {"crash", "kill", "lose_power", "fail_store"}
"""Operations after which a compactor may be where it was before, and go on from there: what it gave out since may be
given out again."""
MOST: Final = 256
"""Ids that are remembered of each session from its beginning, and as many of the latest."""


class _Gone:
    """Ids of summaries that left one window, each with the `hash` of what it said last."""

    def __init__(self) -> None:
        self._first: dict[str, int] = {}
        self._latest: OrderedDict[str, int] = OrderedDict()

    def add(self, item: Item) -> None:
        """A summary left."""
        said = hash(content(item))
        if item.id in self._first or len(self._first) < MOST:
            self._first[item.id] = said
            return
        self._latest[item.id] = said
        if len(self._latest) > MOST:
            self._latest.popitem(last=False)

    def other(self, item: Item) -> bool:
        """Whether this id stood for something else."""
        said = self._first.get(item.id, self._latest.get(item.id))
        return said is not None and said != hash(content(item))


class Ids:
    """The ids of summaries, window after window."""

    def __init__(self) -> None:
        self._shown: dict[str, tuple[Item, ...]] = {}
        """The latest window of each session."""
        self._gone: dict[str, _Gone] = {}

    def again(self, session: str, live: tuple[Item, ...]) -> Iterator[Item]:
        """The summaries of a window that have the id of another one which left it before."""
        before, self._shown[session] = self._shown.get(session), live
        if before is None or before is live:
            return
        summaries = [item for item in live if item.kind is CarrierKind.SUMMARY]
        gone = self._gone.get(session)
        if gone is not None:
            stayed = {item.id for item in before}
            for item in summaries:
                if item.id not in stayed and gone.other(item) and _lasting(before, live):
                    yield item
        ids = {item.id for item in summaries}
        for item in before:
            if item.kind is CarrierKind.SUMMARY and item.id not in ids:
                if gone is None:
                    gone = self._gone[session] = _Gone()
                gone.add(item)


def _lasting(before: tuple[Item, ...], now: tuple[Item, ...]) -> bool:
    """Whether ids are names of items at all, and not of places in a window: a turn that stayed has the same."""
    known = {item.turn: item.id for item in before if item.kind is CarrierKind.RAW and item.turn is not None}
    stayed = [(known[item.turn], item.id) for item in now if item.turn in known and item.kind is CarrierKind.RAW]
    return bool(stayed) and all(was == now_is for was, now_is in stayed)
