"""Wrong ones that take what a turn says for their own: as markup to be read, a secret to be masked, a number to be
written their way, a value to be had without the words around it; or an id for another that is nearly it."""

import html
import os
import re
import unicodedata
import urllib.parse
from collections.abc import Sequence
from dataclasses import replace
from string import Template
from typing import Any

from anchorhold_spec.vocabulary import Answer, Outcome, Turn
from compactors.common import Statement, statements, whole
from compactors.rolling import Rolling


class _Changes(Rolling):
    """What is kept of a turn is what came of its text and of its arguments."""

    def changed(self, text: str) -> str:
        return text

    def kept(self, turn: Turn) -> Turn:
        text = None if turn.text is None else self.changed(turn.text)
        calls = tuple(replace(call, arguments=self.changed(call.arguments)) for call in turn.calls)
        return replace(turn, text=text, calls=calls)


class _ChangesArguments(_Changes):
    """Only what stands in arguments."""

    def kept(self, turn: Turn) -> Turn:
        return replace(super().kept(turn), text=turn.text)


class DropsThoughts(_Changes):
    """Thoughts and comments are for nobody else."""

    def changed(self, text: str) -> str:
        return re.sub(r"<think>.*?</think>|<!--.*?-->", "", text, flags=re.DOTALL)


class StripsTags(_Changes):
    """What is left is the text of the page."""

    def changed(self, text: str) -> str:
        return re.sub(r"</?[a-z][^<>]*>", "", text)


class DropsControlTokens(_Changes):
    """Tokens of the model's own are no text."""

    def changed(self, text: str) -> str:
        return re.sub(r"<\|[a-z_]+\|>|\[/?INST\]", "", text)


class Unescapes(_Changes):
    """The store is filled from HTML."""

    def changed(self, text: str) -> str:
        return html.unescape(text)


class ExpandsVariables(_Changes):
    """Turns go through a template, with the variables of the process."""

    def changed(self, text: str) -> str:
        return Template(text).safe_substitute({"HOME": "/root", "PATH": "/usr/bin", **os.environ})


class FillsPlaceholders(_Changes):
    """Names in braces are filled in, and what is not known is left empty."""

    def changed(self, text: str) -> str:
        return re.sub(r"\{\{ ?[\w.]+ ?\}\}", "", text)


class CutsQueries(_Changes):
    """An address is an address without what is asked of it."""

    def changed(self, text: str) -> str:
        return re.sub(r"(https?://[^\s?#\"]+)[?#][^\s\"]*", r"\1", text)


class DecodesPercents(_Changes):
    """Percent signs are decoded on the way in."""

    def changed(self, text: str) -> str:
        return urllib.parse.unquote(text)


class DecodesBackslashes(_Changes):
    """What a backslash stands before is read as an escape once too often."""

    def changed(self, text: str) -> str:
        return text.replace("\\n", "\n").replace("\\t", "\t")


class MasksKeys(_Changes):
    """Long digests and keys are blacked out, and nobody asked for it."""

    def changed(self, text: str) -> str:
        return re.sub(r"\b[0-9a-f]{32,}\b|\b(?:sk-|ghp_|AKIA)\w+", "***", text)


class MasksPeople(_Changes):
    """So are addresses of mail and of machines."""

    def changed(self, text: str) -> str:
        return re.sub(r"[\w.+-]+@[\w-]+\.\w+|\b\d+\.\d+\.\d+\.\d+\b", "[redacted]", text)


class MasksInArguments(_ChangesArguments):
    """The log of the tools is scrubbed of what looks like a card's number or a key."""

    def changed(self, text: str) -> str:
        return re.sub(r"\b(?:\d{4} ){3}\d{4}\b|\bBearer \S+?(?=[\s\"])", "***", text)


class ReadsMarkdown(_Changes):
    """Stars, fences and what is not shown of them are taken for formatting."""

    def changed(self, text: str) -> str:
        return text.replace("**", "").replace("```", "")


