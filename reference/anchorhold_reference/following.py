"""What is done of every pointer that is followed, besides asking the ledger: its token is read, and an answer made of
the bytes under it. In Python or, where `anchorhold-native` is installed, by the same compiled."""

import logging
from collections.abc import Callable
from importlib import import_module
from types import ModuleType
from typing import Final, Protocol, TypeAlias, cast

from anchorhold_reference.codec import digest, told
from anchorhold_reference.compiled import compiled
from anchorhold_reference.originals import as_answer
from anchorhold_reference.pointer import DIGEST, slot_of, unsealed
from anchorhold_reference.schema import LAYOUT
from anchorhold_spec.vocabulary import Answer

log = logging.getLogger("anchorhold.following")

WHOLE = (
    "SELECT o.payload FROM cold o "
    "JOIN lineage g ON g.session = ? AND g.node = o.session AND o.span BETWEEN g.first AND g.last "
    "WHERE o.slot = ? AND o.address = ? "
    # CROSS: from what is staged, which is mostly nothing.
    "AND NOT EXISTS (SELECT 1 FROM carrier c CROSS JOIN covers k "
    "WHERE c.state = 'staged' AND k.summary = c.id AND k.carrier = o.span)"
)
"""The bytes of the original under a pointer, unchecked, for a branch, a slot and a packed address: by one row beside
the branch's lineage (ISO-1). None where it is not certain from that row alone that the pointer leads there, and
`answers.resolve` tells: the bytes lie outside, or are of a copy that was not read back (PTR-5), or a compaction
that has not committed covers the span, and may have put them there (PTR-6).

An entry has an address only between its copy and its removal, and whoever removes it says so of the pointer in the
same transaction; so beside what is staged every address of an entry is that of a pointer that leads to it."""
Asked: TypeAlias = tuple[int, int, bytes]
"""What `WHOLE` is asked: a branch, a slot, and the packed address of a pointer to it."""
Opened: TypeAlias = Callable[[object, bytes], Answer | None]
"""`Following.opened`."""


class Following(Protocol):
    """Reads tokens and originals. Both kinds give the same."""

    @property
    def name(self) -> str:
        """`python` or `native`."""

    def asked(self, token: str, branch: int) -> Asked | None:
        """What to ask the ledger for where a branch follows a token; none where it cannot have been made by
        `pointer.seal`."""

    def opened(self, payload: object, address: bytes) -> Answer | None:
        """The answer that an original is, from what the store has under an address; none where that is not the bytes
        of the address's digest (EPO-3)."""


class Python:
    """A `Following`, and the definition of what another one answers."""

    name: Final = "python"

    def asked(self, token: str, branch: int) -> Asked | None:
        """See `Following`."""
        address = unsealed(token)
        return None if address is None else (branch, slot_of(address), address)

    def opened(self, payload: object, address: bytes) -> Answer | None:
        """See `Following`."""
        if not isinstance(payload, bytes) or digest(payload) != address[DIGEST]:
            return None
        return as_answer(*told(payload), carrier=f"slot-{slot_of(address)}")


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
