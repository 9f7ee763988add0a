"""PTR: what a summary replaced stays one step away, and nothing is replaced that the summariser did not see."""

from bisect import bisect_left

from anchorhold.checkers.holding import HELD, PATIENCE, WAITING, Hold, Waits, covering, through_pointers, unseen
from anchorhold.checkers.reading import Reading
from anchorhold.checkers.record import CONTENT, WITHDRAWING, Observation, Operation, Stretch
from anchorhold.checkers.rule import RuleChecker
from anchorhold.checkers.tally import Tally
from anchorhold.checkers.words import content, holds, plain
from anchorhold.compactor import Mechanism
from anchorhold.history import EventType
from anchorhold_spec.vocabulary import AnswerKind, Item, OutcomeKind, Pointer


def _where_it_leads(reading: Reading, observation: Observation, turn: str) -> str:
    """What became of the pointers that stand for a turn, in words."""
    found = []
    for pointer in covering(reading, observation.pointers, turn):
        if pointer.token in observation.errors:
            found.append(f"pointer {pointer.token} ends with an error ({observation.errors[pointer.token]})")
        elif pointer.token in observation.answers:
            answer = observation.answers[pointer.token]
            what = "other words" if answer.kind in CONTENT else f"“{answer.kind}”"
            if answer.kind in CONTENT and turn in reading.contained(content(answer)):
                what = "its words without the arguments of its calls"
            found.append(f"pointer {pointer.token} answers with {what}")
    if not found:
        return "no pointer stands for it"
    return " and ".join(found[:3]) + (f" (and {len(found) - 3} more)" if len(found) > 3 else "")


def _excused(reading: Reading, observation: Observation, turn: str) -> bool:
    """The suite put the original out of reach itself, or a caller decided that what the turn says may go."""
    if reading.excused(observation, turn) or not reading.said[turn].forms:
        return True
    buried = any(
        observation.answers.get(p.token) is not None and observation.answers[p.token].kind is AnswerKind.TOMBSTONED
        for p in covering(reading, observation.pointers, turn)
    )
    return buried and any(drop.source == turn for drop in reading.drops)


def _declared_pending(stretch: Stretch) -> bool:
    """Whether the new summaries, or the outcome of the compaction, are declared pending."""
    outcomes = (o.outcome() for o in stretch.of("compact"))
    return any(item.id in stretch.after.pending for item in stretch.new_summaries) or any(
        o is not None and o.pending for o in outcomes
    )


def ptr_1(reading: Reading, tally: Tally) -> None:
    """At each commit, and again after each reopening: every turn that a summary stands for can be had back."""
    for lane in reading.lanes:
        _ptr_1(reading, tally, lane)


def _ptr_1(reading: Reading, tally: Tally, lane: tuple[Stretch, ...]) -> None:
    if not reading.offers("pointers", "get"):
        return
    waiting: dict[str, str] = {}
    declared: set[str] = set()
    waits = Waits()
    left: list[str] = []
    listed: tuple[Pointer, ...] = ()
    reached: frozenset[str] = frozenset()
    for stretch in lane:
        after = stretch.after
        reopened = [o for o in stretch.operations if o.op == "reopen"]
        if any(o.op in ("evict", "expire") for o in stretch.operations):
            waiting.clear()
            left.clear()
        left += reading.removed(stretch)
        new = _new_pointers(stretch, listed)
        if stretch.new_summaries or new:
            waiting |= dict.fromkeys(left, f"{_committed(stretch, new)} in place of")
            declared |= set(left) if _declared_pending(stretch) else set()
        if after.pointers is not None:
            left.clear()
            listed = after.pointers
        if reopened:
            again = sorted(reached - after.raw, key=list(reading.said).index)
            waiting |= {turn: f"{_opened(stretch)} a pointer led to" for turn in again if turn not in waiting}
        if unseen(after):
            # Nothing was followed, and nothing that is waited for can be excused.
            waiting = {turn: what for turn, what in waiting.items() if turn not in after.raw}
            continue
        for turn, what in list(waiting.items()):
            if _excused(reading, after, turn) or turn in after.raw:
                del waiting[turn]
                continue
            held = through_pointers(reading, after, turn)
            over = waits.over(turn, held, at=after)
            if held is Hold.UNKNOWN:
                continue
            # Only what was declared may wait, and it waits for something that comes.
            open_ = held is Hold.PENDING or bool(after.pending)
            if turn in declared and open_ and held not in HELD and not over:
                continue
            del waiting[turn]
            tally.trigger()
            if held not in HELD:
                late = f", and was so {PATIENCE} times" if over else ", which nothing declared pending"
                tail = late if held is Hold.PENDING else ""
                tally.fail(
                    f"{what} {reading.quote(turn)}, but now {_where_it_leads(reading, after, turn)}{tail}.",
                    fact=turn,
                    event=after.end,
                )
        if after.pointers is not None:
            reached = _reached(reading, after)


