"""What a compaction lost: a fact is carried, reachable or lost, and needed only where nothing in sight says it."""

from collections.abc import Callable
from pathlib import Path

import pytest
from audit_samples import CWD, Claude, lossy

from anchorhold.audit.finding import Example, Finding
from anchorhold.audit.run import audit_file


def audit(made: Claude, tmp_path: Path) -> Finding:
    found = audit_file(made.write(tmp_path / "session.jsonl")).findings
    assert len(found) == 1
    return found[0]


def needed(finding: Finding) -> list[Example]:
    return [example for example in finding.examples if example.what == "needed"]


def literals(finding: Finding, what: str) -> set[str]:
    return {example.literal for example in finding.examples if example.what == what}


def test_a_fact_that_the_summary_drops_and_the_agent_uses_is_needed_and_lost(tmp_path: Path) -> None:
    finding = audit(lossy(), tmp_path)

    assert (finding.needed, finding.needed_lost) == (1, 1)
    (example,) = needed(finding)
    assert (example.literal, example.fate) == ("a295b012cd", "lost")
    assert example.said is not None
    assert example.used is not None
    assert (example.said.record, example.used.record) == (2, 9)
    assert (example.used.field, example.used.start, example.used.end) == ("/message/content/0/input/task_id", 0, 10)


def test_it_is_reachable_where_the_summary_names_the_transcript(tmp_path: Path) -> None:
    finding = audit(lossy(pointer=True), tmp_path)

    assert (finding.needed, finding.needed_lost, finding.lost) == (1, 0, 0)
    assert needed(finding)[0].fate == "reachable"


def test_it_is_reachable_where_the_summary_names_the_file_that_it_was_read_from(tmp_path: Path) -> None:
    made = Claude()
    made.user("Look at the configuration.")
    made.calls("Read", "1→queue_name = import_q77_main", file_path=f"{CWD}/conf/queue.toml")
    made.compacts("The configuration is in conf/queue.toml.")
    made.calls("Bash", "ok", command="drain queue_name import_q77_main")

    assert {e.literal: e.fate for e in needed(audit(made, tmp_path))} == {
        "queue_name": "reachable",
        "import_q77_main": "reachable",
    }


@pytest.mark.parametrize(
    ("summary", "use"),
    [
        ("Task a295b012cd was started.", "a295b012cd"),  # carried
        ("Work on ActionRetryImport goes on.", "RetryImport"),  # a part of a name in sight
        ("Work on retry_import_job goes on.", "RetryImportJob"),  # the same name, written otherwise
        ("See src/shop/cart.py.", f"{CWD}/src/shop/cart.py"),  # below the working directory
        ("In src/shop/ the file cart.py is next.", f"{CWD}/src/shop/cart.py"),  # directory and base name
        ("The directory src/shop/parts is next.", "src/shop"),  # what a seen path begins with
    ],
)
def test_what_can_be_derived_from_what_is_in_sight_is_not_needed(tmp_path: Path, summary: str, use: str) -> None:
    made = Claude()
    made.user("Go.")
    made.calls("Bash", f"a295b012cd RetryImport RetryImportJob {CWD}/src/shop/cart.py src/shop", command="ls")
    made.compacts(summary)
    made.calls("Grep", "x", pattern=use)

    assert needed(audit(made, tmp_path)) == []


def test_a_use_without_any_of_that_in_sight_is(tmp_path: Path) -> None:
    for use in ("a295b012cd", "RetryImport", f"{CWD}/src/shop/cart.py"):
        made = Claude()
        made.user("Go.")
        made.calls("Bash", f"a295b012cd RetryImport {CWD}/src/shop/cart.py", command="ls")
        made.compacts("Work goes on.")
        made.calls("Grep", "x", pattern=use)
        assert [e.literal for e in needed(audit(made, tmp_path))] == [use]


