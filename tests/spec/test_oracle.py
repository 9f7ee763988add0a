"""The oracle: machines accept what can happen, and say of everything else which guard forbids it and what breaks."""

import pytest

from anchorhold_spec.language import UnknownChoice
from anchorhold_spec.machines import load
from anchorhold_spec.machines.alphabet import Occurrence
from anchorhold_spec.machines.projections import PROJECTIONS, Take, Who
from anchorhold_spec.run import Interpreter, instances
from anchorhold_spec.run.oracle import TooManyPossibilities, at_stake, judge, judge_all


def on(machine: str, *occurrences: Occurrence):
    return judge(load(machine), PROJECTIONS[machine](), occurrences)


def append(span: str, *asserts: str) -> Occurrence:
    return Occurrence(event="append", span=span, asserts=asserts, kind="structured" if asserts else None)


def copy(span: str, key: str, epoch: int | None = None, asserts: tuple[str, ...] = ()) -> Occurrence:
    return Occurrence(event="copy", span=span, key=key, epoch=epoch, asserts=asserts)


def point(span: str, key: str, summary: str = "S") -> Occurrence:
    return Occurrence(event="point", summary=summary, span=span, key=key)


def stage(summary: str, *spans: str, **more) -> Occurrence:
    return Occurrence(event="stage", summary=summary, spans=spans, **more)


def commit(summary: str, *spans: str, **more) -> Occurrence:
    return Occurrence(event="commit", summary=summary, spans=spans, **more)


def resolve(span: str, found: str | None, summary: str = "S") -> Occurrence:
    return Occurrence(event="resolve", summary=summary, span=span, found=found)


CAREFUL = (
    append("t1", "a1"),
    append("t2", "a2"),
    stage("S", "t1", "t2", asserts=("a1",)),
    copy("t1", "k1", asserts=("a1",)),
    copy("t2", "k2", asserts=("a2",)),
    point("t1", "k1"),
    point("t2", "k2"),
    commit("S", "t1", "t2"),
    resolve("t1", "t1"),
    resolve("t2", "t2"),
    append("t3", "a3"),
    stage("T", "t3", summaries=("S",), asserts=("a1",)),
    copy("t3", "k3", asserts=("a3",)),
    point("t3", "k3", "T"),
    commit("T", "t3", summaries=("S",)),
    *(resolve(span, span, "T") for span in ("t1", "t2", "t3")),
)
"""Two generations, each original copied and pointed at before the commit."""


def without(*left_out: Occurrence) -> list[Occurrence]:
    assert all(each in CAREFUL for each in left_out)
    return [each for each in CAREFUL if each not in left_out]


def test_every_machine_accepts_two_generations_in_the_right_order():
    rulings = judge_all(CAREFUL)

    assert [str(refusal) for ruling in rulings for refusal in ruling.refusals] == []
    assert {ruling.machine for ruling in rulings} == set(PROJECTIONS)
    assert all(ruling.accepted >= 6 for ruling in rulings)


def test_ptr_1_a_commit_without_a_pointer_is_refused_by_its_guard():
    (refusal,) = on("pointer-before-commit", *without(point("t2", "k2"), resolve("t2", "t2"))[:8]).refusals

    assert (refusal.action, refusal.guards) == ("commit", ("pointer durable",))
    assert "resolvable at commit" in refusal.broken
    assert "PTR-1" in refusal.rules
    assert str(refusal) == (
        "pointer-before-commit: commit(summary=S, spans=t1, t2): "
        "action commit is forbidden by guard 'pointer durable'; "
        "that breaks 'resolvable to the horizon', 'resolvable at commit' (PTR-2, PTR-1)"
    )


def test_ptr_1_what_is_declared_pending_may_get_its_pointer_later():
    declared = [
        append("t1"), stage("S", "t1"), commit("S", "t1", pending=("t1",)), copy("t1", "k1"), point("t1", "k1"),
        resolve("t1", "t1"),
    ]  # fmt: skip

    assert on("pointer-before-commit", *declared).refusals == ()
    # Or it ends without one, and then the summary should not have committed.
    assert on("pointer-before-commit", *declared[:3], resolve("t1", None)).rules >= {"PTR-1"}


