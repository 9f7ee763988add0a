"""A catalogue of compactors that are known to be wrong, or right: a Python file that says which.

    WRONG           pairs of a class and a rule that it breaks; a class stands once for each of its rules
    RIGHT, HONEST   classes that are blamed for nothing: the plain designs, and those of a wrong one's shape
    SHIPPED         optional: right ones that tests of their own look after, and that are checked here as well
    BY_DESIGN       optional: class → rule → why; what a right one breaks by being what it is
    ARCHITECTURES   optional: class → text; what those that are made from it are built as
    BLIND           optional: the wrong ones whose author had not seen the checkers when they were written

The classes are what `anchorhold check` takes. A vendor's own catalogue may be one of their compactor's past faults.
"""

import importlib.util
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any


class CatalogueError(Exception):
    """A file is no catalogue; the text says what is wrong with it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Catalogue:
    """What a file lists."""

    wrong: tuple[tuple[type[Any], str], ...]
    right: tuple[type[Any], ...]
    by_design: Mapping[type[Any], Mapping[str, str]]
    architectures: Mapping[type[Any], str]
    blind: frozenset[type[Any]] = frozenset()

    @property
    def defects(self) -> Mapping[type[Any], tuple[str, ...]]:
        """Each wrong compactor with the rules that it breaks, in the order of the file."""
        found: dict[type[Any], tuple[str, ...]] = {}
        for kind, rule in self.wrong:
            found[kind] = (*found.get(kind, ()), rule)
        return found

    def allowed(self, kind: type[Any]) -> frozenset[str]:
        """The rules that a right compactor breaks by design; those of the classes that it is made from count."""
        return frozenset(next((self.by_design[base] for base in kind.__mro__ if base in self.by_design), ()))

    def architecture(self, kind: type[Any]) -> str:
        """What a compactor is built as; the name of the class that it is made from, where the file says nothing."""
        named = next((self.architectures[base] for base in kind.__mro__ if base in self.architectures), None)
        return named or kind.__mro__[-2].__name__


def read_catalogue(path: Path) -> Catalogue:
    """What a file lists. Raises CatalogueError, and what the file itself raises where it cannot be run."""
    if not path.is_file():
        raise CatalogueError(f"there is no catalogue of wrong compactors at {path}")
    with _importing_from(path.parent):
        spec = importlib.util.spec_from_file_location(_name(path), path)
        if spec is None or spec.loader is None:
            raise CatalogueError(f"{path} is no Python file")
        module = importlib.util.module_from_spec(spec)
        # Dataclasses look their module up by name while it runs, and classes are found again by it.
        sys.modules[spec.name] = module
        spec.loader.exec_module(module)
    wrong: Sequence[tuple[type[Any], str]] = getattr(module, "WRONG", ())
    right = (*getattr(module, "RIGHT", ()), *getattr(module, "HONEST", ()), *getattr(module, "SHIPPED", ()))
    if not wrong and not right:
        raise CatalogueError(f"{path} lists no compactors: it has neither WRONG nor RIGHT")
    for kind in (*(kind for kind, _ in wrong), *right):
        if not isinstance(kind, type):
            raise CatalogueError(f"{path} lists {kind!r}, which is no class")
    blind = getattr(module, "BLIND", ())
    if stray := set(blind) - {kind for kind, _ in wrong}:
        raise CatalogueError(f"{path} calls {min(kind.__name__ for kind in stray)} blind, which is not in its WRONG")
    return Catalogue(
        wrong=tuple((kind, rule) for kind, rule in wrong),
        right=tuple(dict.fromkeys(right)),
        by_design=getattr(module, "BY_DESIGN", {}),
        architectures=getattr(module, "ARCHITECTURES", {}),
        blind=frozenset(blind),
    )


def _name(path: Path) -> str:
    """Such that two catalogues do not take each other's place."""
    return f"_anchorhold_catalogue_{path.resolve().as_posix().encode().hex()[-40:]}"


@contextmanager
def _importing_from(folder: Path) -> Iterator[None]:
    sys.path.insert(0, str(folder.resolve()))
    try:
        yield
    finally:
        sys.path.remove(str(folder.resolve()))
