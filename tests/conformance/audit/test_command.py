"""`anchorhold audit`: the document, the exit status, and what is not told."""

import json
import re
from pathlib import Path

import jsonschema
import pytest
from audit_samples import Claude, lossy

from anchorhold.audit import whatif
from anchorhold.audit.report import html
from anchorhold.audit.result import Document, schema
from anchorhold.audit.run import audit_file
from anchorhold.cli import application

SCHEMA = Path(__file__).parents[3] / "conformance" / "schemas" / "audit.schema.json"


def run(*arguments: str) -> int:
    with pytest.raises(SystemExit) as ended:
        application(["audit"])(args=["audit", *arguments, "--workers", "1"], prog_name="anchorhold")
    return int(ended.value.code or 0)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    lossy("session-one-0001").write(tmp_path / "projects" / "a" / "one.jsonl")
    lossy("session-two-0002", pointer=True).write(tmp_path / "projects" / "b" / "two.jsonl")
    (tmp_path / "projects" / "notes.bin").write_bytes(b"\0\1\2")
    return tmp_path / "projects"


def test_json_is_the_documented_document(folder: Path, capsysbinary: pytest.CaptureFixture[bytes]) -> None:
    assert run(str(folder), "--json") == 0
    found = json.loads(capsysbinary.readouterr().out)

    jsonschema.validate(found, json.loads(SCHEMA.read_text(encoding="utf-8")))
    assert set(found) == {"files", "sessions", "compactions", "totals", "unreadable", "seconds"}
    assert (found["files"], found["sessions"], len(found["compactions"])) == (2, 2, 2)
    assert set(found["compactions"][0]) == {
        "session", "at", "facts", "carried", "reachable", "lost", "needed", "needed_lost", "unsupported",
        "unsupported_judged", "reread_tokens", "examples",
    }  # fmt: skip
    for each in found["compactions"]:
        assert sum(each["facts"].values()) == each["carried"] + each["reachable"] + each["lost"]
    assert (found["totals"]["needed"], found["totals"]["needed_lost"]) == (2, 1)
    assert found["totals"]["not_transcripts"] == 1
    assert [(each["kind"], Path(each["file"]).name) for each in found["unreadable"]] == [
        ("not-transcript", "notes.bin")
    ]


def test_the_schema_in_the_repository_is_that_of_the_code() -> None:
    assert json.loads(SCHEMA.read_text(encoding="utf-8")) == json.loads(json.dumps(schema()))
    assert Document.__struct_fields__ == (
        "files", "sessions", "compactions", "totals", "unreadable", "seconds", "replay",
    )  # fmt: skip


@pytest.mark.parametrize(
    ("condition", "status"),
    [("needed-lost>0", 1), ("needed_lost>1", 0), ("unsupported>=3", 0), ("unsupported>=2", 1), ("nonsense>0", 2)],
)
def test_fail_on_ends_with_1_where_it_holds(folder: Path, condition: str, status: int) -> None:
    assert run(str(folder), "--fail-on", condition) == status


