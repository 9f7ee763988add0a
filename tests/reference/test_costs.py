"""What operations cost, in instructions of SQLite's machine and not in time: the gate the facts of the one carrier
(ANC-1), reading what is read, compaction the turns that it replaces, and never what else is stored."""

import itertools
import sqlite3
import tracemalloc
from collections.abc import Callable
from pathlib import Path

import pytest
from crowded import crowd, fill

from anchorhold_reference import Reply, Settings, Transcript, erasure
from anchorhold_spec.vocabulary import AnswerKind, Outcome, OutcomeKind, Turn

STORED = 20_000
"""Facts: a statement that goes through all of anything is then far off."""


def _opened(path: Path) -> Transcript:
    return Transcript.open(
        path,
        summarise=lambda request: Reply(text=f"Jobs ran, as {len(request.messages)} messages say."),
        settings=Settings(keep=1),
    )


def _filled(path: Path, *, facts: int, carriers: int = 0) -> Transcript:
    """A session with originals in the store, among so many other facts, one of which has so many carriers."""
    transcript = _opened(path)
    fill(transcript, 40)
    crowd(transcript, facts=facts, carriers=carriers)
    return transcript


def _tokens(transcript: Transcript) -> list[str]:
    return [pointer.token for pointer in transcript.pointers() if pointer.covers != ("t0",)][:20]


def _instructions(transcript: Transcript, work: Callable[[], object]) -> int:
    """Instructions of SQLite's machine that some work takes."""
    connection = transcript._ledger._connection
    assert isinstance(connection, sqlite3.Connection)
    taken = 0

    def count() -> int:
        nonlocal taken
        taken += 1
        return 0

    connection.set_progress_handler(count, 1)
    try:
        work()
    finally:
        connection.set_progress_handler(None, 0)
    assert taken > 0
    return taken


