"""The rule catalogue is complete, consistent, and the only place where a rule is worded."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from anchorhold_spec.catalogue import FAMILIES, LEVELS, RULES, CatalogueError, Rule, Source, near
from anchorhold_spec.catalogue.load import parse

REPOSITORY = Path(__file__).parents[2]

HOW_MANY = {
    "ANC": 5, "MAN": 6, "PTR": 6, "EPO": 3, "IDX": 5, "RET": 5, "EVI": 7, "REC": 4,
    "CRA": 3, "CON": 3, "OUT": 3, "STR": 4, "ISO": 1, "ERA": 1, "PRO": 4,
}  # fmt: skip

MODELLED = {
    *("ANC-1", "ANC-2", "ANC-3", "ANC-4", "ANC-5", "MAN-1", "MAN-3", "MAN-4", "MAN-6"),
    *("PTR-1", "PTR-2", "PTR-3", "PTR-4", "PTR-5", "PTR-6", "EPO-1", "EPO-2"),
    *("IDX-1", "IDX-2", "IDX-3", "IDX-4", "RET-1", "RET-2", "RET-3", "EVI-1", "EVI-2", "EVI-3"),
    *("REC-1", "REC-2", "CRA-1", "CRA-2", "CON-1", "CON-2", "CON-3", "ERA-1", "PRO-1", "PRO-3"),
}

LADDER = [
    (1, "epoch-safe", "EPO REC-1 REC-2 ISO PRO-1"),
    (2, "ordered", "PTR CRA CON OUT"),
    (3, "anchored", "ANC MAN REC PRO-2"),
    (4, "evidential", "EVI STR"),
    (5, "lossless", "IDX RET ERA PRO"),
]


def test_every_rule_is_there_once_and_in_order() -> None:
    expected = [f"{family}-{number}" for family, count in HOW_MANY.items() for number in range(1, count + 1)]

    assert list(RULES) == expected
    assert [rule.id for rule in RULES.values()] == expected
    assert [rule for family in FAMILIES.values() for rule in family.rules] == expected
    assert list(FAMILIES) == list(HOW_MANY)


@pytest.mark.parametrize(("number", "name", "demanded"), LADDER)
def test_each_level_demands_what_the_ladder_says_and_all_below(number: int, name: str, demanded: str) -> None:
    wanted = {
        rule
        for level, _, words in LADDER
        if level <= number
        for word in words.split()
        for rule in RULES
        if word in (rule, rule.partition("-")[0])
    }

    assert LEVELS[number].name == name
    assert set(LEVELS[number].rules) == wanted


def test_every_rule_is_first_demanded_at_exactly_one_level() -> None:
    first = [rule for level in LEVELS.values() for rule in level.first_demanded]

    assert list(LEVELS) == [1, 2, 3, 4, 5]
    assert sorted(first) == sorted(RULES)
    assert all(rule.id in LEVELS[rule.level].first_demanded for rule in RULES.values())


def test_what_is_not_modelled_says_why_and_what_checks_it_instead() -> None:
    assert {rule.id for rule in RULES.values() if rule.modelled} == MODELLED
    for rule in RULES.values():
        texts = (rule.not_modelled_because, rule.checked_by)
        assert texts == (None, None) if rule.modelled else all(text and text.endswith(".") for text in texts)


@pytest.mark.parametrize("rule", RULES.values(), ids=list(RULES))
def test_each_statement_is_one_to_three_sentences_and_each_title_fits_its_line(rule: Rule) -> None:
    assert 1 <= len(_sentences(rule.statement)) <= 3
    assert rule.statement.endswith(".")
    assert len(rule.title) <= 48
    assert rule.title.isascii()
    assert set(rule.sources) <= set(Source)


def test_a_rule_is_worded_nowhere_but_in_the_catalogue() -> None:
    wording = {sentence: rule.id for rule in RULES.values() for sentence in _sentences(_flat(rule.statement))}
    for path, text in _texts():
        flat = _flat(text)
        again = [f"{rule}: {sentence}" for sentence, rule in wording.items() if sentence in flat]

        assert again == [], f"{path} words a rule again"


def test_ids_that_were_meant_are_found() -> None:
    assert near("anc1") == ("ANC-1",)
    assert near(" ptr_3 ") == ("PTR-3",)
    assert near("ANC-9") == FAMILIES["ANC"].rules
    assert "EPO-1" in near("EPOC-1")
    assert near("nonsense") == ()


FAMILY = """
family = "ANC"
title = "t"
about = "a"
[[rule]]
id = "ANC-1"
title = "t"
statement = "s."
sources = ["S0"]
level = 1
"""
ONE_LEVEL = "[[level]]\nnumber = 1\nname = 'n'\npromise = 'p'\n"


@pytest.mark.parametrize(
    ("change", "to", "complaint"),
    [
        ('"ANC-1"', '"ANC-2"', "'ANC-2' stands where ANC-1 is expected"),
        ("level = 1", "level = 2", "ANC-1: level 2 does not exist"),
        ('["S0"]', "[]", "ANC-1: names no source"),
        ('["S0"]', '["S3"]', "a.toml: Invalid enum value 'S3'"),
        ("level = 1", "level = 1\nchecked_by = 'x'", "ANC-1: give both"),
        ("level = 1", "level = 1\nweight = 3", "unknown field `weight`"),
        ('family = "ANC"', 'family = "ANCH"', "'ANCH' is not a family code"),
        ("statement", "statement statement", "a.toml:"),
    ],
)
def test_a_catalogue_that_contradicts_itself_is_refused(change: str, to: str, complaint: str) -> None:
    with pytest.raises(CatalogueError, match=re.escape(complaint)):
        parse(families=[("a.toml", FAMILY.replace(change, to))], levels=ONE_LEVEL)


def test_levels_that_do_not_count_up_from_one_are_refused() -> None:
    with pytest.raises(CatalogueError, match=r"numbered \[2\]"):
        parse(families=[("a.toml", FAMILY)], levels=ONE_LEVEL.replace("number = 1", "number = 2"))


def _sentences(text: str) -> list[str]:
    return re.findall(r"[^.]+\.", text)


def _flat(text: str) -> str:
    return " ".join(text.replace("#", " ").split()).lower()


def _texts() -> Iterator[tuple[Path, str]]:
    rules = REPOSITORY / "spec" / "anchorhold_spec" / "catalogue" / "rules"
    for folder in ("spec", "reference", "conformance", "tests"):
        for path in (REPOSITORY / folder).rglob("*"):
            if path.suffix in {".py", ".md", ".toml", ".j2", ".json"} and rules not in path.parents:
                yield path, path.read_text(encoding="utf-8")
    for path in REPOSITORY.glob("*.md"):
        yield path, path.read_text(encoding="utf-8")


def test_the_map_for_readers_agrees_with_the_catalogue() -> None:
    readme = (REPOSITORY / "spec" / "README.md").read_text(encoding="utf-8")
    modelled = sum(rule.modelled for rule in RULES.values())

    for family in FAMILIES.values():
        numbers = "1" if len(family.rules) == 1 else f"1–{len(family.rules)}"
        assert re.search(rf"^\| {family.id} \| {numbers} \|.*\| {re.escape(family.about)} \|$", readme, re.MULTILINE)
    for level in LEVELS.values():
        (adds,) = re.findall(rf"^\| {level.number} \| {level.name} \| (.*) \|$", readme, re.MULTILINE)
        words = adds.split(", ")
        added = {rule for rule in RULES for word in words if word in (rule, RULES[rule].family)}
        assert added == set(level.first_demanded)
    assert f"{len(RULES)} rules in all" in readme
    assert f"{modelled} rules speak of states and steps" in readme
    assert f"The other {len(RULES) - modelled} " in readme