def test_the_terminal_says_what_was_lost_and_needed(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(str(folder)) == 0
    said = " ".join(capsys.readouterr().out.split())

    assert "2 sessions" in said
    assert "The agent then needed 2 of them without having them in sight: 1 lost, 1 within reach." in said
    assert "a295b012cd" in said


def test_redacted_reports_hold_nothing_of_the_transcript(
    folder: Path, tmp_path: Path, capsysbinary: pytest.CaptureFixture[bytes]
) -> None:
    page = tmp_path / "page.html"
    assert run(str(folder), "--json", "--redact", "--html", str(page)) == 0
    out = capsysbinary.readouterr().out.decode()

    for told in (out, page.read_text(encoding="utf-8")):
        for value in ("a295b012cd", "prices_old", "import", "customers_eu", "session-one", "two.jsonl", "projects"):
            assert value not in told.replace("read again", ""), value
    found = json.loads(out)
    names = [re.findall(r"<identifier \d+>", json.dumps(each)) for each in found["compactions"]]
    # The same value has the same placeholder in both sessions.
    assert names[0]
    assert names[0] == names[1]
    assert found["totals"]["needed"] == 2


def test_the_page_shows_who_said_it_and_who_needed_it_and_loads_nothing(folder: Path, tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    assert run(str(folder), "--html", str(page)) == 0
    text = page.read_text(encoding="utf-8")

    assert "<mark>a295b012cd</mark>" in text
    assert "said in record 2" in text
    assert "needed in record 9" in text
    assert not re.search(r"(?:src|href)=\"(?!#)|@import|url\(|<script", text)


def test_a_path_that_is_not_there_is_an_error(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(str(tmp_path / "none")) == 2
    assert "there is no" in capsys.readouterr().err
    (tmp_path / "empty").mkdir()
    assert run(str(tmp_path / "empty")) == 2


def test_histories_are_not_written_where_nothing_may_be_told(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(str(folder), "--redact", "--histories", str(tmp_path / "h")) == 2
    assert not (tmp_path / "h").exists()
    assert "--redact" in capsys.readouterr().err


def test_what_is_not_judged_is_said_and_is_not_a_zero(
    tmp_path: Path, capsysbinary: pytest.CaptureFixture[bytes]
) -> None:
    for name, parts in (("all", 1), ("some", 2)):
        folder = tmp_path / name
        for number in range(parts):
            made = Claude(f"session-{number}")
            made.user("Go on.")
            made.calls("Bash", "task a295b012cd", command="x")
            made.compacts("src/prices_old.py was changed.", tokens=None if number else 150_000)
            made.write(folder / f"{number}.jsonl")
        page = tmp_path / f"{name}.html"

        assert run(str(folder), "--json", "--html", str(page)) == 0
        found = json.loads(capsysbinary.readouterr().out)
        assert [(c["unsupported"], c["unsupported_judged"]) for c in found["compactions"]] == [(0, False), (1, True)][
            :parts
        ]
        text = page.read_text(encoding="utf-8")
        assert "unsupported not judged" in text
        assert ("<b>—</b> said by a summary alone (1 not judged)" in text) == (parts == 1)
        assert ("<b>1</b> said by a summary alone (1 not judged)" in text) == (parts == 2)

        assert run(str(folder)) == 0
        told = " ".join(capsysbinary.readouterr().out.decode().split())
        assert ("What the summaries say beyond the turns is not judged" in told) == (parts == 1)
        assert ("say 1 thing that the turns do not (1 summary not judged" in told) == (parts == 2)
        assert "—" in told


def test_replay_is_in_the_document_with_what_it_left_out(
    tmp_path: Path, capsysbinary: pytest.CaptureFixture[bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(whatif, "MOST_ASKED", 10)
    made = Claude()
    made.user("Start the imports.")
    for n in range(30):
        made.calls("Bash", f"task a295b{n:03}cd runs on queue_{n}_main. " + "It waits. " * 20, command=f"start {n}")
    made.compacts("Imports were started.")
    made.says("Fine.")
    made.write(tmp_path / "one.jsonl")
    assert run(str(tmp_path), "--json", "--replay") == 0
    found = json.loads(capsysbinary.readouterr().out)

    jsonschema.validate(found, json.loads(SCHEMA.read_text(encoding="utf-8")))
    replayed = found["replay"]
    assert (replayed["compactor"], replayed["compactions"]) == ("reference", 1)
    assert replayed["not_carried"] >= 60
    assert 5 < replayed["asked"] <= replayed["asked_at_most"] == 10
    assert replayed["asked_kept"] <= replayed["asked"]
    assert sum(replayed["outcomes"].values()) == 1


def test_a_compactor_without_replay_is_an_error(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(str(folder), "--compactor", "nosuch") == 2
    assert "--replay" in capsys.readouterr().err


def test_redacted_reports_tell_sessions_apart_and_pass_no_text_through(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    for number in range(2):
        made = lossy(f"acme-session-{number}")
        for record in made.records:
            record["timestamp"] = f"acme noon {number}" if number else "2026-03-01T10:00:00.000Z"
        made.records[-1:-1] = [{"type": "acme-record", "sessionId": made.session}] * 3
        made.write(tmp_path / f"acme-{number}.jsonl")
    assert run(str(tmp_path), "--redact", "--html", str(tmp_path / "page.html")) == 0
    captured = capfd.readouterr()

    assert "acme" not in captured.out
    assert "acme" not in (tmp_path / "page.html").read_text(encoding="utf-8")
    assert len(set(re.findall(r"<s \d+>", captured.out))) == 2
    assert "2026-03-01" in captured.out
    assert re.search(r"<t \d+>", captured.out)
    assert (
        len(
            set(
                re.findall(
                    r"<session \d+>", (tmp_path / "page.html").read_text().replace("&lt;", "<").replace("&gt;", ">")
                )
            )
        )
        == 2
    )
    # A kind of damage, with nothing said of it, ends there.
    assert re.search(r"3 × unknown *$", captured.out, re.MULTILINE)


def test_a_redacted_failure_names_no_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "acme.jsonl").write_bytes(b"")
    assert run(str(tmp_path / "acme.jsonl"), "--redact") == 2
    assert run(str(tmp_path / "acme-none.jsonl"), "--redact") == 2
    assert "acme" not in capsys.readouterr().err


def test_on_the_timeline_no_track_lies_over_a_compaction(tmp_path: Path) -> None:
    made = lossy()
    for _ in range(3):
        made.says("Fine.")
        made.compacts("The import runs.")
    found = audit_file(made.write(tmp_path / "s.jsonl")).findings
    drawn = str(html.timeline(found))

    assert drawn.count('class="summary"') == 4
    assert drawn.rindex('class="replaced"') < drawn.index('class="summary"')
