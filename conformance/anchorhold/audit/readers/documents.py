"""Formats that are one JSON document, or one document a line: Gemini CLI, SWE-agent, OpenHands, chat messages, and
two sets of dialogues that agents are measured on.

A document above `source.WHOLE_JSON` is read element by element, so that its size does not matter.
"""

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from anchorhold.audit.model import Compaction, Damage, Event, Piece, Role, Turn
from anchorhold.audit.readers.common import Notes, call_pieces, dumped, short, texts, words
from anchorhold.audit.readers.source import document, elements, open_bytes, records

Report = Callable[[Damage], None]
_ROLES = {
    "user": Role.USER,
    "human": Role.USER,
    "assistant": Role.ASSISTANT,
    "ai": Role.ASSISTANT,
    "model": Role.ASSISTANT,
    "system": Role.SYSTEM,
    "developer": Role.SYSTEM,
    "tool": Role.RESULT,
    "function": Role.RESULT,
}


# -- chat messages --


def chat_turn(session: str, notes: Notes, message: Any, *, at: str, after_call: bool = False) -> Turn:
    """A message in the form of the OpenAI chat interface; `at` is its pointer in the record."""
    if not isinstance(message, dict):
        notes.ill_typed(message, at or "a message", "an object")
        return Turn(session=session, record=notes.number, pieces=(), counted=False)
    said = notes.words(message.get("role"), f"{at}/role")
    role = _ROLES.get(said or "")
    if role is None:
        notes.unknown(f"a message with the role {short(message.get('role'))}")
        role = Role.USER
    call, name = (notes.words(message.get(key), f"{at}/{key}") for key in ("tool_call_id", "name"))
    # Some agents hand a result back as the user's message.
    shown = Role.RESULT if after_call and role is Role.USER else role
    pieces = [
        Piece(role=shown, text=text, field=field, call=call, tool=name)
        for field, text in notes.said(message.get("content"), f"{at}/content")
    ]
    for key in ("thought", "reasoning_content"):
        text = notes.words(message.get(key), f"{at}/{key}")
        if text and text not in {p.text for p in pieces}:
            pieces.append(Piece(role=Role.THINKING, text=text, field=f"{at}/{key}"))
    called = list(_calls(message, at, notes))
    pieces += called
    action = message.get("action")
    if role is Role.ASSISTANT and not called and (text := notes.words(action, f"{at}/action")):
        pieces.append(Piece(role=Role.CALL, text=text, field=f"{at}/action", tool="action"))
    return Turn(
        session=session, record=notes.number, pieces=tuple(pieces), human=role is Role.USER and shown is Role.USER,
        time=notes.words(message.get("timestamp"), f"{at}/timestamp"),
    )  # fmt: skip


def _calls(message: dict[str, Any], at: str, notes: Notes) -> Iterator[Piece]:
    calls = notes.items(message.get("tool_calls"), f"{at}/tool_calls")
    for index, each in enumerate(calls):
        where = f"{at}/tool_calls/{index}"
        call = notes.fields(each, where)
        own, key = call.get("custom"), "custom"
        if not isinstance(own, dict):
            own, key = call.get("function"), "function"
        if own is None and not (isinstance(each, (str, int, float, list))):
            notes.unknown(f"{where} is a call of no function")
        yield from _function(own, f"{where}/{key}", words(call.get("id")), notes)
    if not calls:
        yield from _function(message.get("function_call"), f"{at}/function_call", None, notes)


def _function(function: Any, at: str, call: str | None, notes: Notes) -> Iterator[Piece]:
    held = notes.fields(function, at)
    if held and "name" not in held:
        notes.unknown(f"{at} has no name")
    key = "input" if "input" in held and "arguments" not in held else "arguments"
    yield from call_pieces(held.get(key), f"{at}/{key}", tool=notes.words(held.get("name"), f"{at}/name"), call=call)


def chat_lines(path: Path, report: Report) -> Iterator[Event]:
    """JSON lines: a message each, or a conversation each."""
    with open_bytes(path) as file:
        for number, record in records(file, report):
            notes = Notes(number, report)
            if isinstance(record, dict) and "messages" in record and "role" not in record:
                session = notes.words(record.get("id"), "id") or f"{path.stem}:{number}"
                for index, message in enumerate(notes.items(record["messages"], "/messages")):
                    yield chat_turn(session, notes, message, at=f"/messages/{index}")
            else:
                yield chat_turn(path.stem, notes, record, at="")


