"""From what `anchorhold check` is given to compactors that can be checked.

reference               the reference compactor, in this process
NAME                    a shipped adapter, run by uv in an environment of its own
pkg.module:Class        a class, imported as `python -m` would find it
path/to/file.py:Class   a class in a file
cmd:PROGRAM ARGS        any program that speaks PROTOCOL.md
cmd+clock:PROGRAM ARGS  the same, under a wall clock that the suite moves, in a zone with summer time (libfaketime)
cmd+store:PROGRAM ARGS  the same, its files on a disk that fails on demand (FUSE); `cmd+clock+store:` is both
"""

import contextlib
import difflib
import importlib
import importlib.util
import os
import re
import shlex
import sys
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from importlib import metadata
from pathlib import Path
from types import ModuleType, TracebackType
from typing import Any, Self

from anchorhold.compactor import Description
from anchorhold.disk.client import DiskClient, missing
from anchorhold.errors import AdapterError, Fault, one_line
from anchorhold.shipped import Shipped, shipped
from anchorhold.wire.connection import Connection
from anchorhold.wire.driver import Pool, WireCompactor
from anchorhold.wire.fake_clock import FakeClock, around
from anchorhold.wire.inprocess import ClassCompactor
from anchorhold.wire.operations import Operations
from anchorhold.wire.outside import Outside
from anchorhold.wire.process import Limits
from anchorhold.wire.rehearsal import rehearse

REFERENCE = "anchorhold.adapters.reference:Reference"
_PROGRAM = re.compile(r"cmd((?:\+(?:clock|store))*):")
_ENVIRONMENT_START = 600.0
"""Seconds to start a shipped adapter: the first time, uv fetches and installs what it needs."""


class Loaded(ABC):
    """What was asked for, ready to make compactors of it. To be closed, or used as a context."""

    def __init__(self, target: str) -> None:
        self.target = target
        """What was asked for, as it was given."""
        self.location = target
        """The same, so that it can be found from another working directory too, where `anywhere` says that it can."""
        self.anywhere = False
        """Whether `location` means the same in every working directory. Programs and modules are looked for in it."""

    @abstractmethod
    def make(self) -> Operations:
        """A fresh compactor, which the caller closes before making the next. Raises AdapterError where it cannot."""

    @property
    @abstractmethod
    def stderr(self) -> str:
        """What the program wrote to standard error, as far as it is kept; empty for a class."""

    @abstractmethod
    def close(self) -> None:
        """End everything that was started. Raises AdapterError where a program does not end in good order."""

    def describe(self) -> Description:
        """Who the compactor is. Raises AdapterError where it cannot be reached."""
        compactor = self.make()
        try:
            return compactor.describe()
        finally:
            compactor.close()

    def __enter__(self) -> Self:
        """Nothing is started yet."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close; where something went wrong already, that is what is told."""
        if kind is None:
            self.close()
        else:
            with contextlib.suppress(AdapterError):
                self.close()


class _LoadedProgram(Loaded):
    def __init__(
        self,
        target: str,
        command: Sequence[str],
        *,
        limits: Limits,
        reuse: bool,
        environment: Mapping[str, str] | None = None,
        under: frozenset[str] = frozenset(),
    ) -> None:
        super().__init__(target)
        clock = FakeClock() if "clock" in under else None
        self._without_disk = missing() if "store" in under else None
        self._on_disk = "store" in under and self._without_disk is None
        self._outside = Outside(clock=clock)
        self._description: Description | None = None
        self._start = partial(
            Connection,
            command,
            name=target,
            version=metadata.version("anchorhold"),
            limits=limits,
            environment=environment if clock is None else around(environment, clock),
        )
        self._pool = Pool(self._begin, reuse=reuse, go_on=lambda killed: self._start(files=killed.files))

    def make(self) -> Operations:
        if self._on_disk and self._outside.disk is None:
            # Its steps on the disk have to be seen before they can be made to fail: it compacts once.
            disk = DiskClient()
            self._outside = replace(self._outside, disk=disk)
            self._outside = replace(self._outside, steps=rehearse(self._compactor, disk))
        return self._compactor()

    def describe(self) -> Description:
        """Who the compactor is, and what is done to it from outside."""
        if self._description is None:
            said = super().describe()
            self._description = self._outside.described(said, without_disk=self._without_disk)
        return self._description

    def _compactor(self) -> Operations:
        pool = self._pool
        return WireCompactor(take=pool.take, give_back=pool.give_back, again=pool.again, outside=self._outside)

    def _begin(self) -> Connection:
        disk = self._outside.disk
        return self._start(files=None if disk is None else disk.files())

    @property
    def stderr(self) -> str:
        return self._pool.stderr

    def close(self) -> None:
        try:
            self._pool.close()
        finally:
            for means in (self._outside.clock, self._outside.disk):
                if means is not None:
                    means.close()


