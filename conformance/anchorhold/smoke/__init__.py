"""Tries an adapter itself: whether it speaks the wire protocol, whatever the compactor behind it does.

Nothing here judges what the compactor answers. A finding is always about the adapter: that it does not start, answers
out of form, late, twice or not at all, keeps something of one session for the next, or reads what it is sent wrongly.
"""

from anchorhold.smoke.finding import Finding, Note, Smoked
from anchorhold.smoke.run import smoke

__all__ = ["Finding", "Note", "Smoked", "smoke"]
