"""`anchorhold spec export` writes what the specification publishes; spec/README.md is as it would write it."""

from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

from anchorhold.checkers import CHECKERS
from anchorhold.cli.spec_export import ADEQUACY, checked, export
from anchorhold_spec.machines import load, names
from anchorhold_spec.publish.matrix import fill, sections

ROOT = Path(__file__).parents[2]

app = typer.Typer()
app.command()(export)


def run(*arguments):
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


def test_the_readme_of_the_specification_is_current():
    readme = (ROOT / "spec" / "README.md").read_text(encoding="utf-8")
    parts = sections([load(name) for name in names()], checked(ROOT / ADEQUACY))

    assert fill(readme, parts) == readme, "write it again: anchorhold spec export readme"


def test_every_checker_and_every_wrong_compactor_is_told():
    found = checked(ROOT / ADEQUACY)

    assert set(found.checkers) == {checker.rule for checker in CHECKERS}
    assert all(place.startswith("`checkers/") for place in found.checkers.values())
    assert "CommitsBeforeThePointer" in found.wrong["PTR-1"]
    assert checked(Path("no/such/file.py")).wrong == {}


def test_tla_is_written_for_every_machine(tmp_path):
    result = run("tla", "-o", tmp_path)

    assert result.exit_code == 0
    assert len(list(tmp_path.glob("*.cfg"))) == len(names())
    assert len(list(tmp_path.glob("*.tla"))) == 2 * len(names())
    assert (tmp_path / "ReleaseRace.tla").read_text(encoding="utf-8").strip().endswith("=" * 10)


def test_sizes_and_switches_choose_the_instance(tmp_path):
    options = ("--size", "spans=3,keys=1,epochs=4", "--switch", "epochs=untagged")
    result = run("tla", "pointer-before-commit", "-o", tmp_path, *options)
    assert result.exit_code == 0

    config = (tmp_path / "MCPointerBeforeCommit.cfg").read_text(encoding="utf-8")
    assert 'epochs = "untagged"' in config
    assert "MaxEpoch = 4" in config
    assert "span3 = span3" in config
    assert "span4" not in config


def test_murphi_and_markdown_are_written(tmp_path):
    assert run("murphi", "release-race", "-o", tmp_path).exit_code == 0
    assert 'rule "release"' in (tmp_path / "release-race.m").read_text(encoding="utf-8")

    assert run("markdown", "-o", tmp_path / "pages").exit_code == 0
    page = (tmp_path / "pages" / "machines" / "release-race.md").read_text(encoding="utf-8")
    assert "The yardstick of the explorer" in page


def test_the_schemas_are_had_without_the_repository(tmp_path):
    assert run("schemas", "-o", tmp_path / "new").exit_code == 0

    written = {path.name: path.read_text(encoding="utf-8") for path in (tmp_path / "new").iterdir()}
    published = ROOT / "conformance" / "schemas"
    assert set(written) == {"wire.schema.json", "history.schema.json", "workload.schema.json"}
    for name, text in written.items():
        assert text == (published / name).read_text(encoding="utf-8")


def test_the_readme_is_written_again(tmp_path, monkeypatch):
    # What the table says takes proofs; test_prove_without holds the published one to them.
    monkeypatch.setattr("anchorhold.cli.spec_export.tagged_guards", lambda machines: "the table of guards")
    stale = tmp_path / "README.md"
    names_ = ("sight", "claims", "rules", "departures", "guards")
    stale.write_text("".join(f"<!-- generated: {n} -->stale text<!-- end: {n} -->\n" for n in names_), "utf-8")

    assert run("readme", "-o", stale).exit_code == 0
    text = stale.read_text(encoding="utf-8")
    assert "stale text" not in text
    assert "S4-C29" in text


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("dot",), "FORM is one of tla, murphi, markdown, readme, schemas, not 'dot'"),
        (("tla", "no-such-machine"), "there is no machine 'no-such-machine'"),
        (("tla", "release-race", "--size", "spans"), "'spans' is none"),
        (("tla", "release-race", "--size", "spans=1,spans=2"), "spans twice, as 1 and as 2"),
        (("tla", "release-race", "--size", "spans=many"), "sizes are whole numbers"),
        (("murphi", "release-race", "--size", "drawers=1"), "no size drawers"),
        (("tla", "release-race", "--switch", "colour=red"), "no switch 'colour'"),
        (("readme", "-o", "/no/such/README.md"), "no such file"),
        (("markdown", "release-race", "-o", "/dev/null/x"), "cannot be written"),
    ],
)
def test_what_cannot_be_exported_is_refused(arguments, said, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    result = run(*arguments)

    assert result.exit_code == 2
    assert said in result.stderr
