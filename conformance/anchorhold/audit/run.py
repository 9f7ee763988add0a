"""Whole files and folders: every session of every file, in parallel."""

import os
import time
from collections import Counter, OrderedDict
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass, field
from multiprocessing import get_context
from pathlib import Path

from anchorhold.audit.facts import Lines
from anchorhold.audit.finding import Finding
from anchorhold.audit.judging import SessionAudit
from anchorhold.audit.model import Compaction, Damage, Turn
from anchorhold.audit.readers import claude_code, detect

MOST_OPEN = 8
"""Sessions of one file that are followed at a time; the one that was silent longest is closed first."""
MOST_DAMAGES = 200
"""Damages of one file that are kept with their place; of the others only the number."""
SKIPPED = frozenset({".png", ".jpg", ".jpeg", ".gif", ".pdf", ".zip", ".db", ".sqlite", ".lock", ".pyc", ".so"})


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


def audit_file(path: Path) -> Audited:
    """Audit one file. Never raises for what stands in it."""
    try:
        form = detect(path)
        size = path.stat().st_size
    except (OSError, EOFError) as error:
        return Audited(path=path, format="", error=_why(error))
    if form is None:
        return Audited(path=path, format="", error="no transcript: it is empty, or not text", bytes=size)
    result = Audited(path=path, format=form.name, bytes=size)

    def report(damage: Damage) -> None:
        result.damaged[damage.kind] += 1
        if len(result.damages) < MOST_DAMAGES:
            result.damages.append(damage)

    lines = Lines()
    sessions: set[str] = set()
    followed: OrderedDict[str, SessionAudit] = OrderedDict()
    try:
        for event in form.read(path, report):
            if isinstance(event, Damage):
                report(event)
                continue
            result.turns += event.counted
            # A sub-agent's turns belong to the session that started it.
            sessions.add(event.session.partition(claude_code.SIDECHAIN)[0])
            audit = followed.get(event.session)
            if audit is None:
                audit = followed[event.session] = SessionAudit(lines)
                if len(followed) > MOST_OPEN:
                    _close(result, *followed.popitem(last=False), report)
            followed.move_to_end(event.session)
            if isinstance(event, Turn):
                audit.turn(event)
            elif isinstance(event, Compaction):
                audit.compaction(event)
    except (OSError, EOFError) as error:
        # What was read so far is still worth knowing.
        report(Damage(kind="torn", record=result.turns, detail=f"the file cannot be read further: {_why(error)}"))
    for session, audit in followed.items():
        _close(result, session, audit, report)
    result.sessions = len(sessions)
    result.findings.sort(key=lambda finding: finding.record)
    return result


def _close(result: Audited, session: str, audit: SessionAudit, report: Callable[[Damage], None]) -> None:
    for finding in audit.close():
        finding.file = str(result.path)
        result.findings.append(finding)
    if audit.left_out:
        report(
            Damage(
                kind="left-out",
                record=0,
                detail=f"{audit.left_out} turns of session {session}: more than any window between two compactions",
            )
        )


def _why(error: BaseException) -> str:
    return (error.strerror if isinstance(error, OSError) else None) or str(error) or type(error).__name__


def files_in(paths: Iterable[Path]) -> Iterator[Path]:
    """The files of folders, in order of their names; a file that was named is taken whatever it is called."""
    for path in paths:
        if path.is_dir():
            for folder, folders, names in os.walk(path):
                folders[:] = sorted(f for f in folders if f not in {".git", "node_modules", "__pycache__"})
                for name in sorted(names):
                    if Path(name).suffix not in SKIPPED and not name.startswith("."):
                        yield Path(folder) / name
        else:
            yield path


def audit_paths(
    paths: Sequence[Path],
    *,
    workers: int | None = None,
    progress: Callable[[int, int, Path], None] | None = None,
) -> tuple[list[Audited], float]:
    """Audit files and folders; answers with the files in order, and the seconds that it took.

    `workers` processes at a time (as many as there are processors unless told otherwise); `progress` is called with
    how many files are done, of how many, and the last one.
    """
    begun = time.monotonic()
    files = list(files_in(paths))
    count = min(workers or os.cpu_count() or 1, len(files))
    if count <= 1:
        results = []
        for index, path in enumerate(files):
            results.append(audit_file(path))
            if progress is not None:
                progress(index + 1, len(files), path)
        return results, time.monotonic() - begun
    # The largest first: else one worker is left with it at the end.
    order = sorted(range(len(files)), key=lambda i: -_size(files[i]))
    found: dict[int, Audited] = {}
    with ProcessPoolExecutor(count, mp_context=get_context("spawn")) as pool:
        waiting = {pool.submit(audit_file, files[index]): index for index in order}
        for done, future in enumerate(as_completed(waiting), start=1):
            found[waiting[future]] = future.result()
            if progress is not None:
                progress(done, len(files), files[waiting[future]])
    return [found[index] for index in range(len(files))], time.monotonic() - begun


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0
