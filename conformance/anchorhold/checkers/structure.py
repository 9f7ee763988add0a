"""STR: what is put back together is a valid transcript, and the same one."""

import json
import unicodedata
from collections import Counter
from collections.abc import Iterator
from itertools import islice, pairwise
from operator import lt

from anchorhold.checkers.arguments import Arguments, written_oddly
from anchorhold.checkers.calls import CallsAndResults
from anchorhold.checkers.ids import UNMAKING, Ids
from anchorhold.checkers.keys import Keys
from anchorhold.checkers.reading import Known, Reading
from anchorhold.checkers.record import Observation, Operation
from anchorhold.checkers.rule import RuleChecker, WatchChecker
from anchorhold.checkers.tally import Tally
from anchorhold.checkers.watch import Watch
from anchorhold.checkers.words import content, leaves, plain, shorten
from anchorhold_spec.vocabulary import AnswerKind, CarrierKind, Item, Turn

REPLACEMENT = "\N{REPLACEMENT CHARACTER}"
SURE = 16
"""Letters and digits in a row by which a turn is known again whatever became of the rest."""


class Order(Watch):
    """Each window: turns in the order in which they came, each once, and no id twice; marks that stay; and ids of
    summaries that no later one gets."""

    operations = frozenset({"append", *UNMAKING})

    def __init__(self, known: Known, keys: Keys, tally: Tally) -> None:
        super().__init__(known, keys, tally)
        self._came: set[str] = set()
        self._again: set[str] = set()
        """Turns that came in twice: where they go is judged by IDX-5."""
        self._marks = False
        self._marked: dict[str, str] = {}
        self._judged: dict[str, tuple[object, int]] = {}
        self._ids = Ids()

    def operation(self, operation: Operation) -> None:
        if operation.op != "append":
            self._ids = Ids()
            return
        turn = operation.turn
        if turn.id in self._came:
            self._again.add(turn.id)
        elif operation.ok:
            self._came.add(turn.id)
        self._marks |= turn.status is not None

    def look(self, look: Observation) -> None:
        if look.live is None:
            return
        self.tally.trigger()
        state = (look.live, len(self._again))
        judged = self._judged.get(look.session)
        if judged is None or judged[0] is not look.live or judged[1] != state[1]:
            self._window(look)
            self._judged[look.session] = state
            for item in self._ids.again(look.session, look.live):
                self.tally.fail(
                    f"Summary {item.id} is another one than that which had its id before, and left the window: "
                    "whatever named the first now names the second.",
                    fact=item.id,
                    event=look.end,
                )
        if self._marks:
            self._marks_of(look)

    def _window(self, look: Observation) -> None:
        known, again, order = self.known, self._again, self.known.order
        if self._in_order(look):
            return
        names = [known.turn_of(item.turn) for item in look.items]
        ids = [item.id for item, name in zip(look.items, names, strict=True) if name not in again]
        if len(set(ids)) < len(ids):
            for item, times in Counter(ids).items():
                if times > 1:
                    self.tally.fail(f"{times} items of the window have the id {item}.", fact=item, event=look.end)
        turns = [
            name
            for item, name in zip(look.items, names, strict=True)
            if name is not None and item.kind is CarrierKind.RAW and name in order and name not in again
        ]
        numbers = [order[turn] for turn in turns]
        if all(map(lt, numbers, islice(numbers, 1, None))):
            return
        for turn, times in Counter(turns).items():
            if times > 1:
                self.tally.fail(
                    f"{known.quote(turn, first=True)} stands in the window {times} times.", fact=turn, event=look.end
                )
        for earlier, later in pairwise(turns):
            if order[earlier] > order[later]:
                self.tally.fail(
                    f"{known.quote(later, first=True)} came before turn {earlier}, and stands behind it in the "
                    "window.",
                    fact=later,
                    event=look.end,
                )

    def _in_order(self, look: Observation) -> bool:
        """Whether no id stands twice, and every turn behind all that came before it: nothing has to be said then."""
        if self._again:
            return False
        items, order, turn_of = look.items, self.known.order, self.known.turn_of
        last, ids = -1, set[str]()
        for item in items:
            ids.add(item.id)
            if item.turn is not None and item.kind is CarrierKind.RAW:
                name = turn_of(item.turn)
                number = order.get(name, last + 1) if name is not None else last + 1
                if number <= last:
                    return False
                if name in order:
                    last = number
        return len(ids) == len(items)

    def _marks_of(self, look: Observation) -> None:
        """A turn that was shown with its mark keeps it. A compactor that never shows one has none to lose."""
        for turn, text in _texts(self.known, look):
            status = self.known.said[turn].turn.status
            if status is None:
                continue
            own = plain(self.known.said[turn].turn.text or "").casefold().count(status)
            shown = plain(text).casefold().count(status) > own
            if shown:
                self._marked.setdefault(turn, text)
                self.tally.trigger()
            elif turn in self._marked:
                self.tally.fail(
                    f"{self.known.quote(turn, first=True)} was shown as {status} "
                    f"(“{shorten(self._marked[turn])}”), and is no longer: “{shorten(text)}”.",
                    fact=turn,
                    event=look.end,
                )


def _texts(known: Known, look: Observation) -> Iterator[tuple[str, str]]:
    """What stands for each single turn: its item."""
    for item in look.items:
        turn = known.turn_of(item.turn)
        if item.kind is CarrierKind.RAW and turn in known.said:
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
    inside = _strings(text)
    if own in inside:
        return None
    return _differs(own, text) or (_differs(own, inside) if inside else None)


def _strings(text: str) -> str:
    """The strings of a message that came in JSON, from which each can be had exactly; nothing of another text."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return ""
    return "\n".join(leaves(value)) if isinstance(value, dict | list) else ""


def _differs(own: str, text: str) -> str | None:
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
    """Each turn of bytes, control characters, odd white space or other scripts, and each call whose arguments are
    written in a way of their own: in the window, and by its pointer."""
    arguments = Arguments()
    for observation in reading.observations:
        for item in observation.items:
            turn = reading.turn_of(item.turn)
            if item.kind is CarrierKind.RAW and turn in reading.said:
                _compare(reading, tally, observation, turn, item, f"in the window ({item.id})")
                arguments.shown(reading.said[str(turn)].turn, content(item))
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
                said = reading.said[turn].turn
                if not written_oddly(said):
                    continue
                tally.trigger()
                why = arguments.changed(said, content(answer))
                if why is not None:
                    what = f"{reading.quote(turn, first=True)} comes back by pointer {token}, and {why}."
                    tally.fail(what, fact=turn, event=observation.end)


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
    free: set[str] = set()
    """Turns that were replaced when nothing held them: a rewind makes an older request the latest again."""
    for stretch in reading.stretches:
        removed = reading.removed(stretch)
        if removed:
            replaced.add(stretch.after.session)
        if stretch.after.session not in replaced:
            continue
        bound = _bound(reading, stretch.after)
        free.update(turn for turn in removed if turn not in bound)
        if not (stretch.of("compact") or stretch.of("append")):
            continue
        for turn, why in bound.items():
            said = reading.said[turn]
            if not said.forms or (turn in free and turn not in stretch.before.raw):
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
    WatchChecker(rule="STR-1", minimum=3, mechanisms=(), watch=CallsAndResults),
    WatchChecker(rule="STR-2", minimum=5, mechanisms=(), watch=Order),
    RuleChecker(rule="STR-3", minimum=3, mechanisms=(), examine=str_3),
    RuleChecker(rule="STR-4", minimum=3, mechanisms=(), examine=str_4),
)
