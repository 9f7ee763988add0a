"""Reports of what `anchorhold check` found: terminal, JSON, JUnit XML, a badge, and one self-contained HTML page."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from anchorhold.report import terminal
from anchorhold.report.badge import badge
from anchorhold.report.html import html
from anchorhold.report.junit import junit
from anchorhold.result import Result, encode
from anchorhold.verdict import History

__all__ = ["Written", "badge", "html", "junit", "terminal", "write"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Written:
    """Where each form of a report was written."""

    json: Path
    junit: Path
    html: Path
    badge: Path


def write(directory: Path, result: Result, histories: Mapping[str, History]) -> Written:
    """Write `result.json`, `junit.xml`, `badge.svg` and `report.html` into a directory, which is made if need be.

    `histories`: the history of each failure, by its `history` path. Raises OSError where nothing can be written
    there, and ValueError where the result judges a rule that the catalogue does not have; then nothing is written.
    """
    written = Written(
        json=directory / "result.json",
        junit=directory / "junit.xml",
        html=directory / "report.html",
        badge=directory / "badge.svg",
    )
    forms = {
        written.json: encode(result),
        written.junit: junit(result),
        written.html: html(result, histories).encode("utf-8"),
        written.badge: badge(result).encode("utf-8"),
    }
    directory.mkdir(parents=True, exist_ok=True)
    for path, content in forms.items():
        path.write_bytes(content)
    return written
