"""One Markdown file for the whole session: what leaves the window is appended to it, and the summary names its path.

The window itself is a second file, replaced as a whole, so that a compaction is: append to the archive, then replace.
"""

import hashlib
import re
import tempfile
from pathlib import Path
from typing import Any
from urllib.parse import quote, unquote

import msgspec

from anchorhold.compactor import (
    Description,
    Mechanism,
    OperationError,
    Settings,
    Shown,
    Summarise,
    SummariserError,
)
from anchorhold_spec.vocabulary import Answer, AnswerKind, CarrierKind, Item, Outcome, Pointer, Turn
from compactors.common import (
    committed,
    failed,
    limit,
    noted,
    nothing,
    objection,
    raw,
    refused,
    replaceable,
    size,
    whole,
    without,
)

SECTION = re.compile(r"^## (?P<turn>\S+) (?P<speaker>\S+) (?P<length>\d+) (?P<digest>[0-9a-f]{64})\n", re.MULTILINE)
PATH = "/history.md"


class Window(msgspec.Struct):
    """What stands in the window's file."""

    turns: list[Turn] = []
    summary: str = ""
    number: int = 0
    known: list[str] = []


class FileArchive:
    """The archive, done right."""

    points = ("archive", "window")

    def describe(self) -> Description:
        return Description(
            name=type(self).__name__,
            version="1",
            mechanisms=frozenset({Mechanism.SUMMARISER}),
            crash_points=self.points,
        )

    def open(self, settings: Settings, summarise: Summarise) -> Settings:
        self.settings, self.summarise = settings, summarise
        self.directory = tempfile.TemporaryDirectory(prefix="file-archive-")
        self.archive = Path(self.directory.name) / "history.md"
        self.file = Path(self.directory.name) / "window.json"
        self.armed: str | None = None
        self.window = Window()
        self.save()
        return settings

    def close(self) -> None:
        if hasattr(self, "directory"):
            self.directory.cleanup()

    def save(self) -> None:
        fresh = self.file.with_suffix(".new")
        fresh.write_bytes(msgspec.json.encode(self.window))
        fresh.replace(self.file)

    def die(self, point: str) -> None:
        if self.armed == point:
            raise OperationError(f"died at {point}", definite=False)

    # The window

    def append(self, turn: Turn) -> None:
        if turn.id not in self.window.known:
            self.window.known.append(turn.id)
            self.window.turns.append(turn)
            self.save()

    def live(self) -> list[Item]:
        items = [raw(turn) for turn in self.window.turns]
        if not self.window.number:
            return items
        return [Item(id=f"summary-{self.window.number}", kind=CarrierKind.SUMMARY, text=self.text()), *items]

    def text(self) -> str:
        return f"{noted(self.window.summary, self.archived())}\nEverything before is in {PATH}."

    def archived(self) -> int:
        return len(self.window.known) - len(self.window.turns)

    def compact(self) -> Outcome:
        window = self.window
        if size([self.text() if window.number else "", *window.turns]) <= limit(self.settings):
            return nothing("the window is under its watermark")
        old = self.choose(window.turns)
        if not old:
            return nothing("nothing but the latest turns is left")
        earlier = [window.summary] if window.number else []
        shown = Shown(messages=("Summarise what follows.", *earlier, *(whole(turn) for turn in old)))
        try:
            reply = self.summarise(shown)
        except SummariserError as error:
            return failed(str(error))
        why = objection(reply, shown, earlier)
        if why is not None:
            return refused(why)
        self.carry_out(old, reply.text)
        return committed(f"summary-{self.window.number}", (turn.id for turn in old))

    def choose(self, turns: list[Turn]) -> list[Turn]:
        return replaceable(turns, keep=self.settings.keep)

    def carry_out(self, old: list[Turn], text: str) -> None:
        self.put(old)
        self.die("archive")
        self.commit(old, text)
        self.die("window")

    def put(self, old: list[Turn]) -> None:
        with self.archive.open("a", newline="") as file:
            for turn in old:
                text = whole(turn)
                digest = hashlib.sha256(text.encode()).hexdigest()
                file.write(f"## {quote(turn.id)} {turn.speaker} {len(text)} {digest}\n{text}\n")

    def commit(self, old: list[Turn], text: str) -> None:
        rest = without(self.window.turns, old)
        self.window = Window(turns=rest, summary=text, number=self.window.number + 1, known=self.window.known)
        self.save()

    # Getting back

    def pointers(self) -> list[Pointer]:
        return [Pointer(summary=f"summary-{self.window.number}", token=PATH)] if self.window.number else []

    def sections(self) -> list[tuple[str, str]]:
        """Each archived turn with its text. Raises where a text does not have the digest that it was written with."""
        if not self.archive.exists():
            return []
        whole = self.archive.read_bytes().decode(errors="replace")
        found = []
        for match in SECTION.finditer(whole):
            text = whole[match.end() : match.end() + int(match["length"])]
            if self.checked() and hashlib.sha256(text.encode()).hexdigest() != match["digest"]:
                raise OperationError(f"{PATH}: turn {match['turn']} does not have the digest {match['digest'][:12]}")
            found.append((unquote(match["turn"]), text))
        return found

    def checked(self) -> bool:
        return True

    def get(self, token: str) -> Answer:
        if token != PATH or not self.archive.exists():
            return self.missing(token)
        return Answer(kind=AnswerKind.FOUND, text="\n\n".join(text for _, text in self.sections()), evidence=True)

    def missing(self, token: str) -> Answer:
        return Answer(kind=AnswerKind.FOREIGN)

    def search(self, literal: str) -> Answer:
        for turn, text in reversed(self.sections()):
            if literal in text:
                return Answer(kind=AnswerKind.FOUND, text=text, source=turn, evidence=True)
        return Answer(kind=AnswerKind.UNANCHORED)

    # Faults

    def reopen(self) -> None:
        self.armed = None
        self.window = msgspec.json.decode(self.file.read_bytes(), type=Window)

    def crash(self, point: str) -> None:
        self.armed = point

    def corrupt(self, token: str) -> bool:
        if token != PATH or not self.archive.exists():
            return False
        whole = self.archive.read_bytes().decode()
        first = next(SECTION.finditer(whole), None)
        if first is None:
            return False
        self.archive.write_bytes(f"{whole[: first.end()]}####{whole[first.end() + 4 :]}".encode())
        return True


