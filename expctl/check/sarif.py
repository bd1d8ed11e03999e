"""Findings as SARIF 2.1.0, the form in which code hosts show the results of static analysis beside the lines of a change."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from urllib.parse import quote

from expctl.check.examine import Examined
from expctl.check.findings import Finding
from expctl.check.judge import INPUT_CHANGED, WRONG_RESULT
from expctl.check.places import Place
from expctl.check.runner import ENDLESS
from expctl.gfx11.machine.faults import FaultKind

SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
RULES = {
    FaultKind.RACE: "Two waves access the same bytes, one of them writes, and nothing orders the accesses.",
    FaultKind.MISSING_WAIT: "A register is used before the load into it must have ended, or an access may outlast a barrier.",
    FaultKind.OUT_OF_BOUNDS: "An access lies outside of every array.",
    FaultKind.UNINITIALISED: "A result, an address or a branch depends on a value that nothing wrote.",
    FaultKind.LANES_DIFFER: "The lanes of a matrix input don't repeat each other as the instruction needs it.",
    FaultKind.DIVERGED: "Some waves of a workgroup end without a barrier at which others wait.",
    FaultKind.TRAP: "An assertion fails, or the kernel stops itself: abort() or __trap().",
    ENDLESS: "A wave doesn't end.",
    INPUT_CHANGED: "An array that the kernel should only read has changed.",
    WRONG_RESULT: "An output is not what the reference expects.",
}


def sarif(result: Examined, version: str) -> dict[str, Any]:
    """Return the findings of a check as a SARIF document; `version` is that of expctl."""
    rules = [{"id": _id(kind), "shortDescription": {"text": text}} for kind, text in RULES.items()]
    driver = {"name": "expctl check", "version": version, "rules": rules}
    results = [_result(finding, result) for finding in result.findings]
    run = {"tool": {"driver": driver}, "results": results, "columnKind": "utf16CodeUnits"}
    return {"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}


def _id(kind: str) -> str:
    return str(kind).replace(" ", "-")


def _result(finding: Finding, result: Examined) -> dict[str, Any]:
    place = finding.place or Place(file=result.file, line=1)
    shapes = ", ".join(f"{name} = {value}" for name, value in result.shapes.items())
    where = f"{result.kernel}{f' at {shapes}' if shapes else ''}"
    found: dict[str, Any] = {
        "ruleId": _id(finding.kind),
        "level": "error",
        "message": {"text": f"{finding.kind}: {finding.what} ({where})"},
        "locations": [_location(place)],
    }
    if finding.other is not None:
        found["relatedLocations"] = [{**_location(finding.other), "message": {"text": "the other access"}}]
    return found


def _location(place: Place) -> dict[str, Any]:
    path = Path(place.file)
    uri = path.as_uri() if path.is_absolute() else quote(path.as_posix())
    region = {"startLine": place.line, **({"startColumn": place.column} if place.column else {})}
    return {"physicalLocation": {"artifactLocation": {"uri": uri}, "region": region}}
