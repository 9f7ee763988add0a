"""Pairs every `invoke` with its end."""

from collections.abc import Iterator, Mapping

import msgspec

from anchorhold.checkers.record import Operation, convert
from anchorhold.compactor import Advance
from anchorhold.history import Event, EventType


def operations(events: tuple[Event, ...]) -> tuple[Operation, ...]:
    """Pair every `invoke` with its end; what is called inside an operation becomes part of it."""
    open_: dict[str, list[tuple[Event, list[Operation]]]] = {}
    found: list[Operation] = []

    def close(stack: list[tuple[Event, list[Operation]]], end: Event, ended: EventType) -> None:
        invoke, calls = stack.pop()
        done = Operation(
            process=invoke.process,
            op=invoke.op,
            step=invoke.step,
            start=invoke.index,
            end=end.index,
            ended=ended,
            arguments=invoke.value if isinstance(invoke.value, Mapping) else {},
            value=end.value if ended is EventType.OK else None,
            error=end.error,
            calls=tuple(calls),
        )
        (stack[-1][1] if stack else found).append(done)

    for event in events:
        stack = open_.setdefault(event.process, [])
        if event.type is EventType.INVOKE:
            stack.append((event, []))
            continue
        # An end without its invoke is a remark of the runner's, not an operation.
        if any(invoke.op == event.op for invoke, _ in stack):
            while stack[-1][0].op != event.op:
                close(stack, event, EventType.INFO)
            close(stack, event, event.type)
    for stack in open_.values():
        while stack:
            close(stack, events[-1], EventType.INFO)
    return tuple(sorted((*found, *_of_workers(found)), key=lambda operation: (operation.start, operation.op)))


def _of_workers(found: list[Operation]) -> Iterator[Operation]:
    """What single-stepped workers did, each as the operation that it is: from its `begin` to its last `advance`."""
    begun: dict[str, tuple[Operation, list[Operation]]] = {}
    for operation in sorted(found, key=lambda operation: operation.start):
        worker = str(operation.arguments.get("worker", ""))
        if operation.op == "begin" and operation.ok:
            begun[worker] = (operation, [])
        if operation.op != "advance" or worker not in begun:
            continue
        begin, steps = begun[worker]
        steps.append(operation)
        come = convert(operation.value, Advance) if operation.ok else None
        if come is not None and not come.done:
            continue
        del begun[worker]
        result = None if come is None else come.outcome or come.answer
        yield Operation(
            op=str(begin.arguments.get("op", "")),
            step=begin.step,
            start=begin.start,
            end=operation.end,
            ended=operation.ended,
            arguments=begin.arguments.get("arguments", {}),
            value=None if result is None else msgspec.to_builtins(result),
            error=operation.error,
            calls=tuple(call for step in steps for call in step.calls),
            process=worker,
        )
