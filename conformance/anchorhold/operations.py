"""What counts as an operation of a history: what a caller does, and not how the suite looks at what came of it.

Counterexamples are shortened by it, and `anchorhold adequacy` counts by it what it takes to catch a defect.

Counted are the `invoke` entries of the history, and each of them once, but for

- `open`, with which every history begins;
- `summarise`, which the compactor asks of its model, and not the caller of the compactor;
- the suite's own reads: everything that a `Probe` observes; `live` before and after whatever may replace turns; the
  `get` that follows a `Corrupt`; `files` and `scan` after a `Forget`;
- `note`, which is no operation: it says what could not be done.

So an append, a compaction, an eviction is one operation; a question is one for each way in which it is asked
(`search`, `reconstitute`) and one for each continuation that is followed; a crash is three: it is armed, the
compaction dies, and the session is opened again. `looks` are the reads that were left out.
"""

from collections.abc import Iterator

from anchorhold.history import Event, EventType
from anchorhold.verdict import History
from anchorhold.workload import AnyStep, Corrupt, Probe

NEITHER = frozenset({"open", "summarise", "note"})
"""What is neither asked for by the caller nor looked at by the suite."""
LOOKS = frozenset({"live", "files", "scan"})
"""What only the suite asks for, whatever the step."""


def operations(history: History) -> int:
    """How many operations a history holds."""
    return sum(1 for event in _asked_for(history) if not _look(event, history.header.workload.steps))


def looks(history: History) -> int:
    """How many of its entries are reads of the suite's own."""
    return sum(1 for event in _asked_for(history) if _look(event, history.header.workload.steps))


def _asked_for(history: History) -> Iterator[Event]:
    return (event for event in history.events if event.type is EventType.INVOKE and event.op not in NEITHER)


def _look(event: Event, steps: tuple[AnyStep, ...]) -> bool:
    if event.op in LOOKS:
        return True
    # A recorded history has no steps: there is nobody but its caller who could have asked for anything else.
    step = steps[event.step] if event.step < len(steps) else None
    return isinstance(step, Probe) or (isinstance(step, Corrupt) and event.op == "get")
