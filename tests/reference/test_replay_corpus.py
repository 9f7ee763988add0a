"""The replay of transcripts, on made-up ones: each figure is right where nothing is lost, and is wrong in a case that
makes it so."""

import json
import signal
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from anchorhold.cli import main
from anchorhold.corpus import jobs
from anchorhold.corpus.lossy import summarise
from anchorhold.corpus.plain import Plain
from anchorhold.corpus.queries import choose_queries, said_in
from anchorhold.corpus.replay import PASSES, replay
from anchorhold.corpus.tally import Tally
from anchorhold.corpus.turns import turns_of
from anchorhold_reference import Request, Settings, Transcript
from anchorhold_reference.codec import shown
from anchorhold_reference.values import four_characters
from anchorhold_spec.vocabulary import Answer, AnswerKind, ToolCall, Turn

BUDGET = 2000
WORDS = ("harbour", "lantern", "meadow", "copper", "thistle", "granite", "willow", "ember", "saddle", "orchard")
TENS = tuple(
    f"{a}{b}{ending}" for a in WORDS for b in WORDS for ending in ("", "ing", "ed", "er", "less", "ful", "ish")
)


def said_by_agents(count: int = 440) -> list[Turn]:
    """A session with paths, identifiers, numbers, refusals, and a tool call in every fifth turn."""
    turns: list[Turn] = []
    for i in range(count):
        words = " ".join(TENS[(i * k + k * k) % len(TENS)] for k in range(1, 11))
        if i % 5 == 3:
            call = ToolCall(id=f"call_{i}", name="read", arguments=json.dumps({"path": f"/srv/part{i}/log.txt"}))
            turns.append(Turn(id=f"t{i}", speaker="assistant", text=f"I look at it: {words}.", calls=(call,)))
            turns.append(
                Turn(
                    id=f"r{i}",
                    speaker="tool",
                    text=f"job J-{4000 + i} has {i} lines, not more",
                    result_of=f"call_{i}",
                )
            )
        else:
            turns.append(
                Turn(
                    id=f"t{i}",
                    speaker="user" if i % 2 else "assistant",
                    text=f"The target of job J-{1000 + i} is /srv/a{i}/data and Anna does not need {words}.",
                )
            )
    return turns


TURNS = said_by_agents()


def replayed(
    directory: Path, *, gate: bool = True, opened: Callable[..., Transcript] = Transcript.open, **more: Any
) -> Tally:
    return replay(TURNS, directory / "t.db", budget=BUDGET, gate=gate, queries=20, opened=opened, **more)


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Tally:
    return replayed(tmp_path_factory.mktemp("kept"))


def test_with_the_gate_nothing_is_lost(kept: Tally) -> None:
    assert (kept.drift, kept.unresolvable, kept.lost, kept.wrong) == (0, 0, 0, 0)
    assert kept.generations >= 3
    assert kept.turns == len(TURNS)
    assert kept.proposed == kept.evicted + kept.refused > 0, "lifetimes ended, and the gate was asked"
    assert kept.tombstones == 0
    assert kept.overrides == 0
    assert kept.audits == kept.compactions // 10 > 0
    assert kept.failed_audits == 0


def test_every_replaced_span_is_asked_for_in_every_generation_and_at_the_end(tmp_path: Path) -> None:
    asked: list[str] = []
    compactions = 0
    replaced: list[int] = []

    class Counted(Transcript):
        def get(self, token: str) -> Answer:
            asked.append(token)
            return super().get(token)

        def compact(self) -> Any:
            nonlocal compactions
            outcome = super().compact()
            if outcome.covered:
                compactions += 1
                replaced.append(len(outcome.covered))
            return outcome

    tally = replayed(tmp_path, opened=Counted.open)

    known = [sum(replaced[: i + 1]) for i in range(len(replaced))]
    assert tally.compactions == compactions >= 3
    assert len(asked) == tally.asked_again == sum(known) + known[-1]
    assert len(set(asked)) == tally.spans == known[-1]