def chat_document(path: Path, report: Report) -> Iterator[Event]:
    """A list of messages, an object that holds one, or a list of tasks with a `traj` each."""
    whole = document(path, report)
    if whole is None:
        prefix = "messages.item" if _starts_with(path, b"{") else "item"
        stream: Iterator[Any] = elements(path, prefix, report)
    else:
        notes = Notes(0, report)
        stream = iter(notes.items(whole.get("messages") if isinstance(whole, dict) else whole, "/messages"))
    for number, each in enumerate(stream):
        notes = Notes(number, report)
        if isinstance(each, dict) and "traj" in each:
            session = f"{path.stem}:{number}"
            for index, message in enumerate(notes.items(each["traj"], "/traj")):
                yield chat_turn(session, notes, message, at=f"/traj/{index}")
        else:
            yield chat_turn(path.stem, notes, each, at="")


def _starts_with(path: Path, byte: bytes) -> bool:
    with open_bytes(path) as file:
        return file.read(256).lstrip().startswith(byte)


# -- Gemini CLI --


_COMPRESSED = re.compile(r"(?i)\bchat history (?:was )?compressed\b|\bcompressed chat history\b")


def gemini(path: Path, report: Report) -> Iterator[Event]:
    """A session file of Gemini CLI.

    It tells that a history was compressed, and records neither the summary nor what was left of the messages.
    """
    whole = document(path, report)
    if whole is None:
        session, stream = None, elements(path, "messages.item", report)
    else:
        notes = Notes(0, report)
        held = notes.fields(whole, "a session")
        session, stream = words(held.get("sessionId")), iter(notes.items(held.get("messages"), "/messages"))
    for number, message in enumerate(stream):
        notes = Notes(number, report)
        if not isinstance(message, dict):
            notes.ill_typed(message, "a message", "an object")
            continue
        kind = notes.words(message.get("type"), "/type")
        if kind not in {"user", "gemini", "info", "error", "warning"}:
            notes.unknown(f"a message of type {short(message.get('type'))}")
            continue
        yield _gemini(session or path.stem, notes, kind, message)


def _gemini(session: str, notes: Notes, kind: str, message: dict[str, Any]) -> Turn:
    role = {"user": Role.USER, "gemini": Role.ASSISTANT}.get(kind, Role.SYSTEM)
    pieces = [Piece(role=role, text=text, field=at) for at, text in notes.said(message.get("content"), "/content")]
    if role is Role.SYSTEM and any(_COMPRESSED.search(piece.text) for piece in pieces):
        notes.tell("compaction", "a compaction whose summary is not in the file: it is not judged")
    for index, thought in enumerate(notes.items(message.get("thoughts"), "/thoughts")):
        pieces += [Piece(role=Role.THINKING, text=t, field=at) for at, t in texts(thought, f"/thoughts/{index}")]
    for index, each in enumerate(notes.items(message.get("toolCalls"), "/toolCalls")):
        at = f"/toolCalls/{index}"
        if not isinstance(each, dict):
            notes.ill_typed(each, at, "an object")
            continue
        if "name" not in each:
            notes.unknown(f"{at} is a call of no function")
        name, call = notes.words(each.get("name"), f"{at}/name"), notes.words(each.get("id"), f"{at}/id")
        pieces += call_pieces(each.get("args"), f"{at}/args", tool=name, call=call)
        pieces += [
            Piece(role=Role.RESULT, text=text, field=field, tool=name, call=call)
            for field, text in texts(each.get("result"), f"{at}/result")
        ]
    return Turn(
        session=session, record=notes.number, pieces=tuple(pieces), human=role is Role.USER,
        time=notes.words(message.get("timestamp"), "/timestamp"),
    )  # fmt: skip


# -- SWE-agent --


