"""Which rules a design holds: proved for all sizes, or broken with a shortest run. Anything else is an error."""

from collections.abc import Mapping
from dataclasses import replace

from anchorhold_spec.language import Invariant, Machine
from anchorhold_spec.prove import Prover, Result
from anchorhold_spec.run import Trace, explore


def proved_properties(machine: Machine) -> set[str]:
    """The largest set of the machine's properties that is inductive: what cannot be kept is left out until all is."""
    invariants = list(machine.invariants)
    while True:
        prover = Prover(replace(machine, invariants=tuple(invariants)), timeout=10)
        kept = [
            each
            for each in invariants
            if prover.initiation(each).result is Result.PROVED
            and all(prover.consecution(action, each).result is Result.PROVED for action in machine.actions)
        ]
        if len(kept) == len(invariants):
            break
        invariants = kept
    steps = [
        each
        for each in machine.transitions
        if all(
            prover.consecution(action, each).result is Result.PROVED
            for action in machine.actions
            if each.on is None or action.name in each.on
        )
    ]
    return {each.name for each in (*invariants, *steps)}


def rule_by_rule(
    machine: Machine, switches: Mapping[str, str], lemmas: tuple[Invariant, ...] = ()
) -> dict[str, Trace | None]:
    """For each rule none, where every property that states it is proved, or a shortest run that breaks it.

    `lemmas` are tried as further invariants; whichever of them the design does not keep is left out. A rule
    that is neither proved nor broken in a small instance raises AssertionError.
    """
    design = machine.with_switches(**switches).with_defaults()
    helped = replace(machine, invariants=(*machine.invariants, *lemmas)).with_switches(**switches)
    proved = proved_properties(helped.with_defaults())
    rules = sorted({rule for each in (*design.public, *design.transitions) for rule in each.rules})
    verdicts: dict[str, Trace | None] = {}
    for rule in rules:
        stated = [each for each in (*design.public, *design.transitions) if rule in each.rules]
        if all(each.name in proved for each in stated):
            verdicts[rule] = None
            continue
        alone = replace(
            design,
            invariants=tuple(each for each in design.public if rule in each.rules),
            transitions=tuple(each for each in design.transitions if rule in each.rules),
        )
        found = [explore(alone, sizes=sizes).violation for sizes in design.small_instances]
        traces = sorted((each.trace for each in found if each), key=lambda trace: len(trace.steps))
        assert traces, f"{rule} is neither proved nor broken with {dict(switches)}"
        verdicts[rule] = traces[0]
    return verdicts