def test_ptr_2_a_committed_pointer_that_leads_nowhere_any_more_contradicts_the_machine():
    (refusal,) = on("pointer-before-commit", *CAREFUL, resolve("t1", None, "T")).refusals

    assert refusal.action is None
    assert refusal.seen == ("slot(key k1) is nothing",)
    assert refusal.rules == ("PTR-2",)


def test_ptr_2_is_over_at_the_horizon():
    late = (Occurrence(event="expire", span="t1"), resolve("t1", None, "T"))

    assert on("pointer-before-commit", *CAREFUL, *late).rules == frozenset()


def test_ptr_6_what_is_not_committed_resolves_to_nothing():
    early = [append("t1"), stage("S", "t1"), copy("t1", "k1"), point("t1", "k1"), resolve("t1", "t1")]

    (refusal,) = on("pointer-before-commit", *early).refusals

    assert refusal.guards == ("committed",)
    assert refusal.rules == ("PTR-6",)


def test_epo_1_a_pointer_that_leads_to_another_span_is_refused():
    (refusal,) = on("pointer-before-commit", *CAREFUL, resolve("t1", "t3")).refusals

    assert refusal.guards == ("what lies there",)
    assert refusal.broken == ("never another span",)
    assert refusal.rules == ("EPO-1",)


@pytest.mark.parametrize(("again", "rules"), [(8, frozenset()), (7, {"EPO-2"}), (3, {"EPO-2"})])
def test_epo_2_a_key_that_is_taken_again_needs_a_later_epoch(again, rules):
    first = [append("t1"), append("t2"), copy("t1", "k", 7), Occurrence(event="reap", key="k")]
    # What the crash took from memory, nothing holds: the store may delete the orphan.
    first.insert(3, Occurrence(event="crash"))

    assert on("pointer-before-commit", *first, copy("t2", "k", again)).rules == rules


def test_ptr_3_what_leaves_is_what_was_declared_and_shown():
    begin = [append("t1"), append("t2")]

    assert on("generations", *begin, stage("S", "t1"), commit("S", "t1", "t2")).rules >= {"PTR-3"}
    assert on("generations", *begin, stage("S", "t1", "t2"), commit("S", "t1")).rules == {"PTR-3"}
    assert on("generations", *begin, stage("S", "t1", "t2", shown=("t1",)), commit("S", "t1", "t2")).rules == {
        "PTR-3"
    }


def test_ptr_4_an_original_that_a_later_summary_does_not_lead_to_contradicts_the_machine():
    (refusal,) = on("generations", *CAREFUL, resolve("t1", None, "T")).refusals

    assert refusal.seen == ("not pointer(summary T, raw t1)",)
    assert "every original one step away" in refusal.broken
    assert refusal.rules == ("PTR-4",)


def test_anc_1_and_man_1_a_commit_that_leaves_out_what_nothing_else_holds_is_refused():
    lost = [append("t1", "a1"), stage("S", "t1"), commit("S", "t1")]

    (refusal,) = on("anchoring", *lost).refusals

    assert refusal.guards == ("everything accounted for",)
    assert {"ANC-1", "ANC-4", "MAN-1"} <= set(refusal.rules)


def test_anc_1_what_was_dropped_by_decision_may_go():
    dropped = [
        append("t1", "a1"),
        Occurrence(event="tombstone", asserts=("a1",)),
        stage("S", "t1"),
        commit("S", "t1"),
    ]

    assert on("anchoring", *dropped).refusals == ()


def test_anc_1_what_was_held_by_the_store_alone_is_lost_with_it():
    gone = Occurrence(event="reconstitute", asserts=("a2",), found=None)

    let_pass, removed = on("anchoring", *CAREFUL, gone).refusals

    assert let_pass.guards == ("carried elsewhere",)
    assert (removed.action, removed.guards, removed.broken) == ("reap", (), ("anchored or tombstoned",))
    assert {"ANC-1", "ANC-4"} <= set(removed.rules)
    assert "is allowed only after what was refused before" in str(removed)
    # The other assertion is repeated by the summary.
    assert on("anchoring", *CAREFUL, Occurrence(event="reconstitute", asserts=("a1",))).rules == frozenset()


