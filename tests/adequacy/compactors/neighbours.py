"""Wrong ones that take a question for another one: what they return is of a name that is nearly the one asked for."""

import re
import unicodedata
from typing import Any

from anchorhold_spec.vocabulary import Answer, AnswerKind
from compactors.common import Statement, whole
from compactors.rolling import Rolling


class _Reads(Rolling):
    """Compares what is left of question and turn when they are read so."""

    def read(self, text: str) -> str:
        return text

    def search(self, literal: str) -> Answer:
        wanted = self.read(literal)
        for name, turn in reversed(self.state.turns.items()):
            if wanted in self.read(whole(turn)):
                return self.original(name)
        return Answer(kind=AnswerKind.UNANCHORED)


class CutsTheQuestion(_Reads):
    """A question has no more than so many characters."""

    MOST = 128

    def search(self, literal: str) -> Answer:
        return super().search(literal[: self.MOST])


class ReadsAccentsAway(_Reads):
    def read(self, text: str) -> str:
        return "".join(sign for sign in unicodedata.normalize("NFD", text) if not unicodedata.combining(sign))


class ReadsCompatibly(_Reads):
    """As NFKC has it."""

    def read(self, text: str) -> str:
        return unicodedata.normalize("NFKC", text)


class ReadsCaseAway(_Reads):
    def read(self, text: str) -> str:
        return text.casefold()


class ReadsZerosAway(_Reads):
    """Numbers are compared without the zeros that they begin with."""

    def read(self, text: str) -> str:
        return re.sub(r"(?<!\d)0+(?=\d)", "", text)


class ReadsDashesAsUnderscores(_Reads):
    def read(self, text: str) -> str:
        return text.replace("-", "_")


class ReadsBlanksAway(_Reads):
    def read(self, text: str) -> str:
        return re.sub(r"\s+", "", text)


class AnswersForTheEndOfAName(Rolling):
    """A slot is of whoever's name ends so, or is the end of the one that was asked for."""

    def speaks_of(self, said: Statement, subject: str, attribute: str) -> bool:
        ends = said.subject.endswith(subject) or subject.endswith(said.subject)
        return said.attribute == attribute and ends


WRONG: tuple[tuple[type[Any], str], ...] = (
    (CutsTheQuestion, "REC-1"),
    (ReadsAccentsAway, "REC-1"),
    (ReadsCompatibly, "REC-1"),
    (ReadsCaseAway, "REC-1"),
    (ReadsZerosAway, "REC-1"),
    (ReadsDashesAsUnderscores, "REC-1"),
    (ReadsBlanksAway, "REC-1"),
    (AnswersForTheEndOfAName, "REC-1"),
)
