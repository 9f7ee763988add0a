"""What is done of every pointer that is followed, besides asking the ledger: its token is read, and an answer made of
the bytes under it. In Python or, where `anchorhold-native` is installed, by the same compiled."""

import logging
from collections.abc import Callable
from importlib import import_module
from types import ModuleType
from typing import Final, Protocol, cast

from anchorhold_reference import pointer
from anchorhold_reference.codec import digest, told
from anchorhold_reference.compiled import compiled
from anchorhold_reference.originals import as_answer
from anchorhold_reference.pointer import Address
from anchorhold_reference.schema import LAYOUT
from anchorhold_spec.vocabulary import Answer

log = logging.getLogger("anchorhold.following")


class Following(Protocol):
    """Reads tokens and originals. Both kinds give the same."""

    @property
    def name(self) -> str:
        """`python` or `native`."""

    def unseal(self, token: str) -> Address | None:
        """The address in a token; none where it cannot have been made by `pointer.seal`."""

    def opened(self, payload: bytes, mark: bytes, slot: int) -> Answer | None:
        """The answer that an original in a slot is; none where its bytes are not those of this digest (EPO-3)."""


class Python:
    """A `Following`, and the definition of what another one answers."""

    name: Final = "python"

    def unseal(self, token: str) -> Address | None:
        """See `Following`."""
        return pointer.unseal(token)

    def opened(self, payload: bytes, mark: bytes, slot: int) -> Answer | None:
        """See `Following`."""
        return as_answer(*told(payload), carrier=f"slot-{slot}") if digest(payload) == mark else None


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
