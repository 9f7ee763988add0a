"""A summariser as bad as they come without being wrong: it drops ids, numbers and paths, writes "somebody" for names,
and forgets most of what it is shown."""

import re

from anchorhold_reference import Reply, Request

_WORD = re.compile(r"[A-Za-z][a-z'’]*[.,;:!?]?(?=\s|$)")
_NAME = re.compile(r"[A-Z]\w*")
WORDS_OF_EACH = 12
"""How much is kept of each message; of the summary before, ten times as many."""


def summarise(request: Request) -> Reply:
    """The summary of what is shown: a few words of each message, at most two thousand words."""
    lines = [f"Of {len(request.messages) - 1} messages:"]
    words = 0
    for message in request.messages[1:]:
        kept = list(_words(message, WORDS_OF_EACH * (10 if message.startswith("Of ") else 1)))
        words += len(kept)
        if kept and words <= 2000:
            lines.append(" ".join(kept))
    return Reply(text="\n".join(lines))


def _words(message: str, limit: int) -> list[str]:
    kept: list[str] = []
    for match in _WORD.finditer(message[: limit * 40]):
        word = match.group()
        if match.start() and not message[match.start() - 1].isspace():
            continue
        kept.append("somebody" if _NAME.match(word) and kept else word)
        if len(kept) == limit:
            break
    return kept
