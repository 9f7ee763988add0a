"""Retrieval by vectors beside that by words: they propose, and nothing that merely resembles becomes an answer."""

import builtins
import sqlite3
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from transcripts import Script

from anchorhold_reference import Settings, Transcript
from anchorhold_reference.errors import EmbeddingMismatchError, MissingExtraError, VectorsUnavailableError
from anchorhold_reference.retrieval import BY_LIKENESS
from anchorhold_reference.stores.comparing import comparing
from anchorhold_spec.vocabulary import AnswerKind, OutcomeKind, Turn

pytest.importorskip("sqlite_vec", reason="the extra `vectors` is not installed")

MEANINGS = ({"ship", "vessel", "boat"}, {"harbour", "port", "dock"}, {"rain", "storm", "weather"}, {"bread", "cake"})
SAID = (
    "The ship left yesterday.",
    "Rain fell on the roof all night.",
    "Our bread is baked at dawn.",
    "The crane at the dock is being painted.",
    "Nobody asked for the keys.",
    "All is quiet here.",
)


class Meanings:
    """An embedding function in which words of one meaning have one direction."""

    def __init__(self, more: int = 0) -> None:
        self.asked: list[str] = []
        self.wrong: Callable[[], Sequence[Sequence[float]]] | None = None
        self.more = more

    def __call__(self, texts: Sequence[str]) -> Sequence[Sequence[float]]:
        self.asked += texts
        return self.wrong() if self.wrong is not None else [self.of(text) for text in texts]

    def of(self, text: str) -> list[float]:
        words = set(text.lower().replace(".", "").replace("?", "").split())
        return [float(len(words & meaning)) for meaning in MEANINGS] + [0.1] + [0.0] * self.more

    def fail(self) -> Sequence[Sequence[float]]:
        raise TimeoutError("no model answers")


@pytest.fixture
def embed() -> Meanings:
    return Meanings()


@pytest.fixture
def opened(tmp_path: Path, script: Script) -> Iterator[Callable[..., Transcript]]:
    made: list[Transcript] = []

    def open_(embed: Any, **more: Any) -> Transcript:
        settings = Settings(embed=embed, **more.pop("settings", {}))
        transcript = Transcript.open(tmp_path / "t.db", summarise=script, settings=settings, **more)
        made.append(transcript)
        return transcript

    yield open_
    for one in made:
        one.close()


def say(transcript: Transcript, *texts: str, begin: int = 1) -> None:
    for i, text in enumerate(texts, begin):
        transcript.append(Turn(id=f"t{i}", speaker="assistant", text=text))


def compacted(transcript: Transcript, *texts: str) -> Transcript:
    say(transcript, *(texts or SAID), "a", "b", "c", "d")
    assert transcript.compact().kind is OutcomeKind.COMMITTED
    return transcript


def sources(transcript: Transcript, query: str, limit: int = 1) -> list[str | None]:
    return [answer.source for answer in transcript.retrieve(query, limit=limit)]


def rows(tmp_path: Path, query: str) -> list[Any]:
    """What the file holds, seen when nobody has it open."""
    connection = sqlite3.connect(tmp_path / "t.db")
    try:
        return connection.execute(query).fetchall()
    finally:
        connection.close()


def test_what_says_the_same_in_other_words_is_found(opened, embed) -> None:
    transcript = compacted(opened(embed))

    assert sources(transcript, "any vessel?") == ["t1"]
    assert sources(transcript, "bad weather") == ["t2"]
    assert sources(transcript, "which port") == ["t4"]


def test_without_a_function_words_alone_are_searched(opened) -> None:
    transcript = compacted(opened(None))

    assert transcript.retrieve("any vessel?") == []
    assert sources(transcript, "ship") == ["t1"]
    assert transcript.status().unembedded == 0