@pytest.mark.parametrize(
    ("said", "used"),
    [
        ("src/ledger/import_q77.py", f"{CWD}/src/ledger/import_q77.py"),
        (f"{CWD}/src/ledger/import_q77.py", "src/ledger/import_q77.py"),
        (f"{CWD}/src/ledger/import_q77.py", "./src/ledger/import_q77.py"),
    ],
)
def test_a_path_is_one_fact_from_the_root_or_from_the_working_directory(tmp_path: Path, said: str, used: str) -> None:
    made = Claude()
    made.user("Which modules are there?")
    made.calls("Glob", f"{said}\n", pattern="**/*.py")
    made.compacts("The modules were listed.")
    made.calls("Bash", "ok", command=f"wc -l {used}")

    assert literals(audit(made, tmp_path), "needed") == {said}


def test_what_was_seen_again_before_its_use_is_not_needed(tmp_path: Path) -> None:
    made = Claude()
    made.user("Go.")
    made.calls("Bash", "task a295b012cd", command="tasks")
    made.compacts("A task was started.")
    made.calls("Bash", "task a295b012cd", command="tasks")
    made.calls("TaskOutput", "done", task_id="a295b012cd")

    assert needed(audit(made, tmp_path)) == []


def test_what_the_agent_always_sees_is_not_lost(tmp_path: Path) -> None:
    made = Claude()
    made.user("Go.")
    made.calls("Read", "Deploy with scripts/deploy_eu.sh to eu_west_cluster.", file_path=f"{CWD}/CLAUDE.md")
    made.compacts("Instructions were read.")
    made.calls("Bash", "ok", command="scripts/deploy_eu.sh eu_west_cluster")
    finding = audit(made, tmp_path)

    assert needed(finding) == []
    # The call that read them is a turn like any other.
    assert set(finding.facts) == {"argument", "path"}
    assert finding.facts["path"] == 1


def test_what_the_agent_writes_into_a_file_is_its_product(tmp_path: Path) -> None:
    made = Claude()
    made.user("Go.")
    made.calls("Bash", "retry_import_job", command="ls")
    made.compacts("Work goes on.")
    made.calls("Write", "ok", file_path=f"{CWD}/new.py", content="def retry_import_job(): ...")

    assert needed(audit(made, tmp_path)) == []


@pytest.mark.parametrize(
    ("command", "needed"),
    [
        ("cat > a.py <<'EOF'\nretry_import_job()\nEOF", set()),
        ("cat <<EOF >> a.py\nretry_import_job()\nEOF\nls", set()),
        ("tee a.py <<-EOF\n\tretry_import_job()\n\tEOF", set()),
        ("echo 'retry_import_job()' > a.py", set()),
        ('printf "%s" "retry_import_job()" >> a.py && ls', set()),
        # Run, asked after, or only printed.
        ("python - <<'EOF'\nretry_import_job()\nEOF", {"retry_import_job"}),
        ("cat > a.py <<'EOF'\nx\nEOF\ngrep retry_import_job a.py", {"retry_import_job"}),
        ("grep retry_import_job a.py > found.txt", {"retry_import_job"}),
        ("echo x > a.py; grep retry_import_job a.py", {"retry_import_job"}),
        ("cat > /srv/ledger/q77.cfg <<EOF\nx\nEOF", {"/srv/ledger/q77.cfg"}),
    ],
)
def test_so_is_what_a_command_writes_into_a_file(tmp_path: Path, command: str, needed: set[str]) -> None:
    made = Claude()
    made.user("Go.")
    made.calls("Bash", "retry_import_job in /srv/ledger/q77.cfg", command="ls")
    made.compacts("Work goes on.")
    made.calls("Bash", "ok", command=command)

    assert literals(audit(made, tmp_path), "needed") == needed


