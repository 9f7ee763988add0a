"""STR: what is put back together is a valid transcript, and the same one."""

import unicodedata
from collections import Counter
from collections.abc import Iterator
from itertools import pairwise

from anchorhold.checkers.entries import handed_in_again
from anchorhold.checkers.reading import Observation, Reading
from anchorhold.checkers.tally import RuleChecker, Tally
from anchorhold.checkers.words import content, plain, shorten
from anchorhold_spec.vocabulary import AnswerKind, CarrierKind, Item, Turn

REPLACEMENT = "\N{REPLACEMENT CHARACTER}"
SURE = 16
"""Letters and digits in a row by which a turn is known again whatever became of the rest."""


def _there(reading: Reading, observation: Observation) -> frozenset[str]:
    """The turns that have an item of their own in the window, whatever it says by now, or stand in one."""
    named = (reading.turn_of(item.turn) for item in observation.items if item.kind is not CarrierKind.SUMMARY)
    return observation.raw | frozenset(turn for turn in named if turn is not None and turn in reading.said)


def str_1(reading: Reading, tally: Tally) -> None:
    """Each call that was answered, in every look after a first compaction: both are in the window, or neither."""
    for observation in reading.observations:
        if observation.live is None or not any(
            o.op == "compact" and o.end < observation.start for o in reading.operations
        ):
            continue
        present = reading.present(observation)
        results = {said.turn.result_of: said.turn.id for said in present if said.turn.result_of is not None}
        there = _there(reading, observation)
        for said in present:
            for call in said.turn.calls:
                if call.id not in results:
                    continue
                asking, result = said.turn.id, results[call.id]
                tally.trigger()
                if (asking in there) is not (result in there):
                    what = (
                        f"Call {call.id} is in the window (turn {asking}) and its result (turn {result}) is not"
                        if asking in there
                        else f"The result of call {call.id} is in the window (turn {result}) and the call "
                        f"(turn {asking}) is not"
                    )
                    tally.fail(f"{what}.", fact=call.id, event=observation.end)


def str_2(reading: Reading, tally: Tally) -> None:
    """Each window: turns in the order in which they came, each once, and no id twice; and marks that stay."""
    again = handed_in_again(reading)
    # Where a turn that comes in twice goes is judged by IDX-5.
    order = {turn: number for number, turn in enumerate(reading.said) if turn not in again}
    marked: dict[str, str] = {}
    for observation in reading.observations:
        if observation.live is not None:
            tally.trigger()
            _window(reading, tally, observation, order)
        _marks(reading, tally, observation, marked)


def _window(reading: Reading, tally: Tally, observation: Observation, order: dict[str, int]) -> None:
    known = reading.said.keys() - order.keys()
    ids = Counter(item.id for item in observation.items if reading.turn_of(item.turn) not in known)
    for item, times in ids.items():
        if times > 1:
            tally.fail(f"{times} items of the window have the id {item}.", fact=item, event=observation.end)
    raw = [reading.turn_of(item.turn) for item in observation.items if item.kind is CarrierKind.RAW]
    turns = [turn for turn in raw if turn in order]
    for turn, times in Counter(turns).items():
        if times > 1:
            tally.fail(
                f"{reading.quote(str(turn), first=True)} stands in the window {times} times.",
                fact=str(turn),
                event=observation.end,
            )
    for earlier, later in pairwise(turns):
        if order[str(earlier)] > order[str(later)]:
            tally.fail(
                f"{reading.quote(str(later), first=True)} came before turn {earlier}, and stands behind it in the "
                "window.",
                fact=str(later),
                event=observation.end,
            )


def _marks(reading: Reading, tally: Tally, observation: Observation, marked: dict[str, str]) -> None:
    """A turn that was shown with its mark keeps it. A compactor that never shows one has none to lose."""
    for turn, text in _texts(reading, observation):
        status = reading.said[turn].turn.status
        if status is None:
            continue
        own = plain(reading.said[turn].turn.text or "").casefold().count(status)
        shown = plain(text).casefold().count(status) > own
        if shown:
            marked.setdefault(turn, text)
            tally.trigger()
        elif turn in marked:
            tally.fail(
                f"{reading.quote(turn, first=True)} was shown as {status} (“{shorten(marked[turn])}”), and is no "
                f"longer: “{shorten(text)}”.",
                fact=turn,
                event=observation.end,
            )


def _texts(reading: Reading, observation: Observation) -> Iterator[tuple[str, str]]:
    """What stands for each single turn: its item, and what its own pointer leads to."""
    for item in observation.items:
        turn = reading.turn_of(item.turn)
        if item.kind is CarrierKind.RAW and turn in reading.said:
            yield str(turn), content(item)