def _new_pointers(stretch: Stretch, before: tuple[Pointer, ...]) -> tuple[Pointer, ...]:
    """Pointers that came with what now stands in the window, whatever kind of item that is.

    `before` are those that were listed last: not every look lists them.
    """
    known = {(pointer.summary, pointer.token) for pointer in before}
    return tuple(p for p in stretch.after.pointers or () if (p.summary, p.token) not in known)


def _committed(stretch: Stretch, new: tuple[Pointer, ...]) -> str:
    names = [item.id for item in stretch.new_summaries] or [pointer.summary for pointer in new]
    named = f"{'summary' if stretch.new_summaries else 'item'} {', '.join(dict.fromkeys(names))}"
    if stretch.of("crash"):
        return f"A crash came, and {named} had been committed"
    return f"{named[0].upper()}{named[1:]} was committed"


def _opened(stretch: Stretch) -> str:
    return f"Before {'the crash' if stretch.of('crash') else 'the session was opened again'}"


def _reached(reading: Reading, observation: Observation) -> frozenset[str]:
    """The turns outside the window to which a carried pointer leads."""
    answers = (observation.answers.get(pointer.token) for pointer in observation.pointers or ())
    texts = [content(answer) for answer in answers if answer is not None and answer.kind in CONTENT]
    inside = ((turn for turn in reading.contained(text) if reading.with_calls(text, turn)) for text in texts)
    return frozenset().union(*inside) - observation.raw


def _ids(observation: Observation) -> frozenset[str]:
    return frozenset(item.id for item in observation.items)


def ptr_4(reading: Reading, tally: Tally) -> None:
    """Each time a summary replaces a summary: what could be had back before can still be had in one step."""
    for lane in reading.lanes:
        _ptr_4(reading, tally, lane)


def _ptr_4(reading: Reading, tally: Tally, lane: tuple[Stretch, ...]) -> None:
    if not reading.offers("pointers", "get"):
        return
    reached: frozenset[str] = frozenset()
    waiting: set[str] = set()
    listed: tuple[Pointer, ...] = ()
    for stretch in lane:
        after = stretch.after
        if any(o.op in ("evict", "expire") for o in stretch.operations):
            waiting.clear()
        if stretch.new_summaries and stretch.gone_summaries:
            waiting |= reached
        elif after.pointers is not None and any(pointer.summary not in _ids(after) for pointer in listed):
            # What carries the pointers may be a notice; where another takes its place, the same holds of it.
            waiting |= reached
        for turn in [i for i in reading.said if i in waiting]:
            if _excused(reading, after, turn) or turn in after.raw:
                waiting.discard(turn)
                continue
            held = through_pointers(reading, after, turn)
            if held in WAITING:
                continue
            waiting.discard(turn)
            tally.trigger()
            if held not in HELD:
                tally.fail(
                    f"A pointer of a replaced summary led to {reading.quote(turn)}; from the summary that replaced "
                    f"it the turn is not one step away: {_where_it_leads(reading, after, turn)}.",
                    fact=turn,
                    event=after.end,
                )
        if after.pointers is not None:
            reached, listed = _reached(reading, after), after.pointers


def shown_to(call: Operation) -> str:
    """Everything that one call of the summariser was shown."""
    messages = call.arguments.get("messages", ())
    return plain("\n".join(str(message) for message in messages))


def reply_of(call: Operation) -> str:
    """What the summariser answered; empty where it raised."""
    return str(call.value.get("text", "")) if call.ok and isinstance(call.value, dict) else ""


