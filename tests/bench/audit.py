"""The audit's speed, memory and quality: `python tests/bench/audit.py [speed] [memory] [labels] [turns] [table]`.

`speed`: raw bytes a second over the Claude Code streams, unpacked, on two processes. `memory`: a stream repeated
under other session ids until it has 2 GB (`--size` for less), and the largest resident size while it is audited.
`labels`: agreement of the readers, precision and recall on `tests/conformance/audit/labels`. `turns`: every file
read to its end, its turns against STATS.md. `table`: what README.md shows. All of it without arguments. Not a test:
nothing that is collected depends on time. Ends with 1 where a figure is not met, with 2 where the transcripts are
not there.
"""

import argparse
import json
import lzma
import multiprocessing
import os
import resource
import shutil
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from anchorhold.audit.finding import Example, Place
from anchorhold.audit.run import Audited, audit_file, audit_paths

LABELS = Path(__file__).parents[1] / "conformance" / "audit" / "labels"
STREAMS = ("claude_code/stream_user-a.jsonl.xz", "claude_code/stream_user-b.jsonl.xz")
SPEED, MEMORY, PRECISION, RECALL, UNSUPPORTED = 10.0, 400.0, 0.95, 0.85, 0.9
NOTES = {
    "claude_console_md": "STATS.md counts what the user and the agent say and call; here results are turns as well",
    "memorybank/probing": "questions about the dialogues, and no transcript: not read",
}


def speed(data: Path, folder: Path) -> bool:
    """MB of raw transcript a second, on two processes."""
    plain = []
    for name in STREAMS:
        plain.append(folder / Path(name).stem)
        with lzma.open(data / name) as packed, plain[-1].open("wb") as file:
            shutil.copyfileobj(packed, file)
    size = sum(path.stat().st_size for path in plain) / 1e6
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    audited, seconds = audit_paths(plain, workers=2)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    spent = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    found = sum(len(each.findings) for each in audited)
    print(f"speed: {size:.0f} MB, {found} compactions in {seconds:.1f} s: {size / seconds:.1f} MB/s", end="")
    # Processor time tells what the machine would do if nothing else ran on it.
    print(f" ({spent:.1f} s of processor time: {2 * size / spent:.1f} MB/s on two cores that are free)")
    return max(size / seconds, 2 * size / spent) >= SPEED


def _peak(path: Path, answer: Any) -> None:
    result = audit_file(path)
    answer.put((len(result.findings), resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024))


def memory(data: Path, folder: Path, *, size: float) -> bool:
    """The largest resident size while a large file is audited."""
    large = folder / "large.jsonl"
    with lzma.open(data / STREAMS[0]) as packed:
        body = packed.read()
    copy = 0
    with large.open("wb") as file:
        while file.tell() < size * 1e9:
            # Other ids, so that each copy is another set of sessions; times stay.
            changed = body.replace(b'"sessionId":"', b'"sessionId":"%04d-' % copy)
            file.write(changed.replace(b'"uuid":"', b'"uuid":"%04d-' % copy))
            copy += 1
    del body, changed
    context = multiprocessing.get_context("spawn")
    answer = context.Queue()
    process = context.Process(target=_peak, args=(large, answer))
    begun = time.monotonic()
    process.start()
    found, peak = answer.get()
    process.join()
    length = large.stat().st_size / 1e9
    large.unlink()
    print(f"memory: {length:.2f} GB, {found} compactions, {peak:.0f} MB resident, {time.monotonic() - begun:.0f} s")
    return bool(peak <= MEMORY)


def labelled(name: str) -> list[dict[str, Any]]:
    """The labels of a reading."""
    return [json.loads(line) for line in (LABELS / name).read_text(encoding="utf-8").splitlines() if line.strip()]


def _stands(label: dict[str, Any], place: Place | None) -> bool:
    return (
        place is not None
        and place.record == label["record"]
        and place.field == label["field"]
        and place.start < label["end"]
        and label["start"] < place.end
    )


def _same(one: dict[str, Any], other: dict[str, Any]) -> bool:
    """Whether two labels are about the same characters of the same compaction."""
    keys = ("dataset", "boundary", "record", "field")
    return all(one[k] == other[k] for k in keys) and one["start"] < other["end"] and other["start"] < one["end"]


