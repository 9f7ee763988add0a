"""Model clients as summarisers: each turns a `Request` into a call, and what comes back into a `Reply` or an error.

They translate and judge nothing: whether a reply is a summary is decided in `reply` (OUT-1). What they must not lose
is the difference between a text, a refusal, a text cut at its limit, a tool call, a failure and a time-out (OUT-2).
"""

from anchorhold_reference.summarisers.common import SummariserError, SummariserTimeoutError

__all__ = ["SummariserError", "SummariserTimeoutError"]
