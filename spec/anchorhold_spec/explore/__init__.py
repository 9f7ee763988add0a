"""Reading 3, explore: every reachable state of a finite instance, fast.

`explore(machine, sizes=…)` goes through all of them and gives counts, coverage, and for what is broken a shortest
run to it. `find_violation` is the short form for mutants, `FastMutantExplorer` takes the place of the plain one in
`prove`. `walk` takes random steps where all states are too many. `itf`, `dot` and `page` write what was found.

How it works, in the order in which to read it: a state is packed into words (`layout`); the machine's steps and
properties become code over words (`emit`, `generate`); the code is run as it is (`uncompiled`), or compiled with the
loops of `machine_kernels` (`load`, `compiled`) by a parallel search (`search`) over hash tables in partitions
(`store`, `storage_kernels`). `symmetry` finds which sorts may be reduced, and writes the canonical form.

The reference is the interpreter of reading 1: the tests hold all of this against it, on machines written for the
purpose and on random ones.
"""

from anchorhold_spec.explore.api import (
    Engine,
    Exploration,
    explore,
    find_violation,
    violation_of,
)
from anchorhold_spec.explore.found import Snapshot, Watcher
from anchorhold_spec.explore.mutants import FastMutantExplorer, fast_survey

__all__ = [
    "Engine",
    "Exploration",
    "FastMutantExplorer",
    "Snapshot",
    "Watcher",
    "explore",
    "fast_survey",
    "find_violation",
    "violation_of",
]
