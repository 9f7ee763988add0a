"""Shortens what failed in a check, and plays it again: does it always fail?"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from anchorhold.errors import AdapterError
from anchorhold.found import Found
from anchorhold.judging import judge
from anchorhold.progress import Progress
from anchorhold.shrink import Attempt, Enough, Failing, cut, shrink
from anchorhold.verdict import History
from anchorhold.workload import Workload

AGAIN = 3
"""How often a failing workload is played again: before it counts as one that fails only at times, and to confirm the
shortest one."""
TROUBLE = 2
"""Adapter errors after which shortening a workload is given up."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Replays:
    """What came of playing a failing history again."""

    failed: int
    played: int

    @property
    def always(self) -> bool:
        """Whether it failed whenever it was played, and was played."""
        return 0 < self.played == self.failed


class Shortening:
    """Finds the shortest history in which a rule fails."""

    def __init__(self, play: Callable[[Workload], History], *, effort: int, progress: Progress) -> None:
        """`play` plays a workload on a fresh compactor; `effort`: what may be played for one rule, see `shrink`."""
        self._play = play
        self._effort = effort
        self._progress = progress

    def shortest(self, one: Found, others: Sequence[Found]) -> tuple[Failing, Replays]:
        """The shortest failing history that was found, and how often it fails when it is played again.

        `others`: rules that failed too. Whatever is played for the one is judged by them as well, so that each starts
        from the smallest history in which it was ever seen to fail: playing is what takes time.
        """
        trouble = 0
        # This one last: its judgement is the one that is wanted.
        checkers = [*(other.checker for other in others), one.checker]

        def attempt(workload: Workload) -> Failing | None:
            nonlocal trouble
            try:
                history = self._play(workload)
            except AdapterError:
                # The check itself went through; a mutilated workload that the adapter does not bear is not the point.
                trouble += 1
                if trouble >= TROUBLE:
                    raise Enough from None
                return None
            *theirs, own = judge(checkers, history)
            for other, judgement in zip(others, theirs, strict=True):
                other.note(history, judgement)
            return Failing(history=history, failure=own.failures[0]) if own.failures else None

        first, *more = one.starts
        again = self._again(first, attempt)
        if again is None:
            short = cut(first)
            failures = one.checker.judge(short).failures
            never = Replays(failed=0, played=1 + AGAIN)
            return (Failing(history=short, failure=failures[0]) if failures else first), never
        best, left = self._shortened(one.checker.rule, again, attempt, self._effort)
        for start in more:
            # What the first did not need is left for the others: a longer history may have less that has to stay.
            other, left = self._shortened(one.checker.rule, start, attempt, left)
            best = min(best, other, key=lambda failing: failing.size)
        replays = self._replayed(best, attempt)
        if replays.always:
            return best, replays
        # Shortened by single runs, something that fails at times may be left of what fails always.
        whole = self._replayed(again, attempt)
        return (again, whole) if whole.always else (best, replays)

    def _shortened(self, rule: str, failing: Failing, attempt: Attempt, effort: int) -> tuple[Failing, int]:
        """The shortest that comes of one history, and what is left of the effort."""
        shrunk = shrink(
            failing,
            attempt=attempt,
            effort=effort,
            tried=lambda spent, steps: self._progress.shrinking(rule, spent, effort, steps),
        )
        return shrunk.failing, effort - shrunk.spent

    def _replayed(self, failing: Failing, attempt: Attempt) -> Replays:
        """Play a failing history again, each time in a fresh instance."""
        failed = played = 0
        try:
            for _ in range(AGAIN):
                failed += attempt(failing.workload) is not None
                played += 1
        except Enough:
            pass
        return Replays(failed=failed, played=played)

    def _again(self, failing: Failing, attempt: Attempt) -> Failing | None:
        """The failure, seen once more: up to the step at which it showed, or else in full, and a few times."""
        workloads = (cut(failing).header.workload, *(failing.workload for _ in range(AGAIN)))
        try:
            return next((found for each in workloads if (found := attempt(each)) is not None), None)
        except Enough:
            return None
