"""Judges histories as they are read: what is held at a time is one segment, and what the rules want kept in reach."""

import gc
import shutil
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from tempfile import TemporaryFile
from typing import IO, Final

import msgspec

from anchorhold.checkers.course import Course, Told
from anchorhold.checkers.rule import WatchChecker
from anchorhold.compactor import Description, Mechanism, mechanisms_of
from anchorhold.history import Event, Header
from anchorhold.judging import judge
from anchorhold.level import NOT_ASKED
from anchorhold.result import FailureResult, Result, failure, result
from anchorhold.verdict import Checker, Failure, History, Judgement, Verdict, VerdictKind, decide
from anchorhold.verify.lines import Began, Cut, Happened, Line, Reader, Skipped, blocks, lines
from anchorhold.verify.segments import SEGMENT, Segment, Segments
from anchorhold.workload import Workload

MEMORY: Final = 256 * 1024 * 1024
"""Bytes of lines that may be held of one history; in memory they are about four times as many."""
MOST_REMARKS: Final = 100
"""Lines that could not be used and are told one by one; those beyond are counted."""
NOTHING_JUDGED: Final = "no history was judged"
GARBAGE: Final = 100_000
"""Objects after which the collector looks for cycles while a file is read. As often as it does by itself, it would
go through the values that are known again hundreds of times for nothing: hardly any cycle is made here."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Remark:
    """A line that could not be used."""

    file: str
    line: int
    why: str
    cut: bool
    """Whether its history is not judged any further."""

    def __str__(self) -> str:
        more = "; from here on this history is not judged" if self.cut else ""
        return f"{self.file}:{self.line}: {self.why}{more}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """The first failure of a rule, with the events that show it."""

    file: str
    line: int
    failure: Failure
    """`event` is an index of `history`."""
    history: History
    more: int
    """Facts and spans beyond this one for which the rule was broken."""

    @property
    def sentence(self) -> str:
        """With the place."""
        more = f"; and {self.more} more" if self.more else ""
        return f"{self.failure.sentence} ({self.file}:{self.line}{more})"


@dataclass(frozen=True, slots=True, kw_only=True)
class Verified:
    """What verifying came to."""

    verdicts: tuple[Verdict, ...]
    shown: Mapping[str, Shown]
    """By rule."""
    remarks: tuple[Remark, ...]
    unused: int
    """Lines that could not be used, told or not."""
    cut: int
    """Histories that were not judged to their ends."""
    histories: int
    events: int
    most_held: int
    """Bytes of lines that were held at a time."""
    header: Header | None
    """Of the first history."""
    seconds: float

    def document(self, *, kept: Mapping[str, FailureResult]) -> Result:
        """As the document of a check. `kept`: each rule's failure beside the file that shows it."""
        assert self.header is not None
        return result(
            compactor=self.header.name,
            version=self.header.version,
            verdicts=self.verdicts,
            failures=[kept[rule] for rule in self.shown],
            seconds=round(self.seconds, 3),
            seed=self.header.seed,
            irreversible=self.header.irreversible,
        )


@dataclass(slots=True)
class _Sum:
    """What one checker said so far: a judgement for all, so that it takes no more room with more histories."""

    checker: Checker
    triggered: int = 0
    first: Shown | None = None
    broken: int = 0
    notes: dict[str, None] = field(default_factory=dict)

    def judgement(self) -> Judgement:
        failures = () if self.first is None else (self.first.failure,)
        note = "; ".join(self.notes) or None
        return Judgement(rule=self.checker.rule, triggered=self.triggered, failures=failures, note=note)


@dataclass(slots=True, kw_only=True)
class _Going:
    """A history that is being judged: by segments, for the rules that look for words, and as it comes in."""

    segments: Segments | None
    course: Course | None
    begins: int
    """Where in the file its header begins."""
    line: int
    """Of its header."""
    at: dict[int, int] = field(default_factory=dict)
    """The lines of the events of the segment."""


@contextmanager
def _collecting_seldom() -> Iterator[None]:
    before = gc.get_threshold()
    gc.set_threshold(max(GARBAGE, before[0]), *before[1:])
    try:
        yield
    finally:
        gc.set_threshold(*before)


