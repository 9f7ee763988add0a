"""The result as JUnit XML, for CI servers. Only what is held appears as passed."""

import xml.etree.ElementTree as ET
from collections.abc import Sequence

from anchorhold.expectations import Expected, Met, meet
from anchorhold.level import HELD
from anchorhold.report.summary import Judged, summarise
from anchorhold.report.text import visible
from anchorhold.result import ClaimResult, ClaimVerdict, FailureResult, Result, own_fault
from anchorhold.verdict import VerdictKind


def junit(result: Result) -> bytes:
    """One test case a rule. `fail` is a failure, `pass` passes; all else is skipped, with its verdict and reason.

    `vacuous` counts towards a level, but nothing was exercised: it is shown as skipped as well. Where the adapter
    did not work there is one test case, with an error. What is known to fail (`check --expect`) is skipped where it
    fails, and a failure where it is held.
    """
    name = visible(f"anchorhold {result.compactor} {result.version}".strip(), lines=False)
    cases = [_adapter(result)] if result.error is not None else [*_cases(result), *map(_claim, result.claims)]
    counts = {
        "tests": str(len(cases)),
        "failures": str(sum(case.find("failure") is not None for case in cases)),
        "errors": str(sum(case.find("error") is not None for case in cases)),
        "skipped": str(sum(case.find("skipped") is not None for case in cases)),
        "time": f"{result.seconds:.3f}",
    }
    root = ET.Element("testsuites", {"name": "anchorhold", **counts})
    suite = ET.SubElement(root, "testsuite", {"name": name, **counts})
    properties = ET.SubElement(suite, "properties")
    for key, value in (
        ("compactor", result.compactor),
        ("version", result.version),
        ("level", "none" if result.level is None else str(result.level)),
        ("seed", str(result.seed)),
        ("effort", result.effort or "none"),
    ):
        ET.SubElement(properties, "property", {"name": key, "value": visible(value, lines=False)})
    suite.extend(cases)
    if result.stderr:
        ET.SubElement(suite, "system-err").text = visible(result.stderr)
    ET.indent(root)
    encoded: bytes = ET.tostring(root, encoding="utf-8", xml_declaration=True)
    return encoded + b"\n"


def _cases(result: Result) -> list[ET.Element]:
    return [
        _case(judged, [each for each in result.failures if each.rule == judged.rule.id], result.expected)
        for _, family in summarise(result).families
        for judged in family
    ]


def _case(judged: Judged, failures: Sequence[FailureResult], expected: Expected) -> ET.Element:
    rule, found = judged.rule, judged.found
    case = ET.Element("testcase", {"classname": f"anchorhold.{rule.family}", "name": f"{rule.id} {rule.title}"})
    met = meet(found.verdict, expected=rule.id in expected)
    if met is Met.KNOWN:
        message = f"known to fail: {expected[rule.id]}: {found.reason}"
        ET.SubElement(case, "skipped", {"message": visible(message, lines=False)})
    elif met is Met.HELD:
        message = f"expected to fail ({expected[rule.id]}), and held: take it out of the expectations"
        attributes = {"type": "expectation", "message": visible(message, lines=False)}
        ET.SubElement(case, "failure", attributes).text = visible(message)
    elif found.verdict is VerdictKind.FAIL:
        attributes = {"type": rule.id, "message": visible(found.reason, lines=False)}
        ET.SubElement(case, "failure", attributes).text = visible(_told(judged, failures))
    elif found.verdict is not VerdictKind.PASS:
        held = " (counts as held)" if found.verdict in HELD else ""
        message = f"{found.verdict.value}{held}: {found.reason}"
        ET.SubElement(case, "skipped", {"message": visible(message, lines=False)})
    return case


def _claim(claim: ClaimResult) -> ET.Element:
    """Apart from the rules: a claim that is not borne out is a failure of the claim."""
    name = visible(f"claims {claim.claim}", lines=False)
    case = ET.Element("testcase", {"classname": "anchorhold.claims", "name": name})
    message = visible(claim.reason, lines=False)
    if claim.verdict is ClaimVerdict.BROKEN:
        ET.SubElement(case, "failure", {"type": "claim", "message": message}).text = message
    elif claim.verdict is ClaimVerdict.UNDECIDED:
        ET.SubElement(case, "skipped", {"message": f"undecided: {message}"})
    return case


def _told(judged: Judged, failures: Sequence[FailureResult]) -> str:
    lines = [f"{judged.rule.id}: {judged.rule.statement}", ""]
    if not failures:
        lines.append(judged.found.reason)
    for each in failures:
        lines += [each.sentence, f"  fact: {each.fact}", f"  history: {each.history}", f"  replay: {each.replay}", ""]
    return "\n".join(lines)


def _adapter(result: Result) -> ET.Element:
    who = "suite" if own_fault(result) else "adapter"
    case = ET.Element("testcase", {"classname": "anchorhold", "name": f"the {who} works"})
    message = visible(result.error or "", lines=False)
    ET.SubElement(case, "error", {"type": who, "message": message}).text = message
    return case
