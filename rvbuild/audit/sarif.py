"""Audit reports as SARIF 2.1.0, which code hosts show beside a change."""

from collections.abc import Sequence
from urllib.parse import quote

from rvbuild.audit.model import AuditReport, Finding

VERSION = "2.1.0"
SCHEMA = (
    "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
)
TOOL = "rvbuild audit"


def reports_as_sarif(reports: Sequence[AuditReport], version: str) -> dict[str, object]:
    """Turn reports into one SARIF log with one run; `version` is of rvbuild."""
    results = [(report, finding) for report in reports for finding in report.findings]
    codes = sorted({finding.code for _, finding in results})
    rules = [{"id": code, "name": code.title().replace("-", "")} for code in codes]
    driver = {"name": TOOL, "version": version, "rules": rules}
    run = {
        "tool": {"driver": driver},
        "results": [_result(report, finding, codes) for report, finding in results],
        "columnKind": "unicodeCodePoints",
    }
    return {"$schema": SCHEMA, "version": VERSION, "runs": [run]}


def _result(report: AuditReport, finding: Finding, codes: Sequence[str]) -> dict[str, object]:
    location: dict[str, object] = {
        "physicalLocation": {"artifactLocation": {"uri": quote(report.wheel.file_name)}}
    }
    if finding.member is not None:
        location["logicalLocations"] = [{"fullyQualifiedName": finding.member, "kind": "module"}]
    text = f"{finding.subject} {finding.message}"
    return {
        "ruleId": finding.code,
        "ruleIndex": codes.index(finding.code),
        "level": finding.severity,
        "message": {"text": f"{text}; {finding.hint}" if finding.hint else text},
        "locations": [location],
    }
