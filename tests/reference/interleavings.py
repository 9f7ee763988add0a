"""Small workloads of which every order of steps is run on the real code, and what has to hold in each.

    PYTHONPATH=tests/reference python tests/reference/interleavings.py

prints, for each, the number of orders before and after reduction.
"""

import hashlib
import shutil
import sqlite3
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from transcripts import fill, in_memory, port, turn

from anchorhold_reference import Copies, Reply, Request, Settings, Transcript
from anchorhold_reference.faults.interleave import Exploration, explore, replay, shorten, switches
from anchorhold_reference.faults.scene import COLD, LEDGER, Scene, SceneRun, Work, told
from anchorhold_reference.faults.stepping import Step
from anchorhold_reference.faults.watch import Watch
from anchorhold_reference.pointer import DIGEST, ISSUER
from anchorhold_spec.machines.alphabet import Occurrence
from anchorhold_spec.run.oracle import judge_all
from anchorhold_spec.vocabulary import Answer, AnswerKind, CarrierKind, Outcome, OutcomeKind

HELD = Settings(keep=1, horizon=0, copies=Copies.HELD)
SETTINGS = Settings(keep=1, horizon=0)


def writes(*lines: str) -> Callable[[Request], Reply]:
    """A summariser that repeats these lines where it is shown the turns that say them, and never again after."""

    def summarise(request: Request) -> Reply:
        mark = hashlib.sha256("\n".join(request.messages).encode()).hexdigest()
        part = "".join(chr(ord("a") + int(digit, 16)) for digit in mark[:6])
        again = any("Part " in message for message in request.messages)
        return Reply(text="\n".join([f"Part {part} is done.", *(() if again else lines)]))

    return summarise


@dataclass
class Tokens:
    """Pointers that the session had when it was prepared, by turn."""

    known: dict[str, str] = field(default_factory=dict)

    def note(self, transcript: Transcript) -> None:
        self.known = {pointer.covers[0]: pointer.token for pointer in transcript.pointers()}

    def __getitem__(self, turn_id: str) -> str:
        return self.known[turn_id]


@dataclass(kw_only=True)
class Workload:
    """Who works at once, and on what."""

    name: str
    says: str
    prepare: Callable[[Transcript, Tokens], None]
    workers: Mapping[str, Callable[[Transcript, Tokens], object]]
    repeats: tuple[int, ...] = ()
    """Ports that every summary repeats."""
    settings: Settings = SETTINGS
    own_settings: Mapping[str, Settings] = field(default_factory=dict)
    outside: bool = False
    reads: Mapping[str, str] = field(default_factory=dict)
    """Which turn's pointer a reader follows, by worker."""
    slow: bool = False
    at_random: bool = False
    """Its orders are too many: some are drawn."""

    def scene(self, tokens: Tokens, *, every_call: bool = False) -> Scene:
        def working(work: Callable[[Transcript, Tokens], object]) -> Work:
            return lambda transcript: work(transcript, tokens)

        return Scene(
            prepare=lambda transcript: self.prepare(transcript, tokens),
            workers={name: working(work) for name, work in self.workers.items()},
            summarise=writes(*(port(n) for n in self.repeats)),
            settings=self.settings,
            own_settings=self.own_settings,
            outside=self.outside,
            every_call=every_call,
            around=in_memory(),
        )


class BrokenError(AssertionError):
    """A rule was broken in one order."""

    def __init__(self, run: SceneRun, what: Iterable[str]) -> None:
        self.schedule = run.schedule
        self.what = tuple(what)
        super().__init__("\n".join([*self.what, "in this order:", told(run.steps)]))


