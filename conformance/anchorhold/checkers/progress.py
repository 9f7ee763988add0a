"""PRO: a compactor that refuses everything does not conform."""

import math
from collections.abc import Iterator, Mapping

from anchorhold.checkers.provenance import reply_of, shown_to
from anchorhold.checkers.reading import Reading
from anchorhold.checkers.record import LEADING, WITHDRAWING, Observation, Operation, Stretch
from anchorhold.checkers.rule import RuleChecker
from anchorhold.checkers.tally import Tally
from anchorhold.checkers.words import content, plain, shorten
from anchorhold.compactor import Settings, Unit
from anchorhold.history import EventType
from anchorhold.size import CHARACTERS_A_TOKEN, high_water, least_size, least_turn_size, tokens, window_size
from anchorhold_spec.vocabulary import OutcomeKind, Turn

FAULTS = frozenset(
    {
        "corrupt",
        "crash",
        "expire",
        "evict",
        "tombstone",
        "supersede",
        "clock",
        "kill",
        "lose_power",
        "fail_store",
        "hold_copies",
    }
)
"""After these a store is no longer simply healthy, and what they left behind may hold a compaction up."""
TRIES = 3
"""Compactions in a row that were committed, after which a window is to be under its watermark."""
FEW = 6
"""Turns at the end of a window that a compactor may leave alone, whatever the watermark and whatever it says."""
WITHOUT_BUDGET = 24
"""Turns in the window that are enough to ask for a compaction where the compactor has no known budget."""


def _faithful(call: Operation) -> bool:
    told = isinstance(call.value, Mapping) and call.value.get("mode", "faithful") == "faithful"
    return call.ended is EventType.OK and told


def _short_lived(reading: Reading) -> bool:
    """Whether originals may expire while they may still be asked for: turns are then rightly kept (EVI-3)."""
    settings = reading.header.settings
    return settings.lifetime is not None and (settings.horizon is None or settings.lifetime < settings.horizon)


def _sick(reading: Reading) -> float:
    """The event at which the first fault began, or the first reply that was not faithful was asked for."""
    for operation in reading.operations:
        if operation.op in FAULTS or not all(_faithful(call) for call in operation.calls):
            return operation.start
    return math.inf


def few(settings: Settings) -> int:
    """Turns at the end of a window that this compactor may leave alone: more than `FEW` where it said so beforehand.

    Who says so of every window is never seen to get anywhere, and his rule stays inconclusive.
    """
    return max(FEW, settings.keep or 0)


def by_its_word(settings: Settings) -> str:
    """Why a window is not judged that holds no more than the compactor says it never replaces, in words."""
    return (
        f"it says that it always keeps its {settings.keep} newest turns (`keep`), and some windows that stayed over "
        "the watermark held no more than these"
    )


def excuse(operation: Operation) -> str | None:
    """What the compactor says holds it up."""
    outcome = operation.outcome()
    if outcome is None:
        return operation.error
    if outcome.kind is OutcomeKind.COMMITTED:
        return None
    return (outcome.reason or "").strip() or "; ".join(outcome.facts) or None


def _asked(stretch: Stretch | None) -> bool:
    return stretch is not None and bool(stretch.of("compact"))


def left_over(reading: Reading, stretch: Stretch) -> int:
    """How many turns stand in the window, after a stretch, that nothing keeps there."""
    answered = {said.turn.result_of for said in reading.present(stretch.after)}
    asking = {call.id: said.turn.id for said in reading.said.values() for call in said.turn.calls}
    latest = sorted(stretch.after.raw, key=reading.order.__getitem__)[-few(reading.header.settings) :]
    groups = {group for turn in latest for group in _groups(reading.said[turn].turn, asking)}
    return sum(
        not reading.said[turn].turn.protected
        # A call stays until its result is there (STR-1).
        and all(call.id in answered for call in reading.said[turn].turn.calls)
        # What one of the latest turns called, or answers, stays with it, and whatever was called together with that.
        and (turn in latest or groups.isdisjoint(_groups(reading.said[turn].turn, asking)))
        for turn in stretch.after.raw
    )


