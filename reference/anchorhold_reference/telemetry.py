"""What a running compactor tells: log records with named values, and metrics where OpenTelemetry's API is installed.

Neither ever holds content: no text, no literal, no id of a turn, no digest. What was forgotten cannot be in a log
that it never entered (ERA-1).
"""

import logging
from typing import Any

from anchorhold_reference.values import Ratios
from anchorhold_spec.vocabulary import Outcome

try:
    from opentelemetry import metrics
except ImportError:
    INSTALLED = False
else:
    INSTALLED = True
"""Whether there is anything to measure with: the extra `metrics`."""

log = logging.getLogger("anchorhold")


class Telemetry:
    """Records of one transcript's operations."""

    def __init__(self) -> None:
        """Make the instruments, where there is something to make them with."""
        self._instruments: dict[str, Any] = {}
        if not INSTALLED:
            return
        meter = metrics.get_meter("anchorhold")
        self._instruments = {
            "operations": meter.create_counter(
                "anchorhold.operations", unit="{operation}", description="Operations, by name and how they ended."
            ),
            "audits": meter.create_counter(
                "anchorhold.audits", unit="{audit}", description="Audits, by whether they passed (RET-2)."
            ),
            "duration": meter.create_histogram(
                "anchorhold.duration", unit="s", description="Seconds that an operation took, the model's included."
            ),
            "summaries": meter.create_gauge(
                "anchorhold.summaries",
                unit="{summary}",
                description="Summaries that are committed, and of these pending and unresolvable (PTR-5).",
            ),
        }

    @property
    def measures(self) -> bool:
        """Whether anybody is told numbers: what costs a query is not asked otherwise."""
        return bool(self._instruments)

    def outcome(self, operation: str, outcome: Outcome, *, seconds: float) -> None:
        """An operation ended."""
        values = {"operation": operation, "outcome": outcome.kind.value, "pending": outcome.pending}
        covered = len(outcome.covered or ())
        log.info("%s: %s", operation, outcome.kind.value, extra={**values, "turns": covered, "seconds": seconds})
        if self.measures:
            self._instruments["operations"].add(1, {"operation": operation, "outcome": outcome.kind.value})
            self._instruments["duration"].record(seconds, {"operation": operation})

    def audited(self, *, passed: bool) -> None:
        """An audit was made."""
        log.log(logging.INFO if passed else logging.ERROR, "audit", extra={"passed": passed})
        if self.measures:
            self._instruments["audits"].add(1, {"passed": passed})

    def ratios(self, ratios: Ratios) -> None:
        """How many summaries there are, and in which state."""
        for state in ("committed", "pending", "unresolvable"):
            self._instruments["summaries"].set(getattr(ratios, state), {"state": state})
