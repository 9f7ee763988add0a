"""Several processes at once: what is found does not depend on how many there are."""

from functools import partial
from pathlib import Path

import pytest

from anchorhold.check import Checked, check
from anchorhold.checkers import CHECKERS
from anchorhold.errors import AdapterError
from anchorhold.load import load
from anchorhold.scenarios import Effort

TOYS = Path(__file__).with_name("toy_compactors.py")
FEW = ("growth-drop", "growth-faithful", "growth-paraphrase", "mixed-generations", "equal-text", "idle-talk")


def checked(kind: str, folder: Path, *, workers: int) -> Checked:
    again = partial(load, f"{TOYS}:{kind}")
    with again() as loaded:
        return check(
            loaded,
            checkers=CHECKERS,
            histories=folder,
            effort=Effort.QUICK,
            rules={"PTR-1", "PTR-3", "PRO-1"},
            named=FEW,
            again=again,
            workers=workers,
        )


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["Archive", "Loses"])
def test_two_workers_find_what_one_finds(kind: str, tmp_path: Path) -> None:
    one, two = (checked(kind, tmp_path / str(workers), workers=workers) for workers in (1, 2))

    assert dict(one.result.rules) == dict(two.result.rules)
    assert [(f.rule, f.sentence) for f in one.result.failures] == [(f.rule, f.sentence) for f in two.result.failures]
    assert bool(one.result.failures) is (kind == "Loses")


def test_an_adapter_error_of_a_worker_is_one_of_the_check(tmp_path: Path) -> None:
    with pytest.raises(AdapterError, match="could not be opened"):
        checked("CannotOpen", tmp_path, workers=2)
