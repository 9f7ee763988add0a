"""OUT: what is no summary is not committed as one, and outcomes say what happened. ANC-5: failing leaves no trace."""

from collections import Counter
from dataclasses import dataclass

import msgspec

from anchorhold.checkers.difference import trace
from anchorhold.checkers.holding import Hold, through_pointers
from anchorhold.checkers.provenance import reply_of, shown_to
from anchorhold.checkers.reading import Known, Reading
from anchorhold.checkers.record import CONTENT, Observation, Operation, Stretch
from anchorhold.checkers.rule import RuleChecker, WatchChecker
from anchorhold.checkers.tally import Tally
from anchorhold.checkers.watch import Watch
from anchorhold.checkers.words import content, holds, plain, quotes, shorten, words
from anchorhold.compactor import Mechanism
from anchorhold.history import EventType
from anchorhold.summariser import SUMMARIES
from anchorhold_spec.vocabulary import CarrierKind, Item, Outcome, OutcomeKind

PROVABLE = frozenset({"echo", "truncated"})
"""Replies that are words of the sources: they may stand for what they hold whole."""


def defect(call: Operation, earlier: list[str]) -> str | None:
    """Why a reply is no summary, in words; none where it is one."""
    if call.ended is not EventType.OK:
        return f"the summariser failed ({call.error or 'no answer'})"
    mode, finish = call.value.get("mode"), call.value.get("finish", "stop")
    text = reply_of(call)
    if not text.strip():
        return "the summariser answered with nothing"
    if finish == "length":
        return "the summariser's answer was cut off at its token limit"
    if finish != "stop":
        return f"the summariser ended with “{finish}”"
    if mode == "same":
        return "the summariser repeated the previous summary unchanged" if text in earlier else None
    if mode is not None and mode not in SUMMARIES:
        return f"the summariser's answer was no summary (“{shorten(text, 50)}”)"
    return None


def _provable(call: Operation) -> bool:
    return call.ok and call.value.get("mode") in PROVABLE


def _strangers(reading: Reading, stretch: Stretch) -> tuple[Item, ...]:
    """Items that came into the window and are no turn."""
    known = {(item.id, content(item)) for item in stretch.before.items}
    return tuple(
        item
        for item in stretch.after.items
        if (item.id, content(item)) not in known
        and (item.kind is not CarrierKind.RAW or not reading.contained(content(item)))
    )


def out_1(reading: Reading, tally: Tally) -> None:
    """Each reply that is no summary: nothing is committed for it, and what it was to stand for stays."""
    for lane in reading.lanes:
        _out_1(reading, tally, lane)


def _out_1(reading: Reading, tally: Tally, lane: tuple[Stretch, ...]) -> None:
    earlier: list[str] = []
    for stretch in lane:
        good: list[Operation] = []
        bad: list[tuple[Operation, str]] = []
        for call in stretch.calls:
            why = defect(call, earlier)
            if why is None:
                good.append(call)
            else:
                bad.append((call, why))
            earlier += [reply_of(call)] if call.ok else []
        if bad:
            tally.trigger(len(bad))
            _committed_anyway(reading, tally, stretch, good, bad)
            _sources_gone(reading, tally, stretch, good, bad)


def _committed_anyway(
    reading: Reading,
    tally: Tally,
    stretch: Stretch,
    good: list[Operation],
    bad: list[tuple[Operation, str]],
) -> None:
    removed = reading.removed(stretch)
    # What no model was asked about may be replaced without one, whatever becomes of the rest.
    shown = " ".join(shown_to(call) for call, _ in bad)
    asked_about = [turn for turn in removed if holds(shown, reading.said[turn].forms)]
    for item in _strangers(reading, stretch):
        flat = plain(content(item))
        if any(reply and reply in flat for reply in (plain(reply_of(call)) for call in good)):
            continue
        for call, why in bad:
            text = plain(reply_of(call)) if call.ok else plain(call.error or "")
            if not text or text not in flat or (_provable(call) and not removed):
                continue
            what = "its answer" if call.ok else "the error's text"
            tally.fail(
                f"{why[0].upper()}{why[1:]}, and {what} now stands in the window as {item.id}: “{shorten(text)}”.",
                fact=item.id,
                event=stretch.after.end,
            )
            break
        else:
            sources = [words(reading.said[turn].turn) for turn in removed]
            told = any(quotes(flat, source) for source in sources)
            if not good and item.kind is CarrierKind.SUMMARY and asked_about and not told:
                why = bad[-1][1]
                tally.fail(
                    f"{why[0].upper()}{why[1:]}, and summary {item.id} was committed all the same; it says nothing "
                    f"of {reading.quote(asked_about[0])}, which it replaced.",
                    fact=item.id,
                    event=stretch.after.end,
                )


