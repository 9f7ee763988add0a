"""What an agent sees, and whether a fact can be had from it: verbatim, or derived.

Derived is what no reader would call lost: the same name in another case, a part of a longer name, a path below
the working directory, a path whose directory and base name are both in sight.
"""

import re

from anchorhold_reference.extract import stands_in

_SEPARATORS = str.maketrans("", "", "_- ")
_SPLIT = re.compile(r"[-–:.(){}\[\],;#@/]+")
SHORTEST = 5
"""Letters that a name must have to be told inside others."""


class View:
    """Texts in sight. Grows; `size` is in characters."""

    def __init__(self, *, context: tuple[str, ...] = ()) -> None:
        """Start with what is always in sight: working directory, branch."""
        self._context = context
        self._texts: list[str] = list(context)
        self._folded: list[str] = [_fold(text) for text in context]
        self.size = 0

    def add(self, text: str) -> None:
        """Something more is in sight."""
        if text:
            self._texts.append(text)
            self._folded.append("")
            self.size += len(text)

    def has(self, literal: str) -> bool:
        """Whether it stands in sight, verbatim and as a whole."""
        return any(literal in text and stands_in(text, literal) >= 0 for text in reversed(self._texts))

    def _begins(self, literal: str) -> bool:
        """Whether something in sight begins with it, at the beginning of a word."""
        pattern = re.compile(r"(?<![\w])" + re.escape(literal))
        return any(literal in text and pattern.search(text) for text in reversed(self._texts))

    def folds(self, literal: str) -> bool:
        """Whether it stands in sight in another case, with other separators, or inside a longer name."""
        wanted = _fold(literal)
        if len(wanted) < SHORTEST:
            return False
        for index in range(len(self._texts) - 1, -1, -1):
            folded = self._folded[index]
            if not folded:
                folded = self._folded[index] = _fold(self._texts[index])
            if wanted in folded:
                return True
        return False

    def derives(self, literal: str, kind: str) -> bool:
        """Whether it can be had from what is in sight."""
        if self.has(literal):
            return True
        if kind == "path":
            return self._path(literal)
        return self.folds(literal)

    def _path(self, path: str) -> bool:
        tail = path.rstrip("/").removeprefix("./")
        for here in self._context:
            if here.startswith("/") and tail.startswith(here.rstrip("/") + "/"):
                tail = tail[len(here.rstrip("/")) + 1 :]
                break
        # A call may name it from above, as "./..." does every package below it.
        tail = re.sub(r"/\.{3}$", "", tail).strip("/")
        if not tail or self._begins(tail) or self._begins("/" + tail):
            return True
        directory, _, base = tail.rpartition("/")
        return (
            bool(directory)
            and "://" not in tail
            and self.has(base)
            and (self._begins(directory) or self._begins("/" + directory))
        )

    def supports(self, literal: str, kind: str) -> bool:
        """Whether a summary's words are covered: derived, or put together from parts that are all said."""
        if self.derives(literal, kind) or self.folds(literal):
            return True
        parts = [part for part in _SPLIT.split(literal.lstrip("+-~$")) if part]
        if kind == "path":
            # The parts of a path lie about everywhere; only its ends may be put together.
            return len(parts) > 1 and "/" not in literal and all(self.has(part) for part in parts)
        return bool(parts) and all(self.has(part) or self.has(part.lstrip("0")) for part in parts)


def _fold(text: str) -> str:
    return text.translate(_SEPARATORS).lower()
