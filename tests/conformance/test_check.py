"""Whole checks of small compactors: verdicts, counterexamples, and what is said of failures that do not return."""

import re
import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import ClassVar

from toy_compactors import Plain

from anchorhold.check import Checked, check
from anchorhold.checkers import CHECKERS
from anchorhold.compactor import Description, Mechanism, mechanisms_of
from anchorhold.history import Event, EventType
from anchorhold.load import load, load_class
from anchorhold.progress import Silent
from anchorhold.replay import read, replay
from anchorhold.scenarios import Effort
from anchorhold.trouble import ends
from anchorhold.verdict import Checker, Failure, History, Judgement, VerdictKind
from anchorhold.workload import AnyStep
from anchorhold_spec.vocabulary import Outcome, OutcomeKind

TOYS = Path(__file__).with_name("toy_compactors.py")


FEW = ("growth-drop", "growth-faithful", "little-to-do", "equal-text", "mixture-0")


def checked(
    name: str,
    directory: Path,
    *,
    checkers: Sequence[Checker] = CHECKERS,
    rules: tuple[str, ...] | None = None,
    named: tuple[str, ...] = FEW,
) -> Checked:
    with load(f"{TOYS}:{name}") as loaded:
        return check(loaded, checkers=checkers, histories=directory, effort=Effort.QUICK, rules=rules, named=named)


def test_a_compactor_that_keeps_every_original_breaks_no_rule_of_anchoring(tmp_path: Path) -> None:
    result = checked("Archive", tmp_path).result

    families = {failure.rule.partition("-")[0] for failure in result.failures}
    assert not families & {"ANC", "MAN", "PTR", "EPO", "CRA"}
    assert {rule: result.rules[rule].verdict for rule in ("ANC-1", "MAN-1", "PTR-1", "PTR-3")} == dict.fromkeys(
        ("ANC-1", "MAN-1", "PTR-1", "PTR-3"), VerdictKind.PASS
    )
    assert result.rules["MAN-6"].verdict is VerdictKind.VACUOUS
    assert {path.stem for path in tmp_path.iterdir()} == {failure.rule for failure in result.failures}


def test_a_lost_original_is_caught_and_its_history_breaks_the_rule_again(tmp_path: Path) -> None:
    caught = checked("Loses", tmp_path, rules=("PTR-1",))
    (failure,) = caught.result.failures
    path = Path(failure.history)
    kept = read(path)

    assert failure.rule == "PTR-1"
    assert failure.replay == f"anchorhold replay {shlex.quote(str(path))}"
    assert caught.histories[str(path)] == kept
    assert kept.header.rule == "PTR-1"
    assert failure.sentence == caught.result.rules["PTR-1"].reason
    assert len(kept.header.workload.steps) <= 12
    with load(kept.header.compactor) as loaded:
        again = replay(kept, loaded=loaded, checkers=CHECKERS)
    assert failure.sentence in {each.sentence for each in again.failures}
    assert again.history == kept


def test_the_same_seed_finds_the_same(tmp_path: Path) -> None:
    first, second = (checked("Loses", tmp_path, rules=("PTR-1",)) for _ in range(2))

    assert first.histories == second.histories
    assert first.result.rules == second.result.rules


def test_rules_that_were_not_asked_for_are_untested_and_say_why(tmp_path: Path) -> None:
    rules = checked("Archive", tmp_path, rules=("PTR-1",)).result.rules

    assert rules["PTR-1"].verdict is VerdictKind.PASS
    assert rules["ANC-1"].verdict is VerdictKind.UNTESTED
    assert rules["ANC-1"].reason == "this run was asked for other rules"


def test_a_failure_that_does_not_happen_again_is_reported_as_such(tmp_path: Path) -> None:
    found = checked("LosesOnce", tmp_path, rules=("PTR-1",))
    (failure,) = found.result.failures

    assert found.result.rules["PTR-1"].verdict is VerdictKind.FAIL
    assert "Not every time: it was seen in 1 of" in failure.sentence
    assert Path(failure.history).is_file()
    assert failure.event is not None
    assert len(found.histories[failure.history].events) > failure.event


