"""A plot of shares against rates: both axes logarithmic, nothing lost in a lane of its own below."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

WIDTH, HEIGHT = 860.0, 380.0
_LEFT, _RIGHT, _TOP, _BOTTOM = 64.0, 16.0, 16.0, 52.0
_LANE = 34.0
"""Height of the lane in which a share of 0 is drawn: a logarithm has none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Point:
    """A mark with its interval, in the picture's coordinates."""

    x: float
    y: float
    low: float
    high: float
    label: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """One design."""

    title: str
    style: int
    """Which colour and mark."""
    points: tuple[Point, ...]

    @property
    def path(self) -> str:
        """For a polyline."""
        return " ".join(f"{point.x:.1f},{point.y:.1f}" for point in self.points)


@dataclass(frozen=True, slots=True, kw_only=True)
class Tick:
    """A place on an axis."""

    at: float
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Plot:
    """Everything that the template draws."""

    lines: tuple[Line, ...]
    across: tuple[Tick, ...]
    up: tuple[Tick, ...]
    zero: float
    band: tuple[float, float] | None
    """Top and bottom of the range to compare with."""
    left: float = _LEFT
    right: float = WIDTH - _RIGHT
    top: float = _TOP
    bottom: float = HEIGHT - _BOTTOM


@dataclass(frozen=True, slots=True, kw_only=True)
class Series:
    """What is to be drawn: for each rate a share with its interval."""

    title: str
    points: tuple[tuple[float, float, float, float], ...]
    """Rate, share, low, high; shares from 0 to 1."""


def plot(series: Sequence[Series], *, band: tuple[float, float] | None = None, least: float = 1e-4) -> Plot:
    """Shares below `least` are drawn at it; 0 in its lane. Points that coincide are moved apart sideways."""
    rates = sorted({point[0] for each in series for point in each.points})
    floor = HEIGHT - _BOTTOM - _LANE
    first, last = math.log10(rates[0]), math.log10(rates[-1])
    span = (last - first) or 1.0

    def across(rate: float) -> float:
        return _LEFT + 24 + (math.log10(rate) - first) / span * (WIDTH - _LEFT - _RIGHT - 48)

    def up(share: float) -> float:
        if share <= 0:
            return floor + _LANE / 2
        # From `least` to 1.
        return floor - (math.log10(max(share, least)) - math.log10(least)) / -math.log10(least) * (floor - _TOP)

    lines: list[Line] = []
    for number, each in enumerate(series):
        # Designs that differ only in what is returned lose alike: side by side, none hides the others.
        aside = (number - (len(series) - 1) / 2) * 7
        points = tuple(
            Point(
                x=across(rate) + aside,
                y=up(share),
                low=min(up(low) if low > 0 else floor, floor) if share > 0 else up(0),
                high=up(high) if share > 0 else up(0),
                label=f"{each.title}, {rate:g}/min: {100 * share:.3g} % ({100 * low:.3g}–{100 * high:.3g})",
            )
            for rate, share, low, high in each.points
        )
        lines.append(Line(title=each.title, style=number, points=points))
    decades = range(round(math.log10(least)), 1)
    return Plot(
        lines=tuple(lines),
        across=tuple(Tick(at=across(rate), text=f"{rate:g}") for rate in rates),
        up=tuple(Tick(at=up(10.0**power), text=f"{100 * 10.0**power:g} %") for power in decades),
        zero=up(0),
        band=None if band is None else (up(band[1]), up(band[0])),
    )
