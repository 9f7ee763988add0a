"""Answers that are remembered: what makes extraction fast, since a transcript says the same again and again."""

from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")


class Memo(dict[str, T]):
    """A dictionary that works out what it does not hold, and holds the answers that were asked for last.

    Up to twice `size` are held: when `size` are young they become the old ones, and what was old and was not asked
    for since is forgotten. An answer may count for several, by `weigh`. A look-up is a dictionary's own, and costs
    half of one in `functools.lru_cache`, which would move what was asked for to the end of a list each time.
    """

    __slots__ = ("_old", "_read", "_size", "_weigh", "_weight", "missed")

    def __init__(self, read: Callable[[str], T], size: int, *, weigh: Callable[[T], int] | None = None) -> None:
        """Remember the answers of `read`, a function of its argument alone; `weigh` says for how many one counts."""
        super().__init__()
        self._read = read
        self._size = size
        self._weigh = weigh
        self._weight = 0
        """How many answers the young ones count for beyond their number."""
        self._old: dict[str, T] = {}
        self.missed = 0
        """How often an answer had to be worked out."""

    def __missing__(self, key: str) -> T:
        old = self._old  # another thread may put others in its place meanwhile
        if key in old:
            answer = old[key]
        else:
            answer = self._read(key)
            self.missed += 1
        if len(self) + self._weight >= self._size:
            self._old = self.copy()
            self.clear()
            self._weight = 0
        if self._weigh is not None:
            self._weight += self._weigh(answer) - 1
        self[key] = answer
        return answer

    def forget(self) -> None:
        """Hold nothing."""
        self._old = {}
        self.clear()
        self._weight = self.missed = 0
