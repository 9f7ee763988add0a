"""The fixtures of the reference's tests."""

from transcripts import make, script, tmp_path

__all__ = ["make", "script", "tmp_path"]
