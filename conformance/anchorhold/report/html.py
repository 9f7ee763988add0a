"""The result as one HTML page that needs nothing but itself: no script, no font, no picture from elsewhere."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup, escape

from anchorhold.level import HELD
from anchorhold.report.sequence import Diagram, FullEvent, draw, full_events, messages
from anchorhold.report.showing import showing
from anchorhold.report.story import Told, tell
from anchorhold.report.summary import MEANING, run_words, summarise
from anchorhold.report.text import Piece, clip, marked, one_line, visible
from anchorhold.result import FailureResult, Result, own_fault
from anchorhold.verdict import History
from anchorhold_spec.catalogue import RULES, Rule

STORY_WIDTH = 400
"""Characters of one line of a story; the whole stands in the list of events."""
MOST_STDERR = 200_000
"""Characters of the adapter's standard error, from its end."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """A failure as the template draws it."""

    number: int
    failure: FailureResult
    rule: Rule
    story: tuple[Told, ...] = ()
    diagram: Diagram | None = None
    events: tuple[FullEvent, ...] = ()


def html(result: Result, histories: Mapping[str, History]) -> str:
    """The page. `histories`: the history of each failure, by its `history` path; one that is missing is said so.

    Raises ValueError where the result judges a rule that the catalogue does not have.
    """
    failures = [_shown(number, each, histories) for number, each in enumerate(result.failures, start=1)]
    return (
        _environment()
        .get_template("report.html.j2")
        .render(
            result=result,
            summary=summarise(result),
            run=run_words(result),
            own_fault=own_fault(result),
            program=result.compactor.startswith("cmd"),
            failures=failures,
            first_failure={each.rule.id: each.number for each in reversed(failures)},
            meaning=MEANING,
            held=HELD,
            stderr=result.stderr[-MOST_STDERR:],
            stderr_cut=len(result.stderr) > MOST_STDERR,
        )
    )


@cache
def _environment() -> Environment:
    """Compiling the templates takes longer than filling them in."""
    environment = Environment(
        loader=PackageLoader("anchorhold.report"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters["visible"] = visible
    environment.filters["line"] = one_line
    environment.filters["prose"] = _prose
    environment.globals["pieces"] = _pieces
    return environment


def _shown(number: int, failure: FailureResult, histories: Mapping[str, History]) -> Shown:
    rule = RULES[failure.rule]
    history = histories.get(failure.history)
    if history is None:
        return Shown(number=number, failure=failure, rule=rule)
    event = showing(history.events, sentence=failure.sentence, event=failure.event)
    rows = messages(history, fact=failure.fact, event=event)
    return Shown(
        number=number,
        failure=failure,
        rule=rule,
        story=tell(history, fact=failure.fact, event=event),
        diagram=draw(rows, history, fact=failure.fact),
        events=full_events(history, fact=failure.fact, event=event),
    )


def _prose(text: str) -> Markup:
    """A text of the catalogue, with what stands between backticks set as code."""
    parts = text.split("`")
    return Markup("").join(
        Markup("<code>{}</code>").format(part) if number % 2 else escape(part) for number, part in enumerate(parts)
    )


def _pieces(text: str, fact: str) -> tuple[Piece, ...]:
    """One line of a story, with the fact marked where it stands."""
    wanted = one_line(fact)
    return marked(clip(one_line(text), STORY_WIDTH, around=wanted), wanted)
