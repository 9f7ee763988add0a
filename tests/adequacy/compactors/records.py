"""What is put on record: what took an assertion's place, and since when a status is so (MAN-4, RET-5)."""

from typing import Any

from anchorhold.compactor import Settings, Summarise
from anchorhold_spec.vocabulary import Outcome, OutcomeKind, Tombstone
from compactors.common import refused
from compactors.slot_cache import SlotCache
from compactors.vault import Vault


class NamesWhatTookItsPlace(SlotCache):
    """Honest: a superseder is named where it is there, and can be had."""

    def supersede(self, literal: str, source: str, superseder: str, reason: str) -> Outcome:
        if not self.accepts(superseder):
            return refused(f"turn {superseder} is not anchored itself")
        self.session.tombstones.append(
            Tombstone(literal=literal, source=source, decided_by="caller", reason=reason, superseder=superseder)
        )
        self.save()
        return Outcome(kind=OutcomeKind.COMMITTED)

    def accepts(self, superseder: str) -> bool:
        said = next((turn for turn in self.session.said if turn.id == superseder), None)
        return said is not None and self.original(said) is not None


class BelievesAnySuperseder(NamesWhatTookItsPlace):
    """Whatever is said to have taken its place has."""

    def accepts(self, superseder: str) -> bool:
        return True


class LetsTheSuperseded(NamesWhatTookItsPlace):
    """What took another's place is let go as if it had gone with it."""

    def loose(self, turn: Any, token: str) -> list[str]:
        named = {tombstone.superseder for tombstone in self.session.tombstones}
        return [] if turn.id in named else super().loose(turn, token)


class KnowsSinceWhen(Vault):
    """Honest: since when it is degraded is kept with everything else."""

    def open(self, settings: Settings, summarise: Summarise) -> Settings:
        self.since: float | None = None
        return super().open(settings, summarise)

    def degraded_since(self) -> float | None:
        if self.degraded() is None:
            self.since = None
        elif self.since is None:
            self.since = self.started()
        return self.since

    def started(self) -> float:
        return 1_790_000_000.0 + self.wall


class CountsFromTheReading(KnowsSinceWhen):
    """It is degraded since somebody asked."""

    def degraded_since(self) -> float | None:
        self.asked: int = getattr(self, "asked", 0) + 1
        return None if self.degraded() is None else self.started() + self.asked


class ForgetsSinceWhenInAFreshProcess(KnowsSinceWhen):
    """It is degraded since the start."""

    def reopen(self) -> None:
        super().reopen()
        self.since = None
        self.restarts: int = getattr(self, "restarts", 0) + 1

    def started(self) -> float:
        return super().started() + getattr(self, "restarts", 0)


class KnowsNotSinceWhen(KnowsSinceWhen):
    """Degraded, since nobody knows when."""

    def degraded_since(self) -> float | None:
        return None


HONEST = (NamesWhatTookItsPlace, KnowsSinceWhen)
WRONG: tuple[tuple[type[Any], str], ...] = (
    (BelievesAnySuperseder, "MAN-4"),
    (LetsTheSuperseded, "MAN-4"),
    (CountsFromTheReading, "RET-5"),
    (ForgetsSinceWhenInAFreshProcess, "RET-5"),
    (KnowsNotSinceWhen, "RET-5"),
)
"""Each with the rule that it breaks."""
