"""Can what is pending always end? Faults aside: an always possible crash would hide that nothing else is possible."""

from __future__ import annotations

from collections.abc import Mapping

from anchorhold_spec.language import Machine, Progress
from anchorhold_spec.run.explore import GaveUp, Trace
from anchorhold_spec.run.instance import State, instances
from anchorhold_spec.run.interpret import Interpreter, Step, compile_closed


def stuck(
    machine: Machine,
    progress: Progress,
    *,
    sizes: Mapping[str, int] | None = None,
    switches: Mapping[str, str] | None = None,
    limit: int = 200_000,
) -> tuple[bool, Trace | None]:
    """Whether the trigger was ever met, and a shortest run to a state where it is and the goal is out of reach.

    States are reached with faults, goals without. Raises GaveUp past `limit` states.
    """
    triggered = False
    found: Trace | None = None
    for instance in instances(machine, sizes, switches):
        interpreter = Interpreter(instance)
        decided = next(each for each in instance.machine.progress if each.name == progress.name)
        trigger = compile_closed(instance, decided.trigger)
        goal = compile_closed(instance, decided.goal)
        faults = {action.name for action in machine.actions if action.fault}
        first = interpreter.initial()
        parents: dict[State, tuple[State, Step] | None] = {first: None}
        leads_here: dict[State, list[State]] = {}
        queue = [first]
        for state in queue:
            for step, after in interpreter.steps(state):
                if after not in parents:
                    if len(parents) >= limit:
                        raise GaveUp(f"{machine.name}: progress {progress.name!r} needs more than {limit:,} states")
                    parents[after] = (state, step)
                    queue.append(after)
                if step.action not in faults:
                    leads_here.setdefault(after, []).append(state)
        can_end = {state for state in parents if goal(state, state)}
        waiting = list(can_end)
        while waiting:
            for state in leads_here.get(waiting.pop(), ()):
                if state not in can_end:
                    can_end.add(state)
                    waiting.append(state)
        for state in queue:
            if trigger(state, state):
                triggered = True
                if state not in can_end:
                    trace = _trace_to(state, parents)
                    if found is None or len(trace[1]) < len(found.steps):
                        found = Trace(instance, *trace)
                    break
    return triggered, found


def _trace_to(
    state: State, parents: Mapping[State, tuple[State, Step] | None]
) -> tuple[tuple[State, ...], tuple[Step, ...]]:
    states, steps = [state], []
    while (parent := parents[states[-1]]) is not None:
        states.append(parent[0])
        steps.append(parent[1])
    return tuple(reversed(states)), tuple(reversed(steps))
