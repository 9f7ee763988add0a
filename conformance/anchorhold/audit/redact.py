"""Values replaced by placeholders, the same everywhere in a report, so that it can be shown to others."""

import hashlib
import re
from collections.abc import Sequence
from dataclasses import replace

from anchorhold.audit.finding import Example, Finding, Place
from anchorhold.audit.model import Damage
from anchorhold.audit.run import Audited

_TOLD = re.compile(r"record \d+|\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:?\d\d)?)?")
"""Times as they are known; a file may have any text in their place."""
_TRIGGERS = frozenset({"auto", "manual"})


class Redaction:
    """Placeholders for one report. Within it equal values get equal ones; nothing of a value can be read from them.

    They are numbered in the order of their first use: no digest of a value is written, since short ones could be
    guessed from it.
    """

    def __init__(self) -> None:
        """Start with no value seen."""
        self._names: dict[bytes, str] = {}

    def name(self, kind: str, value: str) -> str:
        """The placeholder of a value."""
        key = hashlib.sha256(f"{kind}\0{value}".encode("utf-8", "surrogatepass")).digest()
        return self._names.setdefault(key, f"<{kind} {len(self._names) + 1}>")

    def audited(self, files: Sequence[Audited]) -> list[Audited]:
        """Files with everything replaced that comes from them: names, sessions, values, the text around them."""
        result = []
        for each in files:
            path = self.name("file", str(each.path))
            result.append(
                replace(
                    each,
                    path=type(each.path)(path),
                    error=each.error and "could not be read",
                    findings=[self._finding(finding, path) for finding in each.findings],
                    damages=[Damage(kind=d.kind, record=d.record, detail="") for d in each.damages],
                )
            )
        return result

    def _finding(self, finding: Finding, path: str) -> Finding:
        return replace(
            finding,
            file=path,
            session=self.name("session", finding.session),
            at=finding.at if _TOLD.fullmatch(finding.at) else self.name("time", finding.at),
            trigger=finding.trigger and (finding.trigger if finding.trigger in _TRIGGERS else "other"),
            summary_text="",
            examples=[self._example(example) for example in finding.examples],
        )

    def _example(self, example: Example) -> Example:
        # What kind it is stays; a tool's name in its place may be the user's own.
        kind = "result" if example.what == "re-read" else example.kind
        return replace(
            example,
            kind=kind,
            literal=self.name(kind, example.literal),
            detail="",
            said=_bare(example.said),
            summary=_bare(example.summary),
            used=_bare(example.used),
        )


def _bare(place: Place | None) -> Place | None:
    return None if place is None else replace(place, excerpt="", field="")
