"""A counterexample as a sequence diagram, in one page that needs nothing else: who did what, and what changed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import escape
from textwrap import wrap

from jinja2 import Environment, PackageLoader, StrictUndefined

from anchorhold_spec.language import Machine, SortKind, show, show_element
from anchorhold_spec.run import Instance, Step, Trace, Violation, show_change, show_state, show_step

LANE = 132
"""Pixels between two lanes."""
TOP = 64
LINE = 17
"""Pixels of a line of text."""
TEXT = 46
"""Characters of a line of what changed."""
MOST_INDIVIDUALS = 8
"""More lanes than this are not drawn: the changes are told in words all the same."""


@dataclass(frozen=True)
class Lane:
    """A vertical line: somebody who acts, or an individual that is acted on."""

    title: str
    kind: str
    """worker, fault or individual."""


def page(violation: Violation, *, settings: str) -> str:
    """The HTML page. `settings` says what was explored, in words."""
    environment = Environment(
        loader=PackageLoader("anchorhold_spec.explore", "templates"), autoescape=True, undefined=StrictUndefined
    )
    trace = violation.trace
    machine = trace.instance.machine
    statement, doc = _stated(machine, violation.property)
    used = [machine.action(name) for name in dict.fromkeys(step.action for step in trace.steps)]
    return environment.get_template("counterexample.html").render(
        machine=machine,
        violation=violation,
        settings=settings,
        statement=statement,
        doc=doc,
        svg=svg(violation),
        steps=[
            (show_step(trace.instance, step), show_change(trace.instance, *pair))
            for step, pair in zip(trace.steps, zip(trace.states, trace.states[1:], strict=False), strict=True)
        ],
        first=show_state(trace.instance, trace.states[0]),
        last=show_state(trace.instance, trace.states[-1]),
        actions=used,
    )


def _stated(machine: Machine, name: str) -> tuple[str, str]:
    """What a property says, as a formula and in words."""
    for invariant in machine.invariants:
        if invariant.name == name:
            return show(invariant.formula), invariant.doc
    for transition in machine.transitions:
        if transition.name == name:
            return f"in every step: {show(transition.formula)}", transition.doc
    progress = next(each for each in machine.progress if each.name == name)
    return f"from where {show(progress.trigger)}, one can get to where {show(progress.goal)}", progress.doc


def svg(violation: Violation) -> str:
    """The diagram alone."""
    trace = violation.trace
    lanes = _lanes(trace)
    where = {lane.title: 70 + i * LANE for i, lane in enumerate(lanes)}
    right = 70 + len(lanes) * LANE
    rows = list(_rows(trace))
    heights = [max(LINE * len(lines) + 26, 50) for _, lines in rows]
    bottom = TOP + 12 + sum(heights)
    body: list[str] = []
    y = TOP + 12.0
    for number, height in enumerate(heights):
        if number % 2 == 0:
            body.append(f'<rect class="band" x="0" y="{y}" width="{right + 400}" height="{height}"/>')
        y += height
    for lane in lanes:
        x = where[lane.title]
        body.append(f'<line class="life {lane.kind}" x1="{x}" y1="{TOP}" x2="{x}" y2="{bottom + 4}"/>')
        body.append(f'<rect class="head {lane.kind}" x="{x - 60}" y="20" width="120" height="{TOP - 22}" rx="6"/>')
        body += _centred(lane.title, x, 20 + (TOP - 22) / 2)
    body.append(f'<text class="title" x="{right}" y="46">what changed</text>')
    y = TOP + 12.0
    for number, ((step, lines), height) in enumerate(zip(rows, heights, strict=True), start=1):
        body += _row(trace, number, step, lines, where, right, y, height)
        y += height
    end = bottom + 10
    width = right + 400
    body.append(f'<rect class="broken" x="8" y="{end}" width="{width - 16}" height="40" rx="6"/>')
    rules = f" ({', '.join(violation.rules)})" if violation.rules else ""
    told = f"broken here: {violation.property}{rules}"
    body.append(f'<text class="verdict" x="{width / 2}" y="{end + 25}">{escape(told)}</text>')
    label = f"Sequence diagram of {len(rows)} steps that end where {violation.property} is broken"
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" role="img" aria-label="{escape(label)}" '
        f'viewBox="0 0 {width} {end + 52}" width="{width}" height="{end + 52}">' + "".join(body) + "</svg>"
    )


def _row(
    trace: Trace,
    number: int,
    step: Step,
    lines: Sequence[str],
    where: dict[str, int],
    right: int,
    y: float,
    height: float,
) -> Iterator[str]:
    instance = trace.instance
    action = instance.machine.action(step.action)
    actor = where[_actor(instance, step)]
    middle = y + height / 2
    kind = "fault" if action.fault else "step"
    targets = [where[name] for name in _individuals(instance, step) if name in where]
    if targets:
        yield f'<line class="arrow {kind}" x1="{actor}" y1="{middle}" x2="{max(targets)}" y2="{middle}"/>'
        for x in targets:
            yield f'<circle class="{kind}" cx="{x}" cy="{middle}" r="5"/>'
    yield f'<circle class="number {kind}" cx="{actor}" cy="{middle}" r="11"/>'
    yield f'<text class="number" x="{actor}" y="{middle + 4}">{number}</text>'
    yield f'<text class="name {kind}" x="{actor + 18}" y="{middle - 7}">{escape(step.action)}</text>'
    top = middle - (len(lines) - 1) * LINE / 2 + 4
    for i, line in enumerate(lines):
        yield f'<text class="change" x="{right}" y="{top + i * LINE}">{escape(line)}</text>'


def _rows(trace: Trace) -> Iterator[tuple[Step, list[str]]]:
    for step, pair in zip(trace.steps, zip(trace.states, trace.states[1:], strict=False), strict=True):
        lines = [
            piece
            for change in show_change(trace.instance, *pair)
            for piece in wrap(change, TEXT, subsequent_indent="  ", drop_whitespace=False)
        ]
        yield step, lines or ["nothing"]


def _lanes(trace: Trace) -> list[Lane]:
    instance = trace.instance
    lanes: dict[str, Lane] = {}
    for step in trace.steps:
        fault = instance.machine.action(step.action).fault
        name = _actor(instance, step)
        lanes.setdefault(name, Lane(name, "fault" if fault else "worker"))
    ordered = sorted(lanes.values(), key=lambda lane: lane.kind == "fault")
    individuals = sorted({name for step in trace.steps for name in _individuals(instance, step)})
    if len(individuals) <= MOST_INDIVIDUALS:
        ordered += [Lane(name, "individual") for name in individuals if name not in lanes]
    return ordered


def _actor(instance: Instance, step: Step) -> str:
    action = instance.machine.action(step.action)
    if action.by is not None:
        return action.by.name
    return "the world" if action.fault else "compactor"


def _individuals(instance: Instance, step: Step) -> list[str]:
    action = instance.machine.action(step.action)
    return [
        show_element(param.sort, value)
        for param, value in zip(action.params, step.binding, strict=True)
        if param.sort.kind in (SortKind.PLAIN, SortKind.PART)
    ]


def _centred(text: str, x: float, y: float) -> Iterator[str]:
    lines = wrap(text, 16)
    for i, line in enumerate(lines):
        yield f'<text class="lane" x="{x}" y="{y + 4 + (i - (len(lines) - 1) / 2) * 15}">{escape(line)}</text>'
