"""A history as the checkers see it: turns and assertions, and what could be seen between two changes.

All looking around between two changing operations together is one `Observation`; consecutive observations of the
same session are joined by the `Stretch` of operations between them. `anchorhold.checkers.observe` makes all this.
"""

import json
from bisect import bisect_left, bisect_right
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

from anchorhold.checkers.finding import Finder
from anchorhold.checkers.record import (
    Assertion,
    Drop,
    Forked,
    Observation,
    Operation,
    Said,
    Source,
    Stretch,
    Withdrawal,
    once,
)
from anchorhold.checkers.words import carries_calls, content, plain, says, shorten, words
from anchorhold.history import EventType, Header
from anchorhold_spec.vocabulary import (
    Entry,
    Item,
    Pointer,
    Turn,
)


def said_by(known: "Known", append: Operation) -> Said | None:
    """The turn that an append brought in; none where it failed, or it was there before."""
    if append.ended is EventType.FAIL:
        return None
    said = known.said.get(append.turn.id)
    return said if said is not None and said.at == append.end else None


def _calls(turn: Turn) -> frozenset[str]:
    """The calls that a turn makes or answers."""
    return frozenset((*(call.id for call in turn.calls), *([] if turn.result_of is None else [turn.result_of])))


class Known(Protocol):
    """What is known of a history, all of it or as far as it has come."""

    @property
    def header(self) -> Header:
        """Its first line."""

    @property
    def said(self) -> Mapping[str, Said]:
        """The turns, in the order in which they came."""

    @property
    def order(self) -> Mapping[str, int]:
        """The number of each turn."""

    @property
    def forks(self) -> Mapping[str, Forked]:
        """Every branch that was begun, by its lane."""

    def turn_of(self, name: str | None) -> str | None:
        """The suite's id of a turn that the compactor names by the suite's id or by its own."""

    def turns_of(self, names: tuple[str, ...] | None) -> frozenset[str] | None:
        """The known turns among the names; none where nothing is declared."""

    def contained(self, text: str) -> frozenset[str]:
        """The turns whose words stand in a text."""

    def offers(self, *operations: str) -> bool:
        """Whether the compactor has all of these operations."""

    def removed(self, stretch: Stretch) -> tuple[str, ...]:
        """Turns that were in the window (or came in meanwhile) and are no longer there word for word, in order."""

    def belongs(self, turn: str, session: str) -> bool:
        """Whether a turn is of a session's lineage."""

    def quote(self, turn: str, *, first: bool = False) -> str:
        """A turn in a sentence of a report."""


