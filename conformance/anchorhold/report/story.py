"""A history as numbered steps in words, with what does not bear on the failure left out and counted. Pure."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby

from anchorhold.history import Event, EventType
from anchorhold.report.phrases import READS, ending, invocation, plainly, step_words, strings
from anchorhold.verdict import History

UNREMARKABLE = frozenset({"open", "append", "live"})
"""Operations whose success is not told: what it says stands in the diagram, and would drown the rest here."""

QUIET_RUN = 3
"""More appends in a row than this, none of which mentions the fact, are told as one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Remark:
    """What was seen during a step."""

    text: str
    failing: bool = False
    """The failure shows here."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """One line of the story: a step, or several quiet ones."""

    first: int
    """Number of the step, from 1."""
    last: int
    text: str
    remarks: tuple[Remark, ...] = ()

    @property
    def failing(self) -> bool:
        """Whether the failure shows in this step."""
        return any(remark.failing for remark in self.remarks)


def mentions(event: Event, fact: str) -> bool:
    """Whether the fact's words stand in what the event says."""
    if not fact:
        return False
    return any(fact in said for said in strings(event))


def tell(history: History, *, fact: str, event: int | None) -> tuple[Told, ...]:
    """The steps of a history. `event`: index of the event at which the failure shows."""
    by_step = {step: tuple(found) for step, found in groupby(history.events, key=lambda each: each.step)}
    steps = history.header.workload.steps
    count = max(len(steps), max(by_step, default=-1) + 1)
    told = []
    for number in range(count):
        events = by_step.get(number, ())
        text = step_words(steps[number], point=_point(events)) if number < len(steps) else _from_events(events)
        remarks = tuple(_remarks(events, fact=fact, failing=event))
        told.append(Told(first=number + 1, last=number + 1, text=text, remarks=remarks))
    return tuple(_gathered(told, fact=fact))


def _from_events(events: tuple[Event, ...]) -> str:
    first = next((each for each in events if each.type is EventType.INVOKE), None)
    return invocation(first) if first is not None else "nothing that was recorded"


def _point(events: tuple[Event, ...]) -> str | None:
    """The compactor's name of the durable step that was armed."""
    armed = (e.value for e in events if e.type is EventType.INVOKE and e.op in ("crash", "fail_store"))
    return next(
        (str(value["point"]) for value in map(plainly, armed) if isinstance(value, dict) and "point" in value), None
    )


def _remarks(events: tuple[Event, ...], *, fact: str, failing: int | None) -> Iterator[Remark]:
    for each in events:
        if each.index == failing:
            words = invocation(each) if each.type is EventType.INVOKE else f"{each.op}: {ending(each)}"
            yield Remark(text=words, failing=True)
        elif each.type is EventType.INVOKE:
            continue
        elif each.op == "summarise":
            yield Remark(text=f"the model: {ending(each)}")
        elif each.error is not None or _remarkable(each, fact=fact):
            yield Remark(text=f"{each.op}: {ending(each)}")


def _remarkable(end: Event, *, fact: str) -> bool:
    """Whether a success is told: of a read where it shows the fact, of anything else where it has a result."""
    if end.op in UNREMARKABLE:
        return False
    return mentions(end, fact) if end.op in READS else end.value is not None


def _gathered(told: list[Told], *, fact: str) -> Iterator[Told]:
    def quiet(line: Told) -> bool:
        return line.text.startswith("append ") and not line.remarks and not (fact and fact in line.text)

    for is_quiet, group in groupby(told, key=quiet):
        lines = list(group)
        if is_quiet and len(lines) > QUIET_RUN:
            yield Told(
                first=lines[0].first, last=lines[-1].last, text=f"append {len(lines)} turns that say nothing of it"
            )
        else:
            yield from lines