def _sources_gone(
    reading: Reading,
    tally: Tally,
    stretch: Stretch,
    good: list[Operation],
    bad: list[tuple[Operation, str]],
) -> None:
    shown = " ".join(map(shown_to, good))
    gone = [
        turn
        for turn in reading.removed(stretch)
        if reading.said[turn].forms
        and not holds(shown, reading.said[turn].forms)
        and through_pointers(reading, stretch.after, turn) is Hold.LOOSE
    ]
    if gone:
        why = bad[-1][1]
        more = f", and so are {len(gone) - 1} more turns" if len(gone) > 1 else ""
        tally.fail(
            f"{why[0].upper()}{why[1:]}, and {reading.quote(gone[0])} is gone from the window all the same, "
            f"without a summary of it{more}.",
            fact=gone[0],
            event=stretch.after.end,
        )


def _carriers(observation: Observation) -> tuple[frozenset[str], frozenset[tuple[str, str]]]:
    return observation.raw, frozenset((item.id, content(item)) for item in observation.summaries)


def _same(before: Observation, after: Observation) -> bool:
    """Whether window and pointers are as they were, but for the names that items have."""
    if before.live is not after.live:
        if len(before.items) != len(after.items):
            return False
        for old, new in zip(before.items, after.items, strict=True):
            if old is not new and (old.kind is not new.kind or old.turn != new.turn or content(old) != content(new)):
                return False
    if before.pointers is after.pointers:
        return True
    return sorted(p.token for p in before.pointers or ()) == sorted(p.token for p in after.pointers or ())


class Outcomes(Watch):
    """Each outcome against what was seen before and after."""

    def stretch(self, stretch: Stretch) -> None:
        operation = stretch.alone
        if operation is None or operation.op not in ("compact", "evict", "tombstone", "supersede"):
            return
        outcome = operation.outcome()
        if outcome is None and operation.ended is EventType.INFO:
            return
        self.tally.trigger()
        judged = {"compact": _compact, "evict": _evict, "tombstone": _tombstone, "supersede": _tombstone}
        wrong = judged[operation.op](self.known, stretch, operation, outcome)
        if wrong is not None:
            said = f"answered “{outcome.kind}”" if outcome else f"ended with an error ({operation.error})"
            self.tally.fail(
                f"{operation.op} {said}, but {wrong}.",
                fact=f"{operation.op} at {operation.start}",
                event=stretch.after.end,
            )


def _committed(outcome: Outcome | None) -> bool:
    return outcome is not None and outcome.kind is OutcomeKind.COMMITTED


def _compact(known: Known, stretch: Stretch, operation: Operation, outcome: Outcome | None) -> str | None:
    before, after = stretch.before, stretch.after
    if _committed(outcome):
        return "the window and its pointers are as they were" if _same(before, after) else None
    same = before.live is after.live and before.raw == after.raw
    if not same and _carriers(before) != _carriers(after):
        removed = known.removed(stretch)
        if removed:
            return f"{known.quote(removed[0])} is no longer in the window"
        return "the summaries in the window are others than before"
    asked = [call for call in operation.calls if call.op == "summarise"]
    if outcome is not None and outcome.kind is OutcomeKind.REFUSED and asked and not any(call.ok for call in asked):
        return "no rule forbade it: its model could not be asked"
    if outcome is not None and outcome.kind is OutcomeKind.NOTHING:
        failures = [call for call in operation.calls if call.op == "summarise" and defect(call, [])]
        if failures and len(failures) == len(operation.calls):
            return f"there was something to do: {defect(failures[-1], [])}"
    return None


def _resolves(observation: Observation, token: str) -> bool | None:
    if token in observation.errors:
        return False
    answer = observation.answers.get(token)
    return None if answer is None else answer.kind in CONTENT


def _evict(_known: Known, stretch: Stretch, operation: Operation, outcome: Outcome | None) -> str | None:
    token = str(operation.arguments.get("token", ""))
    before, after = _resolves(stretch.before, token), _resolves(stretch.after, token)
    if _committed(outcome):
        return f"pointer {token} resolves as before" if before and after else None
    return f"pointer {token} no longer resolves" if before and after is False else None


def _tombstone(_known: Known, stretch: Stretch, operation: Operation, outcome: Outcome | None) -> str | None:
    if stretch.after.tombstones is None:
        return None
    before = set(stretch.before.tombstones or ())
    new = [t for t in stretch.after.tombstones if t not in before]
    literal = str(operation.arguments.get("literal", ""))
    if _committed(outcome):
        listed = any(
            plain(t.literal) in plain(literal) or plain(literal) in plain(t.literal) for t in stretch.after.tombstones
        )
        return None if listed else f"no tombstone of “{literal}” is listed"
    return (
        f"there is a new tombstone of “{new[0].literal}”" if new and stretch.before.tombstones is not None else None
    )


