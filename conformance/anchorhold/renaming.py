"""Whether two courses of events are the same but for names that a compactor makes anew each time.

Ids of items, tokens of pointers and paths of files may be random. Played again, such a compactor does the same under
other names: what each stands for can be told by where it comes up.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from anchorhold.history import Event

NAMING = frozenset(
    {"carrier", "continuation", "covered", "covers", "id", "key", "path", "source", "summary", "token", "turn"}
)
"""Fields whose texts are names, of one thing or of several."""
PART = re.compile(r"[\w./:@~-]{6,}")
"""What a name may look like that stands in a sentence."""


class _Names:
    """Which names of one course stand for which of the other, each for one."""

    def __init__(self) -> None:
        self._forth: dict[str, str] = {}
        self._back: dict[str, str] = {}

    def alike(self, one: Any, other: Any, *, naming: bool = False) -> bool:
        """Whether two values are the same but for names, none of which stood for something else before."""
        if isinstance(one, Mapping) and isinstance(other, Mapping):
            return list(one) == list(other) and all(
                self.alike(one[key], other[key], naming=key in NAMING) for key in one
            )
        if isinstance(one, (list, tuple)) and isinstance(other, (list, tuple)):
            return len(one) == len(other) and all(
                self.alike(a, b, naming=naming) for a, b in zip(one, other, strict=True)
            )
        if isinstance(one, str) and isinstance(other, str):
            return self._same(one, other) if naming else self._said_alike(one, other)
        return type(one) is type(other) and bool(one == other)

    def _same(self, one: str, other: str) -> bool:
        return self._forth.setdefault(one, other) == other and self._back.setdefault(other, one) == one

    def _said_alike(self, one: str, other: str) -> bool:
        """Whether two sentences differ in nothing but names that stand in them."""
        if one == other:
            return True
        if PART.sub("", one) != PART.sub("", other):
            return False
        parts = zip(PART.findall(one), PART.findall(other), strict=True)
        return all(a == b or self._forth.get(a) == b or _made_up(a, b) for a, b in parts)


def _made_up(one: str, other: str) -> bool:
    """Whether two words could be one name that was made anew: both have figures in them, as no word of a text has."""
    return all(any(sign.isdigit() for sign in word) for word in (one, other))


def renamed(kept: Sequence[Event], now: Sequence[Event]) -> bool:
    """Whether the second course is the first under other names."""
    names = _Names()
    return len(kept) == len(now) and all(
        (a.process, a.type, a.op, a.step) == (b.process, b.type, b.op, b.step)
        # What an append answers with is the compactor's own id of the turn.
        and names.alike(a.value, b.value, naming=a.op == "append" and isinstance(a.value, str))
        and names.alike(a.error, b.error)
        for a, b in zip(kept, now, strict=True)
    )
