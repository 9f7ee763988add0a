"""What a run of `anchorhold adequacy --json` found, as a page: defect × rule, and the budget that each took.

`python -m anchorhold.adequacy.matrix RESULT.json [RIGHT.json]` prints it, where RIGHT.json is what `--right` found of
the right ones if that was another run; conformance/ADEQUACY.md is that of the project's own catalogue.
"""

import statistics
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import msgspec

from anchorhold.adequacy.measure import Adequacy, Defect
from anchorhold_spec.catalogue import RULES

CAUGHT, ALSO, NEVER = "●", "·", "○"


def page(found: Adequacy) -> str:
    """The whole page, as Markdown."""
    return "\n".join([*_head(found), "", *_by_rule(found), "", *_by_defect(found), "", *_crosses(found)]) + "\n"


def together(wrong: Adequacy, right: Adequacy) -> Adequacy:
    """What one run found of the wrong ones, and another of the right ones."""
    return msgspec.structs.replace(
        wrong,
        right=right.right,
        right_seeds=right.right_seeds,
        false_alarms=right.false_alarms,
        alarms=right.alarms,
    )


def read(path: Path) -> Adequacy:
    """What was found, from a file. Raises OSError, and msgspec.ValidationError for what is no result."""
    return msgspec.json.decode(path.read_bytes(), type=Adequacy)


def _head(found: Adequacy) -> Iterator[str]:
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
    if found.right_seeds:
        seeds = "1 seed" if found.right_seeds == 1 else f"{found.right_seeds} seeds"
        yield f"- {found.right} right ones, {seeds} each: {found.false_alarms} false alarms"
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


def _by_defect(found: Adequacy) -> Iterator[str]:
    yield "## By defect"
    yield ""
    yield (
        "Operations: what a caller does (`anchorhold/operations.py`, without the suite's own looks), played until "
        "the first rule that it breaks failed, the median over the seeds. "
        "† written without sight of the checkers."
    )
    yield ""
    yield from _table(
        ("wrong compactor", "built as", "breaks", "caught by", "seeds", "operations"),
        (
            (
                defect.id + (" †" if defect.blind else ""),
                defect.architecture,
                ", ".join(defect.breaks),
                ", ".join(defect.caught_by),
                f"{defect.seeds_caught}/{defect.seeds}",
                "—" if defect.operations is None else str(defect.operations),
            )
            for defect in found.defects
        ),
    )


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


if __name__ == "__main__":
    if len(sys.argv) not in (2, 3):
        sys.exit("usage: python -m anchorhold.adequacy.matrix RESULT.json [RIGHT.json]")
    try:
        results = [read(Path(name)) for name in sys.argv[1:]]
    except (OSError, msgspec.DecodeError) as error:
        sys.exit(f"{' or '.join(sys.argv[1:])} is no result of `anchorhold adequacy --json`: {error}")
    sys.stdout.write(page(together(results[0], results[-1]) if len(results) > 1 else results[0]))
