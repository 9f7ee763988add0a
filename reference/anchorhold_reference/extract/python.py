"""The facts of a text, line by line, in Python: what `anchorhold-native` has to answer the same as."""

import re
from hashlib import blake2b
from typing import Final

from anchorhold_reference.extract import lines, words
from anchorhold_reference.extract.mention import LINE, Fact, Mention, make, placed

NUMBERED = re.compile(r"([^\S\n]*(?:(\d{1,7})(?:→|\t|:(?![\d/])))?[^\S\n]*)(.*)\n?")
"""A line: white space with the line's number, as tools print them that show files; the number; and the rest."""


class Python:
    """An `engine.Engine`, and the definition of what another one answers."""

    name: Final = "python"

    @property
    def missed(self) -> int:
        """How many lines were not remembered, and had to be read."""
        return lines.MEMO.missed

    def mentions(self, text: str) -> list[Mention]:
        """Every fact that a text says, parts of slots included, line by line."""
        result: list[Mention] = []
        start = 0
        for before, digits, line in NUMBERED.findall(text.replace("\r", "\n") if "\r" in text else text):
            at = start + len(before)
            if digits:
                numbered = before.lstrip()
                begin = at - len(numbered)
                said = numbered + line
                # `key_of`, without the call: of the lines of files that are shown each has one.
                identity = f"number\x1f{digits}\x1fFalse\x1fFalse\x1f{LINE}\x1f{said}"
                key = blake2b(identity.encode("utf-8", "surrogatepass"), digest_size=16).digest()
                place = (begin, begin + len(digits))
                result.append(
                    make(
                        Mention,
                        ("number", digits, *place, said, key, None, None, None, False, False, LINE, None, False),
                    )
                )
            if line:
                result += placed(lines.facts_in(line), at)
            start = at + len(line) + 1
        return result

    def distinct(self, text: str) -> dict[bytes, Mention]:
        """By its key the first mention of each fact that a text says, without the parts of slots."""
        seen: dict[bytes, Mention] = {}
        for mention in self.mentions(text):
            if not mention.part and mention.key not in seen:
                seen[mention.key] = mention
        return seen

    def facts_in(self, line: str) -> tuple[Fact, ...]:
        """The facts of a line that begins with a word, parts of slots included, by places in the line."""
        return lines.facts_in(line)

    def read_line(self, line: str) -> tuple[Fact, ...]:
        """The same, read anew."""
        return lines.read_line(line)

    def remembered(self) -> int:
        """How many lines are remembered, besides as many older ones."""
        return len(lines.MEMO)

    def forget(self) -> None:
        """Remember nothing."""
        lines.MEMO.forget()
        words.MEMO.forget()
