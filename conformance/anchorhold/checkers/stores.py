"""CRA-3, OUT-3, PRO-3: power that is lost, a store that fails or says that it succeeded, runs that are cut off."""

from collections.abc import Iterator

from anchorhold.checkers.difference import trace
from anchorhold.checkers.holding import HELD, Hold, through_pointers
from anchorhold.checkers.progress import excuse, held_up
from anchorhold.checkers.reading import Reading
from anchorhold.checkers.record import CONTENT, WITHDRAWING, Observation, Operation, Stretch
from anchorhold.checkers.recovery import STOPS, named, unopened
from anchorhold.checkers.rule import RuleChecker
from anchorhold.checkers.tally import Tally
from anchorhold.checkers.words import content
from anchorhold.compactor import Mechanism
from anchorhold.history import EventType
from anchorhold.size import high_water, least_size
from anchorhold_spec.vocabulary import OutcomeKind

WRITING = frozenset({"compact", "evict", "tombstone", "supersede", "forget", "append", "clear", "rewind", "override"})


def cra_3(reading: Reading, tally: Tally) -> None:
    """Each loss of power: what was acknowledged before is there afterwards."""
    for lane in reading.lanes:
        led: dict[str, str] = {}
        buried: set[tuple[str, str | None]] = set()
        for stretch in lane:
            lost = next((o for o in stretch.operations if o.op in STOPS and o.ok), None)
            if lost is not None:
                # One that is killed keeps what it wrote, synced or not: that it is there then says nothing of power.
                tally.trigger(int(lost.op == "lose_power"))
                gone = _gone(reading, stretch, led, buried)
                if gone is not None:
                    tally.fail(
                        f"{STOPS[lost.op]}, and after recovery {gone}.",
                        fact=named(lost),
                        event=stretch.after.end,
                    )
            for token in [t for t, answer in stretch.after.answers.items() if answer.kind not in CONTENT]:
                led.pop(token, None)
            led |= {t: content(a) for t, a in stretch.after.answers.items() if a.kind in CONTENT}
            buried |= {(t.literal, t.source) for t in stretch.after.tombstones or ()}

    for stopped, opening in unopened(reading):
        if stopped.op in STOPS:
            tally.trigger(int(stopped.op == "lose_power"))
            tally.fail(
                f"{STOPS[stopped.op]}, and the session cannot be opened any more "
                f"({opening.error or 'no reason given'}).",
                fact=named(stopped),
                event=opening.end,
            )


def _gone(reading: Reading, stretch: Stretch, led: dict[str, str], buried: set[tuple[str, str | None]]) -> str | None:
    """What was acknowledged and is no longer there, in words."""
    before, after = stretch.before, stretch.after
    lost = next(o for o in stretch.operations if o.op in STOPS)
    unsure = any(o.op in WRITING and o.start < lost.start and not o.ok for o in stretch.operations)
    standing = reading.standing(after)
    for said in reading.present(after):
        turn = said.turn.id
        if said.at > lost.start or turn in standing or not said.forms or reading.excused(after, turn):
            continue
        was_live = turn in before.raw or said.at > before.end
        if was_live and through_pointers(reading, after, turn) not in HELD | {Hold.PENDING, Hold.UNKNOWN}:
            return f"{reading.quote(turn)}, which was acknowledged, is gone"
        if was_live and not unsure and not stretch.new_summaries:
            return f"{reading.quote(turn)}, which was acknowledged, is no longer in the window"
    # What a caller takes away, wherever, may be taken out of summaries, and these are then others.
    rewritten = any(o.op in WITHDRAWING for o in stretch.operations)
    if not unsure and stretch.gone_summaries and not stretch.of("compact") and not rewritten:
        return f"summary {stretch.gone_summaries[0].id}, whose commit was acknowledged, is gone"
    back = [i for i in after.raw - before.raw if reading.said[i].at < before.start and i not in before.withdrawn]
    if back and not unsure and before.live is not None and not stretch.of("rewind"):
        turn = min(back, key=list(reading.said).index)
        return f"{reading.quote(turn)}, whose replacement was acknowledged, is back in the window"
    for token, text in led.items():
        pointer = reading.pointers.get(token)
        answer = after.answers.get(token)
        known = answer is not None or token in after.errors
        covers = reading.turns_of(pointer.covers) if pointer is not None else None
        excused = covers is None or any(reading.excused(after, turn) for turn in covers)
        if known and not excused and (answer is None or answer.kind not in CONTENT or content(answer) != text):
            return f"pointer {token}, which led to its original, does not any more"
    if after.tombstones is not None and (missing := buried - {(t.literal, t.source) for t in after.tombstones}):
        return f"the tombstone of “{min(literal for literal, _ in missing)}”, which was acknowledged, is gone"
    return None


def _faulty(stretch: Stretch) -> tuple[Operation, Operation] | None:
    """The armed fault of the store in a stretch, and the compaction that met it."""
    armed = next((o for o in stretch.of("fail_store") if o.ok), None)
    met = next((o for o in stretch.of("compact") if armed is not None and o.start > armed.end), None)
    return (armed, met) if armed is not None and met is not None else None


