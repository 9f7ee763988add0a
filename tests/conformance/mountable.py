"""Whether a disk of the suite's own can be mounted here."""

import os
from functools import cache

import pytest

from anchorhold.disk.client import CURE, DiskClient, missing
from anchorhold.errors import AdapterError


@cache
def _why_not() -> str | None:
    reason = missing()
    if reason is not None:
        return reason
    try:
        DiskClient().close()
    except AdapterError as error:
        return str(error)
    return None


def skip_where_not_mountable() -> None:
    """Skip where the system does not let anybody mount. In CI nothing may be missing that could be installed."""
    reason = _why_not()
    if reason is not None:
        assert CURE not in reason or not os.environ.get("CI"), reason
        pytest.skip(reason)
