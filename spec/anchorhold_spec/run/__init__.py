"""Reading 1, run: a machine executed at finite sizes. The reference semantics of the language.

`instances(machine, sizes, switches)` gives the finite instances, `Interpreter(instance)` runs one (initial state,
steps, what is broken), `explore` goes through every reachable state and `stateful.state_machine_for` lets
Hypothesis drive. A `State` is a tuple of tables, described in `anchorhold_spec.language`.
"""

from anchorhold_spec.run.explore import (
    Exploration,
    GaveUp,
    GuardId,
    Trace,
    Violation,
    explore,
)
from anchorhold_spec.run.instance import UNDEFINED, Instance, State, Table, instances
from anchorhold_spec.run.interpret import Interpreter, NotEnabled, Step
from anchorhold_spec.run.mutants import MutantExplorer, PlainMutantExplorer
from anchorhold_spec.run.show import show_change, show_state, show_step, show_trace
from anchorhold_spec.run.survey import Survey, Surveyor, plain_survey

__all__ = [
    "UNDEFINED",
    "Exploration",
    "GaveUp",
    "GuardId",
    "Instance",
    "Interpreter",
    "MutantExplorer",
    "NotEnabled",
    "PlainMutantExplorer",
    "State",
    "Step",
    "Survey",
    "Surveyor",
    "Table",
    "Trace",
    "Violation",
    "explore",
    "instances",
    "plain_survey",
    "show_change",
    "show_state",
    "show_step",
    "show_trace",
]
