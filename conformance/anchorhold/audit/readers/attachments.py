"""What Claude Code shows the agent besides messages: files, instructions, messages that waited in a queue."""

from collections.abc import Iterator
from typing import Any

from anchorhold.audit.model import Piece, Role, Turn
from anchorhold.audit.readers.common import Notes, short, texts

SHOWN: dict[str, tuple[str, ...]] = {
    "file": ("content",),
    "already_read_file": ("content",),
    "new_file": ("content",),
    "edited_text_file": ("snippet", "content"),
    "selected_lines_in_ide": ("content",),
    "directory": ("content",),
    "plan_file_reference": ("planContent", "content"),
    "mcp_resource": ("content",),
    "invoked_skills": ("skills",),
    "task_status": ("description", "deltaSummary"),
    "async_hook_response": ("response",),
    "hook_additional_context": ("content",),
    "hook_blocking_error": ("blockingError",),
    "hook_success": ("content",),
    "diagnostics": ("files",),
    "relevant_memories": ("memories",),
    "session_context": ("content", "context"),
    "critical_system_reminder": ("content",),
}
"""Types whose content the agent is shown, and the fields that hold it."""
ALWAYS: dict[str, tuple[str, ...]] = {"nested_memory": ("content",), "instructions": ("content",)}
"""Types that are instructions of the project: they are in sight again after every compaction."""
WORDLESS = frozenset({
    "compact_file_reference", "pdf_reference", "opened_file_in_ide", "todo_reminder", "task_reminder", "plan_mode",
    "plan_mode_exit", "plan_mode_reentry", "date", "date_change", "hook_system_message", "hook_non_blocking_error",
    "hook_error_during_execution", "hook_cancelled", "hook_stopped_continuation", "hook_permission_decision",
    "command_permissions", "deferred_tools_delta", "deferred_tools_record", "skill_listing", "dynamic_skill",
    "agent_mention", "agent_listing_delta", "mcp_instructions_delta", "output_style", "token_usage", "budget_usd",
    "ultrathink_effort", "verify_plan_reminder", "compaction_reminder", "auto_mode", "auto_mode_exit",
    "structured_output", "max_turns_reached", "credential_org", "advisor_tool", "harness_map_delta",
})  # fmt: skip
"""Types that are known and show nothing of what a conversation is about: names, states, reminders."""
_NAMES = frozenset(
    {"type", "filePath", "filename", "displayPath", "path", "uri", "numLines", "startLine", "totalLines"}
)


def attached(session: str, attachment: Any, notes: Notes, time: str | None) -> Turn | None:
    """The turn of an attachment, which counts as none of the file's; none where it shows nothing."""
    if not isinstance(attachment, dict):
        notes.ill_typed(attachment, "attachment", "an object")
        return None
    kind = notes.words(attachment.get("type"), "/attachment/type")
    if kind == "queued_command":
        # A person wrote it while the agent was working; its own record is this one.
        pieces = [
            Piece(role=Role.USER, text=text, field=at)
            for at, text in notes.said(attachment.get("prompt"), "/attachment/prompt")
        ]
        human = not attachment.get("isMeta") and attachment.get("commandMode", "prompt") == "prompt"
        return Turn(session=session, record=notes.number, pieces=tuple(pieces), time=time, human=human, counted=False)
    if kind in WORDLESS:
        return None
    if kind not in SHOWN and kind not in ALWAYS:
        notes.unknown(f"an attachment of type {short(attachment.get('type'))}")
        return None
    role = Role.SYSTEM if kind in ALWAYS else Role.USER
    fields = ALWAYS.get(kind) or SHOWN[kind]
    found = tuple(
        Piece(role=role, text=text, field=at)
        for key in fields
        for at, text in _shown(attachment.get(key), f"/attachment/{key}")
    )
    return Turn(session=session, record=notes.number, pieces=found, time=time, counted=False) if found else None


def _shown(value: Any, pointer: str) -> Iterator[tuple[str, str]]:
    for at, text in texts(value, pointer):
        if at.rpartition("/")[2] not in _NAMES:
            yield at, text
