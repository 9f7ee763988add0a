"""Identifiers for the languages that machines are published in: legal, readable, each given once."""

from __future__ import annotations

import re
from collections.abc import Collection

_TYPOGRAPHY = str.maketrans(
    {"…": "...", "–": "-", "—": "-", "“": '"', "”": '"', "’": "'", "×": "x", "≤": "<=", "≥": ">=", "→": "->"}
)


class Names:
    """Gives each thing a name of its own that the target language allows."""

    def __init__(self, reserved: Collection[str]) -> None:
        self._taken = set(reserved)

    def take(self, wanted: str) -> str:
        """`wanted` as an identifier; numbered where that is taken."""
        name = base = _identifier(wanted)
        number = 2
        while name in self._taken:
            name, number = f"{base}_{number}", number + 1
        self._taken.add(name)
        return name

    def local(self, wanted: str, also: Collection[str] = ()) -> str:
        """A name for a variable: not one that was taken, nor one of `also`; it may be used again elsewhere."""
        name = _identifier(wanted)
        while name in self._taken or name in also:
            name += "_"
        return name


def camel(text: str) -> str:
    """`horizon ends` as `HorizonEnds`."""
    return "".join(word[:1].upper() + word[1:] for word in re.split(r"\W+|_", text) if word)


def ascii_only(text: str) -> str:
    """For comments in languages whose tools read nothing else."""
    return text.translate(_TYPOGRAPHY).encode("ascii", "replace").decode()


def _identifier(text: str) -> str:
    name = re.sub(r"\W", "_", ascii_only(text), flags=re.ASCII).strip("_") or "x"
    return name if name[0].isalpha() else f"n{name}"
