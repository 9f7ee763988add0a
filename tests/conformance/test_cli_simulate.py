"""`anchorhold simulate race`: table, JSON and page tell the same; what cannot be run is refused with the cure."""

import io
import json
from dataclasses import replace
from html.parser import HTMLParser

import pytest
from rich.console import Console
from typer.testing import CliRunner

from anchorhold.cli.simulate import app
from anchorhold.race import tables
from anchorhold.race.show import finding, narrow, rates
from anchorhold_spec.simulate import DESIGNS, Parameters, Ratio, study

SMALL = ["race", "--commits", "40", "--seeds", "2", "--rates", "20,2,60"]


@pytest.fixture(scope="module")
def document():
    return json.loads(CliRunner().invoke(app, [*SMALL, "--json"]).stdout)


def test_the_document_has_every_design_at_every_rate_and_where_parameters_come_from(document):
    cells = {(cell["design"], cell["evictions_per_minute"]) for cell in document["cells"]}

    assert cells == {(design.name, rate) for design in DESIGNS for rate in (2, 20, 60)}
    assert all(cell["committed"] == 80 for cell in document["cells"])
    assert document["reported_by_source"] == {"source": "S4", "low": 0.003, "high": 0.011}
    assert document["provenance"]["compaction interval"].startswith("40 to 90 s: S4")
    assert {each["victims"] for each in document["policies"]} == {"summarised", "oldest", "random"}


def test_the_same_seed_gives_the_same_document(document):
    assert json.loads(CliRunner().invoke(app, [*SMALL, "--json", "--seed", "1"]).stdout) == document
    assert json.loads(CliRunner().invoke(app, [*SMALL, "--json", "--seed", "9"]).stdout) != document


def test_the_page_is_self_contained_and_says_what_the_table_says(tmp_path, document):
    where = tmp_path / "race.html"
    result = CliRunner().invoke(app, [*SMALL, "--html", str(where)])
    assert result.exit_code == 0

    page = where.read_text(encoding="utf-8")
    fetched = []

    class Fetches(HTMLParser):
        def handle_starttag(self, tag, attrs):
            fetched.extend(value for name, value in attrs if name in ("src", "href", "srcset"))

    Fetches().feed(page)
    assert not fetched
    assert "<script" not in page
    assert page.count("<polyline") == 2 * len(DESIGNS)
    for line in document["findings"]:
        assert line.replace("'", "&#39;") in page
        assert "".join(line.split()) in "".join(result.stdout.split())


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--rates", "fast"], "--rates takes numbers with commas between them, not 'fast'"),
        (["--rates", "0"], "greater than 0"),
        (["--rates", "inf"], "greater than 0"),
        (["--persist", "nan"], "--persist takes seconds greater than 0, not nan"),
        (["--victims", "newest"], "--victims is one of summarised, oldest, random, not 'newest'"),
        (["--persist", "-1"], "--persist takes seconds greater than 0, not -1"),
        (["--html", "/nowhere/at/all.html"], "the page cannot be written"),
    ],
)
def test_what_cannot_be_run_is_refused(options, said):
    result = CliRunner().invoke(app, ["race", "--commits", "1", "--seeds", "2", *options])

    assert result.exit_code == 2
    assert said in result.stderr


@pytest.fixture(scope="module")
def wide():
    return study(Parameters(commits=20), seeds=range(1, 3), rates=(0.5, 2, 20, 60, 90, 120, 150), workers=1)


@pytest.mark.parametrize("width", [40, 60, 80, 101, 200])
def test_no_interval_is_cut_however_narrow_the_terminal(width, wide):
    shown = io.StringIO()
    console = Console(file=shown, width=width)
    for part in tables(wide, width=width):
        console.print(part)
    text = shown.getvalue()

    assert max(map(len, text.splitlines())) <= width
    assert "…" not in text
    for rate in rates(wide):
        assert text.count(f" {rate:g}/min") == 1
    for cell in wide.cells:
        assert f" {cell.design.name} " in text
        assert all(line in text for line in narrow(cell.unresolvable).splitlines())


@pytest.mark.parametrize(
    ("shares", "said", "not_said"),
    [
        (
            [(0.0044, 0.0, 0.02), (0.0222, 0.009, 0.03)],
            ["on average, as S4 saw, at 2 evictions", "At 8 evictions"],
            [],
        ),
        ([(0.0222, 0.009, 0.03), (0.04, 0.03, 0.05)], ["too little data", "At 2 evictions"], ["at 2 evictions"]),
        ([(0.02, 0.018, 0.03), (0.04, 0.03, 0.05)], ["At none of these rates"], ["too little", "does not exclude"]),
        ([(0.005, 0.004, 0.006), (0.04, 0.03, 0.05)], ["as S4 saw, at 2 evictions"], ["does not exclude", "8"]),
    ],
)
def test_the_finding_says_where_the_mean_is_what_s4_saw_and_where_that_is_not_known(shares, said, not_said):
    small = study(Parameters(commits=5), seeds=(1, 2), rates=(2, 8), lengths=(500,))
    cells = [
        replace(cell, unresolvable=Ratio(*shares[cell.parameters.evictions_per_minute == 8], count=1))
        if cell.design.name == "unordered"
        else cell
        for cell in small.cells
    ]
    lines = "\n".join(finding(replace(small, cells=tuple(cells)))).partition("Nothing was lost")[0]

    assert all(each in lines for each in said)
    assert not any(each in lines for each in not_said)
