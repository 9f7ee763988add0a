"""What `anchorhold check` is given is found, or it is said in one line why not."""

import subprocess
import sys
import textwrap
import threading
import time
import types
from pathlib import Path

import pytest

from anchorhold.compactor import OperationError, Reply, Settings, Shown
from anchorhold.errors import AdapterError, Fault
from anchorhold.load import load
from anchorhold.shipped import shipped
from anchorhold.wire import worker as worker_module
from anchorhold.wire.messages import REQUIRED
from anchorhold_spec.vocabulary import Item, OutcomeKind, Turn

GOOD = """
    from anchorhold.compactor import Description, OperationError, Shown
    from anchorhold_spec.vocabulary import CarrierKind, Item, Outcome, OutcomeKind

    class Keeper:
        def describe(self):
            return Description(name="keeper", version="3")
        def open(self, settings, summarise):
            self.summarise, self.items = summarise, []
            return settings
        def append(self, turn):
            self.items.append(Item(id=turn.id, kind=CarrierKind.RAW, text=turn.text))
        def compact(self):
            return Outcome(kind=OutcomeKind.NOTHING)
        def live(self):
            return self.items
        def close(self):
            pass
"""


def model(shown: Shown) -> Reply:
    return Reply(text=" ".join(shown.messages))


def written(folder: Path, more: str = "", *, base: str = GOOD) -> Path:
    path = folder / "theirs.py"
    path.write_text(textwrap.dedent(base) + textwrap.dedent(more), encoding="utf-8")
    return path


def failing(target: str, **options: object) -> AdapterError:
    """The error that loading, making, describing or opening it gives."""

    def reach() -> None:
        with load(target, **options) as loaded:  # type: ignore[arg-type]
            loaded.make().open(Settings(), model)

    with pytest.raises(AdapterError) as caught:
        reach()
    assert "\n" not in str(caught.value)
    assert caught.value.hint
    return caught.value


def test_a_class_in_a_file_is_driven(tmp_path: Path) -> None:
    with load(f"{written(tmp_path)}:Keeper") as loaded:
        assert loaded.describe().name == "keeper"
        assert loaded.describe().operations == {"open", "append", "compact", "live", "close"}
        for _ in range(2):
            compactor = loaded.make()
            assert compactor.open(Settings(budget=3), model) == Settings(budget=3)
            assert compactor.append(Turn(id="t", speaker="user", text="x")) is None
            assert [item.text for item in compactor.live()] == ["x"]
            assert compactor.compact().kind is OutcomeKind.NOTHING
            compactor.close()
    assert loaded.stderr == ""


def test_a_class_in_a_module_is_found_from_the_working_directory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    written(tmp_path).rename(tmp_path / "their_module.py")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])

    with load("their_module:Keeper") as loaded:
        assert loaded.describe().version == "3"


def test_a_file_may_import_its_neighbours(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "path", [*sys.path])
    (tmp_path / "their_neighbour.py").write_text("x = 1\n")

    with load(f"{written(tmp_path, 'import their_neighbour')}:Keeper") as loaded:
        assert loaded.describe().name == "keeper"


def test_what_is_asked_for_and_not_there_is_told_with_what_is(tmp_path: Path) -> None:
    path = written(tmp_path)

    unknown = failing("referense")
    assert unknown.code is Fault.NOT_FOUND
    assert "did you mean 'reference'?" in str(unknown)
    assert failing("").code is Fault.NOT_FOUND
    assert failing(":x").code is Fault.NOT_FOUND
    assert failing("x:").code is Fault.NOT_FOUND
    assert failing(f"{tmp_path}/none.py:X").code is Fault.NOT_FOUND
    no_class = failing(f"{path}:Missing")
    assert no_class.code is Fault.NOT_FOUND
    assert "it defines Keeper" in str(no_class)
    assert "is a int" in str(failing(f"{written(tmp_path, 'three = 3')}:three"))


@pytest.mark.parametrize(
    ("more", "says"),
    [
        ("import no_such_module_at_all", "ModuleNotFoundError: No module named 'no_such_module_at_all'"),
        ("def", "SyntaxError"),
        ("1 / 0", "ZeroDivisionError"),
        ("raise SystemExit(3)", "SystemExit: 3"),
    ],
)
def test_a_class_that_cannot_be_imported_is_told_so(tmp_path: Path, more: str, says: str) -> None:
    error = failing(f"{written(tmp_path, more)}:Keeper")

    assert error.code is Fault.IMPORT
    assert says in str(error)
    assert "theirs.py" in str(error)


def test_a_module_that_cannot_be_imported_is_told_so() -> None:
    error = failing("no_such_package.module:Class")

    assert error.code is Fault.IMPORT
    assert "no_such_package" in str(error)


