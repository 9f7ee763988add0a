"""Machines are found by name or in a file; `anchorhold prove` says what it found and ends accordingly."""

import json
import re

import pytest
import typer
from typer.testing import CliRunner

import anchorhold_spec.language as language
from anchorhold.cli.prove import prove
from anchorhold_spec.catalogue import RULES
from anchorhold_spec.language import Machine, MalformedMachine, UnknownChoice
from anchorhold_spec.machines import load, names
from anchorhold_spec.machines.alphabet import EVENTS
from anchorhold_spec.run import explore

SMALL_MACHINE = """
from anchorhold_spec.language import MachineBuilder, forall, safety

m = MachineBuilder("lamp", "A lamp.", rules={"LAMP-1"}, alphabet=())
lamp = m.sort("lamp")
lit, plugged = m.rel("lit", lamp), m.rel("plugged", lamp)
x = lamp("x")
m.action("plug in", x, doc="", updates=[plugged(x).becomes(True)])
m.action("switch on", x, doc="", guards=[safety("power", plugged(x))], updates=[lit(x).becomes(True)])
m.invariant("no light without power", forall(x, lit(x) >> plugged(x)), rules=["LAMP-1"])
m.instance("small", lamps=1)
machine = m.build()
dark = machine.without_guard("switch on", "power")
"""


@pytest.fixture
def lamp(tmp_path):
    path = tmp_path / "lamp.py"
    path.write_text(SMALL_MACHINE)
    return path


@pytest.fixture
def run():
    app = typer.Typer()
    app.command()(prove)
    return lambda *arguments: CliRunner().invoke(app, [str(argument) for argument in arguments])


def test_the_registry_has_the_machines_under_their_own_names():
    assert {"pointer-before-commit", "release-race"} <= set(names())
    assert [load(name).name for name in names()] == list(names())


@pytest.mark.parametrize("name", names())
def test_a_machine_cites_rules_of_the_catalogue_and_events_of_the_alphabet(name):
    machine = load(name)
    cited = {rule for each in (*machine.public, *machine.transitions, *machine.progress) for rule in each.rules}

    assert cited
    assert cited <= set(RULES)
    assert {action.event for action in machine.actions if action.event} <= set(EVENTS)


def test_pointer_before_commit_states_its_rules():
    machine = load("pointer-before-commit")
    cited = {rule for each in (*machine.public, *machine.transitions) for rule in each.rules}

    assert {"PTR-1", "PTR-2", "PTR-6", "EPO-1", "EPO-2"} <= cited


def test_a_machine_of_ones_own_is_loaded_from_its_file(lamp):
    assert load(f"{lamp}:machine").name == load(str(lamp)).name == "lamp"
    assert len(load(f"{lamp}:dark").action("switch on").guards) == 0


def test_what_is_no_machine_is_refused_with_what_to_do(lamp, tmp_path):
    broken = tmp_path / "broken.py"
    broken.write_text("machine = 1 / 0\n")
    malformed = tmp_path / "malformed.py"
    malformed.write_text(SMALL_MACHINE.replace("lit(x) >> plugged(x)", "lit(x) >> plugged(x, x)"))

    with pytest.raises(UnknownChoice, match=r"no machine 'lantern'; there are .*release-race"):
        load("lantern")
    with pytest.raises(UnknownChoice, match="no such file"):
        load(str(tmp_path / "nowhere.py"))
    with pytest.raises(UnknownChoice, match="no machine called 'lantern'"):
        load(f"{lamp}:lantern")
    with pytest.raises(UnknownChoice, match="ZeroDivisionError"):
        load(str(broken))
    with pytest.raises(MalformedMachine, match="lamp / invariant no light without power: plugged takes 1"):
        load(str(malformed))


def test_the_example_in_the_documentation_of_the_language_is_a_machine():
    text = language.__doc__
    assert text is not None
    code = re.search(r"::\n\n((?:    .*\n|\n)+)", text)
    assert code is not None
    namespace: dict[str, object] = {}
    exec(re.sub(r"^    ", "", code[1], flags=re.MULTILINE), namespace)

    machine = namespace["machine"]

    assert isinstance(machine, Machine)
    assert explore(machine).violation is None
    broken = explore(machine.without_guard("lend", "on the shelf")).violation
    assert broken is not None
    assert broken.rules == ("LEN-1",)


def test_prove_ends_with_0_where_all_is_proved(run, lamp):
    result = run(f"{lamp}:machine")

    assert result.exit_code == 0
    assert "no light without power" in result.stdout
    assert "LAMP-1 broken in 1 step" in result.stdout


def test_prove_ends_with_1_and_shows_both_states_where_something_is_refuted(run, lamp):
    result = run(f"{lamp}:dark")

    assert result.exit_code == 1
    assert "refuted: no light without power (LAMP-1) – switch on" in result.stdout
    assert "lit(lamp1): false → true" in result.stdout


def test_prove_json_stands_alone_on_standard_output(run, lamp):
    result = run(f"{lamp}:dark", "--json")

    document = json.loads(result.stdout)
    assert result.exit_code == 1
    assert {row["result"] for row in document["obligations"] if row["rule"] == "LAMP-1"} == {"proved", "refuted"}


