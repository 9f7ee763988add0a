"""What a run of `anchorhold adequacy --json` found, as a page: defect × rule, and the budget that each took.

`python -m anchorhold.adequacy.matrix RESULT.json…` prints it; of several runs (the wrong ones in parts, the right
ones by themselves with more seeds) as if they had been one. What was found with mixtures alone, or by a quick check,
stands beside what was found with everything. conformance/ADEQUACY.md is that of the project's own catalogue, and
conformance/adequacy has the results that it is made of.
"""

import argparse
import statistics
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final

import msgspec

from anchorhold.adequacy.measure import Adequacy, Checked, Defect
from anchorhold.adequacy.merging import MergeError, merged, rates
from anchorhold_spec.catalogue import RULES

CAUGHT, ALSO, NEVER = "●", "·", "○"
WHOLE: Final = "everything"
"""What was played of runs that the page is about: scenarios that aim at what a compactor breaks, and mixtures."""


def page(found: Adequacy, others: Mapping[str, Adequacy] | None = None) -> str:
    """The whole page, as Markdown; `others` are what the same wrong ones were caught with otherwise, by its name."""
    others = others or {}
    parts = (_head(found, others), _by_rule(found), _by_defect(found, others), _right(found), _crosses(found))
    return "\n".join(line for part in parts for line in (*part, "")).rstrip("\n") + "\n"


def read(path: Path) -> Adequacy:
    """What was found, from a file. Raises OSError, and msgspec.ValidationError for what is no result."""
    return msgspec.json.decode(path.read_bytes(), type=Adequacy)


def _head(found: Adequacy, others: Mapping[str, Adequacy]) -> Iterator[str]:
    defects = found.defects
    whole = [defect for defect in defects if defect.seeds_caught == defect.seeds]
    played = [defect.operations for defect in defects if defect.operations is not None]
    built = Counter(defect.architecture for defect in defects)
    blind = [defect for defect in defects if defect.blind]
    directed = "directed scenarios and seeded mixtures" if found.directed else "seeded mixtures alone"
    yield "# Adequacy: which wrong compactors the suite catches, and by which rule"
    yield ""
    yield (
        "Generated from `anchorhold adequacy --json` by `python -m anchorhold.adequacy.matrix`. Effort "
        f"{found.effort}, {directed}, {found.seeds} seeds."
    )
    yield ""
    yield f"- {len(defects)} wrong compactors: " + ", ".join(
        f"{n} built as {name}" for name, n in built.most_common()
    )
    blindly = f"{sum(defect in whole for defect in blind)} of {len(blind)}"
    yield (
        f"- caught with every seed: {len(whole)} of {len(defects)}; of those written without sight of the checkers: "
        f"{blindly}"
    )
    for defect in defects:
        if defect not in whole:
            why = f" ({defect.crashed})" if defect.crashed else ""
            yield f"- **missed**: {defect.id}, caught with {defect.seeds_caught} of {defect.seeds} seeds{why}"
    if played:
        yield (
            f"- operations played until a rule that it breaks failed: median {statistics.median(played):.0f}, "
            f"at most {max(played)}"
        )
    without = ", ".join(found.rules_without_defect) or "none"
    yield f"- rules without a wrong compactor: {without}"
    for name, other in others.items():
        yield f"- {name}: {_caught(other)}"
    if found.right:
        yield f"- {_right_ones(found)}: {found.false_alarms} false alarms"
    for alarm in found.alarms:
        yield f"- **blamed**: {alarm.id} by {alarm.rule}: {alarm.sentence}"


def _by_rule(found: Adequacy) -> Iterator[str]:
    yield "## By rule"
    yield ""
    yield from _table(
        ("rule", "wrong compactors", "caught with every seed", "operations, median"),
        (
            (rule, str(len(those)), str(sum(d.seeds_caught == d.seeds for d in those)), _median(those))
            for rule in RULES
            if (those := [defect for defect in found.defects if rule in defect.breaks])
        ),
    )


def _caught(other: Adequacy) -> str:
    """How many of the wrong ones were caught when they were played in another way."""
    played = sum(defect.seeds for defect in other.defects)
    caught = sum(defect.seeds_caught for defect in other.defects)
    seeds = "1 seed" if other.seeds == 1 else f"{other.seeds} seeds"
    return f"{caught} of {played} caught ({caught / max(played, 1):.0%}; {len(other.defects)} wrong ones, {seeds})"


def _right_ones(found: Adequacy) -> str:
    """How many right ones were checked with how many seeds."""
    counts = Counter(len(each.seeds) for each in found.checked)
    many = [f"{n} with {'1 seed' if seeds == 1 else f'{seeds} seeds'}" for seeds, n in sorted(counts.items())[::-1]]
    return f"{found.right} right ones, {', '.join(many)} each"