def _groups(turn: Turn, asking: Mapping[str, str]) -> Iterator[str]:
    """Turns with the calls of which a turn is to stay together. `asking`: the turn of each call."""
    if turn.calls:
        yield turn.id
    if turn.result_of is not None and turn.result_of in asking:
        yield asking[turn.result_of]


def held_up(reading: Reading, stretch: Stretch, compact: Operation) -> str | None:
    """What really holds a window up, in words. An end over the watermark is then no failure, and no success."""
    settings = reading.header.settings
    if left_over(reading, stretch) <= few(settings) and (compact.committed or excuse(compact) is not None):
        if left_over(reading, stretch) > FEW:
            return by_its_word(settings)
        return "some windows stayed over the watermark with the latest turns and the summary in them"
    return withheld(compact, settings)


def outgrown(compact: Operation, settings: Settings) -> bool:
    """Whether what the model answered would alone fill the window up to its watermark: no summary fits it."""
    limit = high_water(settings)
    if limit is None or settings.unit is not Unit.TOKENS or excuse(compact) is None:
        return False
    return any(len(reply_of(call)) / CHARACTERS_A_TOKEN > limit for call in _answered(compact))


def _answered(compact: Operation) -> list[Operation]:
    return [call for call in compact.calls if call.op == "summarise" and call.ok]


def withheld(compact: Operation, settings: Settings) -> str | None:
    """Why a compaction is right not to commit what its model answered, in words: only what the record bears out."""
    if outgrown(compact, settings):
        return "some summaries would not have fitted under the watermark"
    outcome, calls = compact.outcome(), _answered(compact)
    if outcome is None or not outcome.facts or not calls:
        return None
    shown, replies = " ".join(map(shown_to, calls)), plain(" ".join(map(reply_of, calls)))
    named = [plain(fact) for fact in outcome.facts]
    # A fact that was shown and that the reply left out: the gate is right to hold it back.
    if all(fact in shown and fact not in replies for fact in named):
        return "some compactions were refused for facts that the reply left out"
    return None


def overtaken(reading: Reading, compact: Operation) -> bool:
    """Whether the caller took something away, or went elsewhere, while a compaction waited for its model, and it was
    not carried out: what it was asked for holds no more."""
    return not compact.committed and any(
        o.op in LEADING | WITHDRAWING and o.process != compact.process and compact.start < o.start < compact.end
        for o in reading.operations
    )


def _too_long(stretch: Stretch, compact: Operation, settings: Settings) -> bool:
    """Whether the window would have stayed over its watermark with what the model answered in place of all the turns
    that it was shown: by the answer alone, without what the compactor puts around it."""
    limit, calls = high_water(settings), _answered(compact)
    if limit is None or settings.unit is not Unit.TOKENS or not calls:
        return False
    shown = " ".join(map(shown_to, calls))
    left = (item for item in stretch.before.items if not plain(content(item)) or plain(content(item)) not in shown)
    return least_size(left, settings.unit) + len(reply_of(calls[-1])) / CHARACTERS_A_TOKEN > limit


def _said(stretch: Stretch, compact: Operation, settings: Settings) -> str:
    """What the compaction answered instead of an explanation, in words."""
    if compact.committed:
        return f", although {TRIES} compactions in a row were committed"
    why, outcome = excuse(compact), compact.outcome()
    if why is None:
        return " without saying what holds it up"
    told = f": it says “{shorten(why)}”"
    if outcome is not None and outcome.facts:
        return f"{told}, and names no fact that its model left out"
    if outcome is None or outcome.kind is OutcomeKind.FAILED or _too_long(stretch, compact, settings):
        # It speaks of no fact: that its model left none out is then no answer to it.
        calls = _answered(compact)
        return told + (f", of an answer of its model of {tokens(reply_of(calls[-1]))} tokens" if calls else "")
    return f"{told}, and names no fact that its model left out"