class Knowing:
    """What `Known` says, for whatever holds the header, the turns, their other names and the branches."""

    header: Header
    said: Mapping[str, Said]
    aliases: Mapping[str, str]
    forks: Mapping[str, Forked]

    def offers(self, *operations: str) -> bool:
        """Whether the compactor has all of these operations."""
        return set(operations) <= set(self.header.operations)

    def turn_of(self, name: str | None) -> str | None:
        """The suite's id of a turn that the compactor names by the suite's id or by its own."""
        if name is None or name in self.said:
            return name
        return self.aliases.get(name)

    def turns_of(self, names: tuple[str, ...] | None) -> frozenset[str] | None:
        """The known turns among the names; none where nothing is declared."""
        if names is None:
            return None
        return frozenset([turn for turn in map(self.turn_of, names) if turn is not None])

    def belongs(self, turn: str, session: str) -> bool:
        """Whether a turn is of a session's lineage: said in it, or in an ancestor before it branched off."""
        said = self.said[turn]
        while said.session != session:
            forked = self.forks.get(session)
            if forked is None or forked.at < said.at:
                return False
            session = forked.parent
        return True

    def quote(self, turn: str, *, first: bool = False) -> str:
        """A turn in a sentence of a report; `first` where the sentence begins with it."""
        said = self.said[turn].turn
        what = f"“{shorten(words(said))}”" if said.data is None else f"{len(said.data)} bytes"
        return f"{'Turn' if first else 'turn'} {turn} ({what})"


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where operations are done: a session, whose it is, and a branch of it."""

    session: str
    branch: str
    user: str | None
    """None where the compactor knows no users: they tell no sessions apart then."""
    home: str | None
    """The user with whom the history begins."""

    @classmethod
    def first(cls, header: Header) -> "Place":
        """Where a history begins."""
        settings = header.settings
        return cls(session=settings.session, branch=settings.branch, user=settings.user, home=settings.user)

    def after(self, op: str, arguments: Mapping[str, Any]) -> "Place":
        """Where a `switch` or a `fork` leads that ended without an error."""
        if op == "fork":
            return replace(self, branch=str(arguments.get("branch", self.branch)))
        user = arguments.get("user", self.user)
        return replace(
            self,
            session=str(arguments.get("session", self.session)),
            branch=str(arguments.get("branch", "main")),
            user=self.user if self.home is None or user is None else str(user),
        )

    @property
    def lane(self) -> str:
        """All of it as one name, which no other place has; the first user goes without saying."""
        name = _unmistakable(self.session)
        if self.user != self.home:
            name = f"{name} of {_unmistakable(str(self.user))}"
        return name if self.branch == "main" else f"{name} ({self.branch})"


def _unmistakable(name: str) -> str:
    """A name as it is, or quoted where it could be taken for one that was put together of several."""
    return name if " " not in name and not name.startswith('"') else json.dumps(name)


@dataclass(frozen=True, kw_only=True)
class Reading(Knowing):
    """A history as the checkers see it."""

    header: Header
    operations: tuple[Operation, ...]
    said: Mapping[str, Said]
    aliases: Mapping[str, str]
    assertions: tuple[Assertion, ...]
    observations: tuple[Observation, ...]
    stretches: tuple[Stretch, ...]
    drops: tuple[Drop, ...]
    sources: tuple[Source, ...]
    """Everything that anything could be quoted from: turns, and what the model wrote."""
    pointers: Mapping[str, Pointer]
    """Every token ever seen, with the pointer as first seen."""
    issued: Mapping[str, int]
    """Event at which each token was first seen."""
    withdrawals: tuple[Withdrawal, ...] = ()
    """Everything that the caller took away, in order."""
    forks: Mapping[str, Forked] = field(default_factory=dict)
    """Every branch that was begun, by its lane."""
    _contained: dict[str, frozenset[str]] = field(default_factory=dict, repr=False)
    _stated: dict[str, frozenset[int]] = field(default_factory=dict, repr=False)
    _called: dict[tuple[str, str], bool] = field(default_factory=dict, repr=False)
    _standing: dict[int, frozenset[str]] = field(default_factory=dict, repr=False)
    """By the look's `id`."""
    _removed: dict[int, tuple[str, ...]] = field(default_factory=dict, repr=False)
    """By the stretch's `id`."""
    _present: dict[int, tuple[Said, ...]] = field(default_factory=dict, repr=False)
    """By the look's `id`."""
    _asked_of: list[object] = field(default_factory=list, repr=False)
    """What these were worked out for, so that nothing else gets its `id`: whoever asked may have made it for that."""

    @once
    def order(self) -> Mapping[str, int]:
        """The number of each turn, in the order in which they came."""
        return {turn: number for number, turn in enumerate(self.said)}

    @once
    def _finder(self) -> Finder:
        return Finder(self.said.values())

    @once
    def _came(self) -> tuple[list[int], list[Said]]:
        """The turns by the event at which they were acknowledged."""
        came = sorted(self.said.values(), key=lambda said: said.at)
        return [said.at for said in came], came

    @once
    def homes(self) -> Mapping[str, str]:
        """The session in which each token was first seen: another one has no business with it (ISO-1)."""
        found: dict[str, str] = {}
        for observation in self.observations:
            for pointer in (*(observation.pointers or ()), *observation.relisted):
                found.setdefault(pointer.token, observation.session)
        return found

    @once
    def _manifests(self) -> Mapping[tuple[str, str, str], tuple[list[int], list[tuple[Entry, ...]]]]:
        """Of each summary, in each session and with each text: when its manifest was read, and what it said."""
        found: dict[tuple[str, str, str], tuple[list[int], list[tuple[Entry, ...]]]] = {}
        for look in self.observations:
            for item in look.items if look.manifests else ():
                if item.id in look.manifests:
                    ends, read = found.setdefault((look.session, item.id, content(item)), ([], []))
                    ends.append(look.end)
                    read.append(look.manifests[item.id])
        return found

    def manifest_of(self, observation: Observation, item: Item) -> tuple[Entry, ...] | None:
        """The manifest of an item of a look: as it was read there or, as long as the item is the same, last before or
        else next after, since not every look reads it; none where it never was read."""
        if item.id in observation.manifests:
            return observation.manifests[item.id]
        known = self._manifests.get((observation.session, item.id, content(item)))
        if known is None:
            return None
        ends, read = known
        return read[max(0, bisect_right(ends, observation.end) - 1)]

    @once
    def parted(self) -> Mapping[str, int]:
        """Turns that stood in a window when a call's other half was erased, and when that was: half a pair may not
        stay there (STR-1), so they may leave it by the caller's wish, as with a clear, and under no summary. What was
        archived by then is held against it as before."""
        found: dict[str, int] = {}
        for withdrawal in self.withdrawals:
            forget = withdrawal.operation
            calls = frozenset[str]().union(*(_calls(self.said[turn].turn) for turn in withdrawal.turns))
            if forget.op != "forget" or not calls:
                continue
            looks = (look for look in self.observations if look.live is not None and look.end < forget.start)
            shown = frozenset[str]().union(*{look.session: look.raw for look in looks}.values())
            # A turn with several calls leaves with the results of the others.
            left = {turn: _calls(self.said[turn].turn) for turn in shown - withdrawal.turns}
            while mates := [turn for turn, own in left.items() if own & calls]:
                calls = calls.union(*(left.pop(turn) for turn in mates))
                found.update((turn, forget.start) for turn in mates if turn not in found)
        return found

    def taken_back(self, turn: str, until: int) -> bool:
        """Whether a rewind took a turn back before an event, whatever else was done about it."""
        return any(
            w.operation.op == "rewind" and turn in w.turns and w.operation.start < until for w in self.withdrawals
        )

    def contained(self, text: str) -> frozenset[str]:
        """The turns whose words stand in a text."""
        if text not in self._contained:
            self._contained[text] = self._finder.find(plain(text))
        return self._contained[text]

    def with_calls(self, text: str, turn: str) -> bool:
        """Whether a text holds the arguments of every call of a turn, however they are written down."""
        calls = self.said[turn].turn.calls
        if not calls:
            return True
        known = self._called.get((text, turn))
        if known is None:
            known = self._called[text, turn] = carries_calls(plain(text), calls)
        return known

    def stated(self, text: str) -> frozenset[int]:
        """The assertions (by number) whose statement a text makes."""
        if text not in self._stated:
            self._stated[text] = frozenset(a.number for a in self.assertions if says(text, a.fact))
        return self._stated[text]

    def excused(self, observation: Observation, turn: str) -> bool:
        """Whether the suite itself put a turn's original out of reach.

        What lies under one token with it, or comes to lie there later, may be lost by the same damage.
        """
        if turn in observation.exempt:
            return True
        if not observation.damaged:
            return False
        for pointer in observation.pointers or ():
            covers = self.turns_of(pointer.covers)
            if covers is not None and turn not in covers:
                continue
            if pointer.token in observation.damaged:
                return True
            # A later token may lead to the damaged bytes as well, and says so by an error.
            if pointer.token in observation.errors and (covers is None or covers & observation.exempt):
                return True
        return False

    @once
    def lanes(self) -> tuple[tuple[Stretch, ...], ...]:
        """The stretches of each session, in order."""
        sessions: dict[str, list[Stretch]] = {}
        for stretch in self.stretches:
            sessions.setdefault(stretch.after.session, []).append(stretch)
        return tuple(map(tuple, sessions.values()))

    def present(self, observation: Observation) -> tuple[Said, ...]:
        """The acknowledged turns of the session that is being looked at, without what was taken away."""
        known = self._present.get(id(observation))
        if known is None:
            self._asked_of.append(observation)
            known = self._present[id(observation)] = tuple(
                said
                for turn, said in self.said.items()
                if said.certain
                and said.at < observation.start
                and turn not in observation.withdrawn
                and self.belongs(turn, observation.session)
            )
        return known

    def standing(self, observation: Observation) -> frozenset[str]:
        """Turns that stand in the window word for word, as items of their own or inside others."""
        known = self._standing.get(id(observation))
        if known is None:
            self._asked_of.append(observation)
            inside = (self.contained(content(item)) for item in observation.items if content(item))
            known = self._standing[id(observation)] = observation.raw.union(*inside)
        return known

    def removed(self, stretch: Stretch) -> tuple[str, ...]:
        """Turns that were in the window (or came in meanwhile) and are no longer there word for word, in order."""
        known = self._removed.get(id(stretch))
        if known is None:
            self._asked_of.append(stretch)
            known = self._removed[id(stretch)] = self._gone(stretch)
        return known

    def _gone(self, stretch: Stretch) -> tuple[str, ...]:
        at, turns = self._came
        meanwhile = turns[bisect_left(at, stretch.before.start) : bisect_right(at, stretch.after.start)]
        session = stretch.after.session
        came = {said.turn.id for said in meanwhile if said.certain and said.session == session}
        gone = (stretch.before.raw | came) - stretch.after.raw - stretch.after.withdrawn
        if stretch.of("forget"):
            gone -= self.parted.keys()
        if not gone:
            return ()
        return tuple(sorted(gone - self.standing(stretch.after), key=self.order.__getitem__))
