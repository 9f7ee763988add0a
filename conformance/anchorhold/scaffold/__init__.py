"""What `anchorhold init` writes: templates, and how they are filled in."""

import json
import shlex
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from importlib.resources import files
from pathlib import Path
from types import MappingProxyType
from typing import Final


class Language(StrEnum):
    """What adapter and test are written in."""

    PYTHON = "python"
    TYPESCRIPT = "typescript"


@dataclass(frozen=True, slots=True, kw_only=True)
class Scaffold:
    """How a project of one language begins."""

    target: str
    """What the test checks where no compactor was named: the example of the template."""
    program: str
    """The same as a program of its own, which can be killed: what `anchorhold check` is given."""
    mechanisms: tuple[str, ...]
    """What the example has."""
    adapter: Mapping[str, str]
    """Templates of the adapter with the example, by the path to write: left out where a compactor was named."""
    others: Mapping[str, str]
    """The other templates, by the path to write."""
    copied: Mapping[str, str]
    """What is copied as it is, beside the adapter: files of the package's `adapters`, by the path to write."""
    setup: str
    """Steps of the CI workflow before the check, as YAML."""


SHARED: Final[Mapping[str, str]] = {
    "claims.toml": "shared/claims.toml.tmpl",
    "expectations.toml": "shared/expectations.toml.tmpl",
    ".github/workflows/anchorhold.yml": "shared/anchorhold.yml.tmpl",
}
SCAFFOLDS: Final[Mapping[Language, Scaffold]] = MappingProxyType(
    {
        Language.PYTHON: Scaffold(
            target="adapter.py:Adapter",
            program="cmd:python3 adapter.py",
            mechanisms=("summariser", "pointers", "retrieval"),
            adapter={"adapter.py": "python/adapter.py.tmpl"},
            others={"test_compaction.py": "python/test_compaction.py.tmpl", **SHARED},
            copied={},
            setup="      - run: pip install 'anchorhold[pytest]'\n      - run: pytest -q test_compaction.py",
        ),
        # Node takes a file of this name for a module, whatever package.json is beside it.
        Language.TYPESCRIPT: Scaffold(
            target="cmd:node adapter.mts",
            program="cmd:node adapter.mts",
            mechanisms=("summariser", "pointers", "retrieval"),
            adapter={"adapter.mts": "typescript/adapter.mts.tmpl"},
            others={"compaction.test.mts": "typescript/compaction.test.mts.tmpl", **SHARED},
            copied={"anchorhold_sdk.mts": "anchorhold_sdk.ts"},
            setup=(
                '      - uses: actions/setup-node@v4\n        with:\n          node-version: "24"\n'
                "      - run: pip install anchorhold\n      - run: node --test compaction.test.mts"
            ),
        ),
    }
)
"""A further language is a folder of templates and an entry here."""


def written(language: Language, target: str | None) -> dict[str, str]:
    """The files of a scaffold: relative path and text.

    `target`: a compactor that is there already, as `anchorhold check` takes it; without one there is an example.
    """
    scaffold = SCAFFOLDS[language]
    templates = {**(scaffold.adapter if target is None else {}), **scaffold.others}
    named = target or scaffold.target
    values = {
        "TARGET": json.dumps(named, ensure_ascii=False),
        "SHELL": shlex.quote(target or scaffold.program),
        "MECHANISMS": json.dumps(scaffold.mechanisms if target is None else ()),
        "SETUP": scaffold.setup,
    }
    texts = {path: _filled(template, values) for path, template in templates.items()}
    if target is None:
        adapters = files("anchorhold.adapters")
        texts |= {path: adapters.joinpath(name).read_text("utf-8") for path, name in scaffold.copied.items()}
    return texts


def write(directory: Path, texts: Mapping[str, str], *, told: Callable[[Path], None]) -> None:
    """Write the files; nothing is written where one of them is there already.

    Raises FileExistsError, naming every file that is, and OSError where something cannot be written.
    """
    paths = {directory / path: text for path, text in texts.items()}
    there = [path for path in paths if path.exists() or path.is_symlink()]
    if there:
        raise FileExistsError(", ".join(map(str, there)))
    for path, text in paths.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        # Exclusive: what somebody else made meanwhile is not overwritten either.
        with path.open("x", encoding="utf-8") as file:
            file.write(text)
        told(path)


def _filled(template: str, values: Mapping[str, str]) -> str:
    text = files(__package__).joinpath(template).read_text(encoding="utf-8")
    for name, value in values.items():
        text = text.replace(f"<<{name}>>", value)
    return text