def swe_agent(path: Path, report: Report) -> Iterator[Event]:
    """A trajectory of SWE-agent: its `history`, or where that is missing its `trajectory`."""
    whole = document(path, report)
    if whole is None:
        stream = elements(path, "history.item", report)
    else:
        notes = Notes(0, report)
        held = notes.fields(whole, "a trajectory")
        history = held.get("history")
        if not isinstance(history, list):
            if history is not None:
                notes.ill_typed(history, "/history", "an array")
            yield from _steps(path.stem, notes.items(held.get("trajectory"), "/trajectory"), report)
            return
        stream = iter(history)
    called = False
    for number, message in enumerate(stream):
        yield chat_turn(path.stem, Notes(number, report), message, at="", after_call=called)
        called = isinstance(message, dict) and message.get("role") == "assistant"


def _steps(session: str, steps: list[Any], report: Report) -> Iterator[Event]:
    for number, each in enumerate(steps):
        notes = Notes(number, report)
        step = notes.fields(each, "a step")
        if not {"thought", "action", "observation"} & step.keys():
            notes.unknown("a step without thought, action and observation")
        for key, role in (("thought", Role.THINKING), ("action", Role.CALL), ("observation", Role.RESULT)):
            if text := notes.words(step.get(key), f"/{key}"):
                piece = Piece(role=role, text=text, field=f"/{key}", tool="action")
                yield Turn(session=session, record=number, pieces=(piece,), counted=role is not Role.THINKING)


# -- OpenHands --


def openhands(path: Path, report: Report) -> Iterator[Event]:
    """Events of OpenHands: a list in a document, or an instance with its `history` on each line."""
    if _starts_with(path, b"["):
        whole = document(path, report)
        stream = elements(path, "item", report) if whole is None else iter(Notes(0, report).items(whole, "events"))
        yield from _openhands(path.stem, stream, None, report)
        return
    with open_bytes(path) as file:
        for number, record in records(file, report):
            notes = Notes(number, report)
            if isinstance(record, dict) and "history" in record:
                session = notes.words(record.get("instance_id"), "/instance_id") or f"{path.stem}:{number}"
                history = notes.items(record["history"], "/history")
                # Older instances pair action and observation.
                flat = (e for each in history for e in (each if isinstance(each, list) else [each]))
                yield from _openhands(session, flat, number, report)
            elif isinstance(record, dict) and ("action" in record or "observation" in record):
                yield from _openhands(path.stem, iter([record]), number, report)
            else:
                notes.unknown("no event of OpenHands")


def _openhands(session: str, events: Iterator[Any], record: int | None, report: Report) -> Iterator[Event]:
    """`record` is the number of the record that holds the events; none where each is one."""
    for index, event in enumerate(events):
        notes = Notes(index if record is None else record, report)
        if not isinstance(event, dict) or not ("action" in event or "observation" in event):
            notes.unknown(f"event {index} is neither action nor observation")
            continue
        at = f"/history/{index}"
        if event.get("action") == "condensation":
            yield _condensation(session, notes, event, at)
        else:
            yield _event(session, notes, event, index, at)


def _condensation(session: str, notes: Notes, event: dict[str, Any], at: str) -> Compaction:
    arguments = notes.fields(event.get("args"), f"{at}/args")
    return Compaction(
        session=session, record=notes.number, summary_record=notes.number,
        summary=notes.words(arguments.get("summary"), f"{at}/args/summary") or "", field=f"{at}/args/summary",
        time=notes.words(event.get("timestamp"), f"{at}/timestamp"), covers=_forgotten(arguments, notes, at),
    )  # fmt: skip


def _forgotten(arguments: dict[str, Any], notes: Notes, at: str) -> frozenset[int] | range:
    """The events that a condensation forgot: it names each, or the first and the last of them."""
    named = arguments.get("forgotten_event_ids")
    if named is not None:
        ids = notes.items(named, f"{at}/args/forgotten_event_ids")
        for each in ids:
            if not isinstance(each, int):
                notes.ill_typed(each, "an id of forgotten_event_ids", "a number")
        return frozenset(each for each in ids if isinstance(each, int))
    first, last = (arguments.get(f"forgotten_events_{end}_id") for end in ("start", "end"))
    if isinstance(first, int) and isinstance(last, int):
        return range(first, last + 1)
    notes.tell("compaction", "a condensation that does not say which events it forgot: none is taken for forgotten")
    return frozenset()