def test_queries_are_found_in_every_pass_and_what_nobody_said_is_reported_as_a_miss(kept: Tally) -> None:
    literal = [hit - found for hit, found in zip(kept.hits, kept.found_by_words, strict=True)]
    asked = [all_ - words for all_, words in zip(kept.asked, kept.asked_by_words, strict=True)]

    assert len(kept.asked) == PASSES
    assert len(set(kept.asked)) == 1, "the set is fixed"
    assert literal == asked
    assert asked[0] == 20
    assert kept.asked_by_words[0] > 0
    assert kept.misses_reported == kept.misses == 2 * PASSES


def test_an_original_that_says_something_else_is_a_drift(tmp_path: Path) -> None:
    class Drifts(Transcript):
        def get(self, token: str) -> Answer:
            answer = super().get(token)
            return replace(answer, text=(answer.text or "").replace("job J-1002", "job J-1003"))

    tally = replayed(tmp_path, opened=Drifts.open)

    assert tally.drift > 0
    assert tally.unresolvable == 0


def test_an_entry_that_no_source_supports_is_a_drift(tmp_path: Path) -> None:
    class Invents(Transcript):
        def manifest(self, carrier: str) -> Any:
            found = super().manifest(carrier)
            return [*found, *(replace(entry, literal="J-77777") for entry in found[:1])]

    class Keeps(Invents):
        @classmethod
        def open(cls, path: Any, *, summarise: Any, **more: Any) -> Any:
            def one_is_kept(request: Request) -> Any:
                reply = summarise(request)
                return replace(reply, text=f"{reply.text}\n{TURNS[0].text}")

            return super().open(path, summarise=one_is_kept, **more)

    assert replayed(tmp_path, opened=Keeps.open).drift > 0


def test_a_slot_answered_with_a_value_that_its_source_does_not_assert_is_a_drift(tmp_path: Path) -> None:
    class Elsewhere(Transcript):
        def reconstitute(self, subject: str, attribute: str, *, evidence: bool = False) -> Answer:
            answer = super().reconstitute(subject, attribute, evidence=evidence)
            return replace(answer, value="/srv/elsewhere") if answer.kind is AnswerKind.FOUND else answer

    tally = replayed(tmp_path, opened=Elsewhere.open)

    assert tally.slots > 0
    assert tally.drift == tally.slots


def test_a_pointer_that_does_not_lead_to_the_original_is_unresolvable(tmp_path: Path) -> None:
    class Loses(Transcript):
        def get(self, token: str) -> Answer:
            answer = super().get(token)
            if answer.source == "t1":
                return Answer(kind=AnswerKind.UNANCHORED, reason="gone")
            return answer

    tally = replayed(tmp_path, opened=Loses.open)

    assert tally.unresolvable == 1
    assert tally.lost > 0
    assert tally.drift == 0


def test_a_wrong_neighbour_is_a_miss(tmp_path: Path) -> None:
    class Guesses(Transcript):
        """Answers each question with the turn before the right one, which says nearly the same."""

        def search(self, literal: str) -> Answer:
            answer = super().search(literal)
            if answer.kind is not AnswerKind.FOUND:
                return answer
            at = next(i for i, turn in enumerate(TURNS) if turn.id == answer.source)
            beside = TURNS[at - 1]
            return replace(answer, source=beside.id, text=shown(beside))

    tally = replayed(tmp_path, opened=Guesses.open)

    assert tally.hits == tally.found_by_words
    assert tally.wrong == sum(tally.asked) - sum(tally.asked_by_words) > 0


def test_an_answer_to_what_nobody_said_is_no_reported_miss(tmp_path: Path) -> None:
    class Always(Transcript):
        def search(self, literal: str) -> Answer:
            answer = super().search(literal)
            if answer.kind is AnswerKind.FOUND:
                return answer
            return replace(answer, kind=AnswerKind.FOUND, source="t1", text="…")

    tally = replayed(tmp_path, opened=Always.open)

    assert tally.misses_reported == 0
    assert tally.wrong == tally.misses > 0


def test_without_the_gate_the_same_is_lost(tmp_path: Path, kept: Tally) -> None:
    tally = replayed(tmp_path, gate=False)

    assert tally.evicted == tally.proposed == kept.proposed, "the same lifetimes end"
    assert tally.unresolvable == kept.refused, "what the gate refused to let go is what is lost without it"
    assert 0 < tally.lost < tally.assertions
    assert tally.hit_rate[-1] < kept.hit_rate[-1] - 0.5
    assert tally.generations >= 3, "compaction goes on, over losses accepted on record"


