"""A program of another language under a wall clock that the suite moves: nothing is asked of its adapter."""

import shlex
import shutil
import sys
from pathlib import Path

import pytest

from anchorhold.checkers import CHECKERS
from anchorhold.compactor import Reply, Settings
from anchorhold.errors import AdapterError, Fault
from anchorhold.judging import judge
from anchorhold.load import load
from anchorhold.planting import EPOCH, Planter
from anchorhold.run import means_of, play
from anchorhold.scenarios.outside import OUTSIDE
from anchorhold.scenarios.plan import Plan
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
        # A session begins at the same moment, whatever the one before did.
        compactor = loaded.make()
        compactor.open(Settings(), lambda shown: Reply(text="S"))
        fresh = now()
        compactor.close()

    assert 0 <= before[0] - EPOCH < 300
    assert 7200 <= forward[0] - before[0] < 7500
    assert -3600 <= back[0] - before[0] < -3300
    assert 0 <= fresh[0] - EPOCH < 300
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


AGEING = '''
import sys
import time
from datetime import datetime
from anchorhold_sdk import (
    Answer, AnswerKind, CarrierKind, Description, Item, Mechanism, Outcome, OutcomeKind, Pointer, Shown, serve
)

NOW = {
    "local": lambda: datetime.now(),
    "utc": lambda: datetime.fromtimestamp(time.time(), __import__("datetime").timezone.utc),
    "monotonic": lambda: datetime.fromtimestamp(time.monotonic()),
}[sys.argv[1]]

class Ages:
    """Keeps originals for their lifetime, by one of three clocks."""
    def describe(self):
        return Description(name="ages", version="1", mechanisms=frozenset({Mechanism.SUMMARISER}))
    def open(self, settings, summarise):
        self.settings, self.summarise, self.passed = settings, summarise, 0.0
        self.window, self.kept, self.covers = [], {}, ()
        return settings
    def append(self, turn):
        self.window.append((turn.id, turn.text or ""))
    def compact(self):
        old, self.window = self.window[:-2], self.window[-2:]
        if not old:
            return Outcome(kind=OutcomeKind.NOTHING)
        self.text = self.summarise(Shown(messages=tuple(text for _, text in old))).text
        self.kept |= {turn: (text, NOW(), self.passed) for turn, text in old}
        self.covers += tuple(turn for turn, _ in old)
        return Outcome(kind=OutcomeKind.COMMITTED, summary="s", covered=tuple(turn for turn, _ in old))
    def live(self):
        raw = [Item(id=turn, turn=turn, kind=CarrierKind.RAW, text=text) for turn, text in self.window]
        summary = Item(id="s", kind=CarrierKind.SUMMARY, text=self.text, covers=self.covers) if self.covers else None
        return [summary, *raw] if summary else raw
    def pointers(self):
        return [Pointer(summary="s", token=turn, covers=(turn,)) for turn in self.covers]
    def get(self, token):
        if token not in self.kept:
            return Answer(kind=AnswerKind.FOREIGN)
        text, since, passed = self.kept[token]
        if (NOW() - since).total_seconds() + self.passed - passed >= self.settings.lifetime:
            return Answer(kind=AnswerKind.EXPIRED)
        return Answer(kind=AnswerKind.FOUND, text=text, source=token)
    def expire(self, seconds):
        self.passed += seconds
    def close(self):
        pass

serve(Ages)
'''


@pytest.mark.parametrize(
    ("ages", "caught_when"), [("local", {"summer-time-begins"}), ("utc", set()), ("monotonic", set())]
)
def test_lifetimes_read_in_local_time_are_caught_when_the_clocks_change_and_others_are_not_blamed(
    ages: str, caught_when: set[str], tmp_path: Path
) -> None:
    if library() is None:
        pytest.skip("libfaketime is not installed")
    (tmp_path / "ages.py").write_text(AGEING)
    shutil.copy(Path(__file__).parents[2] / "conformance/anchorhold/adapters/anchorhold_sdk.py", tmp_path)
    (ret_4,) = (checker for checker in CHECKERS if checker.rule == "RET-4")
    caught = set()
    with load(f"cmd+clock:{shlex.join([sys.executable, str(tmp_path / 'ages.py'), ages])}") as loaded:
        description = loaded.describe()
        for scenario in OUTSIDE:
            if not scenario.needs <= means_of(description):
                continue
            workload = scenario.workload(Plan(planter=Planter("dst"), taken=scenario.settings))
            (judgement,) = judge((ret_4,), play(loaded.make(), workload, description=description, location="ages"))
            assert judgement.triggered >= ret_4.minimum
            caught |= {scenario.name} if judgement.failures else set()

    assert caught == caught_when
