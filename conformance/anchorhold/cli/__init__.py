"""The command `anchorhold`.

Each sub-command lives in a module of its own, which is imported only when that sub-command is run: asking for help
must not wait for a solver or a compactor.
"""

import errno
import importlib
import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import typer

INTERRUPTED = 130
"""Exit status after an interrupt, as shells have it."""
CANNOT_WRITE = (errno.ENOSPC, errno.EDQUOT, errno.EIO, errno.EFBIG)
"""Errors of a full or broken disk behind standard output."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Command:
    """A sub-command and where it lives."""

    name: str
    module: str
    attribute: str
    """A function, or a typer application of further sub-commands."""
    help: str


COMMANDS = (
    _Command(
        name="check",
        module="anchorhold.cli.check",
        attribute="check",
        help="Check a compactor: which rules it holds, and to which level.",
    ),
    _Command(
        name="audit",
        module="anchorhold.cli.audit",
        attribute="audit",
        help="Audit transcripts: what their compactions lost, made up, and made the agent need.",
    ),
    _Command(
        name="replay",
        module="anchorhold.cli.replay",
        attribute="replay",
        help="Play a history again, and see whether its rule breaks again.",
    ),
    _Command(
        name="verify",
        module="anchorhold.cli.verify",
        attribute="verify",
        help="Judge recorded histories, from a run or from production.",
    ),
    _Command(
        name="diff",
        module="anchorhold.cli.diff",
        attribute="diff",
        help="Compare two results: which rules got worse, better, undecided or new.",
    ),
    _Command(
        name="init",
        module="anchorhold.cli.init",
        attribute="init",
        help="Begin: an adapter, a claims file, a test and a CI workflow.",
    ),
    _Command(
        name="replay-corpus",
        module="anchorhold.cli.replay_corpus",
        attribute="replay_corpus",
        help="Replay real transcripts through the reference: what is lost, and what it costs.",
    ),
    _Command(
        name="smoke",
        module="anchorhold.cli.smoke",
        attribute="smoke",
        help="Try an adapter itself: does it speak the wire protocol, whatever its compactor does?",
    ),
    _Command(
        name="model-server",
        module="anchorhold.cli.model_server",
        attribute="model_server",
        help="Serve a model whose every answer is scripted, for agents whose base URL can be set.",
    ),
    _Command(
        name="adequacy",
        module="anchorhold.cli.adequacy",
        attribute="adequacy",
        help="Check the suite itself, on compactors that are known to be wrong, or right.",
    ),
    _Command(
        name="compactors",
        module="anchorhold.cli.compactors",
        attribute="compactors",
        help="List the compactors that `anchorhold check NAME` knows.",
    ),
    _Command(
        name="spec",
        module="anchorhold.cli.spec",
        attribute="app",
        help="Read the rules: what a transcript compactor must hold.",
    ),
    _Command(
        name="prove",
        module="anchorhold.cli.prove",
        attribute="prove",
        help="Prove the machines of the specification, for any size.",
    ),
    _Command(
        name="explore",
        module="anchorhold.cli.explore",
        attribute="explore",
        help="Explore every interleaving of a machine; compute the decision tables.",
    ),
    _Command(
        name="simulate",
        module="anchorhold.cli.simulate",
        attribute="app",
        help="Simulate how often a race loses what a design promises to keep.",
    ),
)


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command; ends with `SystemExit`.

    Called for the console (without arguments), what plays a compactor runs under `supervised`.
    """
    given = list(sys.argv[1:] if arguments is None else arguments)
    if arguments is None and given[:1] in (["check"], ["replay"]) and hasattr(os, "fork"):
        from anchorhold.cli.supervise import supervised

        raise SystemExit(supervised(lambda: _status(given)))
    raise SystemExit(_status(given))


def _status(given: Sequence[str]) -> int:
    """Run the command and answer with its exit status."""
    try:
        try:
            application(given)(args=list(given), prog_name="anchorhold", standalone_mode=True)
        finally:
            sys.stdout.flush()
    except SystemExit as ended:
        # An interrupt ends typer without a word.
        if ended.code == INTERRUPTED:
            typer.echo("anchorhold: interrupted", err=True)
        return ended.code if isinstance(ended.code, int) else 0 if ended.code is None else 1
    except BrokenPipeError:
        # Whoever read the output has gone, as after `| head`.
        _discard_output()
        return 1
    except OSError as error:
        if error.errno not in CANNOT_WRITE:
            raise
        # A full disk says nothing of a compactor: its status must not read as a verdict.
        _discard_output()
        sys.stderr.write(f"anchorhold: the output could not be written: {error.strerror}\n")
        return 2
    return 0


def _discard_output() -> None:
    """Let nothing more be written: Python would complain once more when it flushes at the end."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def application(arguments: Sequence[str]) -> typer.Typer:
    """The command line, with the sub-command that the arguments name imported and the others only named."""
    app = typer.Typer(
        name="anchorhold",
        help="Checks that what an agent may still need has not silently come loose when its transcript is compacted.",
        no_args_is_help=True,
        # Plain help: rich's takes longer to import than everything else together.
        rich_markup_mode=None,
        pretty_exceptions_enable=False,
    )
    app.callback()(_options)
    named = next((argument for argument in arguments if not argument.startswith("-")), None)
    completing = "_ANCHORHOLD_COMPLETE" in os.environ
    for command in COMMANDS:
        if command.name == named or completing:
            found = getattr(importlib.import_module(command.module), command.attribute)
            if isinstance(found, typer.Typer):
                app.add_typer(found, name=command.name, help=command.help)
            else:
                app.command(command.name)(found)
        else:
            app.command(command.name, help=command.help)(_elsewhere)
    return app


def _options(
    version: bool = typer.Option(
        False, "--version", help="Print the version and exit.", is_eager=True, callback=lambda v: _version(v)
    ),
) -> None:
    pass


def _version(wanted: Any) -> None:
    if wanted:
        from importlib.metadata import version

        typer.echo(f"anchorhold {version('anchorhold')}")
        raise typer.Exit


def _elsewhere() -> None:
    """Stand in for a sub-command that was not asked for."""
    raise AssertionError("only the sub-command that is named is run, and that one was imported")