@pytest.mark.parametrize(
    ("body", "code", "says"),
    [
        ("def __init__(self, needed): pass", Fault.IMPORT, "needed"),
        ("def __init__(self): raise OSError('no disk')", Fault.IMPORT, "OSError: no disk"),
        ("describe = None", Fault.PROTOCOL, "does not define describe"),
        ("live = None", Fault.PROTOCOL, "does not define live"),
        ("def describe(self): raise OSError('who?')", Fault.IMPORT, "OSError: who?"),
        ("def describe(self): return 'me'", Fault.SCHEMA, "describe"),
        ("def describe(self): return Description(name=1, version='x')", Fault.SCHEMA, "$.description.name"),
        ("def open(self): pass", Fault.SCHEMA, "cannot be called for `open`"),
        ("def open(self, settings, summarise): return None", Fault.SCHEMA, "answered `open` out of schema"),
    ],
)
def test_a_class_that_is_none_of_ours_is_told_so(tmp_path: Path, body: str, code: Fault, says: str) -> None:
    path = written(tmp_path, f"class Theirs(Keeper):\n    {body}\n")

    error = failing(f"{path}:Theirs")

    assert error.code is code
    assert says in str(error)


@pytest.mark.parametrize(
    ("body", "says"),
    [
        ("return None", "answered `live` out of schema"),
        ("return [Item(id=1, kind=CarrierKind.RAW)]", "$[0].id"),
        ("return [Item(id='a', kind='old')]", "old"),
        ("return ['a']", "$[0]"),
        ("return [object()]", "no form"),
        ("return [Item(id='a\\ud800', kind=CarrierKind.RAW)]", "surrogates"),
        ("return [Item(id='a', kind=CarrierKind.RAW, generation=10**30)]", "answered `live` out of schema"),
    ],
)
def test_a_class_that_answers_out_of_schema_is_told_which_operation(tmp_path: Path, body: str, says: str) -> None:
    path = written(tmp_path, f"class Theirs(Keeper):\n    def live(self): {body}\n")
    with load(f"{path}:Theirs") as loaded:
        compactor = loaded.make()
        compactor.open(Settings(), model)
        with pytest.raises(AdapterError) as caught:
            compactor.live()
        compactor.close()

    assert caught.value.code is Fault.SCHEMA
    assert says in str(caught.value)


def test_text_with_lone_surrogates_comes_back_as_bytes(tmp_path: Path) -> None:
    with load(f"{written(tmp_path)}:Keeper") as loaded:
        compactor = loaded.make()
        compactor.open(Settings(), model)
        compactor.append(Turn(id="t", speaker="user", text="x\ud800"))

        assert compactor.live() == (Item(id="t", kind="raw", data=b"x\xed\xa0\x80"),)  # type: ignore[arg-type]
        compactor.close()


@pytest.mark.parametrize(
    ("body", "definite", "says"),
    [
        ("raise OperationError('disk full', definite=True)", True, "disk full"),
        ("raise OperationError('lost it', definite=False)", False, "lost it"),
        ("raise ValueError('lost it')", False, "ValueError: lost it"),
        ("raise SystemExit(2)", False, "SystemExit: 2"),
    ],
)
def test_what_a_class_raises_is_an_operation_error(tmp_path: Path, body: str, definite: bool, says: str) -> None:
    path = written(tmp_path, f"class Theirs(Keeper):\n    def compact(self): {body}\n")
    with load(f"{path}:Theirs") as loaded:
        compactor = loaded.make()
        compactor.open(Settings(), model)
        with pytest.raises(OperationError, match=says) as caught:
            compactor.compact()

        assert caught.value.definite is definite
        assert compactor.live() == ()
        compactor.close()


def test_a_class_is_made_and_called_on_one_thread_and_closed_without_leaving_it(tmp_path: Path) -> None:
    more = """
        import threading

        class Theirs(Keeper):
            def __init__(self):
                self.made = threading.get_ident()
            async def compact(self):
                assert threading.get_ident() == self.made
                return Outcome(kind=OutcomeKind.COMMITTED, reason=self.summarise(Shown(messages=("a", "b"))).text)
            def status(self):
                return "lossless" if threading.get_ident() == self.made else "degraded: threads"
    """
    before = set(threading.enumerate())
    with load(f"{written(tmp_path, more)}:Theirs") as loaded:
        compactor = loaded.make()
        compactor.open(Settings(), model)

        assert compactor.compact().reason == "a b"
        assert compactor.status() == "lossless"
        with pytest.raises(NotImplementedError):
            compactor.pointers()
        # Not closed by its user: closed with what made it.
    assert set(threading.enumerate()) == before