class CommitsBeforeItArchives(FileArchive):
    points = ("window", "archive")

    def carry_out(self, old: list[Turn], text: str) -> None:
        self.commit(old, text)
        self.die("window")
        self.put(old)
        self.die("archive")


class ArchivesInTheBackground(FileArchive):
    """The archive is written with the next compaction, and nothing says that it is not there yet."""

    def carry_out(self, old: list[Turn], text: str) -> None:
        late: list[Turn] = getattr(self, "late", [])
        self.put(late)
        self.late = old
        self.commit(old, text)


class ArchivesTheSummaryInstead(FileArchive):
    def put(self, old: list[Turn]) -> None:
        text = f"{len(old)} turns were summarised"
        super().put([Turn(id="note", speaker="system", text=text)])


class ArchivesEqualTextOnce(FileArchive):
    def put(self, old: list[Turn]) -> None:
        texts = {text for _, text in self.sections()}
        fresh: dict[str, Turn] = {whole(turn): turn for turn in old if whole(turn) not in texts}
        super().put(list(fresh.values()))


class CutsLongTurns(FileArchive):
    """Keeps the first eighty characters of each turn."""

    def put(self, old: list[Turn]) -> None:
        super().put([Turn(id=turn.id, speaker=turn.speaker, text=(whole(turn))[:80]) for turn in old])


class StartsTheFileAnew(FileArchive):
    """Every compaction writes the file from the start."""

    def put(self, old: list[Turn]) -> None:
        self.archive.unlink(missing_ok=True)
        super().put(old)


class ServesADamagedFile(FileArchive):
    def checked(self) -> bool:
        return False


class AnswersWithTheErrorText(FileArchive):
    def missing(self, token: str) -> Answer:
        return Answer(kind=AnswerKind.FOUND, text=f"Error: File '{token}' not found")

    def search(self, literal: str) -> Answer:
        answer = super().search(literal)
        if answer.kind is AnswerKind.FOUND:
            return answer
        return Answer(kind=AnswerKind.FOUND, text=f"No matches found for '{literal}' in {PATH}")


class LeavesItsLockBehind(FileArchive):
    """A crash leaves the lock, and whoever finds it thinks that somebody else is at work."""

    def carry_out(self, old: list[Turn], text: str) -> None:
        lock = self.file.with_suffix(".lock")
        if lock.exists():
            raise OperationError("another compaction is running", definite=True)
        lock.touch()
        super().carry_out(old, text)
        lock.unlink()


class KeepsTheTurnsThatItSummarised(FileArchive):
    """The summary is one write and the removal of the turns another."""

    points = ("archive", "summary", "window")

    def commit(self, old: list[Turn], text: str) -> None:
        rest = without(self.window.turns, old)
        self.window = Window(
            turns=self.window.turns, summary=text, number=self.window.number + 1, known=self.window.known
        )
        self.save()
        self.die("summary")
        self.window.turns = rest
        self.save()


class DropsTheWindowFirst(FileArchive):
    """The turns leave the window before anything else is written."""

    points = ("removal", "archive", "window")

    def carry_out(self, old: list[Turn], text: str) -> None:
        summary: dict[str, Any] = {
            "summary": self.window.summary,
            "number": self.window.number,
            "known": self.window.known,
        }
        self.window = Window(turns=without(self.window.turns, old), **summary)
        self.save()
        self.die("removal")
        self.put(old)
        self.die("archive")
        self.window = Window(
            turns=self.window.turns, summary=text, number=self.window.number + 1, known=self.window.known
        )
        self.save()
        self.die("window")
