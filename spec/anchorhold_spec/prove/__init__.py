"""Reading 2, prove: every invariant inductive under every action, for sorts of any size (needs `anchorhold[prove]`).

`verify(machine)` gives the whole report; `prove_obligations`, `vacuity_obligations` and `guard_verdicts` its parts. A
refuted obligation has a `Counterexample`: two finite states and the step between them, which reading 1 replays.
"""

from anchorhold_spec.prove.inductive import Inductive, inductive
from anchorhold_spec.prove.model import Counterexample
from anchorhold_spec.prove.necessity import GuardVerdict, Without, guard_verdicts
from anchorhold_spec.prove.obligations import (
    INITIALLY,
    Obligation,
    Prover,
    Result,
    prove_obligations,
)
from anchorhold_spec.prove.report import (
    Report,
    as_json,
    verify,
    verify_proofs,
    verify_small_sizes,
)
from anchorhold_spec.prove.vacuity import SMALL, vacuity_obligations
from anchorhold_spec.prove.without import WithoutGuard, WithoutGuards, needless_auxiliaries

__all__ = [
    "INITIALLY",
    "SMALL",
    "Counterexample",
    "GuardVerdict",
    "Inductive",
    "Obligation",
    "Prover",
    "Report",
    "Result",
    "Without",
    "WithoutGuard",
    "WithoutGuards",
    "as_json",
    "guard_verdicts",
    "inductive",
    "needless_auxiliaries",
    "prove_obligations",
    "vacuity_obligations",
    "verify",
    "verify_proofs",
    "verify_small_sizes",
]
