"""A list of turns under one rolling summary; originals stay where they were said, under a token each.

In memory, and declared so. Knows users, branches, erasure, and copies that are outstanding.
"""

import copy
import secrets
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import ClassVar

from anchorhold.compactor import Description, Mechanism, Ratios, Reply, Settings, Shown, Summarise
from anchorhold_spec.vocabulary import Answer, AnswerKind, CarrierKind, Item, Outcome, OutcomeKind, Pointer, Turn
from compactors.common import (
    Statement,
    committed,
    failed,
    limit,
    nothing,
    objection,
    raw,
    refused,
    replaceable,
    size,
    statements,
    whole,
)

Lane = tuple[str, str, str]
"""User, session, branch."""


@dataclass
class State:
    """What one branch of one session holds."""

    turns: dict[str, Turn] = field(default_factory=dict)
    window: list[str] = field(default_factory=list)
    """Ids of the turns that stand in the window."""
    summary: str | None = None
    covered: list[str] = field(default_factory=list)
    """Ids of the turns under the summary."""
    generation: int = 0
    tokens: dict[str, str] = field(default_factory=dict)
    """By turn."""
    erased: set[str] = field(default_factory=set)
    """Ids of the turns that were erased."""
    gone: dict[str, AnswerKind] = field(default_factory=dict)
    """Tokens that lead nowhere any more, and what they answer."""


class Rolling:
    """Right."""

    OPAQUE_TOO = True
    """Whether bytes are replaced too: they are kept as they are, under their token."""

    mechanisms: ClassVar[frozenset[Mechanism]] = frozenset({Mechanism.SUMMARISER})

    def describe(self) -> Description:
        return Description(name=type(self).__name__, version="1", mechanisms=self.mechanisms)

    def open(self, settings: Settings, summarise: Summarise) -> Settings:
        self.settings, self.summarise = settings, summarise
        self.made = secrets.token_hex(6)
        self.at = self.name(settings.session, settings.user or "", settings.branch)
        self.store: dict[Lane, State] = {self.at: State()}
        return replace(settings, keep=None, lifetime=None, horizon=None)

    def name(self, session: str, user: str, branch: str) -> Lane:
        return (user, session, branch)

    @property
    def state(self) -> State:
        return self.store[self.at]

    def close(self) -> None:
        self.store = {}

    def reopen(self) -> None:
        """Nothing was written anywhere else."""

    # Turns and the window

    def append(self, turn: Turn) -> str:
        if not self.known(turn.id):
            self.state.turns[turn.id] = self.kept(turn)
            self.state.window.append(turn.id)
        return turn.id

    def known(self, name: str) -> bool:
        return name in self.state.turns or name in self.state.erased

    def kept(self, turn: Turn) -> Turn:
        """As it goes into the store."""
        return turn

    def turns(self) -> list[Turn]:
        """Those in the window."""
        return [self.state.turns[name] for name in self.state.window]

    def text(self) -> str:
        """Of the summary, as the model sees it."""
        return f"{self.state.summary}\n{self.note()}"

    def note(self) -> str:
        """What the summary leaves out."""
        count = len(self.state.covered)
        return f"[The full words of {count} earlier turns are left out here, and can be asked for.]"

    def live(self) -> Sequence[Item]:
        items = [self.shown(turn) for turn in self.turns()]
        return items if self.state.summary is None else [self.item(), *items]

    def shown(self, turn: Turn) -> Item:
        """A turn in the window."""
        return raw(turn)

    def item(self) -> Item:
        return Item(
            id=self.summary_id(),
            kind=CarrierKind.SUMMARY,
            text=self.text(),
            covers=tuple(self.state.covered),
            generation=self.state.generation,
        )

    def summary_id(self) -> str:
        return f"summary-{self.state.generation}"

    # Compaction

    def compact(self) -> Outcome:
        parts = [*self.turns()] if self.state.summary is None else [self.text(), *self.turns()]
        if self.size(parts) <= limit(self.settings):
            return nothing("the window is under its watermark")
        old = self.chosen()
        if not old:
            return refused("what is left are the latest turns and what is protected")
        shown = Shown(messages=tuple(self.prompt(old)))
        try:
            reply = self.ask(shown)
        except Exception as error:  # noqa: BLE001 - whatever the model's client raises
            return failed(f"the model failed: {error}")
        wrong = self.objection(reply, shown)
        if wrong is not None:
            return refused(wrong)
        return self.commit(old, reply.text.strip())

    def size(self, parts: Sequence[str | Turn]) -> int:
        """Tokens of a window."""
        return size(parts)

    def chosen(self) -> list[Turn]:
        """What the next summary is to stand for."""
        free = {turn.id for turn in replaceable(self.judged(), keep=None, opaque_too=self.OPAQUE_TOO)}
        return [turn for turn in self.turns() if turn.id in free]

    def judged(self) -> list[Turn]:
        """The window as that is decided by."""
        return self.turns()

    def ask(self, shown: Shown) -> Reply:
        """What the model answers."""
        return self.summarise(shown)

    def objection(self, reply: Reply, shown: Shown) -> str | None:
        """Why it is no summary; none where it is."""
        return objection(reply, shown, [self.state.summary] if self.state.summary else [])

    def prompt(self, old: Sequence[Turn]) -> list[str]:
        earlier = [] if self.state.summary is None else [self.text()]
        return ["Summarise these turns.", *earlier, *map(whole, old)]

    def commit(self, old: Sequence[Turn], text: str) -> Outcome:
        state, names = self.state, [turn.id for turn in old]
        for name in names:
            state.tokens.setdefault(name, self.token(name))
        state.window = [name for name in state.window if name not in names]
        state.covered, state.summary, state.generation = [*state.covered, *names], text, state.generation + 1
        return committed(self.summary_id(), names)

    def token(self, name: str) -> str:
        return f"{self.made}-{secrets.token_hex(6)}"

    # Asking

    def pointers(self) -> Sequence[Pointer]:
        state = self.state
        return [
            Pointer(summary=self.summary_id(), token=state.tokens[name], covers=(name,)) for name in state.covered
        ]

    def get(self, token: str) -> Answer:
        if token in self.state.gone:
            return Answer(kind=self.state.gone[token], reason="it was erased, or taken back")
        name = next((name for name, given in self.state.tokens.items() if given == token), None)
        return Answer(kind=AnswerKind.FOREIGN) if name is None else self.original(name)

    def original(self, name: str) -> Answer:
        turn = self.state.turns[name]
        return Answer(kind=AnswerKind.FOUND, text=whole(turn) or None, data=turn.data, source=name, evidence=True)

    def search(self, literal: str) -> Answer:
        for name, turn in reversed(self.state.turns.items()):
            if literal in whole(turn):
                return self.original(name)
        return Answer(kind=AnswerKind.UNANCHORED)

    def reconstitute(self, subject: str, attribute: str, evidence: bool) -> Answer:
        found = [
            (name, statement.value)
            for name, turn in self.state.turns.items()
            for statement in statements(whole(turn))
            if self.speaks_of(statement, subject, attribute)
        ]
        if not found:
            return Answer(kind=AnswerKind.UNANCHORED)
        name, value = found[-1]
        return replace(self.original(name), value=value)

    def speaks_of(self, said: Statement, subject: str, attribute: str) -> bool:
        """Whether a statement is of a slot."""
        return (said.subject.lower(), said.attribute.lower()) == (subject.lower(), attribute.lower())

    # Sessions, and what the caller takes away

    def switch(self, session: str, user: str, branch: str = "main") -> None:
        self.at = self.name(session, user, branch)
        self.store.setdefault(self.at, State())

    def fork(self, branch: str) -> None:
        new = (*self.at[:2], branch)
        self.store[new], self.at = copy.deepcopy(self.state), new

    def clear(self) -> None:
        state = self.state
        state.window, state.summary, state.covered = [], None, []

    def rewind(self, turn: str) -> None:
        state, names = self.state, list(self.state.turns)
        if turn not in names:
            return
        back = set(names[names.index(turn) + 1 :])
        for name in back:
            del state.turns[name]
            if name in state.tokens:
                state.gone[state.tokens.pop(name)] = AnswerKind.UNANCHORED
        state.window = [name for name in state.window if name not in back]
        if back & set(state.covered):
            self.withdraw(back)

    def withdraw(self, back: set[str]) -> None:
        """The summary speaks of what was taken back: what is left under it stands in the window again."""
        state = self.state
        left = {*state.window, *state.covered} - back
        state.window, state.covered, state.summary = [name for name in state.turns if name in left], [], None

    def forget(self, turn: str) -> Outcome:
        lanes = [state for lane, state in self.store.items() if lane[:2] == self.at[:2]]
        erased = [self.erase(state, turn) for state in lanes]
        return Outcome(kind=OutcomeKind.COMMITTED if any(erased) else OutcomeKind.NOTHING)

    def erase(self, state: State, turn: str) -> bool:
        """In one branch; whether it was there."""
        if state.turns.pop(turn, None) is None:
            return False
        state.erased.add(turn)
        if turn in state.tokens:
            state.gone[state.tokens.pop(turn)] = AnswerKind.TOMBSTONED
        state.window = [name for name in state.window if name != turn]
        state.covered = [name for name in state.covered if name != turn]
        if state.summary is not None:
            state.generation += 1
            state.summary = "Notes were withdrawn: a turn was erased." if state.covered else None
        return True

    def files(self) -> Sequence[str]:
        return []


