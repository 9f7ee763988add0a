"""What is known of the turns in the window, so that a question does not read all of them again: their words, and the
values of slots that they state. Grows with the window, and is made anew where something has left it."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from anchorhold_reference.codec import shown
from anchorhold_reference.extract import Mention
from anchorhold_reference.extract.facts import UnreadableError
from anchorhold_reference.extract.slots import Spelling, name, spelling
from anchorhold_reference.index import words_of

if TYPE_CHECKING:
    from anchorhold_reference.session import Live


class Window:
    """The window as it was when it was last looked at."""

    def __init__(self, live: Sequence["Live"], read: Callable[["Live"], list[Mention]]) -> None:
        """Take the carriers in the window; `read` gives a turn's assertions, or raises `UnreadableError`."""
        self.live = list(live)
        self.by_carrier = {one.carrier: one for one in live if one.turn is not None}
        """The raw ones."""
        self._read = read
        self._words: set[str] = set()
        self._worded = 0
        self._slots: dict[tuple[str, str], list[tuple[Live, int, Mention]]] = {}
        self._spellings: dict[str, set[Spelling]] = {}
        """By a subject's name its spellings."""
        self._slotted = 0
        self._unread: list[str] = []

    def grown(self, live: Sequence["Live"]) -> bool:
        """Take over a later state of the window; False where more than new turns has changed."""
        known = [one.carrier for one in self.live]
        if [one.carrier for one in live[: len(known)]] != known:
            return False
        self.live = list(live)
        self.by_carrier = {one.carrier: one for one in live if one.turn is not None}
        return True

    def may_say(self, literal: str) -> bool:
        """Whether every word of a literal is among those of the turns: else none of them says it."""
        for one in self.live[self._worded :]:
            if one.turn is not None:
                self._words.update(words_of(shown(one.turn) or ""))
        self._worded = len(self.live)
        return self._words.issuperset(words_of(literal))

    def stated(self, subject: str, attribute: str) -> tuple[list[tuple["Live", int, Mention]], list[str]]:
        """What the turns state of a slot, by its names as they are compared, each with its place among the turn's
        assertions; and the ids of the turns that cannot be read."""
        for one in self.live[self._slotted :]:
            if one.turn is None:
                continue
            try:
                mentions = self._read(one)
            except UnreadableError:
                self._unread.append(one.turn.id)
                continue
            for i, m in enumerate(mentions):
                if m.kind == "slot":
                    about = name(m.subject or "")
                    self._slots.setdefault((about, name(m.attribute or "")), []).append((one, i, m))
                    self._spellings.setdefault(about, set()).add(spelling(m.subject or "", m.said))
        self._slotted = len(self.live)
        return self._slots.get((subject, attribute), []), self._unread

    def spellings(self, subject: str) -> set[Spelling]:
        """How the turns that `stated` has read spell a subject, by its name as it is compared."""
        return self._spellings.get(subject, set())


class Windows:
    """The window of a session, looked at anew only where it may have changed."""

    def __init__(self) -> None:
        """Nothing is known yet."""
        self._mark: object = None
        self._window = Window((), lambda _: [])

    def now(
        self, mark: object, live: Callable[[], Sequence["Live"]], read: Callable[["Live"], list[Mention]]
    ) -> Window:
        """The window; `mark` is another value whenever it may be another window."""
        if mark != self._mark:
            current = live()
            if self._mark is None or not self._window.grown(current):
                self._window = Window(current, read)
            self._mark = mark
        return self._window