def _armed(stretch: Stretch) -> Operation | None:
    """The one changing operation of a stretch; that a write of it was made to fail changes nothing by itself."""
    changing = tuple(operation for operation in stretch.operations if operation.op != "fail_store")
    return msgspec.structs.replace(stretch, operations=changing).alone


def _declined(operation: Operation) -> bool:
    """Whether it is told to have been refused or to have failed. Of what was cut short CRA-1 speaks."""
    outcome = operation.outcome()
    return operation.ended is EventType.FAIL or (
        outcome is not None and outcome.kind in (OutcomeKind.REFUSED, OutcomeKind.FAILED)
    )


def anc_5(reading: Reading, tally: Tally) -> None:
    """After a refused or failed operation, everything that can be seen is as it was."""
    for stretch in reading.stretches:
        operation = _armed(stretch)
        if operation is None or operation.op not in ("compact", "evict", "tombstone", "supersede"):
            continue
        if not _declined(operation):
            continue
        outcome = operation.outcome()
        tally.trigger()
        left = trace(stretch.before, stretch.after, growing=True)
        if left is not None:
            how = outcome.kind if outcome else "failed"
            tally.fail(
                f"{operation.op} was {how}, and left a trace: {left}.",
                fact=f"{operation.op} at {operation.start}",
                event=stretch.after.end,
            )
    _added_twice(reading, tally)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Early:
    """What a failed operation left behind a pointer: words of a turn, so many times."""

    operation: str
    turn: str
    times: int


def _added_twice(reading: Reading, tally: Tally) -> None:
    """What a failed attempt added to an archive, and the next attempt adds once more.

    An early copy of an original takes nothing away, and the next attempt may make use of it. Where it does not, what
    the failed one left is there for good.
    """
    if not any(o.op == "compact" and _declined(o) for o in reading.operations):
        return
    left: dict[tuple[str, str], _Early] = {}
    last: dict[str, str] = {}
    alone = _alone_in_words(reading)
    pending: str | None = None
    for stretch in reading.stretches:
        failing = [o for o in stretch.operations if o.op == "compact" and _declined(o)]
        committed = [o for o in stretch.operations if o.op == "compact" and o.committed]
        # Of what one left that was cut short CRA-1 speaks.
        cut = any(o.op == "compact" and o.ended is EventType.INFO for o in stretch.operations)
        if committed or cut:
            pending = None
        elif failing:
            pending = failing[-1].op
        for token, answer in stretch.after.answers.items():
            if answer.kind not in CONTENT:
                continue
            flat = plain(content(answer))
            if flat == last.get(token):
                continue
            for turn in alone:
                times = _count(flat, reading.said[turn].forms)
                early = left.get((token, turn))
                if early is not None and times > early.times:
                    tally.fail(
                        f"A {early.operation} that failed left {reading.quote(turn)} behind pointer {token}, and a "
                        f"later one added it again: it is there {times} times.",
                        fact=turn,
                        event=stretch.after.end,
                    )
                known = last.get(token)
                if (
                    early is None
                    and known is not None
                    and pending is not None
                    and times > _count(known, reading.said[turn].forms)
                ):
                    left[token, turn] = _Early(operation=pending, turn=turn, times=times)
            last[token] = flat


def _count(flat: str, forms: tuple[tuple[str, ...], ...]) -> int:
    return min(max(flat.count(form) for form in part) for part in forms)


def _alone_in_words(reading: Reading) -> tuple[str, ...]:
    """Turns whose words stand in no other turn, and that came in once."""
    found = []
    texts = {turn: plain(words(said.turn)) for turn, said in reading.said.items()}
    came = Counter(str(o.arguments["turn"]["id"]) for o in reading.operations if o.op == "append")
    for turn, said in reading.said.items():
        if said.forms and came[turn] == 1:
            mine = said.forms[0][0]
            if mine and not any(mine in text for other, text in texts.items() if other != turn):
                found.append(turn)
    return tuple(found)


CHECKERS = (
    RuleChecker(rule="OUT-1", minimum=3, mechanisms=(Mechanism.SUMMARISER,), examine=out_1),
    WatchChecker(rule="OUT-2", minimum=5, mechanisms=(), watch=Outcomes),
    RuleChecker(rule="ANC-5", minimum=2, mechanisms=(Mechanism.SUMMARISER,), examine=anc_5),
)
