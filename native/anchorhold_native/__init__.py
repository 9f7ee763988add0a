"""The extractor of `anchorhold_reference.extract`, compiled. It is picked up from there where it is installed; what it
answers is equal, fact by fact. Nothing is imported here but the number below, so that a build that no longer belongs to
the reference beside it is told apart before any of its code runs.
"""

from typing import Final

__all__ = ["LAYOUT", "RULES"]

RULES: Final = 1
"""Which rules of extraction this was written for: `anchorhold_reference.extract.engine.RULES` of the same date."""

LAYOUT: Final = 4
"""Which layout of tokens and originals: `anchorhold_reference.schema.LAYOUT`."""
