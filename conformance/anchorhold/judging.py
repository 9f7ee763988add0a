"""What checkers say of a history. Those of the suite share one reading of it."""

from collections.abc import Sequence

from anchorhold.checkers.observe import read
from anchorhold.checkers.rule import RuleChecker, WatchChecker, judge_together
from anchorhold.verdict import Checker, History, Judgement


def judge(checkers: Sequence[Checker], history: History) -> tuple[Judgement, ...]:
    """What each checker says, in their order."""
    own = [checker for checker in checkers if isinstance(checker, RuleChecker | WatchChecker)]
    said = iter(judge_together(own, read(history)) if own else ())
    return tuple(
        next(said) if isinstance(checker, RuleChecker | WatchChecker) else checker.judge(history)
        for checker in checkers
    )
