"""Do the arguments of a call come back as they were (STR-3)?

Some compactors hold them as the model wrote them, and some parsed: who parses writes them down anew, and spaces,
escapes and the order of members are then his. What no way of writing changes is a string's characters and a number's
digits; and who shows them in the window as they were written gives them back so.
"""

import json
import re
from collections.abc import Iterator
from decimal import Decimal, DecimalException
from functools import lru_cache

from anchorhold.checkers.words import leaves, shorten
from anchorhold_spec.vocabulary import ToolCall, Turn

NUMBER = re.compile(r"-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?")


@lru_cache(maxsize=4096)  # The same few calls are looked at at every look.
def odd(arguments: str) -> bool:
    """Whether arguments are written otherwise than everybody would write them who had parsed them."""
    try:
        return json.dumps(json.loads(arguments)) != arguments
    except (ValueError, RecursionError):
        return True


def written_oddly(turn: Turn) -> bool:
    """Whether a turn has a call whose arguments are."""
    return any(odd(call.arguments) for call in turn.calls)


class Arguments:
    """The arguments of calls, as windows showed them so far."""

    def __init__(self) -> None:
        self._as_written: set[str] = set()
        """Turns whose arguments the window showed as they were written."""

    def shown(self, turn: Turn, text: str) -> None:
        """A turn stood in the window with this text."""
        if written_oddly(turn) and all(_verbatim(call.arguments, text) for call in turn.calls):
            self._as_written.add(turn.id)

    def changed(self, turn: Turn, text: str) -> str | None:
        """How the arguments in a text differ from those of a turn, in words; none where they are the same."""
        for call in turn.calls:
            if _verbatim(call.arguments, text):
                continue
            lost = next(_lost(call, text), None)
            if lost is not None:
                return f"“{shorten(lost)}” in the arguments of {call.name} came back as something else"
            if turn.id in self._as_written:
                return f"the arguments of {call.name} are written otherwise than the window showed them"
        return None


def _verbatim(text: str, within: str) -> bool:
    return any(form in within for form in _escaped(text))


def _escaped(text: str) -> Iterator[str]:
    """A text as it is, and as it stands in JSON, once or twice."""
    yield text
    for ascii_only in (True, False):
        once = json.dumps(text, ensure_ascii=ascii_only)[1:-1]
        yield once
        yield json.dumps(once, ensure_ascii=ascii_only)[1:-1]
    yield repr(text)[1:-1]


class _Digits(str):
    """A number, as it was written."""

    __slots__ = ()


def _lost(call: ToolCall, text: str) -> Iterator[str]:
    """The values that a text does not hold."""
    try:
        parsed = json.loads(call.arguments, parse_int=_Digits, parse_float=_Digits)
    except (ValueError, RecursionError):
        yield call.arguments
        return
    numbers = {_exact(number) for number in NUMBER.findall(text)}
    for leaf in leaves(parsed):
        if isinstance(leaf, _Digits):
            if _exact(leaf) not in numbers:
                yield leaf
        elif leaf and not _verbatim(leaf, text):
            yield leaf


def _exact(number: str) -> Decimal | str:
    """What a number is, whatever way it is written; an integer's neighbours are others, however long it is."""
    try:
        return Decimal(number).normalize() if len(number) < PRECISE else number
    except DecimalException:  # "1e99999999", as it stands in a digest
        return number


PRECISE = 28
"""Digits up to which a decimal is compared by its value."""
