"""The codes that read facts, for tests that hold for each of them."""

import os

import pytest

from anchorhold_reference.extract.engine import ENGINE, PYTHON


def native():
    """The compiled code. Where it is not installed the test is skipped; in CI it fails."""
    if ENGINE is not PYTHON:
        return ENGINE
    why = "anchorhold-native is not installed, or not of these rules: pip install ./native"
    if os.environ.get("CI"):
        pytest.fail(why)
    pytest.skip(why)


@pytest.fixture(scope="module", params=["python", "native"])
def engine(request):
    """Each code that reads facts."""
    return PYTHON if request.param == "python" else native()
