"""A search on file: the states in the order of their discovery, and where it stood when it began its last layer."""

from __future__ import annotations

import hashlib
import json
import os
import time
import zipfile
import zlib
from collections.abc import Callable
from pathlib import Path

import numpy as np

from anchorhold_spec.explore.prepare import Prepared
from anchorhold_spec.explore.search import Mark, Search
from anchorhold_spec.language import UnknownChoice

FORMAT = 1


def seal(prepared: Prepared) -> str:
    """What a file has to have been written for to be taken up: the same code and the same settings."""
    text = "\0".join([str(FORMAT), prepared.source.text, repr(prepared.settings), repr(prepared.start)])
    return hashlib.sha256(text.encode()).hexdigest()


def keeper(path: Path, *, every: float) -> Callable[[Search], None]:
    """For `Search(between=…)`: writes the search to a file at most each `every` seconds."""
    last = time.monotonic()

    def between(search: Search) -> None:
        nonlocal last
        if time.monotonic() - last >= every:
            save(search, path)
            last = time.monotonic()

    return between


def save(search: Search, path: Path) -> None:
    """Writes the search as it was when its present layer began. The file is whole or not there."""
    mark = search.mark
    if mark is None:
        return
    about = {
        "seal": seal(search.prepared),
        "machine": search.prepared.machine.name,
        "counts": mark.counts,
        "bounds": mark.bounds,
        "hits": mark.hits,
        "deadlock": mark.deadlock,
        "totals": mark.totals,
        "cover": mark.cover,
        "settings": mark.settings,
    }
    draft = path.with_name(f"{path.name}.{os.getpid()}.tmp")
    with draft.open("wb") as file:
        np.savez(
            file,
            about=np.array(json.dumps(about)),
            **{  # type: ignore[arg-type]
                f"states_{p}": partition.states[:count]
                for p, (partition, count) in enumerate(zip(search.partitions, mark.counts, strict=True))
            },
        )
    draft.replace(path)


def restore(search: Search, path: Path) -> None:
    """Takes up a search that was not begun. Raises UnknownChoice where the file is not one of this search."""
    try:
        # Opened here, since what is no archive is not closed by the library.
        with path.open("rb") as handle, np.load(handle, allow_pickle=False) as file:
            about = json.loads(str(file["about"]))
            if about["seal"] != seal(search.prepared):
                raise UnknownChoice(
                    f"{path} is a checkpoint of {about['machine']} with other sizes, switches or options, or of a "
                    "version of it that has changed since: begin anew without --resume"
                )
            for p, partition in enumerate(search.partitions):
                count = about["counts"][p]
                if count > partition.states.shape[0]:
                    raise UnknownChoice(f"{path} holds more states than the memory that is allowed has room for")
                partition.states[:count] = file[f"states_{p}"]
                partition.count = count
                partition.bounds = list(about["bounds"][p])
                partition.rebuild()
    except UnknownChoice:
        raise
    except OSError as problem:
        raise UnknownChoice(f"{path} cannot be read: {problem.strerror or problem}") from problem
    except (ValueError, LookupError, TypeError, EOFError, zipfile.BadZipFile, zlib.error) as problem:
        raise UnknownChoice(
            f"{path} is no checkpoint, or not a whole one: name a file that --checkpoint has written, or begin anew "
            "without --resume"
        ) from problem
    search.hits = {name: (p, row) for name, (p, row) in about["hits"].items()}
    search.deadlock = None if about["deadlock"] is None else (about["deadlock"][0], about["deadlock"][1])
    search.benches[0].totals[:] = about["totals"]
    search.benches[0].cover[: len(about["cover"])] = about["cover"]
    for bench in search.benches:
        bench.settings[:] = about["settings"]
    search.mark = Mark.of(search)
