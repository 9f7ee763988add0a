"""`anchorhold spec export`: the specification for other people's tools and eyes."""

from __future__ import annotations

import importlib
import importlib.util
import inspect
from collections.abc import Iterable, Mapping
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NoReturn

import typer

from anchorhold.cli.pairs import pairs

if TYPE_CHECKING:
    from anchorhold_spec.language import Machine
    from anchorhold_spec.publish.coverage import Checked

ADEQUACY = Path("tests/adequacy/catalogue.py")
"""Where this repository lists the wrong compactors; they are not part of the installed package."""


class Form(StrEnum):
    """What to export as."""

    TLA = "tla"
    MURPHI = "murphi"
    MARKDOWN = "markdown"
    README = "readme"
    SCHEMAS = "schemas"


def export(
    form: Annotated[
        str,
        typer.Argument(
            metavar="FORM",
            help="tla: modules and configurations for TLC. murphi: models for rumur. markdown: pages for reviewers. "
            "readme: write the generated parts of spec/README.md again. schemas: the JSON Schemas of the wire "
            "protocol, of histories and of workloads.",
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
    `schemas` writes the JSON Schemas, wire.schema.json among them, and is about no machine.
    """
    # `spec` has other sub-commands, which must not wait for what only this one needs.
    from anchorhold_spec import machines as registry
    from anchorhold_spec.language import MalformedMachine, UnknownChoice

    wanted = _form(form)
    names = machines or list(registry.names())
    try:
        found = [registry.load(name) for name in names]
        sizes = _pairs([size] if size else [], "--size")
        texts = _texts(wanted, found, sizes, _pairs(switch, "--switch"), symmetry, adequacy, output)
    except (UnknownChoice, MalformedMachine, ValueError) as problem:
        _refuse(str(problem))
    folder = Path(wanted) if output is None else output
    if wanted is Form.README:
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
    from anchorhold_spec.publish.markdown import export_markdown
    from anchorhold_spec.publish.matrix import fill, sections
    from anchorhold_spec.publish.murphi import export_murphi
    from anchorhold_spec.publish.tla import export_tla

    match form:
        case Form.SCHEMAS:
            from anchorhold.wire.schemas import documents

            return documents()
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
            if importlib.util.find_spec("z3") is None:
                raise ValueError("what the guards are for is proved with Z3: pip install 'anchorhold[prove]'")
            generated = {**sections(found, checked(adequacy)), "guards": tagged_guards(found)}
            return {readme.name: fill(readme.read_text(encoding="utf-8"), generated)}


def tagged_guards(machines: Iterable[Machine]) -> str:
    """The table of the guards that no rule needs, as `prove` sees them now."""
    from anchorhold_spec.prove import verify_proofs
    from anchorhold_spec.publish.guards import guards_table

    return guards_table(guard for machine in machines for guard in verify_proofs(machine).guards)


def checked(adequacy: Path) -> Checked:
    """What this package checks, and the wrong compactors of the list in `adequacy`, if there is one."""
    from anchorhold.adequacy.catalogue import read_catalogue
    from anchorhold.checkers import CHECKERS
    from anchorhold_spec.publish.coverage import Checked

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
    from anchorhold_spec import machines as registry

    found: dict[str, str] = {}
    for name in registry.names():
        module = importlib.import_module(f"{registry.__name__}.{name.replace('-', '_')}")
        found[name] = inspect.getdoc(module) or ""
    return found


def _pairs(given: list[str] | None, option: str) -> dict[str, str]:
    def refuse(message: str) -> NoReturn:
        raise ValueError(message)

    return dict(pairs(given, option, refuse=refuse))


def _numbers(sizes: Mapping[str, str]) -> dict[str, int]:
    try:
        return {name: int(size) for name, size in sizes.items()}
    except ValueError:
        raise ValueError(f"sizes are whole numbers, as in spans=2, not {', '.join(sizes.values())}") from None


def _form(text: str) -> Form:
    try:
        return Form(text)
    except ValueError:
        return _refuse(f"FORM is one of {', '.join(Form)}, not {text!r}")


def _refuse(message: str) -> NoReturn:
    typer.echo(f"anchorhold spec export: {message}", err=True)
    raise typer.Exit(2)