class _LoadedClass(Loaded):
    def __init__(self, target: str, make: Callable[[], Any], *, seconds: float) -> None:
        super().__init__(target)
        self._make = make
        self._seconds = seconds
        self._open: set[ClassCompactor] = set()

    def make(self) -> Operations:
        compactor = ClassCompactor(self._make, name=self.target, seconds=self._seconds, ended=self._open.discard)
        self._open.add(compactor)
        return compactor

    @property
    def stderr(self) -> str:
        return ""

    def close(self) -> None:
        for compactor in list(self._open):
            compactor.abandon()
        self._open.clear()


def load(target: str, *, limits: Limits | None = None, reuse: bool = True) -> Loaded:
    """Find what is asked for. Raises AdapterError where it is not there, or cannot be imported.

    A program is started when it is first needed. With `reuse` (the default) it serves one compactor after another,
    each on a fresh store of the adapter's making; without, each compactor gets a program of its own. Limits: the
    default allows a shipped adapter ten minutes to start, because its environment may have to be made.
    """
    if (program := _PROGRAM.match(target)) is not None:
        under = frozenset(filter(None, program[1].split("+")))
        return _LoadedProgram(target, _command(target), limits=limits or Limits(), reuse=reuse, under=under)
    if target == "reference" or ":" in target:
        where = REFERENCE if target == "reference" else target
        loaded: Loaded = _LoadedClass(target, _class(where), seconds=(limits or Limits()).call)
        loaded.location, loaded.anywhere = _anywhere(target)
        return loaded
    launch = launch_of(target)
    shipped_program = _LoadedProgram(
        target,
        launch.command,
        limits=limits or Limits(start=_ENVIRONMENT_START),
        reuse=reuse,
        environment=launch.environment,
    )
    shipped_program.anywhere = True
    return shipped_program


@dataclass(frozen=True, slots=True, kw_only=True)
class Launch:
    """How an adapter program is started."""

    command: Sequence[str]
    environment: Mapping[str, str] | None = None
    start: float | None = None
    """Seconds that its start may take, where that is more than usual."""


def launch_of(target: str) -> Launch:
    """How the program behind a target is started. Raises AdapterError for a class, which is no program."""
    if _PROGRAM.match(target):
        return Launch(command=_command(target))
    entry = _named(target) if ":" not in target else None
    if entry is None or entry.program is None:
        raise AdapterError(
            f"{target!r} is a class of this process, and no program that speaks the wire protocol",
            code=Fault.NOT_FOUND,
            hint="give 'cmd:PROGRAM ARGS', or the name of a shipped adapter that is a program",
        )
    return Launch(command=_uv_command(entry.program), environment=_clean_environment(), start=_ENVIRONMENT_START)


def load_class(kind: Callable[[], Any], *, name: str, limits: Limits | None = None) -> Loaded:
    """A class that is at hand already, or whatever makes a compactor when it is called.

    `name`: who it is; where `load` finds it by that name too, its histories can be played again.
    """
    loaded = _LoadedClass(name, kind, seconds=(limits or Limits()).call)
    loaded.location, loaded.anywhere = _anywhere(name)
    return loaded


def _anywhere(target: str) -> tuple[str, bool]:
    """A class's location, with the path of its file made absolute, and whether it can be found from anywhere."""
    where, _, attribute = target.rpartition(":")
    if where.endswith(".py"):
        return f"{Path(where).resolve()}:{attribute}", True
    return target, target == "reference"


