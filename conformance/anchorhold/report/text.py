"""Text of unknown origin made fit to be shown: what a compactor says must not act on whoever reads it.

Escaping for markup is left to Jinja2, ElementTree and rich's `Text`. What those let through is handled here:
control characters, terminal sequences, bidirectional overrides, lone surrogates.
"""

from dataclasses import dataclass

from rich.cells import cell_len

ELLIPSIS = "…"
SHORTEST_MARKED = 4
"""Facts shorter than this many characters are not marked in text: they would be found everywhere."""


def visible(text: str, *, lines: bool = True) -> str:
    """Write out every character that cannot be printed, as `\\x1b`; with `lines`, line feeds and tabs stay.

    The result can be encoded in UTF-8, stands in XML 1.0, and moves no terminal's cursor other than forward.
    """
    kept = "\n\t" if lines else ""
    return "".join(c if c.isprintable() or c in kept else _written_out(c) for c in text)


def one_line(text: str) -> str:
    """The same on one line: runs of white space become one space, everything else as in `visible`."""
    return visible(" ".join(text.split()), lines=False)


def ascii_only(text: str) -> str:
    """For terminals that cannot show more than ASCII."""
    return text.encode("ascii", "backslashreplace").decode("ascii")


def clip(text: str, width: int, *, around: str = "") -> str:
    """Cut to at most `width` terminal cells, marking each cut with an ellipsis.

    Where `around` stands in the text and would be cut off, the middle is left out instead, so that both the
    beginning of the text and `around`, or its beginning, are seen.
    """
    if cell_len(text) <= width:
        return text
    at = text.find(around) if around else -1
    if at <= 0 or cell_len(text[: at + len(around)]) < width:
        return _head(text, width)
    spare = max(0, width - cell_len(around) - 2 * cell_len(ELLIPSIS))
    start = _fitting(text, min(_BEGINNING, spare))
    lead = min(_LEAD, max(0, spare - cell_len(start)))
    tail_from = max(0, at - lead)
    if tail_from <= len(start):
        return _head(text, width)
    beginning = start + ELLIPSIS
    return beginning + clip(text[tail_from:], width - cell_len(beginning))


_BEGINNING = 16
"""Cells kept of the beginning of a text whose middle is left out: they say which operation it is."""
_LEAD = 8
"""Characters kept before what a cut was made around."""


def _head(text: str, width: int) -> str:
    return _fitting(text, width - cell_len(ELLIPSIS)) + ELLIPSIS


def _fitting(text: str, width: int) -> str:
    """As much of the beginning as fits."""
    for end, character in enumerate(text):
        width -= cell_len(character)
        if width < 0:
            return text[:end]
    return text


@dataclass(frozen=True, slots=True, kw_only=True)
class Piece:
    """A stretch of text that either is the fact or is not."""

    text: str
    marked: bool


def marked(text: str, fact: str) -> tuple[Piece, ...]:
    """Split text into stretches, so that each place where the fact stands can be marked."""
    if len(fact) < SHORTEST_MARKED or fact not in text:
        return (Piece(text=text, marked=False),) if text else ()
    pieces: list[Piece] = []
    for number, part in enumerate(text.split(fact)):
        if number:
            pieces.append(Piece(text=fact, marked=True))
        if part:
            pieces.append(Piece(text=part, marked=False))
    return tuple(pieces)


def _written_out(character: str) -> str:
    code = ord(character)
    if code <= 0xFF:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code <= 0xFFFF else f"\\U{code:08x}"