def pro_1(reading: Reading, tally: Tally) -> None:
    """With a faithful summariser and a healthy store the window comes under its watermark, or it is said why not."""
    if _short_lived(reading):
        tally.note("not judged where originals may expire before the horizon")
        return
    sick = _sick(reading)
    for lane in reading.lanes:
        _pro_1(reading, tally, lane, sick)


def _begun_compacted(reading: Reading, first: Observation) -> bool:
    """Whether turns had been replaced before a window was first looked at: in that of which it is a branch."""
    standing = reading.standing(first)
    return any(said.forms and said.turn.id not in standing for said in reading.present(first))


def _pro_1(reading: Reading, tally: Tally, lane: tuple[Stretch, ...], sick: float) -> None:
    limit = high_water(reading.header.settings)
    unit = reading.header.settings.unit
    asked, waiting, last, tries = 0, 0, 0, 0
    replaced = bool(lane) and _begun_compacted(reading, lane[0].before)
    most = 2 * max(WITHOUT_BUDGET, len(lane[0].before.raw)) if replaced else 0
    sizes = {turn: least_turn_size(said.turn, unit) for turn, said in reading.said.items()}
    following = (*lane[1:], None)
    for stretch, then in zip(lane, following, strict=True):
        if sick < stretch.after.start:
            break
        tries = tries + 1 if _asked(stretch) else 0
        removed = reading.removed(stretch)
        if removed and not replaced:
            most = 2 * max(WITHOUT_BUDGET, len(stretch.after.raw) + len(removed))
        replaced |= bool(stretch.new_summaries) or bool(removed)
        turns = [said.turn.id for said in reading.present(stretch.after) if not said.turn.protected]
        # What the window would hold at least if nothing had ever been compacted.
        demand = len(turns) if limit is None else sum(map(sizes.__getitem__, turns))
        if not _asked(stretch) or demand <= (WITHOUT_BUDGET if limit is None else limit):
            continue
        if all(overtaken(reading, compact) for compact in stretch.of("compact")):
            tally.note("some compactions were overtaken by what the caller did meanwhile")
            continue
        # Where no more than the latest turns are there, nobody has to replace any.
        if left_over(reading, stretch) > few(reading.header.settings) and not all(
            outgrown(compact, reading.header.settings) for compact in stretch.of("compact")
        ):
            asked, waiting, last = asked + 1, len(stretch.after.raw), stretch.after.end
        # Of several compactions in a row it is the last that counts.
        if _asked(then):
            continue
        size = least_size(stretch.after.items, unit)
        if len(stretch.after.raw) <= most if limit is None else size <= limit:
            tally.trigger(int(replaced))
            continue
        compact = stretch.of("compact")[-1]
        if limit is None:
            over = f"{len(stretch.after.raw)} turns stand in the window, and compaction brings it no lower any more"
        else:
            # As PROTOCOL.md counts: whoever reads it counts so as well.
            told = window_size(stretch.after.items, unit)
            over = f"The window holds {told} {unit}, its watermark is {limit:g}, and compaction brings it no lower"
        holding = held_up(reading, stretch, compact)
        if holding is not None:
            tally.note(holding)
        elif compact.committed and tries < TRIES:
            tally.note("some windows were still shrinking when the scenario went on")
        elif limit is not None or (replaced and not compact.committed):
            said = _said(stretch, compact, reading.header.settings)
            tally.fail(f"{over}{said}.", fact="the window", event=stretch.after.end)
    if asked and not replaced:
        tally.fail(
            f"{asked} compactions were asked for while {waiting} turns stood in the window, with a faithful "
            "summariser and a healthy store, and not one turn was ever replaced.",
            fact="the window",
            event=last,
        )


CHECKERS = (RuleChecker(rule="PRO-1", minimum=2, mechanisms=(), examine=pro_1),)
