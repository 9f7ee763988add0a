"""What a smoke test says."""

from typing import Literal

import msgspec

from anchorhold.errors import Fault


class Finding(msgspec.Struct, frozen=True, kw_only=True):
    """One fault of the adapter."""

    probe: str
    """Which part of the smoke test: see `anchorhold.smoke.run.PROBES`."""
    where: str
    """The method, or the message, at which it came up."""
    fault: Fault
    message: str
    hint: str
    blames: Literal["adapter"] = "adapter"

    def __str__(self) -> str:
        """One line."""
        return f"adapter: {self.where}: {self.message} — {self.hint} (probe {self.probe})"


class Note(msgspec.Struct, frozen=True, kw_only=True):
    """Something that is no fault of the adapter as far as can be told: for whoever writes it to know."""

    probe: str
    where: str
    message: str

    def __str__(self) -> str:
        """One line."""
        return f"note: {self.where}: {self.message} (probe {self.probe})"


class Smoked(msgspec.Struct, frozen=True, kw_only=True):
    """Everything that came of a smoke test."""

    adapter: str
    compactor: str | None
    """Name and version as the adapter told them; none where it did not get that far."""
    operations: tuple[str, ...]
    """Operations that were asked for at least once."""
    probes: tuple[str, ...]
    """Probes that ran to their end."""
    findings: tuple[Finding, ...]
    notes: tuple[Note, ...]
    schema: Literal[1] = 1