def test_rec_1_another_value_than_was_asked_for_is_refused():
    neighbour = Occurrence(event="reconstitute", asserts=("a1",), found="a2")
    right = Occurrence(event="reconstitute", asserts=("a1",), found="a1")

    assert on("anchoring", *CAREFUL, right).refusals == ()
    assert on("anchoring", *CAREFUL, neighbour).rules == {"REC-1"}


def test_con_1_a_turn_that_a_commit_does_not_cover_stays():
    assert on("concurrency", append("t1"), stage("S", "t1"), append("t2"), commit("S", "t1")).refusals == ()
    assert on("concurrency", append("t1"), stage("S", "t1"), append("t2"), commit("S", "t1", "t2")).rules == {"CON-1"}


def test_con_2_of_two_overlapping_compactions_the_second_commit_is_refused():
    both = [append("t1"), stage("S", "t1"), stage("T", "t1"), commit("S", "t1"), commit("T", "t1")]

    (refusal,) = on("concurrency", *both).refusals

    assert refusal.guards == ("the version of the snapshot",)
    assert "CON-2" in refusal.rules


@pytest.mark.parametrize("withdrawal", ["clear", "forget", "rewind"])
def test_con_3_a_commit_that_brings_back_what_was_withdrawn_meanwhile_is_refused(withdrawal):
    span = None if withdrawal == "clear" else "t1"
    seen = [append("t1"), stage("S", "t1"), Occurrence(event=withdrawal, span=span), commit("S", "t1")]

    (refusal,) = on("concurrency", *seen).refusals

    assert "CON-3" in refusal.rules


def test_after_a_refusal_the_rest_is_judged_too():
    lost = [resolve("t1", "t3", "T"), resolve("t2", None, "T")]

    assert [refusal.rules for refusal in on("pointer-before-commit", *CAREFUL, *lost).refusals] == [
        ("EPO-1",),
        ("PTR-2",),
    ]


def test_where_nothing_breaks_at_once_the_rules_that_the_guard_is_there_for_are_named():
    machine = load("pointer-before-commit").with_defaults()
    # Nobody has committed yet, so a copy that overwrites another harms nobody yet.
    overwritten = [append("t1"), append("t2"), copy("t1", "k"), copy("t2", "k")]

    (refusal,) = on("pointer-before-commit", *overwritten).refusals

    assert (refusal.guards, refusal.broken) == (("key free",), ())
    assert refusal.rules == at_stake(machine, "copy", "key free") == ("PTR-1",)
    assert at_stake(machine, "leave", "there") == ()


def test_what_the_machine_does_not_have_is_refused_with_what_it_has():
    with pytest.raises(UnknownChoice, match="has no action 'fly'"):
        judge(load("generations"), lambda seen: iter([Take("fly", {})]), CAREFUL[:1])
    with pytest.raises(UnknownChoice, match="has no sort 'turnip'"):
        judge(load("generations"), lambda seen: iter([Take("write", {"x": Who("turnip", "t")})]), CAREFUL[:1])
    with pytest.raises(ValueError, match="no event of the alphabet"):
        Occurrence(event="explode")


def test_events_that_leave_too_much_open_are_not_judged(monkeypatch):
    monkeypatch.setattr("anchorhold_spec.run.oracle.MOST_POSSIBILITIES", 2)
    machine = load("pointer-before-commit")

    def anything(seen: Occurrence):
        yield Take("append", {"s": Who("span", str(seen.span))})
        yield Take("copy", {"s": Who("span", "t1"), "n": 1})
        for key in "abc":
            yield Take("append", {"s": Who("span", key)})
            yield Take("copy", {"s": Who("span", key), "k": Who("key", key)})

    with pytest.raises(TooManyPossibilities, match="its projection has to say more"):
        judge(machine, anything, CAREFUL[:1])


def test_the_interpreter_says_which_guards_forbid_a_step():
    machine = load("release-race")
    interpreter = Interpreter(next(instances(machine)))
    state = interpreter.initial()
    for step in interpreter.enabled(state):
        assert interpreter.forbidding(state, step) == ()
        assert interpreter.force(state, step) == interpreter.apply(state, step)
    for action in machine.actions:
        for step in interpreter.possible(action.name, {}):
            enabled = step in set(interpreter.matching(state, action.name, {}))
            assert enabled == (not interpreter.forbidding(state, step))
