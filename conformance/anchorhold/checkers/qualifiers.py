"""What belongs to a value and is easily lost: that it is only a bound of it, that it is denied, doubted, or tied to a
condition (MAN-5).

Read from the words right before a value ("at most 5 ms") and right after it ("5 ms or less", "5 ms unless …").
"""

import re
from enum import StrEnum

from anchorhold.checkers.words import negative, plain, stands

HEDGE = re.compile(
    r"\b(?:probably|perhaps|maybe|may|might|possibly|likely|unlikely|seems?|seemingly|appears?|apparently|presumably|"
    r"reportedly|unconfirmed|unverified|supposedly|allegedly|(?:not|un)sure|unclear|I think|I believe|guess)\b",
    re.IGNORECASE,
)
MORE = r"(?:more|greater|higher|larger|longer|later)"
LESS = r"(?:less|fewer|lower|smaller|shorter|earlier|sooner)"
BOUND = re.compile(
    rf"(?P<floor>\b(?:no|not|nor)\s+{LESS}\s+than\b|\bat\s+(?:the\s+)?(?:least|minimum)\b|\b{MORE}\s+than\b|"
    rf"\bor\s+{MORE}\b|\bupwards\s+of\b|\bminimum\b|\bmin\.|\bover\b|\babove\b|\bexceed(?:s|ing)?\b|(?:[≥>]|&gt;)=?\s*\d)"
    rf"|(?P<nearly>\b(?:about|around|roughly|approximately|approx|circa|nearly|almost)\b|[~≈±])",
    re.IGNORECASE,
)
CEILING = re.compile(
    rf"\b(?:no|not|nor)\s+{MORE}\s+than\b|\bat\s+(?:the\s+)?(?:most|maximum)\b|\bup\s+to\b|\b{LESS}\s+than\b|"
    rf"\bor\s+{LESS}\b|\bmaximum\b|\bmax\b|\bunder\b|\bbelow\b|\bwithin\b|\bcapped\s+at\b|"
    r"\b(?:not|never|n['’]t)\s+(?:to\s+)?exceed|(?:[≤<]|&lt;)=?\s*\d",
    re.IGNORECASE,
)
CONDITION = re.compile(
    r"\b(?:unless|except|only|provided|assuming|as\s+long\s+as|so\s+long\s+as|without|until|if|when|while|once|but)\b",
    re.IGNORECASE,
)
_BOUNDS_BEFORE = (
    rf"at\s+(?:most|least)|up\s+to|(?:no\s+|not\s+)?(?:{MORE}|{LESS})\s+than|under|over|above|below|about|around|"
    r"roughly|approximately|nearly|almost"
)
LEADING = re.compile(
    rf"^(?:(?:not\s+yet|not|never|no\s+longer|hardly|{_BOUNDS_BEFORE}|{HEDGE.pattern})\s+)+", re.IGNORECASE
)
TRAILING = re.compile(
    rf",?\s+(?:at\s+(?:most|least)|or\s+(?:{MORE}|{LESS})|"
    r"(?:unless|except|only\s+(?:if|when|while|after)|provided|as\s+long\s+as|without|until|if|but\s+not)\s.*)$",
    re.IGNORECASE,
)


class Qualifier(StrEnum):
    """What a value may have with it, in the words of a report."""

    DOUBT = "doubt"
    CEILING = "upper bound"
    FLOOR = "lower bound"
    NEARLY = "“about”"
    CONDITION = "condition"


def core(literal: str) -> str:
    """A value without the hedge, the "not" or the bound before it, and the bound or the condition behind it."""
    bare = LEADING.sub("", plain(literal))
    return TRAILING.sub("", bare) or bare


def qualified(text: str) -> frozenset[Qualifier]:
    """What the words of a text do to some value in it. Anything of the kind counts, wherever it stands."""
    found: set[Qualifier] = set()
    if HEDGE.search(text):
        found.add(Qualifier.DOUBT)
    # "no more than" has "more than" in it, and is no lower bound; nor is "no less than" an upper one.
    if CEILING.search(re.sub(rf"\b(?:no|not|nor)\s+{LESS}\s+than\b", " ", text, flags=re.IGNORECASE)):
        found.add(Qualifier.CEILING)
    for match in BOUND.finditer(re.sub(rf"\b(?:no|not|nor)\s+{MORE}\s+than\b", " ", text, flags=re.IGNORECASE)):
        found.add(Qualifier.NEARLY if match["nearly"] else Qualifier.FLOOR)
    if CONDITION.search(text):
        found.add(Qualifier.CONDITION)
    return frozenset(found)


def around(literal: str) -> str:
    """What a literal has around its value."""
    return plain(literal).replace(core(literal), " … ", 1)


def lost(literal: str, text: str) -> str | None:
    """What a text that gives the value of a literal leaves out of what the literal has with it, in words; none where
    it leaves out nothing. A "not" is another matter."""
    if text.rstrip().endswith(("…", "...")):
        # Cut where everybody sees it: what follows may have been the rest.
        return None
    gone = qualified(around(literal)) - qualified(text)
    return next((f"the {each} is gone" for each in Qualifier if each in gone), None)


def unqualified(literal: str, value: str) -> bool:
    """Whether what is given as a value is that of a literal, without all that the literal has with it."""
    if plain(value) == plain(literal) or not stands(core(literal), value):
        return False
    return lost(literal, value) is not None or (negative(around(literal)) and not negative(value))
