"""The simulated race as one HTML page that needs nothing but itself."""

from __future__ import annotations

from functools import cache

from jinja2 import Environment, PackageLoader, StrictUndefined

from anchorhold.race.plot import HEIGHT, WIDTH, Series, plot
from anchorhold.race.show import finding, narrow, percent, rates
from anchorhold_spec.simulate import DESIGNS, PROVENANCE, SEEN_BY_S4, Cell, Ratio, Study


def page(study: Study) -> str:
    """The page: what came out, the plots, the tables, and where every parameter comes from."""
    return (
        _environment()
        .get_template("race.html.j2")
        .render(
            study=study,
            findings=finding(study),
            rates=rates(study),
            rows=[(design, [cell for cell in study.cells if cell.design == design]) for design in DESIGNS],
            policies=_by_policy(study),
            percent=percent,
            narrow=narrow,
            provenance=PROVENANCE,
            seen=SEEN_BY_S4,
            plots=(
                ("Unresolvable ÷ committed", plot(_series(study, "unresolvable"), band=SEEN_BY_S4)),
                ("Confidently wrong ÷ committed: another span was returned", plot(_series(study, "wrong"))),
            ),
            width=WIDTH,
            height=HEIGHT,
        )
    )


def _series(study: Study, what: str) -> list[Series]:
    found: list[Series] = []
    for design in DESIGNS:
        points: list[tuple[float, float, float, float]] = []
        for cell in study.cells:
            if cell.design == design:
                ratio: Ratio = getattr(cell, what)
                points.append((cell.parameters.evictions_per_minute, ratio.mean, ratio.low, ratio.high))
        found.append(Series(title=design.title, points=tuple(points)))
    return found


def _by_policy(study: Study) -> list[tuple[str, list[Cell]]]:
    names = list(dict.fromkeys(cell.parameters.victims for cell in study.policies))
    return [(name, [cell for cell in study.policies if cell.parameters.victims == name]) for name in names]


@cache
def _environment() -> Environment:
    return Environment(
        loader=PackageLoader("anchorhold.race"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