def _event(session: str, notes: Notes, event: dict[str, Any], index: int, at: str) -> Turn:
    arguments = event.get("args")
    action = notes.words(event.get("action"), f"{at}/action")
    pieces: list[Piece] = []
    human = False
    if "observation" in event:
        tool = notes.words(event.get("observation"), f"{at}/observation")
        pieces = [
            Piece(role=Role.RESULT, text=text, field=field, tool=tool)
            for field, text in notes.said(event.get("content"), f"{at}/content")
        ]
    elif action in {"message", "system"}:
        human = event.get("source") == "user"
        role = Role.USER if human else Role.SYSTEM if action == "system" else Role.ASSISTANT
        content = arguments.get("content") if isinstance(arguments, dict) else event.get("message")
        pieces = [Piece(role=role, text=t, field=f) for f, t in notes.said(content, f"{at}/args/content")]
    else:
        said = {"thought": Role.ASSISTANT, "final_thought": Role.ASSISTANT}
        for key, value in notes.fields(arguments, f"{at}/args").items():
            if key not in said:
                pieces += call_pieces({key: value}, f"{at}/args", tool=action, call=None)
            elif text := notes.words(value, f"{at}/args/{key}"):
                pieces.append(Piece(role=said[key], text=text, field=f"{at}/args/{key}"))
    number = event.get("id")
    if number is not None and not isinstance(number, int):
        notes.ill_typed(number, f"{at}/id", "a number")
    return Turn(
        session=session, record=number if isinstance(number, int) else index, pieces=tuple(pieces), human=human,
        time=notes.words(event.get("timestamp"), f"{at}/timestamp"),
    )  # fmt: skip


# -- dialogues --


def intercode(path: Path, report: Report) -> Iterator[Event]:
    """Tasks of InterCode: a query, then actions and observations in turn."""
    notes = Notes(0, report)
    for key, each in notes.fields(document(path, report), "the tasks").items():
        session, task = f"{path.stem}:{key}", notes.fields(each, f"task {short(key)}")
        history = notes.fields(task.get("turn_history"), "/turn_history")
        if not {"actions", "observations"} & history.keys():
            notes.tell("lacking", f"task {short(key)} has neither actions nor observations")
        yield _said(session, 0, Role.USER, task.get("query"), "/query", human=True)
        actions, observations = (
            notes.items(history.get(k), f"/turn_history/{k}") for k in ("actions", "observations")
        )
        if len(actions) != len(observations):
            notes.tell("lacking", f"{len(actions)} actions and {len(observations)} observations in task {short(key)}")
        for index, action in enumerate(actions):
            yield _said(session, 2 * index + 1, Role.CALL, action, f"/turn_history/actions/{index}")
            if index < len(observations):
                said, at = observations[index], f"/turn_history/observations/{index}"
                yield _said(session, 2 * index + 2, Role.RESULT, said, at)


def memorybank(path: Path, report: Report) -> Iterator[Event]:
    """Dialogues of MemoryBank: by person and date, a query and its response."""
    notes = Notes(0, report)
    for person, held in notes.fields(document(path, report), "the dialogues").items():
        number = 0
        history = notes.fields(notes.fields(held, "a person").get("history"), "/history")
        if not history:
            notes.tell("lacking", f"no history of {short(person)}")
        for date, exchanges in history.items():
            for index, each in enumerate(notes.items(exchanges, f"/history/{short(date)}")):
                exchange = notes.fields(each, f"/history/{short(date)}/{index}")
                if not {"query", "response"} & exchange.keys():
                    notes.unknown(f"/history/{short(date)}/{index} is neither query nor response")
                for key, role in (("query", Role.USER), ("response", Role.ASSISTANT)):
                    at = f"/history/{date}/{index}/{key}"
                    yield _said(f"{path.stem}:{person}", number, role, exchange.get(key), at, human=role is Role.USER)
                    number += 1


def _said(session: str, number: int, role: Role, value: Any, field: str, *, human: bool = False) -> Turn:
    text = value if isinstance(value, str) else "" if value is None else dumped(value)
    pieces = (Piece(role=role, text=text, field=field, tool="action"),) if text else ()
    return Turn(session=session, record=number, pieces=pieces, human=human)
