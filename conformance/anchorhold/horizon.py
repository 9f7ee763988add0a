"""Whether evidence can still be had shortly before the horizon that a vendor claims.

Statements are compacted away, nine tenths of the horizon pass, and everything is asked for and followed. A claim
"to the session's end" is tried with ten years.
"""

from dataclasses import replace
from pathlib import Path
from typing import Final

import msgspec

from anchorhold.checkers import CHECKERS
from anchorhold.claims import HORIZON, SESSION, HorizonSeen
from anchorhold.compactor import Description, Mechanism, Reply, Shown
from anchorhold.errors import one_line
from anchorhold.history import write_history
from anchorhold.judging import judge
from anchorhold.load import Loaded
from anchorhold.planting import Planter
from anchorhold.result import ClaimVerdict
from anchorhold.run import play
from anchorhold.scenarios.plan import ASKED_FOR, Plan
from anchorhold.workload import AnyStep, Expire, Probe, Workload

TEN_YEARS: Final = 10 * 365.25 * 86_400.0
STATEMENTS: Final = 8
KEPT_AS: Final = "claim-horizon.jsonl"


def look(
    loaded: Loaded, description: Description, claimed: float | str, *, seed: int, histories: Path
) -> HorizonSeen:
    """Try it on a fresh compactor. A history that breaks the claim is kept in `histories`.

    Raises `AdapterError` where the adapter does not work, `OSError` where the history cannot be written.
    """
    seconds = None if claimed == SESSION else float(claimed)
    settings = replace(ASKED_FOR, horizon=seconds)
    probing = loaded.make()
    try:
        taken = probing.open(settings, _unused)
    finally:
        probing.close()
    if taken.horizon is not None and (seconds is None or taken.horizon < seconds):
        why = f"it takes a horizon of {taken.horizon:g} s where more is asked for"
        return HorizonSeen(verdict=ClaimVerdict.BROKEN, reason=why)
    if Mechanism.EXPIRY in description.hidden:
        why = f"its lifetimes cannot be driven: {one_line(description.hidden[Mechanism.EXPIRY])}"
        return HorizonSeen(verdict=ClaimVerdict.UNDECIDED, reason=why)
    waits = "expire" in description.operations
    plan = Plan(planter=Planter(f"{seed}:claimed-horizon"), taken=taken)
    wait = TEN_YEARS if seconds is None else 0.9 * seconds
    steps: tuple[AnyStep, ...] = plan.compacted("drop", *plan.facts(STATEMENTS))
    if waits:
        steps = (*steps, Expire(seconds=wait), Probe())
    history = play(
        loaded.make(),
        Workload(name="claimed-horizon", aims=HORIZON, settings=settings, steps=steps),
        description=description,
        location=loaded.location,
        seed=seed,
    )
    judgements = judge([checker for checker in CHECKERS if checker.rule in HORIZON], history)
    failures = [failure for judgement in judgements for failure in judgement.failures]
    passed = f"after {wait:g} s" if waits else "in the same session, where nothing expires by time"
    if failures:
        path = histories / KEPT_AS
        write_history(path, msgspec.structs.replace(history.header, rule=failures[0].rule), history.events)
        why = f"{passed}: {failures[0].sentence} ({path})"
        return HorizonSeen(verdict=ClaimVerdict.BROKEN, reason=why)
    if not sum(judgement.triggered for judgement in judgements):
        return HorizonSeen(
            verdict=ClaimVerdict.UNDECIDED, reason="nothing was compacted away that could be asked for"
        )
    return HorizonSeen(verdict=ClaimVerdict.BORNE_OUT, reason=f"all that was said was still to be had {passed}")


def _unused(shown: Shown) -> Reply:
    raise RuntimeError(f"no summary is needed before anything was appended ({len(shown.messages)} messages shown)")
