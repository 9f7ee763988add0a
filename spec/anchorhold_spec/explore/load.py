"""Generated code as modules: kept in a cache directory, so that what was compiled once is not compiled again."""

from __future__ import annotations

import hashlib
import importlib.util
import os
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

from anchorhold_spec.explore.emit import connected
from anchorhold_spec.explore.generate import Source, template
from anchorhold_spec.explore.jit import compiling, plain

CACHE_VARIABLE = "ANCHORHOLD_CACHE_DIR"
"""Environment variable that says where compiled code is kept, in place of the user's cache directory."""

INLINE = 2
"""Up to so many words hash tables hold the states themselves; above, their row numbers."""


def cache_directory() -> Path:
    """Where generated modules and their compiled code are kept."""
    if given := os.environ.get(CACHE_VARIABLE):
        return Path(given) / "explore"
    from platformdirs import user_cache_path

    return Path(user_cache_path("anchorhold")) / "explore"


def load_plain(source: Source) -> ModuleType:
    """The code, not compiled: for debugging, and where there is no compiler. The loops over arrays are left out."""
    return load_text(source.text, source.machine.name)


def load_text(text: str, name: str) -> ModuleType:
    """Generated text as a module, not compiled. `name` is for messages."""
    module = ModuleType("anchorhold_explored_plain")
    vars(module).update(jit=plain, inner=plain, constant=tuple)
    text = connected(text, branching=True)
    exec(compile(text, f"<{name}>", "exec"), vars(module))  # noqa: S102 - own text
    return module


def load_compiled(source: Source, directory: Path | None = None) -> tuple[ModuleType, ModuleType]:
    """The machine's module and that of the tables for states of as many words. Raises ImportError without numba."""
    directory = cache_directory() if directory is None else directory
    header = [
        "import numpy as np",
        "from anchorhold_spec.explore.jit import compiling, inlining",
        "",
        "jit = compiling()",
        "inner = inlining()",
        "",
        "",
        "def constant(values):",
        "    return np.array(values, dtype=np.int64)",
        "",
        "",
    ]
    words = source.layout.words
    storage = _module(
        "tables",
        "\n".join(
            [
                *header,
                "from anchorhold_spec.explore.prefetch import prefetch",
                f"WORDS = {words}",
                template("storage_kernels"),
                template("inline_kernels" if words <= INLINE else "indexed_kernels"),
            ]
        ),
        directory,
    )
    imports = "\n".join(
        [
            f"from {storage.__name__} import find, mix, region",
            "from anchorhold_spec.explore.prefetch import prefetch",
        ]
    )
    own = connected(source.text, branching=False)
    text = "\n".join([*header, imports, own, template("machine_kernels")])
    return _module("machine", text, directory), storage


def _module(kind: str, text: str, directory: Path) -> ModuleType:
    compiling()
    import llvmlite
    import numba
    import numpy as np

    # The compiler checks that a module's file is unchanged, not that what it calls in another one is.
    text = _hide_annotations(text)
    seal = "\0".join([text, sys.version, numba.__version__, llvmlite.__version__, np.__version__])
    name = f"anchorhold_{kind}_{hashlib.sha256(seal.encode()).hexdigest()[:24]}"
    if name in sys.modules:
        return sys.modules[name]
    directory.mkdir(parents=True, exist_ok=True)
    path = directory / f"{name}.py"
    if not path.exists():
        # Others may be writing the same file: each writes its own, and the last rename wins with the same text.
        draft = directory / f"{name}.{os.getpid()}.tmp"
        draft.write_text(text, encoding="utf-8")
        draft.replace(path)
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None, "a .py file has a loader"
    assert spec.loader is not None, "a .py file has a loader"
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[name]
        raise
    return module


def _hide_annotations(text: str) -> str:
    """Annotations are for readers of the templates; `Any` is not defined in a generated module."""
    return "from __future__ import annotations\n" + text


def forget(module: Any) -> None:
    """Takes a generated module out of the interpreter's list (tests make many)."""
    sys.modules.pop(module.__name__, None)
