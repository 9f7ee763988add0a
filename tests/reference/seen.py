"""What a caller can see of a transcript, as plain values: to tell whether two states are the same one."""

from typing import Any

from transcripts import port

from anchorhold_reference import Transcript
from anchorhold_spec.vocabulary import AnswerKind


def view(transcript: Transcript, upto: int) -> dict[str, Any]:
    """The window, what each pointer leads to, what was dropped, what each slot answers for turns 1 to `upto`.

    Without tokens, which carry the mark of an opening; a pending pointer counts as what it promises to become.
    """
    pointers = {}
    for pointer in transcript.pointers():
        answer = transcript.get(pointer.token)
        kind, text = answer.kind, answer.text
        if kind is AnswerKind.PENDING:
            kind, text = AnswerKind.FOUND, port(int(pointer.covers[0][1:]))
        pointers[pointer.covers[0]] = [kind, text]
    return {
        "window": [[i.id, i.kind, i.text, i.turn, list(i.covers or ()), i.generation] for i in transcript.live()],
        "pointers": pointers,
        "dropped": [[t.literal, t.source, t.reason] for t in transcript.tombstones()],
        "answers": [
            [answer.kind, answer.value, answer.text]
            for n in range(1, upto + 1)
            for answer in [transcript.reconstitute(f"db-{n}", "port", evidence=True)]
        ],
    }
