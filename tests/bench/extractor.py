"""The extractor's speed and quality: `python tests/bench/extractor.py --data DIR [--half report]`.

Speed: message text of the Claude Code streams, in MB of UTF-8 a second of processor time on one core, with the keys
of all facts. Quality: against `tests/reference/labels`, of the half that the extractor was not tuned on. Not a test:
nothing that is collected depends on time. Ends with 1 where a figure is not met, with 2 where the transcripts are not
there.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "reference"))

from corpus_records import records

from anchorhold_reference.extract import facts_of, mentions
from anchorhold_spec.vocabulary import Turn

LABELS = Path(__file__).parents[1] / "reference" / "labels" / "facts.jsonl"
STREAMS = ("claude_code/stream_user-a.jsonl.xz", "claude_code/stream_user-b.jsonl.xz")
ASKED = {
    "identifier": (0.95, 0.95),
    "path": (0.95, 0.95),
    "number": (0.95, 0.95),
    "negation": (0.90, 0.85),
}
"""Precision and recall asked of each class; others are printed only."""
SPEED = 5.0


def quality(data: Path, half: str, *, errors: bool) -> dict[str, tuple[int, int, int]]:
    """Class → right, wrong and missed, over one half of the labels."""
    counts: dict[str, Counter[str]] = {}
    for line in LABELS.read_text(encoding="utf-8").splitlines():
        record = json.loads(line)
        if record["half"] != half:
            continue
        text = records(data, record["dataset"])[record["record"]]
        found = mentions(text)
        for kind in record["classes"]:
            labelled = {(start, end) for start, end, label in record["labels"] if label == kind}
            extracted = {(m.start, m.end) for m in found if m.kind == kind}
            count = counts.setdefault(kind, Counter())
            if kind == "negation":
                held = {
                    (s, e): [(start, end) for start, end in labelled if s <= start and end <= e] for s, e in extracted
                }
                wrong = {place for place, inside in held.items() if not inside}
                right = {place for inside in held.values() for place in inside}
            else:
                wrong, right = extracted - labelled, extracted & labelled
            missed = labelled - right
            count.update(right=len(right), wrong=len(wrong), missed=len(missed))
            if errors:
                for word, places in (("wrong", wrong), ("missed", missed)):
                    for start, end in sorted(places):
                        around = text[max(0, start - 25) : end + 25].replace("\n", "⏎")
                        print(f"  {word} {kind} {text[start:end]!r} in {around!r}  {record['dataset'].split('/')[0]}")
    return {kind: (c["right"], c["wrong"], c["missed"]) for kind, c in sorted(counts.items())}


def speed(data: Path, limit: int) -> tuple[float, float, int]:
    """MB, seconds of processor time, and how many facts."""
    texts: list[str] = []
    size = 0
    for stream in STREAMS:
        for text in records(data, stream).values():
            if size >= limit:
                break
            texts.append(text)
            size += len(text.encode("utf-8", "surrogatepass"))
    turns = [Turn(id="t", speaker="assistant", text=text) for text in texts if "\x00" not in text]
    facts = 0
    started = time.process_time()
    for turn in turns:
        facts += sum(1 for fact in facts_of(turn) if fact.key)
    return size / 1e6, time.process_time() - started, facts


def main() -> int:
    """Print the figures beside what is asked."""
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument(
        "--data", type=Path, required=True, help="where the transcripts are that the labels speak of"
    )
    arguments.add_argument("--half", choices=("tune", "report"), default="report")
    arguments.add_argument("--errors", action="store_true", help="print each wrong and each missed fact")
    arguments.add_argument("--megabytes", type=float, default=60, help="of text, at most, for the speed; 0: none")
    given = arguments.parse_args()
    if not (given.data / STREAMS[0]).exists():
        print(f"{given.data} has no {STREAMS[0]}: give the folder of the transcripts with --data", file=sys.stderr)
        return 2
    met = True
    for kind, (right, wrong, missed) in quality(given.data, given.half, errors=given.errors).items():
        precision, recall = right / max(right + wrong, 1), right / max(right + missed, 1)
        asked = ASKED.get(kind)
        wanted = "" if asked is None else f"  (asked ≥ {asked[0]:.2f} / {asked[1]:.2f})"
        met &= asked is None or (precision >= asked[0] and recall >= asked[1])
        print(f"{kind:11} precision {precision:.3f}  recall {recall:.3f}{wanted}  of {right + missed} labelled")
    if given.megabytes:
        size, seconds, facts = speed(given.data, int(given.megabytes * 1e6))
        met &= size / seconds >= SPEED
        print(
            f"speed       {size / seconds:.2f} MB/s of processor time (asked ≥ {SPEED}): {size:.1f} MB of text, "
            f"{facts} facts, {seconds:.1f} s"
        )
    print("met" if met else "NOT met")
    return 0 if met else 1


if __name__ == "__main__":
    sys.exit(main())
