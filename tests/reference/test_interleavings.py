"""The reference under every order of its workers' calls to the stores, and wrong variants of it that are found so.

In each order: what has to be so after each step if everybody died there, recovered once and twice; what each reader
was told, against what was so at some time while it read; and the events of the specification's alphabet, read from
the ledger's tables, which every machine that has a projection has to allow.
"""

from collections.abc import Callable
from dataclasses import replace

import pytest
from interleavings import BY_NAME, WORKLOADS, BrokenError, Examiner, Tokens, broken_by, run_all

from anchorhold_reference import answers, audit, cold, compaction, eviction, following, steps, transcript
from anchorhold_reference.anchors import anchors_of
from anchorhold_reference.codec import decode
from anchorhold_reference.copier import Copier
from anchorhold_reference.decide import Holding, stays_anchored
from anchorhold_reference.faults.interleave import multinomial, switches, wander
from anchorhold_reference.originals import original
from anchorhold_reference.pointer import unseal
from anchorhold_spec.vocabulary import Answer, AnswerKind, Outcome, OutcomeKind

CHOSEN = [
    pytest.param(w, id=w.name, marks=[pytest.mark.slow] if w.slow else []) for w in WORKLOADS if not w.at_random
]


@pytest.mark.parametrize("workload", CHOSEN)
def test_every_rule_holds_in_every_order_and_every_machine_allows_it(workload):
    found, examiner = run_all(workload)

    assert found.classes > 1
    assert len(examiner.judged) > 0
    if not found.waited:
        # No order is missing: each belongs to exactly one of the classes that were run.
        assert found.padded == found.combinatorial
    if not found.waited and not found.steps_vary:
        turns = dict(zip(found.workers, found.longest, strict=True))
        assert found.schedules == multinomial(turns)


SMALL = ["reaper, reader", "reaper, auditor", "copier, reader"]
LARGER = ["compactor, appender", "compactor, reaper", "reaper, reader; outside"]


@pytest.mark.parametrize("name", [*SMALL, *(pytest.param(name, marks=pytest.mark.slow) for name in LARGER)])
def test_one_order_of_each_class_leaves_and_answers_all_that_any_order_does(name):
    whole, all_seen = run_all(BY_NAME[name], reduced=False)
    found, seen = run_all(BY_NAME[name])

    assert whole.runs == found.schedules == whole.schedules
    assert seen.ends == all_seen.ends


@pytest.mark.parametrize("name", ["reaper, reader", "copier, reader"])
def test_to_stop_at_every_statement_shows_no_more_than_to_stop_at_every_transaction(name):
    found, seen = run_all(BY_NAME[name], every_call=True)
    _, coarse = run_all(BY_NAME[name])

    assert found.waited or found.padded == found.combinatorial
    assert seen.ends == coarse.ends


@pytest.mark.parametrize("workload", [pytest.param(w, id=w.name) for w in WORKLOADS if w.slow])
def test_every_rule_holds_in_orders_drawn_at_random(workload):
    assert len(at_random(replace(workload), runs=4)) == 4


@pytest.mark.slow
@pytest.mark.parametrize("every_call", [False, True])
@pytest.mark.parametrize("workload", [pytest.param(w, id=w.name) for w in WORKLOADS if len(w.workers) > 2])
def test_every_rule_holds_in_many_orders_drawn_at_random(workload, every_call):
    # Where there are a few hundred orders only, some of 60 draws are the same.
    assert len(at_random(workload, runs=60, every_call=every_call)) > 40


def at_random(workload, *, runs, every_call=False):
    tokens = Tokens()
    scene = workload.scene(tokens, every_call=every_call)
    examiner = Examiner(workload, scene, tokens)
    with scene:
        return wander(examiner.begin, visit=examiner.visit, runs=runs, seed=7)


# -- wrong variants --


def checks_and_removes_in_two_transactions(monkeypatch):
    """A reaper that looks in one transaction and deletes in the next."""

    def evict(session, token, *, now, horizon, holding=Holding.GONE):
        del now, horizon
        address = unseal(token)
        assert address is not None
        with session.ledger.reading():
            issued = cold.look_up(session.ledger, session.id, address)
            if issued is None or issued.holding is not Holding.COMMITTED:
                return Outcome(kind=OutcomeKind.NOTHING)
            if not all(stays_anchored(anchors) for _, anchors in anchors_of(session, issued.span)):
                return Outcome(kind=OutcomeKind.REFUSED)
        with session.ledger.transaction():
            cold.remove(session.ledger, address.slot, address.epoch)
            session.ledger.run("UPDATE pointer SET holding = ? WHERE epoch = ?", (holding.value, address.epoch))
        return Outcome(kind=OutcomeKind.COMMITTED)

    monkeypatch.setattr(eviction, "evict", evict)


