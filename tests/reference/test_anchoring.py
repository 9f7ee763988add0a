import threading

import pytest
from transcripts import fill, port, token_of, turn

from anchorhold_reference import Settings
from anchorhold_reference.policies import lifetime, size_cap
from anchorhold_spec.vocabulary import AnswerKind, OutcomeKind


def test_anc_1_the_last_anchor_of_an_assertion_does_not_leave(make):
    transcript = make()
    fill(transcript, 1, 5)
    transcript.compact()
    outcome = transcript.evict(token_of(transcript, "t1"))

    assert outcome.kind is OutcomeKind.REFUSED
    assert outcome.facts == (port(1),)
    assert transcript.reconstitute("db-1", "port", evidence=True).value == "7001"


def test_anc_1_an_original_whose_assertions_the_summary_carries_may_leave(make, script):
    script.say(port(1))
    transcript = make()
    fill(transcript, 1, 5)
    transcript.compact()
    assert transcript.evict(token_of(transcript, "t1")).kind is OutcomeKind.COMMITTED

    answer = transcript.reconstitute("db-1", "port")
    assert (answer.kind, answer.value, answer.evidence) == (AnswerKind.FOUND, "7001", False)
    assert transcript.reconstitute("db-1", "port", evidence=True).kind is AnswerKind.INSUFFICIENT
    assert "t1" not in {p.covers[0] for p in transcript.pointers()}


@pytest.mark.parametrize(
    "line",
    [
        "The port of db-1 is 7002.",
        "The port of db-1 is not 7001.",
        "The port of db-1 is maybe 7001.",
        "The port of db-11 is 7001.",
        "The port of db-1 is 70010.",
        "Is the port of db-1 is 7001?",
        "The port of db-1 was 7001.",
        "7001",
        "assistant: The port of db-1 is 7001.",
    ],
)
def test_anc_1_something_like_it_in_the_summary_is_no_anchor(make, script, line):
    script.say(line)
    transcript = make()
    fill(transcript, 1, 5)
    transcript.compact()

    assert transcript.evict(token_of(transcript, "t1")).kind is OutcomeKind.REFUSED


def test_anc_1_the_same_fact_said_by_another_turn_does_not_anchor_this_assertion(make):
    transcript = make()
    transcript.append(turn(1, port(9)))
    transcript.append(turn(2, port(9)))
    fill(transcript, 3, 5)
    transcript.compact()
    both = [transcript.evict(token_of(transcript, t)).kind for t in ("t1", "t2")]

    assert both == [OutcomeKind.REFUSED, OutcomeKind.REFUSED]


@pytest.mark.parametrize("policy", [lifetime(0), size_cap(0)])
def test_anc_2_a_policy_only_proposes_and_the_refusal_names_the_facts(make, script, policy):
    age = [1000.0]
    transcript = make(uptime=lambda: ("boot", age[0]), settings=Settings(keep=2, horizon=5))
    script.say(port(2))
    fill(transcript, 1, 5)
    transcript.compact()
    age[0] += 10
    outcomes = transcript.sweep(policy)

    assert [o.kind for o in outcomes] == [OutcomeKind.REFUSED, OutcomeKind.COMMITTED, OutcomeKind.REFUSED]
    assert [o.facts for o in outcomes] == [(port(1),), (), (port(3),)]


def test_anc_2_a_policy_proposes_no_more_than_it_wants_gone(make, script):
    transcript = make(settings=Settings(keep=2, horizon=0))
    fill(transcript, 1, 5)
    transcript.compact()

    assert transcript.sweep(lifetime(60)) == []
    assert transcript.sweep(size_cap(10**6)) == []


def test_anc_3_of_an_eviction_and_the_compaction_that_takes_its_anchor_only_one_happens(make, script):
    """The summary that carries t1's fact is being replaced by one that does not: it is nothing to count on."""
    outcomes = []

    def steps(name):
        if name == "copy" and len(script.shown) == 2:
            outcomes.append(transcript.evict(token))

    transcript = make(steps=steps)
    script.say(port(1))
    fill(transcript, 1, 5)
    transcript.compact()
    token = token_of(transcript, "t1")
    fill(transcript, 6, 9)
    script.say("Nothing to repeat.")
    assert transcript.compact().kind is OutcomeKind.COMMITTED

    assert [o.kind for o in outcomes] == [OutcomeKind.REFUSED]
    assert transcript.reconstitute("db-1", "port", evidence=True).value == "7001"


