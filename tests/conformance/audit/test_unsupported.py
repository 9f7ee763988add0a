"""What a summary alone says is named; what the turns say in another form is not."""

from pathlib import Path

import pytest
from audit_samples import CWD, Claude

from anchorhold.audit.finding import Finding
from anchorhold.audit.run import audit_file


def audit(said: str, summary: str, tmp_path: Path, *, cwd: str = CWD) -> Finding:
    made = Claude()
    made.user("Go on with the import.")
    made.calls("Bash", said, command="x")
    made.compacts(summary, tokens=None)
    for record in made.records:
        record["cwd"] = cwd
    (finding,) = audit_file(made.write(tmp_path / "session.jsonl")).findings
    return finding


def unsupported(finding: Finding) -> set[str]:
    return {example.literal for example in finding.examples if example.what == "unsupported"}


@pytest.mark.parametrize(
    ("said", "summary"),
    [
        # Separators and scales
        ("1,500 rows", "1500 rows"),
        ("Imported 1234567 rows.", "Imported 1,234,567 rows (1.23 million, 1.2M)."),
        ("Imported 1_234_567 rows.", "Imported 1,234,567 rows."),
        ("Imported 1.5 million rows.", "Imported 1,500,000 rows."),
        # Units
        ("It took 5400 seconds.", "It took 90 minutes."),
        ("It took 5400s.", "It took 1.5 hours."),
        ("It took 90 minutes.", "It took 5400 s."),
        ("time-out 250 ms", "A time-out of 0.25 seconds."),
        ("The dump has 2147483648 bytes.", "The dump has 2 GB (2048 MB)."),
        ("The dump has 1536 KB.", "The dump has 1.5 MB."),
        ("The share is 0.354 of all rows.", "35.4% of the rows fail, about 35 %."),
        ("12.5% of the rows fail", "0.125 of the rows fail"),
        # Rounding
        ("Latency was 48.273 ms.", "Latency is 48.3 ms."),
        ("Latency was 148.273.", "Latency is 148."),
        ("0.6666667", "0.667"),
        # Versions, homes, ranges
        ("python 3.11.4", "v3.11.4"),
        ("release v3.11.4", "3.11.4"),
        ("Read /home/zed/proj/src/job.py", "See ~/proj/src/job.py."),
        ("/Users/zed/proj/src/job.py", "See ~/proj/src/job.py."),
        ("lines 178 and 2180", "lines 178-2180"),
        # Dates, quotations, shares
        ("Released on March 14, 2026.", "Released 2026-03-14."),
        ("Released 2026-03-14T10:00:00Z", "Released on 14 March 2026."),
        ("Sat Mar 14 10:01:22 2026", "Committed March 14, 2026."),
        ("nothing", "Worked on 2026-03-01."),  # the day of the turns themselves
        ("ERROR: permission denied\n  for relation `orders`", 'It said "permission denied for relation orders".'),
        ("permission denied for relation orders", 'It said "permission denied for ... relation".'),
        ("could we pls hav a linting rule for thsi?", 'Asked: "Could we please have a linting rule for this?"'),
        ("43 passed, 43 collected", "43 of 43 pass."),
    ],
)
def test_the_same_said_otherwise_is_supported(tmp_path: Path, said: str, summary: str) -> None:
    assert unsupported(audit(said, summary, tmp_path)) == set()


def test_a_path_below_the_home_of_the_working_directory_is_supported(tmp_path: Path) -> None:
    found = audit("src/job.py", "See ~/proj/src/job.py.", tmp_path, cwd="/home/zed/proj")

    assert unsupported(found) == set()


@pytest.mark.parametrize(
    ("said", "summary", "invented"),
    [
        ("1,500 rows", "15,000 rows", "15,000 rows"),
        ("Imported 1234567 rows.", "Imported 1234576 rows.", "1234576 rows"),
        ("Imported 1234567 rows.", "Imported 1.24M rows.", "1.24M"),
        ("It took 5400 seconds.", "It took 95 minutes.", "95 minutes"),
        # No unit, no other unit.
        ("exit status 5400", "It took 90 minutes.", "90 minutes"),
        ("5400 bytes", "It took 90 minutes.", "90 minutes"),
        ("The dump has 2147483648 bytes.", "The dump has 2049 MB.", "2049 MB"),
        ("The share is 0.354.", "35.6% of the rows fail.", "35.6%"),
        ("Latency was 48.273 ms.", "Latency is 48.4 ms.", "48.4 ms"),
        # The digits on both sides of a point do not make it.
        ("48 workers, 37 queues", "Latency is 48.37 ms.", "48.37 ms"),
        # Nothing is known more finely than it was said.
        ("Latency was 48 ms.", "Latency is 48.2 ms.", "48.2 ms"),
        ("python 3.11.4", "v3.11.5", "v3.11.5"),
        ("/home/zed/proj/src/job.py", "See ~/proj/src/jobs.py.", "~/proj/src/jobs.py"),
        ("Released on March 14, 2026.", "Released on 2026-03-15.", "2026-03-15"),
        (
            "permission granted",
            'It said "permission denied for relation orders".',
            '"permission denied for relation orders"',
        ),
        ("41 tests", "43 of 43 pass.", "43 of 43"),
        ("41 tests", "43/43 tests pass.", "43/43"),
    ],
)
def test_what_nothing_says_is_not(tmp_path: Path, said: str, summary: str, invented: str) -> None:
    assert unsupported(audit(said, summary, tmp_path)) == {invented}


def test_the_sessions_own_transcript_is_no_invention(tmp_path: Path) -> None:
    own = "/home/zed/.claude/projects/x/11111111-aaaa-4bbb-8ccc-000000000001.jsonl"
    other = "/home/zed/.claude/projects/x/99999999-0000-4000-8000-000000000000.jsonl"

    assert unsupported(audit("ok", f"The transcript is {own}; see {other}.", tmp_path)) == {other}


def test_what_the_harness_recorded_of_a_result_is_a_source_and_not_in_sight(tmp_path: Path) -> None:
    made = Claude()
    made.user("Go.")
    made.calls("Edit", "edited", file_path=f"{CWD}/a.go", old_string="x", new_string="y")
    made.records[-1]["toolUseResult"] = {"originalFile": "func hasTerminal_q77() {}", "structuredPatch": []}
    # Parts of names lie about in whole files: they make none.
    made.compacts("hasTerminal_q77, hasTerminal_q78 and func.hasTerminal_q77 matter.", tokens=None)
    made.says("Fine.")
    made.compacts("Nothing.")
    made.calls("Grep", "x", pattern="hasTerminal_q77")
    first, second = audit_file(made.write(tmp_path / "session.jsonl")).findings

    assert unsupported(first) == {"hasTerminal_q78", "func.hasTerminal_q77"}
    assert "hasTerminal_q77" not in {e.literal for e in (*first.examples, *second.examples) if e.what == "needed"}


@pytest.mark.parametrize("tokens", [None, 150_000])
def test_without_any_turn_before_it_a_summary_is_not_judged(tmp_path: Path, tokens: int | None) -> None:
    made = Claude()
    made.compacts("src/prices_old.py was changed.", tokens=tokens)
    made.user("Go on.")
    (finding,) = audit_file(made.write(tmp_path / "session.jsonl")).findings

    assert finding.incomplete
    assert finding.unsupported == 0