@pytest.mark.parametrize(("facts", "carriers"), [(STORED, 0), (STORED, STORED // 2)])
@pytest.mark.parametrize("analysed", [False, True])
def test_anc_1_an_eviction_costs_the_facts_of_its_one_carrier(
    tmp_path: Path, facts: int, carriers: int, analysed: bool
) -> None:
    def refused(transcript: Transcript, tokens: list[str]) -> None:
        for token in tokens:
            assert transcript.evict(token).kind is OutcomeKind.REFUSED

    taken = {}
    for name, few in (("small", True), ("large", False)):
        path = tmp_path / f"{name}.db"
        with _filled(path, facts=0 if few else facts, carriers=0 if few else carriers) as transcript:
            tokens = _tokens(transcript)
            if analysed:
                # With statistics SQLite may choose another way through the same tables.
                transcript._ledger.run("ANALYZE")
            taken[name] = _instructions(transcript, lambda t=transcript, of=tokens: refused(t, of))

    assert taken["large"] <= 1.2 * taken["small"]


def _resolve(transcript: Transcript, tokens: list[str]) -> None:
    for token in tokens:
        assert transcript.get(token).kind is AnswerKind.FOUND


def _literals(transcript: Transcript, tokens: list[str]) -> None:
    for n in range(1, 21):
        assert transcript.search(f"J-{n}x").source == f"t{n}"


def _slots(transcript: Transcript, tokens: list[str]) -> None:
    for n in range(1, 21):
        assert transcript.reconstitute(f"db-{n}", "port", evidence=True).value == str(7000 + n)


@pytest.mark.parametrize("read", [_resolve, _literals, _slots])
@pytest.mark.parametrize("analysed", [False, True])
def test_rec_1_reading_costs_what_is_read_however_many_spans_there_are(
    tmp_path: Path, read: Callable[[Transcript, list[str]], None], analysed: bool
) -> None:
    taken = {}
    for name, facts in (("small", 0), ("large", STORED)):
        with _filled(tmp_path / f"{name}.db", facts=facts) as transcript:
            tokens = _tokens(transcript)
            if analysed:
                transcript._ledger.run("ANALYZE")
            read(transcript, tokens)  # what is remembered of the window is read once
            taken[name] = _instructions(transcript, lambda t=transcript, of=tokens: read(t, of))

    assert taken["large"] <= 1.2 * taken["small"]


def test_rec_1_a_pointer_is_followed_by_one_statement(tmp_path: Path) -> None:
    with _filled(tmp_path / "store.db", facts=0) as transcript:
        (token, *_) = _tokens(transcript)
        asked: list[str] = []
        connection = transcript._ledger._connection
        assert isinstance(connection, sqlite3.Connection)
        connection.set_trace_callback(asked.append)
        assert transcript.get(token).kind is AnswerKind.FOUND
        connection.set_trace_callback(None)

        assert len(asked) == 1
        # A row for each of the three tables that it goes through.
        assert _instructions(transcript, lambda: transcript.get(token)) < 60


def test_pro_1_a_compaction_costs_the_turns_that_it_replaces(tmp_path: Path) -> None:
    instructions, statements = {}, {}
    for turns in (100, 400):
        with _opened(tmp_path / f"{turns}.db") as transcript:
            for n in range(turns):
                transcript.append(Turn(id=f"t{n}", speaker="assistant", text=f"The port of db-{n} is {7000 + n}."))
            asked: list[str] = []
            connection = transcript._ledger._connection
            assert isinstance(connection, sqlite3.Connection)
            connection.set_trace_callback(asked.append)
            instructions[turns] = _instructions(transcript, transcript.compact)
            connection.set_trace_callback(None)
            # What begins with a comment the full-text index asks by itself.
            statements[turns] = sum(1 for statement in asked if not statement.startswith("--"))
            assert transcript.status().compactions == 1

    # Of the indexes some grow by a level.
    assert instructions[400] / 400 <= 1.1 * instructions[100] / 100
    # For each turn its fact, who asserts it, its copy, whom the summary covers, and the index's words. Whatever else
    # is done to every turn one statement does to all of them, or to as many as its parameters allow.
    assert (statements[400] - statements[100]) / 300 <= 5.1


@pytest.mark.parametrize("analysed", [False, True])
def test_pro_1_a_compaction_costs_the_same_however_many_facts_the_session_has(tmp_path: Path, analysed: bool) -> None:
    taken = {}
    for name, facts in (("small", 0), ("large", STORED)):
        with _filled(tmp_path / f"{name}.db", facts=facts) as transcript:
            if analysed:
                transcript._ledger.run("ANALYZE")
            for n in range(20):
                transcript.append(Turn(id=f"n{n}", speaker="assistant", text=f"The port of web-{n} is {9000 + n}."))
            done: list[Outcome] = []
            taken[name] = _instructions(transcript, lambda t=transcript, into=done: into.append(t.compact()))
            assert [outcome.kind for outcome in done] == [OutcomeKind.COMMITTED], done

    assert taken["large"] <= 1.2 * taken["small"]


def test_turns_that_are_appended_and_not_asked_for_are_not_held_however_large(tmp_path: Path) -> None:
    with _opened(tmp_path / "store.db") as transcript:
        tracemalloc.start()
        try:
            for n in range(100):
                transcript.append(Turn(id=f"t{n}", speaker="tool", text=f"{n:>4}" * 25_000))
            held, _ = tracemalloc.get_traced_memory()
        finally:
            tracemalloc.stop()

    assert held < 1_000_000


def test_era_1_forgetting_costs_each_later_summary_once(tmp_path: Path) -> None:
    """Every summary over a turn is written anew; that must not go through all that is under each of them."""

    def costs(generations: int) -> int:
        part = itertools.count()
        with Transcript.open(
            tmp_path / f"{generations}.db",
            summarise=lambda _request: Reply(text=f"Part {next(part)} of the jobs ran."),
            settings=Settings(keep=1),
        ) as transcript:
            for n in range(2 * generations + 2):
                transcript.append(Turn(id=f"t{n}", speaker="assistant", text=f"Job J-{n} ran."))
                if n % 2:
                    assert transcript.compact().kind is OutcomeKind.COMMITTED
            # The files are rewritten by another step, which costs what is in them.
            return _instructions(
                transcript,
                lambda: erasure.forget(transcript._session, "t0", clock=lambda: 1.0, uptime=lambda: ("", 1.0)),
            )

    few, many = costs(20), costs(160)
    assert many < 8 * few * 1.25
