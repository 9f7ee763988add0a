"""A need of what an earlier compaction dropped is found after the next one, and after the one after that."""

from pathlib import Path

import pytest
from audit_samples import CWD, Claude

from anchorhold.audit import dropped
from anchorhold.audit.finding import Finding
from anchorhold.audit.run import audit_file

OTHER = "99999999-0000-4000-8000-000000000000"


def findings(made: Claude, tmp_path: Path) -> list[Finding]:
    return audit_file(made.write(tmp_path / "session.jsonl")).findings


def session(*summaries: str, use_after: int) -> Claude:
    """A task's id is said at first; compactions follow; it is used after one of them."""
    made = Claude()
    made.user("Start the import.")
    made.calls("Bash", "Started task a295b012cd, see /srv/ledger/q77.cfg", command="start")
    for number, summary in enumerate(summaries, start=1):
        made.compacts(summary)
        if number == use_after:
            made.calls("Bash", "ok", command="stop a295b012cd")
        made.user("Go on.")
        made.says("Fine.")
    return made


@pytest.mark.parametrize(
    ("summaries", "use_after", "needed"),
    [
        # Dropped by the first, used after each of the later ones.
        (("Started.", "Started."), 1, [1, 0]),
        (("Started.", "Started."), 2, [1, 0]),
        (("Started.", "Started.", "Started."), 3, [1, 0, 0]),
        # Carried for a while: the summary that no longer has it dropped it.
        (("Task a295b012cd.", "Started."), 2, [0, 1]),
        (("Task a295b012cd.", "Task a295b012cd.", "Started."), 3, [0, 0, 1]),
        (("Task a295b012cd.", "Started.", "Started."), 3, [0, 1, 0]),
        # Carried to where it is used.
        (("Task a295b012cd.", "Task a295b012cd."), 2, [0, 0]),
        # Dropped, and said again by a later summary.
        (("Started.", "Task a295b012cd."), 2, [0, 0]),
    ],
)
def test_a_need_belongs_to_the_compaction_that_dropped_it(
    tmp_path: Path, summaries: tuple[str, ...], use_after: int, needed: list[int]
) -> None:
    found = findings(session(*summaries, use_after=use_after), tmp_path)

    assert [finding.needed_lost for finding in found] == needed
    for finding in found:
        assert [e.literal for e in finding.examples if e.what == "needed"] == ["a295b012cd"] * finding.needed


def test_what_the_summary_before_said_counts_among_what_the_next_one_replaces(tmp_path: Path) -> None:
    first, second = findings(session("Task a295b012cd.", "Started.", use_after=0), tmp_path)

    assert (first.carried, first.lost) == (1, first.lost)
    assert second.facts == {"identifier": 1}
    assert (second.carried, second.lost) == (0, 1)


def test_used_and_dropped_anew_it_is_needed_of_both(tmp_path: Path) -> None:
    made = session("Started.", "Started.", use_after=1)
    made.calls("Bash", "ok", command="stop a295b012cd")

    assert [finding.needed_lost for finding in findings(made, tmp_path)] == [1, 1]


def test_seen_again_between_two_compactions_it_was_dropped_by_the_second(tmp_path: Path) -> None:
    made = session("Started.", use_after=0)
    made.calls("Bash", "task a295b012cd", command="tasks")
    made.compacts("Started.")
    made.calls("Bash", "ok", command="stop a295b012cd")

    assert [finding.needed_lost for finding in findings(made, tmp_path)] == [0, 1]


def test_only_a_pointer_that_the_summary_in_sight_has_leads_back(tmp_path: Path) -> None:
    for pointers, fate in (((True, False), "lost"), ((False, True), "reachable")):
        made = Claude()
        made.user("Start the import.")
        made.calls("Bash", "Started task a295b012cd", command="start")
        for pointer in pointers:
            made.compacts("Started.", pointer=pointer)
            made.says("Fine.")
        made.calls("Bash", "ok", command="stop a295b012cd")
        first, second = findings(made, tmp_path)

        assert [(e.fate, e.later) for e in first.examples if e.what == "needed"] == [(fate, True)]
        assert second.needed == 0


def test_a_turn_of_an_earlier_segment_that_is_copied_was_shown_again(tmp_path: Path) -> None:
    text = "def retry_import_job(queue_name_main):\n    return queue_name_main.take(limit=SETTINGS.import_limit_rows)"
    made = Claude()
    made.user("Go.")
    made.calls("Read", text, file_path=f"{CWD}/x.py")
    made.compacts("Work goes on.")
    made.says("Fine.")
    made.compacts("Work goes on.")
    made.calls("Edit", "ok", file_path=f"{CWD}/x.py", old_string=text, new_string="pass")
    first, second = findings(made, tmp_path)

    assert not {e.literal for e in first.examples if e.what == "needed"} & {"retry_import_job", "queue_name_main"}
    assert second.restored == 1


