"""A long history is judged in segments as it is whole: nobody is blamed for more, and nearly nothing is missed."""

import io
from typing import Any

import pytest
from catalogue import RIGHT, WRONG

from anchorhold.adequacy.seek import histories
from anchorhold.checkers import CHECKERS
from anchorhold.history import encode_line
from anchorhold.judging import judge
from anchorhold.scenarios import Effort
from anchorhold.verdict import History
from anchorhold.verify.run import Verifier

SEGMENT = 60
"""Events: with 4,000, of which `verify` makes its segments, these histories would be judged whole."""
MISSED = frozenset({"ANC-5", "EVI-7", "PRO-4", "REC-4"})
"""Rules that compare a look, or what became of a turn, with one further back than is carried."""
KINDS = tuple(dict.fromkeys([*RIGHT, *(kind for kind, _ in WRONG)]))


def in_segments(history: History) -> set[str]:
    data = b"".join(encode_line(each) + b"\n" for each in (history.header, *history.events))
    verifier = Verifier(CHECKERS, longest=SEGMENT)
    verifier.take(io.BytesIO(data), name="h.jsonl")
    verified = verifier.done()
    assert not verified.remarks
    return set(verified.shown)


def differences(kind: type[Any], *, every: int) -> tuple[list[tuple[str, str]], list[tuple[str, str]]]:
    """What is blamed in segments only, and what is missed in them, each with the workload."""
    more, missed = [], []
    for number, history in enumerate(histories(kind, effort=Effort.QUICK)):
        if number % every:
            continue
        whole = {judgement.rule for judgement in judge(CHECKERS, history) if judgement.failures}
        parts = in_segments(history)
        more += [(rule, history.header.workload.name) for rule in parts - whole]
        missed += [(rule, history.header.workload.name) for rule in whole - parts - MISSED]
    return more, missed


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS[:: len(KINDS) // 24], ids=lambda kind: kind.__name__)
def test_in_segments_the_same_rules_fail(kind: type[Any]) -> None:
    more, missed = differences(kind, every=3)

    assert more == []
    # Who answers "pending" for ever is told by many looks, and a segment as short as these has too few.
    assert missed == [] or kind.__name__.startswith("AnswersPending")
