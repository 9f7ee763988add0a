"""Errors that stop a run. None of them is a verdict: each leads to exit status 2."""


class AdapterError(Exception):
    """The compactor under test could not be reached, or did not answer as the protocol says."""

    def __init__(self, message: str, *, hint: str | None = None, stderr: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint
        self.stderr = stderr
