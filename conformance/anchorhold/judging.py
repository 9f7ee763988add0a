"""What checkers say of a history. Those of the suite share one reading of it."""

from collections.abc import Sequence

from anchorhold.checkers.observe import read
from anchorhold.checkers.tally import RuleChecker
from anchorhold.verdict import Checker, History, Judgement


def judge(checkers: Sequence[Checker], history: History) -> tuple[Judgement, ...]:
    """What each checker says, in their order."""
    if not any(isinstance(checker, RuleChecker) for checker in checkers):
        return tuple(checker.judge(history) for checker in checkers)
    reading = read(history)
    return tuple(
        checker.judge_reading(reading) if isinstance(checker, RuleChecker) else checker.judge(history)
        for checker in checkers
    )