def out_3(reading: Reading, tally: Tally) -> None:
    """Each compaction under a failing store: not committed, or whole all the same, also after opening again."""
    for lane in reading.lanes:
        for number, stretch in enumerate(lane):
            pair = _faulty(stretch)
            if pair is None:
                continue
            armed, compact = pair
            tally.trigger()
            point, fault = armed.arguments.get("point"), armed.arguments.get("fault")
            looks = [stretch.after, *_until_changed(lane[number + 1 :])]
            why = _unfounded(reading, stretch, compact, looks)
            if why is not None:
                sentence, at = why
                tally.fail(
                    f"The store failed at “{point}” ({fault}), and {sentence}.",
                    fact=f"{fault} at {point}",
                    event=at.end,
                )


def _until_changed(following: tuple[Stretch, ...]) -> Iterator[Observation]:
    """The looks after a compaction up to the first one after which something else may have changed."""
    for stretch in following:
        if any(o.op != "reopen" for o in stretch.operations):
            return
        yield stretch.after


def _unfounded(
    reading: Reading, stretch: Stretch, compact: Operation, looks: list[Observation]
) -> tuple[str, Observation] | None:
    """Why what a compaction under a failing store came to is wrong, and the look that shows it."""
    removed = reading.removed(stretch)
    if not compact.committed and compact.ok:
        for look in looks:
            change = trace(stretch.before, look)
            if change is not None:
                return f"the compaction says that it did not commit, but {change}", look
        return None
    if compact.committed and not removed and not stretch.new_summaries:
        return "the compaction says that it committed, and the window is as it was", stretch.after
    ids = {item.id for item in stretch.new_summaries}
    for look in looks:
        if compact.committed and look.live is not None and ids and not ids & {item.id for item in look.items}:
            return f"the compaction said that it committed, and summary {min(ids)} is gone now", look
        if look.pointers is None or not reading.offers("pointers", "get"):
            continue
        for turn in removed:
            held = through_pointers(reading, look, turn)
            gone = turn not in look.raw and held not in HELD | {Hold.PENDING, Hold.UNKNOWN}
            if gone and reading.said[turn].forms and not reading.excused(look, turn):
                how = "the commit went through" if compact.committed else "the compaction ended with an error"
                return f"{how}, and no pointer leads to {reading.quote(turn)}, which left the window", look
    return None


def _interrupted(operation: Operation) -> str | None:
    """What cut a compaction off, in words; none where nothing did."""
    if operation.op != "compact":
        return None
    if operation.ended is not EventType.OK:
        return operation.error or "an error"
    outcome = operation.outcome()
    failing = any(not call.ok for call in operation.calls)
    if outcome is not None and outcome.kind is OutcomeKind.FAILED:
        return outcome.reason or "a failure"
    return "its model failed" if failing and not operation.committed else None


def pro_3(reading: Reading, tally: Tally) -> None:
    """After each run that was cut off: the next one, over the watermark and with a faithful model, goes through."""
    limit = high_water(reading.header.settings)
    unit = reading.header.settings.unit
    for lane in reading.lanes:
        cut: str | None = None
        waiting: dict[str, int] = {}
        for stretch in lane:
            for item in stretch.after.summaries:
                waiting[item.id] = waiting.get(item.id, 0) + 1 if item.pending else 0
            settled = [o for o in stretch.of("settle") if o.ok]
            stuck = next((item for item in stretch.after.summaries if item.pending), None)
            if settled and stuck is not None:
                tally.fail(
                    f"All background work has ended, and summary {stuck.id} is still declared pending.",
                    fact=stuck.id,
                    event=stretch.after.end,
                )
            armed = bool(stretch.of("fail_store")) or bool(stretch.of("crash"))
            why = next(filter(None, map(_interrupted, stretch.operations)), None)
            if armed or why is not None:
                cut = why or cut
                continue
            alone = [o for o in stretch.operations if o.op != "reopen"]
            if cut is None or len(alone) != 1 or alone[0].op != "compact":
                continue
            compact = alone[0]
            over = limit is None or least_size(stretch.before.items, unit) > limit
            faithful = bool(compact.calls) and all(
                c.ok and c.value.get("mode", "faithful") == "faithful" for c in compact.calls
            )
            if not over or (compact.calls and not faithful):
                continue
            if compact.committed:
                tally.trigger()
                cut = None
                continue
            if limit is None or held_up(reading, stretch, compact) is not None:
                continue
            tally.trigger()
            tally.fail(
                f"A compaction was cut off ({cut}), and the next one does not go through "
                f"({excuse(compact) or 'no reason given'}).",
                fact=f"compaction at {compact.start}",
                event=stretch.after.end,
            )


CHECKERS = (
    RuleChecker(rule="CRA-3", minimum=2, mechanisms=(Mechanism.PERSISTENCE, Mechanism.POWER_LOSS), examine=cra_3),
    RuleChecker(
        rule="OUT-3",
        minimum=2,
        mechanisms=((Mechanism.POINTERS, Mechanism.PERSISTENCE), Mechanism.STORE_ERRORS),
        examine=out_3,
    ),
    RuleChecker(rule="PRO-3", minimum=2, mechanisms=(Mechanism.SUMMARISER,), examine=pro_3),
)
