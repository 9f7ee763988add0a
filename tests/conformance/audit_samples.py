"""Small transcripts made for the tests, in the forms of the agents that write them."""

import json
from pathlib import Path
from typing import Any

CWD = "/work/shop"


class Claude:
    """A session of Claude Code, record by record."""

    def __init__(self, session: str = "11111111-aaaa-4bbb-8ccc-000000000001") -> None:
        self.session = session
        self.records: list[dict[str, Any]] = []

    def _add(self, kind: str, content: Any, **more: Any) -> int:
        number = len(self.records)
        self.records.append(
            {
                "type": kind,
                "uuid": f"{self.session}-{number}",
                "parentUuid": f"{self.session}-{number - 1}" if number else None,
                "sessionId": self.session,
                "isSidechain": False,
                "cwd": CWD,
                "timestamp": f"2026-03-01T10:{number // 60:02}:{number % 60:02}.000Z",
                "message": {"role": kind, "content": content},
                **more,
            }
        )
        return number

    def user(self, text: str) -> int:
        return self._add("user", text)

    def says(self, text: str) -> int:
        return self._add("assistant", [{"type": "text", "text": text}])

    def thinks(self, text: str) -> int:
        return self._add("assistant", [{"type": "thinking", "thinking": text}])

    def calls(self, tool: str, result: str | None = None, *, failed: bool = False, **arguments: Any) -> int:
        call = f"toolu_{len(self.records)}"
        number = self._add("assistant", [{"type": "tool_use", "id": call, "name": tool, "input": arguments}])
        if result is not None:
            shown = {"type": "tool_result", "tool_use_id": call, "content": result, "is_error": failed}
            self._add("user", [shown])
        return number

    def compacts(self, summary: str, *, tokens: int | None = 100, pointer: bool | str = False) -> int:
        number = len(self.records)
        self.records.append(
            {
                "type": "system",
                "subtype": "compact_boundary",
                "sessionId": self.session,
                "uuid": f"{self.session}-{number}",
                "parentUuid": None,
                "compactMetadata": {"trigger": "auto", "preTokens": tokens},
            }
        )
        text = "This session is being continued from a previous conversation that ran out of context.\n\n" + summary
        if pointer:
            text += (
                "\n\nIf you need specific details from before compaction (like exact code snippets), read the full "
                f"transcript at: /home/u/.claude/projects/x/{self.session if pointer is True else pointer}.jsonl"
            )
        self._add("user", text, isCompactSummary=True)
        return number

    def write(self, path: Path) -> Path:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("".join(json.dumps(record) + "\n" for record in self.records), encoding="utf-8")
        return path


def lossy(session: str = "11111111-aaaa-4bbb-8ccc-000000000001", *, pointer: bool = False) -> Claude:
    """A session whose summary drops the id of a task that the agent then asks for, and makes up a file."""
    made = Claude(session)
    made.user("Start the import and keep an eye on it. Never touch the table customers_eu without asking me first.")
    made.calls("Task", "Started task a295b012cd, its queue is import-q77.", prompt="import")
    made.calls(
        "Read", "     1→def price(order):\n     2→    return order.total_cents", file_path=f"{CWD}/src/price.py"
    )
    made.says("The import runs; price() is in src/price.py.")
    made.compacts(
        "The import was started. price() is in `src/price.py`; see also `src/prices_old.py`.", pointer=pointer
    )
    made.user("How far is it?")
    made.calls("TaskOutput", "done", task_id="a295b012cd")
    made.calls(
        "Read", "     1→def price(order):\n     2→    return order.total_cents", file_path=f"{CWD}/src/price.py"
    )
    made.says("It is done.")
    return made
