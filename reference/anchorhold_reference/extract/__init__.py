"""Reads facts out of text: what a manifest is computed from. See `facts.facts_of` for the entry point."""

from anchorhold_reference.extract.engine import ENGINE, Engine
from anchorhold_reference.extract.facts import facts_of, mentions
from anchorhold_reference.extract.mention import Mention
from anchorhold_reference.extract.standing import stands_in

__all__ = ["ENGINE", "Engine", "Mention", "facts_of", "mentions", "stands_in"]