class Examiner:
    """Looks at each state that a run comes through, once whatever order leads there, and at each run when it is over.

    Make it before the scene is entered."""

    def __init__(self, workload: Workload, scene: Scene, tokens: Tokens) -> None:
        self.workload = workload
        self.scene = scene
        self.tokens = tokens
        self.judged: set[tuple[Occurrence, ...]] = set()
        """Sequences of events that every machine was asked of."""
        self.ends: set[tuple[str, ...]] = set()
        """What was left and answered in the end, of each run."""
        self.failures: list[BrokenError] | None = None
        """Where it is a list, what is broken is kept there and the next order is tried."""
        self._states: dict[str, Seen] = {}
        self._first: Watch | None = None
        self._before: list[Occurrence] = []
        scene.while_preparing = self._note

    @property
    def states(self) -> int:
        """Different states that were looked at."""
        return len(self._states)

    def _note(self, directory: Path) -> None:
        """The events up to where every run begins."""
        if self._first is None:
            self._first = Watch(directory / LEDGER)
        self._before += self._first.look()

    def begin(self) -> SceneRun:
        """A run that is looked at."""
        run = self.scene.begin()
        self._eyes = Eyes(self, run, Watch(run.directory / LEDGER, before=self._first), list(self._before))
        return run

    def seen(self, run: SceneRun) -> "Seen":
        """The state as it is now, as one finds it who opens it after everybody has died."""
        mark = _mark(run.directory)
        if mark not in self._states:
            self._states[mark] = self._look(run, mark)
        return self._states[mark]

    def _look(self, run: SceneRun, mark: str) -> "Seen":
        copied = run.directory.with_name(f"{run.directory.name}-{mark[:12]}")
        copied.mkdir()
        try:
            for path in run.directory.iterdir():
                if path.name in {LEDGER, f"{LEDGER}-wal"}:
                    shutil.copy(path, copied)
                elif path.name == COLD:
                    shutil.copytree(path, copied / COLD)
            return look(self, copied)
        finally:
            shutil.rmtree(copied)

    def visit(self, _run: SceneRun) -> None:
        """What has to hold when the run that was begun last is over."""
        self._eyes.end()


@dataclass(frozen=True)
class Seen:
    """What was found in one state."""

    answers: Mapping[str, tuple[str, str | None]]
    """Of each token that was known at the beginning, by turn: the kind of answer, and the text."""
    wrong: tuple[str, ...]


class Eyes:
    """What was seen of one run."""

    def __init__(self, examiner: Examiner, run: SceneRun, watch: Watch, events: list[Occurrence]) -> None:
        self.examiner = examiner
        self.run = run
        self.watch = watch
        self.events: list[tuple[int, Occurrence]] = [(-1, event) for event in events]
        self.seen: list[Seen] = [examiner.seen(run)]
        """Before the first step, and after each."""
        self._take(-1, watch.look())
        self._failed = False
        run.watchers.append(self.after)

    def _take(self, at: int, events: Iterable[Occurrence]) -> None:
        self.events += [(at, event) for event in events]

    def after(self, step: Step) -> None:
        at = len(self.run.steps) - 1
        if not step.changes:
            self.seen.append(self.seen[-1])
            return
        self._take(at, self.watch.look())
        seen = self.examiner.seen(self.run)
        self.seen.append(seen)
        self._blame(seen.wrong)

    def _blame(self, wrong: Sequence[str]) -> None:
        if not wrong or self._failed:
            return
        self._failed = True
        error = BrokenError(self.run, wrong)
        if self.examiner.failures is None:
            raise error
        self.examiner.failures.append(error)

    def end(self) -> None:
        run, examiner = self.run, self.examiner
        wrong: list[str] = []
        events = list(self.events)
        for name, result in run.results.items():
            if isinstance(result, BaseException):
                wrong.append(f"{name} raised {type(result).__name__}: {result}")
            elif isinstance(result, Answer):
                turn_id = examiner.workload.reads[name]
                own = [i for i, step in enumerate(run.steps) if step.worker == name]
                # What was true before its first step, after its last, or at any time in between.
                at = next(
                    (i for i in range(own[0], own[-1] + 2) if _told(result) == self.seen[i].answers[turn_id]), None
                )
                if at is None:
                    allowed = {self.seen[i].answers[turn_id] for i in range(own[0], own[-1] + 2)}
                    wrong.append(f"{name} was told {_told(result)} of {turn_id}; at no time was it so: {allowed}")
                else:
                    found = result.source if result.kind is AnswerKind.FOUND else None
                    answer = Occurrence(event="resolve", span=turn_id, found=found, answer=result.kind)
                    place = next((k for k, (j, _) in enumerate(events) if j >= at), len(events))
                    events.insert(place, (at - 1, answer))
            elif isinstance(result, Outcome) and result.kind is OutcomeKind.FAILED:
                wrong.append(f"{name} failed: {result.reason}")
        sequence = tuple(event for _, event in events)
        if sequence not in examiner.judged and not wrong:
            wrong += [str(refusal) for ruling in judge_all(sequence) for refusal in ruling.refusals if refusal.rules]
            examiner.judged.add(sequence)
        wrong += _after_all(run)
        self.watch.close()
        self._blame(wrong)
        examiner.ends.add((_mark(run.directory), *(f"{name}: {_told_any(r)}" for name, r in run.results.items())))