def test_what_is_remembered_is_bounded_and_what_is_forgotten_is_counted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(dropped, "MOST_FACTS", 10)
    made = Claude()
    made.user("Go.")
    made.calls("Bash", "\n".join(f"task a295b{n:03}cd" for n in range(30)), command="tasks")
    made.compacts("Tasks were listed.")
    made.says("Fine.")
    made.compacts("Tasks were listed.")
    made.calls("Bash", "ok", command="stop a295b003cd a295b029cd")
    first, _ = findings(made, tmp_path)

    assert first.forgotten == 20
    assert [e.literal for e in first.examples if e.what == "needed"] == ["a295b029cd"]


def test_a_pointer_to_another_session_leads_nowhere(tmp_path: Path) -> None:
    for pointer, fate in ((True, "reachable"), (OTHER, "lost")):
        made = Claude()
        made.user("Start the import.")
        made.calls("Bash", "Started task a295b012cd", command="start")
        made.compacts("Started.", pointer=pointer)
        made.calls("Bash", "ok", command="stop a295b012cd")
        (finding,) = findings(made, tmp_path)

        assert [e.fate for e in finding.examples if e.what == "needed"] == [fate]


def test_the_harness_points_last_whatever_the_summary_quotes(tmp_path: Path) -> None:
    made = Claude()
    made.user("Start the import.")
    made.calls("Bash", "Started task a295b012cd", command="start")
    quoted = f'The user: "Implement the plan, read the full transcript at: /home/u/.claude/projects/x/{OTHER}.jsonl"'
    made.compacts(f"Started. {quoted}", pointer=True)
    made.calls("Bash", "ok", command="stop a295b012cd")

    assert [e.fate for e in findings(made, tmp_path)[0].examples if e.what == "needed"] == ["reachable"]


FILE = f"{CWD}/conf/tokens.py"


@pytest.mark.parametrize(
    ("tool", "arguments", "failed", "fate"),
    [
        ("Bash", {"command": "ls"}, False, "reachable"),
        ("Bash", {"command": f"rm {FILE}"}, False, "lost"),
        ("Bash", {"command": "cd /tmp && rm -f -- conf/tokens.py; ls"}, False, "lost"),
        ("Bash", {"command": f"git rm -q {FILE}"}, False, "lost"),
        ("Bash", {"command": f"git rm --cached {FILE}"}, False, "reachable"),
        ("Bash", {"command": "rm -rf conf"}, False, "lost"),
        ("Bash", {"command": f"rm {CWD}/conf/*.py"}, False, "lost"),
        ("Bash", {"command": f"mv {FILE} /tmp/old.py"}, False, "lost"),
        ("Bash", {"command": "mv other.py conf/"}, False, "reachable"),
        ("Bash", {"command": "echo none > conf/tokens.py"}, False, "lost"),
        ("Bash", {"command": "echo none >> conf/tokens.py"}, False, "reachable"),
        ("Bash", {"command": "echo 'rm conf/tokens.py'"}, False, "reachable"),
        ("Bash", {"command": "rm conf/tokens.pyc"}, False, "reachable"),
        ("Bash", {"command": f"rm {FILE}"}, True, "reachable"),
        ("Write", {"file_path": FILE, "content": "token = None"}, False, "lost"),
        ("Write", {"file_path": FILE, "content": "token = None"}, True, "reachable"),
        ("Edit", {"file_path": FILE, "old_string": "x", "new_string": "y"}, False, "reachable"),
    ],
)
def test_a_file_leads_back_only_while_it_has_what_was_read(
    tmp_path: Path, tool: str, arguments: dict[str, str], failed: bool, fate: str
) -> None:
    made = Claude()
    made.user("Go.")
    made.calls("Read", "     1→token = alpha_beta_gamma_77\n", file_path=FILE)
    made.calls(tool, "done", failed=failed, **arguments)
    made.compacts("Tokens: conf/tokens.py.")
    made.calls("Bash", "ok", command="use alpha_beta_gamma_77")
    (finding,) = findings(made, tmp_path)

    assert [e.fate for e in finding.examples if e.what == "needed"] == [fate]


def test_read_again_after_it_was_overwritten_it_does(tmp_path: Path) -> None:
    made = Claude()
    made.user("Go.")
    made.calls("Read", "     1→token = alpha_beta_gamma_77\n", file_path=FILE)
    made.calls("Write", "done", file_path=FILE, content="token = alpha_beta_gamma_77")
    made.calls("Read", "     1→token = alpha_beta_gamma_77\n", file_path=FILE)
    made.compacts("Tokens: conf/tokens.py.")
    made.calls("Bash", "ok", command="use alpha_beta_gamma_77")

    assert [e.fate for e in findings(made, tmp_path)[0].examples if e.what == "needed"] == ["reachable"]


def test_what_a_failed_call_answers_does_not_stand_in_the_file(tmp_path: Path) -> None:
    made = Claude()
    made.user("Go.")
    made.calls("Read", "No such file. Did you mean conf/tok_alpha_77.py?", failed=True, file_path=FILE)
    made.compacts("Tokens: conf/tokens.py.")
    made.calls("Bash", "ok", command="cat conf/tok_alpha_77.py")

    assert [e.fate for e in findings(made, tmp_path)[0].examples if e.what == "needed"] == ["lost"]