def test_a_failure_that_happens_at_times_says_in_how_many_replays_of_its_shortest_history(tmp_path: Path) -> None:
    found = checked("LosesAtTimes", tmp_path, rules=("PTR-1",))
    (failure,) = found.result.failures
    told = re.search(
        r"\(Not every time: it was seen in (\d+) of (\d+) histories, and in (\d+) of (\d+) replays", failure.sentence
    )

    assert told is not None
    seen, histories, failed, played = map(int, told.groups())
    assert 0 < seen < histories
    assert failed < played
    assert played >= 3


def test_a_failure_that_happens_whenever_it_is_played_says_nothing_of_times(tmp_path: Path) -> None:
    found = checked("Loses", tmp_path, rules=("PTR-1",))

    assert "Not every time" not in found.result.failures[0].sentence


class TooFewTriggers:
    rule = "CON-1"
    minimum = 10_000
    mechanisms = (Mechanism.SUMMARISER,)

    def judge(self, history: History) -> Judgement:
        return Judgement(rule=self.rule, triggered=1)


class FailsWhereThereIsARestart:
    rule = "CRA-2"
    minimum = 1
    mechanisms = ()

    def judge(self, history: History) -> Judgement:
        at = [event.index for event in history.events if event.op == "reopen"]
        failures = tuple(Failure(rule=self.rule, sentence="It restarted.", fact="", event=i) for i in at[:1])
        return Judgement(rule=self.rule, triggered=len(at), failures=failures)


def test_a_rule_seldom_triggered_is_inconclusive_and_the_summariser_counts_as_seen(tmp_path: Path) -> None:
    result = checked("Archive", tmp_path, checkers=(TooFewTriggers(),)).result

    assert result.rules["CON-1"].verdict is VerdictKind.INCONCLUSIVE
    assert result.rules["CON-1"].triggered == len(FEW)


def test_a_failure_is_shortened_to_what_it_needs(tmp_path: Path) -> None:
    found = checked("Crashes", tmp_path, checkers=(FailsWhereThereIsARestart(),), named=("restarts",))
    (history,) = found.histories.values()

    assert [step.__class__.__name__ for step in history.header.workload.steps] == ["Reopen"]


def test_the_shortest_history_is_played_three_times_more_before_it_is_reported(tmp_path: Path) -> None:
    played: list[tuple[AnyStep, ...]] = []

    class Remembers(FailsWhereThereIsARestart):
        def judge(self, history: History) -> Judgement:
            played.append(history.header.workload.steps)
            return super().judge(history)

    found = checked("Crashes", tmp_path, checkers=(Remembers(),), named=("restarts",))
    (history,) = found.histories.values()

    assert played[-3:] == [history.header.workload.steps] * 3
    assert len(played) > 3 + 1


def test_mechanisms_are_seen_by_the_operations_that_show_them() -> None:
    def of(*operations: str, summarised: bool = False) -> frozenset[Mechanism]:
        description = Description(
            name="x",
            version="1",
            mechanisms=frozenset({Mechanism.KEY_RECYCLING}),
            operations=frozenset(operations),
        )
        return mechanisms_of(description, summarised=summarised) - {Mechanism.KEY_RECYCLING}

    assert of() == frozenset()
    assert of(summarised=True) == {Mechanism.SUMMARISER}
    assert of("get") == {Mechanism.RETRIEVAL}
    assert of("pointers", "get") == {Mechanism.POINTERS, Mechanism.RETRIEVAL}
    assert of("tombstone") == frozenset()
    assert of("tombstone", "tombstones") == {Mechanism.TOMBSTONES}


def test_only_scenarios_that_aim_at_the_wanted_rules_are_played(tmp_path: Path) -> None:
    class Told(Silent):
        names: ClassVar[list[str]] = []

        def playing(self, number: int, scenario: str) -> None:
            self.names.append(scenario)

    with load(f"{TOYS}:Archive") as loaded:
        check(
            loaded,
            checkers=CHECKERS,
            histories=tmp_path,
            effort=Effort.QUICK,
            rules=("IDX-2",),
            progress=Told(),
        )

    assert {"equal-text", "mixture-0"} <= set(Told.names)
    assert "little-to-do" not in Told.names


