"""The adapter translates and never helps; what it cannot do it says as an `OperationError`."""

import dataclasses

import pytest
from transcripts import Script, port, turn

from anchorhold.adapters.reference import Reference
from anchorhold.adapters.reference_store import POWER
from anchorhold.compactor import Mechanism, OperationError, Reply, Settings, Shown, SummariserError, Unit
from anchorhold_spec.vocabulary import AnswerKind, OutcomeKind


class Model:
    """The suite's side of the summariser."""

    def __init__(self):
        self.shown = []
        self.fail = False

    def __call__(self, shown):
        assert isinstance(shown, Shown)
        if self.fail:
            raise SummariserError("rate limit")
        self.shown.append(shown)
        return Reply(text=f"Part {len(self.shown)}.\n{port(1)}")


@pytest.fixture
def model():
    return Model()


@pytest.fixture
def adapter(model):
    adapter = Reference()
    adapter.open(Settings(budget=120, watermark=0.5), model)
    yield adapter
    adapter.close()


def fill(adapter, first, last):
    for n in range(first, last + 1):
        adapter.append(turn(n))


def test_it_says_which_settings_it_took(model):
    adapter = Reference()
    asked = Settings(session="a", user="b", budget=900, unit=Unit.ITEMS, horizon=5.0, lifetime=6.0)
    taken = adapter.open(asked, model)
    adapter.close()

    assert taken == dataclasses.replace(asked, watermark=0.7, unit=Unit.TOKENS)


def test_it_takes_how_many_of_the_newest_turns_to_keep(model):
    adapter = Reference()
    taken = adapter.open(Settings(budget=20, watermark=0.5, keep=1), model)
    fill(adapter, 1, 2)
    outcome = adapter.compact()
    adapter.close()

    assert taken.keep == 1
    assert outcome.covered == ("t1",)


@pytest.mark.skipif(not POWER, reason="needs the extra `faults`")
def test_power_is_lost_only_where_that_was_foreseen_or_nothing_was(model):
    def opened(*foreseen: frozenset[str]) -> Reference:
        adapter = Reference()
        for operations in foreseen:
            adapter.foresee(operations)
        adapter.open(Settings(), model)
        return adapter

    for adapter in (opened(), opened(frozenset({"lose_power", "reopen"}))):
        adapter.lose_power()
        adapter.close()
    without = opened(frozenset({"crash"}))
    with pytest.raises(OperationError, match="foresaw"):
        without.lose_power()
    without.close()


def test_it_describes_what_the_reference_has():
    description = Reference().describe()

    assert description.mechanisms == {Mechanism.SUMMARISER, Mechanism.KEY_RECYCLING, Mechanism.CONCURRENCY}
    assert description.crash_points == ("stage", "copy", "point", "commit", "release", "acknowledge")
    assert description.hidden == {}


def test_every_open_starts_on_a_fresh_store(adapter, model):
    fill(adapter, 1, 12)
    adapter.compact()
    token = adapter.pointers()[0].token
    adapter.open(Settings(budget=120, watermark=0.5), model)

    assert adapter.live() == []
    assert adapter.get(token).kind is AnswerKind.FOREIGN


@pytest.mark.parametrize("point", Reference().describe().crash_points)
def test_cra_1_a_crash_is_indefinite_and_the_session_has_to_be_reopened(adapter, point):
    fill(adapter, 1, 12)
    adapter.crash(point)
    with pytest.raises(OperationError) as caught:
        adapter.compact()
    assert caught.value.definite is False
    with pytest.raises(OperationError):
        adapter.live()
    adapter.reopen()
    done = point in {"release", "acknowledge"}
    assert (adapter.live()[0].generation == 1) is done
    assert adapter.compact().kind is (OutcomeKind.NOTHING if done else OutcomeKind.COMMITTED)


def test_a_crash_point_that_does_not_exist_is_refused(adapter):
    with pytest.raises(OperationError, match="stage, copy"):
        adapter.crash("lunch")


def test_epo_3_damage_is_an_error_of_get_and_spares_the_others(adapter):
    fill(adapter, 1, 12)
    adapter.compact()
    first, second = adapter.pointers()[:2]
    assert adapter.corrupt(first.token) is True
    with pytest.raises(OperationError, match="EPO-3"):
        adapter.get(first.token)
    assert adapter.get(second.token).kind is AnswerKind.FOUND
    assert adapter.status().startswith("degraded: ")
    assert adapter.corrupt("nonsense") is False


def test_iso_1_switching_goes_over_and_comes_back(adapter):
    fill(adapter, 1, 12)
    adapter.compact()
    token = adapter.pointers()[0].token
    before = adapter.live()
    adapter.switch("other", "somebody")
    assert adapter.live() == []
    assert adapter.get(token).kind is AnswerKind.FOREIGN
    adapter.reopen()
    assert adapter.live() == []
    adapter.switch("s", "u")
    assert adapter.live() == before


@pytest.mark.parametrize("leave", [("other", "u"), ("s", "somebody-else")])
def test_iso_1_a_summary_lands_in_the_session_that_it_was_asked_of(model, leave):
    def leaving(shown):
        adapter.switch(*leave)
        adapter.append(turn(21))
        return model(shown)

    adapter = Reference()
    adapter.foresee(frozenset({"switch"}))
    adapter.open(Settings(budget=120, watermark=0.5), leaving)
    fill(adapter, 1, 20)
    before = len(adapter.live())
    outcome = adapter.compact()
    elsewhere = [item.turn for item in adapter.live()]
    adapter.switch("s", "u")
    here = adapter.live()
    adapter.close()

    assert outcome.kind is OutcomeKind.COMMITTED
    assert elsewhere == ["t21"]
    assert [item.id for item in here if item.id == outcome.summary] == [outcome.summary]
    assert len(here) < before


def test_out_2_a_failing_model_is_a_failed_outcome(adapter, model):
    fill(adapter, 1, 12)
    model.fail = True
    assert adapter.compact().kind is OutcomeKind.FAILED
    model.fail = False
    assert adapter.compact().kind is OutcomeKind.COMMITTED
    refused = [adapter.evict(pointer.token) for pointer in adapter.pointers()[:2]]
    assert [o.kind for o in refused] == [OutcomeKind.REFUSED] * 2
    assert ["horizon" in (o.reason or "") or "asked for" in (o.reason or "") for o in refused] == [True, False]
    assert refused[1].facts
    assert adapter.tombstone("7002", "t2", "moved").kind is OutcomeKind.COMMITTED
    assert [t.source for t in adapter.tombstones()] == ["t2"]
    assert [e.literal for e in adapter.manifest(adapter.live()[0].id)] == ["7001"]
    assert adapter.reconstitute("db-3", "port", True).value == "7003"
    assert adapter.search("7001").kind is AnswerKind.FOUND


def test_without_a_session_every_operation_says_so():
    adapter = Reference()
    for call in (adapter.live, adapter.compact, adapter.pointers, adapter.status, lambda: adapter.corrupt("x")):
        with pytest.raises(OperationError, match="no session is open"):
            call()
    adapter.close()


def test_the_scripts_of_the_tests_write_no_statement_by_themselves():
    assert port(1) not in Script()(Shown(messages=("x", port(1)))).text
