"""Wrong ones written from the rules' texts and public reports alone, before their author had seen a checker.

Here: those that take one thing for another that is nearly alike, cut what is long, or let go of copies that are
outstanding. The suite missed all but the first three when they were written, and was mended. They were brought into
this catalogue's form after that; what each does wrong is what it was written to do.
"""

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from anchorhold.compactor import Settings, Summarise
from anchorhold_spec.vocabulary import Answer, AnswerKind, Entry, Outcome, OutcomeKind, Turn
from compactors.common import Statement, in_anothers_mouth, statements, whole
from compactors.rolling import Lane, Outstanding, Rolling

WILD = {"_": ".", "%": ".*"}
"""What stands for anything in a pattern of LIKE, as regular expressions have it."""


class SearchesOnePage(Rolling):
    """Search reads the twenty latest rows of the store, and never asks for the next page."""

    PAGE = 20

    def search(self, literal: str) -> Answer:
        latest = dict(list(self.state.turns.items())[-self.PAGE :])
        answer = super().search(literal)
        return answer if answer.source in latest else Answer(kind=AnswerKind.UNANCHORED)


class SharesItsCache(Rolling):
    """What a search found is remembered by the literal alone, whoever asks next."""

    def open(self, settings: Settings, summarise: Summarise) -> Settings:
        self.cache: dict[Any, Answer] = {}
        return super().open(settings, summarise)

    def key(self, literal: str) -> Any:
        return literal

    def remembers(self, answer: Answer) -> bool:
        return answer.kind is AnswerKind.FOUND

    def search(self, literal: str) -> Answer:
        key = self.key(literal)
        if key in self.cache:
            return self.cache[key]
        answer = super().search(literal)
        if self.remembers(answer):
            self.cache[key] = answer
        return answer

    def forget(self, turn: str) -> Outcome:
        self.cache = {}
        return super().forget(turn)

    def rewind(self, turn: str) -> None:
        self.cache = {}
        super().rewind(turn)

    def clear(self) -> None:
        self.cache = {}
        super().clear()


class ReadsOneCallOfATurn(Rolling):
    """Of several calls of one turn the first is kept."""

    def kept(self, turn: Turn) -> Turn:
        return replace(turn, calls=turn.calls[:1])


class RemembersThatThereWasNothing(SharesItsCache):
    """Answers are remembered for each session, negative ones as well, and a turn that comes in makes none of them
    out of date."""

    def key(self, literal: str) -> Any:
        return self.at, literal

    def remembers(self, answer: Answer) -> bool:
        return True


class ShowsTheHeadOfResults(Rolling):
    """Of what a tool answered the model is shown the first 300 characters."""

    def prompt(self, old: Sequence[Turn]) -> list[str]:
        shown = super().prompt(old)
        heads = [whole(turn)[:300] if turn.speaker == "tool" else whole(turn) for turn in old]
        return [*shown[: len(shown) - len(old)], *heads]


class CutsAtTheColumnsEnd(Rolling):
    """The column of the store takes 65,535 bytes, and cuts what is longer without a word."""

    COLUMN = 65_535

    def original(self, name: str) -> Answer:
        answer = super().original(name)
        if answer.text is None:
            return answer
        return replace(answer, text=_decoded(answer.text.encode("utf-8", "surrogatepass")[: self.COLUMN]))


class CutsInsideCharacters(Rolling):
    """Long originals come in pieces of 1,000 bytes, each decoded by itself, what cannot be decoded left out."""

    PIECE = 1000

    def get(self, token: str) -> Answer:
        token, _, place = token.partition("#")
        answer, at = super().get(token), int(place or 0)
        data = (answer.text or "").encode("utf-8", "surrogatepass")
        if answer.kind is not AnswerKind.FOUND or len(data) <= self.PIECE:
            return answer
        end = at + self.PIECE
        piece = replace(answer, text=_decoded(data[at:end]))
        if end >= len(data):
            return piece
        return replace(piece, kind=AnswerKind.PARTIAL, continuation=f"{token}#{end}")


