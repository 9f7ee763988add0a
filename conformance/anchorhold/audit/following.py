"""One file, or several that hold the same sessions: the events of their readers, handed to the sessions' audits."""

from bisect import bisect_right
from collections import Counter, OrderedDict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from anchorhold.audit.facts import Lines
from anchorhold.audit.finding import Example, Finding, Place
from anchorhold.audit.judging import SessionAudit
from anchorhold.audit.model import Compaction, Damage, Event, Turn
from anchorhold.audit.readers import claude_code, detect

MOST_OPEN = 8
"""Sessions of one file that are followed at a time; the one that was silent longest is closed first."""
MOST_DAMAGES = 200
"""Damages of one file that are kept with their place; of the others only the number."""


@dataclass(slots=True, kw_only=True)
class Audited:
    """One file, read to its end."""

    path: Path
    format: str
    turns: int = 0
    sessions: int = 0
    findings: list[Finding] = field(default_factory=list)
    damages: list[Damage] = field(default_factory=list)
    damaged: Counter[str] = field(default_factory=Counter)
    """How often each kind occurred."""
    bytes: int = 0
    error: str | None = None
    """Why it could not be read; then nothing else is set."""
    transcript: bool = True
    """False for a file that a folder holds besides transcripts: nobody asked for it, and it is only counted."""
    begun: dict[str, str] = field(default_factory=dict)
    """The sessions whose id says that they are the same in other files, each with the time of its first turn."""

    @property
    def complete(self) -> bool:
        """Whether it was read and judged to its end, or nobody asked for it."""
        return not self.transcript or not (self.error or self.damaged["failed"])

    def report(self, damage: Damage) -> None:
        """Something in it could not be read."""
        self.damaged[damage.kind] += 1
        if len(self.damages) < MOST_DAMAGES:
            self.damages.append(damage)


def audit_file(path: Path, *, named: bool = True) -> Audited:
    """Audit one file. Never raises for what stands in it.

    `named`: somebody asked for this file, and not for a folder that holds it.
    """
    try:
        form = detect(path, named=named)
        size = path.stat().st_size
    except (OSError, EOFError) as error:
        return Audited(path=path, format="", error=why(error))
    except Exception as error:  # noqa: BLE001  # one file never ends a run
        return Audited(path=path, format="", error=f"could not be audited: {why(error)}")
    if form is None:
        error_ = "no transcript: it is empty, not text, or JSON of no format that is known"
        return Audited(path=path, format="", error=error_, bytes=size, transcript=named)
    result = Audited(path=path, format=form.name, bytes=size)
    sessions = Sessions()
    sessions.follow(result, form.read(path, result.report))
    sessions.close()
    return result


def audit_together(paths: Sequence[Path]) -> list[Audited]:
    """Audit files of Claude Code that hold the same sessions, in the order in which they are given.

    A record that an earlier file has is left out, and a session goes on from one file to the next.
    """
    state, sessions, results = claude_code.State(), Sessions(), []
    for path in paths:
        result = Audited(path=path, format="claude-code")
        results.append(result)
        try:
            result.bytes = path.stat().st_size
        except OSError as error:
            result.error = why(error)
            continue
        first = state.first
        sessions.follow(result, claude_code.read(path, _numbered(result, first), state), first=first)
        state.next_file()
    for number, _ in state.marks.values():
        sessions.report(claude_code.orphan(number))
    sessions.close()
    return results


def _numbered(result: Audited, first: int) -> Callable[[Damage], None]:
    """Reports with the number that a record has in its own file."""
    return lambda damage: result.report(replace(damage, record=max(0, damage.record - first)))