def test_both_rankings_count(opened, embed) -> None:
    """What stands high in both comes before what stands first in one."""
    texts = ("The boat has a red keel.", "A vessel in the storm.", "The storm damaged the keel of our ship.")
    transcript = compacted(opened(embed), *texts)

    assert sources(transcript, "keel boat storm", limit=3)[0] == "t3"
    assert set(sources(transcript, "keel boat storm", limit=3)) >= {"t1", "t2", "t3"}


def test_rec_1_a_neighbour_is_never_an_answer(opened) -> None:
    """With a function to which all is alike, too."""
    transcript = compacted(opened(lambda texts: [[1.0, 1.0] for _ in texts]))

    assert transcript.search("The ship left today.").kind is AnswerKind.ABSENT
    assert transcript.search("vessel").kind is AnswerKind.ABSENT
    assert transcript.reconstitute("job J-1", "target").kind is AnswerKind.ABSENT
    for answer in transcript.retrieve("vessel", limit=3):
        assert answer.reason == BY_LIKENESS
    said = {answer.source: answer.reason for answer in transcript.retrieve("ship", limit=6)}
    assert said == {"t1": None} | {f"t{i}": BY_LIKENESS for i in range(2, 7)}


def test_rec_1_what_a_vector_proposes_is_read_and_checked(opened, embed, tmp_path) -> None:
    transcript = compacted(opened(embed))
    key = transcript.retrieve("vessel", limit=1)[0].carrier
    transcript._ledger.run("DROP TRIGGER cold_is_immutable")
    transcript._ledger.run("UPDATE cold SET payload = ? WHERE 'slot-' || slot = ?", (b"other", key))

    assert "t1" not in sources(transcript, "vessel", limit=6)


def test_vectors_are_written_in_the_transaction_that_commits_the_pointer(opened, embed, tmp_path) -> None:
    transcript = compacted(opened(embed))
    transcript.close()

    entered = rows(tmp_path, "SELECT p.span FROM pointer p WHERE p.indexed = 1")
    assert entered
    assert entered == rows(tmp_path, "SELECT span FROM vector WHERE outstanding = 0 AND embedding IS NOT NULL")


def test_no_transaction_is_open_while_the_function_is_asked(opened, embed) -> None:
    inside: list[bool] = []
    held: list[Transcript] = []

    def watching(texts: Sequence[str]) -> Sequence[Sequence[float]]:
        if held:
            inside.append(held[0]._ledger.connection.in_transaction)
        return embed(texts)

    transcript = opened(watching)
    held.append(transcript)
    compacted(transcript)
    transcript.retrieve("vessel")
    transcript.clear()

    assert len(inside) >= 3
    assert not any(inside)


def test_rec_4_a_function_that_fails_stops_nothing_and_is_declared(opened, embed) -> None:
    transcript = opened(embed)
    embed.wrong = embed.fail
    compacted(transcript)

    status = transcript.status()
    assert status.unembedded == 6
    assert status.embedding_fault == "the embedding function failed: TimeoutError: no model answers"
    assert status.lossless
    assert sources(transcript, "ship") == ["t1"]
    (negative,) = transcript.retrieve("vessel")
    assert negative.kind is AnswerKind.DEGRADED
    assert "words alone were searched" in (negative.reason or "")
    assert transcript.search("vessel").kind is AnswerKind.ABSENT, "that no turn says the word needs no vector"


def test_rec_4_what_has_no_vector_yet_makes_a_negative_answer_pending_and_is_caught_up_with(opened, embed) -> None:
    transcript = opened(embed)
    embed.wrong = embed.fail
    compacted(transcript)
    embed.wrong = None

    (negative,) = transcript.retrieve("vessel")
    assert negative.kind is AnswerKind.PENDING
    assert "6 originals have no vector yet" in (negative.reason or "")
    transcript.settle()
    assert sources(transcript, "vessel") == ["t1"]
    assert transcript.status().unembedded == 0
    assert transcript.status().embedding_fault is None


