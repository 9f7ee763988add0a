"""The yardstick for SPIN: the machine `release-race` written once more, by hand and for SPIN alone.

Each step is one `d_step` from the loop's head to the loop's head, so that there are no states in between. The
invariant is watched by a process whose only step is enabled where it is broken.
"""

from __future__ import annotations

from collections.abc import Iterator

NONE, APPENDED, STAGED, POINTED, COMMITTED, RELEASED, EVICTED = range(7)


def model(spans: int, keys: int, epochs: int) -> str:
    """The Promela text. A slot that holds `spans` is free, a home of `keys` is none, a pointer of epoch 0 is none."""
    lines = [
        f"byte slot[{keys}] = {spans}; byte epoch[{keys}];",
        f"byte phase[{spans}]; byte home[{spans}] = {keys}; byte key[{spans}]; byte at[{spans}]; bit cold[{spans}];",
        "active proctype machine() {",
        "  do",
        *(f"  :: d_step {{ {step} }}" for span in range(spans) for step in _steps(span, spans, keys, epochs)),
        f"  :: d_step {{ true -> {'; '.join(_crash(span) for span in range(spans))} }}",
        "  od",
        "}",
        f"active proctype watch() {{ end: {' || '.join(_broken(span) for span in range(spans))} -> assert(false) }}",
    ]
    return "\n".join(lines) + "\n"


def _steps(s: int, spans: int, keys: int, epochs: int) -> Iterator[str]:
    for k in range(keys):
        guard = f"phase[{s}] == {NONE} && slot[{k}] == {spans} && epoch[{k}] < {epochs}"
        yield f"{guard} -> slot[{k}] = {s}; epoch[{k}]++; home[{s}] = {k}; phase[{s}] = {APPENDED}"
    yield f"phase[{s}] == {APPENDED} -> phase[{s}] = {STAGED}"
    yield f"phase[{s}] == {STAGED} -> phase[{s}] = {POINTED}; key[{s}] = home[{s}]; at[{s}] = epoch[home[{s}]]"
    yield f"phase[{s}] >= {APPENDED} && phase[{s}] <= {COMMITTED} && !cold[{s}] -> cold[{s}] = 1"
    yield f"phase[{s}] == {POINTED} -> phase[{s}] = {COMMITTED}"
    yield f"phase[{s}] == {COMMITTED} && cold[{s}] -> phase[{s}] = {RELEASED}"
    yield f"phase[{s}] == {RELEASED} -> slot[home[{s}]] = {spans}; home[{s}] = {keys}; phase[{s}] = {EVICTED}"


def _crash(s: int) -> str:
    lost = f"phase[{s}] == {STAGED} || phase[{s}] == {POINTED}"
    return f"if :: {lost} -> phase[{s}] = {APPENDED}; key[{s}] = 0; at[{s}] = 0 :: else fi"


def _broken(s: int) -> str:
    there = f"slot[key[{s}]] == {s} && epoch[key[{s}]] == at[{s}]"
    return f"(phase[{s}] >= {COMMITTED} && (at[{s}] == 0 || (!cold[{s}] && !({there}))))"
