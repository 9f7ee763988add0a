"""The fixtures of the reference's tests."""

from engines import engine
from ledgers import behind, postgres
from transcripts import make, script, tmp_path

__all__ = ["behind", "engine", "make", "postgres", "script", "tmp_path"]