class Sessions:
    """The audits of sessions, through one file or several."""

    def __init__(self) -> None:
        """Start before the first file."""
        self._lines = Lines()
        self._followed: OrderedDict[str, SessionAudit] = OrderedDict()
        self._files: list[Audited] = []
        self._firsts: list[int] = []
        self._in: dict[str, int] = {}
        """The file that each session was last seen in."""

    def follow(self, result: Audited, events: Iterator[Event], *, first: int = 0) -> None:
        """Follow a file to its end. `first` is the number that its first record has among those of all files."""
        self._files.append(result)
        self._firsts.append(first)
        sessions: set[str] = set()
        record = first
        try:
            for event in events:
                if isinstance(event, Damage):
                    result.report(event)
                    continue
                record = event.record
                result.turns += event.counted
                # A sub-agent's turns belong to the session that started it.
                sessions.add(event.session.partition(claude_code.SIDECHAIN)[0])
                if result.format == "claude-code" and event.session not in result.begun:
                    result.begun[event.session] = event.time or ""
                audit = self._audit(event.session, result, record - first)
                if isinstance(event, Turn):
                    audit.turn(event)
                elif isinstance(event, Compaction):
                    audit.compaction(event)
        except (OSError, EOFError) as error:
            # What was read so far is still worth knowing.
            detail = f"the file cannot be read further: {why(error)}"
            result.report(Damage(kind="torn", record=record - first, detail=detail))
        except Exception as error:  # noqa: BLE001  # one file never ends a run
            detail = f"a fault of the audit: nothing after this record was judged: {why(error)}"
            result.report(Damage(kind="failed", record=record - first, detail=detail))
        result.sessions = len(sessions)

    def _audit(self, session: str, result: Audited, record: int) -> SessionAudit:
        here = len(self._files) - 1
        before = self._in.setdefault(session, here)
        if before != here:
            detail = f"session {session} continues here from {self._files[before].path}"
            result.report(Damage(kind="continued", record=record, detail=detail))
            self._in[session] = here
        audit = self._followed.get(session)
        if audit is None:
            audit = self._followed[session] = SessionAudit(self._lines)
            if len(self._followed) > MOST_OPEN:
                self._close(*self._followed.popitem(last=False))
        self._followed.move_to_end(session)
        return audit

    def report(self, damage: Damage) -> None:
        """A damage, in the file of its record."""
        where = self._file(damage.record)
        self._files[where].report(replace(damage, record=damage.record - self._firsts[where]))

    def _file(self, record: int) -> int:
        return max(0, bisect_right(self._firsts, record) - 1)

    def close(self) -> None:
        """No more files come."""
        while self._followed:
            self._close(*self._followed.popitem(last=False))
        for result in self._files:
            result.findings.sort(key=lambda finding: finding.record)

    def _close(self, session: str, audit: SessionAudit) -> None:
        last = self._files[self._in[session]]
        try:
            findings = audit.close()
        except Exception as error:  # noqa: BLE001  # one session never ends a run
            detail = f"a fault of the audit: session {session} was not judged: {why(error)}"
            last.report(Damage(kind="failed", record=0, detail=detail))
            return
        for finding in findings:
            where = self._file(finding.summary_record)
            result = self._files[where]
            finding.file = str(result.path)
            self._renumber(finding)
            result.findings.append(finding)
        if audit.left_out:
            detail = f"{audit.left_out} turns of session {session}: more than any window between two compactions"
            last.report(Damage(kind="left-out", record=0, detail=detail))

    def _renumber(self, finding: Finding) -> None:
        """Give every record the number that it has in its own file."""
        if len(self._files) == 1:
            return
        finding.record, finding.summary_record, finding.first_record = (
            self._number(each) for each in (finding.record, finding.summary_record, finding.first_record)
        )
        finding.examples = [self._example(each) for each in finding.examples]

    def _number(self, record: int) -> int:
        return record - self._firsts[self._file(record)]

    def _example(self, example: Example) -> Example:
        said, summary, used = (self._place(each) for each in (example.said, example.summary, example.used))
        return replace(example, said=said, summary=summary, used=used)

    def _place(self, place: Place | None) -> Place | None:
        return None if place is None else replace(place, record=self._number(place.record))


def why(error: BaseException) -> str:
    """What an error says."""
    if isinstance(error, OSError) and error.strerror:
        return error.strerror
    said = str(error)
    if isinstance(error, (OSError, EOFError)):
        return said or type(error).__name__
    return f"{type(error).__name__}: {said}"[:200]
