"""`anchorhold model-server`: a model whose every answer is scripted, over HTTP on loopback."""

import asyncio
import contextlib
import importlib.util
import signal
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, BinaryIO, NoReturn

import typer

from anchorhold.level import ExitStatus

if TYPE_CHECKING:
    from anchorhold.model_server import Record, Script


def model_server(
    script: Annotated[
        str,
        typer.Argument(
            metavar="[SCRIPT]",
            help="A mode (faithful, paraphrase, drop, invent, flip, number, echo, same, empty, blank, truncated, "
            "refusal, tool-call, error-text, fail, time-out, hang, overloaded, …), or a JSON file with a script "
            "(conformance/README.md has the form).",
            show_default=True,
        ),
    ] = "faithful",
    *,
    port: Annotated[
        int, typer.Option(metavar="N", min=0, max=65535, help="The port to listen on; 0: one that is free.")
    ] = 0,
    record: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            dir_okay=False,
            help="Write what the model was shown and what it answered into this file, a JSON object a line.",
        ),
    ] = None,
) -> None:
    """Serve a model whose every answer is scripted, for agents whose base URL can be set.

    It speaks OpenAI chat completions and responses and Anthropic messages, streaming and not, on loopback only. Its
    URL is the one line on standard output: OPENAI_BASE_URL is URL/v1, ANTHROPIC_BASE_URL is URL. Ends with 0 when it
    is interrupted or terminated, with 2 where it cannot serve.
    """
    if importlib.util.find_spec("aiohttp") is None:
        _stop("model-server needs aiohttp: pip install 'anchorhold[model-server]'")
    from anchorhold.model_server import Script, ScriptError

    try:
        told = Script.load(script)
    except ScriptError as error:
        _stop(str(error))
    with contextlib.ExitStack() as stack:
        try:
            kept = None if record is None else stack.enter_context(record.open("wb", buffering=0))
        except OSError as error:
            _stop(f"cannot write {record}: {error.strerror}")
        try:
            asyncio.run(_serve(told, port=port, kept=kept))
        except OSError as error:
            _stop(f"cannot serve on port {port}: {error.strerror or error}")


async def _serve(script: "Script", *, port: int, kept: BinaryIO | None) -> None:
    from anchorhold.model_server.server import ModelServer, encode

    def told(record: "Record") -> None:
        if kept is not None:
            kept.write(encode(record))

    ended = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        # Where loops take no signals (Windows), an interrupt ends it as it ends any program.
        with contextlib.suppress(NotImplementedError):
            loop.add_signal_handler(number, ended.set)
    server = ModelServer(script, told=told)
    url = await server.start(port=port)
    try:
        typer.echo(url)
        await ended.wait()
    finally:
        await server.stop()


def _stop(message: str) -> NoReturn:
    typer.echo(f"anchorhold: {message}", err=True)
    raise typer.Exit(ExitStatus.ERROR)