def test_what_could_not_be_decided_because_nothing_ever_worked_names_the_error(tmp_path: Path) -> None:
    class NeverCompacts(Plain):
        def compact(self) -> Outcome:
            raise RuntimeError("boom in compact")

    with load_class(NeverCompacts, name="never") as loaded:
        rules = check(loaded, checkers=CHECKERS, histories=tmp_path, effort=Effort.QUICK, named=FEW).result.rules
    with load_class(Plain, name="plain") as loaded:
        plain = check(loaded, checkers=CHECKERS, histories=tmp_path, effort=Effort.QUICK, named=FEW).result.rules

    assert rules["OUT-2"].verdict is VerdictKind.INCONCLUSIVE
    assert re.search(
        r"`compact` ended with an error each time, (\d+) of \1: RuntimeError: boom", rules["OUT-2"].reason
    )
    assert not [rule for rule in plain.values() if "each time" in rule.reason]


class Wanting:
    """A checker of a rule about eviction."""

    minimum = 1
    mechanisms = (Mechanism.EVICTION,)

    def __init__(self, rule: str) -> None:
        self.rule = rule

    def judge(self, history: History) -> Judgement:
        return Judgement(rule=self.rule, triggered=0)


def compactions(*kinds: OutcomeKind) -> list[Event]:
    outcomes = (Outcome(kind=kind, reason=f"because {kind}") for kind in kinds)
    return [Event(index=0, step=0, type=EventType.OK, op="compact", value=outcome) for outcome in outcomes]


def test_what_could_not_be_decided_says_how_many_compactions_it_takes_and_how_many_there_were() -> None:
    committed, refused, idle = OutcomeKind.COMMITTED, OutcomeKind.REFUSED, OutcomeKind.NOTHING
    of_all = ends(compactions(committed, committed))
    of_all.take(ends(compactions(idle, *[committed] * 3, refused, OutcomeKind.FAILED)))
    of_all.take(ends(compactions(committed, refused)))

    assert of_all.missing(Wanting("RET-2"), ()) == (
        "it takes 500 committed compactions in one history, and in the one with most 3 were committed, 1 found "
        "nothing to do, 2 were refused or failed, the first with “because refused”"
    )
    assert ends(compactions(*[committed] * 500)).missing(Wanting("RET-2"), ()) == ""
    assert of_all.missing(Wanting("ANC-3"), ()) == ""


def test_what_could_not_be_decided_says_which_of_its_operations_were_never_asked_for_or_never_worked() -> None:
    failing = ends([Event(index=0, step=0, type=EventType.FAIL, op="evict", error="no")])

    assert ends([]).missing(Wanting("ANC-3"), ("evict",)) == "`evict` was never asked for"
    assert ends([]).missing(Wanting("ANC-3"), ()) == ""
    assert failing.missing(Wanting("ANC-3"), ("evict",)) == "`evict` ended with an error each time, 1 of 1: no"
    declined = ends(compactions(OutcomeKind.FAILED, OutcomeKind.REFUSED)).missing(Wanting("ANC-3"), ())
    assert declined == (
        "of all compactions 0 were committed, 2 were refused or failed, the first with “because failed”"
    )


def test_an_operation_that_succeeded_once_is_no_trouble() -> None:
    def event(kind: EventType, op: str, error: str | None = None) -> Event:
        return Event(index=0, step=0, type=kind, op=op, error=error)

    once = ends([event(EventType.OK, "compact"), event(EventType.INFO, "compact", "boom")])
    never = ends([event(EventType.INVOKE, "live"), event(EventType.FAIL, "live", "x" * 1000)])
    both = ends([event(EventType.FAIL, "search", "no")])
    assert (once.never(), both.never()) == ("", "")
    assert never.never().startswith("`live` ended with an error each time, 1 of 1: xxx")
    assert len(never.never()) < 300
    both.take(never)
    both.take(once)
    assert both.never() == never.never()
