"""The result as a badge: a small SVG picture for a README, which loads nothing."""

from xml.sax.saxutils import escape

from anchorhold.report.summary import Summary, Tone, summarise
from anchorhold.report.text import visible
from anchorhold.result import ClaimVerdict, Result
from anchorhold.verdict import VerdictKind
from anchorhold_spec.catalogue import RULES

COLOUR = {Tone.GOOD: "#1a7f37", Tone.OPEN: "#6e7781", Tone.BAD: "#cf222e"}
"""Each with at least 4.5 to 1 against white."""
LABEL = "anchorhold"
SIZE = 11.0
"""Of the letters, in pixels."""
WIDTHS = {
    **dict.fromkeys("il", 0.274),
    **dict.fromkeys("jft ,", 0.36),
    **dict.fromkeys("r", 0.427),
    **dict.fromkeys("csz", 0.522),
    **dict.fromkeys("m", 0.973),
    **dict.fromkeys("w", 0.818),
}
"""Of Verdana, of a letter's size; of all others 0.61. `textLength` then fits the words to the room in any font."""
PADDING = 6.0


def badge(result: Result) -> str:
    """The level that was reached and how many rules failed; what is not held is never shown as reached.

    Raises ValueError where the result judges a rule that the catalogue does not have.
    """
    summary = summarise(result)
    failed = dict(summary.counts)[VerdictKind.FAIL]
    unkept = sum(claim.verdict is ClaimVerdict.BROKEN for claim in result.claims)
    words = visible(_words(result, failed, unkept, summary), lines=False)
    colour = COLOUR[Tone.BAD if unkept else summary.tone]
    left, right = (_width(text) + 2 * PADDING for text in (LABEL, words))
    spoken = escape(f"{LABEL}: {words}", {'"': "&quot;"})
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{left + right:g}" height="20" role="img" '
        f'aria-label="{spoken}"><title>{spoken}</title>'
        f'<rect width="{left:g}" height="20" fill="#424a53"/>'
        f'<rect x="{left:g}" width="{right:g}" height="20" fill="{colour}"/>'
        f'<g fill="#fff" font-family="Verdana,DejaVu Sans,sans-serif" font-size="{SIZE:g}">'
        f'<text x="{PADDING:g}" y="14" textLength="{left - 2 * PADDING:g}">{LABEL}</text>'
        f'<text x="{left + PADDING:g}" y="14" textLength="{right - 2 * PADDING:g}">{escape(words)}</text>'
        "</g></svg>\n"
    )


def _width(text: str) -> float:
    """Pixels, whole ones: the two halves then meet without a seam."""
    return float(round(SIZE * sum(WIDTHS.get(letter, 0.61) for letter in text)))


def _words(result: Result, failed: int, unkept: int, summary: Summary) -> str:
    if result.error is not None:
        return "no verdict"
    if summary.asked is not None:
        return _partly(summary.asked, failed, unkept, summary.tone)
    level = "out of scope" if result.level is None else f"level {result.level}" if result.level else "no level"
    return ", ".join([level, *_broken(failed, unkept)])


def _partly(asked: int, failed: int, unkept: int, tone: Tone) -> str:
    """Of a run that was asked for some rules: which of all, and no level."""
    rules = f"{asked} of {len(RULES)} rules"
    if not failed:
        return ", ".join([f"{rules} {'held' if tone is Tone.GOOD else 'asked, undecided'}", *_broken(0, unkept)])
    return ", ".join([f"{rules} asked", *_broken(failed, unkept)])


def _broken(failed: int, unkept: int) -> list[str]:
    claims = "1 claim" if unkept == 1 else f"{unkept} claims"
    return [*([f"{failed} failed"] if failed else []), *([f"{claims} broken"] if unkept else [])]
