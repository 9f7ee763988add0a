"""Retention policies. Each proposes what it would like to be rid of; the gate decides, and none passes it (ANC-2)."""

from collections.abc import Sequence

from anchorhold_reference.values import Candidate, Policy


def lifetime(seconds: float) -> Policy:
    """Propose originals stored longer ago than so many seconds."""
    if seconds < 0:
        raise ValueError(f"a lifetime of {seconds} s cannot be meant; give 0 or more")

    def propose(stored: Sequence[Candidate], now: float) -> Sequence[str]:
        return [one.token for one in stored if now - one.stored > seconds]

    return propose


def size_cap(limit: int) -> Policy:
    """Propose the oldest originals beyond so many bytes in all."""
    if limit < 0:
        raise ValueError(f"a cap of {limit} bytes cannot be meant; give 0 or more")

    def propose(stored: Sequence[Candidate], _now: float) -> Sequence[str]:
        excess = sum(one.size for one in stored) - limit
        proposed: list[str] = []
        for one in stored:
            if excess <= 0:
                break
            proposed.append(one.token)
            excess -= one.size
        return proposed

    return propose


def least_recently_used(limit: int) -> Policy:
    """Propose the originals that were not asked for the longest, beyond so many bytes in all."""
    if limit < 0:
        raise ValueError(f"a cap of {limit} bytes cannot be meant; give 0 or more")

    def propose(stored: Sequence[Candidate], now: float) -> Sequence[str]:
        return size_cap(limit)(sorted(stored, key=lambda one: one.used), now)

    return propose
