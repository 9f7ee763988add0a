"""How long the store has lived, as far as that is certain: what lifetimes are measured by (RET-4).

The clock on the wall jumps: it is set, or the store is read on another machine. Trusting it could end a life early.
So a store counts only time that certainly passed: from one look to the next, by a counter that the operating system
keeps from its start on and that nobody can set. Time in which the machine was off, or another one had the store, is
not counted. Lives get longer by that, and never shorter.
"""

import secrets
import time
from functools import cache
from pathlib import Path

from anchorhold_reference.ledger import Ledger

_BOOT = Path("/proc/sys/kernel/random/boot_id")
_PROCESS = secrets.token_hex(8)
"""Tells this process from others where the machine does not say when it was started."""


def uptime() -> tuple[str, float]:
    """This start of the machine and seconds since, sleep included; where the system does not tell, this process and
    its own counter."""
    boot = _boot()
    if boot is not None:
        return boot, time.clock_gettime(time.CLOCK_BOOTTIME)
    return _PROCESS, time.monotonic()


@cache
def _boot() -> str | None:
    """The mark of this start of the machine, which no process outlives; none where the system does not tell."""
    if not hasattr(time, "CLOCK_BOOTTIME") or not _BOOT.exists():
        return None
    return _BOOT.read_text(encoding="ascii").strip()


def advance(ledger: Ledger, now: tuple[str, float]) -> float:
    """The store's age in seconds, brought up to `now`. Inside a transaction."""
    boot, seen, elapsed = ledger.one("SELECT boot, seen, elapsed FROM age")
    if boot == now[0] and now[1] >= seen:
        elapsed += now[1] - seen
    ledger.run("UPDATE age SET boot = ?, seen = ?, elapsed = ?", (*now, elapsed))
    return float(elapsed)
