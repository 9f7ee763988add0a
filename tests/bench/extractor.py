"""The extractor's speed and quality: `python tests/bench/extractor.py --data DIR [--half report]`.

Speed: message text of the Claude Code streams, in MB of UTF-8 a second of processor time on one core, with the keys
of all facts; of the Python code, and of the compiled code where it is installed; beside it how many lines were not
remembered from an earlier one, and the rate where no turn is remembered.
Quality: against `tests/reference/labels`, of the half that the extractor was not tuned on. Not a test:
nothing that is collected depends on time. Ends with 1 where a figure is not met, with 2 where the transcripts are not
there.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "reference"))

from corpus_records import records

from anchorhold_reference.extract import ENGINE, Engine, facts_of, mentions
from anchorhold_reference.extract.engine import PYTHON
from anchorhold_reference.extract.python import NUMBERED
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


@dataclass(frozen=True)
class Speed:
    """What reading the streams once took."""

    megabytes: float
    """Of UTF-8."""
    seconds: float
    """Of processor time."""
    facts: int
    lines: int
    """That say anything, numbers aside."""
    anew: int
    """Lines that had to be read because they were not remembered."""

    @property
    def rate(self) -> float:
        """In MB a second."""
        return self.megabytes / self.seconds


def speed(data: Path, limit: int, *, engine: Engine, remember: bool) -> Speed:
    """Read the streams; where nothing is to be remembered each turn is read as if it were the first."""
    texts: list[str] = []
    size = 0
    for stream in STREAMS:
        for text in records(data, stream).values():
            if size >= limit:
                break
            if "\x00" not in text:
                texts.append(text)
                size += len(text.encode("utf-8", "surrogatepass"))
    turns = [Turn(id="t", speaker="assistant", text=text) for text in texts]
    facts = anew = 0
    engine.forget()
    started = time.process_time()
    for turn in turns:
        facts += sum(1 for fact in facts_of(turn, engine=engine) if fact.key)
        if not remember:
            anew += engine.missed
            engine.forget()
    seconds = time.process_time() - started
    anew += engine.missed
    engine.forget()  # what one code remembers is not to cost the next one the processor's caches
    return Speed(
        megabytes=size / 1e6,
        seconds=seconds,
        facts=facts,
        lines=sum(1 for text in texts for _, _, said in NUMBERED.findall(text) if said),
        anew=anew,
    )


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
        rates = []
        for engine in (PYTHON,) if ENGINE is PYTHON else (PYTHON, ENGINE):
            one = speed(given.data, int(given.megabytes * 1e6), engine=engine, remember=True)
            cold = speed(given.data, int(given.megabytes / 8 * 1e6), engine=engine, remember=False)
            rates.append(one.rate)
            print(
                f"{engine.name:11} {one.rate:.2f} MB/s of processor time: {one.megabytes:.1f} MB, {one.facts} facts, "
                f"{one.seconds:.1f} s; {one.anew / one.lines:.0%} of {one.lines} lines not remembered\n"
                f"  with nothing remembered from other turns {cold.rate:.2f} MB/s: {cold.megabytes:.1f} MB, "
                f"{cold.anew / cold.lines:.0%} of the lines"
            )
        met &= rates[-1] >= SPEED
        print(f"speed       {rates[-1]:.2f} MB/s (asked ≥ {SPEED}), {rates[-1] / rates[0]:.1f} × the Python code")
    print("met" if met else "NOT met")
    return 0 if met else 1


if __name__ == "__main__":
    sys.exit(main())