def _was_shown(text: str, replies: list[str], shown: str, *, shortened: bool) -> bool:
    """Whether a summary's text was shown: framed as in the window, or as the summariser wrote it.

    `shortened`: lines may have been taken out of it since it was written, at a caller's wish (ERA-1).
    """
    flat = plain(text)
    bodies = [flat, *(reply for reply in map(plain, replies) if reply and reply in flat)]
    if any(body and body in shown for body in bodies):
        return True
    if not shortened:
        return False
    told = {plain(line) for reply in replies for line in reply.splitlines()}
    left = [line for line in map(plain, text.splitlines()) if line and line in told]
    return bool(left) and all(line in shown for line in left)


def ptr_3(reading: Reading, tally: Tally) -> None:
    """At each commit: removed = shown to the summariser = declared as covered."""
    noted: dict[str, set[str]] = {}
    for lane in reading.lanes:
        session = lane[0].after.session
        forked = reading.forks.get(session)
        # A branch begins with the window of which it is one.
        noted[session] = set(noted.get(forked.parent, ())) if forked is not None else set()
        _ptr_3(reading, tally, lane, noted[session])


def _ptr_3(reading: Reading, tally: Tally, lane: tuple[Stretch, ...], noted: set[str]) -> None:
    """`noted`: summaries that the compactor put there itself, because a caller took away what was there before."""
    under: dict[str, frozenset[str]] = {}
    calls_of_all = (c for o in reading.operations for c in o.calls if c.op == "summarise" and c.ok)
    by_end = sorted(calls_of_all, key=lambda call: call.end)
    ended, written = [call.end for call in by_end], [reply_of(call) for call in by_end]
    # Where no model writes anything there is nothing to be shown; what is removed and what is declared remain.
    modelless = "summariser" not in reading.header.mechanisms and not any(
        call.op == "summarise" for operation in reading.operations for call in operation.calls
    )
    names = _names(reading)
    forgotten = any(w.operation.op == "forget" for w in reading.withdrawals)
    for stretch in lane:
        calls = [call for call in stretch.calls if call.ended is EventType.OK]
        shown = " ".join(shown_to(call) for call in calls)
        # What a caller takes away is taken out of summaries too, and these are then no other ones.
        withdrawn = any(operation.op in WITHDRAWING for operation in stretch.operations)
        if withdrawn and not calls:
            noted |= {item.id for item in stretch.new_summaries}
        if stretch.new_summaries and not (stretch.of("forget") or (withdrawn and not calls)):
            # Of every branch: a summary may have been written before this one began.
            replies = written[: bisect_left(ended, stretch.before.end)] if stretch.gone_summaries else []
            removed = reading.removed(stretch)
            for turn in removed:
                # Bytes cannot be shown as they are: requests to a model are text here.
                if not reading.said[turn].forms or reading.said[turn].turn.data is not None:
                    continue
                tally.trigger()
                if not modelless and not holds(shown, reading.said[turn].forms):
                    tally.fail(
                        f"{reading.quote(turn, first=True)} was replaced by summary "
                        f"{stretch.new_summaries[-1].id}, but the summariser was never shown it.",
                        fact=turn,
                        event=stretch.after.end,
                    )
            for item in stretch.gone_summaries:
                tally.trigger()
                originals = under.get(item.id, frozenset())
                whole = bool(originals) and all(holds(shown, reading.said[t].forms) for t in originals)
                from_originals = modelless or whole
                was_shown = _was_shown(content(item), replies, shown, shortened=forgotten) or (
                    item.id in noted
                    and any(plain(line) in shown for line in content(item).splitlines() if line.strip())
                )
                if not was_shown and not from_originals:
                    tally.fail(
                        f"Summary {item.id} was replaced by summary {stretch.new_summaries[-1].id}, but the "
                        "summariser was shown neither it nor the turns under it.",
                        fact=item.id,
                        event=stretch.after.end,
                    )
            _declared(reading, tally, stretch, removed, under)
            if not reading.contained(shown).isdisjoint(stretch.after.raw):
                tally.note("turns that stayed in the window were shown as well, as context that nothing replaced")
        _unknown(tally, stretch, names)
        _outcome(reading, tally, stretch, under)
        for item in stretch.new_summaries:
            under[item.id] = _covered(reading, item, under) or frozenset()


def _names(reading: Reading) -> frozenset[str]:
    """Every name by which a declaration may speak of a turn or of a carrier."""
    items = {item.id for observation in reading.observations for item in observation.items}
    return frozenset(reading.said) | frozenset(reading.aliases) | items