def _told(answer: Answer) -> tuple[str, str | None]:
    return str(answer.kind), answer.text


def _told_any(result: object) -> str:
    if isinstance(result, Answer):
        return str(_told(result))
    return f"{result.kind} {result.covered}" if isinstance(result, Outcome) else str(result)


def _after_all(run: SceneRun) -> list[str]:
    """What has to be so once nobody is at work: nothing staged, nothing claimed, degraded only where that is true."""
    with sqlite3.connect(run.directory / LEDGER) as database:
        wrong = [
            f"carrier {c} is still staged (PRO-3)"
            for (c,) in database.execute("SELECT id FROM carrier WHERE state = 'staged'")
        ]
        wrong += [
            f"carrier {c} is still claimed (PRO-3)"
            for (c,) in database.execute("SELECT carrier FROM live WHERE claimed IS NOT NULL")
        ]
        wrong += [
            f"damage is on record that nobody did: {m} (RET-1)"
            for (m,) in database.execute("SELECT message FROM damage")
        ]
        wrong += [
            f"an audit failed that had nothing to find: {m} (RET-1)"
            for (m,) in database.execute("SELECT message FROM audit WHERE passed = 0")
        ]
    database.close()
    return wrong


IGNORED = frozenset({"age", "audit"})
ADDRESS = DIGEST.stop
"""Bytes of a packed address."""


def _mark(directory: Path) -> str:
    """A mark of all that is durable."""
    found = hashlib.sha256()
    database = sqlite3.connect(directory / LEDGER, isolation_level=None)
    issuers: dict[bytes, bytes] = {}

    def plain(value: object) -> object:
        # Marks of openings are drawn by chance: only which are the same one counts.
        if isinstance(value, bytes) and len(value) == 8:
            return issuers.setdefault(value, str(len(issuers)).encode())
        if isinstance(value, bytes) and len(value) == ADDRESS:
            return value[: ISSUER.start], plain(value[ISSUER]), value[ISSUER.stop :]
        return value

    database.execute("BEGIN")
    tables = [
        name for (name,) in database.execute("SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name")
    ]
    for table in tables:
        if not table.startswith(("sqlite_", "entry")) and table not in IGNORED:
            for row in database.execute(
                f"SELECT * FROM {table} ORDER BY 1, 2"
                if table != "free_slot"
                else "SELECT * FROM free_slot ORDER BY 1"
            ):
                found.update(repr((table, [plain(value) for value in row])).encode())
    database.close()
    for path in sorted((directory / COLD).rglob("*")):
        if path.is_file() and path.name != "anchorhold-store":
            found.update(repr((str(path.relative_to(directory)), path.read_bytes())).encode())
    return found.hexdigest()


def look(examiner: Examiner, directory: Path) -> Seen:
    """Open what the dead left behind: every rule that can be seen holds, and a second recovery changes nothing."""
    wrong: list[str] = []
    scene = examiner.scene
    with scene.open(directory) as transcript:
        answers = {turn_id: _told(transcript.get(token)) for turn_id, token in examiner.tokens.known.items()}
        wrong += list(_faults(transcript))
    once = _settled(directory)
    with scene.open(directory) as transcript:
        again = {turn_id: _told(transcript.get(token)) for turn_id, token in examiner.tokens.known.items()}
    if _settled(directory) != once or again != answers:
        wrong.append("a second recovery changed something (CRA-2)")
    return Seen(answers, tuple(wrong))


