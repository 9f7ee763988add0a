"""A compactor in the suite's own process decides neither its exit status nor what stands on standard output."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

COMMAND = [sys.executable, "-c", "from anchorhold.cli import main; main()"]
ONE_SCENARIO = ["--effort", "quick", "--scenario", "growth-faithful", "--rule", "PRO-1"]


def _class_that(body: str, folder: Path) -> str:
    file = folder / "mine.py"
    file.write_text(
        "import ctypes, os, signal\n"
        "from anchorhold.adapters.reference import Reference\n"
        "class Mine(Reference):\n"
        "    def compact(self):\n"
        f"        {body}\n"
        "        return super().compact()\n",
        encoding="utf-8",
    )
    return f"{file}:Mine"


def _run(*arguments: str, folder: Path, **more: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run(  # type: ignore[call-overload,no-any-return]
        [*COMMAND, *arguments], cwd=folder, stderr=subprocess.PIPE, text=True, check=False, timeout=300, **more
    )


@pytest.mark.parametrize(
    "body",
    ["os._exit(0)", "os._exit(1)", "os.kill(os.getpid(), signal.SIGSEGV)", "os.kill(os.getpid(), signal.SIGKILL)"],
)
def test_a_class_that_ends_the_process_gets_no_verdict(tmp_path: Path, body: str) -> None:
    ended = _run(
        "check", _class_that(body, tmp_path), *ONE_SCENARIO, "--json", folder=tmp_path, stdout=subprocess.PIPE
    )

    assert ended.returncode == 2
    assert "no verdict" in ended.stderr
    assert "Traceback" not in ended.stderr
    assert ended.stdout == ""


def test_the_json_document_stands_alone_on_standard_output(tmp_path: Path) -> None:
    noisy = _class_that(r'os.write(1, b"noise of a library\n"); print("and of python")', tmp_path)

    ended = _run("check", noisy, *ONE_SCENARIO, "--json", folder=tmp_path, stdout=subprocess.PIPE)

    assert json.loads(ended.stdout)["rules"]["PRO-1"]["triggered"] > 0
    assert "noise of a library" in ended.stderr


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="this system has no device that is always full")  # noqa: PTH110
def test_a_full_disk_is_no_verdict(tmp_path: Path) -> None:
    with Path("/dev/full").open("w") as full:
        ended = _run("check", "reference", *ONE_SCENARIO, folder=tmp_path, stdout=full)

    assert ended.returncode == 2
    assert "could not be written" in ended.stderr
    assert "Traceback" not in ended.stderr
