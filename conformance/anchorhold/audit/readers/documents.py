"""Formats that are one JSON document, or one document a line: Gemini CLI, SWE-agent, OpenHands, chat messages, and
two sets of dialogues that agents are measured on.

A document above `source.WHOLE_JSON` is read element by element, so that its size does not matter.
"""

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from anchorhold.audit.model import Compaction, Damage, Event, Piece, Role, Turn
from anchorhold.audit.readers.common import block_texts, call_pieces, texts, words
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


def chat_turn(session: str, number: int, message: Any, report: Report, *, at: str, after_call: bool = False) -> Turn:
    """A message in the form of the OpenAI chat interface; `at` is its pointer in the record."""
    if not isinstance(message, dict):
        report(Damage(kind="unknown", record=number, detail=f"a {type(message).__name__} among the messages"))
        return Turn(session=session, record=number, pieces=(), counted=False)
    role = _ROLES.get(str(message.get("role")))
    if role is None:
        report(Damage(kind="unknown", record=number, detail=f"a message with the role {message.get('role')!r}"))
        role = Role.USER
    call = words(message.get("tool_call_id"))
    # Some agents hand a result back as the user's message.
    shown = Role.RESULT if after_call and role is Role.USER else role
    pieces = [
        Piece(role=shown, text=text, field=field, call=call, tool=words(message.get("name")))
        for field, text in block_texts(message.get("content"), f"{at}/content")
    ]
    for key in ("thought", "reasoning_content"):
        if words(message.get(key)) and message[key] not in {p.text for p in pieces}:
            pieces.append(Piece(role=Role.THINKING, text=message[key], field=f"{at}/{key}"))
    calls = message.get("tool_calls") or (
        [{"function": message["function_call"]}] if message.get("function_call") else []
    )
    for index, each in enumerate(calls if isinstance(calls, list) else []):
        function = each.get("function") if isinstance(each, dict) else None
        if isinstance(function, dict):
            pieces += call_pieces(
                function.get("arguments"),
                f"{at}/tool_calls/{index}/function/arguments",
                tool=words(function.get("name")),
                call=words(each.get("id")),
            )
    if role is Role.ASSISTANT and words(message.get("action")) and not calls:
        pieces.append(Piece(role=Role.CALL, text=message["action"], field=f"{at}/action", tool="action"))
    return Turn(
        session=session, record=number, pieces=tuple(pieces), human=role is Role.USER and shown is Role.USER,
        time=words(message.get("timestamp")),
    )  # fmt: skip


def chat_lines(path: Path, report: Report) -> Iterator[Event]:
    """JSON lines: a message each, or a conversation each."""
    with open_bytes(path) as file:
        for number, record in records(file, report):
            if isinstance(record, dict) and isinstance(record.get("messages"), list):
                session = words(record.get("id")) or f"{path.stem}:{number}"
                for index, message in enumerate(record["messages"]):
                    yield chat_turn(session, number, message, report, at=f"/messages/{index}")
            else:
                yield chat_turn(path.stem, number, record, report, at="")


def chat_document(path: Path, report: Report) -> Iterator[Event]:
    """A list of messages, an object that holds one, or a list of tasks with a `traj` each."""
    whole = document(path, report)
    if whole is None:
        prefix = "messages.item" if _starts_with(path, b"{") else "item"
        stream: Iterator[Any] = elements(path, prefix, report)
    else:
        stream = iter(whole["messages"] if isinstance(whole, dict) else whole)
    for number, each in enumerate(stream):
        if isinstance(each, dict) and isinstance(each.get("traj"), list):
            session = f"{path.stem}:{number}"
            for index, message in enumerate(each["traj"]):
                yield chat_turn(session, number, message, report, at=f"/traj/{index}")
        else:
            yield chat_turn(path.stem, number, each, report, at="")


def _starts_with(path: Path, byte: bytes) -> bool:
    with open_bytes(path) as file:
        return file.read(256).lstrip().startswith(byte)


# -- Gemini CLI --


def gemini(path: Path, report: Report) -> Iterator[Event]:
    """A session file of Gemini CLI."""
    whole = document(path, report)
    session = words(whole.get("sessionId")) if isinstance(whole, dict) else None
    stream = iter(whole.get("messages") or []) if isinstance(whole, dict) else elements(path, "messages.item", report)
    for number, message in enumerate(stream):
        kind = message.get("type") if isinstance(message, dict) else None
        if kind not in {"user", "gemini", "info", "error", "warning"}:
            report(Damage(kind="unknown", record=number, detail=f"a message of type {kind!r}"))
            continue
        role = {"user": Role.USER, "gemini": Role.ASSISTANT}.get(kind, Role.SYSTEM)
        pieces = [
            Piece(role=role, text=text, field=at) for at, text in block_texts(message.get("content"), "/content")
        ]
        for index, thought in enumerate(message.get("thoughts") or []):
            pieces += [Piece(role=Role.THINKING, text=t, field=at) for at, t in texts(thought, f"/thoughts/{index}")]
        for index, call in enumerate(message.get("toolCalls") or []):
            at, name = f"/toolCalls/{index}", words(call.get("name"))
            pieces += call_pieces(call.get("args"), f"{at}/args", tool=name, call=words(call.get("id")))
            pieces += [
                Piece(role=Role.RESULT, text=text, field=field, tool=name, call=words(call.get("id")))
                for field, text in texts(call.get("result"), f"{at}/result")
            ]
        yield Turn(
            session=session or path.stem, record=number, pieces=tuple(pieces), human=role is Role.USER,
            time=words(message.get("timestamp")),
        )  # fmt: skip


# -- SWE-agent --


