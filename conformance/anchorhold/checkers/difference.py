"""What is no longer as it was from one look to the other."""

from collections import Counter

from anchorhold.checkers.record import Observation
from anchorhold.checkers.words import content
from anchorhold_spec.vocabulary import Answer, AnswerKind, CarrierKind


def _answers_otherwise(before: Answer, after: Answer, *, growing: bool) -> bool:
    # What was outstanding became what it is: that is what `pending` says.
    if before.kind is AnswerKind.PENDING:
        return False
    old, new = content(before), content(after)
    return before.kind is not after.kind or (old not in new if growing else old != new)


def _window(observation: Observation) -> list[tuple[str, CarrierKind, str]]:
    """The window's items. Scaffolding may be made anew for every look: what it says is what it is."""
    return [
        ("a notice" if item.kind is CarrierKind.OTHER else item.id, item.kind, content(item))
        for item in observation.items
    ]


def _renewed(before: Observation, after: Observation) -> bool:
    """Whether as many tokens are listed of the same, and those that are listed no more lead where they led.

    A compactor may make tokens anew each time that it lists them.
    """

    def listed(look: Observation) -> Counter[tuple[str, tuple[str, ...] | None, str]]:
        told: Counter[tuple[str, tuple[str, ...] | None, str]] = Counter()
        for pointer in look.pointers or ():
            answer = look.answers.get(pointer.token)
            held = content(answer) if pointer.covers is None and answer is not None else ""
            told[pointer.summary, pointer.covers, held] += 1
        return told

    went = {pointer.token for pointer in before.pointers or ()} - {pointer.token for pointer in after.pointers or ()}
    if went & after.errors.keys() or listed(before) != listed(after):
        return False
    both = went & before.answers.keys() & after.answers.keys()
    return not any(_answers_otherwise(before.answers[t], after.answers[t], growing=False) for t in both)


def trace(before: Observation, after: Observation, *, growing: bool = False) -> str | None:
    """What is no longer as it was, in words.

    `growing`: an archive may have come to hold more than before, which takes nothing away and registers nothing.
    """
    old, new = ([], []) if before.live is after.live else (_window(before), _window(after))
    if old != new:
        gone, come = [i for i in old if i not in new], [i for i in new if i not in old]
        what = f"{gone[0][0]} is gone" if gone else f"{come[0][0]} has come" if come else "its order changed"
        return f"the window changed ({what})"
    if before.pointers is not None and after.pointers is not None:
        changed = {p.token for p in before.pointers} ^ {p.token for p in after.pointers}
        if changed and not _renewed(before, after):
            return f"pointer {min(changed)} came or went"
    for token in () if before.answers is after.answers else filter(after.answers.__contains__, before.answers):
        if _answers_otherwise(before.answers[token], after.answers[token], growing=growing):
            return f"pointer {token} answers otherwise"
    for carrier in before.manifests.keys() & after.manifests.keys():
        if before.manifests[carrier] != after.manifests[carrier]:
            return f"the manifest of {carrier} changed"
    if before.tombstones is not None and after.tombstones is not None and before.tombstones != after.tombstones:
        return "the tombstones changed"
    return None
