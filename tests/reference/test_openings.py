"""One file is one store: by whatever path it is opened, from whatever directory, in whatever process."""

import os
import sqlite3
import subprocess
import sys

import pytest
from transcripts import Script, fill

from anchorhold_reference import Settings, Transcript
from anchorhold_reference.errors import ForkedError, LedgerError
from anchorhold_reference.stores.sqlite import SqliteLedger
from anchorhold_spec.vocabulary import AnswerKind, OutcomeKind

SETTINGS = Settings(keep=2, horizon=0)
forks = pytest.mark.skipif(not hasattr(os, "fork"), reason="nothing forks on this system")


def opened(path, **more):
    return Transcript.open(path, summarise=more.pop("summarise", Script()), settings=SETTINGS, **more)


@pytest.mark.parametrize("cold", [None, "cold"])
def test_ptr_2_relative_paths_mean_the_same_wherever_the_process_goes(tmp_path, monkeypatch, cold):
    (tmp_path / "one").mkdir()
    (tmp_path / "two").mkdir()
    monkeypatch.chdir(tmp_path / "one")
    with opened("session.db", cold_store=cold) as transcript:
        fill(transcript, 1, 6)
        transcript.compact()
        tokens = [one.token for one in transcript.pointers()]
        monkeypatch.chdir(tmp_path / "two")

        assert {transcript.get(token).kind for token in tokens} == {AnswerKind.FOUND}
        fill(transcript, 7, 12)
        assert transcript.compact().kind is OutcomeKind.COMMITTED
        with transcript.fork("other") as branch:
            assert branch.live() == transcript.live()
        transcript.reopen()
        assert transcript.live()[0].covers == tuple(f"t{n}" for n in range(1, 11))
        assert transcript._ledger.alive(transcript._ledger.issuer)
        assert list((tmp_path / "two").iterdir()) == []


@pytest.mark.parametrize("step", ["stage", "copy", "point", "commit"])
def test_cra_2_an_opening_by_another_path_leaves_the_compaction_of_the_living_alone(tmp_path, step):
    (tmp_path / "link").mkdir()
    (tmp_path / "link" / "other.db").symlink_to(tmp_path / "session.db")

    def steps(name):
        if name == step:
            opened(tmp_path / "link" / "other.db").close()

    with opened(tmp_path / "session.db", steps=steps) as transcript:
        fill(transcript, 1, 6)
        assert transcript.compact().kind is OutcomeKind.COMMITTED


@pytest.mark.parametrize("name", ["we[ir]d*?.db", "a#b%20?c.db"])
def test_era_1_every_file_is_named_whatever_its_name(tmp_path, name):
    with opened(tmp_path / name) as transcript:
        fill(transcript, 1, 2)
        assert set(transcript.files()) == set(tmp_path.iterdir())


@pytest.mark.parametrize("path", [":memory:", ""])
def test_cra_3_what_would_not_be_durable_is_refused(path):
    with pytest.raises(ValueError, match="CRA-3"):
        opened(path)


def test_a_database_that_is_locked_is_not_called_somebody_else_s(tmp_path):
    path = tmp_path / "session.db"
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("BEGIN EXCLUSIVE")
    with pytest.raises(LedgerError, match="locked"):
        SqliteLedger(path, wait=0.01)
    other.execute("ROLLBACK")
    other.close()
    SqliteLedger(path).close()


def in_child(act):
    """What `act` answers in a forked child."""
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            answer = act()
        except BaseException as error:  # noqa: BLE001 - whatever it is, the child ends here
            answer = type(error).__name__
        os.write(write, str(answer).encode())
        os._exit(0)
    os.waitpid(child, 0)
    os.close(write)
    with os.fdopen(read) as answered:
        return answered.read()


@forks
@pytest.mark.filterwarnings("ignore:This process.*is multi-threaded:DeprecationWarning")
def test_cra_2_a_forked_child_has_to_open_the_session_itself(tmp_path):
    path = tmp_path / "session.db"
    with opened(path) as transcript:
        fill(transcript, 1, 6)
        assert in_child(transcript.live) == ForkedError.__name__
        assert in_child(lambda: transcript.append(fill.__name__)) != "None"
        assert in_child(transcript.close) == "None"
        assert transcript._ledger.alive(transcript._ledger.issuer), "the child let go of its parent's mark"

        def anew():
            with opened(path) as own:
                return len(own.live())

        assert in_child(anew) == "6"
        assert transcript.compact().kind is OutcomeKind.COMMITTED


OUTLIVED = """
import os, signal, sys, time
from anchorhold_reference import Reply, Settings, Transcript
from anchorhold_spec.vocabulary import Turn

def steps(name):
    if name == "commit":
        if os.fork() == 0:
            print(os.getpid(), flush=True)
            os.close(1)
            signal.pause()
        os.kill(os.getpid(), signal.SIGKILL)

t = Transcript.open(
    sys.argv[1], summarise=lambda r: Reply(text="Part one is done."), settings=Settings(keep=2), steps=steps
)
for n in range(6):
    t.append(Turn(id=f"t{n}", speaker="user", text=f"The port of db-{n} is {n}."))
t.compact()
"""


@forks
def test_cra_2_a_compaction_whose_process_died_is_undone_though_a_child_of_it_lives(tmp_path):
    path = tmp_path / "session.db"
    died = subprocess.run([sys.executable, "-c", OUTLIVED, path], stdout=subprocess.PIPE, check=False)
    child = int(died.stdout)
    try:
        with opened(path) as transcript:
            assert transcript.compact().kind is OutcomeKind.COMMITTED
    finally:
        os.kill(child, 9)
