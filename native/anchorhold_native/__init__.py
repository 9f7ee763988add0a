"""The extractor of `anchorhold_reference.extract`, compiled: it is picked up there, and reads the same facts.

There is nothing here but the number below, so that a build that no longer belongs to the reference beside it is told
apart before any of its code runs.
"""

from typing import Final

__all__ = ["LAYOUT", "RULES"]

RULES: Final = 5
"""Which rules of extraction this was written for: `anchorhold_reference.extract.engine.RULES` of the same date."""

LAYOUT: Final = 6
"""Which layout of tokens and originals: `anchorhold_reference.schema.LAYOUT`."""
