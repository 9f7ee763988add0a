"""Seeded mixtures that go from place to place: sessions, branches, what is taken back, erased and damaged on the way.

As `anchorhold.scenarios.mixtures`, over all that a caller does and not within one window alone.
"""

import random
from dataclasses import dataclass, field, replace

from anchorhold.scenarios.plan import Plan, Scenario
from anchorhold.summariser import MODES
from anchorhold.workload import (
    AnyStep,
    Append,
    Ask,
    Clear,
    Compact,
    Corrupt,
    DropFact,
    Evict,
    Expire,
    Forget,
    Fork,
    HoldCopies,
    Kill,
    LosePower,
    Meanwhile,
    Reopen,
    Rewind,
    Settle,
    Summariser,
    Switch,
)

CHOICES: tuple[tuple[str, int], ...] = (
    ("fill", 9),
    ("say", 8),
    ("compact", 10),
    ("summariser", 4),
    ("ask", 5),
    ("reopen", 3),
    ("stop", 1),
    ("fork", 3),
    ("go", 5),
    ("rewind", 3),
    ("clear", 2),
    ("forget", 3),
    ("again", 2),
    ("drop", 1),
    ("evict", 2),
    ("hold", 1),
    ("settle", 1),
    ("meanwhile", 3),
    ("expire", 1),
)
"""What a journey is made of, and how often."""
SESSIONS = ("s", "another")
LENGTH = 30
DAMAGED = 4
"""Of so many journeys one ends with damage: after it little is left to be judged."""


@dataclass(slots=True)
class _Place:
    """A branch of a session, as far as its turns are known."""

    said: list[Append] = field(default_factory=list)
    erased: list[Append] = field(default_factory=list)


def journey(number: int, seed: int | str) -> Scenario:
    """The journey with this number."""

    def build(plan: Plan) -> tuple[AnyStep, ...]:
        rng = random.Random(f"anchorhold:journey:{seed}:{number}")  # noqa: S311 - replayable
        return _Journey(plan, rng).steps(damaged=number % DAMAGED == DAMAGED - 1)

    # Whoever has no branches has been nearly everywhere with the mixtures.
    return Scenario(name=f"journey-{number}", aims=(), build=build, needs=frozenset({"switch", "fork"}))


class _Journey:
    """One way through it."""

    def __init__(self, plan: Plan, rng: random.Random) -> None:
        self._plan = plan
        self._rng = rng
        self._places: dict[tuple[str, str], _Place] = {("s", "main"): _Place()}
        self._at = ("s", "main")
        self._branches = 0

    @property
    def _here(self) -> _Place:
        return self._places[self._at]

    def steps(self, *, damaged: bool) -> tuple[AnyStep, ...]:
        """What happens on it, and at the end the way back."""
        steps: list[AnyStep] = [*self._said(protected=True), *self._step("fill"), Compact()]
        names, weights = zip(*CHOICES, strict=True)
        for _ in range(LENGTH):
            steps.extend(self._step(self._rng.choices(names, weights)[0]))
        if damaged and self._here.said:
            steps.extend((*self._step("fill"), Compact(), Corrupt(turn=self._any().turn.id)))
            steps.extend(self._step(self._rng.choice(("reopen", "fork", "clear", "rewind"))))
            steps.append(Compact())
        for place in self._places:
            self._at = place
            steps.append(Switch(session=place[0], user="u", branch=place[1]))
            steps.extend(Ask(fact=fact) for append in self._here.said[-6:] for fact in append.facts)
        return tuple(steps)

    def _any(self) -> Append:
        return self._rng.choice(self._here.said)

    def _step(self, choice: str) -> tuple[AnyStep, ...]:
        simple = self._simple(choice)
        if simple is not None:
            return simple
        here, rng = self._here, self._rng
        match choice:
            case "fork":
                self._branches += 1
                name = f"branch-{self._branches}"
                self._at = (self._at[0], name)
                self._places[self._at] = _Place(said=list(here.said), erased=list(here.erased))
                return (Fork(branch=name),)
            case "go":
                self._at = rng.choice([*self._places, *((session, "main") for session in SESSIONS)])
                self._places.setdefault(self._at, _Place())
                return (Switch(session=self._at[0], user="u", branch=self._at[1]),)
            case "rewind" if here.said:
                at = rng.randrange(len(here.said))
                back, here.said, here.erased = here.said[at + 1 :], here.said[: at + 1], []
                anew = back[: rng.randrange(3)]
                others = tuple(self._plan.planter.named(self._new(), append.turn.id) for append in anew)
                here.said.extend(others)
                return (Rewind(turn=here.said[at].turn.id), *others)
            case "forget" if here.said:
                gone = self._any()
                for place, known in self._places.items():
                    if place[0] == self._at[0] and gone in known.said:
                        known.said.remove(gone)
                        known.erased.append(gone)
                return (Forget(turn=gone.turn.id),)
            case "again" if here.erased:
                return (rng.choice(here.erased),)
            case "meanwhile":
                inside = rng.choice(("say", "clear", "rewind", "forget", "go"))
                before = self._step("fill")
                steps = tuple(step for step in self._step(inside) if not isinstance(step, Ask))
                return (*before, Meanwhile(steps=steps), Compact()) if steps else ()
        return ()

    def _simple(self, choice: str) -> tuple[AnyStep, ...] | None:
        """What leaves the place as it is."""
        plan, rng = self._plan, self._rng
        match choice:
            case "fill":
                told = plan.fill(*plan.facts(rng.randrange(3)))
                self._here.said.extend(append for append in told.turns[: told.least] if append.facts)
                return (told,)
            case "say":
                return self._said(protected=rng.random() < 0.2)
            case "compact":
                return (Compact(until_idle=rng.randint(1, 2)),)
            case "summariser":
                mode = rng.choice(("faithful", "drop", "paraphrase", rng.choice(tuple(MODES))))
                return (Summariser(mode=mode, times=rng.choice((None, 1, 2))),)
            case "reopen":
                return (Reopen(),)
            case "stop":
                return (rng.choice((Kill(), LosePower())),)
            case "clear":
                return (Clear(),)
            case "hold":
                return (HoldCopies(held=True),)
            case "settle":
                return (Settle(),)
            case "expire":
                return (Expire(seconds=rng.choice((60.0, 86_400.0))),)
            case "ask" if self._here.said:
                return tuple(Ask(fact=fact, evidence=rng.random() < 0.5) for fact in self._any().facts)
            case "drop" if self._here.said:
                append = self._any()
                return (DropFact(fact=append.facts[0], turn=append.turn.id, reason="no longer needed"),)
            case "evict" if self._here.said:
                return (Evict(turn=self._any().turn.id),)
        return None

    def _new(self) -> Append:
        """A turn that says something."""
        planter = self._plan.planter
        fact = planter.fact()
        return self._rng.choice((planter.say(fact), planter.utter(fact.text, fact)))

    def _said(self, *, protected: bool) -> tuple[AnyStep, ...]:
        append = self._new()
        planter, rng = self._plan.planter, self._rng
        if protected:
            append = planter.protect(Append(turn=replace(append.turn, speaker="user"), facts=append.facts))
        elif rng.random() < 0.2:
            append = planter.marked(append, rng.choice(("consumed", "unfinished")))
        self._here.said.append(append)
        return (append,)
