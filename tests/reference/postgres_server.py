"""A real PostgreSQL server of the tests' own: on loopback, in a temporary directory, gone with them."""

import ctypes
import os
import pwd
import secrets
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import quote

import psycopg

NOWHERE = "no PostgreSQL server is installed here (Debian: postgresql)"


def programs() -> Path | None:
    """The directory of the server's programs; none where there is no server."""
    found = [Path(p).resolve().parent for p in (shutil.which("postgres"), shutil.which("pg_ctl")) if p]
    found += sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)
    return next((d for d in found if (d / "initdb").exists() and (d / "postgres").exists()), None)


@contextmanager
def server(bin_: Path) -> Iterator[str]:
    """Run a server; answers with the URL of an empty database of it."""
    memory = Path("/dev/shm")
    base = memory if os.access(memory, os.W_OK) else None
    with tempfile.TemporaryDirectory(dir=base, prefix="anchorhold-postgres-") as name:
        directory, password = Path(name), secrets.token_hex(16)
        (directory / "password").write_text(password, encoding="ascii")
        as_whom = _not_root(directory)
        subprocess.run(
            [
                *(bin_ / "initdb", "-D", directory / "data", "-U", "anchorhold", "--auth=scram-sha-256"),
                *("--pwfile", directory / "password", "-E", "UTF8", "--locale=C", "--no-sync"),
            ],
            check=True,
            capture_output=True,
            cwd=directory,
            **as_whom,
        )
        port = _free_port()
        url = f"postgresql://anchorhold:{quote(password)}@127.0.0.1:{port}/postgres"
        with (directory / "log").open("wb") as log:
            process = subprocess.Popen(
                [
                    *(bin_ / "postgres", "-D", directory / "data", "-p", str(port)),
                    *("-c", "listen_addresses=127.0.0.1", "-c", f"unix_socket_directories={directory}"),
                    *("-c", "max_connections=200", "-c", "shared_buffers=64MB"),
                ],
                stdout=log,
                stderr=log,
                cwd=directory,
                preexec_fn=_die_with_parent,
                **as_whom,
            )
            try:
                _wait(process, url, directory / "log")
                yield url
            finally:
                process.send_signal(signal.SIGQUIT)  # at once: nobody will read it again
                process.wait(timeout=30)


def _not_root(directory: Path) -> dict[str, object]:
    """PostgreSQL refuses to run as root: whom it is run as then, and the directory given to them."""
    if os.geteuid() != 0:
        return {}
    users = {entry.pw_name: entry for entry in pwd.getpwall()}
    user = users.get("postgres") or users["nobody"]
    for path in (directory, directory / "password"):
        os.chown(path, user.pw_uid, user.pw_gid)
    return {"user": user.pw_uid, "group": user.pw_gid, "extra_groups": []}


def _die_with_parent() -> None:
    """Have the kernel end the server where the tests are killed."""
    ctypes.CDLL(None).prctl(1, signal.SIGQUIT)  # PR_SET_PDEATHSIG


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _wait(process: "subprocess.Popen[bytes]", url: str, log: Path) -> None:
    for _ in range(300):
        if process.poll() is not None:
            break
        try:
            psycopg.connect(url).close()
        except psycopg.OperationalError:
            time.sleep(0.1)
        else:
            return
    raise RuntimeError(f"the PostgreSQL server did not start: {log.read_text(errors='replace')[-2000:]}")
