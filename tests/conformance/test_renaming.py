"""What differs between two courses of events in nothing but names."""

from typing import Any

import pytest

from anchorhold.history import Event, EventType
from anchorhold.renaming import renamed

ITEMS = [{"id": "a1", "text": "Notes.", "covers": ["t1"]}, {"id": "a2", "text": "Go on.", "covers": None}]


def told(value: Any, error: str | None = None) -> list[Event]:
    kind = EventType.OK if error is None else EventType.FAIL
    return [Event(index=0, step=0, process="main", type=kind, op="live", value=value, error=error)]


def named(*names: str, text: str = "Notes.") -> list[dict[str, Any]]:
    return [{**item, "id": name} for item, name in zip([{**ITEMS[0], "text": text}, ITEMS[1]], names, strict=True)]


@pytest.mark.parametrize(
    ("now", "same"),
    [
        (ITEMS, True),
        (named("b7", "c9"), True),
        (named("a2", "a1"), True),
        # Two things have become one, or one says something else.
        (named("b7", "b7"), False),
        (named("b7", "c9", text="Other notes."), False),
        (ITEMS[:1], False),
        ([*ITEMS, ITEMS[0]], False),
    ],
)
def test_names_may_differ_as_long_as_each_stands_for_one_thing(now: list[Any], same: bool) -> None:
    assert renamed(told(ITEMS), told(now)) is same


@pytest.mark.parametrize(
    ("now", "same"),
    [
        ("no row 7f3a90c1 in /tmp/b02c/store.db", True),
        ("no row 7f3a90c1 in a table", False),
        ("the row 7f3a90c1 is locked", False),
    ],
)
def test_names_may_stand_in_sentences(now: str, same: bool) -> None:
    assert renamed(told(None, "no row 00ff12ab in /tmp/a55d/store.db"), told(None, now)) is same