class CutsInsideLongPages(CutsInsideCharacters):
    """The same with pages of the size that stores like to have."""

    PIECE = 4096


class EndsAtTheZero(Rolling):
    """A text ends where a zero byte stands, as strings of C do."""

    def kept(self, turn: Turn) -> Turn:
        return turn if turn.text is None else replace(turn, text=turn.text.partition("\0")[0])


class KeepsEqualResultsOnce(Rolling):
    """A tool's result that says what an earlier one said is kept as a reference to that one."""

    def commit(self, old: Sequence[Turn], text: str) -> Outcome:
        state = self.state
        for turn in old:
            if turn.speaker == "tool":
                same = (n for n in state.tokens if n in state.turns and state.turns[n].speaker == "tool")
                equal = next((n for n in same if whole(state.turns[n]) == whole(turn)), None)
                state.tokens[turn.id] = self.token(turn.id) if equal is None else state.tokens[equal]
        return super().commit(old, text)


class NamesFilesByTheId(Rolling):
    """What is no letter or digit of an id becomes one sign of a file's name, in small letters."""

    def known(self, name: str) -> bool:
        return _slug(name) in map(_slug, (*self.state.turns, *self.state.erased))


class ScansByThePrefix(Rolling):
    """The rows of a session are found by what their keys begin with, without the sign at its end."""

    def search(self, literal: str) -> Answer:
        answer = super().search(literal)
        if answer.kind is AnswerKind.FOUND:
            return answer
        mine = "/".join(self.at[:2])
        for lane, state in self.store.items():
            if "/".join(lane[:2]).startswith(mine) and lane[:2] != self.at[:2]:
                for name, turn in state.turns.items():
                    if literal in whole(turn):
                        return Answer(kind=AnswerKind.FOUND, text=whole(turn), source=name, evidence=True)
        return answer


class JoinsUserAndSession(Rolling):
    """The key of a session is its user and its name, with nothing between them."""

    def name(self, session: str, user: str, branch: str) -> Lane:
        return (user + session, "", branch)


class ComparesNamesWithoutCase(Rolling):
    """Names of sessions and users go by a collation of the database that knows no case."""

    def name(self, session: str, user: str, branch: str) -> Lane:
        return (user.lower(), session.lower(), branch)


class KnowsOneBranchBelow(Rolling):
    """A branch of a branch has the window of its parent, and the store of the first branch alone."""

    def fork(self, branch: str) -> None:
        parent = self.at
        super().fork(branch)
        first = self.store.get((*parent[:2], "main"))
        if parent[2] == "main" or first is None:
            return
        state = self.state
        for name in [name for name in state.turns if name not in first.turns and name not in state.window]:
            del state.turns[name]
            state.gone[state.tokens.pop(name, "")] = AnswerKind.UNANCHORED
            state.covered = [covered for covered in state.covered if covered != name]


class SearchesByLike(Rolling):
    """The literal goes into SQL's LIKE as it is: `_` stands for any sign, and `%` for any number of them."""

    def search(self, literal: str) -> Answer:
        pattern = re.compile("".join(WILD.get(sign, re.escape(sign)) for sign in literal), re.DOTALL)
        for name, turn in reversed(self.state.turns.items()):
            if pattern.search(whole(turn)):
                return self.original(name)
        return Answer(kind=AnswerKind.UNANCHORED)


class ReadsNumbersWithoutTheirSign(Rolling):
    """A slot's value is read by a pattern for numbers that knows no sign."""

    def reconstitute(self, subject: str, attribute: str, evidence: bool) -> Answer:
        answer = super().reconstitute(subject, attribute, evidence)
        signed = answer.value is not None and re.match(r"[-−]\d", answer.value)
        return replace(answer, value=answer.value[1:]) if signed and answer.value else answer


