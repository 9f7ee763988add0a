"""The published matrix is that of the catalogue, and says what was missed."""

from pathlib import Path

import msgspec
import pytest
from catalogue import BLIND, WRONG

from anchorhold.adequacy.matrix import main, page
from anchorhold.adequacy.measure import Adequacy, Alarm, Checked, Defect
from anchorhold.adequacy.merging import MergeError, merged

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


def found(*defects: Defect, alarms: tuple[Alarm, ...] = (), checked: tuple[Checked, ...] = ()) -> Adequacy:
    return Adequacy(
        defects=defects,
        false_alarms=len(alarms),
        alarms=alarms,
        rules_without_defect=("ERA-1",),
        blind=0,
        right=len(checked),
        checked=checked,
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


def test_the_published_page_is_that_of_the_published_results() -> None:
    results = sorted(map(str, (PUBLISHED.parent / "adequacy").glob("*.json")))

    assert main(results) == PUBLISHED.read_text(encoding="utf-8")


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


def checked(name: str, *seeds: int) -> Checked:
    return Checked(id=name, architecture="a journal", seeds=seeds)


def test_what_several_runs_found_of_wrong_and_right_ones_stands_on_one_page() -> None:
    one = found(defect("Sees", breaks=("ANC-1",), caught_by=("ANC-1",), caught=4), checked=(checked("Honest", 0),))
    two = found(defect("Hides", breaks=("ANC-1",), caught_by=(), caught=3), checked=(checked("Other", 0),))
    alarm = Alarm(id="Honest", rule="ANC-1", sentence="It lost a name.", seed=2)
    right = found(alarms=(alarm, alarm), checked=(checked("Honest", 0, 1, 2, 5),))
    text = page(merged([one, two, right]))

    assert "| Sees | a plain list | ANC-1 | ANC-1 | 4/4 | 7 |" in text
    assert "**missed**: Hides, caught with 3 of 4 seeds" in text
    assert "2 right ones, 1 with 4 seeds, 1 with 1 seed each: 1 false alarms" in text
    assert "| Honest | a journal | 0–2, 5 | 1 |" in text
    assert "| Other | a journal | 0 | 0 |" in text


def test_runs_that_do_not_belong_together_make_no_page() -> None:
    one = found(defect("Sees", breaks=("ANC-1",), caught_by=("ANC-1",), caught=4))
    for other, why in (
        (one, "Sees stands in two runs"),
        (msgspec.structs.replace(one, effort="quick"), "differ in effort"),
        (msgspec.structs.replace(one, directed=False), "differ in directed scenarios"),
        (msgspec.structs.replace(one, seeds=5), "4 and 5 seeds"),
        (msgspec.structs.replace(one, scenarios=("cuts",)), "differ in scenarios"),
        (msgspec.structs.replace(one, right=3), "does not say which right ones"),
    ):
        with pytest.raises(MergeError, match=why):
            merged([one, other])


def test_what_mixtures_alone_and_a_quick_check_catch_stands_beside_it(tmp_path) -> None:
    kinds = ("Sees", "Hides")
    files = []
    for way, caught in (
        ({"effort": "quick", "as_checked": True}, (4, 1)),
        ({}, (4, 4)),
        ({"directed": False}, (3, 0)),
    ):
        run = found(
            *(
                defect(k, breaks=("ANC-1",), caught_by=("ANC-1",), caught=c)
                for k, c in zip(kinds, caught, strict=True)
            )
        )
        files.append(tmp_path / str(len(files)))
        files[-1].write_bytes(msgspec.json.encode(msgspec.structs.replace(run, **way)))
    text = main([str(file) for file in files])

    assert "- mixtures alone: 3 of 8 caught (38%; 2 wrong ones, 4 seeds)" in text
    assert "- a quick check: 5 of 8 caught (62%; 2 wrong ones, 4 seeds)" in text
    assert "| Hides | a plain list | ANC-1 | ANC-1 | 4/4 | 7 | 0/4 | 1/4 |" in text
    with pytest.raises(SystemExit, match="none of these results is of a run with the directed scenarios"):
        main([str(files[0]), str(files[2])])


def test_what_is_no_result_ends_with_one_line(tmp_path) -> None:
    (tmp_path / "no.json").write_text("[]")

    with pytest.raises(SystemExit, match="is no result of `anchorhold adequacy --json`"):
        main([str(tmp_path / "no.json")])


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
