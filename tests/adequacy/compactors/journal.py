"""A journal: one list of records, of which a part is synced; window, summaries and originals are folded out of it.

Nothing is changed in place. What the caller takes away is one more record, and only erasing rewrites the journal.
"""

import json
import tempfile
import threading
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import msgspec

from anchorhold.compactor import (
    Audit,
    Description,
    Mechanism,
    OperationError,
    Ratios,
    Reply,
    Settings,
    Shown,
    Summarise,
    SummariserError,
)
from anchorhold_spec.vocabulary import Answer, AnswerKind, CarrierKind, Item, Outcome, OutcomeKind, Pointer, Turn
from compactors.common import (
    bare,
    committed,
    failed,
    kept,
    limit,
    noted,
    nothing,
    objection,
    raw,
    refused,
    replaceable,
    size,
    verifiable,
    whole,
)

Record = dict[str, Any]
AUDIT_EVERY = 100


@dataclass
class View:
    """A branch, folded out of the journal."""

    turns: dict[str, Turn] = field(default_factory=dict)
    """Everything that was said in it and not taken back, in order."""
    window: list[str] = field(default_factory=list)
    names: dict[str, str] = field(default_factory=dict)
    """What the journal calls the turns that came under a caller's ids: these are free again after a rewind, and
    another session has its own."""
    summary: Record | None = None
    covered: tuple[str, ...] = ()
    born: dict[str, float] = field(default_factory=dict)


@dataclass
class Folded:
    """How far the journal was folded into a branch: it only grows, so the next look goes on from there."""

    records: list[Record]
    count: int
    last: Record | None
    view: View
    marks: dict[str, View]

    def holds(self, records: list[Record]) -> bool:
        """Whether what was folded still begins the journal."""
        return self.records is records and (self.count == 0 or records[self.count - 1 : self.count] == [self.last])