@pytest.mark.parametrize(
    ("said", "used", "needed"),
    [
        ("9ab3f77e1c2d4b5a6f7081920a1b2c3d4e5f6071", "git show 9ab3f77", "9ab3f77e1c2d4b5a6f7081920a1b2c3d4e5f6071"),
        ("9ab3f77e1c2d4b5a6f7081920a1b2c3d4e5f6071", "git show 9ab3f78", None),
        ("pinned to 4.17.23", "npm i lodash@4.17.23", "4.17.23"),
        ("pinned to 4.17.23", "pip install lodash==4.17.23", "4.17.23"),
        ("owner kay.lund@example.org", "mail kay.lund@example.org", "kay.lund@example.org"),
        (r"see C:\ledger\conf\roll.cfg", r"type C:\ledger\conf\roll.cfg", r"C:\ledger\conf\roll.cfg"),
        ("see '/srv/My Files/roll_9.cfg'", "cat '/srv/My Files/roll_9.cfg'", "/srv/My Files/roll_9.cfg"),
        ('see "/srv/My Files/roll_9.cfg"', r"cat /srv/My\ Files/roll_9.cfg", "/srv/My Files/roll_9.cfg"),
        ("run '/usr/bin/q77_tool --all /srv/x'", "'/usr/bin/q77_tool' --help", "/usr/bin/q77_tool"),
    ],
)
def test_a_fact_is_one_fact_in_each_of_its_forms(tmp_path: Path, said: str, used: str, needed: str | None) -> None:
    made = Claude()
    made.user("Go.")
    made.calls("Bash", said, command="x")
    made.compacts("Work goes on.")
    made.calls("Bash", "ok", command=used)

    assert literals(audit(made, tmp_path), "needed") == ({needed} if needed else set())


def test_the_beginning_of_a_hash_that_the_summary_has_is_no_loss(tmp_path: Path) -> None:
    made = Claude()
    made.user("Go.")
    made.calls("Bash", "commit 9ab3f77e1c2d4b5a6f7081920a1b2c3d4e5f6071", command="git log")
    made.compacts("Commit 9ab3f77 was made.")
    made.calls("Bash", "ok", command="git show 9ab3f77")

    assert literals(audit(made, tmp_path), "needed") == set()


COPIED = "def retry_import_job(queue_name_main):\n    return queue_name_main.take(limit=SETTINGS.import_limit_rows)"


@pytest.mark.parametrize(
    "copy",
    [
        lambda made: made.calls("Edit", "ok", file_path=f"{CWD}/x", old_string=COPIED, new_string="pass"),
        lambda made: made.says(f"This is what stands there:\n```\n{COPIED}\n```"),
        lambda made: made.thinks(f"So far it is\n{COPIED}\nand that takes too many."),
    ],
    ids=["in a call", "in an answer", "in its thinking"],
)
def test_a_turn_that_the_agent_copies_from_was_shown_again(tmp_path: Path, copy: Callable[[Claude], object]) -> None:
    made = Claude()
    made.user("Go.")
    made.calls("Bash", COPIED, command="cat x")
    made.compacts("Work goes on.")
    copy(made)
    made.calls("Grep", "ok", pattern="retry_import_job")
    finding = audit(made, tmp_path)

    assert needed(finding) == []
    assert finding.restored == 1


@pytest.mark.parametrize(
    "known",
    [
        "--verbose",
        "/dev/null",
        "fmt.Println",
        "noreply@example.org",
        "user@example.com",
        "GitHub",
        "node_modules",
        "node_modules/",
    ],
)
def test_common_knowledge_is_not_needed(tmp_path: Path, known: str) -> None:
    made = Claude()
    made.user("Go.")
    made.calls("Bash", f"x {known} y", command="ls")
    made.compacts("Work goes on.")
    made.calls("Bash", "x", command=f"run {known}")

    assert needed(audit(made, tmp_path)) == []