class _LetsGo(Outstanding):
    """What was outstanding when it was let go of is nowhere."""

    def let_go(self, lanes: Sequence[Lane]) -> None:
        for lane, name in self.queue:
            state = self.store[lane]
            if lane in lanes and name in state.turns and name not in state.window:
                state.turns[name] = replace(state.turns[name], text="", data=None, calls=())
                if name in state.tokens:
                    state.gone[state.tokens[name]] = AnswerKind.UNANCHORED
        self.queue = [(lane, name) for lane, name in self.queue if lane not in lanes]

    def original(self, name: str) -> Answer:
        answer = super().original(name)
        empty = answer.kind is AnswerKind.FOUND and answer.text is None and answer.data is None
        return Answer(kind=AnswerKind.UNANCHORED) if empty else answer


class LosesCopiesWhenItIsLeft(_LetsGo):
    """Going over to another session ends the task that copies."""

    def switch(self, session: str, user: str, branch: str = "main") -> None:
        self.let_go(list(self.store))
        super().switch(session, user, branch)


class LosesCopiesWhenTheModelFails(_LetsGo):
    """Where the model fails the whole group of tasks is ended, with the copies of the compaction before."""

    def compact(self) -> Outcome:
        outcome = super().compact()
        if outcome.kind is OutcomeKind.FAILED:
            self.let_go([self.at])
        return outcome


class LosesCopiesWhenABranchBegins(_LetsGo):
    """A branch begins with a store of its own, and ends what was under way in the one that it leaves."""

    def fork(self, branch: str) -> None:
        self.let_go([self.at])
        super().fork(branch)


class _Manifests(Rolling):
    """Keeps bytes in the window, and gives out what its summary says of slots, each looked up in its source."""

    OPAQUE_TOO = False

    def literal(self, value: str) -> str:
        return value

    def supports(self, turn: Turn, said: Statement) -> bool:
        return not in_anothers_mouth(self.text(), said, turn)

    def manifest(self, carrier: str) -> Sequence[Entry]:
        if self.state.summary is None or carrier != self.summary_id():
            return []
        entries = []
        for said in statements(self.text()):
            turns = [self.state.turns[n] for n in self.state.covered]
            sources = [t.id for t in turns if said.sentence.strip() in whole(t) and self.supports(t, said)]
            if sources:
                literal = self.literal(said.value)
                slot = {"subject": said.subject, "attribute": said.attribute}
                entries.append(Entry(literal=literal, source=sources[-1], **slot))
        return entries


class ManifestsWithoutTheNot(_Manifests):
    """An entry has the value, and not the word before it that denies or doubts it."""

    def literal(self, value: str) -> str:
        return re.sub(r"^(?:not|probably) ", "", value)


class ManifestsWithoutTheUnit(_Manifests):
    """An entry has the number, and not what it counts."""

    def literal(self, value: str) -> str:
        return value.split(" ")[0] if value[:1].isdigit() else value


class ManifestsWhatItSays(_Manifests):
    """Right: an entry has the value as it was said."""


class NotesInGerman(Rolling):
    """Right: what is left out is named, in the language of those who read it."""

    def note(self) -> str:
        count = len(self.state.covered)
        return f"[Der Wortlaut von {count} früheren Beiträgen ist hier ausgelassen und kann nachgelesen werden.]"


class ShowsItsNotesBare(Rolling):
    """Right: the model is shown its own notes without the line that the window has under them; after an erasure a
    sentence of the compactor's stands in their place."""

    def prompt(self, old: Sequence[Turn]) -> list[str]:
        earlier = [] if self.state.summary is None else [self.state.summary]
        return ["Summarise these turns.", *earlier, *map(whole, old)]


class WithdrawsItsNotes(ShowsItsNotesBare):
    """Right: the same after turns were taken back; pointers to those that stay are kept."""

    def withdraw(self, back: set[str]) -> None:
        state = self.state
        state.covered = [name for name in state.covered if name not in back]
        state.generation += 1
        state.summary = "Notes were withdrawn: turns under them were taken back." if state.covered else None


