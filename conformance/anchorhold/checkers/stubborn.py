"""MAN-3 and PRO-2: spans that nothing can be read from stay as they are, and hold up nobody else."""

from statistics import median

from anchorhold.checkers.progress import FEW, by_its_word, excuse, few
from anchorhold.checkers.reading import Reading
from anchorhold.checkers.record import WITHDRAWING, Observation, Stretch
from anchorhold.checkers.rule import RuleChecker
from anchorhold.checkers.tally import Tally
from anchorhold.checkers.words import shorten
from anchorhold.compactor import Mechanism, Unit
from anchorhold.history import MAIN, EventType
from anchorhold.size import high_water, least_size, turn_size
from anchorhold_spec.vocabulary import Turn

WITHOUT_BUDGET = 24
"""Turns in the window that are enough to ask for a compaction where the compactor has no known budget."""
PATIENCE = 3
"""Compactions in a row of which one has to replace something."""
OVERLONG = 8
"""Times the median of a window's turns, from which on a turn is one that a model or a reader may choke on."""


def opaque(turn: Turn) -> bool:
    """Whether a turn has bytes that are no text in any encoding of it, so that no manifest can be computed."""
    if turn.data is None:
        return False
    try:
        turn.data.decode("utf-8", "surrogatepass")
    except UnicodeDecodeError:
        return True
    return False


def man_3(reading: Reading, tally: Tally) -> None:
    """Each compaction with an opaque turn among what is older than what it replaced."""
    if not reading.offers("manifest"):
        return
    order = list(reading.said)
    strange = {turn for turn, said in reading.said.items() if opaque(said.turn)}
    for stretch in reading.stretches:
        if not strange or not (stretch.of("compact") or stretch.of("append")):
            continue
        removed = reading.removed(stretch)
        if not removed:
            continue
        newest = max(map(order.index, removed))
        for turn in (stretch.before.raw | frozenset(removed)) & strange:
            if order.index(turn) > newest:
                continue
            tally.trigger()
            if turn in removed and not _read(reading, stretch.after, turn):
                tally.fail(
                    f"Turn {turn} holds bytes that are no text ({len(reading.said[turn].turn.data or b'')} of them), "
                    "of which no manifest can be computed, and it was replaced all the same.",
                    fact=turn,
                    event=stretch.after.end,
                )


def _read(reading: Reading, observation: Observation, turn: str) -> bool:
    """Whether a manifest has an entry of a turn: something was computed after all."""
    return any(
        reading.turn_of(entry.source) == turn for entries in observation.manifests.values() for entry in entries
    )


def bad(reading: Reading, observation: Observation) -> dict[str, str]:
    """The turns of a window that are in the way of a compaction, and why, in words."""
    answered = {s.turn.result_of for s in reading.present(observation) if s.turn.result_of is not None}
    present = [said for said in reading.present(observation) if said.turn.id in observation.raw]
    sizes = {said.turn.id: turn_size(said.turn, Unit.TOKENS) for said in present}
    long = OVERLONG * median(sizes.values()) if sizes else 0
    found: dict[str, str] = {}
    for said in present:
        turn = said.turn
        if opaque(turn):
            found[turn.id] = "holds bytes that are no text"
        elif turn.status in ("killed", "unfinished"):
            found[turn.id] = f"is marked “{turn.status}”"
        elif any(call.id not in answered for call in turn.calls):
            found[turn.id] = "holds a call that nothing answered"
        elif sizes[turn.id] > long:
            found[turn.id] = f"is {sizes[turn.id]:,} tokens long, more than {OVERLONG} ordinary turns together"
    return found


def _wanting(reading: Reading, observation: Observation, stuck: dict[str, str]) -> list[Turn]:
    """Ordinary turns in a window that is over its watermark; none where it is not."""
    settings = reading.header.settings
    limit = high_water(settings)
    turns = [
        said.turn
        for said in reading.present(observation)
        if said.turn.id in observation.raw and said.turn.id not in stuck and not said.turn.protected
    ]
    over = len(turns) > WITHOUT_BUDGET if limit is None else least_size(observation.items, settings.unit) > limit
    return turns if over else []


def _well(stretch: Stretch) -> bool:
    """Whether nothing but the bad turn stood in the way: the model did its work, nothing crashed, and the caller did
    nothing meanwhile that a compaction gives way to."""
    answered = all(
        call.ended is EventType.OK and call.value.get("mode", "faithful") == "faithful" for call in stretch.calls
    )
    overtaken = any(o.process != MAIN and o.op in WITHDRAWING for o in stretch.operations)
    return answered and not overtaken and not stretch.of("crash")


def pro_2(reading: Reading, tally: Tally) -> None:
    """Compactions with a bad turn in the window, or under a pointer: the ordinary turns are replaced all the same."""
    for lane in reading.lanes:
        _pro_2(reading, tally, lane)


def _pro_2(reading: Reading, tally: Tally, lane: tuple[Stretch, ...]) -> None:
    tries, since = 0, ""
    for stretch in lane:
        before = stretch.before
        compacted = stretch.of("compact")
        stuck = bad(reading, before) if compacted else {}
        if not stuck and before.damaged:
            stuck = {"": "damage was done to stored bytes"}
        ordinary = len(_wanting(reading, before, stuck)) if stuck and _well(stretch) else 0
        # There have to be enough to work with.
        if ordinary <= few(reading.header.settings):
            if reading.removed(stretch):
                tries = 0
            elif ordinary > FEW:
                tally.note(by_its_word(reading.header.settings))
            continue
        replaced = [turn for turn in reading.removed(stretch) if turn not in stuck]
        if replaced:
            tries = 0
            tally.trigger()
            continue
        tries += len(compacted)
        since = since or _blamed(stuck)
        if tries >= PATIENCE:
            why = excuse(compacted[-1])
            told = f" It says “{shorten(why)}”." if why else ""
            tally.fail(
                f"{since}, and {tries} compactions in a row replaced nothing of the {ordinary} ordinary turns in the "
                f"window.{told}",
                fact=next(iter(stuck)) or "the store",
                event=stretch.after.end,
            )
            return


def _blamed(stuck: dict[str, str]) -> str:
    turn, why = next(iter(stuck.items()))
    return f"Turn {turn} {why}" if turn else f"{why[0].upper()}{why[1:]}"


CHECKERS = (
    RuleChecker(rule="MAN-3", minimum=2, mechanisms=(Mechanism.MANIFESTS,), examine=man_3),
    RuleChecker(rule="PRO-2", minimum=2, mechanisms=(), examine=pro_2),
)
