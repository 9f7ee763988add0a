"""What of a turn could be left in files after it was erased: the words that only it says, and digests of them.

The suite looks for them byte by byte, in every way in which they are commonly written down. Compressed or encrypted
files cannot be seen into; what is found is really there (ERA-1).
"""

import hashlib
import json
import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from anchorhold_spec.vocabulary import Fact, Turn

LEAST = 6
"""Characters that words have at least, to be looked for: shorter ones stand anywhere by accident."""
DIGESTS = ("md5", "sha1", "sha256", "sha512", "blake2b", "blake2s")
SENTENCE = re.compile(r"\n+|(?<=[.!?])\s+")


def own_words(turn: Turn, facts: Iterable[Fact], others: Iterable[str]) -> tuple[str, ...]:
    """The literals and sentences of a turn that stand in no other turn."""
    said = [turn.text or "", *(call.arguments for call in turn.calls)]
    parts = [fact.literal for fact in facts]
    parts += [part.strip() for text in said for part in SENTENCE.split(text)]
    elsewhere = "\n".join(others)
    return tuple(dict.fromkeys(part for part in parts if len(part) >= LEAST and part not in elsewhere))


def forms(words: str) -> Iterator[tuple[str, bytes]]:
    """The ways in which words may stand in a file, each with its name."""
    once = json.dumps(words)[1:-1]
    written = {
        words.encode("utf-8", "surrogatepass"): "as it is",
        words.encode("utf-16-le", "surrogatepass"): "in UTF-16",
    }
    written.setdefault(once.encode(), "as JSON")
    written.setdefault(json.dumps(once)[1:-1].encode(), "as JSON inside JSON")
    yield from ((name, form) for form, name in written.items())


def digests(turn: Turn) -> Iterator[tuple[str, bytes]]:
    """Digests of all that a turn says, as bytes and in hexadecimal, each with its name."""
    content = turn.data if turn.data is not None else (turn.text or "").encode("utf-8", "surrogatepass")
    if not content:
        return
    for name in DIGESTS:
        digest = hashlib.new(name, content, usedforsecurity=False)
        yield f"its {name} digest", digest.digest()
        yield f"its {name} digest, in hexadecimal", digest.hexdigest().encode()


def remains(turn: Turn, facts: Iterable[Fact], others: Iterable[str], paths: Iterable[str]) -> list[dict[str, str]]:
    """Where something of a turn stands, one entry for each path and kind of thing: `path`, `what`, `words`.

    A path that cannot be read holds nothing: files come and go.
    """
    sought = [(how, words, form) for words in own_words(turn, facts, others) for how, form in forms(words)]
    sought += [(how, turn.id, form) for how, form in digests(turn)]
    found: list[dict[str, str]] = []
    for path in paths:
        try:
            content = Path(path).read_bytes()
        except OSError:
            continue
        found += [{"path": path, "what": how, "words": words} for how, words, form in sought if form in content]
    return found
