"""What is decided when explored code runs, not when it is made: guards left out, switches, properties looked at.

All mutants and all variants of a design share one compilation; this is where each setting is in the array that
compiled code is given.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from anchorhold_spec.explore.layout import WORD
from anchorhold_spec.language import Machine
from anchorhold_spec.run import GuardId


@dataclass(frozen=True)
class Config:
    """Positions: one bit for each guard and each property, then one word for each switch."""

    guards: tuple[GuardId, ...]
    properties: tuple[str, ...]
    """Invariants, then two-state properties, then `sometimes`."""
    switches: Mapping[str, tuple[str, ...]]

    @property
    def bit_words(self) -> int:
        """How many words the bits take."""
        return -(-(len(self.guards) + len(self.properties)) // WORD)

    def guard(self, guard: GuardId) -> int:
        """The bit that leaves a guard out."""
        return self.guards.index(guard)

    def watched(self, prop: str) -> int:
        """The bit that has a property looked at."""
        return len(self.guards) + self.properties.index(prop)

    def switch(self, name: str) -> int:
        """The word of a switch."""
        return self.bit_words + list(self.switches).index(name)

    def settings(
        self, *, dropped: Collection[GuardId], watched: Collection[str], switches: Mapping[str, str]
    ) -> list[int]:
        """The words. Every switch has to be given."""
        words = [0] * (self.bit_words + len(self.switches))
        for bit in (*(self.guard(each) for each in dropped), *(self.watched(each) for each in watched)):
            words[bit // WORD] |= 1 << (bit % WORD)
        for name, values in self.switches.items():
            words[self.switch(name)] = values.index(switches[name])
        return words

    def unwatch(self, words: list[int], prop: str) -> list[int]:
        """The words with a property no longer looked at."""
        bit = self.watched(prop)
        return [word & ~(1 << (bit % WORD)) if i == bit // WORD else word for i, word in enumerate(words)]


def config_of(machine: Machine) -> Config:
    """The positions for a machine."""
    return Config(
        tuple(GuardId(action.name, guard.name) for action in machine.actions for guard in action.guards),
        (
            *(each.name for each in machine.invariants),
            *(each.name for each in machine.transitions),
            *(each.name for each in machine.sometimes),
        ),
        {switch.name: switch.values for switch in machine.switches},
    )
