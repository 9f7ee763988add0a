"""A crash of a compactor in the catalogue is told from an error that it answers with."""

import pytest

from anchorhold.adequacy.crashed import is_crash


@pytest.mark.parametrize(
    "error",
    [
        "KeyError: 'a'",
        "RuntimeError: no window today",
        "AssertionError",
        "FileNotFoundError: [Errno 2]",
        "JSONDecodeError: Expecting value: line 1 column 1 (char 0)",
        "sqlite3.OperationalError: no such table: turns",
        "SystemExit: 1",
        "KeyboardInterrupt",
    ],
)
def test_exception_of_python_or_its_library_is_a_crash(error) -> None:
    assert is_crash(error)


@pytest.mark.parametrize(
    "error",
    [
        "LedgerError: the database or disk is full",
        "RefusedError: nothing was stored",
        "the session is busy: try again",
        "Error: an error of another language",
        "",
    ],
)
def test_error_of_the_compactors_own_making_is_an_answer(error) -> None:
    assert not is_crash(error)


@pytest.mark.parametrize(
    "error", ["OSError: [Errno 28] No space left on device", "sqlite3.OperationalError: database or disk is full"]
)
def test_while_a_store_is_made_to_fail_what_a_failed_write_raises_is_an_answer(error) -> None:
    assert not is_crash(error, failing=True)
    assert is_crash("KeyError: 'a'", failing=True)
    assert is_crash(error)
