"""The audit as one HTML page that needs nothing but itself: no script, no font, no picture from elsewhere."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup, escape

from anchorhold.audit.finding import Example, Finding, Place
from anchorhold.audit.result import Document, ranked
from anchorhold.audit.run import Audited

MOST_SHOWN = 40
"""Examples of one compaction on the page."""
WIDTH, LANE = 1000, 30


@dataclass(frozen=True, slots=True, kw_only=True)
class Session:
    """A session with compactions, as the page draws it."""

    name: str
    file: str
    findings: tuple[Finding, ...]
    timeline: Markup
    anchor: str


def page(document: Document, audited: Sequence[Audited]) -> str:
    """The whole page."""
    held: dict[tuple[str, str], list[Finding]] = {}
    for each in audited:
        for finding in each.findings:
            held.setdefault((finding.file, finding.session), []).append(finding)
    sessions = [
        Session(name=name, file=file, findings=tuple(found), timeline=timeline(found), anchor=f"s{number}")
        for number, ((file, name), found) in enumerate(held.items(), start=1)
    ]
    sessions.sort(key=lambda s: (-sum(f.needed_lost for f in s.findings), -sum(f.needed for f in s.findings)))
    return (
        _environment()
        .get_template("audit.html.j2")
        .render(document=document, totals=document.totals, sessions=sessions, ranked=ranked, most=MOST_SHOWN)
    )


def timeline(findings: Sequence[Finding]) -> Markup:
    """The session's records from left to right: what was replaced, the summaries, what was needed of what."""
    first = min(finding.first_record for finding in findings)
    ends = [e.used.record for f in findings for e in f.examples if e.used is not None]
    last = max([*(finding.summary_record for finding in findings), *ends, first + 1])
    scale = (WIDTH - 20) / (last - first)

    def x(record: int) -> float:
        return round(10 + (max(first, min(record, last)) - first) * scale, 1)

    parts = [f'<rect x="10" y="24" width="{WIDTH - 20}" height="8" class="track"/>']
    # All of the track first: what is drawn later lies on top.
    for finding in findings:
        at = x(finding.summary_record)
        parts.append(
            f'<rect x="{x(finding.first_record)}" y="24" width="{max(1.0, at - x(finding.first_record)):.1f}" '
            f'height="8" class="replaced"><title>{finding.replaced} turns replaced</title></rect>'
        )
    for finding in findings:
        at = x(finding.summary_record)
        parts.append(
            f'<path d="M{at} 14 l7 14 l-7 14 l-7 -14 z" class="summary"><title>compaction at record '
            f"{finding.record}: {finding.needed} needed, {finding.needed_lost} lost</title></path>"
        )
        for example in finding.examples:
            if example.what == "needed" and example.used is not None and example.said is not None:
                a, b = x(example.said.record), x(example.used.record)
                parts.append(
                    f'<path d="M{a} 24 C{a} -6 {b} -6 {b} 24" class="need {escape(example.fate)}"><title>'
                    f"{escape(example.literal[:80])}</title></path>"
                )
            elif example.what == "re-read" and example.used is not None:
                parts.append(f'<circle cx="{x(example.used.record)}" cy="40" r="2.5" class="again"/>')
    # Every text above is escaped, and all else are numbers.
    return Markup(  # noqa: S704
        f'<svg viewBox="0 0 {WIDTH} 48" role="img" aria-label="timeline of the session">{"".join(parts)}</svg>'
    )


def marked(place: Place | None, literal: str) -> Markup:
    """The text around a place, with the words in question marked."""
    if place is None or not place.excerpt:
        return Markup("")
    before, found, after = place.excerpt.partition(literal)
    if not found:
        return escape(place.excerpt)
    return Markup("{}<mark>{}</mark>{}").format(before, found, after)


def heading(example: Example) -> str:
    """What an example is, in a person's words."""
    if example.what == "needed":
        return "Needed and lost" if example.fate == "lost" else "Needed, and only within reach"
    return {
        "unsupported": "Said by the summary alone",
        "flipped": "Turned around",
        "protected": "No longer verbatim",
        "re-read": "Read again",
        "drifted": "Carried before, and no longer",
    }.get(example.what, example.what)


@cache
def _environment() -> Environment:
    made = Environment(
        loader=PackageLoader("anchorhold.audit.report"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters["marked"] = marked
    made.globals["heading"] = heading
    return made
