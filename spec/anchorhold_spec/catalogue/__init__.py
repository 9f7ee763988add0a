"""The rule catalogue: every rule that a transcript compactor must hold, under one stable id.

The texts stand in `rules/*.toml`, one file a family, and the levels in `levels.toml`; they are written there and
nowhere else. Everything here is read once, checked, and frozen.
"""

import difflib
import re
from collections.abc import Mapping
from importlib.resources import files
from types import MappingProxyType

from anchorhold_spec.catalogue.load import Catalogue, CatalogueError, parse
from anchorhold_spec.catalogue.model import Family, Level, Rule, Source

__all__ = ["FAMILIES", "LEVELS", "RULES", "CatalogueError", "Family", "Level", "Rule", "Source", "near"]


def _read() -> Catalogue:
    here = files(__name__)
    texts = sorted((f for f in (here / "rules").iterdir() if f.name.endswith(".toml")), key=lambda f: f.name)
    return parse(
        families=((f.name, f.read_text(encoding="utf-8")) for f in texts),
        levels=(here / "levels.toml").read_text(encoding="utf-8"),
    )


_CATALOGUE = _read()

RULES: Mapping[str, Rule] = MappingProxyType(dict(_CATALOGUE.rules))
"""Every rule by its id, family by family."""

FAMILIES: Mapping[str, Family] = MappingProxyType(dict(_CATALOGUE.families))
"""Every family by its three letters, in the order of the catalogue."""

LEVELS: Mapping[int, Level] = MappingProxyType(dict(_CATALOGUE.levels))
"""The ladder, 1 to 5. Level 0 means that not even the first is reached, and demands nothing."""


def near(rule: str) -> tuple[str, ...]:
    """Ids that somebody who wrote `rule` may have meant, best first; empty where nothing is close."""
    wanted = re.sub(r"[\W_]*(\d+)$", r"-\1", rule.strip().upper())
    if wanted in RULES:
        return (wanted,)
    family = FAMILIES.get(wanted[:3])
    if family is not None:
        return family.rules
    return tuple(difflib.get_close_matches(wanted, RULES, n=3, cutoff=0.6))
