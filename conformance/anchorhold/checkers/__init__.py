"""The checkers, one a rule: each judges a history and nothing else."""

from anchorhold.checkers import (
    anchoring,
    answers,
    bounds,
    certainty,
    concurrency,
    course,
    coverage,
    crashes,
    demands,
    entries,
    epochs,
    erasure,
    evidence,
    index,
    isolation,
    kinds,
    lossless,
    manifests,
    outcomes,
    progress,
    provenance,
    reconstitution,
    resolving,
    retention,
    stores,
    structure,
    stubborn,
    tombstones,
)
from anchorhold.checkers.observe import read
from anchorhold.checkers.rule import ReadingChecker, WatchChecker, judge_together
from anchorhold.verdict import Checker, History, Judgement

RULE_CHECKERS: tuple[ReadingChecker, ...] = (
    *anchoring.CHECKERS,
    *retention.CHECKERS,
    *manifests.CHECKERS,
    *tombstones.CHECKERS,
    *certainty.CHECKERS,
    *provenance.CHECKERS,
    *coverage.CHECKERS,
    *epochs.CHECKERS,
    *index.CHECKERS,
    *entries.CHECKERS,
    *evidence.CHECKERS,
    *demands.CHECKERS,
    *structure.CHECKERS,
    *reconstitution.CHECKERS,
    *kinds.CHECKERS,
    *resolving.CHECKERS,
    *concurrency.CHECKERS,
    *stores.CHECKERS,
    *lossless.CHECKERS,
    *erasure.CHECKERS,
    *answers.CHECKERS,
    *crashes.CHECKERS,
    *outcomes.CHECKERS,
    *isolation.CHECKERS,
    *progress.CHECKERS,
    *stubborn.CHECKERS,
    *bounds.CHECKERS,
)
CHECKERS: tuple[Checker, ...] = RULE_CHECKERS
"""Every checker of the suite."""


def judge_all(history: History) -> tuple[Judgement, ...]:
    """What every checker says of one history, in the order of `CHECKERS`; the history is read once."""
    return judge_together(RULE_CHECKERS, read(history))


STRUCTURAL: frozenset[str] = frozenset(c.rule for c in RULE_CHECKERS if isinstance(c, WatchChecker))
"""Rules that are decided by names, kinds, numbers and order, and by whether content is the same, as a history goes
by. The others look for words in texts."""


COMPILED: bool = not str(course.__file__).endswith(".py")
"""Whether what judges them was compiled (native/structural.py), from the same source."""