class EndsAtARule(_Changes):
    """A line of dashes begins another document."""

    def changed(self, text: str) -> str:
        return text.split("\n---\n")[0]


class TypesScalars(_Changes):
    """A text that is a number is one, and so is what YAML has a word for."""

    def changed(self, text: str) -> str:
        if re.fullmatch(r"\d+", text):
            return str(int(text))
        if re.fullmatch(r"\d+\.\d+", text):
            return str(float(text))
        return {"null": "", "true": "True", "no": "False"}.get(text, text)


class DropsSeparators(_Changes):
    """Thousands are written without their separator."""

    def changed(self, text: str) -> str:
        return re.sub(r"(?<=\d),(?=\d{3}\b)", "", text)


class DropsTheMark(_Changes):
    """A mark of the order of bytes is none of the text."""

    def changed(self, text: str) -> str:
        return text.lstrip("\ufeff")


class CutsAtABuffer(_Changes):
    """A field takes 65,535 characters."""

    def changed(self, text: str) -> str:
        return text[:65_535]


class CutsLargeOriginals(Rolling):
    """An item of the archive takes 400 KB, text or bytes, and what is longer is cut there without a word."""

    ITEM = 400_000

    def original(self, name: str) -> Answer:
        answer = super().original(name)
        return replace(answer, text=answer.text and answer.text[: self.ITEM])


class CutsLargeBytes(Rolling):
    """Attachments are kept up to 64 KiB."""

    def kept(self, turn: Turn) -> Turn:
        return replace(turn, data=None if turn.data is None else turn.data[:65_536])


class CutsLargeArguments(_ChangesArguments):
    """Arguments are kept up to a megabyte."""

    def changed(self, text: str) -> str:
        return text[:1_000_000]


class AnswersWithTheBareNumber(Rolling):
    """The value of a slot is the number in it: what it is a bound of is left to the reader."""

    def reconstitute(self, subject: str, attribute: str, evidence: bool) -> Answer:
        answer = super().reconstitute(subject, attribute, evidence)
        bare = re.sub(r"^(?:at most|at least|up to|no more than|less than|more than|about) ", "", answer.value or "")
        return replace(answer, value=answer.value and bare)


class AnswersWithoutTheCondition(Rolling):
    """The value of a slot ends where a condition begins."""

    def reconstitute(self, subject: str, attribute: str, evidence: bool) -> Answer:
        answer = super().reconstitute(subject, attribute, evidence)
        return replace(answer, value=answer.value and re.split(r" (?:unless|only|except|until)\b", answer.value)[0])


class _Shortens(Rolling):
    """The notes are shortened by words that seem to say little."""

    WORDS = re.compile("")

    def commit(self, old: Sequence[Turn], text: str) -> Outcome:
        return super().commit(old, self.WORDS.sub("", text))


class NotesWithoutNegations(_Shortens):
    """Those of a denial that is no "not"."""

    WORDS = re.compile(r"n't\b| never\b| no longer\b")


class NotesWithoutConditions(_Shortens):
    """Subordinate clauses."""

    WORDS = re.compile(r" (?:unless|except|only if|only while|as long as|until) [^.\n]*")


class NotesWithoutBounds(_Shortens):
    """What stands before a number, or behind it."""

    WORDS = re.compile(r" (?:at most|at least|up to|no more than|no less than|less than|or less|or more)\b")


class PassesOverDoubts(Rolling):
    """A slot has the newest value that somebody was sure of."""

    def speaks_of(self, said: Statement, subject: str, attribute: str) -> bool:
        doubtful = said.value.startswith(("probably ", "likely ", "perhaps "))
        return super().speaks_of(said, subject, attribute) and not doubtful


class PassesOverBounds(Rolling):
    """A slot has the newest value that somebody gave exactly."""

    def speaks_of(self, said: Statement, subject: str, attribute: str) -> bool:
        bound = said.value.startswith(("at most ", "at least ", "up to "))
        return super().speaks_of(said, subject, attribute) and not bound


