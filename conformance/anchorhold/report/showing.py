"""Which event of a history shows a failure best. Pure.

A failure is found at the end of a look, which is its last event. What a reader wants to see is the answer that its
sentence speaks of: that of the pointer that leads elsewhere, of the question that was denied.
"""

from collections.abc import Mapping, Sequence

from anchorhold.history import Event, EventType
from anchorhold_spec.vocabulary import AnswerKind

ASKING = ("get", "search", "reconstitute")


def showing(events: Sequence[Event], *, sentence: str, event: int | None) -> int | None:
    """The index of that event: the last answer to what the sentence names, of the step that `event` belongs to, up to
    it; `event` itself where there is none."""
    if event is None or event >= len(events):
        return event
    begun: dict[tuple[str, str], Mapping[str, object]] = {}
    found: list[int] = []
    step = events[event].step
    for each in events[: event + 1]:
        if each.op not in ASKING or each.step != step:
            continue
        if each.type is EventType.INVOKE:
            begun[each.process, each.op] = each.value if isinstance(each.value, Mapping) else {}
        elif _named(begun.pop((each.process, each.op), {}), sentence) and _as_told(each, sentence):
            found.append(each.index)
    return found[-1] if found else event


def _named(arguments: Mapping[str, object], sentence: str) -> bool:
    names = [str(arguments[name]) for name in ("token", "literal", "subject") if arguments.get(name)]
    return any(name in sentence for name in names)


def _as_told(end: Event, sentence: str) -> bool:
    """Whether an answer is of a kind that the sentence quotes, where it quotes one."""
    quoted = [kind for kind in AnswerKind if f"“{kind}”" in sentence]
    return not quoted or (isinstance(end.value, Mapping) and end.value.get("kind") in quoted)
