"""PTR-3: what was removed, what is declared as covered, and what the summariser was shown are the same."""

from bisect import bisect_left

from anchorhold.checkers.provenance import reply_of, shown_to
from anchorhold.checkers.reading import Reading
from anchorhold.checkers.record import WITHDRAWING, Operation, Stretch
from anchorhold.checkers.rule import RuleChecker
from anchorhold.checkers.tally import Tally
from anchorhold.checkers.turns import REPLY
from anchorhold.checkers.words import content, holds, plain
from anchorhold.compactor import Mechanism
from anchorhold.history import EventType
from anchorhold_spec.vocabulary import Item, OutcomeKind


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


def _asked(reading: Reading, stretch: Stretch) -> list[Operation]:
    """The calls of the summariser by which it is judged what a summary was made of.

    A compactor that writes a note by itself where the model failed has shown it everything all the same. Where it
    asked again with less, what the model answered is a summary of that alone.
    """
    found: list[Operation] = []
    for operation in stretch.operations:
        calls = [call for call in operation.calls if call.op == "summarise"]
        answered = [call for call in calls if call.ended is EventType.OK]
        again = reading.contained(" ".join(map(shown_to, answered)))
        found += [call for call in calls if call in answered or not reading.contained(shown_to(call)) & again]
    return found


def _lines(reply: str) -> frozenset[str]:
    """The lines of a reply by which it is known again; all of it where none is long enough."""
    told = frozenset(line for line in map(plain, reply.splitlines()) if len(line) >= REPLY)
    return told or frozenset({plain(reply)} - {""})


def _of_no_model(item: Item, told: list[frozenset[str]]) -> bool:
    """Whether a summary has no line of what a model ever wrote: a stub or a note that the compactor made by itself.

    Of what that stands for nobody had to be shown anything; what it declares is held against it like any other.
    `told`: the lines of each reply.
    """
    text = plain(content(item))
    return not any(line in text for lines in told for line in lines)


def ptr_3(reading: Reading, tally: Tally) -> None:
    """At each commit: removed = shown to the summariser = declared as covered."""
    for lane in reading.lanes:
        _ptr_3(reading, tally, lane)


def _ptr_3(reading: Reading, tally: Tally, lane: tuple[Stretch, ...]) -> None:
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
    lines = [_lines(reply) for reply in written]
    noted: set[str] = set()
    """Summaries that the compactor put there itself, because a caller took away what was there before."""
    for stretch in lane:
        calls = _asked(reading, stretch)
        shown = " ".join(shown_to(call) for call in calls)
        # What a caller takes away is taken out of summaries too, and these are then no other ones.
        withdrawn = any(operation.op in WITHDRAWING for operation in stretch.operations)
        rewritten = withdrawn and not _wrote(stretch)
        if rewritten:
            noted |= {item.id for item in stretch.new_summaries}
        if stretch.new_summaries and not (stretch.of("forget") or rewritten):
            # Of every branch: a summary may have been written before this one began.
            replies = written[: bisect_left(ended, stretch.before.end)] if stretch.gone_summaries else []
            removed = reading.removed(stretch)
            told = lines[: bisect_left(ended, stretch.after.start)]
            own = [item for item in stretch.new_summaries if _of_no_model(item, told)]
            alone = modelless or len(own) == len(stretch.new_summaries)
            filed = frozenset[str]().union(*(_covered(reading, item, under) or () for item in own))
            for turn in removed:
                # Bytes cannot be shown as they are: requests to a model are text here.
                if not reading.said[turn].forms or reading.said[turn].turn.data is not None:
                    continue
                tally.trigger()
                if not alone and turn not in filed and not holds(shown, reading.said[turn].forms):
                    tally.fail(
                        f"{reading.quote(turn, first=True)} was replaced by summary "
                        f"{stretch.new_summaries[-1].id}, but the summariser was never shown it.",
                        fact=turn,
                        event=stretch.after.end,
                    )
            for item in stretch.gone_summaries:
                tally.trigger()
                # Of one that came with the window of which this is a branch no more is known than what it declares.
                originals = under.get(item.id) or _covered(reading, item, under) or frozenset()
                whole = bool(originals) and all(holds(shown, reading.said[t].forms) for t in originals)
                from_originals = alone or whole or (bool(originals) and originals - stretch.after.exempt <= filed)
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


def _wrote(stretch: Stretch) -> bool:
    """Whether a summary may have been written in it: one that was overtaken wrote none."""
    return any(o.calls and (o.op != "compact" or o.committed) for o in stretch.operations)


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


CHECKERS = (RuleChecker(rule="PTR-3", minimum=5, mechanisms=(Mechanism.SUMMARISER,), examine=ptr_3),)
