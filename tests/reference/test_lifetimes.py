"""RET-4, EVI-3, ANC-2: lifetimes propose, clocks shorten nothing, the horizon is kept."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from transcripts import fill, port, token_of

from anchorhold_reference import Settings
from anchorhold_reference.ages import advance, uptime
from anchorhold_reference.policies import least_recently_used, lifetime, size_cap
from anchorhold_spec.vocabulary import AnswerKind, OutcomeKind


class Time:
    """A clock on the wall and a machine's uptime, both ours."""

    def __init__(self):
        self.wall, self.boot, self.up = 1e9, "first", 1000.0

    def clock(self):
        return self.wall

    def uptime(self):
        return self.boot, self.up

    def passes(self, seconds):
        self.wall += seconds
        self.up += seconds


@pytest.fixture
def now():
    return Time()


@pytest.fixture
def aged(make, script, now):
    """Everything that it says is carried by the summary, so that the gate has nothing against removing it."""

    def open_(**settings):
        script.say(*(port(n) for n in range(1, 5)))
        transcript = make(settings=Settings(keep=2, **settings), clock=now.clock, uptime=now.uptime)
        fill(transcript, 1, 6)
        assert transcript.compact().kind is OutcomeKind.COMMITTED
        return transcript

    return open_


def test_evi_3_nothing_is_removed_before_the_horizon_whatever_the_lifetime(aged, now):
    transcript = aged(lifetime=10, horizon=100)
    now.passes(99)
    assert [o.kind for o in transcript.expire()] == [OutcomeKind.REFUSED] * 4
    assert len(transcript.pointers()) == 4
    now.passes(1)
    token = token_of(transcript, "t1")
    assert [o.kind for o in transcript.expire()] == [OutcomeKind.COMMITTED] * 4
    assert transcript.get(token).kind is AnswerKind.EXPIRED
    assert not transcript.status().lossless


def test_evi_3_a_horizon_at_the_session_s_end_is_never_reached(aged, now):
    transcript = aged(lifetime=10)
    now.passes(10**9)
    assert [o.kind for o in transcript.expire()] == [OutcomeKind.REFUSED] * 4
    assert transcript.status().lossless


def test_anc_2_a_lifetime_that_is_over_is_a_proposal_to_the_gate(aged, script, now):
    transcript = aged(lifetime=10, horizon=10)
    transcript.rewind("t6")
    script.say("Nothing of note.")
    transcript.compact()
    now.passes(20)
    refused = transcript.expire()
    assert [o.kind for o in refused] == [OutcomeKind.REFUSED] * 4
    assert [o.facts for o in refused] == [(port(n),) for n in range(1, 5)]


def test_ret_4_compactions_let_the_lifetime_propose_by_themselves(aged, now):
    transcript = aged(lifetime=10, horizon=10)
    now.passes(20)
    fill(transcript, 7, 9)
    transcript.compact()
    assert transcript.status().evicted == 4
    assert transcript.reconstitute("db-1", "port").value == "7001"


@pytest.mark.parametrize("shift", [3600, 86400 * 365, -3600, -(10**9), 1e15])
def test_ret_4_a_jump_of_the_wall_clock_ends_no_life(aged, now, shift):
    transcript = aged(lifetime=60, horizon=60)
    now.wall += shift
    assert transcript.expire() == []
    now.passes(59)
    assert transcript.expire() == []
    transcript.reopen()
    assert transcript.expire() == []
    now.passes(2)
    assert [o.kind for o in transcript.expire()] == [OutcomeKind.COMMITTED] * 4


def test_ret_4_nor_does_another_start_of_the_machine(aged, now):
    transcript = aged(lifetime=60, horizon=60)
    now.passes(50)
    assert transcript.expire() == []
    now.boot, now.up = "second", 10**6
    transcript.reopen()
    assert transcript.expire() == []
    now.passes(9)
    assert transcript.expire() == []
    now.passes(2)
    assert len(transcript.expire()) == 4


def test_ret_4_reading_does_not_shorten_a_life_and_the_least_used_goes_first(aged, now):
    transcript = aged(horizon=0)
    now.passes(5)
    tokens = {p.covers[0]: p.token for p in transcript.pointers()}
    for turn in ("t1", "t2", "t4"):
        transcript.get(tokens[turn])
        now.passes(1)
    sizes = []

    def spy(stored, age):
        sizes.extend(one.size for one in stored)
        return least_recently_used(sum(sizes) - 1)(stored, age)

    assert [o.kind for o in transcript.sweep(spy)] == [OutcomeKind.COMMITTED]
    assert transcript.get(tokens["t3"]).kind is AnswerKind.EXPIRED
    assert transcript.sweep(lifetime(60)) == []


@given(st.lists(st.tuples(st.sampled_from("ab"), st.floats(0, 1e6)), max_size=20))
def test_ret_4_the_store_s_age_never_exceeds_the_time_that_passed(looks):
    """Two machines take turns; each looks at its own uptime."""
    state = ["", 0.0, 0.0]

    class Ledger:
        def one(self, _query):
            return tuple(state)

        def run(self, _statement, values):
            state[:] = values

    up = {"a": 5.0, "b": 7000.0}
    passed = 0.0
    for machine, seconds in looks:
        passed += seconds
        up = {name: value + seconds for name, value in up.items()}
        assert advance(Ledger(), (machine, up[machine])) <= passed + 1e-6


def test_ret_4_the_machine_s_own_uptime_grows():
    first, second = uptime(), uptime()
    assert first[0] == second[0]
    assert second[1] >= first[1]


@pytest.mark.parametrize("policy", [lifetime, size_cap, least_recently_used])
def test_a_policy_that_cannot_be_meant_is_refused_at_once(policy):
    with pytest.raises(ValueError, match="cannot be meant"):
        policy(-1)
