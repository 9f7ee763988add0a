"""The codes that read facts, for tests that hold for each of them."""

import pytest

from anchorhold_reference.extract.engine import ENGINE, PYTHON


def native():
    """The compiled code; where it is not installed the test is skipped. `.ci/run` sees to it that it is."""
    if ENGINE is PYTHON:
        pytest.skip("anchorhold-native is not installed, or not of these rules: pip install ./native")
    return ENGINE


@pytest.fixture(scope="module", params=["python", "native"])
def engine(request):
    """Each code that reads facts."""
    return PYTHON if request.param == "python" else native()
