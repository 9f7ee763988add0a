"""What `anchorhold-native` has compiled, where it is installed and belongs to the Python code beside it."""

import logging
from collections.abc import Callable
from types import ModuleType
from typing import TypeVar

T = TypeVar("T")


def compiled(
    load: Callable[[str], ModuleType],
    module: str,
    make: Callable[[ModuleType], T],
    *,
    number: str,
    wanted: int,
    lacks: str,
    log: logging.Logger,
) -> T | None:
    """What `make` makes of one of its modules; none where it is not there or cannot be used.

    `load` imports a module. `number` names the constant that says what it was written for, and `wanted` what that has
    to be. Of an installation that cannot be used a warning tells, with what it `lacks`: its user expects it to be
    used.
    """
    again = "the Python code does. Build it again from the folder native/ of the same version."
    try:
        native = load("anchorhold_native")
    except ImportError:
        return None
    theirs = getattr(native, number, None)
    if theirs != wanted:
        why = f"it goes by {number.lower()} {theirs} and this is {number.lower()} {wanted}"
        log.warning("anchorhold-native %s here: %s; %s", lacks, why, again)
        return None
    try:
        return make(load(f"anchorhold_native.{module}"))
    except (ImportError, AttributeError, LookupError, TypeError, ValueError) as error:
        log.warning("anchorhold-native %s here: %s: %s; %s", lacks, type(error).__name__, error, again)
        return None
