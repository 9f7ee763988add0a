"""The published matrix is that of the catalogue, and says what was missed."""

from pathlib import Path

from catalogue import BLIND, WRONG

from anchorhold.adequacy.matrix import page, together
from anchorhold.adequacy.measure import Adequacy, Alarm, Defect

PUBLISHED = Path(__file__).parents[2] / "conformance" / "ADEQUACY.md"


def defect(
    name: str, *, breaks: tuple[str, ...], caught_by: tuple[str, ...], caught: int, blind: bool = False
) -> Defect:
    return Defect(
        id=name,
        breaks=breaks,
        caught_by=caught_by,
        architecture="a plain list",
        seeds_caught=caught,
        seeds=4,
        operations=7 if caught else None,
        missed=tuple(rule for rule in breaks if rule not in caught_by),
        blind=blind,
    )


def found(*defects: Defect, alarms: tuple[Alarm, ...] = ()) -> Adequacy:
    return Adequacy(
        defects=defects,
        false_alarms=len(alarms),
        alarms=alarms,
        rules_without_defect=("ERA-1",),
        blind=0,
        right=2,
        seeds=4,
        right_seeds=3,
        effort="standard",
        directed=True,
        seconds=1.0,
    )


def rows(text: str) -> dict[str, list[str]]:
    table = text.partition("## By defect")[2].partition("## ")[0]
    cells = [
        [cell.strip() for cell in line.strip("|").split("|")] for line in table.splitlines() if line.startswith("|")
    ]
    return {row[0].removesuffix(" †"): row for row in cells[2:]}


def test_every_wrong_compactor_of_the_catalogue_is_published_with_the_rules_that_it_breaks() -> None:
    published = rows(PUBLISHED.read_text(encoding="utf-8"))
    breaks: dict[str, set[str]] = {}
    for kind, rule in WRONG:
        breaks.setdefault(kind.__name__, set()).add(rule)

    assert {name: set(row[2].split(", ")) for name, row in published.items()} == breaks
    assert {name for name, row in published.items() if row[0].endswith("†")} == {kind.__name__ for kind in BLIND}


def test_what_is_missed_and_who_is_blamed_stands_at_the_top() -> None:
    text = page(
        found(
            defect("Sees", breaks=("ANC-1",), caught_by=("ANC-1", "PTR-1"), caught=4),
            defect("Hides", breaks=("ANC-1", "PTR-1"), caught_by=(), caught=0, blind=True),
            alarms=(Alarm(id="Honest", rule="ANC-1", sentence="It lost a name.", seed=2),),
        )
    )
    head = text.partition("## ")[0]

    assert "caught with every seed: 1 of 2; of those written without sight of the checkers: 0 of 1" in head
    assert "**missed**: Hides, caught with 0 of 4 seeds" in head
    assert "**blamed**: Honest by ANC-1" in head
    assert "rules without a wrong compactor: ERA-1" in head
    assert "| ANC-1 | 2 | 1 | 7 |" in text


def test_what_two_runs_found_of_wrong_and_right_ones_stands_on_one_page() -> None:
    wrong = found(defect("Sees", breaks=("ANC-1",), caught_by=("ANC-1",), caught=4))
    right = found(alarms=(Alarm(id="Honest", rule="ANC-1", sentence="It lost a name.", seed=2),))
    text = page(together(wrong, right))

    assert "| Sees | a plain list | ANC-1 | ANC-1 | 4/4 | 7 |" in text
    assert "2 right ones, 3 seeds each: 1 false alarms" in text
    assert "**blamed**: Honest" in text


def test_the_crosses_tell_what_it_was_caught_by_from_what_it_breaks() -> None:
    text = page(
        found(
            defect("Sees", breaks=("ANC-1",), caught_by=("ANC-1", "PTR-1"), caught=4),
            defect("Half", breaks=("ANC-1", "PTR-1"), caught_by=("PTR-1",), caught=4),
        )
    )
    lines = text.partition("```text\n")[2].splitlines()

    assert [line[:6].strip() for line in lines[:5]] == [""] * 5
    assert "Sees  ●·" in lines
    assert "Half  ○●" in lines
