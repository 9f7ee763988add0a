"""Slot facts: the value of an attribute of a subject, said in a sentence of its own.

Only sentences that assert nothing else are read as slots; a question asserts nothing, and a condition ("if …") is
marked as hedged by its sentence. Everything that stands inside such a sentence belongs to the slot's assertion.
"""

import re
import unicodedata
from functools import lru_cache
from typing import NamedTuple

from anchorhold_reference.extract.text import Sentence

_OF = re.compile(
    r"the\s+(?P<attribute>(?:(?!\bof\b)[^\n]){1,80}?)\s+of\s+(?P<subject>[^\n]{1,160}?)\s+"
    r"(?P<verb>is|was|are|were)(?P<negation>\s+(?:not|never|no\s+longer)|n['’]t)?\s+(?P<value>\S[^\n]*)",
    re.IGNORECASE,
)
_EQUALS = re.compile(
    r"(?P<subject>[^\s:=][^\n:=]{0,159}|[^\s:=][^\n=]{0,158}?[^\s:=]):\s+(?P<attribute>[^\s:=][^\n:=]{0,79}?)\s*"
    r"(?P<verb>!=|≠|==?)(?P<negation>\s*(?:not|never)(?=\s))?\s*(?P<value>[^\s=][^\n]*)",
    re.IGNORECASE,
)
_ARTICLES = frozenset({"the", "a", "an"})
_ARTICLE = re.compile(r"^(?:the|a|an)\s+", re.IGNORECASE)


class Slot(NamedTuple):
    """A slot found in one sentence, by positions in the text. A tuple, since some texts are full of them."""

    start: int
    end: int
    """The statement: from its first word to the end of its value."""
    value_start: int
    """Where the literal begins: at the negation, where there is one, because it must not change either."""
    value: str
    """The value without its negation."""
    subject: str
    attribute: str
    verb: str
    negated: bool


class Spelling(NamedTuple):
    """How one statement spells a subject or an attribute."""

    text: str
    plain: str
    """The same without a capital that may be owed to its place in the sentence; mostly there is none."""


@lru_cache(maxsize=4096)
def spelled(text: str) -> str:
    """A subject or attribute as it is told from others: without its article; white space and what Unicode has two
    ways to write levelled, and case kept, since `/srv/A` is not `/srv/a`."""
    if text.isascii():  # the same, without a regular expression
        words = text.split()
        if len(words) > 1 and words[0].lower() in _ARTICLES:
            del words[0]
        return " ".join(words)
    return unicodedata.normalize("NFC", _ARTICLE.sub("", " ".join(text.split())))


@lru_cache(maxsize=4096)
def name(text: str) -> str:
    """The name under which a subject or attribute is looked up: every spelling of it, case levelled."""
    return unicodedata.normalize("NFC", spelled(text).casefold())


def spelling(text: str, said: str) -> Spelling:
    """How a statement, of which `said` is the sentence, spells a subject or attribute of its slot.

    The first word of a sentence has a capital whatever it is. Where a subject begins the sentence, as in "Job J-88:
    Deploy target = /srv/a7", the attribute is written like the beginning of another.
    """
    own = spelled(text)
    first = said.split(maxsplit=1)[:1]
    return Spelling(own, own if first and first[0].lower() in _ARTICLES else _uncapitalised(own))


def _uncapitalised(text: str) -> str:
    """A name without the capital that its first word, a common one as far as its form tells, may owe to its place."""
    word = text.partition(" ")[0]
    if len(word) > 1 and word.isalpha() and word[0].isupper() and word[1:].islower():
        return f"{word[0].lower()}{text[1:]}"
    return text


def slot_in(text: str, sentence: Sentence) -> Slot | None:
    """The slot that a sentence asserts; none where it asserts none."""
    if sentence.question:
        return None
    end = sentence.end
    while end > sentence.body and text[end - 1] in ".!;":
        end -= 1
    start = sentence.body
    found = _OF.fullmatch(text, start, end) or _EQUALS.fullmatch(text, start, end)
    if found is None and sentence.line < start:
        # "system: memory = 64 GB": what looks like a speaker is a subject, where only that makes it a statement.
        start = sentence.line
        found = _EQUALS.fullmatch(text, start, end)
    if found is None:
        return None
    verb, negation, value, subject, attribute = found.group("verb", "negation", "value", "subject", "attribute")
    verb = verb.lower()
    denied = verb in {"!=", "≠"}
    if negation is not None:
        value_start = found.start("negation") + len(negation) - len(negation.lstrip())
    else:
        value_start = found.start("verb" if denied else "value")
    return Slot(
        start,
        end,
        value_start,
        value,
        subject,
        attribute,
        "=" if denied or verb in {"=", "=="} else verb,
        negation is not None or denied,
    )
