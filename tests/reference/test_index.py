import sqlite3

import pytest
from hypothesis import given
from hypothesis import strategies as st
from transcripts import fill, turn

from anchorhold_reference import cold, index
from anchorhold_reference.extract import stands_in
from anchorhold_spec.vocabulary import AnswerKind


def lose(behind, span, text):
    """Take an entry out of the index behind the compactor's back, as a table restored without it would be."""
    if behind.kind == "sqlite":
        words = " ".join(index.words_of(text))
        behind.query("INSERT INTO entry (entry, rowid, words) VALUES ('delete', ?, ?)", (span, words))
    else:
        behind.query("DELETE FROM entry WHERE span = ?", (span,))
    behind.query("UPDATE pointer SET indexed = 0 WHERE span = ?", (span,))


WORDY = st.text(alphabet=st.sampled_from("ab1 -_/.,ßŉ²é中'\n"), max_size=40)


@given(WORDY, WORDY, st.text(max_size=6) | WORDY)
def test_rec_4_the_words_of_what_stands_in_a_text_stand_there_in_a_row(before, after, literal):
    """Why no candidate is missing: what `stands_in` finds, the phrase that is looked for finds too."""
    text = before + literal + after
    if stands_in(text, literal) < 0:
        return
    said, wanted = index.words_of(text), index.words_of(literal)

    assert any(said[i : i + len(wanted)] == wanted for i in range(len(said) - len(wanted) + 1))


def test_rec_1_a_literal_is_read_in_few_originals_however_many_there_are(make, monkeypatch):
    transcript = make()
    fill(transcript, 1, 120)
    transcript.compact()
    fetched = []
    checked = cold.checked
    monkeypatch.setattr(cold, "checked", lambda *given: fetched.append(given) or checked(*given))

    assert transcript.search("7003").source == "t3"
    assert transcript.search("db-3 is 7003").source == "t3"
    assert transcript.search("9999").kind is AnswerKind.ABSENT
    assert len(fetched) == 2


def test_rec_4_a_negative_answer_waits_for_the_index(make, behind):
    transcript = make()
    fill(transcript, 1, 12)
    transcript.compact()
    ((span,),) = behind.query("SELECT carrier FROM turn WHERE id = 't1'")
    lose(behind, span, turn(1).text)

    assert transcript.search("7002").kind is AnswerKind.FOUND
    assert transcript.search("7001").kind is AnswerKind.DEGRADED
    assert "index" in transcript.search("9999").reason
    assert transcript.reconstitute("db-99", "port").kind is AnswerKind.DEGRADED

    transcript.reopen()

    assert transcript.search("7001").source == "t1"
    assert transcript.search("9999").kind is AnswerKind.ABSENT


def test_iso_1_the_index_of_another_session_finds_nothing(make):
    one, other = make(session="one"), make(session="other")
    for transcript, text in ((one, "The key is K-77."), (other, "Nothing of that.")):
        transcript.append(turn(1, text))
        fill(transcript, 2, 9)
        transcript.compact()

    assert one.search("K-77").kind is AnswerKind.FOUND
    assert other.search("K-77").kind is AnswerKind.ABSENT
    assert [hit.source for hit in other.retrieve("key K-77", limit=3)] == []


@pytest.mark.parametrize("damaged", [False, True])
def test_era_1_what_was_forgotten_leaves_no_word_in_the_index(make, behind, damaged):
    transcript = make()
    transcript.append(turn(1, "The password is zanzibarish."))
    fill(transcript, 2, 12)
    transcript.compact()
    assert [hit.source for hit in transcript.retrieve("zanzibarish")] == ["t1"]
    if damaged:
        behind.overwrite(b"no turn", slot=int(transcript.pointer("t1").key.removeprefix("slot-")))
    transcript.forget("t1")

    assert transcript.retrieve("zanzibarish") == []
    assert transcript.search("7003").kind is AnswerKind.FOUND
    if behind.kind == "sqlite":
        assert not any(b"zanzi" in bytes(block) for (block,) in behind.query("SELECT block FROM entry_data"))


