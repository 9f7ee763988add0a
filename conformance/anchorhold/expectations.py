"""What is known to fail: an expectations file, as `check --expect` and the pytest plugin honour it.

    [fail]
    "PTR-4" = "older originals are two steps away, see issue 12"

A rule that is expected to fail and fails is known; one that is expected to fail and is held is an error, so that the
file says what is so. One that could not be decided is neither.
"""

import tomllib
from collections.abc import Mapping
from enum import StrEnum
from pathlib import Path
from types import MappingProxyType

from anchorhold.level import HELD
from anchorhold.verdict import VerdictKind
from anchorhold_spec.catalogue import RULES, near

Expected = Mapping[str, str]
"""Why each of these rules is expected to fail, by its id."""
NOTHING: Expected = MappingProxyType({})


class ExpectationError(ValueError):
    """The file cannot be read, or is no expectations file."""


class Met(StrEnum):
    """How a verdict meets what is expected."""

    UNEXPECTED = "unexpected"
    """Nothing is expected of the rule: the verdict stands as it is."""
    KNOWN = "known"
    """It fails, as expected."""
    HELD = "held"
    """It was expected to fail, and is held: the expectation is out of date."""
    UNDECIDED = "undecided"
    """It was expected to fail, and nothing was decided."""


def meet(verdict: VerdictKind, *, expected: bool) -> Met:
    """Hold a verdict against what is expected of its rule."""
    if not expected:
        return Met.UNEXPECTED
    if verdict is VerdictKind.FAIL:
        return Met.KNOWN
    return Met.HELD if verdict in HELD else Met.UNDECIDED


def read_expectations(path: Path) -> Expected:
    """Read a file. Raises `ExpectationError`, which says what is wrong and where."""
    try:
        content = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise ExpectationError(f"{path}: {error.strerror or error}") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ExpectationError(f"{path} is not TOML: {error}") from None
    unknown = sorted(content.keys() - {"fail"})
    if unknown:
        raise ExpectationError(f"{path}: {unknown[0]!r} is nothing to expect: write a table [fail]")
    table = content.get("fail", {})
    if not isinstance(table, dict):
        raise ExpectationError(f"{path}: fail is a table of rules, each with the reason")
    for rule, why in table.items():
        if rule not in RULES:
            meant = near(rule)
            raise ExpectationError(
                f"{path}: no rule is called {rule!r}"
                + (f": did you mean {' or '.join(meant)}?" if meant else "; `anchorhold spec list` lists them")
            )
        if not isinstance(why, str) or not why.strip():
            raise ExpectationError(f"{path}: {rule} is expected to fail: say why, in words")
    return MappingProxyType(dict(table))
