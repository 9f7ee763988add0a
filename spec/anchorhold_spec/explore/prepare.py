"""What is to be explored, made ready: what was asked for is checked, code generated, first states packed."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from anchorhold_spec.explore.generate import Source, generate
from anchorhold_spec.explore.layout import Layout, Packed
from anchorhold_spec.language import Machine, UnknownChoice
from anchorhold_spec.run import GuardId, Instance, Interpreter, instances


@dataclass(frozen=True)
class Prepared:
    """A machine at one size with its settings."""

    machine: Machine
    """As explored: switches decided, guards left out."""
    sizes: Mapping[str, int]
    switches: Mapping[str, str]
    dropped: tuple[GuardId, ...]
    source: Source
    settings: list[int]
    watched: tuple[str, ...]
    """Names of the properties that are looked at."""
    start: tuple[Packed, ...]
    instance: Instance
    """One of the instances; those with other rigid data have other states (see `instance_of`)."""

    @property
    def layout(self) -> Layout:
        """How states are packed."""
        return self.source.layout

    def instance_of(self, packed: Packed) -> Instance:
        """The instance that a packed state belongs to."""
        if not self.layout.free:
            return self.instance
        return self.layout.instance(self.machine, packed, self.instance.rigid)


def prepare(
    machine: Machine,
    *,
    sizes: Mapping[str, int] | None = None,
    switches: Mapping[str, str] | None = None,
    dropped: Collection[GuardId] = (),
    symmetry: bool = False,
    auxiliary: bool = False,
    mutable: bool = False,
) -> Prepared:
    """Raises UnknownChoice for sizes, switches, guards or rigid data that do not fit."""
    changed = machine
    for guard in dropped:
        changed = changed.without_guard(guard.action, guard.guard)
    found = list(instances(changed, sizes, switches))
    if not found:
        raise UnknownChoice(f"{machine.name} has no instance at this size: its axioms exclude all rigid data")
    decided = found[0].machine
    universe = found[0].universe
    given = {
        symbol.name: table
        for symbol, table in zip(decided.rigid_symbols, found[0].rigid, strict=True)
        if symbol.given is not None
    }
    source = generate(machine, universe, given, symmetry=symmetry, mutable=bool(dropped) or mutable)
    choices = {switch.name: decided.decided[switch.name] for switch in machine.switches}
    watched = (
        *(each.name for each in machine.invariants if each.public or auxiliary),
        *(each.name for each in machine.transitions),
        *(each.name for each in machine.sometimes),
    )
    settings = source.config.settings(dropped=dropped, watched=watched, switches=choices)
    start = tuple(source.layout.pack(each.rigid, Interpreter(each).initial()) for each in found)
    return Prepared(
        machine=decided,
        sizes={**machine.sizes, **(sizes or {})},
        switches={**decided.decided},
        dropped=tuple(dropped),
        source=source,
        settings=settings,
        watched=watched,
        start=tuple(dict.fromkeys(start)),
        instance=found[0],
    )