def test_reading_again_costs_what_was_read_before(tmp_path: Path) -> None:
    body = "\n".join(f"line_{n} = compute_total({n}, rows={n * 7})" for n in range(40))
    made = Claude()
    made.user("Go.")
    made.calls("Bash", body, command="cat totals.py")
    made.compacts("totals.py was read.")
    made.calls("Bash", body + "\nsomething entirely new that was not there before", command="cat totals.py")
    made.calls("Bash", body, command="cat totals.py")
    finding = audit(made, tmp_path)

    # Once: the third reading repeats what is in sight.
    assert finding.reread_tokens == -(-(len(body) - 39) // 4)
    assert finding.reread_turns == 2


def test_what_the_summary_still_has_in_full_is_not_read_again(tmp_path: Path) -> None:
    lines = [f"line_{n} = compute_total({n}, rows={n * 7})" for n in range(40)]
    shown = "\n".join(f"{n:6}→{line}" for n, line in enumerate(lines, start=1))
    for kept in (0, 20, 40):
        made = Claude()
        made.user("Go.")
        made.calls("Read", shown, file_path=f"{CWD}/totals.py")
        made.compacts("It says:\n" + "\n".join(lines[:kept]))
        made.calls("Read", shown, file_path=f"{CWD}/totals.py")

        assert audit(made, tmp_path).reread_tokens == -(-sum(map(len, lines[kept:])) // 4)


def test_the_summary_alone_says_a_file_that_no_turn_says(tmp_path: Path) -> None:
    finding = audit(lossy(), tmp_path)

    assert literals(finding, "unsupported") == {"src/prices_old.py"}
    assert finding.unsupported == 1


def test_thinking_and_ranges_support_a_summary(tmp_path: Path) -> None:
    made = Claude()
    made.user("Go.")
    made.thinks("The culprit is retry_import_job.")
    made.calls("Bash", "   178→a\n   180→b", command="cat -n x.py")
    made.compacts(
        "retry_import_job is the culprit (x.py, lines 178-180); fmt/lint/test next; <placeholder_name> stays."
    )

    assert literals(audit(made, tmp_path), "unsupported") == set()


def test_a_summary_is_not_judged_by_turns_that_are_not_in_the_file(tmp_path: Path) -> None:
    made = Claude()
    made.user("Go on.")
    made.compacts("src/prices_old.py was changed.", tokens=150_000)
    finding = audit(made, tmp_path)

    assert finding.incomplete
    assert finding.unsupported == 0


@pytest.mark.parametrize(
    ("said", "summary"),
    [
        (
            "The import of orders does write to table ledger_main.",
            "The import of orders does not write to table ledger_main.",
        ),
        (
            "The retry budget for imports is at most 30 requests.",
            "The retry budget for imports is at least 30 requests.",
        ),
    ],
)
def test_a_statement_that_is_turned_around_is_flipped(tmp_path: Path, said: str, summary: str) -> None:
    made = Claude()
    made.user(said)
    made.compacts(summary)
    assert audit(made, tmp_path).flipped > 0

    same = Claude()
    same.user(said)
    same.compacts(said)
    assert audit(same, tmp_path).flipped == 0


def test_standing_rules_and_the_latest_request_that_are_not_verbatim_are_named(tmp_path: Path) -> None:
    finding = audit(lossy(), tmp_path)
    kinds = {e.kind for e in finding.examples if e.what == "protected"}

    assert kinds == {"latest request", "standing rule"}
    assert finding.protected_lost == 2


def test_a_rule_does_not_end_inside_a_name(tmp_path: Path) -> None:
    made = Claude()
    made.user("Never touch the file billing.py. Thanks! Use v1.2 e.g. for tests.")
    made.compacts("Nothing.")
    rules = {e.literal for e in audit(made, tmp_path).examples if e.kind == "standing rule"}

    assert rules == {"Never touch the file billing.py."}


def test_what_the_summary_before_carried_and_this_one_does_not_has_drifted(tmp_path: Path) -> None:
    made = Claude()
    made.user("Go.")
    made.calls("Bash", "a295b012cd and src/shop/cart.py", command="ls")
    made.compacts("a295b012cd and src/shop/cart.py matter.")
    made.says("Fine.")
    made.compacts("src/shop/cart.py matters.")
    first, second = audit_file(made.write(tmp_path / "s.jsonl")).findings

    assert (first.drifted, second.drifted) == (0, 1)
    assert literals(second, "drifted") == {"a295b012cd"}
    assert (first.generation, second.generation) == (1, 2)


def test_a_number_that_tells_little_is_carried_with_its_sentence_only(tmp_path: Path) -> None:
    said = "The import may be tried 30 times."
    carried = []
    for summary in ("There are 30 tables.", f"Noted: {said}"):
        made = Claude()
        made.user(said)
        made.compacts(summary)
        carried.append(audit(made, tmp_path).carried)

    assert carried[0] < carried[1]
