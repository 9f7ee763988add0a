"""A vault: originals in numbered cells that are written once, one summary a branch; all of it can be driven.

What is acknowledged is on `disk`; `state` is the process's memory. An operation is a generator that stops before each
access to the store, so that it can be run in one go or one access at a time. No lock is held while the model writes.
"""

import json
import tempfile
import threading
from collections.abc import Generator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

import msgspec

from anchorhold.compactor import (
    Advance,
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

AUDIT_EVERY = 100
"""Compactions between two audits."""
Steps = Generator[str, None, Any]


@dataclass(frozen=True)
class Summary:
    """The one live summary of a branch."""

    id: str
    text: str
    covers: tuple[str, ...]
    generation: int


@dataclass
class Lane:
    """One branch of one session."""

    said: list[str] = field(default_factory=list)
    window: list[str] = field(default_factory=list)
    names: dict[str, str] = field(default_factory=dict)
    """What the vault calls the turns that came under a caller's ids: these are free again after a rewind, and another
    session has its own."""
    summary: Summary | None = None
    marks: dict[str, tuple[list[str], Summary | None]] = field(default_factory=dict)
    """How the window stood right after each turn."""
    cleared: int = 0
    """How often the caller took something away: a compaction that began before does not commit."""


@dataclass
class State:
    """What is durable."""

    lanes: dict[str, Lane] = field(default_factory=dict)
    turns: dict[str, Turn] = field(default_factory=dict)
    """Sources: of the turns that are in a window, or whose copy has not landed."""
    cells: dict[str, Turn] = field(default_factory=dict)
    spool: dict[str, Turn] = field(default_factory=dict)
    """Copies that have not landed."""
    born: dict[str, float] = field(default_factory=dict)
    tokens: dict[str, str] = field(default_factory=dict)
    """Token of each archived turn."""
    gone: dict[str, str] = field(default_factory=dict)
    """Tokens that lead nowhere any more, and why: `erased`, `evicted`, `rewound`, `expired`."""
    issued: int = 0
    summaries: int = 0
    audits: list[Audit] = field(default_factory=list)
    accepted: str | None = None
    used: dict[str, int] = field(default_factory=dict)
    """How many turns came under each of a caller's ids."""
    forgotten: set[str] = field(default_factory=set)
    """Ids of erased turns: they do not come back when a caller plays its transcript again."""

    def copied(self) -> "State":
        """The same, sharing nothing that is changed in place."""
        lanes = {
            name: replace(
                lane, said=list(lane.said), window=list(lane.window), names=dict(lane.names), marks=dict(lane.marks)
            )
            for name, lane in self.lanes.items()
        }
        return replace(
            self,
            lanes=lanes,
            turns=dict(self.turns),
            cells=dict(self.cells),
            spool=dict(self.spool),
            born=dict(self.born),
            tokens=dict(self.tokens),
            gone=dict(self.gone),
            audits=list(self.audits),
            used=dict(self.used),
            forgotten=set(self.forgotten),
        )


class StoreError(Exception):
    """A write failed."""


class Vault:
    """The vault, done right."""

    points = ("put", "commit")

    def describe(self) -> Description:
        return Description(
            name=type(self).__name__,
            version="1",
            mechanisms=frozenset({Mechanism.SUMMARISER, Mechanism.CONCURRENCY}),
            crash_points=self.points,
        )

    def open(self, settings: Settings, summarise: Summarise) -> Settings:
        self.settings, self.summarise = settings, summarise
        self.state = State()
        self.lane_name = f"{settings.user}/{settings.session}/{settings.branch}"
        self.guard = threading.RLock()
        self.claims: set[str] = set()
        self.now = self.wall = 0.0
        self.held = False
        self.damaged: set[str] = set()
        self.armed: tuple[str, str] | None = None
        self.workers: dict[str, Steps] = {}
        self.folder: tempfile.TemporaryDirectory[str] | None = None
        self.save()
        return settings

    def close(self) -> None:
        self.state = self.disk = State()
        if self.folder is not None:
            self.folder.cleanup()

    # Durability

    def save(self) -> None:
        self.disk = self.state.copied()

    def write(self, point: str, apply: Any) -> None:
        """One durable write, which an armed fault may keep from being one."""
        armed, self.armed = (self.armed, None) if self.armed and self.armed[0] == point else (None, self.armed)
        if armed is not None and armed[1] == "crash":
            raise OperationError(f"died at {point}", definite=False)
        if armed is not None and armed[1] in ("error", "full"):
            raise StoreError(f"the write at {point} failed")
        if armed is None or armed[1] == "short":
            apply(armed is not None)

    # The window

    @property
    def lane(self) -> Lane:
        return self.state.lanes.setdefault(self.lane_name, Lane())

    def append(self, turn: Turn) -> str | None:
        with self.guard:
            lane = self.lane
            name = lane.names.get(turn.id, "")
            if name in lane.said or name in self.state.forgotten:
                return None
            before = self.state.used.get(turn.id, 0)
            self.state.used[turn.id] = before + 1
            name = lane.names[turn.id] = f"{turn.id}~{before}" if before else turn.id
            self.state.turns[name] = replace(turn, id=name)
            lane.said.append(name)
            lane.window.append(name)
            lane.marks[name] = (list(lane.window), lane.summary)
            self.acknowledge_append()
            return name

    def acknowledge_append(self) -> None:
        self.save()

    def original(self, turn: str) -> Turn | None:
        token = self.state.tokens.get(turn, "")
        return self.state.turns.get(turn) or self.state.cells.get(token) or self.state.spool.get(token)

    def live(self) -> list[Item]:
        with self.guard:
            lane = self.lane
            found = [self.original(turn) for turn in lane.window]
            items = [raw(turn) for turn in found if turn is not None]
            if lane.summary is None:
                return items
            summary = Item(
                id=lane.summary.id,
                kind=CarrierKind.SUMMARY,
                text=lane.summary.text,
                covers=lane.summary.covers,
                generation=lane.summary.generation,
                pending=self.waiting(lane.summary),
            )
            return [summary, *items]

    def waiting(self, summary: Summary) -> bool:
        return any(self.state.tokens.get(turn) in self.state.spool for turn in summary.covers)

    def compact(self) -> Outcome:
        return self.run(self.compacting())

    def run(self, steps: Steps) -> Any:
        while True:
            try:
                next(steps)
            except StopIteration as end:
                return end.value

    def compacting(self) -> Steps:
        with self.guard:
            lane_name, lane = self.lane_name, self.lane
            said = [self.said(turn) for turn in lane.window]
            texts = [lane.summary.text if lane.summary else "", *map(whole, said)]
            if size(texts) + sum(-(-len(turn.data or b"") // 4) for turn in said) <= limit(self.settings):
                return nothing("the window is under its watermark")
            old = self.choose(lane)
            if not old:
                return nothing("nothing but the latest turns, and turns that another compaction has, is left")
            began, before = lane.cleared, lane.summary
            self.claims |= set(old)
            shown = self.show(before, old)
        try:
            return (yield from self.replacing(lane_name, old, began, before, shown))
        finally:
            self.release(old)

    def release(self, old: Sequence[str]) -> None:
        self.claims -= set(old)

    def said(self, turn: str) -> Turn:
        found = self.original(turn)
        assert found is not None
        return found

    def choose(self, lane: Lane) -> list[str]:
        # While another compaction is under way its summary is not known: nothing can be put on top of it.
        if self.claims & set(lane.window):
            return []
        return [
            turn.id
            for turn in replaceable(
                [self.said(turn) for turn in lane.window], opaque_too=True, keep=self.settings.keep
            )
        ]

    def show(self, before: Summary | None, old: Sequence[str]) -> Shown:
        earlier = [bare(before.text)] if before else []
        return Shown(messages=("Write down what matters.", *earlier, *(whole(self.said(turn)) for turn in old)))

    def replacing(
        self, lane_name: str, old: Sequence[str], began: int, before: Summary | None, shown: Shown
    ) -> Steps:
        yield "model"
        try:
            reply = self.summarise(shown)
        except SummariserError as error:
            return failed(str(error))
        why = objection(reply, shown, [bare(before.text)] if before else [])
        self.staged(reply)
        if why is not None:
            return refused(why)
        with self.guard:
            lane = self.state.lanes[lane_name]
            if self.overtaken(lane, old, began):
                return refused("the caller took something away meanwhile")
            restore = self.state.copied()
        try:
            yield "put"
            with self.guard:
                self.put(old)
            yield "commit"
            with self.guard:
                lane = self.state.lanes[lane_name]
                if self.overtaken(lane, old, began):
                    self.undo(restore, old)
                    return refused("the caller took something away meanwhile")
                summary = self.commit(lane, old, before, reply)
        except StoreError as error:
            with self.guard:
                self.undo(restore, old)
            return failed(str(error))
        self.audit()
        return replace(committed(summary.id, old), pending=self.waiting(summary))

    def staged(self, reply: Reply) -> None:
        """A reply came; nothing of it counts before the commit."""

    def overtaken(self, lane: Lane, old: Sequence[str], began: int) -> bool:
        return lane.cleared != began or not set(old) <= set(lane.window)

    def undo(self, restore: State, old: Sequence[str]) -> None:
        """Take back what the compaction put, and leave what came in meanwhile."""
        for turn in old:
            if turn not in restore.tokens and (token := self.state.tokens.pop(turn, None)) is not None:
                self.state.cells.pop(token, None)
                self.state.spool.pop(token, None)
        self.save()

    def put(self, old: Sequence[str]) -> None:
        target = self.state.spool if self.held else self.state.cells

        def apply(short: bool) -> None:
            for number, turn in enumerate(old):
                if short and number:
                    break
                if turn not in self.state.tokens:
                    self.state.issued += 1
                    self.state.tokens[turn] = f"cell-{self.state.issued}"
                token = self.state.tokens[turn]
                if token not in self.state.cells:
                    target[token] = self.said(turn)
                    self.state.born.setdefault(token, self.now)
            self.save()

        self.write("put", apply)
        self.verify_put(old, self.disk.spool if self.held else self.disk.cells)

    def verify_put(self, old: Sequence[str], target: Mapping[str, Turn]) -> None:
        """Read back: what the store says is no evidence."""
        for turn in old:
            token = self.state.tokens.get(turn, "")
            if target.get(token, self.disk.cells.get(token)) != self.said(turn):
                raise StoreError(f"turn {turn} was not stored")

    def commit(self, lane: Lane, old: Sequence[str], before: Summary | None, reply: Reply) -> Summary:
        number = self.state.summaries + 1
        covers = (*(before.covers if before else ()), *old)
        generation = 1 + (before.generation if before else 0)
        reply = self.careful(before, reply)
        summary = Summary(f"note-{number}", self.compose(reply, covers), covers, generation)
        window = [turn for turn in lane.window if turn not in old]

        def apply(short: bool) -> None:
            if short:
                # The window was written, the summary was not; nothing of it is kept as it is not whole.
                return
            lane.summary, lane.window = summary, self.left(lane, window, old)
            self.state.summaries = number
            self.drop_sources(old)
            self.acknowledge_commit()

        self.write("commit", apply)
        self.verify_commit(summary)
        return summary

    def careful(self, before: Summary | None, reply: Reply) -> Reply:
        """While originals are damaged the summary before may be all that says something, and goes on being said."""
        if before is None or not self.damaged or self.state.accepted is not None:
            return reply
        return replace(reply, text=kept(reply.text, verifiable(bare(before.text))))

    def compose(self, reply: Reply, covers: Sequence[str]) -> str:
        return noted(reply.text, len(covers))

    def left(self, lane: Lane, window: list[str], old: Sequence[str]) -> list[str]:
        """What stays in the window, turns that came in meanwhile included."""
        return window

    def acknowledge_commit(self) -> None:
        self.save()

    def verify_commit(self, summary: Summary) -> None:
        if all(lane.summary != summary for lane in self.disk.lanes.values()):
            raise StoreError("the summary was not stored")

    def drop_sources(self, old: Sequence[str]) -> None:
        """A source goes once it is committed and its copy has landed, and where no window shows it."""
        shown = {turn for lane in self.state.lanes.values() for turn in lane.window}
        for turn in old:
            if self.state.tokens.get(turn) in self.state.cells and turn not in shown:
                self.state.turns.pop(turn, None)

    # Getting back

    def pointers(self) -> list[Pointer]:
        with self.guard:
            summary = self.lane.summary
            covers = summary.covers if summary else ()
            return [
                Pointer(summary=summary.id, token=token, covers=(turn,), key=token)
                for turn in covers
                if summary and (token := self.state.tokens.get(turn)) and token not in self.state.gone
            ]

    def mine(self, token: str) -> bool:
        """Whether a token stands for a turn of this branch."""
        return any(self.state.tokens.get(turn) == token for turn in self.lane.said)

    def get(self, token: str) -> Answer:
        return self.run(self.getting(token))

    def getting(self, token: str) -> Steps:
        yield "read"
        with self.guard:
            if token in self.state.gone and self.known(token):
                return self.gone(self.state.gone[token])
            if not self.mine(token):
                return Answer(kind=AnswerKind.FOREIGN)
            if token in self.damaged:
                raise OperationError(f"the bytes under {token} are not those that it was issued for (digest 00ff)")
            return self.read(token)

    def known(self, token: str) -> bool:
        return True

    def read(self, token: str) -> Answer:
        turn = self.state.cells.get(token)
        if turn is None:
            return self.outstanding(token)
        return Answer(kind=AnswerKind.FOUND, text=whole(turn) or None, data=turn.data, source=turn.id, evidence=True)

    def outstanding(self, token: str) -> Answer:
        held = token in self.state.spool
        return Answer(kind=AnswerKind.PENDING if held else AnswerKind.UNANCHORED)

    def gone(self, why: str) -> Answer:
        match why:
            case "erased":
                return Answer(kind=AnswerKind.TOMBSTONED, reason="erased on request")
            case "expired":
                return Answer(kind=AnswerKind.EXPIRED)
            case _:
                return Answer(kind=AnswerKind.UNANCHORED, reason=why)

    def search(self, literal: str) -> Answer:
        with self.guard:
            lane = self.lane
            for turn in (t for t in (self.original(name) for name in reversed(lane.said)) if t is not None):
                damaged = self.state.tokens.get(turn.id) in self.damaged
                if literal in whole(turn) and not damaged:
                    return Answer(kind=AnswerKind.FOUND, text=whole(turn), source=turn.id, evidence=True)
            if lane.summary is not None and literal in lane.summary.text:
                return Answer(kind=AnswerKind.FOUND, text=lane.summary.text, evidence=False)
            return self.not_found(literal)

    def not_found(self, literal: str) -> Answer:
        if self.damaged:
            return Answer(kind=AnswerKind.DEGRADED, reason="some cells cannot be read")
        return Answer(kind=AnswerKind.UNANCHORED)

    # What the caller takes away

    def clear(self) -> None:
        with self.guard:
            lane = self.lane
            lane.cleared += 1
            lane.window, lane.summary = [], None
            self.save()

    def rewind(self, turn: str) -> None:
        with self.guard:
            lane = self.lane
            turn = lane.names.get(turn, turn)
            if turn not in lane.marks:
                raise OperationError(f"no turn {turn} is known")
            lane.cleared += 1
            at = lane.said.index(turn)
            away, lane.said = lane.said[at + 1 :], lane.said[: at + 1]
            lane.names = {called: name for called, name in lane.names.items() if name not in away}
            window, lane.summary = lane.marks[turn]
            lane.window = [t for t in window if self.original(t) is not None]
            for each in away:
                self.rewound(lane, each)
            self.save()

    def rewound(self, lane: Lane, turn: str) -> None:
        lane.marks.pop(turn, None)

    def fork(self, branch: str) -> None:
        with self.guard:
            session = self.lane_name.rpartition("/")[0]
            self.state.lanes[f"{session}/{branch}"] = self.branched(self.lane)
            self.lane_name = f"{session}/{branch}"
            self.save()

    def branched(self, lane: Lane) -> Lane:
        return replace(
            lane, said=list(lane.said), window=list(lane.window), names=dict(lane.names), marks=dict(lane.marks)
        )

    def switch(self, session: str, user: str, branch: str = "main") -> None:
        self.lane_name = f"{user}/{session}/{branch}"

    def forget(self, turn: str) -> Outcome:
        with self.guard:
            turn = self.lane.names.get(turn, turn)
            erased = self.original(turn)
            if erased is None:
                return refused(f"no turn {turn} is known")
            token = self.state.tokens.get(turn)
            if token is not None:
                self.state.gone[token] = "erased"
                self.state.cells.pop(token, None)
                self.state.spool.pop(token, None)
            self.state.turns.pop(turn, None)
            self.state.forgotten.add(turn)
            for lane in self.state.lanes.values():
                lane.cleared += 1
                lane.window = [t for t in lane.window if t != turn]
                lane.said = [t for t in lane.said if t != turn]
                lane.summary = self.scrubbed(lane.summary, erased)
                lane.marks = {
                    t: ([w for w in window if w != turn], self.scrubbed(summary, erased))
                    for t, (window, summary) in lane.marks.items()
                    if t != turn
                }
            self.save()
            return Outcome(kind=OutcomeKind.COMMITTED)

    def scrubbed(self, summary: Summary | None, erased: Turn) -> Summary | None:
        """A summary without what only the erased turn says."""
        if summary is None:
            return None
        others = "\n".join(whole(t) for name in self.all_turns() if (t := self.original(name)) is not None)
        words = whole(erased)
        lines = [line for line in summary.text.split("\n") if line not in words or line in others]
        return replace(
            summary, text="\n".join(lines), covers=tuple(turn for turn in summary.covers if turn != erased.id)
        )

    def all_turns(self) -> set[str]:
        return {turn for lane in self.state.lanes.values() for turn in lane.said}

    def files(self) -> list[str]:
        """The disk is a file from here on; nothing but what is durable stands in it."""
        if self.folder is None:
            self.folder = tempfile.TemporaryDirectory(prefix="anchorhold-vault-")
        path = Path(self.folder.name) / "vault.json"
        path.write_text(json.dumps(msgspec.to_builtins(asdict(self.disk))))
        return [str(path), *self.logs(Path(self.folder.name))]

    def logs(self, folder: Path) -> list[str]:
        return []

    # Copies, time, audits

    def hold_copies(self, held: bool) -> None:
        self.held = held

    def settle(self) -> None:
        with self.guard:
            self.held = False
            self.land()
            self.save()

    def land(self) -> None:
        self.state.cells |= self.state.spool
        landed = set(self.state.spool)
        self.state.spool = {}
        self.drop_sources([turn for turn, token in self.state.tokens.items() if token in landed])

    def ratios(self) -> Ratios:
        with self.guard:
            # Branches may have one in common.
            live = list(
                {lane.summary.id: lane.summary for lane in self.state.lanes.values() if lane.summary}.values()
            )
            pending = sum(self.waiting(summary) for summary in live)
            return Ratios(
                committed=self.state.summaries, pending=pending, unresolvable=sum(map(self.unresolvable, live))
            )

    def unresolvable(self, summary: Summary) -> bool:
        tokens = [self.state.tokens.get(turn, "") for turn in summary.covers]
        return any(
            t not in self.state.cells and t not in self.state.spool and t not in self.state.gone for t in tokens
        )

    def expire(self, seconds: float) -> None:
        with self.guard:
            self.now += seconds
            self.wall += seconds
            self.reap()

    def clock(self, shift: float) -> None:
        self.wall += shift

    def reap(self) -> None:
        """Let what is both past its lifetime and past the horizon go, and nothing else."""
        horizon, lifetime = self.settings.horizon, self.settings.lifetime
        if horizon is None or lifetime is None:
            return
        for token, born in list(self.state.born.items()):
            if self.now - born >= max(horizon, lifetime) and token in self.state.cells:
                del self.state.cells[token]
                self.state.gone[token] = "expired"
        self.save()

    def audit(self) -> None:
        with self.guard:
            if self.state.summaries % AUDIT_EVERY:
                return
            lane = self.lane
            turn = next((t for t in lane.said if t not in lane.window and t in self.state.tokens), None)
            passed = turn is not None and self.get(self.state.tokens[turn]).kind is AnswerKind.FOUND
            self.state.audits.append(Audit(compaction=self.state.summaries, turn=turn, passed=passed))
            self.save()

    def audits(self) -> Sequence[Audit]:
        return tuple(self.state.audits)

    def degraded(self) -> str | None:
        horizon, lifetime = self.settings.horizon, self.settings.lifetime
        if lifetime is not None and (horizon is None or lifetime < horizon):
            return "entries may expire before the horizon"
        if self.damaged:
            return f"{len(self.damaged)} cells are damaged"
        if any(why in ("evicted", "expired") for why in self.state.gone.values()):
            return "originals were let go"
        if self.state.audits and not self.state.audits[-1].passed:
            return "the latest audit failed"
        return None

    def status(self) -> str:
        why = self.degraded()
        return f"degraded: {why}" if why else "lossless"

    def override(self, reason: str) -> Outcome:
        if self.degraded() is None:
            return refused("nothing is degraded")
        self.state.accepted = reason
        self.save()
        return Outcome(kind=OutcomeKind.COMMITTED)

    def evict(self, token: str) -> Outcome:
        return self.run(self.evicting(token))

    def evicting(self, token: str) -> Steps:
        yield "check"
        with self.guard:
            turn = self.state.cells.get(token)
            if turn is None or not self.mine(token):
                return refused("nothing is stored under it that could go")
            why = self.objection(turn)
            if why is not None:
                return refused(why, whole(turn)[:80])
        yield "remove"
        with self.guard:
            why = self.objection(turn)
            if why is not None:
                return refused(why, whole(turn)[:80])
            self.state.cells.pop(token, None)
            self.state.gone[token] = "evicted"
            self.save()
            return Outcome(kind=OutcomeKind.COMMITTED)

    def objection(self, turn: Turn) -> str | None:
        """Nothing that alone holds something may go, within the horizon or not."""
        return "within the horizon an original stays"

    # Faults

    def reopen(self) -> None:
        self.armed = None
        self.claims, self.workers = set(), {}
        self.state = self.disk.copied()

    def crash(self, point: str) -> None:
        self.armed = (point, "crash")

    def fail_store(self, point: str, fault: str) -> None:
        self.armed = (point, fault)

    def lose_power(self) -> None:
        self.state = State()

    def corrupt(self, token: str) -> bool:
        if token not in self.state.cells:
            return False
        self.damaged.add(token)
        return True

    # Workers

    def begin(self, worker: str, op: str, arguments: Mapping[str, Any]) -> None:
        kinds = {"compact": self.compacting, "get": self.getting, "evict": self.evicting}
        if op not in kinds:
            raise OperationError(f"{op} cannot be single-stepped")
        self.workers[worker] = kinds[op](**arguments)

    def advance(self, worker: str) -> Advance:
        try:
            at = next(self.workers[worker])
        except StopIteration as end:
            del self.workers[worker]
            if isinstance(end.value, Answer):
                return Advance(done=True, answer=end.value)
            return Advance(done=True, outcome=end.value)
        return Advance(done=False, at=at)
