"""Whom a text has say something: `user: …`, `The assistant said that …`.

Only user and assistant are told from each other. Results of tools travel as turns of either in some wire formats, and
a summary may be framed as anybody's message: whoever names those is not held to it.
"""

import re
from collections.abc import Iterable
from typing import Final

_NAMES: Final = {
    "user": "user",
    "human": "user",
    "assistant": "assistant",
    "agent": "assistant",
    "ai": "assistant",
    "model": "assistant",
}
"""The suite's own reading, and not the reference's: what judges shares nothing with what is judged."""
_SAYING = "said|says|wrote|writes|stated|states|told|confirmed|reported|noted"
_NAMED: Final = re.compile(
    r"(?:[-*•>#]+\s+|\d{1,3}[.)]\s+)*(?:\*\*|\[)?(?:the\s+)?(" + "|".join(_NAMES) + r")(?:\*\*|\])?"
    rf"(?:\s*:(?:\*\*)?\s|\s+(?:{_SAYING})\b)",
    re.IGNORECASE,
)
"""Somebody's name where a sentence begins, in the forms that transcripts and minutes have."""


def named(sentence: str) -> str | None:
    """Whom a sentence has say what it says: `user`, `assistant`, or none where it names neither."""
    found = _NAMED.match(sentence)
    return None if found is None else _NAMES[found.group(1).casefold()]


def another(saying: Iterable[str], speakers: Iterable[str]) -> str | None:
    """Who is named by every sentence that says something, where none of those who said it is that one.

    `speakers`: of the turns that say it.
    """
    names = {named(sentence) for sentence in saying}
    told = {_NAMES.get(speaker.casefold()) for speaker in speakers}
    if len(names) != 1 or None in told or not told or names & told:
        return None
    return names.pop()