def agreement() -> None:
    """What two readers, neither of whom knew the other's labels, have in common.

    Positive agreement: 2 * both / (labels of one + labels of the other); two labels are the same if they overlap.
    Kappa: Cohen's, over the compactions: whether a reader found any label of the class there.
    """
    first, second = labelled("first_reading.jsonl"), labelled("independent_reading.jsonl")
    compactions = labelled("independent_compactions.jsonl")
    for what in ("needed", "unsupported"):
        one, other = ([x for x in each if x["class"].startswith(what)] for each in (first, second))
        both = sum(any(_same(x, y) for y in other) for x in one)
        positive = 2 * both / (len(one) + len(other))
        units = [
            [any(all(x[k] == c[k] for k in ("dataset", "boundary")) for x in each) for each in (one, other)]
            for c in compactions
        ]
        share = [sum(unit[i] for unit in units) / len(units) for i in (0, 1)]
        seen = sum(a == b for a, b in units) / len(units)
        chance = share[0] * share[1] + (1 - share[0]) * (1 - share[1])
        print(
            f"labels: agreement, {what}: first {len(one)}, second {len(other)}, both {both}, "
            f"either {len(one) + len(other) - both}: positive agreement {positive:.2f}; "
            f"kappa over {len(units)} compactions {(seen - chance) / (1 - chance):.2f}"
        )


Found = list[tuple[str, int, Example]]
"""What the audit says: dataset, record of the compaction, example."""


def found_in(data: Path) -> Found:
    """Needs and unsupported words that the audit finds in the labelled files."""
    return [
        (dataset, finding.record, example)
        for dataset in sorted({each["dataset"] for each in labelled("compactions.jsonl")})
        for finding in audit_file(data / f"{dataset}.xz").findings
        for example in finding.examples
        if example.what in {"needed", "unsupported"}
    ]


def quality(everything: Found, *, reading: str, compactions: list[dict[str, Any]], name: str, errors: bool) -> bool:
    """Precision and recall on the labels of a reading over some of the compactions."""
    bounds = {(each["dataset"], each["boundary"]) for each in compactions}
    given = [each for each in labelled(f"{reading}.jsonl") if (each["dataset"], each["boundary"]) in bounds]
    here = [(dataset, example) for dataset, record, example in everything if (dataset, record) in bounds]
    # The readers went from one compaction to the next: a use after a later one they did not look for.
    found = [(dataset, example) for dataset, example in here if not example.later]
    good = True
    for what, precision, recall in (("needed", PRECISION, RECALL), ("unsupported", UNSUPPORTED, 0.0)):
        labels = [each for each in given if each["class"].startswith(what)]
        if not labels:
            continue  # the reading did not look for it
        mine = [(d, e, e.used if what == "needed" else e.summary) for d, e in found if e.what == what]
        hits = {i for i, x in enumerate(labels) for d, _, place in mine if d == x["dataset"] and _stands(x, place)}
        right = [m for m in mine if any(m[0] == x["dataset"] and _stands(x, m[2]) for x in labels)]
        p, r = len(right) / max(1, len(mine)), len(hits) / max(1, len(labels))
        print(
            f"labels: {name}: {what}, {reading}, {len(bounds)} compactions: {len(mine)} found, "
            f"{len(labels)} labelled, precision {p:.2f}, recall {r:.2f}"
        )
        if what == "needed":
            later = [(dataset, example) for dataset, example in here if example.later]
            print(
                f"labels: and {len(later)} needed only after a later compaction than the one that dropped them, "
                f"for which no reading looked: with them as wrong {len(right) / max(1, len(mine) + len(later)):.2f}"
            )
            fates = sum(
                any(m[0] == x["dataset"] and _stands(x, m[2]) and x["class"] == f"needed-{m[1].fate}" for x in labels)
                for m in right
            )
            print(f"labels: of {len(right)} found rightly {fates} are lost or reachable as the label says")
        if errors:
            for dataset, example, place in mine:
                if (dataset, example, place) not in right:
                    print("   wrong ", dataset[-14:], place and place.record, example.kind, example.literal[:90])
            for i, x in enumerate(labels):
                if i not in hits:
                    print("   missed", x["dataset"][-14:], x["record"], x["field"], x["start"], x["kind"])
        good = good and p >= precision and r >= recall
    return good


