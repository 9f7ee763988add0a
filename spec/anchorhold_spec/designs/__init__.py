"""The decision tables: what the sources claim of designs, computed (`anchorhold explore --designs`).

A module for each source has the designs and the claims, in our words; `compute` finds out what is so: a rule is
proved for every size, or has a shortest run to where it is broken. Where the two disagree the table says so, and why.
"""

from collections.abc import Mapping
from types import MappingProxyType

from anchorhold_spec.designs import s0, s1, s2, s4
from anchorhold_spec.designs.model import (
    Answer,
    Answers,
    Broken,
    Cell,
    Claim,
    Column,
    Lemma,
    Proved,
    Row,
    Table,
    Unknown,
)

TABLES: Mapping[str, Table] = MappingProxyType(
    {each.source: each for each in (s0.TABLE, s1.TABLE, s2.TABLE, s4.TABLE)}
)
"""By source."""

__all__ = [
    "TABLES",
    "Answer",
    "Answers",
    "Broken",
    "Cell",
    "Claim",
    "Column",
    "Lemma",
    "Proved",
    "Row",
    "Table",
    "Unknown",
]
