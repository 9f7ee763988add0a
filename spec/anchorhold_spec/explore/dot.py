"""The graph of reachable states in DOT, as far as a bound."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping

from anchorhold_spec.explore.found import step_of
from anchorhold_spec.explore.layout import Packed
from anchorhold_spec.explore.prepare import prepare
from anchorhold_spec.explore.uncompiled import PlainCode
from anchorhold_spec.language import Machine
from anchorhold_spec.run import GuardId, Interpreter, show_state, show_step

MOST_STATES = 500
"""More than this nobody can look at."""


def graph(
    machine: Machine,
    *,
    sizes: Mapping[str, int] | None = None,
    switches: Mapping[str, str] | None = None,
    dropped: Collection[GuardId] = (),
    symmetry: bool = False,
    most: int = MOST_STATES,
) -> Iterator[str]:
    """Lines of the graph of the `most` states nearest to the first: a first state bold, one that breaks a rule red,
    one with steps that are not shown dashed; steps of faults dotted. Raises UnknownChoice for what does not fit."""
    prepared = prepare(machine, sizes=sizes, switches=switches, dropped=dropped, symmetry=symmetry)
    code = PlainCode(prepared)
    faults = {action.name for action in prepared.machine.actions if action.fault}
    numbers: dict[Packed, int] = {}
    for start in prepared.start:
        numbers.setdefault(code.canonical(start), len(numbers))
    first = len(numbers)
    queue = list(numbers)
    yield f"digraph {_quoted(machine.name)} {{"
    yield '  node [shape=box, fontname="monospace", fontsize=9];'
    yield '  edge [fontname="sans-serif", fontsize=8];'
    for packed in queue:
        number = numbers[packed]
        instance = prepared.instance_of(packed)
        state = prepared.layout.unpack(packed)[1]
        hidden = False
        edges: list[str] = []
        for label, after in code.steps(packed):
            reached = code.canonical(after)
            if reached not in numbers:
                if len(numbers) >= most:
                    hidden = True
                    continue
                numbers[reached] = len(numbers)
                queue.append(reached)
            step = step_of(prepared, label)
            style = ", style=dotted" if step.action in faults else ""
            edges.append(f"  s{number} -> s{numbers[reached]} [label={_quoted(show_step(instance, step))}{style}];")
        broken = any(each.public for each in Interpreter(instance).broken(state))
        styles = [*(["bold"] if number < first else []), *(["dashed"] if hidden else [])]
        colour = ', color="#b3261e"' if broken else ""
        text = "\\l".join(_escaped(line) for line in show_state(instance, state)) or "as at first"
        yield f'  s{number} [label="{text}\\l", style="{",".join(styles)}"{colour}];'
        yield from edges
    yield "}"


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"')


def _quoted(text: str) -> str:
    return f'"{_escaped(text)}"'
