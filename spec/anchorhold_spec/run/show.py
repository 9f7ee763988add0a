"""States and steps as people read them."""

from __future__ import annotations

from collections.abc import Iterator

from anchorhold_spec.language import Function, Relation, Symbol, show_element
from anchorhold_spec.run.explore import Trace
from anchorhold_spec.run.instance import UNDEFINED, Instance, State
from anchorhold_spec.run.interpret import Step


def show_step(instance: Instance, step: Step) -> str:
    """`release(span1, key2)`."""
    action = instance.machine.action(step.action)
    arguments = (show_element(param.sort, value) for param, value in zip(action.params, step.binding, strict=True))
    return f"{step.action}({', '.join(arguments)})"


def show_state(instance: Instance, state: State) -> list[str]:
    """One line for each place that is not false, undefined or as at first: `phase(span1) = staged`."""
    lines: list[str] = []
    for symbol, table in _tables(instance, state):
        for cell, value in zip(instance.cells(symbol), table, strict=True):
            if line := _show_cell(symbol, cell, value):
                lines.append(line)
    return lines


def show_change(instance: Instance, before: State, after: State) -> list[str]:
    """One line for each place that differs: `phase(span1): staged → pointed`."""
    lines: list[str] = []
    for (symbol, old), (_, new) in zip(_tables(instance, before), _tables(instance, after), strict=True):
        for cell, was, now in zip(instance.cells(symbol), old, new, strict=True):
            if was != now:
                place = _show_place(symbol, cell)
                lines.append(f"{place}: {_show_value(symbol, was)} → {_show_value(symbol, now)}")
    return lines


def show_trace(trace: Trace) -> list[str]:
    """The steps of a run, numbered, each with what it changed."""
    return [
        f"{i}. {show_step(trace.instance, step)}: {'; '.join(show_change(trace.instance, *pair)) or 'no change'}"
        for i, (step, pair) in enumerate(
            zip(trace.steps, zip(trace.states, trace.states[1:], strict=False), strict=True), start=1
        )
    ]


def _tables(instance: Instance, state: State) -> Iterator[tuple[Symbol, tuple[int, ...]]]:
    yield from zip(instance.machine.rigid_symbols, instance.rigid, strict=True)
    yield from zip(instance.machine.state_symbols, state, strict=True)


def _show_cell(symbol: Symbol, cell: tuple[int, ...], value: int) -> str | None:
    if isinstance(symbol, Relation):
        if bool(value) is symbol.initial:
            return None
        return _show_place(symbol, cell) if value else f"not {_show_place(symbol, cell)}"
    first = UNDEFINED if symbol.initial is None else symbol.initial.index
    return None if value == first else f"{_show_place(symbol, cell)} = {_show_value(symbol, value)}"


def _show_place(symbol: Symbol, cell: tuple[int, ...]) -> str:
    arguments = (show_element(sort, index) for sort, index in zip(symbol.domain, cell, strict=True))
    return f"{symbol.name}({', '.join(arguments)})" if cell else symbol.name


def _show_value(symbol: Symbol, value: int) -> str:
    if isinstance(symbol, Function):
        return "undefined" if value == UNDEFINED else show_element(symbol.result, value)
    return "true" if value else "false"
