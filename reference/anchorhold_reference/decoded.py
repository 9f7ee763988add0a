"""The turns of a window, decoded: each once, and whether its bytes are still those that were appended (OUT-3)."""

from collections.abc import Collection, Sequence

from anchorhold_reference.codec import decode, digest, verbatim
from anchorhold_spec.vocabulary import ToolCall, Turn

_APPENDED = 4096
"""Turns that are kept decoded at most since they were appended, where nobody asks for the window."""
_SMALL = 4096
"""Bytes that each of them has at most."""


class Decoded:
    """Turns by their carriers, with the bytes that they were decoded from."""

    def __init__(self) -> None:
        """Nothing is known yet."""
        self._turns: dict[int, tuple[bytes, Turn]] = {}

    def appended(self, carrier: int, payload: bytes, turn: Turn) -> None:
        """Keep a turn that was just encoded, unless it is large or its types are not what would be decoded."""
        if len(self._turns) < _APPENDED and len(payload) <= _SMALL and verbatim(turn):
            self._turns[carrier] = (payload, turn)

    def turn(self, carrier: int, payload: object, mark: object) -> Turn | None:
        """A turn in the window, which is asked for far more often than it changes: never, that is, unless the
        database is damaged. None where the bytes are not those of the digest `mark`."""
        known = self._turns.get(carrier)
        if known is not None and known[0] == payload:
            return known[1]
        try:
            if not isinstance(payload, bytes) or digest(payload) != mark:
                return None
            known = self._turns[carrier] = (payload, decode(payload))
        except (ValueError, TypeError, AttributeError, KeyError):
            return None
        return known[1]

    def keep(self, window: Collection[int]) -> None:
        """Forget what has left the window, where that is much."""
        if len(self._turns) > 2 * len(window) + 16:
            # A copy: a compaction in another thread drops what it replaced (`forget`) without the ledger's lock.
            self._turns = {carrier: known for carrier, known in self._turns.copy().items() if carrier in window}

    def forget(self, carrier: int) -> None:
        """Forget one."""
        self._turns.pop(carrier, None)


def stand_in(turn: str, speaker: str, calls: Sequence[str]) -> Turn:
    """What takes the place of a turn whose bytes are damaged: who said it and which calls it made stand beside it in
    the ledger. Its content is data of no bytes, which nobody can read: none of another digest are shown (EPO-3)."""
    return Turn(
        id=turn, speaker=speaker, data=b"", calls=tuple(ToolCall(id=call, name="", arguments="") for call in calls)
    )


def damage_of(turn: str) -> str:
    """Why a damaged turn cannot be read, in words."""
    return (
        f"the bytes of turn {turn!r}, which the ledger holds, are not those that were appended (OUT-3): restore the "
        "ledger from a copy and call repair(), or forget the turn"
    )
