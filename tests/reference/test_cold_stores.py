"""Every cold store outside the ledger, held to the same promises: its own API alone."""

import os
import secrets
import threading
from pathlib import Path

import obstore
import pytest
from object_server import s3
from obstore.store import LocalStore, MemoryStore, S3Store

from anchorhold_reference import StoreError
from anchorhold_reference.stores.directory import DirectoryStore
from anchorhold_reference.stores.objects import ObjectStore
from anchorhold_reference.stores.opening import open_cold_store

KINDS = ("directory", "memory", "local", "s3")


@pytest.fixture(scope="session")
def endpoint():
    with s3() as url:
        yield url


@pytest.fixture
def s3_environment(endpoint, monkeypatch):
    """What obstore takes from the environment, with a bucket of this test's own."""
    bucket = f"test-{secrets.token_hex(8)}"
    for name, value in {
        "AWS_ENDPOINT": endpoint,
        "AWS_ALLOW_HTTP": "true",
        "AWS_ACCESS_KEY_ID": "test",
        "AWS_SECRET_ACCESS_KEY": "test",
        "AWS_REGION": "us-east-1",
    }.items():
        monkeypatch.setenv(name, value)
    import urllib.request

    urllib.request.urlopen(urllib.request.Request(f"{endpoint}/{bucket}", method="PUT"), timeout=10).close()
    return bucket


@pytest.fixture(params=KINDS)
def store(request, tmp_path):
    if request.param == "directory":
        return DirectoryStore(tmp_path / "cold")
    if request.param == "memory":
        return ObjectStore(MemoryStore(), where="memory:")
    if request.param == "local":
        return ObjectStore(LocalStore(tmp_path), where="local:")
    return ObjectStore.open(f"s3://{request.getfixturevalue('s3_environment')}/some/where")


def test_str_3_bytes_come_back_as_they_were(store):
    for n, payload in enumerate([b"", b"\0", bytes(range(256)) * 4000, "ü".encode()]):
        assert store.create(f"00/{n}-1", payload)
        assert store.read(f"00/{n}-1") == payload


def test_idx_1_a_key_that_is_taken_keeps_what_it_has(store):
    assert store.create("00/1-1", b"first")
    assert not store.create("00/1-1", b"second")
    assert not store.create("00/1-1", b"first")
    assert store.read("00/1-1") == b"first"


def test_epo_1_the_same_slot_at_another_epoch_is_another_entry(store):
    store.create("00/1-1", b"first")
    store.remove("00/1-1")
    assert store.create("00/1-2", b"second")
    assert (store.read("00/1-1"), store.read("00/1-2")) == (None, b"second")


def test_era_1_what_is_removed_is_gone_and_removing_twice_is_no_error(store):
    store.create("00/1-1", b"words")
    store.remove("00/1-1")
    store.remove("00/1-1")
    store.remove("00/never")
    assert store.read("00/1-1") is None


# Whether an S3 server checks and writes in one is the server's promise, and the one here is a stand-in.
@pytest.mark.parametrize("store", [kind for kind in KINDS if kind != "s3"], indirect=True)
def test_con_2_of_writers_of_one_key_one_has_made_it(store):
    made = []
    start = threading.Barrier(8)

    def write(n):
        start.wait()
        if store.create("00/1-1", f"from {n}".encode() * 1000):
            made.append(n)

    threads = [threading.Thread(target=write, args=(n,)) for n in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(made) == 1
    assert store.read("00/1-1") == f"from {made[0]}".encode() * 1000


def test_era_1_what_a_process_left_that_died_while_it_wrote_goes_with_the_entry(tmp_path):
    store = DirectoryStore(tmp_path / "cold")
    store.create("00/1-1", b"words")
    (tmp_path / "cold" / "00" / "1-1.0123.part").write_bytes(b"wor")
    (tmp_path / "cold" / "00" / "11-1.0123.part").write_bytes(b"another's")
    store.remove("00/1-1")
    assert [p.name for p in (tmp_path / "cold" / "00").iterdir()] == ["11-1.0123.part"]


def test_cra_3_an_entry_in_a_directory_is_synced_before_it_has_its_name_and_the_name_after_it(tmp_path, monkeypatch):
    calls = []
    fsync, link = os.fsync, os.link

    def traced_fsync(handle):
        calls.append(("sync", Path(f"/proc/self/fd/{handle}").readlink().name.partition(".")[0]))
        fsync(handle)

    def traced_link(source, target):
        calls.append(("link", target.name))
        link(source, target)

    store = DirectoryStore(tmp_path / "cold")
    monkeypatch.setattr(os, "fsync", traced_fsync)
    monkeypatch.setattr(os, "link", traced_link)
    store.create("00/1-1", b"words")
    assert calls == [("sync", "cold"), ("sync", "1-1"), ("link", "1-1"), ("sync", "00")]


def test_out_3_a_store_that_fails_says_which_and_what_to_do(tmp_path):
    broken = DirectoryStore(tmp_path / "cold")
    (tmp_path / "cold" / "00").write_text("a file where a directory has to be")
    for attempt in (lambda: broken.create("00/1-1", b"x"), lambda: broken.read("00/1-1")):
        with pytest.raises(StoreError, match=r"cold.*OUT-3.*try again"):
            attempt()


def test_out_3_an_object_store_that_cannot_be_reached_says_so():
    dead = S3Store(
        "bucket",
        endpoint="http://127.0.0.1:9",
        access_key_id="a",
        secret_access_key="b",
        region="us-east-1",
        client_options={"allow_http": True, "connect_timeout": "1s"},
        retry_config={"max_retries": 0},
    )
    store = ObjectStore(dead, where="s3://bucket")
    for attempt in (lambda: store.create("k", b"x"), lambda: store.read("k"), lambda: store.remove("k")):
        with pytest.raises(StoreError, match=r"s3://bucket.*OUT-3"):
            attempt()


def test_the_url_chooses_the_store(tmp_path):
    assert open_cold_store(None) is None
    assert isinstance(open_cold_store(tmp_path / "a"), DirectoryStore)
    assert isinstance(open_cold_store(str(tmp_path / "b")), DirectoryStore)
    assert isinstance(open_cold_store(f"file://{tmp_path}/c%20d"), DirectoryStore)
    assert (tmp_path / "c d").is_dir()
    assert isinstance(open_cold_store("memory:///"), ObjectStore)
    ready = ObjectStore(MemoryStore(), where="memory:")
    assert open_cold_store(ready) is ready
    with pytest.raises(StoreError, match="nowhere"):
        open_cold_store("nowhere://x")


def test_obstore_itself_holds_create_only_on_the_server(s3_environment):
    """Not only this process: another client's put under the same condition is refused by the server."""
    url = f"s3://{s3_environment}/x"
    first, second = ObjectStore.open(url), ObjectStore.open(url)
    assert first.create("k", b"1")
    assert not second.create("k", b"2")
    assert bytes(obstore.get(second._bucket, "k").bytes()) == b"1"