def test_a_class_that_hangs_is_given_up_after_the_time_out(tmp_path: Path) -> None:
    more = """
        import threading

        class Theirs(Keeper):
            wake = threading.Event()
            def compact(self):
                self.wake.wait(60)
    """
    out = sys.stdout
    before = set(threading.enumerate())
    with load(f"{written(tmp_path, more)}:Theirs") as loaded:
        compactor = loaded.make()
        compactor.open(Settings(), model)
        compactor._seconds = 0.3  # type: ignore[attr-defined]
        with pytest.raises(AdapterError, match=r"hangs: `compact` took more than 0\.3 s") as caught:
            compactor.compact()
        assert caught.value.code is Fault.HANG
        with pytest.raises(AdapterError, match="hangs"):
            compactor.live()
        assert sys.stdout is out
        (left,) = set(threading.enumerate()) - before
        compactor.close()
        loaded._make.wake.set()  # type: ignore[attr-defined]
        left.join(20)
        assert not left.is_alive()


def test_the_time_that_the_suite_takes_for_a_summary_is_not_the_class_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    more = """
        class Theirs(Keeper):
            def compact(self):
                return Outcome(kind=OutcomeKind.COMMITTED, reason=self.summarise(Shown(messages=())).text)
    """
    clock = [0.0]
    fake = types.SimpleNamespace(monotonic=lambda: clock[0] + time.monotonic())
    monkeypatch.setattr(worker_module, "time", fake)

    def slow(shown: Shown) -> Reply:
        clock[0] += 1000
        return Reply(text="late")

    with load(f"{written(tmp_path, more)}:Theirs") as loaded:
        compactor = loaded.make()
        compactor.open(Settings(), slow)

        assert compactor.compact().reason == "late"
        compactor.close()


def test_what_a_class_prints_does_not_reach_standard_output(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    more = """
        print("imported")
        class Theirs(Keeper):
            def live(self):
                print("alive")
                return []
    """
    with load(f"{written(tmp_path, more)}:Theirs") as loaded:
        compactor = loaded.make()
        compactor.open(Settings(), model)
        compactor.live()
        compactor.close()

    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err == "imported\nalive\n"


HEAD = """# /// script
# requires-python = ">=3.11"
# dependencies = [
#     "some-thing[extra]==1.2.3",
#     "other==4",
# ]
# ///
\"\"\"One line that says what it is.

More.
\"\"\"
"""


def test_shipped_adapters_say_their_pin_and_what_they_are_in_their_own_file(tmp_path: Path) -> None:
    (tmp_path / "some_thing_adapter.py").write_text(HEAD)
    (tmp_path / "not_one.py").write_text("")

    reference, entry = shipped(tmp_path)

    assert (reference.name, reference.program) == ("reference", None)
    assert entry.name == "some-thing"
    assert (entry.distribution, entry.version) == ("some-thing", "1.2.3")
    assert entry.summary == "One line that says what it is."
    assert entry.program == tmp_path / "some_thing_adapter.py"


@pytest.mark.parametrize(
    ("head", "says"),
    [
        ("", "no inline script metadata"),
        ("# /// script\n# dependencies = [\n# ///\n", "no TOML"),
        (HEAD.replace("==1.2.3", ">=1").replace("==4", ""), "pin"),
        (HEAD.replace('# ///\n"', '# [tool.anchorhold]\n# distribution = "absent"\n# ///\n"'), "pin"),
    ],
)
def test_a_shipped_adapter_that_does_not_say_its_pin_is_an_error(tmp_path: Path, head: str, says: str) -> None:
    (tmp_path / "some_adapter.py").write_text(head)

    with pytest.raises(AdapterError, match=says):
        shipped(tmp_path)


def test_every_adapter_in_the_package_can_be_listed() -> None:
    entries = shipped()

    assert entries[0].name == "reference"
    for entry in entries:
        assert entry.summary
        assert entry.version


@pytest.mark.slow
def test_a_shipped_adapter_is_run_by_uv_in_an_environment_without_this_one(tmp_path: Path) -> None:
    from anchorhold.load import _clean_environment, _uv_command

    path = tmp_path / "bare_adapter.py"
    path.write_text(
        "# /// script\n# dependencies = []\n# ///\n"
        "import importlib.util as u; print([bool(u.find_spec(m)) for m in ('msgspec', 'anchorhold')])\n"
    )
    ran = subprocess.run(
        _uv_command(path), capture_output=True, text=True, check=True, timeout=300, env=_clean_environment()
    )

    assert ran.stdout == "[False, False]\n"


@pytest.mark.parametrize("where", ["__init__", "describe"])
def test_where_a_class_raises_before_anything_is_played_is_said(tmp_path: Path, where: str) -> None:
    path = tmp_path / "mine.py"
    path.write_text(
        f"class Mine:\n    def {where}(self):\n        raise RuntimeError('no database')\n"
        + "".join(f"    def {name}(self, *a): ...\n" for name in (*REQUIRED, *({"describe"} - {where})))
    )
    with load(f"{path}:Mine") as loaded, pytest.raises(AdapterError) as caught:
        loaded.describe()

    assert f"RuntimeError: no database ({path}, line 3, in {where})" in str(caught.value)
