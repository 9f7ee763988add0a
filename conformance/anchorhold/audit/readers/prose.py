"""Transcripts that are text: aider's Markdown, the console of an agent, logs of conversations, and any other text."""

import re
from collections.abc import Callable, Iterator
from pathlib import Path

from anchorhold.audit.model import Damage, Event, Piece, Role, Turn
from anchorhold.audit.readers.source import lines, open_bytes

MOST_TURN = 1 << 20
"""Characters of one turn: what is longer is cut into several."""
_STARTED = re.compile(r"# aider chat started at (.*)")
_SPEAKER = re.compile(
    r"\[\d{1,2}:\d{2}(?::\d{2})?\] <[^>]+>(?: |$)|(?:\[\d{1,2}:\d{2}\])? ?\* |(?P<event>=== |\*\*\* )"
)
_NEW_LOG = re.compile(r"### LOG (\S+)")
_CONSOLE = re.compile(r"(?P<user>> )|(?P<agent>[⏺●✦] )|(?P<result>\s*⎿)")
_CALL = re.compile(r"[⏺●✦] ([A-Z]\w*)\((.*)")


_TOLD = re.compile(
    r"^\[\d{1,2}:\d{2}(?::\d{2})?\] <[^>]+>|^(?:User|Human|Assistant|AI|Agent|System|Tool): ", re.MULTILINE
)
_SHOWN = re.compile(r"^(?:[⏺●✦] |\s*⎿|> )", re.MULTILINE)
MARKS = 3
"""Lines that begin like a conversation's, before text that nobody named is taken for one."""


def is_aider(head: bytes) -> bool:
    """Whether a file has aider's heading, at the beginning of a line."""
    return re.search(rb"^# aider chat started at ", head, re.MULTILINE) is not None


def is_console(head: bytes) -> bool:
    """Whether lines of a file begin as an agent's console has them: its own marks, and more than one kind of line."""
    kinds = {match.group().strip() for match in _SHOWN.finditer(head.decode("utf-8", "replace"))}
    return len(kinds) > 1 and kinds != {">"}


def is_conversation(head: bytes) -> bool:
    """Whether a text has the marks of a conversation: times with names, or speakers, at the beginning of lines."""
    return len(_TOLD.findall(head.decode("utf-8", "replace"))) >= MARKS


def _decoded(path: Path, report: Callable[[Damage], None]) -> Iterator[tuple[int, str]]:
    with open_bytes(path) as file:
        for number, line in enumerate(lines(file, report)):
            try:
                yield number, line.decode("utf-8")
            except UnicodeDecodeError as error:
                report(Damage(kind="encoding", record=number, detail=f"not UTF-8 at byte {error.start}"))
                yield number, line.decode("utf-8", "replace")


class _Run:
    """Lines of one kind that follow each other."""

    def __init__(self, session: str) -> None:
        self.session, self.role, self.start, self.parts, self.size = session, Role.SYSTEM, 0, list[str](), 0

    def end(self) -> Iterator[Turn]:
        text = "".join(self.parts)
        if text.strip():
            piece = Piece(role=self.role, text=text, tool="console" if self.role is Role.CALL else None)
            yield Turn(
                session=self.session,
                record=self.start,
                pieces=(piece,),
                human=self.role is Role.USER,
                # What a log says of itself is no message.
                counted=self.role is not Role.SYSTEM,
            )
        self.parts, self.size = [], 0

    def add(self, number: int, role: Role, text: str, *, fresh: bool = False) -> Iterator[Turn]:
        if self.parts and (fresh or role is not self.role or self.size > MOST_TURN):
            yield from self.end()
        if not self.parts:
            self.role, self.start = role, number
        self.parts.append(text)
        self.size += len(text)


def aider(path: Path, report: Callable[[Damage], None]) -> Iterator[Event]:
    """aider's chat history: `#### ` the user, `> ` tools and the program, all else the assistant."""
    run = _Run(f"{path.stem}:0")
    sessions = 0
    for number, line in _decoded(path, report):
        started = _STARTED.match(line)
        if started:
            yield from run.end()
            sessions += 1
            run.session = f"{path.stem}:{sessions}"
        elif line.startswith("####"):
            yield from run.add(number, Role.USER, line[5:])
        elif line.startswith(">"):
            yield from run.add(number, Role.RESULT, line[2:])
        elif line.strip() or run.role is Role.ASSISTANT:
            yield from run.add(number, Role.ASSISTANT, line)
    yield from run.end()


def console(path: Path, report: Callable[[Damage], None]) -> Iterator[Event]:
    """What an agent's console showed: `> ` the user, a bullet the assistant or its call, `⎿` a result."""
    run = _Run(path.stem)
    for number, line in _decoded(path, report):
        mark = _CONSOLE.match(line)
        if mark and mark.lastgroup == "user":
            yield from run.add(number, Role.USER, line[2:], fresh=True)
        elif mark and mark.lastgroup == "agent":
            role = Role.CALL if _CALL.match(line) else Role.ASSISTANT
            yield from run.add(number, role, line[2:], fresh=True)
        elif mark:
            yield from run.add(
                number, Role.RESULT, line.lstrip().removeprefix("⎿"), fresh=run.role is not Role.RESULT
            )
        else:
            yield from run.add(number, run.role, line)
    yield from run.end()


def plain(path: Path, report: Callable[[Damage], None]) -> Iterator[Event]:
    """Any text. Lines that begin like a conversation's are turns of their own; else paragraphs are."""
    run, spoken = _Run(path.stem), False
    for number, line in _decoded(path, report):
        begun = _NEW_LOG.match(line)
        if begun:
            yield from run.end()
            run.session = f"{path.stem}:{begun.group(1)}"
        elif speaker := _SPEAKER.match(line):
            spoken = spoken or not speaker.group("event")
            role = Role.SYSTEM if spoken and speaker.group("event") else Role.USER
            yield from run.add(number, role, line, fresh=True)
        elif line.strip() or spoken:
            yield from run.add(number, Role.USER, line)
        else:
            yield from run.end()
    yield from run.end()