def commits_before_it_points(monkeypatch):
    """A compaction that makes the summary live first, and copies and points afterwards."""

    class Hasty(steps.Steps):
        def copy(self, staged):
            """Put off."""

        def point(self, staged, *, landed):
            """Put off."""

        def commit(self, staged, **embedded):
            super().commit(staged, **embedded)
            super().copy(staged)
            super().point(staged, landed=True)
            with self.ledger.transaction():
                self.ledger.run("UPDATE pointer SET holding = 'committed' WHERE holding = 'staged'")

        def _still_staged(self, summary):
            """Not asked."""

    monkeypatch.setattr(steps, "provenance_holds", lambda _source: True)
    monkeypatch.setattr(steps, "may_reclaim", lambda *_args, **_options: True)
    monkeypatch.setattr(compaction, "Steps", Hasty)


def does_not_look_again_before_the_copy_counts(monkeypatch):
    """A copier that takes what was outstanding when it began to be outstanding still."""
    first = Copier._outstanding
    known = {}

    def outstanding(self, epoch):
        return known.setdefault((id(self), epoch), first(self, epoch))

    monkeypatch.setattr(Copier, "_outstanding", outstanding)


def reads_the_slot_without_the_epoch(monkeypatch):
    """A reader that looks the pointer up, and then reads whatever lies in its slot."""

    def resolve(session, address):
        issued = cold.look_up(session.ledger, session.id, address)
        if issued is None or issued.holding is not Holding.COMMITTED:
            return Answer(kind=AnswerKind.INSUFFICIENT)
        row = session.ledger.first("SELECT payload FROM cold WHERE slot = ?", (address.slot,))
        if row is None:
            return Answer(kind=AnswerKind.INSUFFICIENT)
        return original(decode(row[0]), carrier=address.key)

    monkeypatch.setattr(answers, "resolve", resolve)
    monkeypatch.setattr(transcript, "FOLLOWING", Nowhere())


class Nowhere:
    """Lets no pointer be followed by the one row beside it."""

    def asked(self, _token, _branch):
        return None


def follows_to_whatever_lies_in_the_slot(monkeypatch):
    """A reader whose one statement asks for the slot without the address, and that does not hash what it gets."""

    class Believing:
        def asked(self, token, branch):
            return following.PYTHON.asked(token, branch)

        def opened(self, payload, _address):
            return original(decode(payload), carrier="slot")

    without = following.WHOLE.replace("o.address = ?", "? IS NOT NULL")
    assert without != following.WHOLE
    monkeypatch.setattr(transcript, "WHOLE", without)
    monkeypatch.setattr(transcript, "FOLLOWING", Believing())


def takes_what_left_meanwhile_for_lost(monkeypatch):
    """A reader that does not ask again where an original outside has gone between its two looks."""
    monkeypatch.setattr(answers, "steadily", lambda _session, ask: ask())


def blames_the_store_for_what_left_meanwhile(monkeypatch):
    """An audit that fails where the span that it chose was let go before it was fetched."""
    monkeypatch.setattr(audit, "_stored", lambda _session, _span: True)


WRONG: list[tuple[Callable[[pytest.MonkeyPatch], None], str, str, int]] = [
    (checks_and_removes_in_two_transactions, "compactor, reaper", "ANC-1", 2),
    (commits_before_it_points, "compactor, appender", "PTR-1", 0),
    (does_not_look_again_before_the_copy_counts, "copier, forgetter; outside", "ERA-1", 2),
    (reads_the_slot_without_the_epoch, "reaper, compactor, reader", "at no time was it so", 3),
    (follows_to_whatever_lies_in_the_slot, "reaper, compactor, reader", "forbidden by guard 'what lies there'", 2),
    (takes_what_left_meanwhile_for_lost, "reaper, reader; outside", "StoreError", 2),
    (blames_the_store_for_what_left_meanwhile, "reaper, auditor", "RET-1", 2),
]


def _found(*wrong):
    marks = [pytest.mark.slow] if BY_NAME[wrong[1]].slow else []
    return pytest.param(*wrong, id=wrong[0].__name__, marks=marks)


@pytest.mark.parametrize(("make_wrong", "name", "says", "fewest"), [_found(*wrong) for wrong in WRONG])
def test_a_wrong_variant_is_found_with_its_shortest_order(make_wrong, name, says, fewest, monkeypatch, capsys):
    make_wrong(monkeypatch)
    error = broken_by(BY_NAME[name])

    assert isinstance(error, BrokenError)
    assert says in str(error)
    assert switches(error.schedule) == fewest
    with capsys.disabled():
        print(f"\n{make_wrong.__name__}: {error}")  # noqa: T201 - the counterexample is to be read