def _settled(directory: Path) -> list[Any]:
    """What a recovery must not change the second time: all but the counter that grows with each opening."""
    database = sqlite3.connect(directory / LEDGER)
    tables = (
        "session",
        "carrier",
        "live",
        "turn",
        "reading",
        "summary",
        "covers",
        "carries",
        "cold",
        "free_slot",
        "pointer",
        "stray",
        "tombstone",
        "damage",
    )
    found = [database.execute(f"SELECT * FROM {table} ORDER BY 1").fetchall() for table in tables]
    database.close()
    return found


def _faults(transcript: Transcript) -> Iterable[str]:
    """Every turn is in the window, once, or leads to its original, or left through the gate and is repeated."""
    live = transcript.live()
    window = [item.turn for item in live if item.turn]
    ledger = transcript._ledger
    turns = dict(ledger.all("SELECT t.id, c.state FROM turn t JOIN carrier c ON c.id = t.carrier"))
    pointed: dict[str, str] = {pointer.covers[0]: pointer.token for pointer in transcript.pointers()}
    left = {
        t
        for (t,) in ledger.all(
            "SELECT t.id FROM pointer p JOIN turn t ON t.carrier = p.span AND p.holding IN ('gone', 'expired')"
        )
    }
    dropped = {stone.source for stone in transcript.tombstones()}
    if len(window) != len(set(window)):
        yield f"a turn stands twice in the window: {window} (CON-2)"
    if sum(item.kind is CarrierKind.SUMMARY for item in live) > 1:
        yield "two summaries stand in the window (CON-2)"
    for turn_id, state in turns.items():
        if state == "erased":
            if turn_id in window or ledger.first(
                "SELECT 1 FROM turn t JOIN cold o ON o.span = t.carrier WHERE t.id = ?", (turn_id,)
            ):
                yield f"{turn_id} was forgotten, and is there (ERA-1)"
            continue
        n = int(turn_id[1:])
        if turn_id in window:
            if turn_id in pointed:
                yield f"{turn_id} is in the window and under a summary (CON-2)"
        elif turn_id in pointed:
            answer = transcript.get(pointed[turn_id])
            if answer.kind is not AnswerKind.PENDING and (answer.kind, answer.text) != (AnswerKind.FOUND, port(n)):
                yield f"the pointer of {turn_id} leads to {answer.kind} {answer.text!r} (PTR-2)"
        elif turn_id not in left:
            yield f"{turn_id} has left the window and nothing leads to it (PTR-1)"
        answer = transcript.reconstitute(f"db-{n}", "port")
        if turn_id not in dropped and answer.value != str(7000 + n):
            yield f"what {turn_id} says is answered by {answer.kind} {answer.value!r}: {answer.reason} (ANC-1)"
    for (turn_id,) in ledger.all(
        "SELECT t.id FROM turn t JOIN carrier c ON c.id = t.carrier AND c.state = 'raw' WHERE t.payload IS NULL "
        "AND NOT EXISTS (SELECT 1 FROM pointer p WHERE p.span = t.carrier AND (p.holding IN ('gone', 'expired') "
        "OR EXISTS (SELECT 1 FROM cold o WHERE o.slot = p.slot AND o.epoch = p.epoch)))"
    ):
        yield f"the source of {turn_id} was let go, and no copy of it is there (PTR-2)"


# -- the workloads --


def _compacted(transcript: Transcript, tokens: Tokens) -> None:
    """Turn 1 is under a summary that repeats it, so that its original may go; turn 2 is in the window."""
    fill(transcript, 1, 2)
    assert transcript.compact().kind is OutcomeKind.COMMITTED
    tokens.note(transcript)


def _compacted_and_more(transcript: Transcript, tokens: Tokens) -> None:
    _compacted(transcript, tokens)
    fill(transcript, 3, 3)


