"""The SDK and the worked example in TypeScript, run by the machine's node.

Node that runs TypeScript by itself runs the files as they are; for others tsc, which npm installs, compiles them.
"""

import json
import re
import shlex
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from wire_walk import TURNS, Model, walk

from anchorhold import compactor as suite
from anchorhold.check import check
from anchorhold.checkers import CHECKERS
from anchorhold.compactor import OperationError, Settings
from anchorhold.load import Loaded, load
from anchorhold.scenarios import Effort
from anchorhold.smoke import smoke
from anchorhold.verdict import VerdictKind
from anchorhold.wire import messages
from anchorhold.wire.process import Limits, Program
from anchorhold_spec.vocabulary import AnswerKind, CarrierKind, OutcomeKind, Turn

ROOT = Path(__file__).parents[2]
SDK = Path("conformance/anchorhold/adapters/anchorhold_sdk.ts")
EXAMPLE = Path("conformance/examples/keeps_originals.ts")
ADAPTER = Path("tests/conformance/sdk_adapter.ts")
SCHEMA = json.loads((ROOT / "conformance/schemas/wire.schema.json").read_text())
TEXT = (ROOT / SDK).read_text(encoding="utf-8")
COMPILER = ("typescript@5.9", "@types/node@20")
LIMITS = Limits(start=60, call=60, stop=10)
RULES = ("PTR-1", "CRA-1", "OUT-1", "REC-1", "STR-1")


# -- without node


def words(name: str) -> list[str]:
    found = re.search(rf"^export const {name} = \[(.*?)\] as const;$", TEXT, re.MULTILINE | re.DOTALL)
    assert found is not None
    return re.findall(r'"([^"]+)"', found[1])


def test_the_sdk_has_the_same_words_as_the_suite() -> None:
    assert (*words("REQUIRED"), *words("OPTIONAL")) == messages.OPERATIONS
    for name, kind in {
        "MECHANISMS": suite.Mechanism,
        "UNITS": suite.Unit,
        "CARRIER_KINDS": CarrierKind,
        "OUTCOME_KINDS": OutcomeKind,
        "ANSWER_KINDS": AnswerKind,
    }.items():
        assert words(name) == [word.value for word in kind]


def test_the_sdk_has_the_same_codes_params_and_fields_as_the_suite() -> None:
    codes = [name for name, value in vars(messages).items() if name.isupper() and isinstance(value, int)]
    assert len(codes) == 9
    for code in codes:
        assert f"export const {code} = {getattr(messages, code)};" in TEXT
    parameters = re.search(r"^export const PARAMETERS.*?^};$", TEXT, re.MULTILINE | re.DOTALL)
    assert parameters is not None
    told = {name: re.findall(r'"(\w+)"', names) for name, names in re.findall(r"(\w+): \[(.*?)\]", parameters[0])}
    for operation in set(words("OPTIONAL")) - {"resume"}:
        params = SCHEMA["$defs"].get(f"{operation}.params", {})
        if "$ref" in params:
            params = SCHEMA["$defs"][params["$ref"].rpartition("/")[2]]
        assert told.get(operation, []) == params.get("required", [])
    for name in (
        "ToolCall",
        "Turn",
        "Settings",
        "Item",
        "Pointer",
        "Answer",
        "Entry",
        "Outcome",
        "Tombstone",
        "Ratios",
    ):
        interface = re.search(rf"^export interface {name} {{$(.*?)^}}$", TEXT, re.MULTILINE | re.DOTALL)
        assert interface is not None
        fields = re.findall(r"^  (\w+)\??:", interface[1], re.MULTILINE)
        schema = SCHEMA["$defs"].get(name) or SCHEMA["$defs"]["SettingsTaken"]
        assert fields == list(schema["properties"]), name


# -- with node


