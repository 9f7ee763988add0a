"""Simpler forms of single steps, for shortening a workload. Pure.

Each form is a run of steps that may stand in the place of one; the simplest come first. Whether a form still shows
the failure is for `anchorhold.shrink` to find out.
"""

from collections.abc import Callable, Iterator
from dataclasses import replace

from anchorhold.looks import OBSERVATIONS
from anchorhold.planting import ARGUMENT
from anchorhold.workload import (
    AnyStep,
    Append,
    Ask,
    Compact,
    Corrupt,
    CrashAt,
    DropFact,
    Evict,
    Expire,
    FailStore,
    LosePower,
    Meanwhile,
    Probe,
    Reopen,
    Summariser,
    Supersede,
    Task,
    Workers,
)
from anchorhold_spec.vocabulary import Fact

ASKED_BY = ("search", "reconstitute")
"""The operations of an `Ask`."""


def simpler(step: AnyStep) -> Iterator[tuple[AnyStep, ...]]:
    """Simpler forms of a step."""
    match step:
        case Probe():
            current = step.only or OBSERVATIONS
            if len(current) > 1:
                yield from ((Probe(only=(one,)),) for one in current)
                yield from ((Probe(only=tuple(op for op in current if op != without)),) for without in current)
        case Ask(fact=fact, evidence=evidence, only=only):
            if len(only) != 1:
                yield from ((Ask(fact=fact, only=(way,)),) for way in ASKED_BY)
                yield from ((Ask(fact=fact, evidence=evidence, only=(way,)),) for way in ASKED_BY if evidence)
            if evidence:
                yield (Ask(fact=fact, only=only),)
        case Compact(until_idle=until) if until > 1:
            yield (Compact(),)
        case CrashAt() | FailStore():
            yield (Compact(),)
            yield (Compact(), Reopen())
        case LosePower():
            yield (Reopen(),)
        case Supersede(fact=fact, turn=turn, reason=reason):
            yield (DropFact(fact=fact, turn=turn, reason=reason),)
        case Corrupt(turn=turn):
            yield (Evict(turn=turn),)
        case Summariser(mode=mode, times=times) if times is not None:
            yield (Summariser(mode=mode),)
        case Meanwhile():
            yield step.steps
            yield from ((each,) for each in _simpler_meanwhile(step))
        case Workers():
            yield tuple(plain for task in step.tasks if (plain := _plain(task)) is not None)
            yield from ((each,) for each in _simpler_workers(step))
        case Append():
            yield from ((each,) for each in _simpler_turns(step))
        case _:
            pass


def _plain(task: Task) -> AnyStep | None:
    """What a worker does, done by the caller at once."""
    match task.op:
        case "compact":
            return Compact()
        case "evict" if task.turn is not None:
            return Evict(turn=task.turn)
        case "expire" if task.seconds is not None:
            return Expire(seconds=task.seconds)
    return None


def _simpler_meanwhile(step: Meanwhile) -> Iterator[Meanwhile]:
    """One inner step less, or one simpler; without inner steps it is no step at all, and left out elsewhere."""
    inner = step.steps
    if len(inner) > 1:
        yield from (Meanwhile(steps=(*inner[:at], *inner[at + 1 :])) for at in range(len(inner)))
    for at, each in enumerate(inner):
        yield from (Meanwhile(steps=(*inner[:at], *less, *inner[at + 1 :])) for less in simpler(each))


def _simpler_workers(step: Workers) -> Iterator[Workers]:
    """One worker less, or a shorter schedule."""
    if len(step.tasks) > 1:
        for task in step.tasks:
            yield Workers(
                tasks=tuple(other for other in step.tasks if other is not task),
                schedule=tuple(name for name in step.schedule if name != task.worker),
            )
    if len(step.schedule) > 1:
        yield Workers(tasks=step.tasks)
    for at in reversed(range(len(step.schedule))):
        yield Workers(tasks=step.tasks, schedule=(*step.schedule[:at], *step.schedule[at + 1 :]))


def _simpler_turns(step: Append) -> Iterator[Append]:
    if step.turn.text is None:
        if step.facts:
            yield Append(turn=step.turn)
        return
    if step.facts:
        yield bare(step, ())
    if len(step.facts) > 1:
        yield from (bare(step, (fact,)) for fact in step.facts)
    plain = bare(step, step.facts)
    if len(plain.turn.text or "") < len(step.turn.text):
        yield plain


def told(step: AnyStep, keep: Callable[[Fact], bool]) -> AnyStep:
    """A step whose turns say nothing but the facts that are to be kept."""
    if isinstance(step, Meanwhile):
        return Meanwhile(steps=tuple(told(each, keep) for each in step.steps))
    if isinstance(step, Append) and step.turn.text is not None:
        return bare(step, tuple(fact for fact in step.facts if keep(fact)))
    return step


def merged(first: Append, second: Append) -> Append | None:
    """One turn that says what two do, in the place of the first; none where one of them is more than words."""
    for turn in (first.turn, second.turn):
        if turn.text is None or turn.calls or turn.result_of is not None or turn.data is not None:
            return None
    said = f"{first.turn.text} {second.turn.text}"
    facts = (*first.facts, *(fact for fact in second.facts if fact not in first.facts))
    return Append(turn=replace(first.turn, text=said), facts=facts)


def bare(step: Append, facts: tuple[Fact, ...]) -> Append:
    """The turn with nothing but these facts; its id keeps its words apart from every other turn's."""
    kept = tuple(fact for fact in step.facts if fact in facts)
    # What a call's arguments hold is not said beside it.
    said = " ".join(fact.text for fact in kept if fact.kind != ARGUMENT) or f"Go on ({step.turn.id})."
    return Append(turn=replace(step.turn, text=said), facts=kept)