def _right(found: Adequacy) -> Iterator[str]:
    if not found.checked:
        return
    yield "## Right ones"
    yield ""
    yield from _table(
        ("right compactor", "built as", "seeds", "false alarms"),
        (
            (each.id, each.architecture, _seeds(each), str(sum(alarm.id == each.id for alarm in found.alarms)))
            for each in found.checked
        ),
    )


def _seeds(each: Checked) -> str:
    """The seeds, those that follow each other as from–to."""
    runs: list[list[int]] = []
    for seed in each.seeds:
        if runs and seed == runs[-1][-1] + 1:
            runs[-1][1:] = [seed]
        else:
            runs.append([seed])
    return ", ".join("–".join(map(str, run)) for run in runs)


def _by_defect(found: Adequacy, others: Mapping[str, Adequacy]) -> Iterator[str]:
    yield "## By defect"
    yield ""
    yield (
        "Operations: what a caller does (`anchorhold/operations.py`, without the suite's own looks), played until "
        "the first rule that it breaks failed, the median over the seeds. "
        "† written without sight of the checkers."
    )
    yield ""
    caught = {name: rates(other.defects) for name, other in others.items()}
    yield from _table(
        ("wrong compactor", "built as", "breaks", "caught by", "seeds", "operations", *others),
        (
            (
                defect.id + (" †" if defect.blind else ""),
                defect.architecture,
                ", ".join(defect.breaks),
                ", ".join(defect.caught_by),
                f"{defect.seeds_caught}/{defect.seeds}",
                "—" if defect.operations is None else str(defect.operations),
                *(_rate(each, defect.id) for each in caught.values()),
            )
            for defect in found.defects
        ),
    )


def _rate(caught: Mapping[str, tuple[int, int]], name: str) -> str:
    return "/".join(map(str, caught[name])) if name in caught else "—"


def _crosses(found: Adequacy) -> Iterator[str]:
    rules = [rule for rule in RULES if any(rule in (*d.breaks, *d.caught_by) for d in found.defects)]
    wide = max((len(defect.id) for defect in found.defects), default=0)
    yield "## Defect × rule"
    yield ""
    yield f"{CAUGHT} breaks it, and failed by it; {ALSO} failed by it too; {NEVER} breaks it, and others caught it."
    yield ""
    yield "```text"
    for place in range(max(map(len, rules), default=0)):
        yield (" " * (wide + 2) + "".join(rule[place : place + 1] or " " for rule in rules)).rstrip()
    for defect in found.defects:
        yield (f"{defect.id:<{wide}}  " + "".join(_mark(defect, rule) for rule in rules)).rstrip()
    yield "```"


def _mark(defect: Defect, rule: str) -> str:
    if rule in defect.caught_by:
        return CAUGHT if rule in defect.breaks else ALSO
    return NEVER if rule in defect.breaks else " "


def _median(defects: Sequence[Defect]) -> str:
    played = [defect.operations for defect in defects if defect.operations is not None]
    return f"{statistics.median(played):.0f}" if played else "—"


def _table(names: Sequence[str], rows: Iterable[Sequence[str]]) -> Iterator[str]:
    yield f"| {' | '.join(names)} |"
    yield f"|{'---|' * len(names)}"
    for row in rows:
        yield f"| {' | '.join(row)} |"


def main(arguments: Sequence[str]) -> str:
    """The page of the files that are named. Ends the program with one line where one is no result."""
    asked = argparse.ArgumentParser(prog="python -m anchorhold.adequacy.matrix", description=__doc__)
    asked.add_argument("results", nargs="+", type=Path, metavar="RESULT.json")
    runs: dict[str, list[Adequacy]] = {}
    for path in asked.parse_args(arguments).results:
        run = _read(path)
        runs.setdefault(_way(run), []).append(run)
    whole = runs.pop(WHOLE, None)
    if whole is None:
        sys.exit("none of these results is of a run with the directed scenarios and all that a compactor breaks")
    try:
        return page(merged(whole), {name: merged(some) for name, some in sorted(runs.items(), reverse=True)})
    except MergeError as error:
        sys.exit(f"these results do not belong together: {error}")


def _way(run: Adequacy) -> str:
    """What was played."""
    if run.as_checked:
        return f"a {run.effort} check"
    return WHOLE if run.directed else "mixtures alone"


def _read(path: Path) -> Adequacy:
    try:
        return read(path)
    except (OSError, msgspec.DecodeError) as error:
        sys.exit(f"{path} is no result of `anchorhold adequacy --json`: {error}")


if __name__ == "__main__":
    sys.stdout.write(main(sys.argv[1:]))
