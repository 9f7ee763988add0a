"""Claims and expectations: what is promised, and what is known to fail, held against a result."""

import json
from pathlib import Path
from typing import Any

import pytest
from test_diff import checked
from toy_compactors import Archive

from anchorhold import horizon
from anchorhold.claims import Claims, ClaimsError, HorizonSeen, judge_claims, read_claims
from anchorhold.cli import main
from anchorhold.compactor import Description, Mechanism, Settings, Summarise
from anchorhold.expectations import ExpectationError, Met, meet, read_expectations
from anchorhold.load import load_class
from anchorhold.report import badge, html, junit
from anchorhold.result import ClaimVerdict, broken
from anchorhold.verdict import VerdictKind

V = VerdictKind
TOYS = Path(__file__).with_name("toy_compactors.py")
DESCRIPTION = Description(
    name="toy",
    version="1",
    operations=frozenset({"append", "compact", "live", "pointers", "get"}),
    hidden={Mechanism.EXPIRY: "the service decides"},
)


def verdicts(claims: Claims, given: dict[str, VerdictKind], description: Description = DESCRIPTION) -> dict[str, str]:
    return {each.claim: each.verdict.value for each in judge_claims(claims, checked(given), description)}


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({}, "borne-out"),
        ({"EPO-1": V.FAIL}, "broken"),
        ({"EPO-3": V.NOT_OBSERVABLE}, "undecided"),
        ({"ERA-1": V.FAIL}, "borne-out"),
    ],
)
def test_a_level_is_borne_out_by_its_own_rules(given: dict[str, VerdictKind], expected: str) -> None:
    assert verdicts(Claims(level=1), given) == {"level 1": expected}


def test_a_rule_beside_the_level_is_judged_by_itself() -> None:
    claims = Claims(holds=("ANC-1", "OUT-1", "ERA-1", "PTR-1"))
    given = {"ANC-1": V.FAIL, "OUT-1": V.INCONCLUSIVE, "ERA-1": V.VACUOUS}

    assert verdicts(claims, given) == {
        "holds ANC-1": "broken",
        "holds OUT-1": "undecided",
        "holds ERA-1": "borne-out",
        "holds PTR-1": "borne-out",
    }


def test_mechanisms_are_offered_hidden_or_not_there() -> None:
    claims = Claims(mechanisms=(Mechanism.POINTERS, Mechanism.EXPIRY, Mechanism.ERASURE))

    assert list(verdicts(claims, {}).values()) == ["borne-out", "undecided", "broken"]


@pytest.mark.parametrize("claimed", [False, True, "only summaries are kept"])
@pytest.mark.parametrize("declared", [None, "only summaries are kept"])
def test_irreversible_is_what_the_adapter_declares(claimed: bool | str, declared: str | None) -> None:
    description = Description(name="toy", version="1", irreversible=declared)

    (found,) = verdicts(Claims(irreversible=claimed), {}, description).values()

    assert found == ("borne-out" if bool(claimed) is bool(declared) else "broken")


def test_a_level_of_a_compactor_that_declares_itself_irreversible_is_broken() -> None:
    description = Description(name="toy", version="1", irreversible="so it is")

    assert verdicts(Claims(level=1), {}, description) == {"level 1": "broken"}


class Expires(Archive):
    """Originals go after an hour."""

    def expire(self, seconds: float) -> None:
        if seconds >= 3600:
            self.originals.clear()


class TakesADay(Archive):
    def open(self, settings: Settings, summarise: Summarise) -> Settings:
        super().open(settings, summarise)
        return Settings(budget=settings.budget, watermark=settings.watermark, horizon=86_400.0)


@pytest.mark.parametrize(
    ("kind", "claimed", "expected", "why"),
    [
        (Expires, 1800, ClaimVerdict.BORNE_OUT, "after 1620 s"),
        (Expires, 7200, ClaimVerdict.BROKEN, "claim-horizon.jsonl"),
        (Expires, "session", ClaimVerdict.BROKEN, "claim-horizon.jsonl"),
        (Archive, "session", ClaimVerdict.BORNE_OUT, "nothing expires by time"),
        (TakesADay, 172_800, ClaimVerdict.BROKEN, "it takes a horizon of 86400 s"),
        (TakesADay, "session", ClaimVerdict.BROKEN, "it takes a horizon of 86400 s"),
    ],
)
def test_a_horizon_is_tried_shortly_before_it_is_over(
    kind: type[Any], claimed: float | str, expected: ClaimVerdict, why: str, tmp_path: Path
) -> None:
    with load_class(kind, name="toy") as loaded:
        seen = horizon.look(loaded, loaded.describe(), claimed, seed=0, histories=tmp_path)

    assert seen.verdict is expected
    assert why in seen.reason
    assert (tmp_path / "claim-horizon.jsonl").exists() is ("claim-horizon" in why)


def test_a_horizon_that_cannot_be_driven_is_undecided(tmp_path: Path) -> None:
    with load_class(Archive, name="toy") as loaded:
        seen = horizon.look(loaded, DESCRIPTION, 60.0, seed=0, histories=tmp_path)

    assert seen == HorizonSeen(
        verdict=ClaimVerdict.UNDECIDED, reason="its lifetimes cannot be driven: the service decides"
    )


