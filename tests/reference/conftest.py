"""The fixtures of the reference's tests."""

from ledgers import behind, postgres
from transcripts import make, script, tmp_path

__all__ = ["behind", "make", "postgres", "script", "tmp_path"]
