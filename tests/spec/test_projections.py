"""What events mean to each machine: right sequences are accepted, each kind of wrong one refused for its rule."""

from collections.abc import Iterator

import pytest
from test_oracle import CAREFUL, append, commit, copy, on, point, resolve, stage

from anchorhold_spec.language import SortKind, UnknownChoice
from anchorhold_spec.machines import load, names
from anchorhold_spec.machines.alphabet import Occurrence
from anchorhold_spec.machines.projections import PROJECTIONS, SIGHT, UNREAD, Given, Take, Who
from anchorhold_spec.run.oracle import judge, judge_all


def event(name: str, span: str | None = None, **more) -> Occurrence:
    return Occurrence(event=name, span=span, **more)


def rules(*seen: Occurrence) -> set[str]:
    return {rule for ruling in judge_all(seen) for rule in ruling.rules}


OF_POINTERS = ("anchored-release", "asynchronous-copy", "pointer-before-commit", "release-race", "write-order")
FORGET, EXPIRE = event("forget", "t1"), event("expire", "t1")
CRASH = event("crash")
LATE = (
    # The source is held, where nobody sees it.
    append("t1", "a1"), event("copy", "t1", asserts=("a1",)), stage("S", "t1"), commit("S", "t1", pending=("t1",)),
    event("resolve", "t1", answer="pending"), event("reconstitute", slot="a1", answer="pending"),
    copy("t1", "k1", asserts=("a1",)), point("t1", "k1"), resolve("t1", "t1"), EXPIRE, resolve("t1", None),
)  # fmt: skip
ASKED = (
    Occurrence(event="append", span="t1", asserts=("a1", "a2"), slots=("deploy target", "port"), kind="structured"),
    event("reconstitute", slot="port", answer="found", found="a2"),
    stage("S", "t1", asserts=("a2",)),
    copy("t1", "k1", asserts=("a1",)),
    point("t1", "k1"),
    commit("S", "t1"),
    event("reconstitute", asserts=("a1",), found="t1"),
    event("tombstone", asserts=("a1",)),
    event("reconstitute", slot="deploy target", answer="tombstoned"),
    Occurrence(event="append", span="t2", asserts=("a3",), slots=("deploy target",), kind="structured"),
    event("reconstitute", slot="deploy target", answer="found", found="a3"),
)
RIGHT = {
    "careful": CAREFUL,
    "pending": LATE,
    "questions": ASKED,
    "forgotten": (*CAREFUL, FORGET, resolve("t1", None, "T"), resolve("t2", "t2", "T")),
    "over": (*CAREFUL, EXPIRE, resolve("t1", None, "T"), resolve("t2", "t2", "T")),
    "still there when it is over": (*CAREFUL, EXPIRE, resolve("t1", "t1", "T")),
    "cleared": (*CAREFUL, event("clear"), resolve("t1", None, "T"), resolve("t2", None, "T")),
    "rewound": (*CAREFUL, event("rewind", "t2"), resolve("t2", None, "T"), resolve("t1", "t1", "T")),
    "an attempt that is made again after a crash": (
        append("t1", "a1"), stage("S", "t1"), copy("t1", "k1", asserts=("a1",)), point("t1", "k1"), CRASH,
        stage("T", "t1"), copy("t1", "k1"), point("t1", "k1", "T"), commit("T", "t1"), resolve("t1", "t1", "T"),
    ),
    "the same elsewhere": (
        append("t1", "a1"), stage("S", "t1"), copy("t1", "k1", asserts=("a1",)), point("t1", "k1"), CRASH,
        stage("T", "t1"), copy("t1", "k2"), point("t1", "k2", "T"), commit("T", "t1"), resolve("t1", "t1", "T"),
    ),
    "a second copy": (*CAREFUL, copy("t1", "k9"), point("t1", "k9", "T"), resolve("t1", "t1", "T")),
    "a second copy after which the first one goes": (
        *CAREFUL, copy("t1", "k9"), point("t1", "k9", "T"), event("reap", key="k1"), resolve("t1", "t1", "T"),
    ),
    "given up": (append("t1", "a1"), stage("S", "t1"), event("refuse", summary="S")),
    "repaired": (
        *CAREFUL, event("degrade", "t1"), event("repair", "t1"), append("t4", "a4"), copy("t4", "k4"),
        event("audit", "t1", found="t1"),
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", RIGHT)
def test_right_compactors_are_blamed_by_no_machine(name):
    rulings = judge_all(RIGHT[name])

    assert [str(refusal) for ruling in rulings for refusal in ruling.refusals] == []


def test_every_machine_has_a_projection_and_says_what_it_cannot_see():
    assert set(PROJECTIONS) == set(SIGHT) == set(names())
    for name, sight in SIGHT.items():
        actions = {action.name for action in load(name).actions}
        assert sight.implied.keys() | sight.unseen.keys() <= actions
        assert not sight.implied.keys() & sight.unseen.keys()


def taken(machine: str, sequences) -> Iterator[str]:
    for seen in sequences:
        projection = PROJECTIONS[machine]()
        for each in seen:
            yield from (meaning.action for meaning in projection(each) if isinstance(meaning, Take))


BESIDE = (
    (*ASKED, event("evict", "t2"), event("reconstitute", asserts=("a1",)), event("evict", summary="S")),
    (*ASKED, event("evict", "t2"), *(event("reconstitute", slot="port", answer=a) for a in ("unanchored", "absent"))),
    (append("t1", "a1"), commit("S", "t1"), event("reconstitute", slot="a1", answer="expired")),
    (append("t1", "a1"), commit("S", "t1"), event("reconstitute", slot="a1", answer="unanchored")),
    (append("t1", "a1"), event("tombstone", asserts=("a1",)), event("reconstitute", slot="a1", answer="tombstoned")),
    (*LATE[:4], CRASH, *LATE[5:]),
    (*CAREFUL, EXPIRE, event("reap", key="k1")),
    (*CAREFUL[:7], CRASH, event("reap", key="k1")),
    (*CAREFUL, event("forget", "t3"), event("rewind", "t2")),
    (
        Occurrence(event="append", span="t1", asserts=("a1",), kind="structured"),
        *(stage("S", "t1"), copy("t1", "k1"), point("t1", "k1"), commit("S", "t1"), EXPIRE),
    ),
)
"""Not all of it right: what is to be seen here is only which actions can be meant."""


@pytest.mark.parametrize("machine", PROJECTIONS)
def test_each_action_is_taken_for_some_event_or_listed_as_unseen_and_never_both(machine):
    actions = {action.name for action in load(machine).actions}

    assert set(taken(machine, [*RIGHT.values(), *BESIDE])) == actions - SIGHT[machine].unseen.keys()


@pytest.mark.parametrize(
    "seen",
    [
        event("reconstitute", slot="a1", found="a9"),
        event("reconstitute", slot="a1"),
        *(event(name, "t1", key="k1") for name in ("propose", "release", "recover")),
    ],
    ids=str,
)
def test_what_is_listed_as_unread_means_nothing_to_any_machine(seen):
    assert any(f"`{seen.event}`" in what for what in UNREAD)
    for make in PROJECTIONS.values():
        projection = make()
        for each in CAREFUL:
            list(projection(each))

        assert list(projection(seen)) == []


@pytest.mark.parametrize("answer", [None, "absent", "expired", "foreign", "tombstoned", "unanchored"])
def test_resolve_without_content_means_the_same_whatever_the_answer_but_for_pending(answer):
    for machine in PROJECTIONS:
        one, other = (
            [
                (each.action, each.guards, each.seen, each.rules)
                for each in on(machine, *CAREFUL, event("resolve", "t1", summary="T", answer=answered)).refusals
            ]
            for answered in (answer, "degraded")
        )

        assert one == other


@pytest.mark.parametrize("machine", sorted(set(PROJECTIONS) - {"pointer-before-commit"}))
def test_epochs_are_read_by_no_other_machine(machine):
    one, other = (
        on(machine, append("t1", "a1"), copy("t1", "k1", epoch, ("a1",)), stage("S", "t1"), commit("S", "t1"))
        for epoch in (1, 9)
    )

    assert one.accepted == other.accepted
    assert [each.rules for each in one.refusals] == [each.rules for each in other.refusals]


# Each kind of wrong


WRONG = [
    # A forget and the horizon's end.
    ((*CAREFUL, FORGET, resolve("t1", "t1", "T")), "erasure", "ERA-1"),
    ((*CAREFUL, FORGET, resolve("t2", "t1", "T")), "erasure", "ERA-1"),
    ((*CAREFUL, FORGET, event("reconstitute", asserts=("a1",), found="a1")), "erasure", "ERA-1"),
    ((*CAREFUL, FORGET, append("t1", "a1")), "erasure", "ERA-1"),
    ((*CAREFUL, FORGET, stage("U", "t3", asserts=("a1",)), commit("U", "t3")), "erasure", "ERA-1"),
    ((*CAREFUL, FORGET, resolve("t2", None, "T")), "pointer-before-commit", "PTR-2"),
    ((*CAREFUL, EXPIRE, resolve("t2", None, "T")), "pointer-before-commit", "PTR-2"),
    ((*CAREFUL, event("rewind", "t2"), resolve("t1", None, "T")), "pointer-before-commit", "PTR-2"),
    ((*CAREFUL, FORGET, resolve("t2", None, "T")), "generations", "PTR-4"),
    ((*CAREFUL, EXPIRE, resolve("t2", None, "T")), "generations", "PTR-4"),
    # Pointers.
    ((*CAREFUL, point("t1", "k9", "T")), "pointer-before-commit", "PTR-1"),
    ((*RIGHT["a second copy"][:-1], resolve("t1", None, "T")), "pointer-before-commit", "PTR-2"),
    ((*CAREFUL[:6], CRASH, stage("S", "t1"), point("t1", "k1"), commit("S", "t1")), "pointer-before-commit", "PTR-1"),
    ((*CAREFUL[:6], CRASH, stage("S", "t1"), commit("S", "t1")), "pointer-before-commit", "PTR-1"),
    *(
        ((append("t1", "a1"), stage("S", "t1"), commit("S", "t1")), machine, "PTR-1")
        for machine in OF_POINTERS
    ),
    *(
        ((*CAREFUL, resolve("t1", None, "T")), machine, "PTR-2")
        for machine in OF_POINTERS
    ),
    *(
        ((*CAREFUL, resolve("t1", "t3", "T")), machine, "EPO-1")
        for machine in ("anchored-release", "asynchronous-copy", "pointer-before-commit", "write-order")
    ),
    ((*CAREFUL[:7], resolve("t1", "t1")), "write-order", "PTR-6"),
    # Pending.
    ((*LATE[:6], resolve("t1", None)), "asynchronous-copy", "PTR-5"),
    ((*LATE[:6], resolve("t1", None)), "asynchronous-copy", "REC-1"),
    ((*LATE[:9], event("resolve", "t1", answer="pending")), "asynchronous-copy", "REC-2"),
    # The gate: the summary that alone carries it goes, and nobody may ask for the original any more.
    ((*CAREFUL[:8], EXPIRE, event("evict", summary="S")), "anchored-release", "ANC-1"),
    # Questions.
    ((*ASKED[:2], event("reconstitute", slot="port", answer="found", found="a1")), "reconstitution", "REC-1"),
    ((*ASKED[:2], event("reconstitute", slot="port", answer="found", found="?")), "reconstitution", "REC-1"),
    *(
        ((*ASKED[:1], event("reconstitute", slot="port", answer=answer)), "reconstitution", "REC-2")
        for answer in ("pending", "tombstoned", "expired", "unanchored", "absent")
    ),
    ((*ASKED[:8], event("reconstitute", slot="deploy target", answer="absent")), "reconstitution", "REC-2"),
    ((*ASKED[:8], event("reconstitute", slot="deploy target", answer="unanchored")), "reconstitution", "REC-2"),
    ((*ASKED[:10], event("reconstitute", slot="deploy target", answer="tombstoned")), "reconstitution", "REC-2"),
    ((*CAREFUL, event("reconstitute", asserts=("a1", "a2"), found="a1")), "anchoring", "REC-1"),
    ((*CAREFUL, event("reconstitute", asserts=("a1", "a2"), found="S")), "anchoring", "REC-1"),
    ((*CAREFUL, event("reconstitute", asserts=("a1", "a2"), found="t1")), "anchoring", "REC-1"),
    # Evidence.
    ((*ASKED[:3], commit("S", "t1")), "evidence", "EVI-1"),
    ((ASKED[0], stage("S", "t1", omissions_named=False), *ASKED[3:6]), "evidence", "EVI-2"),
    ((*ASKED[:6], resolve("t1", None)), "evidence", "EVI-3"),
    # The index.
    ((*CAREFUL, resolve("t1", None, "T")), "index", "IDX-1"),
    ((*CAREFUL, resolve("t1", None, "T")), "index", "IDX-4"),
    ((*CAREFUL, resolve("t1", None, "T")), "index", "RET-1"),
    ((*CAREFUL, event("audit", "t1")), "index", "IDX-1"),
    ((*CAREFUL, event("degrade", "t1"), append("t4"), copy("t4", "k4"), commit("U", "t4")), "index", "RET-3"),
    # Crashes.
    ((append("t1", "a1"), CRASH, event("evict", "t1")), "progress", "CRA-1"),
    ((*CAREFUL, CRASH, append("t1", "a1")), "progress", "CRA-1"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("seen", "machine", "rule"), WRONG, ids=[f"{i}-{machine}-{rule}" for i, (_, machine, rule) in enumerate(WRONG)]
)
def test_each_kind_of_wrong_is_refused_by_the_machine_whose_rule_it_breaks(seen, machine, rule):
    assert rule in on(machine, *seen).rules


# Reaped: what only attempts held that have ended


def pointed(span: str, key: str, summary: str = "S", epoch: int | None = None) -> Occurrence:
    return event("point", span, summary=summary, key=key, epoch=epoch)


def reap(key: str) -> Occurrence:
    return event("reap", key=key)


ATTEMPT = (append("t1", "a1"), copy("t1", "k1", 1, ("a1",)), stage("S", "t1"), pointed("t1", "k1", epoch=1))
ENDED = {"crash": CRASH, "refuse": event("refuse", summary="S")}
ANEW = stage("T", "t1", asserts=("a1",))
U = stage("U", summaries=("T",), asserts=("a1",))
AGAIN = (*CAREFUL, copy("t1", "k9"), U, point("t1", "k9", "U"))
COMMITTED = commit("U", summaries=("T",))


def again(key: str, epoch: int, span: str = "t1") -> tuple[Occurrence, ...]:
    """Copied, pointed at under another summary, which is committed and leads there."""
    return (
        copy(span, key, epoch), stage("T", span), pointed(span, key, "T", epoch), commit("T", span),
        event("resolve", span, summary="T", key=key, epoch=epoch, found=span),
    )  # fmt: skip


@pytest.mark.parametrize("end", ENDED)
@pytest.mark.parametrize(
    ("pointer", "after"),
    [
        (True, ()),
        (False, ()),
        (True, again("k2", 1)),
        (False, again("k2", 1)),
        (True, again("k1", 2)),
        (False, again("k1", 2)),
        (True, (append("t2"), *again("k1", 2, "t2"))),
        (True, (event("recover"), *again("k2", 1), CRASH)),
    ],
)
def test_ptr_2_what_only_an_attempt_held_that_has_ended_may_be_reaped(end, pointer, after):
    seen = (*ATTEMPT[: 4 if pointer else 3], ENDED[end], reap("k1"), *after)

    assert [str(refusal) for ruling in judge_all(seen) for refusal in ruling.refusals] == []


@pytest.mark.parametrize(
    "seen",
    [
        (*AGAIN, event("refuse", summary="U"), reap("k9"), resolve("t1", "t1", "T")),
        (*AGAIN, CRASH, reap("k9"), resolve("t1", "t1", "T")),
        (*AGAIN, event("refuse", summary="U"), stage("V", summaries=("T",), asserts=("a1",)),
         commit("V", summaries=("T",)), reap("k9"), resolve("t1", "t1", "V")),
        (*AGAIN, COMMITTED, reap("k1"), resolve("t1", "t1", "U")),
        (*ATTEMPT, FORGET, reap("k1")),
    ],
    ids=["refused", "crashed", "refused, and another one", "superseded", "forgotten"],
)  # fmt: skip
def test_ptr_2_a_copy_that_no_committed_pointer_leads_to_may_be_reaped(seen):
    assert [str(refusal) for ruling in judge_all(seen) for refusal in ruling.refusals] == []


@pytest.mark.parametrize(
    ("seen", "rule"),
    [
        ((*ATTEMPT, reap("k1"), commit("S", "t1")), "PTR-2"),
        ((*AGAIN, reap("k1")), "PTR-2"),
        ((*AGAIN, COMMITTED, reap("k9")), "PTR-2"),
        ((*CAREFUL, CRASH, reap("k1")), "PTR-2"),
        *(
            ((*ATTEMPT, ended, *after), rule)
            for ended in ENDED.values()
            for after, rule in [
                ((ANEW, pointed("t1", "k1", "T", 1), commit("T", "t1"), reap("k1")), "PTR-2"),
                ((reap("k1"), ANEW, commit("T", "t1")), "PTR-1"),
                ((reap("k1"), ANEW, pointed("t1", "k1", "T", 1), commit("T", "t1")), "PTR-1"),
                ((reap("k1"), *again("k1", 1)), "EPO-2"),
            ]
            # That a copy which a crash left behind is found again, the machine does not have: a new one is made.
            if not (ended is CRASH and reap("k1") not in after[:1])
        ),
    ],
)
def test_ptr_2_what_a_summary_leads_to_or_may_still_lead_to_is_not_reaped(seen, rule):
    assert rule in on("pointer-before-commit", *seen).rules


# Epochs


@pytest.mark.parametrize(("copied", "at"), [(2, 1), (1, 7), (7, 1), (1, 2), (1, 0)])
def test_ptr_1_a_pointer_at_another_epoch_than_its_copy_has_is_refused(copied, at):
    seen = (append("t1", "a1"), copy("t1", "k1", copied), stage("S", "t1"), pointed("t1", "k1", epoch=at))

    assert "PTR-1" in on("pointer-before-commit", *seen, commit("S", "t1"), event("evict", "t1")).rules


@pytest.mark.parametrize("at", [0, 9])
def test_epo_what_is_found_at_another_epoch_than_the_pointer_has_is_refused(at):
    seen = (*ATTEMPT, commit("S", "t1"))
    found = [event("resolve", "t1", summary="S", key="k1", epoch=epoch, found="t1") for epoch in (1, None, at)]

    assert on("pointer-before-commit", *seen, *found[:2]).refusals == ()
    assert any(rule.startswith("EPO-") for rule in on("pointer-before-commit", *seen, found[2]).rules)


@pytest.mark.parametrize(("copied", "at"), [(None, 3), (3, None), (None, None), (3, 3)])
def test_epochs_that_were_not_seen_are_held_against_nobody(copied, at):
    seen = (append("t1", "a1"), copy("t1", "k1", copied, ("a1",)), stage("S", "t1"), pointed("t1", "k1", epoch=at))

    assert rules(*seen, commit("S", "t1"), event("resolve", "t1", key="k1", epoch=at, found="t1")) == set()


def test_every_machine_refuses_something():
    assert {machine for _, machine, _ in WRONG} | {"concurrency"} == set(PROJECTIONS)


def test_what_is_found_after_a_forget_is_refused_and_nothing_is_accepted_wherever_pointers_are_spoken_of():
    erased = (*CAREFUL, FORGET)

    assert rules(*erased, resolve("t1", None, "T")) == set()
    assert "ERA-1" in rules(*erased, resolve("t1", "t1", "T"))
    assert on("pointer-before-commit", *erased, resolve("t1", "t1", "T")).refusals


def test_what_is_given_is_as_seen_and_must_be_there():
    with pytest.raises(UnknownChoice, match="is given no 'colour_of'"):
        judge(load("evidence"), lambda seen: iter([Given("colour_of", (Who("span", "t"),), "red")]), CAREFUL[:1])
    narrative = Occurrence(event="append", span="t1", asserts=("a1",), kind="narrative")

    assert on("evidence", narrative, stage("S", "t1"), commit("S", "t1")).refusals == ()


def test_slots_are_given_for_each_assertion_or_for_none():
    with pytest.raises(ValueError, match="1 slots are given for 2 assertions"):
        Occurrence(event="append", span="t1", asserts=("a1", "a2"), slots=("port",))


def test_values_of_enumerations_stand_for_themselves():
    """What is seen may be about one place of several, which nobody has to name beforehand."""
    place = next(sort for sort in load("erasure").sorts if sort.name == "place")

    assert place.kind is SortKind.ENUM
    assert "holds(place cold, turn t1)" in str(on("erasure", *CAREFUL, FORGET, resolve("t1", "t1", "T")).refusals[0])