def _two_compacted(transcript: Transcript, tokens: Tokens) -> None:
    fill(transcript, 1, 3)
    assert transcript.compact().kind is OutcomeKind.COMMITTED
    tokens.note(transcript)


def _fresh(transcript: Transcript, tokens: Tokens) -> None:
    fill(transcript, 1, 2)


def _pending(transcript: Transcript, tokens: Tokens) -> None:
    fill(transcript, 1, 2)
    outcome = transcript.compact()
    assert outcome.pending, outcome
    tokens.note(transcript)


def _pending_and_more(transcript: Transcript, tokens: Tokens) -> None:
    _pending(transcript, tokens)
    fill(transcript, 3, 3)


def compact(transcript: Transcript, _tokens: Tokens) -> object:
    return transcript.compact()


def reap(turn_id: str) -> Callable[[Transcript, Tokens], object]:
    return lambda transcript, tokens: transcript.evict(tokens[turn_id])


def read(turn_id: str) -> Callable[[Transcript, Tokens], object]:
    return lambda transcript, tokens: transcript.get(tokens[turn_id])


def settle(transcript: Transcript, _tokens: Tokens) -> object:
    return transcript.settle()


def append(n: int) -> Callable[[Transcript, Tokens], object]:
    return lambda transcript, _tokens: transcript.append(turn(n))


def forget(turn_id: str) -> Callable[[Transcript, Tokens], object]:
    return lambda transcript, _tokens: transcript.forget(turn_id)


def audit(transcript: Transcript, _tokens: Tokens) -> object:
    return transcript.audit()


WORKLOADS = (
    Workload(
        name="reaper, reader",
        says="an original is let go while its pointer is followed",
        prepare=_compacted,
        workers={"reaper": reap("t1"), "reader": read("t1")},
        reads={"reader": "t1"},
        repeats=(1,),
    ),
    Workload(
        name="reaper, reader; outside",
        says="the same, the original in a directory",
        prepare=_compacted,
        workers={"reaper": reap("t1"), "reader": read("t1")},
        reads={"reader": "t1"},
        repeats=(1,),
        outside=True,
    ),
    Workload(
        name="reaper, auditor",
        says="an original is let go while it is audited",
        prepare=_compacted,
        workers={"reaper": reap("t1"), "auditor": audit},
        repeats=(1,),
    ),
    Workload(
        name="compactor, appender",
        says="a turn comes while a summary takes the place of others",
        prepare=_fresh,
        workers={"compactor": compact, "appender": append(3)},
    ),
    Workload(
        name="compactor, compactor",
        says="two compactions of the same turns",
        prepare=_fresh,
        workers={"compactor": compact, "other compactor": compact},
    ),
    Workload(
        name="compactor, reaper",
        says="an original goes while the summary that repeats it is replaced",
        prepare=_compacted_and_more,
        workers={"compactor": compact, "reaper": reap("t1")},
        repeats=(1,),
    ),
    Workload(
        name="reaper, reaper, compactor",
        says="two originals go at once while their summary is replaced",
        prepare=lambda transcript, tokens: (_two_compacted(transcript, tokens), fill(transcript, 4, 4), None)[-1],
        workers={"reaper": reap("t1"), "other reaper": reap("t2"), "compactor": compact},
        repeats=(1, 2),
        slow=True,
    ),
    Workload(
        name="reaper, compactor, reader",
        says="a slot is emptied and taken again while a pointer to it is followed",
        prepare=_compacted_and_more,
        workers={"reaper": reap("t1"), "compactor": compact, "reader": read("t1")},
        reads={"reader": "t1"},
        repeats=(1,),
        slow=True,
    ),
    Workload(
        name="copier, reader",
        says="a copy lands while its pointer is followed",
        prepare=_pending,
        workers={"copier": settle, "reader": read("t1")},
        reads={"reader": "t1"},
        settings=HELD,
    ),
    Workload(
        name="copier, copier",
        says="two openings make the same copy",
        prepare=_pending,
        workers={"copier": settle, "other copier": settle},
        settings=HELD,
    ),
    Workload(
        name="copier, copier; outside",
        says="the same, in a directory",
        prepare=_pending,
        workers={"copier": settle, "other copier": settle},
        settings=HELD,
        outside=True,
        slow=True,
    ),
    Workload(
        name="compactor, copier, reader",
        says="a copy lands and its pointer is followed while the summary over it is replaced",
        prepare=_pending_and_more,
        workers={"compactor": compact, "copier": settle, "reader": read("t1")},
        reads={"reader": "t1"},
        settings=HELD,
        slow=True,
    ),
    Workload(
        name="copier, reaper, reader",
        says="a copy lands, its original is let go, and its pointer is followed",
        prepare=_pending,
        workers={"copier": settle, "reaper": reap("t1"), "reader": read("t1")},
        reads={"reader": "t1"},
        repeats=(1,),
        settings=HELD,
        slow=True,
    ),
    Workload(
        name="compactor, copier, reaper, reader",
        says="all four: a copy lands, its original is let go and read, while the summary over it is replaced",
        prepare=_pending_and_more,
        workers={"compactor": compact, "copier": settle, "reaper": reap("t1"), "reader": read("t1")},
        reads={"reader": "t1"},
        repeats=(1,),
        settings=HELD,
        slow=True,
        at_random=True,
    ),
    Workload(
        name="copier, forgetter; outside",
        says="a turn is forgotten while its copy is made in a directory",
        prepare=_pending,
        workers={"copier": settle, "forgetter": forget("t1")},
        settings=HELD,
        outside=True,
        slow=True,
    ),
    Workload(
        name="compactor, forgetter",
        says="a turn is forgotten while a summary takes its place",
        prepare=_fresh,
        workers={"compactor": compact, "forgetter": forget("t1")},
        slow=True,
    ),
)
BY_NAME = {workload.name: workload for workload in WORKLOADS}