def test_anc_3_an_eviction_while_the_summary_is_written_passes_its_fact_on(make, script):
    transcript = make()
    script.say(port(1))
    fill(transcript, 1, 5)
    transcript.compact()
    token = token_of(transcript, "t1")
    fill(transcript, 6, 9)

    def write(request):
        assert transcript.evict(token).kind is OutcomeKind.COMMITTED
        return "Nothing to repeat."

    script.write = write
    assert transcript.compact().kind is OutcomeKind.COMMITTED
    assert transcript.reconstitute("db-1", "port").value == "7001"


def test_anc_3_many_threads_evicting_the_same_original_remove_it_once(make, script):
    script.say(port(1))
    transcript = make()
    fill(transcript, 1, 5)
    transcript.compact()
    token = token_of(transcript, "t1")
    others = [make() for _ in range(3)]
    kinds = []
    threads = [threading.Thread(target=lambda t=t: kinds.append(t.evict(token).kind)) for t in others]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert sorted(kinds) == [OutcomeKind.COMMITTED, OutcomeKind.NOTHING, OutcomeKind.NOTHING]


def test_anc_4_what_only_a_summary_anchors_is_repeated_through_generations(make, script):
    transcript = make()
    script.say(port(1))
    fill(transcript, 1, 5)
    transcript.compact()
    assert transcript.evict(token_of(transcript, "t1")).kind is OutcomeKind.COMMITTED
    script.write = script.nothing
    for generation in range(2, 6):
        fill(transcript, generation * 5 + 1, generation * 5 + 5)
        assert transcript.compact().kind is OutcomeKind.COMMITTED
        summary = transcript.live()[0]
        assert summary.generation == generation
        assert port(1) in summary.text
        assert [e.source for e in transcript.manifest(summary.id)] == ["t1"]
        assert transcript.reconstitute("db-1", "port").value == "7001"


def test_anc_4_with_the_speaker_that_it_was_attributed_to(make, script):
    transcript = make()
    script.say("The user said that the port of db-1 is 7001.")
    fill(transcript, 1, 5)
    transcript.compact()
    assert transcript.evict(token_of(transcript, "t1")).kind is OutcomeKind.COMMITTED
    script.write = script.nothing
    fill(transcript, 6, 9)
    assert transcript.compact().kind is OutcomeKind.COMMITTED

    assert "user: the port of db-1 is 7001." in transcript.live()[0].text
    assert transcript.reconstitute("db-1", "port").source == "t1"


def test_anc_4_a_replaced_summary_no_longer_anchors(make, script):
    transcript = make()
    script.say(port(1))
    fill(transcript, 1, 5)
    transcript.compact()
    script.write = script.nothing
    fill(transcript, 6, 9)
    transcript.compact()

    assert transcript.evict(token_of(transcript, "t1")).kind is OutcomeKind.REFUSED


def test_anc_5_a_refused_eviction_leaves_no_trace(make, behind):
    transcript = make()
    fill(transcript, 1, 5)
    transcript.compact()
    before = behind.state()
    transcript.evict(token_of(transcript, "t1"))

    assert behind.state() == before


@pytest.mark.parametrize("step", ["stage", "copy", "point", "commit"])
def test_anc_5_a_store_that_fails_at_any_step_leaves_no_carrier_and_no_pointer(make, behind, step):
    failing = True

    def steps(name):
        if failing and name == step:
            raise OSError("disk full")

    transcript = make(steps=steps)
    fill(transcript, 1, 6)
    before = behind.state()
    outcome = transcript.compact()
    after = behind.state()

    assert outcome.kind is OutcomeKind.FAILED
    assert "disk full" in outcome.reason
    for table in ("carrier", "summary", "carries", "cold", "pointer", "tombstone"):
        assert after[table] == before[table], table
    failing = False
    assert transcript.compact().kind is OutcomeKind.COMMITTED


@pytest.mark.parametrize(("said", "named"), [("We ship J-77 now.", "J-7"), ("We ship 7 apples now.", "J-7x7")])
def test_man_6_a_neighbour_of_what_a_turn_asserts_names_no_assertion(make, said, named):
    transcript = make()
    transcript.append(turn(1, said))

    assert transcript.tombstone(named, "t1", "not needed").kind is OutcomeKind.REFUSED
    assert transcript.tombstones() == []


def test_anc_2_a_policy_is_asked_while_other_threads_follow_pointers(make):
    transcript = make()
    fill(transcript, 1, 6)
    transcript.compact()
    token = token_of(transcript, "t1")
    used = transcript._used

    class Followed(dict):
        """As if another thread had followed a pointer while this one is read."""

        def items(self):
            for item in super().items():
                yield item
                self[len(self)] = (item[1][0], 0.0)

    transcript._used = Followed(used)
    transcript.get(token)
    assert transcript.sweep(lambda stored, now: []) == []
