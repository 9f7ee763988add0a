"""The decisions are those of the machines: by Hypothesis, with its own choices and with CrossHair's."""

import decision_contracts as contracts
import pytest
from decision_mutants import MUTANTS, wrong
from hypothesis import HealthCheck, Phase, assume, given, settings
from hypothesis import strategies as st

BACKENDS = ("hypothesis", "crosshair")
BOTH = st.booleans()

PROPERTIES = {
    "eviction_agrees": (BOTH, BOTH, BOTH, BOTH),
    "replacement_agrees": (BOTH, BOTH, BOTH),
    "release_agrees": (BOTH, BOTH),
    "provenance_agrees": (BOTH, BOTH, BOTH, BOTH),
    "reclamation_agrees": (st.integers(0, len(contracts.CLASSES) - 1), BOTH, BOTH, BOTH),
    "expiry_agrees": (st.integers(0, 3), st.integers(0, 3), BOTH),
    "stopping_agrees": (BOTH, BOTH),
    "copies_agree": (st.integers(0, 2),),
    "resolution_agrees": (st.integers(0, len(contracts.HOLDINGS) - 1),),
}


def hold(contract: str, backend: str) -> None:
    """Bounded by examples; fails where the two sides disagree."""

    @settings(
        backend=backend,
        max_examples=60,
        deadline=None,
        database=None,
        derandomize=backend == "hypothesis",
        phases=(Phase.generate,),
        suppress_health_check=list(HealthCheck),
    )
    @given(st.tuples(*PROPERTIES[contract]))
    def agrees(inputs):
        if contract == "eviction_agrees":
            _, carried, _, carried_on = inputs
            assume(carried or not carried_on)
        assert getattr(contracts, contract)(*inputs)

    agrees()


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("contract", PROPERTIES)
def test_the_decision_is_the_machine_s(contract, backend):
    hold(contract, backend)


@pytest.mark.parametrize("backend", ["hypothesis", pytest.param("crosshair", marks=pytest.mark.slow)])
@pytest.mark.parametrize("name", MUTANTS)
def test_a_wrong_decision_is_found(name, backend, monkeypatch):
    changed = wrong(name)
    monkeypatch.setattr(contracts, "decide", changed)
    monkeypatch.setattr(contracts, "HOLDINGS", (None, *changed.Holding))
    monkeypatch.setattr(contracts, "CLASSES", tuple(changed.EvidentialClass))
    for enumeration in ("Holding", "Copy"):
        monkeypatch.setattr(contracts.machines, enumeration, getattr(changed, enumeration))

    with pytest.raises(AssertionError):
        hold(MUTANTS[name].contract, backend)
