"""Histories written by hand, for the tests of the checkers."""

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from anchorhold.compactor import Settings
from anchorhold.history import Event, EventType, Header
from anchorhold.verdict import History
from anchorhold.workload import AnyStep, Append, Compact, Workload
from anchorhold_spec.vocabulary import (
    Answer,
    AnswerKind,
    CarrierKind,
    Entry,
    Fact,
    Item,
    Outcome,
    OutcomeKind,
    Pointer,
    Tombstone,
    Turn,
)

ALL = (
    "append", "compact", "live", "pointers", "get", "search", "reconstitute", "manifest", "tombstones", "tombstone",
    "evict", "expire", "reopen", "crash", "corrupt", "status", "switch",
)  # fmt: skip
PLAIN = ("append", "compact", "live")
KEEPING = (*PLAIN, "pointers", "get")

COMMITTED = Outcome(kind=OutcomeKind.COMMITTED)
NOTHING = Outcome(kind=OutcomeKind.NOTHING, reason="the window is small enough")
FAILED = Outcome(kind=OutcomeKind.FAILED, reason="rate limit")
REFUSED = Outcome(kind=OutcomeKind.REFUSED, reason="no summary")


def slot(subject: str, attribute: str, value: str) -> Fact:
    return Fact(text=f"The {attribute} of {subject} is {value}.", literal=value, subject=subject, attribute=attribute)


def raw(turn: str, text: str, *, named: bool = True) -> Item:
    return Item(id=f"m-{turn}", kind=CarrierKind.RAW, text=text, turn=turn if named else None)


def summary(name: str, text: str, *, covers: Sequence[str] | None = None, pending: bool = False) -> Item:
    return Item(
        id=name,
        kind=CarrierKind.SUMMARY,
        text=text,
        covers=None if covers is None else tuple(covers),
        pending=pending,
    )


def point(turn: str, token: str, *, key: str | None = None, epoch: int | None = None) -> Pointer:
    return Pointer(summary="s1", token=token, covers=(turn,), key=key, epoch=epoch)


def found(text: str, **more: Any) -> Answer:
    return Answer(kind=AnswerKind.FOUND, text=text, **more)


def answer(kind: AnswerKind, **more: Any) -> Answer:
    return Answer(kind=kind, **more)


# What is said in many of these histories.
ONE = "Please look at the rollout first."
TWO = "The canary was green all night."
THREE = "Then the import job can follow."
TARGET = slot("job J-88", "deploy target", "/srv/a7")
SIBLING = slot("job J-89", "deploy target", "/srv/b3")
FULL = (*KEEPING, "search", "reconstitute", "evict", "corrupt")
SHORT = [summary("s1", "In short.")]


class Play:
    """Events, one operation after the other, as the runner would have written them."""

    def __init__(
        self,
        operations: Sequence[str] = PLAIN,
        *,
        mechanisms: Sequence[str] = (),
        settings: Settings | None = None,
    ) -> None:
        self.operations = tuple(operations)
        self.mechanisms = tuple(mechanisms)
        self.settings = settings or Settings()
        self.events: list[Event] = []
        self.steps: list[AnyStep] = []
        self.texts: dict[str, str] = {}

    def _event(
        self, kind: EventType, op: str, value: Any = None, error: str | None = None, process: str = "main"
    ) -> None:
        self.events.append(
            Event(
                index=len(self.events),
                step=max(0, len(self.steps) - 1),
                type=kind,
                op=op,
                value=msgspec.to_builtins(value),
                error=error,
                process=process,
            )
        )

    def call(
        self,
        op: str,
        arguments: Mapping[str, Any] | None = None,
        result: Any = None,
        *,
        ended: EventType = EventType.OK,
        error: str | None = None,
        asked: Sequence[tuple[Sequence[str], Any]] = (),
    ) -> "Play":
        """One operation; `asked` are the calls of the summariser inside it: what it was shown, what it answered."""
        self._event(EventType.INVOKE, op, dict(arguments or {}))
        for messages, reply in asked:
            self._event(EventType.INVOKE, "summarise", {"messages": list(messages)})
            if isinstance(reply, Exception):
                self._event(EventType.FAIL, "summarise", None, str(reply))
            else:
                text, mode = reply if isinstance(reply, tuple) else (reply, "faithful")
                finish = {"truncated": "length", "refusal": "refusal"}.get(mode, "stop")
                self._event(EventType.OK, "summarise", {"text": text, "finish": finish, "mode": mode})
        self._event(ended, op, result if ended is EventType.OK else None, error)
        return self

    def beside(self, kind: EventType, op: str, value: Any = None) -> "Play":
        """One event of something that another process does while this one goes on."""
        self._event(kind, op, value, process="meanwhile")
        return self

    def say(self, turn: str, text: str, *facts: Fact, speaker: str = "user", own: str | None = None) -> "Play":
        """Append a turn that is acknowledged."""
        value = Turn(id=turn, speaker=speaker, text=text)
        self.texts[turn] = text
        self.steps.append(Append(turn=value, facts=facts))
        return self.call("append", {"turn": value}, own)

    def raws(self, *turns: str) -> list[Item]:
        return [raw(turn, self.texts[turn]) for turn in turns]

    def compact(
        self, outcome: Outcome = COMMITTED, *, shown: Sequence[str] = (), reply: Any = "", **more: Any
    ) -> "Play":
        """One compaction; the summariser is shown these turns (by id, or as words) and answers so."""
        self.steps.append(Compact())
        asked = [([self.texts.get(s, s) for s in shown], reply)] if shown else []
        return self.call("compact", {}, outcome, asked=asked, **more)

    def look(
        self,
        live: Sequence[Item],
        *,
        pointers: Mapping[str, Any] | Sequence[Pointer] = (),
        answers: Mapping[str, Any] | None = None,
        manifests: Mapping[str, Sequence[Entry]] | None = None,
        tombstones: Sequence[Tombstone] = (),
    ) -> "Play":
        """Look at everything that the compactor offers."""
        self.call("live", {}, list(live))
        if "pointers" in self.operations:
            self.call("pointers", {}, list(pointers))
            for token, value in (answers or {}).items():
                if isinstance(value, Exception):
                    self.call("get", {"token": token}, ended=EventType.FAIL, error=str(value))
                else:
                    self.call("get", {"token": token}, value)
        if "manifest" in self.operations:
            for carrier, entries in (manifests or {}).items():
                self.call("manifest", {"carrier": carrier}, list(entries))
        if "tombstones" in self.operations:
            self.call("tombstones", {}, list(tombstones))
        return self

    def history(self) -> History:
        return History(
            header=Header(
                compactor="by-hand",
                name="by-hand",
                version="0",
                operations=self.operations,
                mechanisms=self.mechanisms,
                settings=self.settings,
                seed=0,
                workload=Workload(name="by-hand", aims=(), settings=self.settings, steps=tuple(self.steps)),
            ),
            events=tuple(self.events),
        )


def judge(rule: str, play: Play) -> Any:
    from anchorhold.checkers import CHECKERS

    checker = next(c for c in CHECKERS if c.rule == rule)
    return checker.judge(play.history())