@pytest.mark.parametrize("again", ["reopen", "compact"])
def test_outstanding_vectors_are_made_at_the_next_opening_and_after_the_next_commit(opened, embed, again) -> None:
    transcript = opened(embed)
    embed.wrong = embed.fail
    compacted(transcript)
    embed.wrong = None

    if again == "reopen":
        transcript.reopen()
    else:
        say(transcript, *"efghijk", begin=20)
        assert transcript.compact().kind is OutcomeKind.COMMITTED
    assert transcript.status().unembedded == 0
    assert sources(transcript, "vessel") == ["t1"]


def test_a_session_gets_vectors_of_what_it_had_before(opened, embed) -> None:
    compacted(opened(None)).close()

    assert sources(opened(embed), "vessel") == ["t1"]


def test_rec_4_what_was_compacted_without_the_function_is_known_to_lack_vectors(opened, embed) -> None:
    opened(embed).close()
    compacted(opened(None)).close()
    embed.wrong = embed.fail
    transcript = opened(embed)

    assert transcript.status().unembedded == 6
    embed.wrong = None
    transcript.settle()
    assert sources(transcript, "vessel") == ["t1"]


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        ([], "0 vectors for"),
        ([[1.0]] * 99, "99 vectors for"),
        ([[1.0, 2.0], [1.0]] * 3, "vectors of 1, 2 numbers"),
        ([[1.0, 2.0]] * 6, "vectors of 2 numbers, where it made some of 5 before"),
        ([[float("nan")] * 5] * 6, "not finite"),
        ([[1e39] * 5] * 6, "not finite"),
        ([["x"] * 5] * 6, "ValueError"),
        (None, "TypeError"),
    ],
)
def test_what_is_no_vector_is_not_stored(opened, embed, answer, said) -> None:
    transcript = opened(embed)
    embed.wrong = lambda: answer
    compacted(transcript)

    assert said in (transcript.status().embedding_fault or "")
    assert transcript.status().unembedded == 6


def test_zeros_and_texts_without_words_are_alike_to_nothing(opened) -> None:
    transcript = compacted(opened(lambda texts: [[0.0, 0.0] for _ in texts]), "The ship left.", "…", "A cake.")

    assert transcript.status().unembedded == 0
    assert transcript.retrieve("vessel") == []


def test_a_session_is_not_opened_with_vectors_of_another_dimension(opened, embed) -> None:
    compacted(opened(embed)).close()

    with pytest.raises(EmbeddingMismatchError) as refused:
        opened(Meanings(more=3))
    assert str(refused.value) == (
        "this session's vectors have 5 numbers, and the embedding function makes 8: open it with the function that "
        "made them, or without one"
    )
    assert sources(opened(embed), "vessel") == ["t1"], "nothing is left open, and nothing was changed"


def test_era_1_a_forget_takes_the_vector(opened, embed, tmp_path) -> None:
    transcript = compacted(opened(embed))
    (packed,) = transcript._ledger.one(
        "SELECT embedding FROM vector v JOIN turn t ON t.carrier = v.span WHERE t.id = 't1'"
    )
    others = transcript._ledger.one("SELECT count(*) FROM vector")[0] - 1
    transcript.forget("t1")

    assert "t1" not in sources(transcript, "vessel", limit=6)
    transcript.close()
    assert rows(tmp_path, "SELECT count(*) FROM vector") == [(others,)]
    assert packed not in b"".join(path.read_bytes() for path in sorted(tmp_path.iterdir()) if path.is_file())


def test_era_1_a_forget_without_the_function_takes_the_vector_too(opened, embed, tmp_path) -> None:
    compacted(opened(embed)).close()
    transcript = opened(None)
    transcript.forget("t1")
    transcript.close()

    assert rows(tmp_path, "SELECT v.span FROM vector v JOIN turn t ON t.carrier = v.span WHERE t.id = 't1'") == []
    assert "t1" not in sources(opened(embed), "vessel", limit=6)