def _unknown(tally: Tally, stretch: Stretch, names: frozenset[str]) -> None:
    """What is declared to be covered exists. Declarations wholly in names of the compactor's own say nothing."""
    declarations = [(f"Summary {item.id}", item.covers or ()) for item in stretch.new_summaries]
    outcomes = [operation.outcome() for operation in stretch.of("compact")]
    declarations += [("The outcome of compact", outcome.covered or ()) for outcome in outcomes if outcome is not None]
    for who, covers in declarations:
        strange = [name for name in covers if name not in names]
        if strange and len(strange) < len(covers):
            tally.fail(
                f"{who} declares that it stands for {', '.join(strange)}, which is no turn and no item.",
                fact=strange[0],
                event=stretch.after.end,
            )


def _outcome(reading: Reading, tally: Tally, stretch: Stretch, under: dict[str, frozenset[str]]) -> None:
    """What the outcome of a compaction says of itself, against what it did to the window."""
    if stretch.alone is None or stretch.alone.op != "compact":
        return
    outcome = stretch.alone.outcome()
    if outcome is None or outcome.kind is not OutcomeKind.COMMITTED:
        return
    end = stretch.after.end
    if outcome.summary is not None and all(item.id != outcome.summary for item in stretch.after.items):
        tally.fail(
            f"The outcome of compact names summary {outcome.summary}, which is not in the window.",
            fact=outcome.summary,
            event=end,
        )
    known = reading.turns_of(outcome.covered)
    if known is None or (outcome.covered and not known and not under.keys() & set(outcome.covered)):
        return
    covered = known.union(*(under[name] for name in outcome.covered or () if name in under))
    for turn in sorted(covered & stretch.after.raw, key=reading.order.__getitem__):
        tally.fail(
            f"The outcome of compact says that it replaced {reading.quote(turn)}, which is still in the window.",
            fact=turn,
            event=end,
        )
    for turn in reading.removed(stretch):
        if turn not in covered:
            tally.fail(
                f"{reading.quote(turn, first=True)} left the window, and the outcome of compact does not say so.",
                fact=turn,
                event=end,
            )


def _covered(reading: Reading, item: Item, under: dict[str, frozenset[str]]) -> frozenset[str] | None:
    """The turns that a summary declares, those under the summaries that it names included."""
    turns = reading.turns_of(item.covers)
    if turns is None:
        return None
    return turns.union(*(under[name] for name in item.covers or () if name in under))


def _declared(
    reading: Reading,
    tally: Tally,
    stretch: Stretch,
    removed: tuple[str, ...],
    under: dict[str, frozenset[str]],
) -> None:
    declarations = [_covered(reading, item, under) for item in stretch.new_summaries]
    names = ", ".join(item.id for item in stretch.new_summaries)
    known = [declared for declared in declarations if declared is not None]
    covered: frozenset[str] = frozenset().union(*known)
    for turn in sorted(covered & stretch.after.raw, key=reading.order.__getitem__):
        tally.fail(
            f"Summary {names} declares that it stands for {reading.quote(turn)}, which is still in the window.",
            fact=turn,
            event=stretch.after.end,
        )
    if len(known) < len(declarations):
        return
    for turn in removed:
        if turn not in covered:
            tally.fail(
                f"{reading.quote(turn, first=True)} left the window when summary {names} was committed, and no "
                "summary declares that it stands for it.",
                fact=turn,
                event=stretch.after.end,
            )
    ids = {name for item in stretch.new_summaries for name in item.covers or ()}
    for item in stretch.gone_summaries:
        missing = under.get(item.id, frozenset()) - covered - stretch.after.exempt
        if item.id not in ids and missing:
            tally.fail(
                f"Summary {item.id} was replaced by summary {names}, which does not declare that it stands for "
                f"{', '.join(sorted(missing))}.",
                fact=item.id,
                event=stretch.after.end,
            )


CHECKERS = (
    RuleChecker(rule="PTR-1", minimum=5, mechanisms=(Mechanism.POINTERS,), examine=ptr_1),
    RuleChecker(rule="PTR-3", minimum=5, mechanisms=(Mechanism.SUMMARISER,), examine=ptr_3),
    RuleChecker(rule="PTR-4", minimum=3, mechanisms=(Mechanism.POINTERS,), examine=ptr_4),
)
