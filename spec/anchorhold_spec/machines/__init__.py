"""The machines: what must hold, as state machines that are run, proved, explored and published.

Each module here holds one, as `machine`; its name is the module's, with dashes. A reviewer reads these files and
little else. `alphabet` names the events that all of them share, and `projections` says what
these mean to each machine that a recorded history can be held against.
"""

from __future__ import annotations

import importlib
import importlib.util
import pkgutil
import sys
from pathlib import Path
from types import ModuleType

from anchorhold_spec.language import Machine, MalformedMachine, UnknownChoice

_NO_MACHINES = {"alphabet", "projections"}


def names() -> tuple[str, ...]:
    """The names of the machines of the specification, sorted."""
    return tuple(
        sorted(
            module.name.replace("_", "-")
            for module in pkgutil.iter_modules(__path__)
            if module.name not in _NO_MACHINES and not module.name.startswith("_")
        )
    )


def load(name: str) -> Machine:
    """A machine of the specification by name, or one of your own as `path.py:attribute` (`machine` if left out).

    Raises UnknownChoice where there is none, MalformedMachine where it was refused when it was defined.
    """
    if name in names():
        module = importlib.import_module(f"{__name__}.{name.replace('-', '_')}")
        return _machine_in(module, "machine", name)
    path, _, attribute = name.partition(":")
    if not path.endswith(".py"):
        raise UnknownChoice(f"there is no machine {name!r}; there are {', '.join(names())}, or give path.py:machine")
    return _machine_in(_run(Path(path)), attribute or "machine", path)


def _run(path: Path) -> ModuleType:
    if not path.is_file():
        raise UnknownChoice(f"{path}: no such file")
    spec = importlib.util.spec_from_file_location(f"_anchorhold_machine_{path.stem}", path)
    assert spec is not None, "a name that ends in .py always has a loader"
    assert spec.loader is not None, "a name that ends in .py always has a loader"
    module = importlib.util.module_from_spec(spec)
    # Registered while it runs, as for any module: dataclasses look their module up by name.
    sys.modules[spec.name] = module
    try:
        spec.loader.exec_module(module)
    except MalformedMachine:
        raise
    except Exception as problem:
        raise UnknownChoice(f"{path} cannot be run: {type(problem).__name__}: {problem}") from problem
    finally:
        del sys.modules[spec.name]
    return module


def _machine_in(module: ModuleType, attribute: str, where: str) -> Machine:
    machine = getattr(module, attribute, None)
    if not isinstance(machine, Machine):
        raise UnknownChoice(f"{where} has no machine called {attribute!r} (what MachineBuilder.build() gives)")
    return machine
