"""The same window without a gate: what a compactor would show the model that only summarises.

It compacts at the same watermark, with the same summariser and the same bound on what that may write, and keeps what
every compactor has to keep: the newest turns, calls with their results, the latest unanswered request. It retains
nothing for want of a manifest, names no omissions and repeats nothing: what the replay's window has beyond this one
is what losing nothing costs.
"""

from collections.abc import Sequence

from anchorhold.corpus.lossy import summarise
from anchorhold_reference import Request, Settings
from anchorhold_reference.compaction import LINE_RESERVE
from anchorhold_reference.decide import Candidate, select
from anchorhold_reference.planning import carrier_size, grouped, latest_request, window_size
from anchorhold_reference.reply import said, shorten
from anchorhold_reference.session import Live
from anchorhold_reference.summaries import request
from anchorhold_reference.values import four_characters
from anchorhold_spec.vocabulary import Turn


def in_window(at: int, one: Turn | str) -> Live:
    """A turn, or a summary's text, as a carrier in a window."""
    if isinstance(one, Turn):
        return Live(carrier=at, generation=0, claimed=False, turn=one)
    return Live(carrier=at, generation=1, claimed=False, turn=None, text=one, body=one)


def replaced(window: Sequence[Live], settings: Settings) -> tuple[int, ...]:
    """Which carriers of a window are replaced, by index, where its structure alone is asked for (STR-1, STR-4)."""
    groups, waiting = grouped(window)
    asked = latest_request(window)
    assert settings.high_water is not None  # a replay has a budget
    return select(
        tuple(
            Candidate(
                size=carrier_size(one, four_characters),
                summary=one.turn is None,
                bound=one.turn is not None
                and (one.turn.protected or one.turn.speaker == "system" or i == asked or i in waiting),
                group=groups[i],
            )
            for i, one in enumerate(window)
        ),
        keep=settings.keep,
        high_water=settings.high_water,
        reserve=settings.high_water // 4,
    )


class Plain:
    """The window of a compactor without a gate."""

    def __init__(self, settings: Settings) -> None:
        """Take the budget and the watermark of the replay."""
        assert settings.high_water is not None  # a replay has a budget
        self._settings = settings
        self._high_water = settings.high_water
        self._window: list[Live] = []
        self._made = 0
        self.size = 0
        """In tokens."""
        self.after: list[int] = []
        """Its size right after each compaction."""

    def append(self, turn: Turn) -> None:
        """Add a turn, and compact where the window is over its watermark then."""
        self._made += 1
        self._window.append(in_window(self._made, turn))
        self.size += carrier_size(self._window[-1], four_characters)
        if self.size > self._high_water:
            self._compact()

    def _compact(self) -> None:
        going = set(replaced(self._window, self._settings))
        if not going:
            return
        chosen = [one for i, one in enumerate(self._window) if i in going]
        stay = [one for i, one in enumerate(self._window) if i not in going]
        room = self._high_water - window_size(stay, four_characters) - LINE_RESERVE
        limit = max(min(room, self._high_water // 2), self._high_water // 8, 16)
        reply = summarise(Request(messages=request(chosen)))
        short = shorten(said(reply), limit=limit, count=four_characters)
        self._made += 1
        summary = in_window(self._made, "" if short is None else short[0])
        self._window = [*stay[: min(going)], summary, *stay[min(going) :]]
        self.size = window_size(self._window, four_characters)
        self.after.append(self.size)
