"""What the sources claim, and where each claim went: to rules, to a figure, or into a departure with its reason."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from functools import cache
from importlib.resources import files

import msgspec

from anchorhold_spec.catalogue import RULES, CatalogueError, Source


class Departure(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A place where the specification says otherwise than a source, or than one of its two statements."""

    id: str
    source: Source
    title: str
    says: str
    """What the source says."""
    instead: str
    """What holds here, and why."""


class Claim(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """One thing that a source claims, in our words. The id never changes: source and number."""

    id: str
    says: str
    rules: tuple[str, ...] = ()
    departures: tuple[str, ...] = ()
    note: str | None = None
    """What becomes of it besides: scope, a figure to be measured."""

    @property
    def source(self) -> Source:
        """The source, from the id."""
        return Source(self.id.partition("-")[0])


class Claims(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """All of them, in order."""

    departure: tuple[Departure, ...]
    claim: tuple[Claim, ...]


def parse(text: str, *, rules: Mapping[str, object]) -> Claims:
    """The claims from TOML.

    Raises CatalogueError where the text is malformed, an id is out of order, a rule or departure does not exist, a
    claim leads nowhere, or a departure is one from nothing.
    """
    try:
        found = msgspec.convert(tomllib.loads(text), Claims)
    except (tomllib.TOMLDecodeError, msgspec.ValidationError, ValueError) as error:
        raise CatalogueError(f"claims: {error}") from error
    numbers: dict[str, int] = {}
    for claim in found.claim:
        match = re.fullmatch(r"(S[0-9])-C([0-9]+)", claim.id)
        if match is None or int(match[2]) != numbers.get(match[1], 0) + 1:
            raise CatalogueError(f"claims: {claim.id!r} is out of order")
        numbers[match[1]] = int(match[2])
        if not claim.rules and not claim.note:
            raise CatalogueError(f"claims: {claim.id} leads to no rule and has no note that says why")
        for rule in claim.rules:
            if rule not in rules:
                raise CatalogueError(f"claims: {claim.id} names {rule}, which is no rule")
    expected = [f"D{number}" for number in range(1, len(found.departure) + 1)]
    if [each.id for each in found.departure] != expected:
        raise CatalogueError("claims: the departures are not numbered D1, D2, … in order")
    named = {each for claim in found.claim for each in claim.departures}
    if named != set(expected):
        wrong = ", ".join(sorted(named ^ set(expected)))
        raise CatalogueError(f"claims: departures and the claims that they depart from do not match: {wrong}")
    return found


@cache
def claims() -> Claims:
    """What the package ships."""
    text = (files("anchorhold_spec.publish") / "claims.toml").read_text(encoding="utf-8")
    return parse(text, rules=RULES)
