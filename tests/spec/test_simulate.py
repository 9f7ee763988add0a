"""The race in time: who loses what, that nothing is fitted, and that the figures are those of the model."""

import math
import random
import statistics
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anchorhold_spec.simulate import DESIGNS, SEEN_BY_S4, Cell, Parameters, Ratio, Study, ratio, simulate, study

BY_NAME = {design.name: design for design in DESIGNS}
FAST = Parameters(commits=300, evictions_per_minute=30)

parameters = st.builds(
    Parameters,
    evictions_per_minute=st.floats(1, 200),
    shortest_interval=st.floats(5, 20),
    longest_interval=st.floats(20, 60),
    summary_tokens=st.integers(0, 1000),
    held_while_summarised=st.booleans(),
    persist_median=st.floats(0.01, 20),
    read_delay=st.floats(0.1, 300),
    free_keys=st.integers(0, 5),
    background_spans=st.integers(0, 30),
    window=st.integers(1, 4),
    victims=st.sampled_from(["summarised", "oldest", "random"]),
    commits=st.integers(1, 25),
)


@settings(deadline=None, max_examples=60)
@given(parameters, st.sampled_from(DESIGNS), st.integers(0, 100))
def test_every_summary_is_answered_once_and_durable_before_release_loses_none(chosen, design, seed):
    outcome = simulate(design, chosen, seed=seed)

    assert outcome.committed == chosen.commits == outcome.found + outcome.empty + outcome.wrong
    assert outcome.pending <= outcome.found + outcome.empty + outcome.wrong
    if design.release == "when durable":
        assert outcome.unresolvable == 0
    if design.keys != "recycled":
        assert outcome.wrong == 0
    if design.name != "asynchronous":
        assert outcome.pending == 0


def test_recycled_keys_give_wrong_answers_where_epochs_and_monotonic_keys_give_empty_ones():
    outcomes = {name: simulate(design, FAST, seed=1) for name, design in BY_NAME.items()}

    assert outcomes["unordered"].wrong > 0
    assert outcomes["epochs"].empty == outcomes["monotonic"].empty == outcomes["unordered"].unresolvable > 0


def test_the_loss_is_what_the_rates_say():
    """The reaper's next attempt is exponential, so a source is lost with 1 − E[exp(−rate · time to persist)]."""
    chosen = replace(FAST, commits=3000, background_spans=1)
    lost = simulate(BY_NAME["monotonic"], chosen, seed=3).unresolvable / chosen.commits

    chance = random.Random(0)
    times = [chance.lognormvariate(math.log(chosen.persist_median), chosen.persist_sigma) for _ in range(20_000)]
    expected = 1 - statistics.fmean(math.exp(-chosen.evictions_per_minute / 60 * time) for time in times)
    assert lost == pytest.approx(expected, abs=4 * math.sqrt(expected / chosen.commits))


def test_the_loss_grows_with_the_rate_of_eviction_and_with_the_time_to_persist():
    def lost(**changes):
        return simulate(BY_NAME["unordered"], replace(FAST, **changes), seed=2).unresolvable

    assert lost(evictions_per_minute=2) < lost(evictions_per_minute=20) < lost(evictions_per_minute=200)
    assert lost(persist_median=0.01) < lost(persist_median=0.1) < lost(persist_median=1)


def test_length_matters_only_if_the_source_may_go_while_the_summary_is_written():
    def lost(tokens, held):
        chosen = replace(FAST, summary_tokens=tokens, held_while_summarised=held, evictions_per_minute=5)
        return simulate(BY_NAME["monotonic"], chosen, seed=4).unresolvable

    assert abs(lost(100, True) - lost(2000, True)) <= 5
    assert lost(2000, False) > 2 * lost(100, False)


def test_only_the_two_phase_commit_waits_for_the_copy_and_only_the_asynchronous_one_answers_pending():
    slow = replace(FAST, persist_median=30.0, read_delay=5.0, evictions_per_minute=2)
    outcomes = {name: simulate(design, slow, seed=5) for name, design in BY_NAME.items()}

    assert outcomes["two-phase"].mean_commit_delay > 30
    assert max(outcome.mean_commit_delay for name, outcome in outcomes.items() if name != "two-phase") < 1
    assert [name for name, outcome in outcomes.items() if outcome.pending] == ["asynchronous"]