def _command(target: str) -> list[str]:
    try:
        command = shlex.split(_PROGRAM.sub("", target, count=1))
    except ValueError as error:
        raise AdapterError(
            f"{target!r} is no command line", code=Fault.START, cause=str(error), hint="quote it as for a shell"
        ) from None
    if not command:
        raise AdapterError("'cmd:' names no program", code=Fault.START, hint="write cmd:PROGRAM ARGS, in quotes")
    return command


def _named(name: str) -> Shipped:
    entries = {entry.name: entry for entry in shipped()}
    if name in entries:
        return entries[name]
    close = difflib.get_close_matches(name, entries, n=1)
    guess = f"did you mean {close[0]!r}? " if close else ""
    hint = f"{guess}give one of {', '.join(entries)}, or pkg.module:Class, path.py:Class, or cmd:PROGRAM ARGS"
    raise AdapterError(f"there is no compactor {name!r}", code=Fault.NOT_FOUND, hint=hint)


def _uv_command(program: Path) -> list[str]:
    # Imported here: a class or a command needs no uv.
    import uv

    try:
        binary = uv.find_uv_bin()
    except FileNotFoundError as error:
        raise AdapterError(
            "uv, which runs shipped adapters, is not there", code=Fault.START, cause=str(error), hint="pip install uv"
        ) from None
    # This interpreter: it is there, where another would have to be fetched.
    return [binary, "run", "--quiet", "--no-project", "--python", sys.executable, "--script", str(program)]


def _clean_environment() -> dict[str, str]:
    # Paths of this environment have no business in the adapter's own.
    return {k: v for k, v in os.environ.items() if k not in ("PYTHONPATH", "PYTHONHOME", "VIRTUAL_ENV")}


def _class(target: str) -> Callable[[], Any]:
    where, _, attribute = target.rpartition(":")
    if not where or not attribute:
        hint = "write pkg.module:Class or path.py:Class"
        raise AdapterError(f"{target!r} names no class", code=Fault.NOT_FOUND, hint=hint)
    module = _module_of_file(where) if where.endswith(".py") else _module_of_name(where)
    found: Any = module
    for part in attribute.split("."):
        found = getattr(found, part, None)
    if found is None:
        names = [n for n, v in vars(module).items() if isinstance(v, type) and v.__module__ == module.__name__]
        hint = f"it defines {', '.join(names)}" if names else "it defines no class"
        raise AdapterError(f"{where!r} has no {attribute!r}", code=Fault.NOT_FOUND, hint=hint)
    if not callable(found):
        hint = "name a class, or a function that makes a compactor"
        raise AdapterError(f"{target!r} is a {type(found).__name__}, not a class", code=Fault.NOT_FOUND, hint=hint)
    return found  # type: ignore[no-any-return]


def _module_of_name(name: str) -> ModuleType:
    with _importing(name, Path.cwd()):
        return importlib.import_module(name)


def _module_of_file(where: str) -> ModuleType:
    path = Path(where).resolve()
    if not path.is_file():
        hint = f"give a path from {Path.cwd()}, or an absolute one"
        raise AdapterError(f"there is no file {where!r}", code=Fault.NOT_FOUND, hint=hint)
    # A name that no import statement can mean: the file must not be taken for a module that is imported elsewhere.
    name = f"anchorhold adapter {path}"
    specification = importlib.util.spec_from_file_location(name, path)
    assert specification is not None
    assert specification.loader is not None
    module = importlib.util.module_from_spec(specification)
    with _importing(where, path.parent):
        # Dataclasses look their own module up there.
        sys.modules[name] = module
        try:
            specification.loader.exec_module(module)
        except BaseException:
            del sys.modules[name]
            raise
    return module


@contextlib.contextmanager
def _importing(what: str, folder: Path) -> Iterator[None]:
    """Import with `folder` on the path, where it then stays, as for a script: what is imported later is found too."""
    if str(folder) not in sys.path:
        sys.path.insert(0, str(folder))
    try:
        with contextlib.redirect_stdout(sys.stderr):
            yield
    except (Exception, SystemExit) as error:
        cause = one_line(f"{type(error).__name__}: {error}")
        hint = "run python -c 'import …' on it to see where, and install what it needs beside anchorhold"
        raise AdapterError(f"{what!r} cannot be imported", code=Fault.IMPORT, cause=cause, hint=hint) from error
