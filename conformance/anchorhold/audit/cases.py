"""What was compacted, kept whole: for replaying it, and for writing it down as a history."""

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from anchorhold.audit.claims import STANDING
from anchorhold.audit.facts import Lines
from anchorhold.audit.finding import Finding
from anchorhold.audit.judging import SessionAudit
from anchorhold.audit.model import Compaction, Damage, Piece, Role, Turn
from anchorhold.audit.readers import detect
from anchorhold_spec import vocabulary


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """One compaction with all that it replaced and kept."""

    finding: Finding
    compaction: Compaction
    replaced: tuple[Turn, ...]
    kept: tuple[Turn, ...]
    before: Turn | None = None
    """The summary before it, which it replaced as well."""


class _Keeping(SessionAudit):
    """Keeps what each compaction replaced."""

    def __init__(self, lines: Lines) -> None:
        super().__init__(lines)
        self.cases: list[Case] = []

    def compaction(self, compaction: Compaction) -> None:
        replaced, kept = self._split(compaction)
        held, before = (tuple(replaced), tuple(kept)), self.before()
        super().compaction(compaction)
        assert self._watch is not None
        finding = self._watch.finding
        self.cases.append(Case(finding=finding, compaction=compaction, replaced=held[0], kept=held[1], before=before))


def _unheard(damage: Damage) -> None:
    """The audit itself has told of it."""


def cases_of(path: Path, report: Callable[[Damage], None] = _unheard) -> Iterator[Case]:
    """The compactions of a file, judged. Raises `OSError`."""
    form = detect(path)
    if form is None:
        return
    lines = Lines()
    followed: dict[str, _Keeping] = {}
    for event in form.read(path, report):
        if isinstance(event, Damage):
            report(event)
            continue
        audit = followed.setdefault(event.session, _Keeping(lines))
        if isinstance(event, Turn):
            audit.turn(event)
        else:
            audit.compaction(event)
    for audit in followed.values():
        audit.close()
        yield from audit.cases


_SPEAKER = {Role.SYSTEM: "system", Role.USER: "user", Role.ASSISTANT: "assistant", Role.RESULT: "tool"}


def in_vocabulary(turn: Turn) -> Iterator[vocabulary.Turn]:
    """A turn of a file as turns of the suite: each result by itself, and calls with what the agent said with them."""
    said: list[Piece] = []
    calls: dict[str, tuple[str, dict[str, str]]] = {}
    results: dict[str, list[str]] = {}
    for piece in turn.pieces:
        if piece.role is Role.CALL:
            _, arguments = calls.setdefault(piece.call or f"call {turn.record}", (piece.tool or "call", {}))
            key = piece.field.rpartition("/")[2] or "arguments"
            arguments[key if key not in arguments else f"{key}#{len(arguments)}"] = piece.text
        elif piece.role is Role.RESULT:
            results.setdefault(piece.call or "", []).append(piece.text)
        elif piece.role is not Role.THINKING:
            said.append(piece)
    if said or calls:
        yield vocabulary.Turn(
            id=f"r{turn.record}",
            speaker=_SPEAKER[said[0].role] if said else "assistant",
            text="\n".join(piece.text for piece in said) or None,
            calls=tuple(
                vocabulary.ToolCall(id=call, name=name, arguments=json.dumps(arguments, ensure_ascii=False))
                for call, (name, arguments) in calls.items()
            ),
            # A request with a rule that is to hold from then on (STR-4).
            protected=turn.human and any(STANDING.search(piece.text) for piece in said if len(piece.text) <= 4000),
        )
    for index, (call, texts) in enumerate(results.items()):
        yield vocabulary.Turn(
            id=f"r{turn.record}.{index}", speaker="tool", text="\n".join(texts), result_of=call or None
        )