def leading_to(file: IO[bytes], events: Sequence[int], *, longest: int) -> Mapping[int, tuple[int, History]]:
    """What has to be known of a history up to each of some events, with the number of the event's line.

    The file stands where the history begins; lines are counted from there.
    """
    wanted = sorted(set(events), reverse=True)
    found: dict[int, tuple[int, History]] = {}
    held: Segments | None = None
    at: dict[int, int] = {}
    under_way = 0
    for line in lines(file):
        if isinstance(line, Began) and held is None:
            held = Segments(line.header, longest)
        elif isinstance(line, Began | Cut):
            break
        elif isinstance(line, Happened) and held is not None:
            held.take(line.event, line.size)
            if line.event.index in events:
                at[line.event.index] = line.line
            under_way += 1 if line.event.type == "invoke" else -1
            while wanted and line.event.index >= wanted[-1] and under_way <= 0:
                found[wanted[-1]] = (at[wanted[-1]], History(header=held.header, events=held.held))
                wanted.pop()
            if not wanted:
                break
    for event in wanted:
        assert held is not None
        found[event] = (at[event], History(header=held.header, events=held.held))
    return found


class Verifier:
    """Judges one file after another."""

    def __init__(self, checkers: Sequence[Checker], *, longest: int = SEGMENT, memory: int = MEMORY) -> None:
        self._checkers = tuple(checkers)
        self._sums = [_Sum(checker) for checker in self._checkers]
        self._watching = [each for each in self._sums if isinstance(each.checker, WatchChecker)]
        self._segmented = [each for each in self._sums if not isinstance(each.checker, WatchChecker)]
        self._rules = [(c.rule, c.watch) for c in self._checkers if isinstance(c, WatchChecker)]
        self._longest = longest
        self._memory = memory
        self._remarks: list[Remark] = []
        self._unused = self._cut = self._histories = self._events = self._most_held = 0
        self._header: Header | None = None
        self._description: Description | None = None
        self._summarised = False
        self._begun = time.monotonic()

    def take(self, file: IO[bytes], *, name: str) -> None:
        """Judge the histories of a file. Raises OSError where it cannot be read.

        What shows the first failure of a structural rule is read a second time; where that cannot be done (a pipe),
        the file is copied to disk first.
        """
        with _collecting_seldom():
            if self._watching and not file.seekable():
                with TemporaryFile() as copy:
                    shutil.copyfileobj(file, copy)
                    copy.seek(0)
                    self._take(copy, name)
            else:
                self._take(file, name)

    def _take(self, file: IO[bytes], name: str) -> None:
        reader = Reader()
        going: _Going | None = None
        number = 1
        for begins, read in blocks(file):
            at = 0
            while at < len(read):
                if going is not None and going.course is not None and not self._segmented and reader.reading:
                    taken = reader.quick(read[at:] if at else read, number, going.course)
                    if taken:
                        self._events += taken
                        self._summarised |= going.course.summarised
                        at, number = at + taken, number + taken
                        continue
                for line in reader.take(number, read[at]):
                    place = begins + sum(map(len, read[:at])) if isinstance(line, Began) else 0
                    going = self._line(line, going, (file, name), begins=place)
                at, number = at + 1, number + 1
        for line in reader.finish(number - 1):
            going = self._line(line, going, (file, name), begins=0)
        if going is not None:
            self._end(going, (file, name))

    def _line(
        self, line: Line, going: "_Going | None", place: tuple[IO[bytes], str], *, begins: int
    ) -> "_Going | None":
        _, name = place
        if isinstance(line, Skipped | Cut):
            if isinstance(line, Cut) and going is not None:
                self._end(going, place, torn=True)
                going = None
            self._remark(name, line.line, line.why, cut=isinstance(line, Cut))
            return going
        if isinstance(line, Began):
            if going is not None:
                self._end(going, place)
            return self._begin(line, name, begins)
        if going is None:
            return None
        event = line.event
        self._events += 1
        self._summarised |= event.op == "summarise"
        if going.course is not None:
            going.course.take(Told(event))
        if going.segments is None:
            return going
        full = going.segments.take(event, line.size)
        if full is not None:
            self._judge(going.segments, full, going.at, name)
            going.at.clear()
        going.at[event.index] = line.line
        self._most_held = max(self._most_held, going.segments.size)
        if going.segments.size <= self._memory:
            return going
        self._end(going, place, torn=True)
        why = (
            f"what has to be known of this history takes more than {self._memory:,} bytes of its lines "
            "(--memory allows more)"
        )
        self._remark(name, line.line, why, cut=True)
        return None

    def _end(self, going: "_Going", place: tuple[IO[bytes], str], *, torn: bool = False) -> None:
        """A history is over, or not judged any further."""
        if going.segments is not None:
            self._judge(going.segments, going.segments.finish(torn=torn), going.at, place[1])
        if going.course is None:
            return
        new: list[tuple[_Sum, Failure]] = []
        for into, found in zip(self._watching, going.course.finish(torn=torn), strict=True):
            into.triggered += found.triggered
            into.broken += len(found.failures)
            if found.note:
                into.notes[found.note] = None
            if found.failures and into.first is None:
                new.append((into, found.failures[0]))
        if not new:
            return
        file, name = place
        here = file.tell()
        file.seek(going.begins)
        excerpts = leading_to(file, [first.event for _, first in new], longest=self._longest)
        file.seek(here)
        for into, first in new:
            line, known = excerpts[first.event]
            shown, excerpt = _numbered(known, first)
            into.first = Shown(file=name, line=going.line - 1 + line, failure=shown, history=excerpt, more=0)

    def done(self, *, left_out: Sequence[Checker] = ()) -> Verified:
        """What all of it comes to."""
        return Verified(
            verdicts=(*self._verdicts(), *_not_asked(left_out)),
            shown={each.checker.rule: _told(each) for each in self._sums if each.first is not None},
            remarks=tuple(self._remarks),
            unused=self._unused,
            cut=self._cut,
            histories=self._histories,
            events=self._events,
            most_held=self._most_held,
            header=self._header,
            seconds=time.monotonic() - self._begun,
        )

    def _begin(self, line: Began, name: str, begins: int) -> "_Going | None":
        header = line.header
        if self._header is None:
            self._header = header
        elif (self._header.name, self._header.version) != (header.name, header.version):
            why = (
                f"a history of {header.name} {header.version}, behind one of {self._header.name} "
                f"{self._header.version}: verify them in turn"
            )
            self._remark(name, line.line, why, cut=True)
            return None
        self._description = _together(self._description, header)
        self._histories += 1
        return _Going(
            segments=Segments(header, self._longest) if self._segmented else None,
            course=Course(header, self._rules) if self._rules else None,
            begins=begins,
            line=line.line,
        )

    def _judge(self, of: Segments, segment: Segment | None, at: Mapping[int, int], name: str) -> None:
        if segment is None:
            return
        history = History(header=of.header, events=(*segment.carried, *segment.new))
        checkers = [each.checker for each in self._segmented]
        before: tuple[Judgement, ...] = ()
        if segment.carried:
            before = judge(checkers, History(header=of.header, events=segment.carried))
        first = segment.new[0].index
        for number, judgement in enumerate(judge(checkers, history)):
            known = before[number].triggered if before else 0
            self._add(self._segmented[number], judgement, known, first, history, (at, name))

    def _add(
        self,
        into: _Sum,
        found: Judgement,
        known: int,
        first: int,
        history: History,
        place: tuple[Mapping[int, int], str],
    ) -> None:
        at, name = place
        new = [each for each in found.failures if each.event >= first]
        into.triggered += max(found.triggered - known, len(new))
        into.broken += len(new)
        if found.note:
            into.notes[found.note] = None
        if new and into.first is None:
            shown, excerpt = _numbered(history, new[0])
            into.first = Shown(file=name, line=at[new[0].event], failure=shown, history=excerpt, more=0)

    def _verdicts(self) -> Iterator[Verdict]:
        for each in self._sums:
            if self._description is None:
                yield Verdict(
                    rule=each.checker.rule, kind=VerdictKind.INCONCLUSIVE, reason=NOTHING_JUDGED, triggered=0
                )
                continue
            yield decide(
                each.checker,
                present=mechanisms_of(self._description, summarised=self._summarised),
                hidden=self._description.hidden,
                judgements=[each.judgement()],
            )

    def _remark(self, file: str, line: int, why: str, *, cut: bool) -> None:
        self._unused += 1
        self._cut += cut
        if len(self._remarks) < MOST_REMARKS:
            self._remarks.append(Remark(file=file, line=line, why=why, cut=cut))


