"""`anchorhold init`: begin a project that is checked."""

import shlex
from pathlib import Path
from typing import Annotated

import typer

from anchorhold import scaffold
from anchorhold.cli.places import usage


def init(
    compactor: Annotated[
        str | None,
        typer.Argument(
            metavar="[COMPACTOR]",
            help="One that is there already, as in `anchorhold check`; without it, an example is written.",
        ),
    ] = None,
    *,
    directory: Annotated[
        Path,
        typer.Option("--into", metavar="DIR", file_okay=False, help="Where to write; made where it is not there."),
    ] = Path(),
    language: Annotated[
        scaffold.Language, typer.Option(help="What adapter and test are written in.")
    ] = scaffold.Language.PYTHON,
) -> None:
    """Write an adapter, a claims file, an expectations file, a test and a CI workflow, for Python or TypeScript.

    No file is ever overwritten: where one of them is there already, nothing is written, and it ends with 2.
    """
    example = scaffold.SCAFFOLDS[language]
    named = compactor or example.target
    try:
        texts = scaffold.written(language, compactor)
        scaffold.write(directory, texts, told=lambda path: typer.echo(f"wrote {path}"))
    except FileExistsError as error:
        usage(f"nothing is overwritten, and so no more was written: there is {error}")
    except OSError as error:
        usage(f"cannot write: {error}")
    where = "" if directory == Path() else f"cd {shlex.quote(str(directory))} && "
    typer.echo(f"next: {where}anchorhold check {shlex.quote(named)} --effort quick --claims claims.toml")
    if named == example.target != example.program:
        typer.echo(f"and, where it can be killed as well: {where}anchorhold check {shlex.quote(example.program)}")
