"""The adapters that ship with the suite, found in their folder.

One that is a program says everything of itself in its own file: the inline metadata of PEP 723 pins the distribution
first among its dependencies, and the first line of its docstring says what it is. A table `[tool.anchorhold]` in the
metadata may give `distribution` and `summary` in their place.
"""

import ast
import re
import tomllib
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path

from anchorhold.errors import AdapterError, Fault

_FOLDER = Path(__file__).parent / "adapters"
_SUFFIX = "_adapter.py"
_BLOCK = re.compile(r"(?m)^# /// script$\s(?P<content>(^#(| .*)$\s)+)^# ///$")
"""As PEP 723 gives it."""
_PIN = re.compile(r"^(?P<name>[A-Za-z0-9][A-Za-z0-9._-]*)(\[[^\]]*\])?\s*==\s*(?P<version>[^\s;,*]+)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Shipped:
    """An adapter that ships."""

    name: str
    """What `anchorhold check` is given."""
    distribution: str
    version: str
    """The version that is checked; pinned."""
    summary: str
    """One line."""
    program: Path | None
    """The file that uv runs in an environment of its own; none where it is a class of this process."""


def shipped(folder: Path = _FOLDER) -> list[Shipped]:
    """Every shipped adapter, the reference first, then by name. Raises AdapterError for a file without its pin."""
    reference = Shipped(
        name="reference",
        distribution="anchorhold",
        version=metadata.version("anchorhold"),
        summary="The reference compactor, on SQLite.",
        program=None,
    )
    return [reference, *(_read(path) for path in sorted(folder.glob(f"*{_SUFFIX}")))]


def _read(path: Path) -> Shipped:
    source = path.read_text(encoding="utf-8")
    name = path.name.removesuffix(_SUFFIX).replace("_", "-")
    block = _BLOCK.search(source)
    if block is None:
        raise _unfit(name, path, "it has no inline script metadata")
    lines = (line[2:] if line.startswith("# ") else line[1:] for line in block["content"].splitlines())
    try:
        script = tomllib.loads("\n".join(lines))
    except tomllib.TOMLDecodeError as error:
        raise _unfit(name, path, f"its script metadata is no TOML: {error}") from None
    own = script.get("tool", {}).get("anchorhold", {})
    pins = {m["name"]: m["version"] for d in script.get("dependencies", ()) if (m := _PIN.match(d))}
    distribution = own.get("distribution") or next(iter(pins), None)
    if distribution not in pins:
        raise _unfit(name, path, "it does not pin the distribution that it drives")
    docstring = ast.get_docstring(ast.parse(source)) or ""
    summary = own.get("summary") or docstring.partition("\n")[0]
    return Shipped(name=name, distribution=distribution, version=pins[distribution], summary=summary, program=path)


def _unfit(name: str, path: Path, cause: str) -> AdapterError:
    hint = f"mend the head of {path.name}: a PEP 723 block whose first dependency is pinned with =="
    return AdapterError(f"shipped adapter {name!r} cannot be read", code=Fault.IMPORT, cause=cause, hint=hint)
