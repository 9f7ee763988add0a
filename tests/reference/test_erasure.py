"""ERA-1: what was forgotten is nowhere, down to the bytes of the files; all else stays."""

import random
import sqlite3
import threading

import psycopg
import pytest
from ledgers import only_postgresql, only_sqlite
from transcripts import fill, port, token_of, turn

from anchorhold_reference import Settings
from anchorhold_reference.codec import digest, encode
from anchorhold_reference.pointer import unseal
from anchorhold_spec.vocabulary import AnswerKind, CarrierKind, OutcomeKind, ToolCall

SECRET = "The password of vault-7 is hunter2-xyzzy."
LITERAL = "hunter2-xyzzy"


def nowhere(transcript, *words):
    """In no file, in no answer, in no text."""
    for path in transcript.files():
        content = path.read_bytes()
        for word in words:
            assert word.encode() not in content, f"{word!r} is still in {path.name}"
            assert word.encode("utf-16-le") not in content
    for item in transcript.live():
        assert not any(word in (item.text or "") for word in words)
        assert not any(word in entry.literal for entry in transcript.manifest(item.id) for word in words)
    for word in words:
        assert transcript.search(word).kind is not AnswerKind.FOUND
    assert not any(word in entry.literal for entry in transcript.tombstones() for word in words)


def test_era_1_a_turn_in_the_window_is_erased_and_its_id_brings_nothing_back(make):
    transcript = make()
    fill(transcript, 1, 3)
    transcript.append(turn(4, SECRET))
    fill(transcript, 5, 6)

    assert transcript.forget("t4").kind is OutcomeKind.COMMITTED
    nowhere(transcript, LITERAL, "vault-7")
    assert [i.turn for i in transcript.live()] == ["t1", "t2", "t3", "t5", "t6"]
    transcript.append(turn(4, SECRET))
    nowhere(transcript, LITERAL)
    assert transcript.forget("t4").kind is OutcomeKind.NOTHING
    assert transcript.forget("t99").kind is OutcomeKind.REFUSED
    assert transcript.reconstitute("vault-7", "password").kind is AnswerKind.UNANCHORED


def test_era_1_a_turn_under_several_generations_of_summaries_is_erased_from_each(make, script):
    """The summaries repeat it, in their own words too; the originals, facts, tombstones and audits know it."""
    script.write = lambda request: "\n".join([f"Part {len(script.shown)}: hunter2-xyzzy opens it.", SECRET, port(2)])
    transcript = make(settings=Settings(horizon=0, keep=1, audit_every=1))
    transcript.append(turn(1, SECRET))
    fill(transcript, 2, 4)
    transcript.compact()
    transcript.tombstone(LITERAL, "t1", f"{LITERAL} was a mistake")
    fill(transcript, 5, 7)
    transcript.compact()
    fill(transcript, 8, 10)
    transcript.compact()
    token = token_of(transcript, "t1")
    others = {p.covers[0]: p.token for p in transcript.pointers() if p.covers != ("t1",)}

    outcome = transcript.forget("t1")
    assert (outcome.kind, outcome.pending) == (OutcomeKind.COMMITTED, False)
    nowhere(transcript, LITERAL, "vault-7", "opens it")
    assert transcript.get(token).kind is AnswerKind.TOMBSTONED
    assert "erased" in transcript.get(token).reason
    for turn_id, each in others.items():
        assert transcript.get(each).source == turn_id
    summary = transcript.live()[0]
    assert port(2) in summary.text
    assert "t1" not in summary.covers
    assert [e.source for e in transcript.manifest(summary.id)] == ["t2"]
    assert transcript.ratios().unresolvable == 0
    assert transcript.status().lossless
    assert (transcript.status().erased, transcript.status().unresolvable) == (1, 0)


def test_era_1_what_another_turn_says_too_stays_with_that_turn(make, script):
    script.say(port(1))
    transcript = make(settings=Settings(horizon=0, keep=1))
    transcript.append(turn(1))
    transcript.append(turn(2, port(1)))
    fill(transcript, 3, 4)
    transcript.compact()
    transcript.forget("t1")

    assert [e.source for e in transcript.manifest(transcript.live()[0].id)] == ["t2"]
    answer = transcript.reconstitute("db-1", "port", evidence=True)
    assert (answer.kind, answer.source) == (AnswerKind.FOUND, "t2")