def test_era_1_what_is_forgotten_while_its_vector_is_made_gets_none(opened, embed) -> None:
    transcript = opened(embed)
    embed.wrong = embed.fail
    compacted(transcript)

    def forgets() -> Sequence[Sequence[float]]:
        embed.wrong = None
        transcript.forget("t1")
        return [embed.of(text) for text in SAID]

    embed.wrong = forgets
    transcript.settle()

    assert "t1" not in sources(transcript, "vessel", limit=6)
    (n,) = transcript._ledger.one("SELECT count(*) FROM vector v JOIN turn t ON t.carrier = v.span WHERE t.id = 't1'")
    assert n == 0


def test_iso_1_a_branch_is_proposed_what_is_in_its_lineage(opened, embed) -> None:
    transcript = compacted(opened(embed))
    branch = transcript.fork("other")
    say(branch, "A boat for the branch alone.", *"vwxyz", begin=40)
    assert branch.compact().kind is OutcomeKind.COMMITTED
    say(transcript, "The storm is over.", *"mnopq", begin=60)
    assert transcript.compact().kind is OutcomeKind.COMMITTED

    assert set(sources(branch, "vessel", limit=2)) == {"t1", "t40"}
    assert "t40" not in sources(transcript, "vessel", limit=20)
    assert "t60" not in sources(branch, "weather", limit=20)
    branch.close()


def test_iso_1_another_session_of_the_file_has_vectors_of_its_own(opened, embed) -> None:
    compacted(opened(embed))
    other = opened(Meanings(more=4), session="other")
    compacted(other, "A cake for you.")

    assert sources(other, "vessel", limit=9) == ["t1"]
    assert other.retrieve("bread", limit=1)[0].text == "A cake for you."


def test_a_rewind_takes_the_vectors_out_of_sight(opened, embed) -> None:
    transcript = opened(embed)
    say(transcript, "All begins here.")
    say(transcript, *SAID, *"abcd", begin=2)
    transcript.compact()
    transcript.rewind("t1")

    assert set(sources(transcript, "vessel", limit=9)) <= {"t1"}


def test_what_a_clear_archives_gets_vectors(opened, embed) -> None:
    transcript = opened(embed)
    say(transcript, *SAID)
    transcript.clear()

    assert sources(transcript, "vessel") == ["t1"]


def test_sqlite_vec_computes_the_distances(opened, embed) -> None:
    transcript = opened(embed)

    assert str(transcript._ledger.one("SELECT vec_version()")[0]).startswith("v0.")


# -- where it cannot be had --


@pytest.mark.parametrize("missing", ["sqlite_vec", "apsw"])
def test_what_is_not_installed_is_named(opened, embed, monkeypatch, missing) -> None:
    if missing == "apsw" and hasattr(sqlite3.Connection, "enable_load_extension"):
        pytest.skip("this Python's sqlite3 loads extensions itself")
    monkeypatch.delitem(sys.modules, missing, raising=False)
    import_ = builtins.__import__

    def without(name: str, *more: Any) -> Any:
        if name == missing:
            raise ImportError(name)
        return import_(name, *more)

    monkeypatch.setattr(builtins, "__import__", without)

    with pytest.raises(MissingExtraError, match=r"retrieval by vectors .*pip install 'anchorhold\[vectors\]'"):
        opened(embed)


def test_postgresql_is_said_to_have_none() -> None:
    with pytest.raises(VectorsUnavailableError, match="postgresql cannot compare vectors: they are kept in SQLite"):
        comparing("postgresql://me@host/database")


def test_a_connection_of_the_callers_that_cannot_compare_is_refused(tmp_path, script, embed) -> None:
    from anchorhold_reference.stores.sqlite import SqliteFile, connect

    with pytest.raises(VectorsUnavailableError, match="this connection to SQLite cannot compare vectors"):
        Transcript.open(
            SqliteFile(path=tmp_path / "t.db", connect=connect), summarise=script, settings=Settings(embed=embed)
        )


def test_a_url_of_sqlite_is_opened_with_vectors(tmp_path, script, embed) -> None:
    with Transcript.open(f"sqlite://{tmp_path}/u.db", summarise=script, settings=Settings(embed=embed)) as transcript:
        assert sources(compacted(transcript), "vessel") == ["t1"]
