"""The audit of one wheel: every check, in one report."""

import dataclasses
from collections.abc import Iterator
from pathlib import Path

from rvbuild.audit.contents import read_binaries
from rvbuild.audit.floors import policy_for
from rvbuild.audit.identity import check_identity
from rvbuild.audit.isa import check_isa
from rvbuild.audit.linkage import link
from rvbuild.audit.model import AuditReport, Binary, Finding, Policy
from rvbuild.audit.searchpath import check_search_path
from rvbuild.audit.symbols import LOADED_BY_PYTHON, check_needed, check_undefined, check_versions
from rvbuild.audit.tags import check_tags, tag_floors
from rvbuild.wheel import Wheel, read_wheel, verify_record

SEVERITIES = ("error", "warning", "note")


def audit_wheel(path: Path, policy: Policy) -> AuditReport:
    """Audit a wheel against a policy, and report all that was found.

    Raises `AuditError` when the file is so damaged that there is no wheel to speak of.
    """
    wheel = read_wheel(path)
    binaries, findings = read_binaries(wheel, policy)
    found = [*findings, *check_tags(wheel, binaries, policy), *_check_files(wheel)]
    for binary in binaries:
        found += check_identity(binary)
        found += check_isa(binary)
    found += _check_linkage(wheel, binaries, policy)
    accepted = (_accept(finding, policy) for finding in found)
    return AuditReport(
        wheel=wheel,
        floor=policy.floor,
        binaries=binaries,
        findings=tuple(sorted(accepted, key=lambda each: SEVERITIES.index(each.severity))),
    )


def _accept(finding: Finding, policy: Policy) -> Finding:
    if finding.code in policy.accept:
        return dataclasses.replace(finding, severity="note")
    return finding


def _check_files(wheel: Wheel) -> Iterator[Finding]:
    for problem in verify_record(wheel):
        yield Finding("record", "error", problem.member, problem.message)
    for message in wheel.metadata.problems:
        yield Finding("metadata", "error", f"{wheel.info_folder}/METADATA", message)


def _check_linkage(wheel: Wheel, binaries: tuple[Binary, ...], policy: Policy) -> Iterator[Finding]:
    # A tag below the policy's floor is a promise too.
    floor = policy_for(min((policy.floor, *tag_floors(wheel))))
    linkage = link(binaries, policy.libraries, LOADED_BY_PYTHON)
    loadable = [binary for binary in binaries if binary.loadable]
    for binary in loadable:
        yield from check_search_path(binary, wheel)
        yield from check_versions(binary, linkage.inside.keys(), floor)
        yield from check_needed(binary, wheel, linkage, floor, policy)
        yield from check_undefined(binary, linkage, policy)
    if loadable and not policy.libraries:
        message = "undefined symbols were not looked up: the policy names no library folders"
        yield Finding("symbols-unchecked", "note", None, message)
