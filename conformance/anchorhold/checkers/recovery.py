"""What was stopped and could never be opened again: there is no state of it, neither the old one nor the new."""

from collections.abc import Iterator

from anchorhold.checkers.reading import Reading
from anchorhold.checkers.record import Operation

STOPS = {"lose_power": "Power was lost", "kill": "The process was killed"}
"""Operations that stop the process between two others, each in words."""


def named(stopped: Operation) -> str:
    """Such an operation as what a failure is about."""
    return f"{'loss of power' if stopped.op == 'lose_power' else 'kill'} at {stopped.start}"


def unopened(reading: Reading) -> Iterator[tuple[Operation, Operation]]:
    """Each operation that stopped the process, or armed what did, with the opening that failed.

    Only where nothing of a session was ever seen again: what opens at a second attempt is judged by what it shows.
    """
    seen = max((look.start for look in reading.observations if look.live is not None), default=0)
    armed: Operation | None = None
    stopped: Operation | None = None
    for operation in reading.operations:
        if operation.op == "crash":
            armed = operation if operation.ok else None
        elif operation.op == "compact" and armed is not None:
            stopped, armed = (None if operation.ok else armed), None
        elif operation.op in STOPS and operation.ok:
            stopped = operation
        elif operation.op == "reopen" and stopped is not None:
            if not operation.ok and seen < operation.end:
                yield stopped, operation
            stopped = None
