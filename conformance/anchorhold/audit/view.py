"""What an agent sees, and whether a fact can be had from it: verbatim, or derived.

Derived is what no reader would call lost: the same name in another case, a part of a longer name, a path below
the working directory, a path whose directory and base name are both in sight.
"""

import re
from collections.abc import Iterable, Iterator

from anchorhold.audit.facts import NUMBERED
from anchorhold.audit.figures import Figure, Figures
from anchorhold_reference.extract import stands_in

_SEPARATORS = str.maketrans("", "", "_- ")
_RANGE = re.compile(r"[-–:/()]+")
_VERSION = re.compile(r"v?(\d+(?:\.\d+)+[\w.+-]*)")
_HOME = r"(?:/home/[^/\s]+|/Users/[^/\s]+|/root)"
_RUN = re.compile(r"\w+")
_COUNTED = re.compile(r"\s*(?:%|[A-Za-z]+)$")
_SPLIT = re.compile(r"[-–:.(){}\[\],;#@/]+")
_BRANCHES = frozenset({"main", "master", "HEAD", "upstream/main", "upstream/master"})
_ROOTS = frozenset({"repos", "orgs", "users", "projects", "api"})
_ENDPOINTS = ("pulls", "issues", "comments", "replies", "reviews", "commits", "contents", "branches", "actions",
              "runs", "jobs", "files", "check-runs", "releases", "tags", "labels", "merge_requests",
              "notes")  # fmt: skip
SHORTEST = 5
"""Letters that a name must have to be told inside others."""


class View:
    """Texts in sight. Grows; `size` is in characters."""

    def __init__(self, *, context: tuple[str, ...] = ()) -> None:
        """Start with what is always in sight: working directory, branch."""
        self._context = context
        self._texts: list[str] = list(context)
        self._folded: list[str] = [_fold(text) for text in context]
        self._figures: Figures | None = None
        self._said: set[str] | None = None
        self.size = 0

    @property
    def directories(self) -> tuple[str, ...]:
        """The working directories, each with a slash at its end."""
        return tuple(here.rstrip("/") + "/" for here in self._context if here.startswith("/"))

    def lines(self) -> Iterator[str]:
        """Its lines, each as it stands and without the number that a tool put before it."""
        for text in self._texts:
            for line in map(str.strip, text.split("\n")):
                yield line
                yield NUMBERED.sub("", line, count=1)

    def add(self, text: str) -> None:
        """Something more is in sight."""
        if text:
            self._texts.append(text)
            self._folded.append("")
            self._figures = self._said = None
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
        if path.startswith("~/"):
            return self._at_home(path[1:])
        tail = path.rstrip("/").removeprefix("./")
        for here in self._context:
            if here.startswith("/") and tail.startswith(here.rstrip("/") + "/"):
                tail = tail[len(here.rstrip("/")) + 1 :]
                break
        # A call may name it from above, as "./..." does every package below it.
        tail = re.sub(r"/\.{3}$", "", tail).strip("/")
        if not tail or self._begins(tail) or self._begins("/" + tail):
            return True
        if "://" in tail:
            return False
        segments = tail.split("/")
        for at in range(len(segments) - 1, 0, -1):
            front, rest = "/".join(segments[:at]), "/".join(segments[at:])
            if not self._word(rest):
                break
            if self._begins(front):
                return True
        return self._revision(tail) or self._endpoint(tail)

    def _at_home(self, below: str) -> bool:
        """A path below somebody's home: said from the root, or below a working directory that is there."""
        pattern = re.compile(_HOME + re.escape(below.rstrip("/")) + r"(?!\w)")
        if any(pattern.search(text) for text in self._texts):
            return True
        homes = (re.match(_HOME, here) for here in self._context)
        return any(home is not None and self._path(home.group() + below) for home in homes)

    def _word(self, name: str) -> bool:
        """Whether something in sight has it as a whole name, also at the end of a path."""
        pattern = re.compile(r"(?<!\w)" + re.escape(name) + r"(?!\w)")
        return any(name in text and pattern.search(text) for text in reversed(self._texts))

    def _revision(self, given: str) -> bool:
        """Revisions of git: a remote's branch, a range, each end of which is in sight or everybody's."""
        ends = [end.removeprefix("origin/") for end in given.split("..") if end]
        if not ends or (len(ends) == 1 and ends[0] == given):
            return False
        return all(end in _BRANCHES or self.has(end) or self._begins(end) for end in ends)

    def _endpoint(self, given: str) -> bool:
        """Addresses of a service's interface: its own words are public, only the names between them are not."""
        segments = given.split("/")
        if segments[0] not in _ROOTS:
            return False
        names = re.split(r"/(?:" + "|".join(_ENDPOINTS) + r")(?=/|$)", "/" + "/".join(segments[1:]))
        wanted = [name.strip("/") for name in names if name.strip("/")]
        return all(self.has(name) or self._begins(name) for name in wanted)

    def supports(self, literal: str, kind: str, figure: Figure | None = None) -> bool:
        """Whether a summary's words are covered: derived, or put together from parts that are all said.

        `figure` is what the literal amounts to, where it is a number.
        """
        if self.derives(literal, kind) or self.folds(literal):
            return True
        if kind == "number":
            if figure is not None and self.amounts(figure):
                return True
            # The ends of a range; never the digits on both sides of a point.
            parts = [part for part in _RANGE.split(_COUNTED.sub("", literal).lstrip("+-~$")) if part]
            return bool(parts) and all(self._word(part) for part in parts)
        if kind == "path":
            # The parts of a path lie about everywhere: only a line may be put to a file.
            file, colon, line = literal.rpartition(":")
            return bool(colon) and line.isdigit() and self._word(file) and self.has(line)
        version = _VERSION.fullmatch(literal)
        if version is not None:
            return self.has(version.group(1)) or self.has("v" + version.group(1)) or self._begins(version.group(1))
        parts = [part for part in _SPLIT.split(literal.lstrip("+-~$")) if part]
        return bool(parts) and all(self._word(part) for part in parts)

    def amounts(self, figure: Figure) -> bool:
        """Whether a number in sight is the same amount."""
        if self._figures is None:
            self._figures = Figures(self._texts)
        return self._figures.support(figure)

    def mentions(self, spellings: Iterable[str]) -> bool:
        """Whether one of some spellings stands in sight, not inside a longer number or name."""
        patterns = [(given, re.compile(rf"(?<!\w){re.escape(given)}(?!\d)")) for given in spellings]
        return any(given in text and pattern.search(text) for given, pattern in patterns for text in self._texts)

    def knows(self, word: str) -> bool:
        """Whether a word stands in sight, in whatever case."""
        if self._said is None:
            self._said = {word for text in self._texts for word in _RUN.findall(text.lower())}
        return word in self._said


def _fold(text: str) -> str:
    return text.translate(_SEPARATORS).lower()
