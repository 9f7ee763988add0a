"""Options that take NAME=VALUE."""

from collections.abc import Callable, Iterator
from typing import NoReturn


def pairs(given: list[str] | None, option: str, *, refuse: Callable[[str], NoReturn]) -> Iterator[tuple[str, str]]:
    """The pairs that an option was given, several of them in one text between commas.

    `refuse` ends the command with a message: it is called for what is no pair, and for a name that is given twice.
    """
    seen: dict[str, str] = {}
    for text in given or []:
        for piece in text.split(","):
            name, equals, value = piece.partition("=")
            if not (equals and name.strip() and value.strip()):
                refuse(f"{option} takes NAME=VALUE, and {piece!r} is none")
            name, value = name.strip(), value.strip()
            if name in seen:
                refuse(f"{option} has {name} twice, as {seen[name]} and as {value}: give it once")
            seen[name] = value
            yield name, value
