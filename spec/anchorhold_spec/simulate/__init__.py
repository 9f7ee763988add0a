"""The race between compaction and eviction in a shared store, simulated in time.

The machines say what can happen; this says how often, under stated rates. It proves nothing: it shows what a design
that the machines refute looks like from outside, where the loss is rare and silent. Needs the extra `simulate`.
"""

from anchorhold_spec.simulate.measure import RATES, SEEN_BY_S4, Cell, LengthCell, Ratio, Study, ratio, study
from anchorhold_spec.simulate.race import DESIGNS, PROVENANCE, Design, Outcome, Parameters, simulate

__all__ = [
    "DESIGNS",
    "PROVENANCE",
    "RATES",
    "SEEN_BY_S4",
    "Cell",
    "Design",
    "LengthCell",
    "Outcome",
    "Parameters",
    "Ratio",
    "Study",
    "ratio",
    "simulate",
    "study",
]
