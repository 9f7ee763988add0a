"""Damages what a text says wherever it lies in files, behind everybody's back: one letter of it becomes another."""

from collections.abc import Iterable
from itertools import chain
from pathlib import Path

from anchorhold.traces import forms

LEAST = 12
"""Characters that a text has at least: a shorter one may stand anywhere."""


def damage(folder: str, text: str, shown: Iterable[str]) -> bool:
    """Whether any was found. What is `shown` has to stay as it is: where the text stands in it, nothing is done.

    Written over the files in place, as a disk would; compressed or encrypted ones cannot be seen into.
    """
    if len(text) < LEAST or any(text in each for each in shown):
        return False
    found = False
    for path in sorted(Path(folder).rglob("*")):
        if path.is_file() and not path.is_symlink():
            found |= _damage_file(path, text)
    return found


def _damage_file(path: Path, text: str) -> bool:
    try:
        content = path.read_bytes()
    except OSError:
        return False
    found = False
    with path.open("r+b", buffering=0) as file:
        for _, form in forms(text):
            start = content.find(form)
            while start >= 0:
                at = _letter(form)
                file.seek(start + at)
                file.write(b"x" if form[at : at + 1] != b"x" else b"y")
                found = True
                start = content.find(form, start + len(form))
    return found


def _letter(form: bytes) -> int:
    """Where in the middle a letter stands that is no part of an escape: the file is to stay readable."""
    middle = len(form) // 2
    for at in chain(range(middle, len(form)), range(middle)):
        if form[at : at + 1].isalpha() and b"\\" not in form[max(0, at - 6) : at]:
            return at
    return middle
