"""What the summarisers over model clients share."""

from anchorhold_reference.errors import AnchorholdError


class SummariserError(AnchorholdError):
    """The model call failed: no reply came, so nothing was compacted (OUT-1)."""

    def __init__(self, provider: str, found: str, *, status: int | None = None) -> None:
        at = "" if status is None else f" with HTTP status {status}"
        super().__init__(f"the call to {provider} failed{at}: {found}; the sources stay, compact again later")
        self.status = status
        """The HTTP status; none where there was no answer."""


class SummariserTimeoutError(SummariserError):
    """The model did not answer in time (OUT-2)."""

    def __init__(self, provider: str, seconds: float) -> None:
        super().__init__(provider, f"no answer within {seconds:g} s")
        self.seconds = seconds
