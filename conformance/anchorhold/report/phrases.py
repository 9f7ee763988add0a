"""Steps and events of a history in words. Pure; the words are plain text, not yet made fit for any medium."""

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import msgspec

from anchorhold.history import Event, EventType
from anchorhold.workload import Step

READS = frozenset({"live", "pointers", "get", "search", "reconstitute", "manifest", "tombstones", "status"})
"""Operations that only look."""


def step_words(step: Step, *, point: str | None = None) -> str:
    """What a step of the workload does. `point`: the name of the durable step that its number came to."""
    plain: dict[str, Any] = msgspec.to_builtins(step)
    tag = str(plain.pop("step", "step"))
    if "point" in plain:
        plain["point"] = _durable_step(plain["point"], point)
    match tag, plain:
        case "append", {"turn": Mapping() as turn}:
            return f"append {_turn(turn)}"
        case "summariser", {"mode": mode}:
            times = plain.get("times")
            return f"the model is now set to {mode}" + (f", for {times} calls" if times else "")
        case "compact", _:
            return "compact"
        case "probe", _:
            return "look at everything"
        case "ask", {"fact": Mapping() as fact}:
            evidence = ", and demand evidence" if plain.get("evidence") else ""
            return f"ask for {_quoted(fact.get('literal'))}{evidence}"
        case "evict", {"turn": turn}:
            return f"ask that the original of turn {turn} be removed"
        case "tombstone", {"fact": Mapping() as fact}:
            return f"drop {_quoted(fact.get('literal'))} of turn {plain.get('turn')}, because {plain.get('reason')}"
        case "reopen", _:
            return "close, and open again"
        case "crash", {"point": point}:
            return f"crash in the next compaction, at {point}"
        case "corrupt", {"turn": turn}:
            return f"damage the stored original of turn {turn}"
        case "follow", {"token": token}:
            return f"follow {_quoted(token)}, which this store never issued"
        case "switch", {"session": session, "user": user}:
            return f"go over to session {session} of user {user}"
        case "expire", {"seconds": seconds}:
            return f"move the store's clock forward by {seconds:g} s"
    return _more_words(tag, plain)


def _durable_step(number: Any, name: str | None) -> str:
    """A workload has a number, which is counted round the steps that the compactor declares."""
    return f"number {number}, counted round its crash points from 0" if name is None else f"its crash point “{name}”"


def _more_words(tag: str, plain: Mapping[str, Any]) -> str:
    """What the caller takes back, and what happens to the process, its store and its clock."""
    match tag, plain:
        case "supersede", {"fact": Mapping() as fact, "turn": turn, "superseder": superseder}:
            return f"drop {_quoted(fact.get('literal'))} of turn {turn}, because turn {superseder} took its place"
        case "clear", _:
            return "empty the window"
        case "rewind", {"turn": turn}:
            return f"take back everything after turn {turn}"
        case "fork", {"branch": branch}:
            return f"begin branch {branch}"
        case "forget", {"turn": turn}:
            return f"erase what turn {turn} says, and look for it in every file"
        case "hold", {"held": held}:
            return "hold background copies back" if held else "let background copies land"
        case "settle", _:
            return "let background work run to its end"
        case "clock", {"shift": shift}:
            return f"the wall clock jumps by {shift:+g} s"
        case "kill", _:
            return "kill the process, and open again"
        case "power", _:
            return "power is lost: what was not synced is gone; open again"
        case "fail-store", {"point": point, "fault": fault}:
            return f"the store fails in the next compaction, at {point} ({fault})"
        case "override", {"reason": reason}:
            return f"accept the loss, because {reason}"
        case "meanwhile", {"steps": [*steps]}:
            return f"hold the next call of the model, and take {_count(len(steps), 'step')} meanwhile"
        case "workers", {"tasks": [*tasks]}:
            return "single-step " + ", ".join(f"{task['worker']} ({task['op']})" for task in tasks)
    return f"{tag} {_arguments(plain)}".strip()


def invocation(event: Event) -> str:
    """What an operation was called with: for an event of type `invoke`."""
    value = plainly(event.value)
    match event.op, value:
        case "append", {"turn": Mapping() as turn}:
            return f"append {_turn(turn)}"
        case "summarise", {"messages": list() as shown}:
            return f"summarise {_count(len(shown), 'message')}: {' | '.join(map(str, shown))}"
        case "note", Mapping():
            return f"note: {_arguments(value)}"
        case _, Mapping():
            return f"{event.op} {_arguments(value)}".strip()
        case _, None:
            return event.op
    return f"{event.op} {_short(value)}"