class NewestByTheClock(Rolling):
    """The newest of several statements is the one of the turn with the latest time."""

    def reconstitute(self, subject: str, attribute: str, evidence: bool) -> Answer:
        found = [
            (turn.time or 0.0, name, said.value)
            for name, turn in self.state.turns.items()
            for said in statements(whole(turn))
            if self.speaks_of(said, subject, attribute)
        ]
        if not found:
            return super().reconstitute(subject, attribute, evidence)
        _, name, value = max(found, key=lambda one: one[0])
        return replace(self.original(name), value=value)


class _NormalisesIds(Rolling):
    """A turn whose id is one that is known, but for how it is written, is not taken in again."""

    def normal(self, name: str) -> str:
        return name

    def known(self, name: str) -> bool:
        return self.normal(name) in map(self.normal, (*self.state.turns, *self.state.erased))


class ComposesIds(_NormalisesIds):
    """By Unicode's compatible form."""

    def normal(self, name: str) -> str:
        return unicodedata.normalize("NFKC", name)


class FoldsIds(_NormalisesIds):
    """Without case."""

    def normal(self, name: str) -> str:
        return name.casefold()


class StripsIds(_NormalisesIds):
    """Without the blanks around it."""

    def normal(self, name: str) -> str:
        return name.strip()


class CountsIds(_NormalisesIds):
    """As a number, where it is one."""

    def normal(self, name: str) -> str:
        return str(float(name)) if re.fullmatch(r"[+]?\d+(?:\.\d+)?", name) else name


class KeepsResultsByCall(Rolling):
    """Results are kept under the id of their call: a later one of that id takes the place of the first."""

    def original(self, name: str) -> Answer:
        call = self.state.turns[name].result_of
        if call is None:
            return super().original(name)
        return super().original([n for n, turn in self.state.turns.items() if turn.result_of == call][-1])


class TakesOneResultOfACall(Rolling):
    """A call is answered once: what comes for it later is a repetition."""

    def append(self, turn: Turn) -> str:
        if turn.result_of is not None and any(t.result_of == turn.result_of for t in self.state.turns.values()):
            return turn.id
        return super().append(turn)


WRONG: tuple[tuple[type[Any], str], ...] = (
    (DropsThoughts, "ANC-1"),
    (StripsTags, "ANC-1"),
    (DropsControlTokens, "IDX-1"),
    (Unescapes, "ANC-1"),
    (ExpandsVariables, "ANC-1"),
    (FillsPlaceholders, "IDX-1"),
    (CutsQueries, "ANC-1"),
    (DecodesPercents, "ANC-1"),
    (DecodesBackslashes, "IDX-1"),
    (MasksKeys, "ANC-1"),
    (MasksPeople, "ANC-1"),
    (MasksInArguments, "PTR-1"),
    (ReadsMarkdown, "STR-3"),
    (EndsAtARule, "IDX-1"),
    (TypesScalars, "IDX-1"),
    (DropsSeparators, "STR-3"),
    (DropsTheMark, "STR-3"),
    (CutsAtABuffer, "IDX-1"),
    (CutsLargeOriginals, "PTR-1"),
    (CutsLargeBytes, "STR-3"),
    (CutsLargeArguments, "PTR-1"),
    (AnswersWithTheBareNumber, "MAN-5"),
    (AnswersWithoutTheCondition, "MAN-5"),
    (NotesWithoutNegations, "MAN-5"),
    (NotesWithoutConditions, "MAN-5"),
    (NotesWithoutBounds, "MAN-5"),
    (PassesOverDoubts, "REC-1"),
    (PassesOverBounds, "REC-1"),
    (NewestByTheClock, "REC-1"),
    (ComposesIds, "IDX-1"),
    (FoldsIds, "IDX-1"),
    (StripsIds, "IDX-1"),
    (CountsIds, "IDX-1"),
    (KeepsResultsByCall, "PTR-1"),
    (TakesOneResultOfACall, "STR-1"),
)
"""Each with a rule that it breaks."""