def _exactly(turn: Turn, text: str | None, data: bytes | None) -> str | None:
    """How what came back differs from a turn, in words; none where it is the same."""
    if turn.data is not None:
        if data is not None:
            return None if turn.data in data else f"its {len(turn.data)} bytes came back as {len(data)} others"
        return f"its {len(turn.data)} bytes came back as text" if (text or "").strip() else None
    own = turn.text or ""
    if not own.strip() or not text:
        return None
    if own in text:
        return None
    if REPLACEMENT in text and REPLACEMENT not in own:
        return "some of its characters came back as U+FFFD"
    if plain(own) in plain(text):
        return "its white space is no longer what it was"
    if _printable(own) in _printable(text):
        return "its control characters are gone"
    if len(bare := skeleton(own)) >= SURE and bare in skeleton(text):
        return "some of its characters came back as others"
    return None


def _printable(text: str) -> str:
    return "".join(character for character in plain(text) if character.isprintable())


def odd(turn: Turn) -> bool:
    """Whether a turn has something that a careless store changes."""
    own = turn.text or ""
    return turn.data is not None or own != plain(own) or not own.isascii() or not own.isprintable()


def str_3(reading: Reading, tally: Tally) -> None:
    """Each turn of bytes, control characters, odd white space or other scripts: in the window, and by its pointer."""
    for observation in reading.observations:
        for item in observation.items:
            turn = reading.turn_of(item.turn)
            if item.kind is CarrierKind.RAW and turn in reading.said:
                _compare(reading, tally, observation, turn, item, f"in the window ({item.id})")
        for token, answer in observation.answers.items():
            pointer = reading.pointers.get(token)
            covers = reading.turns_of(pointer.covers) if pointer is not None else None
            if answer.kind is not AnswerKind.FOUND or observation.exempt & (covers or frozenset()):
                continue
            among = covers if covers is not None else _among(reading, observation, content(answer))
            for turn in among:
                # Text that stands for several turns has no place for bytes: whether they can be had is PTR-1's.
                if len(among) > 1 and reading.said[turn].turn.data is not None and answer.data is None:
                    continue
                _compare(reading, tally, observation, turn, answer, f"by pointer {token}")


def _among(reading: Reading, observation: Observation, text: str) -> frozenset[str]:
    """The turns whose words stand in a text, in whatever form: also where they came back changed."""
    bare = skeleton(text)
    changed = {
        name
        for name, said in reading.said.items()
        if said.at < observation.start
        and name not in observation.exempt
        and odd(said.turn)
        and len(own := skeleton(said.turn.text or "")) >= SURE
        and own in bare
    }
    return reading.contained(text) | changed


def skeleton(text: str) -> str:
    """Letters and digits alone, in one form: what is left of a text that was tidied."""
    return "".join(filter(str.isalnum, unicodedata.normalize("NFKC", text)))


def _compare(
    reading: Reading, tally: Tally, observation: Observation, turn: str | None, got: Item | object, where: str
) -> None:
    assert turn is not None
    said = reading.said[turn]
    if not odd(said.turn) or said.at > observation.end:
        return
    tally.trigger()
    text, data = getattr(got, "text", None), getattr(got, "data", None)
    why = _exactly(said.turn, text, data)
    if why is not None:
        tally.fail(
            f"{reading.quote(turn, first=True)} comes back {where}, and {why}.", fact=turn, event=observation.end
        )


def _bound(reading: Reading, observation: Observation) -> dict[str, str]:
    """The turns that have to stay in the window as they are, and why."""
    present = reading.present(observation)
    found = {
        said.turn.id: "it is a system turn" if said.turn.speaker == "system" else "it is protected"
        for said in present
        if said.turn.protected or said.turn.speaker == "system"
    }
    for said in reversed(present):
        turn = said.turn
        if turn.speaker == "user":
            found.setdefault(turn.id, "it is the latest request, and nobody has answered it")
            break
        if turn.speaker == "assistant" and (turn.text or "").strip() and not turn.calls:
            break
    return found


def str_4(reading: Reading, tally: Tally) -> None:
    """Each compaction that replaced something: what has to stay is there, word for word and once."""
    replaced: set[str] = set()
    for stretch in reading.stretches:
        if reading.removed(stretch):
            replaced.add(stretch.after.session)
        if stretch.after.session not in replaced or not (stretch.of("compact") or stretch.of("append")):
            continue
        for turn, why in _bound(reading, stretch.after).items():
            said = reading.said[turn]
            if not said.forms:
                continue
            tally.trigger()
            if turn in stretch.after.raw:
                continue
            tally.fail(
                f"{reading.quote(turn, first=True)} has to stay in the window, since {why}, and is no longer there "
                "as it was.",
                fact=turn,
                event=stretch.after.end,
            )


CHECKERS = (
    RuleChecker(rule="STR-1", minimum=3, mechanisms=(), examine=str_1),
    RuleChecker(rule="STR-2", minimum=5, mechanisms=(), examine=str_2),
    RuleChecker(rule="STR-3", minimum=3, mechanisms=(), examine=str_3),
    RuleChecker(rule="STR-4", minimum=3, mechanisms=(), examine=str_4),
)