def run_all(workload: Workload, *, reduced: bool = True, every_call: bool = False) -> tuple[Exploration, Examiner]:
    """Every order of a workload, or one of each class. Raises `BrokenError`."""
    tokens = Tokens()
    scene = workload.scene(tokens, every_call=every_call)
    examiner = Examiner(workload, scene, tokens)
    with scene:
        return explore(examiner.begin, visit=examiner.visit, reduced=reduced), examiner


def broken_by(workload: Workload) -> BrokenError | None:
    """What is broken in some order, told by the shortest one that was found; none where every order is right."""
    tokens = Tokens()
    scene = workload.scene(tokens)
    examiner = Examiner(workload, scene, tokens)
    with scene:
        examiner.failures = failures = []
        explore(examiner.begin, visit=examiner.visit)
        if not failures:
            return None
        shortest = min(failures, key=lambda error: (switches(error.schedule), len(error.schedule)))
        found = [shortest]

        def fails(names: Sequence[str]) -> bool:
            failures.clear()
            replay(examiner.begin, names, visit=examiner.visit)
            found.extend(error for error in failures if switches(error.schedule) <= switches(names))
            return bool(failures)

        shorten(shortest.schedule, fails)
        return min(found, key=lambda error: (switches(error.schedule), len(error.schedule)))


def row(workload: Workload) -> str:
    """A line of the table. Raises AssertionError where an order is wrong or missing."""
    found, examiner = run_all(workload)
    turns = " + ".join(map(str, found.longest))
    assert found.waited or found.padded == found.combinatorial, f"{workload.name}: {found.padded} orders are known"
    combinatorial = "workers wait" if found.waited else f"{found.combinatorial:,}"
    cells = (workload.name, workload.says, turns, combinatorial, f"{found.schedules:,}", f"{found.classes:,}")
    return f"| {' | '.join((*cells, str(examiner.states)))} |"


def main(names: Sequence[str]) -> None:
    print("| workers | what | turns of each | orders of so many turns | before reduction | after | states |")  # noqa: T201
    print("|---|---|---|---|---|---|---|")  # noqa: T201
    for workload in WORKLOADS:
        if workload.name in names or not (names or workload.at_random):
            print(row(workload), flush=True)  # noqa: T201


if __name__ == "__main__":
    main(sys.argv[1:])
