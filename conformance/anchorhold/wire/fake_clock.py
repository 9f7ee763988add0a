"""A wall clock that the suite moves from outside: libfaketime, loaded into a program of whatever language.

It begins at the same moment in each session, and is read in a zone that has summer time: what goes wrong where the
clocks change goes wrong whenever and wherever the check is run.

It stands between the program and the C library's clock, so that the program needs no means of its own. What asks the
kernel past the C library (Go, static binaries) sees the real time: such a compactor has to offer `clock` itself.
"""

import os
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path

from anchorhold.errors import AdapterError, Fault
from anchorhold.planting import EPOCH

LIBRARY = "ANCHORHOLD_LIBFAKETIME"
"""Environment variable that names the library, where it lies elsewhere than Debian puts it."""


def library() -> Path | None:
    """Where libfaketime lies; none where it is not installed."""
    named = os.environ.get(LIBRARY)
    places = [Path(named)] if named else sorted(Path("/usr/lib").glob("*/faketime/libfaketime.so.1"))
    return next((place for place in places if place.is_file()), None)


ZONE = "Europe/Berlin"
"""Where the program believes to be (`TZ`)."""


class FakeClock:
    """The wall clock of one program: `planting.EPOCH` at the beginning of a session, and it goes as clocks do."""

    def __init__(self) -> None:
        """Raises AdapterError where libfaketime is not installed."""
        found = library()
        if found is None:
            raise AdapterError(
                "'cmd+clock:' needs libfaketime, which is not there",
                code=Fault.START,
                hint=f"apt-get install libfaketime, or name the library in {LIBRARY}, or start it with 'cmd:'",
            )
        self._library = found
        self._folder = tempfile.TemporaryDirectory(prefix="anchorhold-clock-")
        self._file = Path(self._folder.name) / "shift"
        self.reset()

    def environment(self) -> dict[str, str]:
        """What a program is started with so that it sees this clock."""
        preloaded = os.environ.get("LD_PRELOAD")
        return {
            "TZ": ZONE,
            "LD_PRELOAD": f"{self._library} {preloaded}" if preloaded else str(self._library),
            "FAKETIME_TIMESTAMP_FILE": str(self._file),
            "FAKETIME_NO_CACHE": "1",
            # A wall clock that jumps: no time passes, and what waits for a while waits as long as ever.
            "FAKETIME_DONT_FAKE_MONOTONIC": "1",
            # Files are as old as they are by the clock that wrote them, and no shift is taken off again.
            "NO_FAKE_STAT": "1",
        }

    def shift(self, seconds: float) -> None:
        """Jump, forward or back."""
        self._shifted += seconds
        self._write()

    def reset(self) -> None:
        """A session begins here."""
        self._shifted = EPOCH - time.time()
        self._write()

    def close(self) -> None:
        """Remove what the clock is read from."""
        self._folder.cleanup()

    def _write(self) -> None:
        # Replaced as a whole: the program may read it at any moment.
        fresh = self._file.with_suffix(".new")
        fresh.write_text(f"{self._shifted:+.6f}")
        fresh.replace(self._file)


def around(environment: Mapping[str, str] | None, clock: FakeClock) -> dict[str, str]:
    """An environment with the clock in it; none: that of this process."""
    return {**(os.environ if environment is None else environment), **clock.environment()}