def test_retaining_raw_turns_in_the_window_is_overhead_and_told_apart(tmp_path: Path, kept: Tally) -> None:
    """A turn whose facts cannot be computed stays raw (MAN-3): the window without a gate does not have it."""
    null = [replace(turn, text=f"{turn.text}\x00") if turn.id in {"t1", "t2", "t4"} else turn for turn in TURNS]
    tally = replay(null, tmp_path / "t.db", budget=BUDGET, gate=True, queries=1)

    held = sum(four_characters(said_in(turn)) for turn in null if "\x00" in (turn.text or ""))
    assert kept.consists["raw retained"] == 0
    assert tally.consists["raw retained"] == held * tally.steady
    assert tally.overhead_percent > kept.overhead_percent + 3


def test_overhead_is_against_a_window_of_the_same_turns() -> None:
    settings = Settings(budget=BUDGET)
    plain = Plain(settings)
    sizes = []
    for turn in TURNS:
        plain.append(turn)
        sizes.append(plain.size)

    assert max(sizes) <= (settings.high_water or 0)
    assert len(plain.after) >= 3
    tally = Tally(steady=2, window=220, plain=200, after=[10, 20], plain_after=[10, 10, 10])
    assert tally.overhead_percent == pytest.approx(10)
    assert tally.overhead_percent_after == pytest.approx(50)


def test_tallies_add_up() -> None:
    one = Tally(turns=2, generations=3, hits=[1, 2], asked=[2, 2], consists={"raw retained": 5}, drift=1)
    one.add(Tally(turns=3, generations=5, hits=[1], asked=[2], consists={"raw retained": 1}, unresolvable=2))

    assert (one.turns, one.generations, one.drift, one.unresolvable) == (5, 5, 1, 2)
    assert one.hit_rate == [0.5, 1.0]
    assert one.consists == {"raw retained": 6}


def test_queries_have_one_right_answer() -> None:
    early = [turn.id for turn in TURNS[:200]]
    queries = choose_queries(TURNS, early, count=15)
    texts = {turn.id: said_in(turn) for turn in TURNS}

    assert queries == choose_queries(TURNS, early, count=15)
    literal = [q for q in queries if q.turn and not q.words]
    in_words = [q for q in queries if q.words]
    never = [q for q in queries if q.turn is None]
    assert len(literal) == 15
    assert in_words
    assert never
    for query in literal:
        assert [turn for turn, text in texts.items() if query.text in text] == [query.turn]
    for query in in_words:
        asked = set(query.text.split())
        assert [turn for turn, text in texts.items() if asked <= set(words_in(text))] == [query.turn]
    assert not [q for q in never for text in texts.values() if q.text in text]
    assert {q.turn for q in queries if q.turn} <= set(early)


def words_in(text: str) -> list[str]:
    return "".join(c if c.isalpha() else " " for c in text.casefold()).split()


def test_the_summariser_drops_ids_and_paraphrases_names() -> None:
    reply = summarise(
        Request(
            messages=(
                "Summarise.",
                "user: please ask Anna about job J-88 at /srv/a7, 9 times.",
                "tool: deadbeef01 Bob",
            )
        )
    )

    assert not [lost for lost in ("Anna", "Bob", "J-88", "/srv/a7", "9", "deadbeef01") if lost in reply.text]
    assert "ask somebody about job" in reply.text


# -- the command --


@pytest.fixture
def log(tmp_path: Path) -> Path:
    lines = [
        f"[{i // 60 % 24:02}:{i % 60:02}] <anna{i % 3}> bug #{2000 + i} is in /usr/lib/pkg{i}, {TENS[i % len(TENS)]}"
        for i in range(300)
    ]
    path = tmp_path / "log.txt"
    path.write_text("### LOG made up\n" + "\n".join(lines) + "\n", encoding="utf-8")
    return path


def run(*arguments: str) -> int:
    with pytest.raises(SystemExit) as ended:
        main(("replay-corpus", *arguments))
    return ended.value.code if isinstance(ended.value.code, int) else 0