def test_era_1_no_digest_of_it_is_left(make):
    transcript = make(settings=Settings(horizon=0, keep=1))
    secret = turn(1, SECRET)
    transcript.append(secret)
    fill(transcript, 2, 4)
    transcript.compact()
    key = [k for (k,) in transcript._ledger.all("SELECT key FROM fact") if k]
    mark = digest(encode(secret))
    transcript.forget("t1")
    left = {k for (k,) in transcript._ledger.all("SELECT key FROM fact")}

    for path in transcript.files():
        content = path.read_bytes()
        assert mark not in content
        assert mark.hex().encode() not in content
        for gone in set(key) - left:
            assert gone not in content


def test_con_3_a_turn_forgotten_while_the_summary_is_written_does_not_come_back(make, script):
    transcript = make()
    transcript.append(turn(1, SECRET))
    fill(transcript, 2, 6)

    def write(request):
        transcript.forget("t1")
        return f"Part {len(script.shown)}.\n{SECRET}"

    script.write = write
    outcome = transcript.compact()

    assert outcome.kind is OutcomeKind.REFUSED
    assert "CON-3" in outcome.reason
    nowhere(transcript, LITERAL)
    script.say("It went on.")
    assert transcript.compact().covered == ("t2", "t3", "t4")


@pytest.mark.parametrize("step", ["copy", "point", "commit"])
def test_con_3_nor_one_forgotten_between_the_steps(make, script, step):
    def steps(name):
        if name == step:
            transcript.forget("t1")

    script.say(SECRET)
    transcript = make(steps=steps)
    transcript.append(turn(1, SECRET))
    fill(transcript, 2, 6)

    assert transcript.compact().kind is OutcomeKind.REFUSED
    nowhere(transcript, LITERAL)


def test_era_1_every_branch_forgets_it(make, script):
    script.say(SECRET)
    transcript = make()
    transcript.append(turn(1, SECRET))
    fill(transcript, 2, 6)
    transcript.compact()
    with transcript.fork("other") as other:
        fill(other, 7, 10)
        other.compact()
        transcript.forget("t1")
        nowhere(other, LITERAL)
        nowhere(transcript, LITERAL)


def test_era_1_what_was_rewound_can_be_erased_still(make, script):
    script.say(SECRET)
    transcript = make()
    fill(transcript, 1, 2)
    transcript.append(turn(3, SECRET))
    fill(transcript, 4, 8)
    transcript.compact()
    transcript.rewind("t2")

    assert transcript.forget("t3").kind is OutcomeKind.COMMITTED
    nowhere(transcript, LITERAL)


def test_str_1_half_a_pair_does_not_stay_in_the_window(make):
    transcript = make()
    call = ToolCall(id="c1", name="run", arguments="{}")
    transcript.append(turn(1))
    transcript.append(turn(2, SECRET, speaker="assistant", calls=(call,)))
    transcript.append(turn(3, "The result code of run-3 is 41.", speaker="tool", result_of="c1"))
    fill(transcript, 4, 6)
    transcript.forget("t2")

    assert [i.turn for i in transcript.live()] == ["t1", "t4", "t5", "t6"]
    assert transcript.reconstitute("run-3", "result code", evidence=True).value == "41"
    nowhere(transcript, LITERAL)


@only_sqlite
def test_era_1_a_reader_that_holds_the_log_makes_it_pending_and_the_next_call_sweeps(make, behind):
    transcript = make()
    transcript.append(turn(1, SECRET))
    fill(transcript, 2, 6)
    transcript._ledger.run("PRAGMA busy_timeout=50")
    reader = sqlite3.connect(behind.where, isolation_level=None)
    reader.execute("BEGIN")
    reader.execute("SELECT count(*) FROM turn").fetchone()
    outcome = transcript.forget("t1")
    reader.execute("COMMIT")
    reader.close()

    assert (outcome.kind, outcome.pending) == (OutcomeKind.COMMITTED, True)
    transcript.reopen()
    nowhere(transcript, LITERAL)


