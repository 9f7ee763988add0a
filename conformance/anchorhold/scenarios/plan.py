"""What a scenario is, and what it has at hand to write its workload with."""

from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import zip_longest

from anchorhold.compactor import Settings, Unit
from anchorhold.planting import Planter
from anchorhold.size import CHARACTERS_A_TOKEN, high_water
from anchorhold.workload import AnyStep, Append, Compact, Fill, Summariser, Workload
from anchorhold_spec.vocabulary import Fact

ASKED_FOR = Settings(budget=1200, watermark=0.7)
"""What sessions are opened with. A compactor answers with what it takes of it, and scenarios go by that."""

TURN_SIZE = 200
"""Characters of an ordinary turn."""
LOOSE_A_FILL = 3
"""Facts outside the forms of a statement in each filling, that of a tool call's argument included."""
WITHOUT_BUDGET = 24
"""Turns to append where a compactor has no window of known size."""
AT_MOST = 400
"""Turns of one filling, however large the window: a run has to end."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """A seed, and what is known of the compactor: everything that a workload may depend on."""

    planter: Planter
    taken: Settings
    """The settings that the compactor took."""
    points: tuple[str, ...] = ()
    """Its crash points."""
    tokens: tuple[str, ...] = ()
    """Pointers that another store of the same compactor issued."""

    def fill(self, *facts: Fact, tools: bool = True) -> Fill:
        """Fill the window until it is over its watermark, with the facts among the first turns.

        Every fact is said, whether or not the window is over its watermark before. Facts outside the forms of a
        statement are among them, and one in the arguments of a tool call: not with `tools` off, which makes it plain
        talk.
        """
        facts = self._mixed(facts, self.planter.loose_facts(LOOSE_A_FILL if tools else 0))
        expected = self.expected
        sown = self.planter.talk(max(1, expected * 2 // 3), *facts, size=TURN_SIZE, tools=tools)
        least = max((number for number, append in enumerate(sown, start=1) if append.facts), default=0)
        limit = high_water(self.taken)
        more = 0 if limit is None else min(AT_MOST, 2 * expected + 4)
        rest = self.planter.talk(more, size=TURN_SIZE, tools=tools)
        return Fill(turns=(*sown, *rest), least=len(sown) if limit is None else least)

    def _mixed(self, facts: tuple[Fact, ...], loose: tuple[Fact, ...]) -> tuple[Fact, ...]:
        """Both in their order, one after the other by turns."""
        pairs = zip_longest(facts, loose)
        return tuple(fact for pair in pairs for fact in pair if fact is not None)

    @property
    def expected(self) -> int:
        """About how many turns it takes to fill an empty window up to its watermark."""
        limit = high_water(self.taken)
        if limit is None:
            return WITHOUT_BUDGET * 3 // 2
        if self.taken.unit is Unit.ITEMS:
            return min(AT_MOST, int(limit) + 1)
        return min(AT_MOST, int(limit * CHARACTERS_A_TOKEN / TURN_SIZE) + 1)

    @property
    def room(self) -> float:
        """Characters that a window holds; a guess where a compactor has none of known size."""
        if self.taken.budget is None or self.taken.unit is Unit.ITEMS:
            return self.expected * TURN_SIZE
        return self.taken.budget * CHARACTERS_A_TOKEN

    def facts(self, count: int) -> tuple[Fact, ...]:
        """New statements, of every kind in turn."""
        return self.planter.facts(count)

    def said(self, *facts: Fact) -> tuple[Append, ...]:
        """One turn for each fact."""
        return tuple(self.planter.say(fact, size=TURN_SIZE) for fact in facts)

    def compacted(self, mode: str, *facts: Fact, idle: int = 3) -> tuple[AnyStep, ...]:
        """Fill the window and compact it, with the summariser behaving so."""
        return (Summariser(mode=mode), self.fill(*facts), Compact(until_idle=idle))


@dataclass(frozen=True, slots=True, kw_only=True)
class Scenario:
    """A way to reach the situations that some rules speak of."""

    name: str
    aims: tuple[str, ...]
    """Ids of the rules."""
    build: Callable[[Plan], tuple[AnyStep, ...]]
    needs: frozenset[str] = field(default_factory=frozenset)
    """Means without which it would show nothing: operations, and `concurrency` (`anchorhold.run.means_of`)."""
    settings: Settings = ASKED_FOR
    """What its session is opened with."""

    explicit: bool = False
    """Nothing is looked at but by its own steps: for what is too long to look around all the time."""
    fixed: bool = False
    """Written the same whatever the seed of the check: what it reaches hangs on how much is said, and not on what."""

    def workload(self, plan: Plan) -> Workload:
        """Write the workload."""
        return Workload(
            name=self.name, aims=self.aims, settings=self.settings, steps=self.build(plan), explicit=self.explicit
        )