def _together(known: Description | None, header: Header) -> Description:
    """What the headers of all histories say of the compactor."""
    hidden = {Mechanism(name): why for name, why in header.hidden.items() if name in set(Mechanism)}
    shown = frozenset(Mechanism(name) for name in header.mechanisms if name in set(Mechanism))
    return Description(
        name=header.name,
        version=header.version,
        mechanisms=shown | (known.mechanisms if known else frozenset()),
        hidden={**(known.hidden if known else {}), **hidden},
        irreversible=header.irreversible,
        operations=frozenset(header.operations) | (known.operations if known else frozenset()),
    )


def _numbered(history: History, shown: Failure) -> tuple[Failure, History]:
    """The events up to a failure as a history of its own, numbered from 0."""
    upto: list[Event] = []
    under_way = 0
    for event in history.events:
        if event.index > shown.event and under_way <= 0:
            break
        under_way += 1 if event.type == "invoke" else -1
        upto.append(event)
    events = tuple(msgspec.structs.replace(event, index=number) for number, event in enumerate(upto))
    header = msgspec.structs.replace(history.header, rule=shown.rule, length=len(events))
    if len(events) != len(history.events) or upto[-1].index != len(upto) - 1:
        steps = history.header.workload.steps[: 1 + max(event.step for event in events)]
        header = msgspec.structs.replace(header, workload=msgspec.structs.replace(header.workload, steps=steps))
    there = next(number for number, event in enumerate(upto) if event.index >= shown.event)
    moved = Failure(rule=shown.rule, sentence=shown.sentence, fact=shown.fact, event=there)
    return moved, History(header=header, events=events)