@pytest.fixture(scope="module")
def programs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder in which the three files lie as in the repository, ready to be run."""
    node, npm = shutil.which("node"), shutil.which("npm")
    if node is None or npm is None:
        pytest.skip("needs node and npm")
    folder = tmp_path_factory.mktemp("typescript")
    subprocess.run(
        [npm, "install", "--no-audit", "--no-fund", "--silent", *COMPILER], cwd=folder, check=True, timeout=300
    )
    (folder / "package.json").write_text('{"type": "module"}')
    for path in (SDK, EXAMPLE, ADAPTER):
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / path, folder / path)
    options = {
        "target": "es2022",
        "module": "esnext",
        "moduleResolution": "bundler",
        "strict": True,
        "noUncheckedIndexedAccess": True,
        "noUnusedLocals": True,
        # What node can run by leaving the types out.
        "erasableSyntaxOnly": True,
        "verbatimModuleSyntax": True,
        "rewriteRelativeImportExtensions": True,
        "types": ["node"],
    }
    settings = {"compilerOptions": options, "files": [str(EXAMPLE), str(ADAPTER)]}
    (folder / "tsconfig.json").write_text(json.dumps(settings))
    compiled = subprocess.run(
        ["node_modules/.bin/tsc"], cwd=folder, capture_output=True, text=True, timeout=300, check=False
    )
    assert compiled.stdout == ""
    assert compiled.returncode == 0
    return folder


def command(programs: Path, path: Path) -> list[str]:
    """As it is where node can, or else compiled."""
    version = subprocess.run(["node", "--version"], capture_output=True, text=True, check=True, timeout=60).stdout
    major, minor, *_ = map(int, version.strip().lstrip("v").split("."))
    suffix = ".ts" if (major, minor) >= (22, 18) else ".js"
    return ["node", "--no-warnings", str((programs / path).with_suffix(suffix))]


def started(words: Sequence[str]) -> Loaded:
    return load("cmd:" + shlex.join(words), limits=LIMITS)


@pytest.fixture
def lines(monkeypatch: pytest.MonkeyPatch) -> tuple[list[Any], list[Any]]:
    """Every message, of the suite and of the adapter, each with the program: it is one's own ids that are counted."""
    requests: list[Any] = []
    answers: list[Any] = []
    send, receive = Program.send, Program.receive

    def sent(self: Program, line: bytes, **options: Any) -> None:
        requests.append((self, json.loads(line)))
        send(self, line, **options)

    def received(self: Program, **options: Any) -> bytes:
        line = receive(self, **options)
        answers.append((self, json.loads(line)))
        return line

    monkeypatch.setattr(Program, "send", sent)
    monkeypatch.setattr(Program, "receive", received)
    return requests, answers


@pytest.mark.slow
def test_every_operation_comes_through_unchanged_and_every_message_is_valid_against_the_schema(
    programs: Path, lines: tuple[list[Any], list[Any]]
) -> None:
    with started(command(programs, ADAPTER)) as loaded:
        walk(loaded, Model())
        # Once more on the same program: each `open` has a fresh instance of the class.
        walk(loaded, Model())
        compactor = loaded.make()
        compactor.open(Settings(), Model(fails=True))
        for turn in TURNS:
            compactor.append(turn)
        with pytest.raises(OperationError, match="SummariserError: rate limit") as caught:
            compactor.compact()
        assert caught.value.definite is False
        with pytest.raises(OperationError, match="turn t1 is here already") as caught:
            compactor.append(TURNS[0])
        assert caught.value.definite is True
        with pytest.raises(OperationError, match="RangeError: v"):
            compactor.switch("raises", "v")
        compactor.close()
        assert "this goes to standard error" in loaded.stderr

    def validate(message: Any, definition: str) -> None:
        schema = {"$ref": f"#/$defs/{definition}", "$defs": SCHEMA["$defs"]}
        jsonschema.Draft202012Validator(schema).validate(message)

    requests, answers = lines
    methods = {(program, message["id"]): message["method"] for program, message in requests if "method" in message}
    for _, message in requests:
        if "method" in message:
            validate(message, f"{message['method']}.request")
        else:
            validate(message, "summarise.response" if "result" in message else "error.response")
    for program, message in answers:
        if "method" in message:
            validate(message, "summarise.request")
        else:
            asked = methods[program, message["id"]]
            validate(message, "error.response" if "error" in message else f"{asked}.response")
    assert set(methods.values()) == set(messages.METHODS)