@only_sqlite
@pytest.mark.parametrize("seed", range(6))
def test_era_1_no_page_holds_it_whatever_was_written_around_it(make, script, seed):
    """Turns of many sizes, several compactions: pages split, overflow and are used again."""
    random_ = random.Random(seed)
    secret = "".join(random_.choices("bcdfghjklmnpqrstvwxz", k=24))

    def write(request):
        said = f"The word of day-{at} is {secret}.\nIt was {secret} all along."
        return f"Part {len(script.shown)}.\n{said if secret in str(request.messages) else ''}"

    script.write = write
    transcript = make(settings=Settings(horizon=0, keep=1))
    at = random_.randrange(1, 30)
    for n in range(1, 40):
        text = "\n".join(f"{port(n)} {'x' * random_.randrange(0, 900)}" for _ in range(random_.randrange(1, 9)))
        transcript.append(turn(n, f"{text}\nThe word of day-{n} is {secret}." if n == at else text))
        if random_.random() < 0.2:
            transcript.compact()
    transcript.forget(f"t{at}")

    nowhere(transcript, secret, secret[:12], secret[12:])


def test_era_1_appends_from_another_thread_meanwhile_are_kept(make):
    transcript, other = make(), make()
    transcript.append(turn(1, SECRET))
    thread = threading.Thread(target=fill, args=(other, 2, 40))
    thread.start()
    transcript.forget("t1")
    thread.join()
    transcript.forget("t1")
    transcript.reopen()

    nowhere(transcript, LITERAL)
    assert [i.turn for i in transcript.live()] == [f"t{n}" for n in range(2, 41)]
    assert all(i.kind is CarrierKind.RAW for i in transcript.live())


def test_era_1_forgetting_what_was_evicted_leaves_its_slot_to_whoever_has_it_now(make, script):
    script.say(port(1))
    transcript = make()
    fill(transcript, 1, 6)
    transcript.compact()
    evicted = token_of(transcript, "t1")
    assert transcript.evict(evicted).kind is OutcomeKind.COMMITTED
    fill(transcript, 7, 10)
    transcript.compact()
    heir = next(p for p in transcript.pointers() if p.key == unseal(evicted).key)
    assert transcript.forget("t1").kind is OutcomeKind.COMMITTED

    assert transcript.get(heir.token).source == heir.covers[0]
    fill(transcript, 11, 14)
    assert transcript.compact().kind is OutcomeKind.COMMITTED
    assert transcript.get(heir.token).source == heir.covers[0]


@pytest.mark.parametrize("compacted", [False, True])
def test_era_1_what_was_rewound_is_erased_with_the_turn_that_has_its_id_now(make, script, compacted):
    script.say(SECRET)
    transcript = make()
    fill(transcript, 1, 2)
    transcript.append(turn(3, SECRET))
    fill(transcript, 4, 8)
    if compacted:
        transcript.compact()
    transcript.rewind("t2")
    transcript.append(turn(3, "Nothing of the kind."))

    assert transcript.forget("t3").kind is OutcomeKind.COMMITTED
    nowhere(transcript, LITERAL)


def test_iso_1_but_not_where_another_branch_has_it_still(make):
    transcript = make()
    fill(transcript, 1, 4)
    branch = transcript.fork("other")
    transcript.rewind("t2")
    transcript.append(turn(3, "Another one."))
    transcript.forget("t3")

    assert [one.text for one in branch.live()] == [port(n) for n in range(1, 5)]
    branch.close()