def _told(each: _Sum) -> Shown:
    assert each.first is not None
    first = each.first
    return Shown(file=first.file, line=first.line, failure=first.failure, history=first.history, more=each.broken - 1)


def _not_asked(left_out: Sequence[Checker]) -> Iterator[Verdict]:
    for checker in left_out:
        yield Verdict(rule=checker.rule, kind=VerdictKind.UNTESTED, reason=NOT_ASKED, triggered=0)


def kept(shown: Shown, *, path: str, command: str) -> FailureResult:
    """A failure beside the file that shows it, and the command that judges that file again."""
    told = Failure(
        rule=shown.failure.rule, sentence=shown.sentence, fact=shown.failure.fact, event=shown.failure.event
    )
    return failure(told, history=path, replay=command)


def in_short(history: History, at: Failure, *, most: int = 12) -> History:
    """The failing event's operation, those before it that mention the fact, and the few just before: to be told."""
    from anchorhold.report.story import mentions

    pairs: list[list[Event]] = []
    for event in history.events:
        if event.type == "invoke" and (not pairs or _ended(pairs[-1])):
            pairs.append([event])
        elif pairs:
            pairs[-1].append(event)
    near = pairs[-3:]
    about = [pair for pair in pairs[:-3] if any(mentions(event, at.fact) for event in pair)]
    half = (most - len(near)) // 2
    chosen = about if len(about) <= 2 * half else [*about[:half], *about[-half:]]
    events = [
        msgspec.structs.replace(event, step=number) for number, pair in enumerate([*chosen, *near]) for event in pair
    ]
    workload = Workload(name=history.header.workload.name, steps=(), aims=(), settings=history.header.settings)
    return History(header=msgspec.structs.replace(history.header, workload=workload), events=tuple(events))


def _ended(events: Sequence[Event]) -> bool:
    return sum(1 if event.type == "invoke" else -1 for event in events) == 0