class Journal:
    """The journal, done right."""

    points = ("write", "sync")

    def describe(self) -> Description:
        return Description(
            name=type(self).__name__,
            version="1",
            mechanisms=frozenset({Mechanism.SUMMARISER, Mechanism.CONCURRENCY}),
            crash_points=self.points,
        )

    def open(self, settings: Settings, summarise: Summarise) -> Settings:
        self.settings, self.summarise = settings, summarise
        self.records: list[Record] = []
        self.synced: list[bytes] = []
        self.session, self.branch = f"{settings.user}/{settings.session}", settings.branch
        self.guard = threading.RLock()
        self.compacting = False
        self.held = False
        self.now = 0.0
        self.damaged: set[str] = set()
        self.accepted = False
        self.armed: tuple[str, str] | None = None
        self.folder: tempfile.TemporaryDirectory[str] | None = None
        self.folded: dict[tuple[str, str], Folded] = {}
        self.written: dict[int, tuple[Record, bytes]] = {}
        return settings

    def close(self) -> None:
        self.records, self.synced = [], []
        if self.folder is not None:
            self.folder.cleanup()

    # The journal

    def add(self, kind: str, **more: Any) -> Record:
        """Write one record and sync it."""
        record = {"kind": kind, "session": self.session, "branch": self.branch, "at": self.now, **more}
        self.records.append(record)
        self.sync()
        return record

    def sync(self) -> None:
        written = self.written
        self.synced = []
        for record in self.records:
            known = written.get(id(record))
            if known is None or known[0] is not record:
                known = written[id(record)] = (record, json.dumps(record).encode())
            self.synced.append(known[1])

    def trip(self, point: str) -> str | None:
        """What an armed fault does to a write at this point."""
        if self.armed is None or self.armed[0] != point:
            return None
        fault, self.armed = self.armed[1], None
        if fault == "crash":
            raise OperationError(f"died at {point}", definite=False)
        return fault

    def view(self, session: str | None = None, branch: str | None = None, until: int | None = None) -> View:
        """Fold the journal into a branch."""
        session = self.session if session is None else session
        branch = self.branch if branch is None else branch
        found = View()
        marks: dict[str, View] = {}
        begun = 0
        known = self.folded.get((session, branch)) if until is None else None
        if known is not None and known.holds(self.records):
            found, marks, begun = known.view, known.marks, known.count
        for at, record in enumerate(self.records[begun:until], start=begun):
            if record["session"] != session:
                continue
            if record["kind"] == "fork" and record["new"] == branch:
                # The branch begins with what its parent was then.
                found = self.view(session, record["branch"], at)
                marks = self.marks_of(found)
            elif record["branch"] == branch or record["kind"] == "erase":
                found = self.fold(found, record, marks)
        if until is None:
            self.folded[session, branch] = Folded(
                records=self.records,
                count=len(self.records),
                last=self.records[-1] if self.records else None,
                view=found,
                marks=marks,
            )
        return found

    def marks_of(self, view: View) -> dict[str, View]:
        """A branch can be taken back to any turn that it began with: then all of them stand in its window."""
        marks: dict[str, View] = {}
        seen: dict[str, Turn] = {}
        # Erased turns among them, to which it may have been taken back before: they keep their names, and stay away.
        for name in view.names.values():
            seen = {**seen, name: view.turns[name]} if name in view.turns else seen
            names = {called: n for called, n in view.names.items() if n in seen or n not in view.turns}
            marks[name] = View(turns=seen, window=list(seen), names=names)
        return marks

    def fold(self, view: View, record: Record, marks: dict[str, View]) -> View:
        match record["kind"]:
            case "turn":
                turn = msgspec.convert(record["turn"], Turn)
                view = replace(
                    view,
                    turns={**view.turns, turn.id: turn},
                    window=[*view.window, turn.id],
                    names={**view.names, record["given"]: turn.id},
                )
                marks[turn.id] = view
            case "nothing":
                # An erased turn, to which the branch may have been taken back before.
                view = replace(view, names={**view.names, record["given"]: record["name"]})
                marks[record["name"]] = view
            case "summary":
                away = set(record["covers"])
                view = replace(
                    view,
                    summary=record,
                    window=[turn for turn in view.window if turn not in away],
                    covered=(*view.covered, *(turn for turn in record["covers"] if turn not in view.covered)),
                    born=view.born | {turn: record["at"] for turn in record["covers"] if turn not in view.born},
                )
            case "clear":
                view = replace(view, window=[], summary=None)
            case "rewind":
                view = self.rewound(view, marks[record["to"]])
            case "erase":
                gone = record["turn"]
                view = replace(view, window=[t for t in view.window if t != gone])
                view.turns.pop(gone, None)
        return view

    def rewound(self, view: View, mark: View) -> View:
        return mark

    # The window

    def append(self, turn: Turn) -> str | None:
        with self.guard:
            view = self.view()
            name = view.names.get(turn.id, "")
            if name in view.turns or self.forgotten(name):
                return None
            before = sum(record.get("given") == turn.id for record in self.records)
            name = f"{turn.id}~{before}" if before else turn.id
            self.add("turn", given=turn.id, name=name, turn=msgspec.to_builtins(replace(turn, id=name)))
            return name

    def forgotten(self, turn: str) -> bool:
        return any(record["kind"] == "erase" and record["turn"] == turn for record in self.records)

    def live(self) -> list[Item]:
        with self.guard:
            view = self.view()
            items = [raw(view.turns[turn]) for turn in view.window if turn in view.turns]
            if view.summary is None:
                return items
            summary = Item(
                id=view.summary["id"],
                kind=CarrierKind.SUMMARY,
                text=view.summary["text"],
                covers=tuple(turn for turn in view.covered if turn in view.turns),
                pending=self.outstanding(view),
            )
            return [summary, *items]

    def outstanding(self, view: View) -> bool:
        landed = self.landed()
        return any(turn not in landed for turn in view.covered if turn in view.turns)

    def landed(self) -> set[str]:
        """Turns whose copy has landed in the archive."""
        return {turn for record in self.records if record["kind"] == "landed" for turn in record["turns"]}

    def compact(self) -> Outcome:
        with self.guard:
            view = self.view()
            texts = [view.summary["text"] if view.summary else "", *(whole(view.turns[t]) for t in view.window)]
            data = sum(-(-len(view.turns[t].data or b"") // 4) for t in view.window)
            if size(texts) + data <= limit(self.settings):
                return nothing("the window is under its watermark")
            if self.busy():
                return refused("another compaction is under way")
            old = [
                turn.id
                for turn in replaceable(
                    [view.turns[t] for t in view.window], opaque_too=True, keep=self.settings.keep
                )
            ]
            if not old:
                return nothing("nothing but the latest turns is left")
            before, length = view.summary, len(self.records)
            shown = self.show(view, old)
            self.compacting = True
        try:
            return self.replacing(old, before, length, shown)
        finally:
            self.compacting = False

    def busy(self) -> bool:
        return self.compacting

    def show(self, view: View, old: Sequence[str]) -> Shown:
        earlier = [bare(view.summary["text"])] if view.summary else []
        return Shown(messages=("Keep the record.", *earlier, *(whole(view.turns[turn]) for turn in old)))

    def replacing(self, old: Sequence[str], before: Record | None, length: int, shown: Shown) -> Outcome:
        session, branch = self.session, self.branch
        try:
            reply = self.summarise(shown)
        except SummariserError as error:
            return failed(str(error))
        why = objection(reply, shown, [bare(before["text"])] if before else [])
        self.staged(reply)
        if why is not None:
            return refused(why)
        with self.guard:
            if self.overtaken(length):
                return refused("the caller took something away meanwhile")
            at = len(self.records)
            record = self.write_summary(session, branch, old, reply)
            if record is None:
                del self.records[at:]
                self.sync()
                return failed("the store did not take the record")
            if not self.held:
                self.add("landed", turns=list(old))
            self.audit()
            view = self.view(session, branch)
            return replace(committed(record["id"], old), pending=self.outstanding(view))

    def staged(self, reply: Reply) -> None:
        """A reply came; it counts from its record on."""

    def overtaken(self, length: int) -> bool:
        return any(record["kind"] in ("clear", "rewind", "erase", "fork") for record in self.records[length:])

    def write_summary(self, session: str, branch: str, old: Sequence[str], reply: Reply) -> Record | None:
        """One record makes a summary; none where the store did not take it."""
        number = 1 + sum(record["kind"] == "summary" for record in self.records)
        text = self.careful(self.view(session, branch).summary, reply.text)
        record: Record = {
            "kind": "summary",
            "session": session,
            "branch": branch,
            "at": self.now,
            "id": f"record-{number}",
            "covers": list(old),
            "text": noted(text, len(old)),
        }
        fault = self.trip("write")
        if fault in ("error", "full"):
            return None
        if fault is None:
            self.records.append(record)
        fault = self.trip("sync")
        if fault is None:
            self.sync()
        return record if self.stands(record) else None

    def careful(self, before: Record | None, text: str) -> str:
        """While records are damaged the summary before may be all that says something, and goes on being said."""
        if before is None or not self.damaged or self.accepted:
            return text
        return kept(text, verifiable(bare(before["text"])))

    def stands(self, record: Record) -> bool:
        """Read back what was synced: what the store says of itself is no evidence."""
        return json.dumps(record).encode() in self.synced

    # Getting back

    def pointers(self) -> list[Pointer]:
        with self.guard:
            view = self.view()
            if view.summary is None:
                return []
            return [
                Pointer(summary=view.summary["id"], token=self.token(turn), covers=(turn,))
                for turn in view.covered
                if turn in view.turns
            ]

    def token(self, turn: str) -> str:
        """The number of the record that a turn was said in, and whose it is."""
        at = next(n for n, record in enumerate(self.records) if self.says(record, turn))
        return f"journal:{at}:{turn}"

    def says(self, record: Record, turn: str) -> bool:
        return record["kind"] == "turn" and record["turn"]["id"] == turn

    def get(self, token: str) -> Answer:
        with self.guard:
            _, _, turn = token.removeprefix("journal:").partition(":")
            if not token.startswith("journal:") or not turn:
                return Answer(kind=AnswerKind.FOREIGN)
            if self.forgotten(turn):
                return self.erased()
            view = self.view()
            if turn not in view.turns or token != self.token(turn):
                return self.unknown(turn)
            if token in self.damaged:
                raise OperationError(f"record {token} is not what was written under it (digest 0f0f, not a0a0)")
            if turn in view.covered and turn not in self.landed():
                return self.not_landed(view, turn)
            return self.found(view.turns[turn])

    def erased(self) -> Answer:
        return Answer(kind=AnswerKind.TOMBSTONED, reason="erased on request")

    def unknown(self, turn: str) -> Answer:
        return Answer(kind=AnswerKind.FOREIGN)

    def not_landed(self, view: View, turn: str) -> Answer:
        return Answer(kind=AnswerKind.PENDING)

    def found(self, turn: Turn) -> Answer:
        return Answer(kind=AnswerKind.FOUND, text=whole(turn) or None, data=turn.data, source=turn.id, evidence=True)

    def search(self, literal: str) -> Answer:
        with self.guard:
            view = self.view()
            for turn in reversed(view.turns.values()):
                if literal in whole(turn) and self.token(turn.id) not in self.damaged:
                    return self.found(turn)
            if self.damaged:
                return Answer(kind=AnswerKind.DEGRADED, reason="records cannot be read")
            return self.not_found(literal)

    def not_found(self, literal: str) -> Answer:
        return Answer(kind=AnswerKind.UNANCHORED)

    # What the caller takes away

    def clear(self) -> None:
        with self.guard:
            self.add("clear")

    def rewind(self, turn: str) -> None:
        with self.guard:
            view = self.view()
            name = view.names.get(turn, turn)
            if name not in view.turns:
                raise OperationError(f"no turn {turn} is known")
            self.add("rewind", to=name)

    def fork(self, branch: str) -> None:
        with self.guard:
            self.add("fork", new=branch)
            self.branch = branch

    def switch(self, session: str, user: str, branch: str = "main") -> None:
        self.session, self.branch = f"{user}/{session}", branch

    def forget(self, turn: str) -> Outcome:
        with self.guard:
            view = self.view()
            turn = view.names.get(turn, turn)
            erased = view.turns.get(turn)
            if erased is None:
                return refused(f"no turn {turn} is known")
            others = "\n".join(
                whole(msgspec.convert(r["turn"], Turn))
                for r in self.records
                if r["kind"] == "turn" and r["turn"]["id"] != turn
            )
            for record in self.records:
                if self.says(record, turn):
                    # The record keeps its place, and what it said is gone.
                    record["kind"], record["turn"] = "nothing", None
                elif record["kind"] == "summary":
                    record["text"] = self.scrubbed(record["text"], whole(erased), others)
                    record["covers"] = [t for t in record["covers"] if t != turn]
            # Records were changed in their places.
            self.folded, self.written = {}, {}
            self.add("erase", turn=turn)
            return Outcome(kind=OutcomeKind.COMMITTED)

    def scrubbed(self, text: str, erased: str, others: str) -> str:
        return "\n".join(line for line in text.split("\n") if line not in erased or line in others)

    def files(self) -> list[str]:
        if self.folder is None:
            self.folder = tempfile.TemporaryDirectory(prefix="anchorhold-journal-")
        path = Path(self.folder.name) / "journal.jsonl"
        path.write_bytes(b"\n".join(self.synced))
        return [str(path)]

    # Copies, time, audits

    def hold_copies(self, held: bool) -> None:
        self.held = held

    def settle(self) -> None:
        with self.guard:
            self.held = False
            self.land()

    def land(self) -> None:
        landed = self.landed()
        waiting = [t for r in self.records if r["kind"] == "summary" for t in r["covers"] if t not in landed]
        if waiting:
            self.add("landed", turns=waiting)

    def ratios(self) -> Ratios:
        with self.guard:
            summaries = [record for record in self.records if record["kind"] == "summary"]
            return Ratios(committed=len(summaries), pending=self.count_pending(summaries), unresolvable=0)

    def count_pending(self, summaries: Sequence[Record]) -> int:
        landed = self.landed()
        return sum(any(turn not in landed for turn in summary["covers"]) for summary in summaries)

    def expire(self, seconds: float) -> None:
        self.now += seconds

    def clock(self, shift: float) -> None:
        """Nothing here goes by the wall clock."""

    def audit(self) -> None:
        done = sum(record["kind"] == "summary" for record in self.records)
        if done % AUDIT_EVERY == 0:
            view = self.view()
            turn = next((turn for turn in view.covered if turn in view.turns), None)
            passed = turn is not None and self.get(self.token(turn)).kind is AnswerKind.FOUND
            self.add("audit", compaction=done, turn=turn, passed=passed)

    def audits(self) -> Sequence[Audit]:
        return [
            Audit(compaction=record["compaction"], turn=record["turn"], passed=record["passed"])
            for record in self.records
            if record["kind"] == "audit"
        ]

    def status(self) -> str:
        if self.damaged:
            return f"degraded: {len(self.damaged)} records are damaged"
        lifetime, horizon = self.settings.lifetime, self.settings.horizon
        if lifetime is not None and (horizon is None or lifetime < horizon):
            return "degraded: entries are asked to expire before the horizon"
        return "lossless"

    def override(self, reason: str) -> Outcome:
        if self.status() == "lossless":
            return refused("it is lossless")
        self.accepted = True
        return Outcome(kind=OutcomeKind.COMMITTED)

    def evict(self, token: str) -> Outcome:
        return refused("records stay until the horizon")

    # Faults

    def reopen(self) -> None:
        self.armed, self.compacting = None, False
        self.records = [json.loads(line) for line in self.synced]

    def crash(self, point: str) -> None:
        self.armed = (point, "crash")

    def fail_store(self, point: str, fault: str) -> None:
        self.armed = (point, fault)

    def lose_power(self) -> None:
        self.records = []

    def corrupt(self, token: str) -> bool:
        if self.get(token).kind is not AnswerKind.FOUND:
            return False
        self.damaged.add(token)
        return True
