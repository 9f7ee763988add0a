"""A text of the caller's may be as long as anybody likes, wherever one can stand: an id, a name, an argument, what is
asked for. Both databases take it, and none of it stops the session (PRO-1, PRO-2)."""

import json
import random
import string
from itertools import count

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from ledgers import Behind, only_postgresql

from anchorhold_reference import Settings, Transcript, cold
from anchorhold_reference.errors import AnchorholdError, ForeignStoreError, LedgerError
from anchorhold_spec.vocabulary import AnswerKind, OutcomeKind, ToolCall, Turn

LENGTHS = (1, 2_600, 2_720, 8_300, 70_000)
"""Around what a row of an index of PostgreSQL holds, and what a page of it does, in characters that cannot be
compressed."""
ALPHABETS = {"ascii": string.ascii_letters + string.digits, "han": "".join(map(chr, range(0x4E00, 0x9000)))}
BOUNDED = {
    ("counter", "name"),  # our own
    ("carries", "speaker"),  # of `extract.text.SPEAKERS`
    ("override", "cause"),  # of `status.causes`
    ("pointer", "holding"),  # of `decide.Holding`
    ("fact", "subject_name"),  # no longer than `extract.slots` reads it
    ("fact", "attribute_name"),
}
"""Columns of texts whose length is known."""


def incompressible(seed: int, length: int, alphabet: str) -> str:
    return "".join(random.Random(seed).choices(ALPHABETS[alphabet], k=length))


class Session:
    """A session that something long comes into, place by place."""

    def __init__(self, transcript: Transcript) -> None:
        self.transcript = transcript
        self.number = count()
        self.said: dict[str, str] = {}

    def say(self, text: str, *, called: str = "t", speaker: str = "assistant", **more: object) -> str:
        name = f"{called}-{next(self.number)}"
        self.transcript.append(Turn(id=name, speaker=speaker, text=text, **more))
        self.said[name] = text
        return name

    def turn_id(self, long: str) -> None:
        name = self.say("Hello.", called=long)
        self.transcript.append(Turn(id=name, speaker="assistant", text="Hello."))

    def speaker(self, long: str) -> None:
        self.say("Hello.", speaker=long)

    def path(self, long: str) -> None:
        self.say(f"It is in /srv/{long}/x.py now.")

    def identifier(self, long: str) -> None:
        self.say(f"It is J-{long}-7 that failed, with {long}_x.")

    def quotation(self, long: str) -> None:
        self.say(f'They said "so {long} it is" twice.')

    def words(self, long: str) -> None:
        self.say(" ".join(f"{long[at : at + 9]}." for at in range(0, len(long), 9)))

    def value(self, long: str) -> None:
        self.say(f"The deploy target of job J-88 is {long}.")
        assert self.transcript.reconstitute("job J-88", "deploy target").value == long

    def slot(self, long: str) -> None:
        self.say(f"The {long} of J-1 is 7. The port of {long} is 8. {long}: port = 9")

    def call(self, long: str, *, called: str = "c", name: str = "write", arguments: str = "{}") -> None:
        call = ToolCall(id=f"{called}-{next(self.number)}", name=name, arguments=arguments)
        self.say("Writing.", calls=(call,))
        self.say("Done.", speaker="tool", result_of=call.id)

    def call_id(self, long: str) -> None:
        self.call(long, called=long)

    def call_name(self, long: str) -> None:
        self.call(long, name=long)

    def argument(self, long: str) -> None:
        self.call(long, arguments=json.dumps({"path": "a.py", "content": long}))

    def argument_name(self, long: str) -> None:
        self.call(long, arguments=json.dumps({long: {long: 7}}))

    def arguments(self, long: str) -> None:
        self.call(long, arguments=long)

    def tombstone(self, long: str) -> None:
        name = self.say(f"The owner of J-2 is {long}.", called=long)
        done = self.transcript.tombstone(long, name, f"because of {long}", decided_by=f"by {long}")
        assert done.kind is OutcomeKind.COMMITTED
        assert self.transcript.tombstones()[-1].decided_by == f"by {long}"
        assert self.transcript.tombstone(long, f"{name}-x", "it is not there").kind is OutcomeKind.REFUSED

    def asked(self, long: str) -> None:
        none = {AnswerKind.ABSENT, AnswerKind.UNANCHORED}
        assert self.transcript.search(f"q{long}q").kind in none
        assert self.transcript.reconstitute(f"q{long}q", "port").kind in none
        assert self.transcript.reconstitute("J-88", f"q{long}q").kind in none
        assert self.transcript.get(f"q{long}q").kind is AnswerKind.FOREIGN
        # Where a script puts nothing between words each character is one, and others may have said it.
        for answer in self.transcript.retrieve(f"q{long}q"):
            assert set(long) & set(answer.text or "")

    def fork(self, long: str) -> None:
        name = f"{long}-{next(self.number)}"
        with self.transcript.fork(name) as branch:
            branch.append(Turn(id=f"{name}-t", speaker="user", text="Hello."))
            assert branch.live()[-1].turn == f"{name}-t"

    def beginning_again(self, long: str) -> None:
        self.transcript.reopen()

    def compact(self, long: str) -> None:
        outcome = self.transcript.compact()
        assert outcome.kind in {OutcomeKind.COMMITTED, OutcomeKind.NOTHING}, outcome

    def clear(self, long: str) -> None:
        self.transcript.clear()

    def rewind(self, long: str) -> None:
        name = self.say("Stay.", called=long)
        gone = self.say("Go.", called=long)
        self.transcript.rewind(name)
        del self.said[gone]

    def forget(self, long: str) -> None:
        name = self.say(f"The owner of J-3 is {long}.", called=long)
        self.transcript.forget(name)
        del self.said[name]