def labels(data: Path, *, reading: str, errors: bool) -> bool:
    """Agreement of the readers, and quality on all compactions and on the part that was held out."""
    agreement()
    everything = found_in(data)
    read = labelled("compactions.jsonl" if reading != "second_reading" else "second_compactions.jsonl")
    good = quality(everything, reading=reading, compactions=read, name="all", errors=errors)
    held = [each for each in labelled("independent_compactions.jsonl") if each["part"] == "held-out"]
    # One reader's labels as they were before anybody compared them with anything, and after both were heard. No
    # target: what a reader overlooks counts against the audit here.
    for name in ("independent_reading", "adjudicated"):
        quality(everything, reading=name, compactions=held, name="held out", errors=errors)
    return good


def _stats(data: Path) -> dict[str, int]:
    rows = {}
    for line in (data / "STATS.md").read_text(encoding="utf-8").splitlines():
        cells = [cell.strip() for cell in line.split("|")]
        if len(cells) > 8 and cells[1] == "data":
            rows[cells[2]] = int(cells[6])
    return rows


def turns(data: Path, audited: list[Audited]) -> bool:
    """Whether every file was read to its end, with the number of turns that STATS.md says."""
    stats, good = _stats(data), True
    for each in audited:
        name = str(each.path.relative_to(data))
        if each.path.suffix != ".xz":
            continue
        wanted = stats.get(name)
        note = next((note for start, note in NOTES.items() if name.startswith(start)), None)
        if (each.error and each.transcript) or each.damaged["torn"] or (each.turns != wanted and note is None):
            good = False
            print(f"turns: {name}: {each.turns}, STATS.md {wanted}, {each.error or dict(each.damaged)}")
        elif each.turns != wanted:
            print(f"turns: {name}: {each.turns}, STATS.md {wanted}: {note}")
    print(f"turns: {sum(each.turns for each in audited)} in {len(audited)} files")
    return good


def rows(data: Path, audited: list[Audited]) -> Iterator[str]:
    """The table of README.md."""
    heads = ("transcripts", "compactions", "facts", "carried", "reachable", "lost", "needed", "needed, lost",
             "unsupported", "tokens re-read")  # fmt: skip
    yield "| " + " | ".join(heads) + " |"
    yield "|---" + "|---:" * (len(heads) - 1) + "|"
    names = sorted({each.path.relative_to(data).parts[0] for each in audited if each.findings})
    groups = [(n, [f for a in audited if a.path.relative_to(data).parts[0] == n for f in a.findings]) for n in names]
    for name, found in [*groups, ("all", [f for _, held in groups for f in held])]:
        facts = sum(sum(f.facts.values()) for f in found)
        keys = ("carried", "reachable", "lost", "needed", "needed_lost", "unsupported", "reread_tokens")
        figures = [sum(getattr(finding, key) for finding in found) for key in keys]
        share = f"{figures[0]:,} ({100 * figures[0] / max(1, facts):.1f} %)"
        cells = [str(len(found)), f"{facts:,}", share, *(f"{each:,}" for each in figures[1:])]
        yield f"| {name} | " + " | ".join(cells) + " |"


def main() -> int:
    """Print what was asked for."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("what", nargs="*", choices=["speed", "memory", "labels", "turns", "table", []])
    parser.add_argument("--data", type=Path, required=True, help="where the transcripts are that the labels speak of")
    parser.add_argument("--size", type=float, default=2.0, help="GB of the large file")
    parser.add_argument("--reading", default="adjudicated")
    parser.add_argument("--errors", action="store_true")
    given = parser.parse_args()
    what = given.what or ["speed", "memory", "labels", "turns", "table"]
    if not (given.data / "STATS.md").exists():
        print(f"{given.data} has no transcripts")
        return 2
    good = True
    with tempfile.TemporaryDirectory(prefix="anchorhold-audit-") as folder:
        if "speed" in what:
            good &= speed(given.data, Path(folder))
        if "memory" in what:
            good &= memory(given.data, Path(folder), size=given.size)
    if "labels" in what:
        good &= labels(given.data, reading=given.reading, errors=given.errors)
    if "turns" in what or "table" in what:
        audited, _ = audit_paths([given.data], workers=os.cpu_count())
        if "turns" in what:
            good &= turns(given.data, audited)
        if "table" in what:
            print("\n".join(rows(given.data, audited)))
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
