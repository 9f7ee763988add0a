"""Compactions of transcripts as histories of the suite: the same checkers, and so the same rule ids.

A transcript shows what was said, what the summary became, and what stayed. It shows neither what the summariser was
given nor any store, pointer, manifest or crash: rules that need those are not judged, and that is said.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import msgspec

from anchorhold.audit.cases import Case, in_vocabulary
from anchorhold.checkers import judge_all
from anchorhold.compactor import Settings
from anchorhold.history import Event, EventType, Header, write_history
from anchorhold.verdict import History, Judgement
from anchorhold.workload import AnyStep, Append, Compact, Probe, Workload
from anchorhold_spec.vocabulary import CarrierKind, Item, Outcome, OutcomeKind, Turn

JUDGED = ("STR-1", "STR-2", "STR-4", "OUT-2", "CON-1", "PTR-3", "MAN-5")
"""Rules of which a transcript shows enough."""
LACKING = (
    "what the summariser was shown and how its reply ended, pointers, manifests, tombstones, stores, crashes and "
    "clocks are not in transcripts: rules that need them are not judged"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    """A history of one compaction, and what the checkers say of it."""

    case: Case
    history: History
    judgements: tuple[Judgement, ...]
    """Of the rules in `JUDGED` that were triggered."""


def history_of(case: Case, *, name: str) -> History:
    """The compaction as a history: every turn appended, one compaction, a look before it and one after it."""
    turns = _unique(turn for each in (*case.replaced, *case.kept) for turn in in_vocabulary(each))
    replaced = {turn.id for each in case.replaced for turn in in_vocabulary(each)}
    covered = tuple(turn.id for turn in turns if turn.id.split("#")[0] in replaced)
    events: list[Event] = []
    steps: list[AnyStep] = []

    def done(op: str, arguments: Any, value: Any, step: AnyStep | None = None) -> None:
        if step is not None:
            steps.append(step)
        at = max(0, len(steps) - 1)
        events.append(
            Event(index=len(events), step=at, type=EventType.INVOKE, op=op, value=msgspec.to_builtins(arguments))
        )
        events.append(Event(index=len(events), step=at, type=EventType.OK, op=op, value=msgspec.to_builtins(value)))

    settings = Settings(session=case.compaction.session)
    done("open", {"settings": settings}, settings)
    for turn in turns:
        done("append", {"turn": turn, "facts": []}, turn.id, Append(turn=turn))
    done("live", {}, [_raw(turn) for turn in turns], Probe(only=("live",)))
    summary = Item(
        id=f"summary {case.compaction.summary_record}",
        kind=CarrierKind.SUMMARY,
        text=case.compaction.summary.strip(),
        covers=covered,
        generation=case.finding.generation,
    )
    outcome = Outcome(kind=OutcomeKind.COMMITTED, summary=summary.id, covered=covered)
    done("compact", {}, outcome, Compact())
    kept = [_raw(turn) for turn in turns if turn.id not in set(covered)]
    done("live", {}, [summary, *kept], Probe(only=("live",)))
    header = Header(
        compactor=f"transcript:{name}",
        name=name,
        version="recorded",
        operations=("append", "compact", "live"),
        mechanisms=(),
        settings=settings,
        seed=0,
        workload=Workload(
            name=f"{name} record {case.compaction.record}", aims=JUDGED, steps=tuple(steps), explicit=True
        ),
        length=len(events),
    )
    return History(header=header, events=tuple(events))


def judged(cases: Iterable[Case], *, name: str) -> Iterator[Judged]:
    """Each compaction as a history, with the judgements of the rules that it shows enough for."""
    for case in cases:
        history = history_of(case, name=name)
        judgements = tuple(j for j in judge_all(history) if j.rule in JUDGED and j.triggered)
        yield Judged(case=case, history=history, judgements=judgements)


def write(directory: Path, each: Judged) -> Path:
    """Write the history into a directory; answers with the file."""
    session = "".join(c if c.isalnum() or c in "-_" else "_" for c in each.case.compaction.session)
    path = directory / f"{session[:60]}-{each.case.compaction.record}.jsonl"
    write_history(path, each.history.header, each.history.events)
    return path


def _raw(turn: Turn) -> Item:
    text = turn.text or ""
    for call in turn.calls:
        text += f"\n{call.name}({call.arguments})"
    return Item(id=turn.id, kind=CarrierKind.RAW, text=text, turn=turn.id, speaker=turn.speaker, generation=0)


def _unique(turns: Iterable[Turn]) -> list[Turn]:
    """Formats may number several turns alike; in a history each has an id of its own."""
    seen: dict[str, int] = {}
    result = []
    for turn in turns:
        seen[turn.id] = seen.get(turn.id, 0) + 1
        count = seen[turn.id]
        result.append(turn if count == 1 else replace(turn, id=f"{turn.id}#{count}"))
    return result