class Outstanding(Rolling):
    """Right: copies land after the commit, and are outstanding while they are held back."""

    def open(self, settings: Settings, summarise: Summarise) -> Settings:
        self.queue: list[tuple[Lane, str]] = []
        self.held, self.commits = False, 0
        return super().open(settings, summarise)

    def commit(self, old: Sequence[Turn], text: str) -> Outcome:
        outcome = super().commit(old, text)
        self.commits += 1
        self.queue += [(self.at, turn.id) for turn in old]
        if not self.held:
            self.queue = []
        return replace(outcome, pending=bool(self.mine()))

    def mine(self) -> set[str]:
        return {name for lane, name in self.queue if lane == self.at}

    def hold_copies(self, held: bool) -> None:
        self.held = held
        self.queue = self.queue if held else []

    def settle(self) -> None:
        self.hold_copies(False)

    def ratios(self) -> Ratios:
        return Ratios(committed=self.commits, pending=int(bool(self.mine())), unresolvable=0)

    def item(self) -> Item:
        return replace(super().item(), pending=bool(self.mine() & set(self.state.covered)))

    def original(self, name: str) -> Answer:
        return Answer(kind=AnswerKind.PENDING) if name in self.mine() else super().original(name)

    def reconstitute(self, subject: str, attribute: str, evidence: bool) -> Answer:
        answer = super().reconstitute(subject, attribute, evidence)
        return replace(answer, value=None) if answer.kind is AnswerKind.PENDING else answer
