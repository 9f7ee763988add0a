"""Numbers and dates as values: the same amount in another unit, or rounded, is no invention."""

import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import date, timedelta

_SCALES = {"k": 1e3, "K": 1e3, "M": 1e6, "B": 1e9, "thousand": 1e3, "million": 1e6, "billion": 1e9}
_TIME = {"ns": 1e-9, "µs": 1e-6, "us": 1e-6, "ms": 1e-3, "millisecond": 1e-3, "s": 1.0, "sec": 1.0, "second": 1.0,
         "min": 60.0, "minute": 60.0, "h": 3600.0, "hr": 3600.0, "hour": 3600.0, "day": 86400.0,
         "week": 604800.0}  # fmt: skip
_PREFIXES = {"": 0, "k": 1, "m": 2, "g": 3, "t": 4}
_BYTES = re.compile(r"([kKMGT]?)(i?)(?:[bB]|bytes?)")
_NUMBER = re.compile(
    r"(?<![\w.,])[-+~$€£]?(\d{1,3}(?:[,_]\d{3})+|\d+)(\.\d+)?(?![.,]?\d)"
    r"(?:[ \-]?(%|percent\b|[kKMGT]i?B\b|bytes?\b|thousand\b|million\b|billion\b|ns\b|[µu]s\b|ms\b|milliseconds?\b"
    r"|secs?\b|seconds?\b|mins?\b|minutes?\b|hrs?\b|hours?\b|days?\b|weeks?\b|[kKMBsh](?![\w-])))?"
)
_MONTHS = ("January", "February", "March", "April", "May", "June", "July", "August", "September", "October",
           "November", "December")  # fmt: skip
_ISO = re.compile(r"(\d{4})-(\d{2})-(\d{2})")
_SPELLED = re.compile(
    r"(?:(\d{1,2})(?:st|nd|rd|th)?\s+(?:of\s+)?)?([A-Z][a-z]{2,8})\.?\s*(\d{1,2}(?!\d))?(?:st|nd|rd|th)?,?\s+(\d{4})"
)


@dataclass(frozen=True, slots=True)
class Figure:
    """A number as it is written."""

    value: float
    """With its scale: 1.2 million is 1,200,000."""
    step: float
    """What its last digit is worth."""
    dimension: str = ""
    """`time`, `bytes`, `share`, or none that is known."""
    factors: tuple[float, ...] = (1.0,)
    """What one of its unit may be worth in seconds or bytes; a kilobyte has two readings."""


def figure_at(text: str, start: int) -> Figure | None:
    """The number that begins at a place of a text."""
    match = _NUMBER.match(text, start)
    return None if match is None else _figure(match.group(1), match.group(2), match.group(3))


def _figure(whole: str, rest: str | None, unit: str | None) -> Figure:
    value = float(whole.replace(",", "").replace("_", "") + (rest or ""))
    step = 10.0 ** -(len(rest) - 1) if rest else 1.0
    if unit is None:
        return Figure(value, step)
    if unit in _SCALES:
        return Figure(value * _SCALES[unit], step * _SCALES[unit])
    if unit in {"%", "percent"}:
        return Figure(value, step, "share", (0.01,))
    size = _BYTES.fullmatch(unit)
    if size is not None:
        power = _PREFIXES[size.group(1).lower()]
        factors = (1024.0**power,) if size.group(2) else (1000.0**power, 1024.0**power)
        return Figure(value, step, "bytes", factors)
    return Figure(value, step, "time", (_TIME[unit if unit in _TIME else unit.rstrip("s")],))


class Figures:
    """The numbers of texts, to be compared with."""

    def __init__(self, texts: Iterable[str]) -> None:
        """Read them."""
        written = {match.groups() for text in texts for match in _NUMBER.finditer(text)}
        plain: set[float] = set()
        finer: set[float] = set()
        measured: dict[str, set[float]] = {"time": set(), "bytes": set(), "share": set()}
        for whole, rest, unit in written:
            figure = _figure(whole, rest, unit)
            plain.add(figure.value)
            if rest:
                finer.add(figure.value)
            if figure.dimension:
                measured[figure.dimension].update(figure.value * factor for factor in figure.factors)
            elif rest and figure.value < 1:
                measured["share"].add(figure.value)
        self._plain, self._finer = sorted(plain), sorted(finer)
        self._measured = {dimension: sorted(values) for dimension, values in measured.items()}

    def support(self, figure: Figure) -> bool:
        """Whether one of them is the same amount, as finely as it is given."""
        if _within(self._plain, figure.value, 0.0) or _within(
            # Rounded from more digits; a round million from a number that is written out.
            self._plain if figure.step > 1 else self._finer, figure.value, figure.step / 2
        ):  # fmt: skip
            return True
        if not figure.dimension:
            return figure.value < 1 and _within(self._measured["share"], figure.value, figure.step / 2)
        values = self._measured[figure.dimension]
        return any(_within(values, figure.value * f, figure.step / 2 * f) for f in figure.factors)


def _within(values: list[float], value: float, half: float) -> bool:
    slack = half + abs(value) * 1e-9
    at = bisect_left(values, value - slack)
    return at < len(values) and values[at] <= value + slack


def day_of(literal: str) -> date | None:
    """The day that a date with a year means, or none."""
    iso = _ISO.match(literal)
    try:
        if iso is not None:
            return date(*map(int, iso.groups()))
        spelled = _SPELLED.fullmatch(literal)
        if spelled is None or not (spelled.group(1) or spelled.group(3)):
            return None
        month = next((i for i, name in enumerate(_MONTHS, start=1) if name.startswith(spelled.group(2)[:3])), 0)
        return date(int(spelled.group(4)), month, int(spelled.group(1) or spelled.group(3)))
    except ValueError:
        return None


def spellings(day: date) -> Iterator[str]:
    """How a day may be written."""
    name = _MONTHS[day.month - 1]
    yield day.isoformat()
    for separator in "/.":
        yield f"{day.year}{separator}{day.month:02}{separator}{day.day:02}"
    yield f"{day:%Y%m%d}"
    for month in (name, name[:3]):
        yield f"{month} {day.day}"
        yield f"{month}  {day.day}"
        yield f"{day.day} {month}"
        yield f"{day.day:02} {month}"
        yield f"{day.day:02}-{month}"
    for one, other in ((day.month, day.day), (day.day, day.month)):
        for separator in "/.":
            yield f"{one}{separator}{other}{separator}{day.year}"
            yield f"{one:02}{separator}{other:02}{separator}{day.year}"


def about(day: date, stamps: Iterable[str]) -> bool:
    """Whether a turn was made on that day, somewhere on earth: the harness tells the agent what day it is."""
    near = tuple((day + timedelta(days=by)).isoformat() for by in (-1, 0, 1))
    return any(stamp.startswith(near) for stamp in stamps)
