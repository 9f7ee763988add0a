"""Whole files and folders: every session of every file, in parallel, and each session once."""

import hashlib
import os
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from typing import TypeVar

from anchorhold.audit.following import MOST_DAMAGES, MOST_OPEN, Audited, audit_file, audit_together, why
from anchorhold.audit.model import Damage
from anchorhold.audit.readers.claude_code import SIDECHAIN

__all__ = ["MOST_DAMAGES", "MOST_OPEN", "Audited", "audit_file", "audit_paths", "files_in"]

SKIPPED = frozenset({".png", ".jpg", ".jpeg", ".gif", ".pdf", ".zip", ".db", ".sqlite", ".lock", ".pyc", ".so"})
_Result = TypeVar("_Result")


def files_in(paths: Iterable[Path]) -> Iterator[Path]:
    """The files of folders, in order of their names; a file that was named is taken whatever it is called.

    A file that is reached twice is given once.
    """
    for path, _ in _found(paths):
        yield path


def _found(paths: Iterable[Path]) -> Iterator[tuple[Path, bool]]:
    """Each file, and whether it was named itself. What was named and is in a folder as well counts as named."""
    paths = list(paths)
    named = {os.path.realpath(path) for path in paths if not path.is_dir()}
    seen: set[str] = set()
    for path in paths:
        for each in _files(path):
            real = os.path.realpath(each)
            if real not in seen:
                seen.add(real)
                yield each, real in named


def _files(path: Path) -> Iterator[Path]:
    if not path.is_dir():
        yield path
        return
    for folder, folders, names in os.walk(path):
        folders[:] = sorted(f for f in folders if f not in {".git", "node_modules", "__pycache__"})
        for name in sorted(names):
            if Path(name).suffix not in SKIPPED and not name.startswith("."):
                yield Path(folder) / name


def audit_paths(
    paths: Sequence[Path],
    *,
    workers: int | None = None,
    progress: Callable[[int, int, Path], None] | None = None,
) -> tuple[list[Audited], float]:
    """Audit files and folders; answers with the files in order, and the seconds that it took.

    `workers` processes at a time (as many as there are processors unless told otherwise); `progress` is called with
    how many files are done, of how many, and the last one. A file with the bytes of another is not read again, and
    files of Claude Code that hold the same session are then read once more together: its records count once, and it
    goes on from one to the next.
    """
    begun = time.monotonic()
    found = list(_found(paths))
    results = dict(_copies([path for path, _ in found]))
    # The largest first: else one worker is left with it at the end.
    work = sorted((each for each in found if each[0] not in results), key=lambda each: -_size(each[0]))
    workers = workers or os.cpu_count() or 1
    jobs = [partial(audit_file, path, named=named) for path, named in work]
    for done, (index, result) in enumerate(_run(jobs, workers), start=1):
        path = work[index][0]
        if isinstance(result, Exception):
            result = Audited(path=path, format="", error=f"could not be audited: {why(result)}")
        results[path] = result
        if progress is not None:
            progress(done, len(work), path)
    groups = [tuple(group) for group in _sharing([results[path] for path, _ in found])]
    for index, together in _run([partial(audit_together, group) for group in groups], workers):
        if isinstance(together, Exception):
            detail = f"its sessions go on in other files, and could not be followed there: {why(together)}"
            for path in groups[index]:
                results[path].report(Damage(kind="failed", record=0, detail=detail))
        else:
            results.update({each.path: each for each in together})
    audited = [results[path] for path, _ in found]
    _count_sessions(audited)
    return audited, time.monotonic() - begun


def _run(jobs: Sequence[Callable[[], _Result]], workers: int) -> Iterator[tuple[int, _Result | Exception]]:
    """What each job answers with, as they end; or why its process came to no answer."""
    if min(workers, len(jobs)) <= 1:
        for index, job in enumerate(jobs):
            yield index, job()
        return
    with ProcessPoolExecutor(min(workers, len(jobs)), mp_context=get_context("spawn")) as pool:
        waiting = {pool.submit(job): index for index, job in enumerate(jobs)}
        for future in as_completed(waiting):
            try:
                yield waiting[future], future.result()
            except Exception as error:  # noqa: BLE001  # a process that died takes only its own file with it
                yield waiting[future], error


def _copies(paths: Sequence[Path]) -> Iterator[tuple[Path, Audited]]:
    """The files that have the bytes of one before them. Only files of one size are read for it."""
    sizes: dict[int, list[Path]] = {}
    for path in paths:
        if (size := _size(path)) > 0:
            sizes.setdefault(size, []).append(path)
    for size, alike in sizes.items():
        first: dict[bytes, Path] = {}
        for path in alike if len(alike) > 1 else ():
            try:
                with path.open("rb") as file:
                    key = hashlib.file_digest(file, "sha256").digest()
            except OSError:
                continue  # told when it is read
            if key in first:
                result = Audited(path=path, format="", bytes=size, transcript=False)
                result.report(Damage(kind="copied", record=0, detail=f"a copy of {first[key]}, which counts once"))
                yield path, result
            first.setdefault(key, path)


def _sharing(audited: Sequence[Audited]) -> Iterator[list[Path]]:
    """Groups of files that hold the same sessions, each in the order of their times."""
    together: dict[Path, set[Path]] = {}
    holders: dict[str, Path] = {}
    begun: dict[Path, tuple[str, str]] = {}
    for each in audited:
        for session, time_ in each.begun.items():
            group = together.setdefault(each.path, {each.path})
            # The path settles files that begin at one time: a set has another order in each process.
            mine = (time_, str(each.path))
            begun[each.path] = min(begun.get(each.path, mine), mine)
            other = holders.setdefault(session, each.path)
            if other not in group:
                group |= together[other]
                for path in group:
                    together[path] = group
    seen: set[Path] = set()
    for path, group in together.items():
        if len(group) > 1 and path not in seen:
            seen |= group
            yield sorted(group, key=lambda each: begun[each])


def _count_sessions(audited: Sequence[Audited]) -> None:
    """A session that several files hold counts in the first of them."""
    counted: set[str] = set()
    for each in audited:
        if each.begun:
            held = {session.partition(SIDECHAIN)[0] for session in each.begun}
            each.sessions = len(held - counted)
            counted |= held


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0