def test_iso_1_a_branch_finds_what_its_lineage_said_and_nothing_of_the_other_branch(make):
    trunk = make()
    trunk.append(turn(1, "The key is K-77."))
    fill(trunk, 2, 9)
    trunk.compact()
    twig = trunk.fork("twig")
    for transcript, text in ((trunk, "Later it is K-88."), (twig, "Later it is K-99.")):
        transcript.append(turn(10, text))
        fill(transcript, 11, 20)
        transcript.compact()

    assert trunk.search("K-77").source == twig.search("K-77").source == "t1"
    assert (trunk.search("K-88").kind, twig.search("K-88").kind) == (AnswerKind.FOUND, AnswerKind.ABSENT)
    assert (trunk.search("K-99").kind, twig.search("K-99").kind) == (AnswerKind.ABSENT, AnswerKind.FOUND)
    twig.close()


def test_con_3_what_was_cleared_is_in_the_index(make, monkeypatch):
    transcript = make()
    fill(transcript, 1, 6)
    transcript.clear()

    assert transcript.search("7003").source == "t3"
    assert transcript.search("9999").kind is not AnswerKind.DEGRADED


def test_rec_1_what_fits_a_question_best_comes_first(make):
    transcript = make()
    transcript.append(turn(1, "The rollback plan of service quux needs approval by Ana Kelvo."))
    transcript.append(turn(2, "Service quux was deployed."))
    fill(transcript, 3, 12)
    transcript.compact()
    hits = transcript.retrieve("who approves the rollback of quux", limit=2)

    assert hits[0].source == "t1"
    assert hits[0].text.endswith("Ana Kelvo.")
    assert [hit.evidence for hit in hits] == [True] * len(hits)


@given(st.text(alphabet=st.characters(max_codepoint=127), max_size=60) | WORDY, st.sampled_from(["", "Long7" * 13]))
def test_rec_4_the_index_cuts_a_text_into_the_words_that_are_looked_for(text, long):
    """A text of ASCII is given to it as it stands; where a word is too long, and all others, as `words_of` has it."""
    text = f"{text} {long}{text} Tail"
    database = sqlite3.connect(":memory:")
    for name, given_ in (("entry", index._entry(text)), ("other", " ".join(index.words_of(text)))):
        database.execute(f"CREATE VIRTUAL TABLE {name} USING fts5 (words, tokenize = 'ascii')")
        database.execute(f"CREATE VIRTUAL TABLE {name}_words USING fts5vocab ({name}, 'instance')")
        database.execute(f"INSERT INTO {name} VALUES (?)", (given_,))

    entry, other = (
        database.execute(f"SELECT term, offset FROM {name}_words ORDER BY offset").fetchall()
        for name in ("entry", "other")
    )
    assert entry == other == [(word, at) for at, word in enumerate(index.words_of(text))]
    database.close()


def test_a_long_question_asks_the_index_for_a_bounded_number_of_words(make, monkeypatch):
    """The longest, wherever they stand: a rare name at the end of a pasted log finds what it names."""
    transcript = make()
    fill(transcript, 1, 6)
    transcript.append(turn(20, "The zanzibarishquayside is closed."))
    fill(transcript, 7, 12)
    transcript.compact()
    asked: list[int] = []
    read = transcript._ledger.all

    def counted(statement, parameters=()):
        asked.extend(
            len(one.split(" OR ")) if isinstance(one, str) else len(one)
            for one in parameters
            if isinstance(one, str | list)
        )
        return read(statement, parameters)

    monkeypatch.setattr(transcript._ledger, "all", counted)
    (best,) = transcript.retrieve(" ".join([*(f"w{n}" for n in range(20_000)), "zanzibarishquayside"]), limit=1)

    assert best.source == "t20"
    assert max(asked) == index.ASKED
