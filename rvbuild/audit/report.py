"""An audit report as JSON values and as text. Colours and columns are the command line's."""

from dataclasses import asdict

from rvbuild.audit.board import BoardAnswer
from rvbuild.audit.model import AuditReport, Binary, Finding
from rvbuild.isa import IsaFacts

SCHEMA = "rvbuild.audit/1"


def report_as_json(report: AuditReport) -> dict[str, object]:
    """Turn a report into values that `json.dumps` takes."""
    wheel = report.wheel
    return {
        "schema": SCHEMA,
        "wheel": wheel.file_name,
        "name": wheel.name,
        "version": wheel.version,
        "tags": sorted(map(str, wheel.tags)),
        "sha256": wheel.sha256,
        "size": wheel.size,
        "floor": str(report.floor),
        "ok": report.ok,
        "binaries": [_binary_as_json(binary) for binary in report.binaries],
        "findings": [_finding_as_json(finding) for finding in report.findings],
    }


def _binary_as_json(binary: Binary) -> dict[str, object]:
    facts = binary.facts
    return {
        "member": binary.member,
        "machine": facts.machine,
        "kind": facts.kind,
        "float_abi": facts.float_abi,
        "isa": facts.isa,
        "instructions": _isa_as_json(binary.isa),
        "soname": facts.soname,
        "needed": list(facts.needed),
        "versions": sorted({each.version for each in facts.required_versions}),
    }


def _isa_as_json(facts: IsaFacts | None) -> dict[str, object] | None:
    if facts is None:
        return None
    return {
        "verdict": facts.verdict,
        "extensions": dict(facts.extensions),
        "functions": len(facts.functions),
        "vector": sorted(facts.vector),
        "guards": list(facts.guards),
        "families": dict(facts.families),
        "leaks": [asdict(leak) for leak in facts.leaks],
        "doubted": facts.doubted,
    }


def answer_as_json(answer: BoardAnswer) -> dict[str, object]:
    """Turn the answer for a board into values that `json.dumps` takes."""
    return {
        "board": answer.board.name,
        "runs": answer.runs,
        "uses_vector": answer.uses_vector,
        "reasons": list(answer.reasons),
        "caveats": list(answer.board.caveats),
    }


def render_answer(answer: BoardAnswer) -> str:
    """Turn the answer for a board into lines of text: the verdict, then reasons and caveats."""
    runs = "runs" if answer.runs else "does not run"
    uses = "uses" if answer.uses_vector else "does not use"
    unit = f", {uses} its vector unit" if answer.board.rvv != "none" and answer.runs else ""
    lines = [f"  {runs} on {answer.board.name} ({answer.board.description}){unit}"]
    lines += [f"    {reason}" for reason in answer.reasons]
    return "\n".join([*lines, *(f"    caveat: {caveat}" for caveat in answer.board.caveats)])


def _finding_as_json(finding: Finding) -> dict[str, object]:
    return {
        "code": finding.code,
        "severity": finding.severity,
        "member": finding.member,
        "message": finding.message,
        "hint": finding.hint,
    }


def render_report(report: AuditReport) -> str:
    """Turn a report into lines of text: the verdict, then one line for each finding and hint."""
    verdict = "keeps to" if report.ok else "does not keep to"
    lines = [f"{report.wheel.file_name} {verdict} {report.floor.tag}"]
    for finding in report.findings:
        lines.append(f"  {finding.severity}[{finding.code}]: {finding.subject} {finding.message}")
        if finding.hint:
            lines.append(f"    hint: {finding.hint}")
    return "\n".join(lines)
