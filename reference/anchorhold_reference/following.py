"""A pointer followed to its original, where that takes one statement: its token is read, the ledger asked, and an answer
made of the bytes under it. In Python or, where `anchorhold-native` is installed, by the same compiled."""

import logging
import struct
from collections.abc import Callable
from importlib import import_module
from types import ModuleType
from typing import Final, Protocol, TypeAlias, cast

from anchorhold_reference.codec import digest, told
from anchorhold_reference.cold import WHOLE
from anchorhold_reference.compiled import compiled
from anchorhold_reference.ledger import Row
from anchorhold_reference.originals import as_answer
from anchorhold_reference.pointer import DIGEST, unsealed
from anchorhold_reference.schema import LAYOUT
from anchorhold_spec.vocabulary import Answer

log = logging.getLogger("anchorhold.following")

First: TypeAlias = Callable[[str, tuple[object, ...]], Row | None]
"""`Ledger.first`."""
Opened: TypeAlias = Callable[[object, bytes, int, int], tuple[int, Answer] | None]
"""`Python.opened`."""


class Following(Protocol):
    """Follows pointers. Both kinds give the same."""

    @property
    def name(self) -> str:
        """`python` or `native`."""

    def followed(self, token: str, first: First, branch: int) -> tuple[int, Answer] | None:
        """The epoch of a pointer, and the original under it, whole and with its digest (EPO-3). None where this look
        does not find it, which says nothing of why: see `answers.resolve`.

        `first` asks the ledger, by the statement `cold.WHOLE`; `branch` is the branch that follows it.
        """


class Python:
    """A `Following`, and the definition of what another one answers."""

    name: Final = "python"

    def followed(self, token: str, first: First, branch: int) -> tuple[int, Answer] | None:
        """See `Following`."""
        address = unsealed(token)
        if address is None:
            return None
        slot, epoch = _NUMBERS.unpack_from(address)
        row = first(WHOLE, (branch, slot, address))
        return None if row is None else self.opened(row[0], address, slot, epoch)

    def opened(self, payload: object, address: bytes, slot: int, epoch: int) -> tuple[int, Answer] | None:
        """What to answer of what lies under a packed address; none where it is not the bytes of that digest."""
        if not isinstance(payload, bytes) or digest(payload) != address[DIGEST]:
            return None
        return epoch, as_answer(*told(payload), carrier=f"slot-{slot}")


_NUMBERS = struct.Struct(">QQ")
"""Slot and epoch, in a packed address."""
PYTHON: Final = Python()


def choose(load: Callable[[str], ModuleType] = import_module) -> Following:
    """The compiled code where it is installed and knows this layout, else the Python code. `load` imports modules."""
    native: Following | None = compiled(
        load,
        "pointers",
        lambda module: cast("Following", module.Native(PYTHON.opened)),
        number="LAYOUT",
        wanted=LAYOUT,
        lacks="follows no pointers",
        log=log,
    )
    return PYTHON if native is None else native


FOLLOWING: Final = choose()
"""The one in use."""