@pytest.mark.parametrize("lost", ["ANC-1", "PTR-2"])
def test_a_horizon_is_broken_where_something_came_loose_in_the_check(lost: str) -> None:
    seen = HorizonSeen(verdict=ClaimVerdict.BORNE_OUT, reason="all that was said was still to be had")

    (kept,) = judge_claims(Claims(horizon="session"), checked({}), DESCRIPTION, horizon=seen)
    (gone,) = judge_claims(Claims(horizon="session"), checked({lost: V.FAIL}), DESCRIPTION, horizon=seen)

    assert (kept.verdict, kept.reason) == (ClaimVerdict.BORNE_OUT, seen.reason)
    assert (gone.verdict, gone.rules) == (ClaimVerdict.BROKEN, (lost,))
    assert lost in gone.reason


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "nothing is claimed"),
        ("level = 9", "level 9 does not exist"),
        ("level = 1\nirreversible = true", "an irreversible compactor is given no level"),
        ("horizon = 0", "a number of seconds above 0"),
        ('holds = ["ANC1"]', "did you mean ANC-1"),
        ('mechanisms = ["wings"]', "is no claims file"),
        ("levle = 1", "there are level, irreversible, horizon, mechanisms, holds"),
        ("level =", "is not TOML"),
    ],
)
def test_a_claims_file_that_is_none_says_what_is_wrong(text: str, why: str, tmp_path: Path) -> None:
    (tmp_path / "claims.toml").write_text(text)

    with pytest.raises(ClaimsError, match=why):
        read_claims(tmp_path / "claims.toml")


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ('[fail]\n"PTR4" = "x"', "did you mean PTR-4"),
        ('[fail]\n"PTR-4" = ""', "say why"),
        ('[pass]\n"PTR-4" = "x"', "'pass' is nothing to expect"),
        ("fail = 1", "fail is a table"),
        ("[", "is not TOML"),
    ],
)
def test_an_expectations_file_that_is_none_says_what_is_wrong(text: str, why: str, tmp_path: Path) -> None:
    (tmp_path / "e.toml").write_text(text)

    with pytest.raises(ExpectationError, match=why):
        read_expectations(tmp_path / "e.toml")


def test_expectations_are_met_by_a_failure_only() -> None:
    assert {kind: meet(kind, expected=True) for kind in V} == {
        V.FAIL: Met.KNOWN,
        V.PASS: Met.HELD,
        V.VACUOUS: Met.HELD,
        V.NOT_OBSERVABLE: Met.UNDECIDED,
        V.INCONCLUSIVE: Met.UNDECIDED,
        V.UNTESTED: Met.UNDECIDED,
    }
    assert {meet(kind, expected=False) for kind in V} == {Met.UNEXPECTED}


# In the command and the reports


@pytest.fixture
def command(capfdbinary: pytest.CaptureFixture[bytes], tmp_path: Path, monkeypatch: pytest.MonkeyPatch):  # type: ignore[no-untyped-def]
    monkeypatch.chdir(tmp_path)

    def run(*arguments: str) -> tuple[int, str, str]:
        with pytest.raises(SystemExit) as ended:
            main(["check", f"{TOYS}:Loses", "--effort", "quick", "--scenario", "growth-drop", *arguments])
        out, err = capfdbinary.readouterr()
        assert isinstance(ended.value.code, int)
        return ended.value.code, out.decode(), err.decode()

    return run


def test_check_honours_expectations(command) -> None:  # type: ignore[no-untyped-def]
    both = ("--rule", "PTR-1", "--rule", "PTR-3", "--expect", "e.toml")
    for text, status in (('"PTR-1" = "known"', 0), ('"PTR-3" = "known"', 1), ("", 1)):
        Path("e.toml").write_text(f"[fail]\n{text}\n")
        ended, _, err = command(*both)
        assert (text, ended) == (text, status)
        assert ("PTR-3 is expected to fail (known), and is held" in err) is ("PTR-3" in text)
    Path("e.toml").write_text('[fail]\n"PTR-1" = "known"\n')
    # A known failure holds the level back all the same.
    assert command(*both, "--level", "2")[0] == 3


def test_a_broken_claim_fails_the_check_apart_from_the_rules(command) -> None:  # type: ignore[no-untyped-def]
    Path("c.toml").write_text('holds = ["PTR-1", "PTR-3"]\n')
    Path("e.toml").write_text('[fail]\n"PTR-1" = "known"\n')

    status, out, _ = command(
        "--rule", "PTR-1", "--rule", "PTR-3", "--claims", "c.toml", "--expect", "e.toml", "--json"
    )

    assert status == 1
    assert {each["claim"]: each["verdict"] for each in json.loads(out)["claims"]} == {
        "holds PTR-1": "broken",
        "holds PTR-3": "borne-out",
    }


def test_reports_tell_claims_apart_from_rules_and_escape_them() -> None:
    import msgspec

    result = checked({"EPO-1": V.FAIL})
    claims = judge_claims(Claims(level=1, holds=("PTR-1",)), result, DESCRIPTION)
    result = msgspec.structs.replace(
        result, claims=(msgspec.structs.replace(claims[0], reason="<script>x</script>"), *claims[1:])
    )

    page, xml, picture = html(result, {}), junit(result).decode(), badge(result)

    assert "What is claimed" in page
    assert "<script>" not in page
    assert 'classname="anchorhold.claims" name="claims level 1"' in xml
    assert xml.count("<failure") == 2
    assert "1 claim broken" in picture


@pytest.mark.parametrize(
    ("given", "words"),
    [({}, "level 5"), ({"EPO-1": V.FAIL}, "no level, 1 failed"), ({"OUT-1": V.INCONCLUSIVE}, "level 1")],
)
def test_the_badge_says_the_level_and_what_failed(given: dict[str, VerdictKind], words: str) -> None:
    import xml.etree.ElementTree as ET

    root = ET.fromstring(badge(checked(given)))

    assert root.get("aria-label") == f"anchorhold: {words}"
    assert "http" not in badge(checked(given)).replace("http://www.w3.org/2000/svg", "")


def test_the_badge_of_a_run_without_a_verdict_says_so() -> None:
    assert "no verdict" in badge(broken(compactor="x", error="it died", seconds=0.0, seed=0))