@pytest.mark.slow
def test_several_summaries_can_be_asked_for_at_once(programs: Path) -> None:
    model = Model()
    with started(command(programs, ADAPTER)) as loaded:
        compactor = loaded.make()
        compactor.open(Settings(branch="many"), model)
        for turn in TURNS:
            compactor.append(turn)
        compactor.compact()

        assert {m for shown in model.shown for m in shown.messages} == {"Summarise.", "first ü\u2028", ""}
        assert compactor.live()[0].text == "S1 S2 S3"
        compactor.close()


@pytest.mark.slow
def test_bytes_and_odd_text_come_back_as_they_were(programs: Path) -> None:
    given = [
        Turn(id="a", speaker="user", text="é e\u0301 漢字 \U0001f469\u200d\U0001f467 \u2028 \u0085 \x00 \ufeff"),
        Turn(id="b", speaker="user", data=bytes(range(256))),
        Turn(id="c", speaker="user", data=b"\xed\xa0\x80x"),
        Turn(id="d", speaker="user", text="x" * 3_000_000),
    ]
    with started(command(programs, ADAPTER)) as loaded:
        compactor = loaded.make()
        compactor.open(Settings(), Model())
        for turn in given:
            compactor.append(turn)

        assert [(item.text, item.data) for item in compactor.live()] == [(turn.text, turn.data) for turn in given]
        compactor.close()


@pytest.mark.slow
@pytest.mark.parametrize("path", [ADAPTER, EXAMPLE], ids=["every operation", "worked example"])
def test_the_adapters_pass_the_smoke_test(programs: Path, path: Path) -> None:
    result = smoke("cmd:" + shlex.join(command(programs, path)), seconds=60)

    assert [str(finding) for finding in result.findings] == []


def verdicts(program: Sequence[str], histories: Path, *, rules: Sequence[str] = RULES) -> dict[str, VerdictKind]:
    with started(program) as loaded:
        checked = check(loaded, checkers=CHECKERS, histories=histories, seed=0, effort=Effort.QUICK, rules=rules)
    return {rule: checked.result.rules[rule].verdict for rule in rules}


@pytest.mark.slow
def test_the_worked_example_holds_its_rules(programs: Path, tmp_path: Path) -> None:
    assert verdicts(command(programs, EXAMPLE), tmp_path) == dict.fromkeys(RULES, VerdictKind.PASS)


WRONG = {
    "PTR-1": ("references.forEach((reference, n)", "references.slice(1).forEach((reference, n)"),
    "OUT-1": ('if (reply.text.trim() === "")', "if (false)"),
    "STR-1": ("if (unanswered || separated)", "if (false)"),
    # It says that it has compacted, and has written nothing of it.
    "CRA-1": ('this.#write({ kind: "compacted"', 'this.#take({ kind: "compacted"'),
    "REC-1": (
        'return found === undefined ? { kind: "unanchored" }',
        'return found === undefined ? { kind: "found", text: literal }',
    ),
}
"""A defect of the compactor for each rule, as a change to the worked example."""


@pytest.mark.slow
@pytest.mark.parametrize("rule", list(WRONG))
def test_a_wrong_variant_of_the_worked_example_is_blamed(programs: Path, tmp_path: Path, rule: str) -> None:
    *node, program = command(programs, EXAMPLE)
    right, (before, after) = Path(program).read_text(encoding="utf-8"), WRONG[rule]
    assert right.count(before) == 1
    wrong = Path(program).with_stem(f"wrong_{rule.replace('-', '_')}")
    wrong.write_text(right.replace(before, after), encoding="utf-8")
    try:
        assert verdicts([*node, str(wrong)], tmp_path, rules=[rule])[rule] is VerdictKind.FAIL
    finally:
        wrong.unlink()