PLACES = [name for name in vars(Session) if not name.startswith("_") and name not in {"say", "call"}]
STEP = st.tuples(
    st.sampled_from(PLACES), st.integers(0, 3), st.sampled_from(LENGTHS), st.sampled_from(sorted(ALPHABETS))
)
NAMED = st.tuples(*[st.sampled_from(LENGTHS)] * 3)
SESSIONS = count()


def state(transcript: Transcript) -> object:
    return transcript.live(), transcript.pointers(), transcript.tombstones()


def refusal(session: Session, place: str, long: str) -> str | None:
    try:
        getattr(session, place)(long)
    except LedgerError:
        raise  # the database's own words are no refusal
    except AnchorholdError as error:
        return str(error)
    return None


def goes_on(make, steps, named=(1, 1, 1)):
    """Each step works, or is refused in one line and changes nothing; and all that was said is there in the end."""
    user, name, branch = (incompressible(n, long, "ascii") for n, long in enumerate(named))
    with make(user=user, session=f"{name}-{next(SESSIONS)}", branch=branch, settings=Settings(keep=1)) as transcript:
        session = Session(transcript)
        for place, seed, length, alphabet in steps:
            before = state(transcript)
            refused = refusal(session, place, incompressible(seed, length, alphabet))
            if refused is not None:
                assert "\n" not in refused
                assert state(transcript) == before
        for _ in range(2):
            session.say("Going on.")
        session.compact("")
        session.say("Going on.")
        live = {item.turn: item.text for item in transcript.live()}
        for turn, text in session.said.items():
            # Of what a clear archived `pointer` tells nothing: no summary stands for it.
            issued = cold.pointer_to(transcript._ledger, transcript._session.span_of(turn))
            answer = live.get(turn) if issued is None else transcript.get(issued.token).text
            assert answer is not None
            assert answer.startswith(text)
        assert transcript.status().turns >= len(session.said)


@pytest.mark.parametrize("alphabet", ALPHABETS)
@pytest.mark.parametrize("place", PLACES)
def test_pro_2_a_text_of_any_length_is_taken_wherever_one_can_stand(make, place, alphabet):
    goes_on(make, [(place, seed, length, alphabet) for seed, length in enumerate(LENGTHS)])


@pytest.mark.parametrize("long", LENGTHS)
def test_pro_2_users_sessions_and_branches_have_names_of_any_length(make, long):
    goes_on(
        make,
        [("turn_id", 0, 1, "ascii"), ("fork", 0, long, "ascii"), ("beginning_again", 0, 1, "ascii")],
        (long,) * 3,
    )


@settings(max_examples=12, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.lists(STEP, max_size=8), NAMED)
@example(
    [*(("path", seed, 1, "han") for seed in range(4)), ("compact", 0, 1, "han"), ("asked", 0, 1, "han")], (1, 1, 1)
)
def test_pro_2_whatever_is_long_and_in_whatever_order_the_session_goes_on(make, steps, named):
    goes_on(make, steps, named)


@only_postgresql
def test_pro_2_no_index_holds_a_text_whose_length_nobody_knows(make, behind: Behind):
    make()
    indexed = behind.query(
        "SELECT t.relname, a.attname FROM pg_index i JOIN pg_class t ON t.oid = i.indrelid "
        "JOIN pg_namespace n ON n.oid = t.relnamespace AND n.nspname = current_schema() "
        "JOIN pg_attribute a ON a.attrelid = t.oid AND a.attnum = ANY (i.indkey) AND a.atttypid = 'text'::regtype"
    )

    assert set(indexed) <= BOUNDED


@only_postgresql
@pytest.mark.parametrize(
    ("table", "asked"),
    [
        ("turn", "session = ? AND id == ?"),
        ("tool_call", "session = ? AND id == ?"),
        ("fact", "session = ? AND literal == ?"),
        ("tombstone", "session = ? AND literal == ?"),
        ("session", "id <> ? AND \"user\" == ? AND name == 'a' AND branch == 'b'"),
    ],
)
def test_rec_1_a_text_is_looked_up_by_its_digest(make, behind: Behind, table, asked):
    transcript = make()
    ledger = transcript._ledger
    with ledger.transaction():
        ledger.run("SET LOCAL enable_seqscan = off")
        plan = "\n".join(row for (row,) in ledger.all(f"EXPLAIN SELECT 1 FROM {table} WHERE {asked}", (1, "x")))

    assert "Index Cond" in plan
    assert "sha256" in plan.partition("Index Cond")[2].partition("\n")[0]


@only_postgresql
@pytest.mark.parametrize("text", ["", "a", "\\", "\\\\x41", "'", "é漢", "\\'é\\", "\n\t\\n"])
def test_rec_1_a_digest_is_that_of_the_text_whatever_stands_in_it(make, behind: Behind, text):
    ledger = make()._ledger

    assert ledger.one("SELECT digest(?) = sha256(convert_to(?, 'UTF8')), ? == ?", (text, text, text, text)) == (
        True,
        True,
    )
    assert ledger.one("SELECT ? == ?", (text, f"{text}x")) == (False,)


@only_postgresql
def test_pro_2_a_schema_of_an_older_layout_is_refused_and_not_touched(make, behind: Behind):
    """Such as one whose indexes hold whole texts."""
    make().close()
    behind.query("UPDATE anchorhold SET layout = layout - 1")
    before = behind.state(), behind.query("SELECT * FROM counter ORDER BY name")
    with pytest.raises(ForeignStoreError, match="written in layout"):
        make()

    assert (behind.state(), behind.query("SELECT * FROM counter ORDER BY name")) == before