class AnswersInPieces(Rolling):
    """Right: a long original comes in pieces of a few characters, none of them cut inside one; a very long one in two
    hundred."""

    PIECE = 50

    def get(self, token: str) -> Answer:
        token, _, place = token.partition("#")
        answer, at = super().get(token), int(place or 0)
        text = answer.text or ""
        if answer.kind is not AnswerKind.FOUND or len(text) <= self.PIECE:
            return answer
        end = at + max(self.PIECE, len(text) // 200)
        piece = replace(answer, text=text[at:end])
        return piece if end >= len(text) else replace(piece, kind=AnswerKind.PARTIAL, continuation=f"{token}#{end}")


class HasLongNames(Rolling):
    """Right: tokens and names of summaries are long, with blanks, strokes and signs of other scripts."""

    def token(self, name: str) -> str:
        return f"urn:архив/{'ключ é 鍵/' * 300}{super().token(name)}"

    def summary_id(self) -> str:
        return f"résumé № {self.state.generation} / {'x' * 3000}"


class SaysThatItLooksAtTheNearest(Rolling):
    """Right: search takes the nearest turns by the letters that they share, returns what says the literal, and where
    none does says how many it did not look at."""

    NEAREST = 40

    def search(self, literal: str) -> Answer:
        triples = _triples(literal)
        turns = sorted(self.state.turns.values(), key=lambda turn: -len(triples & _triples(whole(turn))))
        found = next((turn for turn in turns[: self.NEAREST] if literal in whole(turn)), None)
        if found is not None:
            return self.original(found.id)
        left = len(turns) - self.NEAREST
        if left <= 0:
            return Answer(kind=AnswerKind.UNANCHORED)
        return Answer(kind=AnswerKind.DEGRADED, reason=f"{left} turns were not looked at")


def _decoded(data: bytes) -> str:
    return data.decode("utf-8", "ignore")


def _slug(name: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", name.lower())


def _triples(text: str) -> set[str]:
    return {text[at : at + 3].lower() for at in range(len(text) - 2)}


RIGHT: tuple[type[Any], ...] = (Rolling, Outstanding)

HONEST: tuple[type[Any], ...] = (
    AnswersInPieces,
    HasLongNames,
    SaysThatItLooksAtTheNearest,
    ManifestsWhatItSays,
    NotesInGerman,
    ShowsItsNotesBare,
    WithdrawsItsNotes,
)

WRONG: tuple[tuple[type[Any], str], ...] = (
    (SearchesOnePage, "REC-4"),
    (SharesItsCache, "ISO-1"),
    (ReadsOneCallOfATurn, "STR-1"),
    (RemembersThatThereWasNothing, "REC-4"),
    (ShowsTheHeadOfResults, "PTR-3"),
    (CutsAtTheColumnsEnd, "PTR-1"),
    (CutsInsideCharacters, "PTR-1"),
    (CutsInsideLongPages, "PTR-1"),
    (EndsAtTheZero, "IDX-1"),
    (KeepsEqualResultsOnce, "IDX-2"),
    (KeepsEqualResultsOnce, "EPO-2"),
    (NamesFilesByTheId, "IDX-1"),
    (ScansByThePrefix, "ISO-1"),
    (JoinsUserAndSession, "ISO-1"),
    (ComparesNamesWithoutCase, "ISO-1"),
    (KnowsOneBranchBelow, "ANC-1"),
    (SearchesByLike, "REC-1"),
    (ReadsNumbersWithoutTheirSign, "REC-1"),
    (ManifestsWithoutTheNot, "MAN-2"),
    (ManifestsWithoutTheUnit, "MAN-2"),
    (LosesCopiesWhenItIsLeft, "PTR-5"),
    (LosesCopiesWhenTheModelFails, "PTR-5"),
    (LosesCopiesWhenABranchBegins, "PTR-5"),
)
"""Each with a rule that it breaks."""
