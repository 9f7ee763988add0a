"""Traces in the Informal Trace Format, which Apalache, Quint and their viewers read.

Relations become sets (of tuples, where they have several arguments; a truth value where they have none), functions
become maps over what they are defined for (the value itself where they have no arguments; undefined: the string
"undefined"). Individuals and enumeration values are strings, ordered values numbers. The variable `step` says which
action led to a state.
"""

from __future__ import annotations

from typing import Any

from anchorhold_spec.language import Relation, Sort, SortKind, Symbol, show_element
from anchorhold_spec.run import UNDEFINED, Instance, State, Table, Trace, Violation, show_step

DESCRIPTION = "https://apalache-mc.org/docs/adr/015adr-trace.html"


def document(trace: Trace, *, violation: Violation | None = None) -> dict[str, Any]:
    """The trace as a JSON document."""
    machine = trace.instance.machine
    meta: dict[str, Any] = {"format": "ITF", "format-description": DESCRIPTION, "source": machine.name}
    if violation is not None:
        meta["status"] = "violation"
        meta["description"] = f"{violation.property} ({', '.join(violation.rules)}) is broken in the last state"
    labels = ["initial", *(show_step(trace.instance, step) for step in trace.steps)]
    return {
        "#meta": meta,
        "vars": ["step", *(symbol.name for symbol in (*machine.rigid_symbols, *machine.state_symbols))],
        "states": [
            {"#meta": {"index": i}, "step": label, **_variables(trace.instance, state)}
            for i, (label, state) in enumerate(zip(labels, trace.states, strict=True))
        ],
    }


def _variables(instance: Instance, state: State) -> dict[str, Any]:
    machine = instance.machine
    tables = [
        *zip(machine.rigid_symbols, instance.rigid, strict=True),
        *zip(machine.state_symbols, state, strict=True),
    ]
    return {symbol.name: _value(instance, symbol, table) for symbol, table in tables}


def _value(instance: Instance, symbol: Symbol, table: Table) -> Any:
    cells = list(instance.cells(symbol))
    if isinstance(symbol, Relation):
        if not symbol.domain:
            return bool(table[0])
        return {"#set": [_key(symbol, cell) for cell, entry in zip(cells, table, strict=True) if entry]}
    if not symbol.domain:
        return "undefined" if table[0] == UNDEFINED else _individual(symbol.result, table[0])
    return {
        "#map": [
            [_key(symbol, cell), _individual(symbol.result, entry)]
            for cell, entry in zip(cells, table, strict=True)
            if entry != UNDEFINED
        ]
    }


def _key(symbol: Symbol, cell: tuple[int, ...]) -> Any:
    values = [_individual(sort, index) for sort, index in zip(symbol.domain, cell, strict=True)]
    return values[0] if len(values) == 1 else {"#tup": values}


def _individual(sort: Sort, index: int) -> Any:
    return {"#bigint": str(index)} if sort.kind is SortKind.ORDERED else show_element(sort, index)
