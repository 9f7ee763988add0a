"""How big a window is, by the suite's own counter: four characters of an item are a token, rounded up for each item.

What is told is counted so (`window_size`); what is held against a compactor is never more (`least_size`).
"""

from collections.abc import Iterable

from anchorhold.compactor import Settings, Unit
from anchorhold_spec.vocabulary import Item, Turn

CHARACTERS_A_TOKEN = 4


def tokens(text: str | None) -> int:
    """Tokens of a text."""
    return -(-len(text or "") // CHARACTERS_A_TOKEN)


def turn_size(turn: Turn, unit: Unit) -> int:
    """What a turn adds to a window, its calls included."""
    if unit is Unit.ITEMS:
        return 1
    return (
        tokens(turn.text)
        + -(-len(turn.data or b"") // CHARACTERS_A_TOKEN)
        + sum(tokens(call.arguments) + tokens(call.name) for call in turn.calls)
    )


def window_size(items: Iterable[Item], unit: Unit) -> int:
    """Size of what the model would see."""
    if unit is Unit.ITEMS:
        return sum(1 for _ in items)
    return sum(tokens(item.text) + -(-len(item.data or b"") // CHARACTERS_A_TOKEN) for item in items)


def least_size(items: Iterable[Item], unit: Unit) -> float:
    """Size of a window by whichever way of rounding makes it smaller: nobody is told how to round, and who is just
    under a watermark by his own count is not over it."""
    items = tuple(items)
    if unit is Unit.ITEMS:
        return window_size(items, unit)
    characters = sum(len(item.text or "") + len(item.data or b"") for item in items)
    return min(window_size(items, unit), characters / CHARACTERS_A_TOKEN)


def least_turn_size(turn: Turn, unit: Unit) -> float:
    """What a turn adds to a window at least: some show the name of a call, and some do not."""
    if unit is Unit.ITEMS:
        return 1
    arguments = sum(len(call.arguments) for call in turn.calls)
    return (len(turn.text or "") + len(turn.data or b"") + arguments) / CHARACTERS_A_TOKEN


def high_water(settings: Settings) -> float | None:
    """Size above which the window is to be compacted; none where the compactor has no budget that is known."""
    if settings.budget is None:
        return None
    return settings.budget * (1.0 if settings.watermark is None else settings.watermark)