def ending(event: Event) -> str:
    """How an operation ended: for an event of type `ok`, `fail` or `info`."""
    if event.type is EventType.FAIL:
        return f"failed: {event.error or 'no reason given'}"
    if event.type is EventType.INFO:
        return f"may or may not have happened: {event.error or 'no reason given'}"
    value = plainly(event.value)
    match event.op, value:
        case "live", list():
            return f"{_count(len(value), 'item')}: " + " | ".join(map(_item, value)) if value else "an empty window"
        case "summarise", {"text": text}:
            finish = value.get("finish")
            return f"{_quoted(text)}" + (f" (finish: {finish})" if finish not in (None, "stop") else "")
        case _, {"kind": kind}:
            return _kind(str(kind), value)
        case _, None:
            return "done"
        case _, list():
            return f"{len(value)}: " + " | ".join(map(_short, value)) if value else "none"
    return _short(value)


def tally(operations: Sequence[str]) -> str:
    """Operations with how often each occurred: `live, get 3 times`."""
    counted = Counter(operations)
    return ", ".join(op if n == 1 else f"{op} {n} times" for op, n in counted.items())


def in_full(event: Event) -> str:
    """Everything that an event says, as indented JSON."""
    if event.type in {EventType.FAIL, EventType.INFO}:
        return str(event.error)
    return json.dumps(plainly(event.value), indent=2, ensure_ascii=False)


def strings(event: Event) -> Iterator[str]:
    """Every text that an event holds."""
    if event.error is not None:
        yield event.error
    yield from _strings(plainly(event.value))


def plainly(value: Any) -> Any:
    """The value as JSON has it, whether it comes from a file or from the objects themselves."""
    try:
        return _sequences(msgspec.to_builtins(value, str_keys=True))
    except (TypeError, ValueError):
        return repr(value)


def _strings(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for each in value.values():
            yield from _strings(each)
    elif isinstance(value, list):
        for each in value:
            yield from _strings(each)


def _sequences(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {str(key): _sequences(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [_sequences(each) for each in value]
    return value


def _kind(kind: str, value: Mapping[str, Any]) -> str:
    """An answer or an outcome."""
    parts = [kind]
    if value.get("summary"):
        parts.append(f"summary {value['summary']}")
    if value.get("covered"):
        parts.append(f"covers {' '.join(map(str, value['covered']))}")
    if value.get("carrier"):
        parts.append(f"in {value['carrier']}")
    if value.get("value") is not None:
        parts.append(f"value {_quoted(value['value'])}")
    if value.get("text") is not None:
        parts.append(_quoted(value["text"]))
    elif value.get("data") is not None:
        parts.append("bytes")
    if value.get("pending"):
        parts.append("pending")
    if value.get("reason"):
        parts.append(f"because {value['reason']}")
    if value.get("facts"):
        # Of what happened they are what its summary leaves out (PROTOCOL.md, Outcome).
        what = "left out" if kind == "committed" else "facts in the way"
        parts.append(f"{what}: {', '.join(map(str, value['facts']))}")
    return ", ".join(parts)


def _turn(turn: Mapping[str, Any]) -> str:
    said = turn.get("text")
    words = _quoted(said) if said is not None else "bytes" if turn.get("data") is not None else "no text"
    calls = turn.get("calls") or ()
    called = f", calls {', '.join(str(call.get('name')) for call in calls)}" if calls else ""
    return f"{turn.get('id')} {turn.get('speaker')}: {words}{called}"


def _item(item: Any) -> str:
    if not isinstance(item, Mapping):
        return _short(item)
    if item.get("kind") == "raw":
        return str(item.get("turn") or item.get("id"))
    return f"{item.get('kind')} {item.get('id')} {_quoted(item.get('text') or '')}"


def _arguments(value: Mapping[str, Any]) -> str:
    given = {key: each for key, each in value.items() if each not in (None, (), [], {})}
    if len(given) == 1:
        (only,) = given.values()
        return _short(only)
    return ", ".join(f"{key} {_short(each)}" for key, each in given.items())


def _short(value: Any) -> str:
    match value:
        case None:
            return "none"
        case bool():
            return "yes" if value else "no"
        case str():
            return value
        case Mapping():
            return _arguments(value)
        case list():
            return ", ".join(map(_short, value))
    return str(value)


def _quoted(text: Any) -> str:
    return f'"{text}"'


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