@pytest.mark.parametrize(
    "damage",
    [
        lambda there: there.replace(LITERAL.encode(), b"hunter2-xyzzz"),
        lambda there: there[: len(there) // 2],
        lambda _there: b"\0",
        lambda _there: encode(turn(1, "Something else.")),
    ],
    ids=["another letter", "cut", "no turn", "another turn"],
)
def test_era_1_words_leave_the_index_whatever_has_become_of_the_original(make, behind, damage):
    """The index is told which words to let go of by the original, unless that is not what was entered."""
    transcript = make()
    transcript.append(turn(1, SECRET))
    fill(transcript, 2, 5)
    transcript.compact()
    ((*entry, there),) = behind.query(
        "SELECT o.slot, o.epoch, o.span, o.session, o.address, o.payload FROM cold o "
        "JOIN turn t ON t.carrier = o.span WHERE t.id = 't1'"
    )
    payload = damage(bytes(there))
    assert payload != bytes(there)
    behind.query("DELETE FROM cold WHERE slot = ?", (entry[0],))
    behind.query(
        "INSERT INTO cold (slot, epoch, span, session, address, size, payload) VALUES (?, ?, ?, ?, ?, ?, ?)",
        (*entry, len(payload), payload),
    )

    assert transcript.forget("t1").kind is OutcomeKind.COMMITTED
    nowhere(transcript, LITERAL, "vault", "password")
    assert transcript.search("7002").source == "t2"


@pytest.mark.parametrize("first", ["forgotten", "kept"])
@pytest.mark.parametrize(
    ("forgotten", "kept"),
    [
        ("The owner of ZANZIBAR-GREEN is bob.", "The owner of zanzibar-green is bob."),
        ("The OWNER of zanzibar is bob.", "The owner of zanzibar is bob."),
        ("A ZANZIBAR: owner = bob", "zanzibar: owner = bob"),
    ],
)
def test_era_1_no_spelling_of_its_own_is_left_where_another_turn_says_it_too(make, first, forgotten, kept):
    transcript = make()
    said = {"forgotten": turn(1, forgotten), "kept": turn(2, kept)}
    transcript.append(said.pop(first))
    transcript.append(*said.values())
    fill(transcript, 3, 6)
    transcript.compact()
    transcript.tombstone("bob", "t2", "no longer")

    assert transcript.forget("t1").kind is OutcomeKind.COMMITTED
    nowhere(transcript, *(word for word in forgotten.split() if word.isupper() and len(word) > 1))
    (entry,) = transcript.tombstones()
    assert (entry.subject or "").casefold().startswith("zanzibar")


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ("Look at /srv/a7 please.", "They looked at /srv/a7 early on."),
        ("Ticket J-88 came from bob.", "It began with J-88, one of many."),
        ('He said "all of it is lost" to us.', 'Much was said, "all of it is lost" among it.'),
        ("The port of db-1 is 7001.", "The port of db-1 is 7001."),
    ],
)
@pytest.mark.parametrize("later", [False, True], ids=["one summary", "and another"])
def test_anc_1_what_only_a_summary_says_of_an_evicted_turn_stays_where_another_turn_is_forgotten(
    make, script, said, told, later
):
    script.say(told, "They use hunter2-xyzzy.")
    transcript = make()
    transcript.append(turn(1, said))
    transcript.append(turn(2, SECRET))
    fill(transcript, 3, 6)
    transcript.compact()
    assert transcript.evict(token_of(transcript, "t1")).kind is OutcomeKind.COMMITTED
    if later:
        fill(transcript, 7, 10)
        transcript.compact()
    carried = {entry.literal for entry in transcript.manifest(transcript.live()[0].id)} - {LITERAL}
    assert carried

    assert transcript.forget("t2").kind is OutcomeKind.COMMITTED
    nowhere(transcript, LITERAL)
    assert carried <= {entry.literal for entry in transcript.manifest(transcript.live()[0].id)}
    for literal in carried:
        assert transcript.search(literal).kind is AnswerKind.FOUND
    # A summary that is written anew may not grow each time.
    text = transcript.live()[0].text
    assert transcript.forget("t3").kind is OutcomeKind.COMMITTED
    assert len(transcript.live()[0].text) <= len(text)


@only_postgresql
def test_era_1_nothing_but_the_stores_own_tables_is_rewritten(make, behind):
    """In a database that others use, too: their tables are neither locked nor rewritten, and wait for nobody."""
    behind.query("CREATE TABLE public.beside AS SELECT generate_series(1, 100) AS id")
    url, _, _ = str(behind.where).partition("?schema=")
    try:
        transcript = make()
        fill(transcript, 1, 6)
        transcript.append(turn(7, SECRET))
        transcript.compact()
        where = "SELECT pg_relation_filenode('public.beside'), pg_relation_filenode('turn')"
        ((theirs, ours),) = behind.query(where)
        with psycopg.connect(url) as reader:
            reader.execute("SELECT count(*) FROM public.beside")
            outcome = transcript.forget("t7")
        assert (outcome.kind, outcome.pending) == (OutcomeKind.COMMITTED, False)
        ((after, swept),) = behind.query(where)
        assert after == theirs
        assert swept != ours
    finally:
        behind.query("DROP TABLE public.beside")
