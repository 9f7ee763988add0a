"""The shared alphabet of events: what can be seen of a compactor from outside, whatever machine models it.

Each machine names, for its actions, the event that they are seen as (`Action.event`). `projections` says what each
event means to each machine, and which of the machine's actions no event shows.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

EVENTS: Mapping[str, str] = MappingProxyType(
    {
        "append": "A turn enters the transcript and is acknowledged.",
        "stage": "A summary is written and not yet committed.",
        "point": "The pointer from a summary to an original is made durable.",
        "copy": "An original lands in the cold store.",
        "commit": "A summary takes effect, durably.",
        "refuse": "An operation is refused; nothing changes.",
        "release": "The source of a committed summary may go.",
        "evict": "A carrier leaves the live window or the retrieval index.",
        "propose": "A retention policy marks something to be deleted.",
        "reap": "Something is deleted from a store.",
        "resolve": "A pointer is followed.",
        "reconstitute": "A value is asked for.",
        "tombstone": "An assertion is dropped on purpose.",
        "audit": "A pinned fact of an evicted span is fetched verbatim.",
        "repair": "The retrieval boundary is made whole again.",
        "degrade": "The retrieval boundary is declared not to be lossless.",
        "expire": "A lifetime ends.",
        "crash": "Everything that is not durable is lost.",
        "recover": "Work begins again after a crash.",
        "forget": "A content is erased on demand.",
        "clear": "The session is emptied on demand.",
        "rewind": "The session goes back to an earlier point.",
    }
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Occurrence:
    """One event of the alphabet, and whom it is about. Names are whatever the observer calls them.

    Raises ValueError for an event that is not in the alphabet.
    """

    event: str
    span: str | None = None
    """The raw span: of `append`, `copy`, `point`, `evict`, `resolve`, `audit`, `degrade`, `repair`, `expire`,
    `forget`, `rewind`."""
    summary: str | None = None
    """The summary: of `stage`, `point`, `commit`, `refuse`, `evict`, `resolve`."""
    spans: tuple[str, ...] = ()
    """`stage`: the raw spans that the summary is to stand for. `commit`: those that leave the window for it."""
    summaries: tuple[str, ...] = ()
    """`stage` and `commit`: likewise, earlier summaries."""
    shown: tuple[str, ...] | None = None
    """`stage`: the carriers that the summariser was shown; none where that was not seen."""
    asserts: tuple[str, ...] = ()
    """`append`: the assertions of the span. `stage`: those that the summary repeats. `copy`: those that it holds.
    `tombstone`: those dropped. `reconstitute`: those that were asked for, each of which what came back has to carry;
    where nothing came back, and no `answer` says why, those that nothing but the window holds any more."""
    slots: tuple[str, ...] = ()
    """`append`: the slot of each assertion, in the same order; none of any where each has one of its own."""
    slot: str | None = None
    """`reconstitute`: the slot whose value was asked for."""
    kind: str | None = None
    """`append`: the class of the span's content: `narrative`, `structured`, `side_effecting`; none if not known."""
    omissions_named: bool | None = None
    """`stage`: whether the summary says what it leaves out; none where that was not seen."""
    key: str | None = None
    """`copy`, `point`, `resolve`, `reap`: the key in the store."""
    epoch: int | None = None
    """`copy`, `point`, `resolve`: the epoch of the copy, or of the pointer, as the store counts; none where it cannot
    be seen. `pointer-before-commit` reads it; to the other machines each copy lies under a key of its own."""
    found: str | None = None
    """`resolve`, `audit`: the raw span whose content came back. `reconstitute`: what came back: an assertion, or the
    span or summary whose words did. None where nothing came back."""
    answer: str | None = None
    """`resolve`, `reconstitute`: the kind of the answer, as `vocabulary.AnswerKind` has it; none where not seen."""
    pending: tuple[str, ...] = ()
    """`commit`: the raw spans whose copies are declared outstanding: they may get their pointers later."""
    at: int | None = None
    """Where in the observed history this was seen, for reports."""

    def __post_init__(self) -> None:
        if self.event not in EVENTS:
            raise ValueError(f"{self.event!r} is no event of the alphabet: {', '.join(EVENTS)}")
        if self.slots and len(self.slots) != len(self.asserts):
            raise ValueError(
                f"{len(self.slots)} slots are given for {len(self.asserts)} assertions: give one for each"
            )

    def __str__(self) -> str:
        about = {
            "span": self.span,
            "summary": self.summary,
            "spans": ", ".join(self.spans),
            "summaries": ", ".join(self.summaries),
            "key": self.key,
            "epoch": self.epoch,
            "slot": self.slot,
            "found": self.found,
            "answer": self.answer,
        }
        told = ", ".join(f"{name}={value}" for name, value in about.items() if value not in (None, ""))
        return f"{self.event}({told})"