def test_the_document_has_the_agreed_keys(log: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    status = run(str(log), "--budget", "1500", "--json", "--work", str(tmp_path))

    document = json.loads(capsys.readouterr().out)
    agreed = [
        *("turns", "compactions", "generations", "drift", "unresolvable", "hit_rate", "misses_reported"),
        *("overhead_percent", "audits", "seconds"),
    ]
    assert status == 0
    for figures in (document, document["without_gate"]):
        assert [
            key for key in figures if key not in {"schema", "gate", "details", "without_gate", "transcripts"}
        ] == agreed
    assert document["turns"] == len(turns_of(log)) == 300
    assert document["unresolvable"] == 0
    assert len(document["hit_rate"]) == PASSES
    assert [(one["file"], one["gate"]) for one in document["transcripts"]] == [("log.txt", "on"), ("log.txt", "off")]


def test_too_few_generations_are_not_a_result(log: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    status = run(str(log), "--gate", "on", "--work", str(tmp_path))

    assert status == 3
    assert "fewer than 3 generations in log.txt" in capsys.readouterr().err


def test_progress_is_told_where_nobody_watches(log: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run(str(log), "--gate", "off", "--budget", "1500", "--work", str(tmp_path))

    told = capsys.readouterr()
    assert told.err.count(" of 300 turns") == 10
    assert "300 of 300 turns" in told.err
    assert "overhead tokens: raw retained" in told.out


def test_several_processes_count_the_same(log: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    counted = []
    for processes in ("1", "2"):
        run(str(log), "--budget", "1500", "--json", "--work", str(tmp_path), "--processes", processes)
        text = capsys.readouterr().out
        counted.append([line for line in text.splitlines() if '"seconds"' not in line])

    assert counted[0] == counted[1]


def test_an_interrupt_ends_all_with_the_figures_so_far(log: Path, tmp_path: Path, monkeypatch) -> None:  # type: ignore[no-untyped-def]
    def interrupting(_name: str, _turns: int) -> Callable[[int], None]:
        return lambda done: signal.raise_signal(signal.SIGINT) if done == 150 else None

    monkeypatch.setattr(jobs, "_told", interrupting)
    todo = [jobs.Job(path=log, gate=gate, budget=1500, queries=5, limit=0) for gate in (True, False)]
    before = signal.getsignal(signal.SIGINT)
    (first, second), interrupted = jobs.run_jobs(todo, work=tmp_path, processes=1)

    assert interrupted
    assert (first.turns, second.turns) == (150, 0)
    assert first.generations >= 3
    assert signal.getsignal(signal.SIGINT) is before
    assert [path.name for path in tmp_path.iterdir()] == ["log.txt"]


def test_a_file_of_no_known_format_is_a_usage_error(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "notes.txt"
    path.write_text("neither of the two", encoding="utf-8")

    assert run(str(path)) == 2
    assert "neither Claude Code's JSON lines nor a log" in capsys.readouterr().err


def test_claude_code_records_become_turns(tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    records = [
        {"type": "user", "message": {"role": "user", "content": "Look at /srv/a."}},
        {"type": "progress", "message": {"content": "no turn"}},
        {"type": "user", "isSidechain": True, "message": {"content": "another chain's"}},
        {
            "type": "assistant",
            "message": {
                "content": [
                    {"type": "text", "text": "I look."},
                    {"type": "tool_use", "id": "toolu_1", "name": "ls", "input": {"path": "/srv/a"}},
                    {"type": "tool_use", "id": "toolu_2", "name": "ls", "input": {}},
                ]
            },
        },
        {
            "type": "user",
            "message": {
                "content": [
                    {"type": "tool_result", "tool_use_id": "toolu_1", "content": [{"type": "text", "text": "b\nc"}]}
                ]
            },
        },
    ]
    path.write_text("\n".join(json.dumps(one) for one in records) + "\n{torn", encoding="utf-8")

    said, calls, result = turns_of(path)
    assert said == Turn(id="0", speaker="user", text="Look at /srv/a.")
    assert calls.text == "I look."
    assert [call.id for call in calls.calls] == ["toolu_1", "toolu_2"]
    assert calls.status == "killed", "the second call was never answered"
    assert (result.speaker, result.text, result.result_of) == ("tool", "b\nc", "toolu_1")