SHELF = """
from anchorhold_spec.language import MachineBuilder, exists, forall, safety

m = MachineBuilder("shelf", "Every box lies somewhere, and no place is empty.", rules={"SHE-1"}, alphabet=())
box, place = m.sort("box", plural="boxes"), m.sort("place")
taking = m.switch("taking", "what-lies-twice", "anything", default="what-lies-twice")
lies = m.rel("lies", box, place, initial=True)
b, c, p, q = box("b"), box("c"), place("p"), place("q")
elsewhere = exists(q, (q != p) & lies(b, q)) | (taking == "anything")
another = exists(c, (c != b) & lies(c, p)) | (taking == "anything")
guards = [safety("elsewhere too", elsewhere), safety("another there", another)]
m.action("take", b, p, doc="", guards=guards, updates=[lies(b, p).becomes(False)])
m.invariant("every box somewhere", forall(b, exists(p, lies(b, p))), rules=["SHE-1"])
m.invariant("no place empty", forall(p, exists(b, lies(b, p))), rules=["SHE-1"])
m.instance("small", boxes=2, places=2)
machine = m.build()
"""


@pytest.fixture
def shelf(tmp_path):
    path = tmp_path / "shelf.py"
    path.write_text(SHELF)
    return path


def test_prove_warns_of_questions_outside_the_decidable_fragment_and_proves_on(run, shelf):
    result = run(shelf, "--json")

    document = json.loads(result.stdout)
    assert {row["result"] for row in document["obligations"] if row["action"] == "take"} == {"proved"}
    (warning,) = result.stderr.splitlines()
    assert warning.startswith("warning: shelf: what every proof assumes leaves the decidable fragment")
    assert "box → place (invariant 'every box somewhere')" in warning


def test_prove_takes_a_variant_of_the_design(run, shelf):
    result = run(shelf, "--switch", "taking=anything", "--json")

    document = json.loads(result.stdout)
    assert result.exit_code == 1
    refuted = [row for row in document["obligations"] if row["action"] == "take" and row["rule"] == "SHE-1"]
    assert [row["result"] for row in refuted] == ["refuted", "refuted"]


@pytest.mark.parametrize(
    "arguments",
    [
        ["lantern"],
        ["release-race", "--switch", "reaper=asleep"],
        ["release-race", "--switch", "reaper"],
        ["--timeout", "0", "release-race"],
        ["--colour"],
    ],
)
def test_prove_ends_with_2_on_wrong_usage(run, arguments):
    assert run(*arguments).exit_code == 2


def test_prove_says_in_one_line_what_to_install_where_z3_is_missing(run, monkeypatch):
    monkeypatch.setattr("anchorhold.cli.proving.importlib.util.find_spec", lambda name: None)

    result = run("release-race")

    assert result.exit_code == 2
    assert result.stderr == "anchorhold prove: proving needs Z3: pip install 'anchorhold[prove]'\n"
    assert result.stdout == ""


IMPOSSIBLE = {
    "for all sizes": 'm.axiom("all good", forall(x, good(x)))\nm.axiom("none good", forall(x, ~good(x)))\n',
    "at its own sizes": 'm.axiom("one good, one not", exists(x, y, good(x) & ~good(y)))\n',
}


@pytest.mark.parametrize("axioms", IMPOSSIBLE)
def test_prove_says_in_one_line_that_axioms_cannot_hold(run, tmp_path, axioms):
    path = tmp_path / "lamp.py"
    text = SMALL_MACHINE.replace("import MachineBuilder,", "import MachineBuilder, exists,").replace(
        'x = lamp("x")\n', 'x, y = lamp("x"), lamp("y")\ngood = m.rigid_rel("good", lamp)\n' + IMPOSSIBLE[axioms]
    )
    path.write_text(text)

    result = run(f"{path}:machine", "--json")

    assert result.exit_code == 2
    assert result.stdout == ""
    (line,) = result.stderr.splitlines()
    assert line.startswith("anchorhold prove: lamp")
    assert "axioms" in line
    assert result.exception is None or isinstance(result.exception, SystemExit)


def test_prove_says_what_a_property_says_that_nothing_can_break(run, tmp_path):
    path = tmp_path / "lamp.py"
    formula = "forall(x, y, (of(x).defined & (x == y)) >> (of(x) == of(y)))"
    said = f'm.invariant("a lamp of its own", {formula}, rules=["LAMP-1"])'
    path.write_text(
        SMALL_MACHINE.replace('x = lamp("x")\n', 'x, y = lamp("x"), lamp("y")\nof = m.pfun("of", lamp, to=lamp)\n')
        .replace("updates=[plugged(x).becomes(True)]", "updates=[plugged(x).becomes(True), of(x).becomes(x)]")
        .replace("m.instance", f"{said}\nm.instance")
    )

    result = run(f"{path}:machine")

    assert result.exit_code == 1
    assert "can be broken: a lamp of its own" in " ".join(result.output.split())
    assert "it says nothing" in " ".join(result.output.split())
