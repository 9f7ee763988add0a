"""A statement that a summary turns around is flipped; the same statement in other words is not."""

from pathlib import Path

import pytest
from audit_samples import Claude
from hypothesis import given
from hypothesis import strategies as st

from anchorhold.audit.polarity import statements
from anchorhold.audit.run import audit_file

FLIPS = [
    ("Never push to the branch release-4.", "Always push to the branch release-4."),
    ("Never push to the branch release-4.", "Push to the branch release-4."),
    ("The table orders_old cannot be dropped.", "The table orders_old can be dropped."),
    ("The table orders_old can't be dropped.", "The table orders_old can be dropped."),
    ("You must not delete the table orders_old.", "You must delete the table orders_old."),
    ("The queue does not accept more than 40 items.", "The queue accepts more than 40 items."),
    ("The queue doesn't accept new items.", "The queue accepts new items."),
    ("The worker is not thread safe.", "The worker is thread safe."),
    ("The worker isn't thread-safe.", "The worker is thread safe."),
    ("The old index is safe to delete.", "The old index is unsafe to delete."),
    ("No tests of the importer fail.", "Tests of the importer fail."),
    ("The minimum batch size is 64 rows.", "The maximum batch size is 64 rows."),
    ("The cache must be at least 512 entries.", "The cache must be at most 512 entries."),
    ("Reject amounts below 500 euros.", "Reject amounts above 500 euros."),
    ("Reject amounts below 500 euros.", "Accept amounts below 500 euros."),
    ("Keep retries < 5.", "Keep retries > 5."),
    ("Run migrations before 2026-04-01.", "Run migrations after 2026-04-01."),
    ("Deploy without the feature flag new_ui.", "Deploy with the feature flag new_ui."),
    ("The flag new_ui is disabled in production.", "The flag new_ui is enabled in production."),
    ("Delete all temp files except cache_idx.db.", "Delete all temp files including cache_idx.db."),
    ("The field order_ref is required here.", "The field order_ref is optional here."),
]
SAME = [
    ("The limit is no more than 40 items.", "The limit is at most 40 items."),
    ("The cache must not be less than 512 entries.", "The cache must be at least 512 entries."),
    ("The payload must not exceed 40 items.", "The payload must be at most 40 items."),
    ("Timeouts below 30 seconds fail.", "Timeouts under 30 seconds fail."),
    ("Accepts up to 40 items.", "Accepts at most 40 items."),
    ("Do not delete the table orders_old.", "Don't delete the table orders_old."),
    ("Never delete the table orders_old.", "Do not delete the table orders_old."),
    ("The flag new_ui is not enabled here.", "The flag new_ui is disabled here."),
    ("Do not run the migrations after Monday.", "Run the migrations before Monday."),
    ("The table must not be deleted.", "Must not delete the table."),
    ("The worker is not thread safe.", "The scheduler is thread safe. The worker is not thread safe."),
    ("The option --no-verify is used here.", "The option --no-verify is used here."),
]


def flips(said: str, summary: str, tmp_path: Path, *, tool: bool = False) -> int:
    made = Claude()
    if tool:
        made.user("Go.")
        made.calls("Bash", said, command="x")
    else:
        made.user(said)
    made.compacts(summary)
    (finding,) = audit_file(made.write(tmp_path / "session.jsonl")).findings
    assert finding.flipped == sum(example.what == "flipped" for example in finding.examples)
    return finding.flipped


@pytest.mark.parametrize(("said", "summary"), FLIPS)
def test_what_is_turned_around_is_flipped_whichever_way(tmp_path: Path, said: str, summary: str) -> None:
    for one, other in ((said, summary), (summary, said)):
        assert flips(one, other, tmp_path) == 1, (one, other)
        assert flips(one, one, tmp_path) == 0
    assert flips(said, f"- {summary}", tmp_path, tool=True) == 1


@pytest.mark.parametrize(("said", "summary"), SAME)
def test_the_same_in_other_words_is_not(tmp_path: Path, said: str, summary: str) -> None:
    assert flips(said, summary, tmp_path) == 0
    assert flips(summary, said, tmp_path) == 0


def test_what_the_turns_say_both_ways_is_not(tmp_path: Path) -> None:
    said = "The worker is not thread safe. I mended it. The worker is thread safe."

    assert flips(said, "The worker is thread safe.", tmp_path) == 0


@given(st.text(alphabet=st.sampled_from("notmreha <>5.\n-'`*"), max_size=80))
def test_any_text_can_be_read(text: str) -> None:
    for statement in statements(text):
        assert 0 <= statement.start < statement.end <= len(text)
