"""A program of another language under a wall clock that the suite moves: nothing is asked of its adapter."""

import shlex
import shutil
import sys
import time
from pathlib import Path

import pytest

from anchorhold.compactor import Reply, Settings
from anchorhold.errors import AdapterError, Fault
from anchorhold.load import load
from anchorhold.run import means_of
from anchorhold.wire.fake_clock import LIBRARY, FakeClock, library
from anchorhold.workload import Clock
from anchorhold_spec.vocabulary import Turn

ADAPTER = '''
import time
from anchorhold_sdk import Outcome, OutcomeKind, serve

class Tells:
    """Its ids are the two clocks."""
    def describe(self):
        from anchorhold_sdk import Description
        return Description(name="tells", version="1")
    def open(self, settings, summarise):
        return settings
    def append(self, turn):
        return f"{time.time()} {time.monotonic()}"
    def compact(self):
        return Outcome(kind=OutcomeKind.NOTHING)
    def live(self):
        return []
    def close(self):
        pass

serve(Tells)
'''
NODE = """
let open = true;
const rl = require("node:readline").createInterface({ input: process.stdin });
rl.on("line", (line) => {
  const { id, method } = JSON.parse(line);
  const description = { name: "n", version: "1", operations: ["open", "append", "compact", "live", "close"] };
  const settings = { session: "s", user: "u", branch: "main", budget: null, watermark: null, unit: "tokens" };
  const results = { initialize: { protocol: 1, description }, live: [], compact: { kind: "nothing-to-do" },
    open: settings, append: `${Date.now() / 1000} ${performance.now() / 1000}` };
  process.stdout.write(JSON.stringify({ jsonrpc: "2.0", id, result: results[method] ?? null }) + "\\n");
  if (method === "shutdown") process.exit(0);
});
"""


def clocks(told: str | None) -> tuple[float, float]:
    wall, monotonic = map(float, (told or "").split())
    return wall, monotonic


@pytest.fixture(params=["python", "node"])
def program(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    if library() is None:
        pytest.skip("libfaketime is not installed")
    if request.param == "node":
        node = shutil.which("node")
        if node is None:
            pytest.skip("needs node")
        (tmp_path / "tells.cjs").write_text(NODE)
        return shlex.join([node, str(tmp_path / "tells.cjs")])
    (tmp_path / "tells.py").write_text(ADAPTER)
    sdk = Path(__file__).parents[2] / "conformance/anchorhold/adapters/anchorhold_sdk.py"
    shutil.copy(sdk, tmp_path)
    return shlex.join([sys.executable, str(tmp_path / "tells.py")])


def test_the_wall_clock_jumps_and_no_time_passes(program: str) -> None:
    with load(f"cmd+clock:{program}") as loaded:
        description = loaded.describe()
        assert "clock" in description.operations
        assert "clock" in means_of(description)
        compactor = loaded.make()
        compactor.open(Settings(), lambda shown: Reply(text="S"))

        def now() -> tuple[float, float]:
            return clocks(compactor.append(Turn(id="t", speaker="user", text="x")))

        before = now()
        compactor.clock(7200.0)
        forward = now()
        compactor.clock(-10_800.0)
        back = now()
        compactor.close()
        # A session begins with the real time, whatever the one before did.
        compactor = loaded.make()
        compactor.open(Settings(), lambda shown: Reply(text="S"))
        fresh = now()
        compactor.close()

    assert abs(before[0] - time.time()) < 300
    assert 7200 <= forward[0] - before[0] < 7500
    assert -3600 <= back[0] - before[0] < -3300
    assert 0 <= fresh[0] - before[0] < 300
    assert 0 <= back[1] - before[1] < 300


def test_without_the_clock_a_program_is_not_said_to_have_one(program: str) -> None:
    with load(f"cmd:{program}") as loaded:
        assert "clock" not in loaded.describe().operations
        assert Clock(shift=1.0).shift == 1.0


def test_a_missing_library_is_said_with_what_to_do(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv(LIBRARY, str(tmp_path / "nowhere.so"))

    with pytest.raises(AdapterError, match="libfaketime") as caught:
        load("cmd+clock:true")

    assert caught.value.code is Fault.START
    assert "apt-get install libfaketime" in str(caught.value)
    with pytest.raises(AdapterError):
        FakeClock()