def swe_agent(path: Path, report: Report) -> Iterator[Event]:
    """A trajectory of SWE-agent: its `history`, or where that is missing its `trajectory`."""
    whole = document(path, report)
    if isinstance(whole, dict) and not isinstance(whole.get("history"), list):
        for number, step in enumerate(whole.get("trajectory") or []):
            for key, role in (("thought", Role.THINKING), ("action", Role.CALL), ("observation", Role.RESULT)):
                if isinstance(step, dict) and words(step.get(key)):
                    piece = Piece(role=role, text=step[key], field=f"/{key}", tool="action")
                    yield Turn(session=path.stem, record=number, pieces=(piece,), counted=role is not Role.THINKING)
        return
    stream = iter(whole["history"]) if isinstance(whole, dict) else elements(path, "history.item", report)
    called = False
    for number, message in enumerate(stream):
        yield chat_turn(path.stem, number, message, report, at="", after_call=called)
        called = isinstance(message, dict) and message.get("role") == "assistant"


# -- OpenHands --


def openhands(path: Path, report: Report) -> Iterator[Event]:
    """Events of OpenHands: a list in a document, or an instance with its `history` on each line."""
    if _starts_with(path, b"["):
        whole = document(path, report)
        yield from _openhands(
            path.stem, iter(whole) if isinstance(whole, list) else elements(path, "item", report), 0, report
        )
        return
    with open_bytes(path) as file:
        for number, record in records(file, report):
            if isinstance(record, dict) and isinstance(record.get("history"), list):
                session = words(record.get("instance_id")) or f"{path.stem}:{number}"
                # Older instances pair action and observation.
                flat = (e for each in record["history"] for e in (each if isinstance(each, list) else [each]))
                yield from _openhands(session, flat, number, report)
            elif isinstance(record, dict) and ("action" in record or "observation" in record):
                yield from _openhands(path.stem, iter([record]), number, report)
            else:
                report(Damage(kind="unknown", record=number, detail="no event of OpenHands"))


def _openhands(session: str, events: Iterator[Any], record: int, report: Report) -> Iterator[Event]:
    for index, event in enumerate(events):
        if not isinstance(event, dict) or not ("action" in event or "observation" in event):
            report(Damage(kind="unknown", record=record, detail=f"event {index} is neither action nor observation"))
            continue
        arguments, at = event.get("args"), f"/history/{index}"
        time = words(event.get("timestamp"))
        if event.get("action") == "condensation" and isinstance(arguments, dict):
            gone = arguments.get("forgotten_event_ids")
            yield Compaction(
                session=session, record=record, summary_record=record, summary=words(arguments.get("summary")) or "",
                field=f"{at}/args/summary", time=time, covers=frozenset(gone) if isinstance(gone, list) else None,
            )  # fmt: skip
            continue
        pieces: list[Piece] = []
        human = False
        if "observation" in event:
            pieces = [
                Piece(role=Role.RESULT, text=text, field=field, tool=words(event.get("observation")))
                for field, text in block_texts(event.get("content"), f"{at}/content")
            ]
        elif event.get("action") in {"message", "system"}:
            human = event.get("source") == "user"
            role = Role.USER if human else Role.SYSTEM if event["action"] == "system" else Role.ASSISTANT
            content = arguments.get("content") if isinstance(arguments, dict) else event.get("message")
            pieces = [Piece(role=role, text=t, field=f) for f, t in block_texts(content, f"{at}/args/content")]
        elif isinstance(arguments, dict):
            said = {"thought": Role.ASSISTANT, "final_thought": Role.ASSISTANT}
            for key, value in arguments.items():
                if key in said and words(value):
                    pieces.append(Piece(role=said[key], text=value, field=f"{at}/args/{key}"))
                elif key not in said:
                    pieces += call_pieces({key: value}, f"{at}/args", tool=words(event.get("action")), call=None)
        number = event["id"] if isinstance(event.get("id"), int) else index
        yield Turn(session=session, record=number, pieces=tuple(pieces), time=time, human=human)


# -- dialogues --


def intercode(path: Path, report: Report) -> Iterator[Event]:
    """Tasks of InterCode: a query, then actions and observations in turn."""
    whole = document(path, report)
    for key, task in whole.items() if isinstance(whole, dict) else ():
        session, history = f"{path.stem}:{key}", task.get("turn_history") or {}
        yield _said(session, 0, Role.USER, task.get("query"), "/query", human=True)
        pairs = zip(history.get("actions") or [], history.get("observations") or [], strict=False)
        for index, (action, observation) in enumerate(pairs):
            yield _said(session, 2 * index + 1, Role.CALL, action, f"/turn_history/actions/{index}")
            yield _said(session, 2 * index + 2, Role.RESULT, observation, f"/turn_history/observations/{index}")


def memorybank(path: Path, report: Report) -> Iterator[Event]:
    """Dialogues of MemoryBank: by person and date, a query and its response."""
    whole = document(path, report)
    for person, held in whole.items() if isinstance(whole, dict) else ():
        number = 0
        for date, exchanges in (held.get("history") or {}).items():
            for index, exchange in enumerate(exchanges):
                for key, role in (("query", Role.USER), ("response", Role.ASSISTANT)):
                    at = f"/history/{date}/{index}/{key}"
                    yield _said(f"{path.stem}:{person}", number, role, exchange.get(key), at, human=role is Role.USER)
                    number += 1


def _said(session: str, number: int, role: Role, value: Any, field: str, *, human: bool = False) -> Turn:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    pieces = (Piece(role=role, text=text, field=field, tool="action"),) if text else ()
    return Turn(session=session, record=number, pieces=pieces, human=human)
