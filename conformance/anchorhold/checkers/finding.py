"""Which turns' words stand in a text, without looking for each of all turns in it.

Looking for `n` turns in a text costs `n` searches. Where there are many, the text is gone through once instead: what
begins at each of its characters is looked up among the beginnings of the turns.
"""

from collections.abc import Iterable
from typing import Protocol, TypeAlias

from anchorhold.checkers.words import holds
from anchorhold_spec.vocabulary import Turn

Forms: TypeAlias = tuple[tuple[str, ...], ...]
"""As `anchorhold.checkers.words.forms` makes them: for each part the ways in which it may be written down."""
HEAD = 12
"""Characters of a beginning. Turns that have fewer are looked for one by one; there are few that differ."""


class Said(Protocol):
    """A turn with its words."""

    @property
    def turn(self) -> Turn:
        """The turn."""

    @property
    def forms(self) -> Forms:
        """Its words."""


class Finder:
    """Turns that can be found by their words; turns of equal words count as one until they are found."""

    def __init__(self, turns: Iterable[Said] = ()) -> None:
        self._new: list[Said] = list(turns)
        """Turns that were taken in since something was looked for last."""
        self._groups: dict[Forms, list[str]] = {}
        self._heads: dict[str, list[Forms]] = {}
        self._short: list[Forms] = []

    def add(self, said: Said) -> None:
        """Take a turn in. A turn without words is found nowhere."""
        self._new.append(said)

    def _index(self, turn: str, forms: Forms) -> None:
        if not forms:
            return
        group = self._groups.get(forms)
        if group is not None:
            group.append(turn)
            return
        self._groups[forms] = [turn]
        if any(len(form) < HEAD for form in forms[0]):
            self._short.append(forms)
        else:
            for head in {form[:HEAD] for form in forms[0]}:
                self._heads.setdefault(head, []).append(forms)

    def find(self, flat: str) -> frozenset[str]:
        """The turns whose words stand in a text that is already `plain`."""
        for said in self._new:
            self._index(said.turn.id, said.forms)
        self._new.clear()
        found: list[str] = []
        for forms in self._candidates(flat):
            if holds(flat, forms):
                found += self._groups[forms]
        return frozenset(found)

    def _candidates(self, flat: str) -> Iterable[Forms]:
        if len(self._groups) <= len(flat) // 2 + 8:
            return self._groups
        heads = self._heads
        found: dict[Forms, None] = dict.fromkeys(self._short)
        for start in range(len(flat) - HEAD + 1):
            here = heads.get(flat[start : start + HEAD])
            if here is not None:
                found.update(dict.fromkeys(here))
        return found