def test_the_same_seed_gives_the_same_study_however_many_processes_work_on_it():
    small = replace(FAST, commits=20)
    alone, together = (
        study(small, seeds=(1, 2), rates=(5, 50), lengths=(100,), workers=workers) for workers in (1, 2)
    )

    assert alone == together
    assert alone != study(small, seeds=(3, 4), rates=(5, 50), lengths=(100,))


def test_intervals_are_students_and_none_seen_is_not_none_possible():
    found = ratio([1, 2, 3], [100, 100, 100])
    assert found.mean == pytest.approx(0.02)
    assert found.high - found.mean == pytest.approx(4.303 * 0.01 / math.sqrt(3))

    none = ratio([0, 0], [500, 500])
    assert (none.mean, none.low, none.count) == (0, 0, 0)
    assert none.high == pytest.approx(3 / 1000, rel=0.01)


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"persist_median": 0}, "persist_median must be more than 0"),
        ({"commits": 0}, "commits must be more than 0"),
        ({"shortest_interval": 100.0}, "longest interval .* shorter than the shortest"),
        ({"free_keys": -1}, "cannot be negative"),
    ],
)
def test_parameters_that_mean_nothing_are_refused(changes, said):
    with pytest.raises(ValueError, match=said):
        simulate(DESIGNS[0], replace(FAST, **changes), seed=1)
    with pytest.raises(ValueError, match="at least two seeds"):
        study(FAST, seeds=(1,))


# Beside what S4 saw


def found_at(mean: float, low: float, high: float, rate: float) -> Cell:
    nothing = Ratio(0.0, 0.0, 0.01, 0)
    chosen = replace(FAST, evictions_per_minute=rate)
    return Cell(
        design=BY_NAME["unordered"],
        parameters=chosen,
        committed=300,
        unresolvable=Ratio(mean, low, high, round(300 * mean)),
        wrong=nothing,
        empty=nothing,
        pending=nothing,
        commit_delay=0.0,
        hold=0.0,
    )


def rates_of(cells):
    return {cell.parameters.evictions_per_minute for cell in cells}


shares = st.lists(st.floats(0, 0.1), min_size=3, max_size=3).map(sorted)


@given(st.lists(shares, min_size=1, max_size=6), st.floats(0, 0.9))
def test_wider_intervals_put_nothing_more_in_the_range_that_s4_saw(given_, wider):
    """Less data must never agree more."""
    narrow, wide = (
        Study(
            base=FAST,
            seeds=(1, 2),
            cells=tuple(
                found_at(mean, max(0.0, low - more), high + more, rate)
                for rate, (low, mean, high) in enumerate(given_)
            ),
            lengths=(),
            policies=(),
        )
        for more in (0.0, wider)
    )
    low, high = SEEN_BY_S4

    assert all(low <= cell.unresolvable.mean <= high for cell in narrow.in_range())
    assert rates_of(wide.in_range()) == rates_of(narrow.in_range())
    assert rates_of(wide.not_excluded()) >= rates_of(narrow.not_excluded())
    assert not rates_of(wide.not_excluded()) & rates_of(wide.in_range())


def test_a_mean_in_the_range_an_interval_that_meets_it_and_one_that_does_not_are_told_apart():
    cells = (
        found_at(0.0044, 0.0, 0.02, 2),
        found_at(0.0222, 0.009, 0.03, 8),
        found_at(0.04, 0.03, 0.05, 20),
        found_at(0.0, 0.0, 0.001, 0.5),
        found_at(0.0, 0.0, 0.02, 1),
    )
    study_ = Study(base=FAST, seeds=(1, 2), cells=cells, lengths=(), policies=())

    assert rates_of(study_.in_range()) == {2}
    assert rates_of(study_.not_excluded()) == {8, 1}
