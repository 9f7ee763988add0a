"""What an event of the alphabet can mean to a machine."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import TypeAlias

from anchorhold_spec.machines.alphabet import Occurrence


@dataclass(frozen=True, slots=True)
class Who:
    """An individual: the sort (or part) that it belongs to, and what the observer calls it.

    Of an enumeration: one of its values, by its own name.
    """

    sort: str
    name: str

    def __str__(self) -> str:
        return f"{self.sort} {self.name}"


@dataclass(frozen=True, slots=True)
class Take:
    """An action is taken. Parameters that are left out are whatever the machine can have them be."""

    action: str
    known: Mapping[str, Who | int]


@dataclass(frozen=True, slots=True)
class Look:
    """A symbol is seen to have this value: of an enumeration its name, of a partial function none if undefined."""

    symbol: str
    arguments: tuple[Who, ...]
    value: Who | int | str | bool | None


@dataclass(frozen=True, slots=True)
class Given:
    """Data that is given to the machine and never changes has this value, whenever it was seen.

    What is not seen of it has the value that the machine itself gives it, or else its first one.
    """

    symbol: str
    arguments: tuple[Who, ...]
    value: Who | int | str | bool | None


Meaning: TypeAlias = Take | Given | tuple[Look, ...]
"""Looks that stand together were seen at once."""
Projection: TypeAlias = Callable[[Occurrence], Iterator[Meaning]]


def take(action: str, **known: Who | int) -> Take:
    """An action with the parameters that are known."""
    return Take(action, known)
