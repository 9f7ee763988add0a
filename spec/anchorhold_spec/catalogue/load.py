"""Reads the catalogue from its text files and refuses one that contradicts itself."""

import re
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TypeVar

import msgspec

from anchorhold_spec.catalogue.model import Family, Level, Rule, Source


class CatalogueError(ValueError):
    """The catalogue's text contradicts itself; the message says in which rule and how."""


class _RuleText(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    id: str
    title: str
    statement: str
    sources: tuple[Source, ...]
    level: int
    not_modelled_because: str | None = None
    checked_by: str | None = None


class _FamilyText(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    family: str
    title: str
    about: str
    rule: tuple[_RuleText, ...]


class _LevelText(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    number: int
    name: str
    promise: str


class _LevelsText(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    level: tuple[_LevelText, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Catalogue:
    """All rules, families and levels, each in order."""

    rules: Mapping[str, Rule]
    families: Mapping[str, Family]
    levels: Mapping[int, Level]


def parse(*, families: Iterable[tuple[str, str]], levels: str) -> Catalogue:
    """Build the catalogue from TOML texts.

    `families` gives a name for error messages and the text of each family, in order. Raises `CatalogueError`
    where a text is malformed, an id is out of order or used twice, a rule belongs to no level, or only one of
    `not_modelled_because` and `checked_by` is given.
    """
    rules: dict[str, Rule] = {}
    found: dict[str, Family] = {}
    for name, text in families:
        family = _decode(name, text, _FamilyText)
        if not re.fullmatch("[A-Z]{3}", family.family) or family.family in found:
            raise CatalogueError(f"{name}: {family.family!r} is not a family code of its own (three capitals)")
        for number, rule in enumerate(family.rule, start=1):
            if rule.id != f"{family.family}-{number}":
                raise CatalogueError(f"{name}: {rule.id!r} stands where {family.family}-{number} is expected")
            rules[rule.id] = _rule(family.family, rule)
        found[family.family] = Family(
            id=family.family,
            title=_line(family.title),
            about=_line(family.about),
            rules=tuple(rule.id for rule in family.rule),
        )
    return Catalogue(rules=rules, families=found, levels=_levels(rules, _decode("levels", levels, _LevelsText)))


def _rule(family: str, text: _RuleText) -> Rule:
    if not text.sources:
        raise CatalogueError(f"{text.id}: names no source")
    if (text.not_modelled_because is None) != (text.checked_by is None):
        raise CatalogueError(f"{text.id}: give both not_modelled_because and checked_by, or neither")
    return Rule(
        id=text.id,
        family=family,
        title=_line(text.title),
        statement=_line(text.statement),
        sources=text.sources,
        level=text.level,
        not_modelled_because=_line(text.not_modelled_because) if text.not_modelled_because else None,
        checked_by=_line(text.checked_by) if text.checked_by else None,
    )


def _levels(rules: Mapping[str, Rule], texts: _LevelsText) -> dict[int, Level]:
    numbers = [level.number for level in texts.level]
    if numbers != list(range(1, len(numbers) + 1)):
        raise CatalogueError(f"levels: numbered {numbers}, and should count up from 1")
    for rule in rules.values():
        if rule.level not in numbers:
            raise CatalogueError(f"{rule.id}: level {rule.level} does not exist")
    return {
        level.number: Level(
            number=level.number,
            name=level.name,
            promise=_line(level.promise),
            first_demanded=tuple(rule.id for rule in rules.values() if rule.level == level.number),
            rules=tuple(rule.id for rule in rules.values() if rule.level <= level.number),
        )
        for level in texts.level
    }


T = TypeVar("T")


def _decode(name: str, text: str, kind: type[T]) -> T:
    try:
        return msgspec.convert(tomllib.loads(text), kind)
    except (tomllib.TOMLDecodeError, msgspec.ValidationError) as error:
        raise CatalogueError(f"{name}: {error}") from error


def _line(text: str) -> str:
    """Undo the line breaks of the file: a text is one paragraph."""
    return " ".join(text.split())
