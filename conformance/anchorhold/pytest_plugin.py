"""The pytest plugin: checks what the tests made by `anchorhold.pytest.rules` ask for, once a session.

With xdist the first worker that needs a check runs it, and the others wait for what it found: they share a folder
and a lock in it. Only rules that are tested in this session are judged.
"""

import hashlib
import re
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from anchorhold.pytest import Asked, Checking, RuleVerdict
    from anchorhold.result import Result

_FOUND: pytest.StashKey[dict[Any, Any]] = pytest.StashKey()


@pytest.fixture
def verdict(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> "RuleVerdict":
    """The verdict on the rule of this test; see `anchorhold.pytest.rules`."""
    from anchorhold.pytest import Asked, RuleVerdict

    asked = getattr(request, "param", None)
    if not isinstance(asked, Asked):
        pytest.fail("the fixture `verdict` is for tests made by anchorhold.pytest.rules", pytrace=False)
    tested = _tested(request.session.items, asked.checking)
    found = request.config.stash.setdefault(_FOUND, {})
    if asked.checking not in found:
        found[asked.checking] = _once(request, tmp_path_factory, asked, tested)
    result: Result = found[asked.checking]
    if result.error is not None:
        pytest.fail(f"the adapter did not work, so there is no verdict: {result.error}", pytrace=False)
    return RuleVerdict(
        asked=asked,
        found=result.rules[asked.rule],
        failures=[each for each in result.failures if each.rule == asked.rule],
    )


def _tested(items: Iterable[pytest.Item], checking: "Checking") -> tuple[str, ...]:
    """The rules whose tests are left in this session, the same in every worker."""
    return tuple(dict.fromkeys(asked.rule for asked in _asked(items) if asked.checking == checking))


def _asked(items: Iterable[pytest.Item]) -> "Iterator[Asked]":
    from anchorhold.pytest import ARGUMENT, Asked

    for item in items:
        callspec = getattr(item, "callspec", None)
        asked = callspec.params.get(ARGUMENT) if callspec is not None else None
        if isinstance(asked, Asked):
            yield asked


def _once(
    request: pytest.FixtureRequest,
    tmp_path_factory: pytest.TempPathFactory,
    asked: "Asked",
    tested: tuple[str, ...],
) -> "Result":
    """The result of the check, run here or, with xdist, by whichever worker came first."""
    from anchorhold.examples import usual_place
    from anchorhold.result import decode, encode

    root = request.config.rootpath
    kept = root / "anchorhold-report" / "pytest" / _folder(asked.checking)
    if not hasattr(request.config, "workerinput"):
        return _check(asked, tested, kept, examples=usual_place(root))
    from filelock import FileLock

    name = hashlib.sha256(repr((asked.checking, tested)).encode()).hexdigest()[:12]
    # The folder of this one session, which its workers share.
    shared = tmp_path_factory.getbasetemp().parent
    file = shared / f"anchorhold-{name}.json"
    with FileLock(shared / f"anchorhold-{name}.lock"):
        if file.is_file():
            return decode(file.read_bytes())
        result = _check(asked, tested, kept, examples=usual_place(root))
        part = file.with_suffix(".part")
        part.write_bytes(encode(result))
        part.replace(file)
        return decode(file.read_bytes())


def _folder(checking: "Checking") -> str:
    """One for each compactor, effort and seed, whichever rules are selected, under a name that tells them apart."""
    told = re.sub(r"[^A-Za-z0-9_.-]+", "-", Path(checking.target).name).strip("-.")[:40]
    distinct = hashlib.sha256(repr(checking).encode()).hexdigest()[:6]
    return f"{told}-{distinct}"


def _fresh(histories: Path, tested: tuple[str, ...]) -> None:
    """Take away what an earlier session kept of these rules: beside this one's verdicts it would mislead."""
    for rule in tested:
        (histories / f"{rule}.jsonl").unlink(missing_ok=True)


def _check(asked: "Asked", tested: tuple[str, ...], kept: Path, *, examples: Path) -> "Result":
    from anchorhold.check import check
    from anchorhold.checkers import CHECKERS
    from anchorhold.errors import AdapterError
    from anchorhold.load import load, load_class
    from anchorhold.result import broken
    from anchorhold_spec.catalogue import RULES

    checking = asked.checking
    begun = time.monotonic()
    _fresh(kept / "histories", tested)
    try:
        with load(checking.target) if asked.kind is None else load_class(asked.kind, name=checking.target) as loaded:
            return check(
                loaded,
                checkers=CHECKERS,
                histories=kept / "histories",
                seed=checking.seed,
                effort=checking.effort,
                rules=None if len(tested) == len(RULES) else tested,
                examples=examples,
            ).result
    except AdapterError as error:
        seconds = round(time.monotonic() - begun, 3)
        return broken(compactor=checking.target, error=str(error), seconds=seconds, seed=checking.seed)
