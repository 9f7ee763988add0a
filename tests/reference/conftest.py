"""The fixtures of the reference's tests."""

from engines import engine
from ledgers import behind, postgres
from transcripts import forked, make, script, tmp_path

__all__ = ["behind", "engine", "forked", "make", "postgres", "script", "tmp_path"]
