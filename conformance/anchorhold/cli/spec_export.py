"""`anchorhold spec export`: the specification for other people's tools and eyes."""

from __future__ import annotations

import importlib
import importlib.util
import inspect
from collections.abc import Mapping
from enum import StrEnum
from pathlib import Path
from typing import Annotated, NoReturn

import typer

from anchorhold_spec import machines as registry
from anchorhold_spec.language import Machine, MalformedMachine, UnknownChoice
from anchorhold_spec.publish import Checked, export_markdown, export_murphi, export_tla, fill, sections

ADEQUACY = Path("tests/adequacy/catalogue.py")
"""Where this repository lists the wrong compactors; they are not part of the installed package."""


class Form(StrEnum):
    """What to export as."""

    TLA = "tla"
    MURPHI = "murphi"
    MARKDOWN = "markdown"
    README = "readme"


def export(
    form: Annotated[
        Form,
        typer.Argument(
            help="tla: modules and configurations for TLC. murphi: models for rumur. markdown: pages for reviewers. "
            "readme: write the generated parts of spec/README.md again."
        ),
    ],
    machines: Annotated[
        list[str] | None,
        typer.Argument(metavar="[MACHINE]...", help="Names, or path.py:machine. All machines if none is given."),
    ] = None,
    *,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", metavar="DIR", help="Folder to write to (readme: the file). Default: ./FORM."),
    ] = None,
    size: Annotated[
        str | None,
        typer.Option(metavar="NAME=N,…", help="Sizes of the finite instance, as in spans=2,keys=1 (tla, murphi)."),
    ] = None,
    switch: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME=VALUE", help="A variant of the design (tla, murphi); repeatable."),
    ] = None,
    symmetry: Annotated[bool, typer.Option(help="Declare interchangeable sorts to TLC (tla).")] = False,
    adequacy: Annotated[
        Path, typer.Option(metavar="FILE", help="The list of wrong compactors, where there is one.")
    ] = ADEQUACY,
) -> None:
    """Export machines as TLA+, as Murphi or as Markdown, one finite instance each where the form is finite.

    `tla` writes NAME.tla, MCNAME.tla and MCNAME.cfg: java -cp tla2tools.jar tlc2.TLC -deadlock MCNAME.
    `murphi` writes NAME.m: rumur --deadlock-detection off --output NAME.c NAME.m.
    """
    names = machines or list(registry.names())
    try:
        found = [registry.load(name) for name in names]
        texts = _texts(form, found, _pairs(size), _pairs(",".join(switch or ())), symmetry, adequacy, output)
    except (UnknownChoice, MalformedMachine, ValueError) as problem:
        _refuse(str(problem))
    folder = Path(form) if output is None else output
    if form is Form.README:
        folder = (output or Path("spec/README.md")).parent
    try:
        for name, text in texts.items():
            where = folder / name
            where.parent.mkdir(parents=True, exist_ok=True)
            where.write_text(text, encoding="utf-8")
            typer.echo(str(where))
    except OSError as problem:
        _refuse(f"it cannot be written: {problem}")


def _texts(
    form: Form,
    found: list[Machine],
    sizes: Mapping[str, str],
    switches: Mapping[str, str],
    symmetry: bool,
    adequacy: Path,
    output: Path | None,
) -> dict[str, str]:
    match form:
        case Form.TLA:
            texts: dict[str, str] = {}
            for machine in found:
                export = export_tla(machine, sizes=_numbers(sizes), switches=switches, symmetry=symmetry)
                texts |= export.files()
            return texts
        case Form.MURPHI:
            return {
                f"{machine.name}.m": export_murphi(machine, sizes=_numbers(sizes), switches=switches)
                for machine in found
            }
        case Form.MARKDOWN:
            return export_markdown(found, checked(adequacy), prose=_prose())
        case Form.README:
            readme = output or Path("spec/README.md")
            if not readme.is_file():
                raise ValueError(f"{readme}: no such file; run this at the root of the repository, or give -o FILE")
            return {readme.name: fill(readme.read_text(encoding="utf-8"), sections(found, checked(adequacy)))}


def checked(adequacy: Path) -> Checked:
    """What this package checks, and the wrong compactors of the list in `adequacy`, if there is one."""
    from anchorhold.adequacy.catalogue import read_catalogue
    from anchorhold.checkers import CHECKERS

    checkers: dict[str, str] = {}
    for checker in CHECKERS:
        # The function that goes through the history tells which module to read.
        module = inspect.getmodule(getattr(checker, "examine", checker.judge))
        checkers[checker.rule] = f"`checkers/{(module.__name__ if module else '').rpartition('.')[2]}`"
    wrong: dict[str, tuple[str, ...]] = {}
    if adequacy.is_file():
        for kind, rule in read_catalogue(adequacy).wrong:
            wrong[rule] = (*wrong.get(rule, ()), kind.__name__)
    return Checked(checkers=checkers, wrong=wrong)


def _prose() -> dict[str, str]:
    """What the modules of the machines say of them: assumptions and abstractions."""
    found: dict[str, str] = {}
    for name in registry.names():
        module = importlib.import_module(f"{registry.__name__}.{name.replace('-', '_')}")
        found[name] = inspect.getdoc(module) or ""
    return found


def _pairs(text: str | None) -> dict[str, str]:
    pairs: dict[str, str] = {}
    for part in filter(None, (text or "").split(",")):
        name, equals, value = part.partition("=")
        if not equals or not name or not value:
            raise UnknownChoice(f"{part!r} is not NAME=VALUE")
        pairs[name.strip()] = value.strip()
    return pairs


def _numbers(sizes: Mapping[str, str]) -> dict[str, int]:
    try:
        return {name: int(size) for name, size in sizes.items()}
    except ValueError:
        raise UnknownChoice(f"sizes are whole numbers, as in spans=2, not {', '.join(sizes.values())}") from None


def _refuse(message: str) -> NoReturn:
    typer.echo(f"anchorhold spec export: {message}", err=True)
    raise typer.Exit(2)
