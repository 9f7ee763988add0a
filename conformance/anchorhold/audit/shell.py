"""What a shell command does to files: which it deletes or overwrites, and what it writes into one.

Read, not run: a command whose words cannot be told (variables, substitutions) is taken to touch nothing.
"""

import re
import shlex
from collections.abc import Iterator
from fnmatch import fnmatchcase

COMMANDS = frozenset({"command", "cmd", "script", "code"})
"""Names of the arguments that are commands."""
_HEREDOC = re.compile(r"<<-?\s*(['\"]?)([A-Za-z_]\w*)\1[^\n]*\n")
_WRITES = re.compile(r"(?<![\d&<>])>>?\s*[^\s&|;<>()]|\btee\b")
_PRINTS = re.compile(
    r"(?<![\w/.-])(?:echo|printf)\s+((?:'[^']*'|\"(?:[^\"\\]|\\.)*\"|[^\s'\"&|;<>]|[ \t])+?)\s*>>?\s*[^\s&]"
)
_TAKES = re.compile(r"\b(?:rm|unlink|shred|rmdir|trash|mv|cp)\b|>")
"""Without any of these a line takes nothing away; to read every word costs more."""
_STOPS = frozenset({"&&", "||", ";", "|", "&", "(", ")"})
_GONE = frozenset({"rm", "unlink", "shred", "rmdir", "trash"})


def products(command: str) -> list[tuple[int, int]]:
    """Where a command has text that it writes into a file: here-documents that end in one, words that are echoed."""
    spans = []
    at = 0
    while (match := _HEREDOC.search(command, at)) is not None:
        end = re.compile(rf"^\t*{re.escape(match.group(2))}[ \t]*$", re.MULTILINE).search(command, match.end())
        stop = end.start() if end else len(command)
        line = command[command.rfind("\n", 0, match.start()) + 1 : match.end()]
        # `cat <<X > file` writes it; `python - <<X` runs it, and `git commit -F - <<X` asks for something.
        if _WRITES.search(line):
            spans.append((match.end(), stop))
        at = end.end() if end else len(command)
    spans += [match.span(1) for match in _PRINTS.finditer(_blanked(command, spans))]
    return spans


def _blanked(command: str, spans: list[tuple[int, int]]) -> str:
    for start, end in spans:
        command = command[:start] + " " * (end - start) + command[end:]
    return command


def destroyed(command: str) -> Iterator[str]:
    """The files (or folders, or patterns) whose content a command takes away: deleted, moved, or overwritten."""
    command = _blanked(command, products(command))
    for line in command.split("\n"):
        if _TAKES.search(line) is None:
            continue
        lexer = shlex.shlex(line, posix=True, punctuation_chars="();<>|&")
        lexer.whitespace_split = True
        try:
            words = list(lexer)
        except ValueError:
            continue  # quotes that do not close on the line
        run: list[str] = []
        for word in [*words, ";"]:
            if word in _STOPS:
                yield from _destroyed(run)
                run = []
            else:
                run.append(word)


def _destroyed(words: list[str]) -> Iterator[str]:
    plain: list[str] = []
    skip = False
    for index, word in enumerate(words):
        if skip:
            skip = False
        elif word in {">", ">|"} and index + 1 < len(words):
            yield words[index + 1]
            skip = True
        elif set(word) <= set("<>&|"):
            skip = True
        else:
            plain.append(word)
    while plain and (plain[0] in {"sudo", "git", "command"} or re.fullmatch(r"\w+=\S*", plain[0])):
        plain.pop(0)
    operands = [word for word in plain[1:] if not word.startswith("-")]
    if not plain or "--cached" in plain:
        return
    if plain[0] in _GONE:
        yield from operands
    elif plain[0] in {"mv", "cp"} and len(operands) > 1:
        if plain[0] == "mv":
            yield from operands[:-1]
        # The last may be a folder that something is put into: that takes nothing away.
        if len(operands) == 2 and "." in operands[1].rpartition("/")[2].strip("."):
            yield operands[1]


def covers(given: str, file: str) -> bool:
    """Whether a word of a command speaks of a file: its name, a folder above it, or a pattern."""
    bare = given.rstrip("/")
    return file == bare or file.startswith(bare + "/") or (any(c in bare for c in "*?[") and fnmatchcase(file, bare))
