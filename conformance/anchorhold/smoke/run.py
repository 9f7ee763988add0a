"""Runs the probes one after another."""

import contextlib
from collections.abc import Callable, Mapping
from importlib import metadata
from typing import Final

from anchorhold.errors import AdapterError, Fault
from anchorhold.load import Launch, launch_of
from anchorhold.smoke.adapter import Adapter, ProbeEnded
from anchorhold.smoke.finding import Smoked
from anchorhold.smoke.probes import (
    concurrency,
    described,
    handshake,
    models,
    operations,
    restarts,
    sessions,
    stopping,
)
from anchorhold.smoke.stream import malformed, sizes, text
from anchorhold.wire.process import Limits

PROBES: Final[Mapping[str, Callable[[Adapter], None]]] = {
    "handshake": handshake,
    "description": described,
    "operations": operations,
    "models": models,
    "sessions": sessions,
    "malformed": malformed,
    "text": text,
    "sizes": sizes,
    "concurrency": concurrency,
    "restarts": restarts,
    "stopping": stopping,
}
"""Each probe by its name, in the order in which they run."""


def smoke(target: str, *, seconds: float = 10.0, launch: Launch | None = None) -> Smoked:
    """Try the adapter behind a target. `seconds` is what one answer may take.

    Raises AdapterError where there is no such adapter, where it is a class, or where its program cannot be started:
    then there is nothing to say about it.
    """
    how = launch or launch_of(target)
    limits = Limits(start=how.start or max(60.0, seconds), call=seconds, stop=min(3.0, seconds))
    adapter = Adapter(name=target, launch=how, limits=limits, version=metadata.version("anchorhold"))
    ran = []
    for name, probe in PROBES.items():
        adapter.probe, adapter.hangs = name, 0
        try:
            probe(adapter)
        except ProbeEnded:
            pass
        except AdapterError as error:
            if error.code is Fault.START:
                raise
            with contextlib.suppress(ProbeEnded):
                adapter.failed(name, error)
        else:
            ran.append(name)
        # Without an answer to `initialize` every other probe would say the same again.
        if adapter.description is None:
            break
    adapter.sum_up()
    description = adapter.description
    return Smoked(
        adapter=target,
        compactor=None if description is None else f"{description.name} {description.version}",
        operations=tuple(sorted(adapter.asked)),
        probes=tuple(ran),
        findings=tuple(adapter.findings),
        notes=tuple(adapter.notes),
    )
