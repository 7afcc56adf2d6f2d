"""Proving that a wheel is what its name, its tags and a policy say, and repairing it until it is.

The only door to auditwheel and patchelf. Running the wheel on CPUs is `testing`'s.
"""

from rvbuild.audit.inspect import audit_wheel
from rvbuild.audit.model import AuditReport, Binary, Finding, Policy, Severity
from rvbuild.audit.repair import Repair, repair_wheel
from rvbuild.audit.report import render_report, report_as_json

__all__ = [
    "AuditReport",
    "Binary",
    "Finding",
    "Policy",
    "Repair",
    "Severity",
    "audit_wheel",
    "render_report",
    "repair_wheel",
    "report_as_json",
]
