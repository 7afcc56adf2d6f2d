"""Proving that a wheel is what its name, its tags and a policy say, and repairing it until it is.

The only door to auditwheel and patchelf. Running the wheel on CPUs is `testing`'s.
"""

from rvbuild.audit.board import BoardAnswer, answer_board
from rvbuild.audit.inspect import audit_wheel
from rvbuild.audit.model import AuditReport, Binary, Finding, Policy, Severity
from rvbuild.audit.repair import Repair, repair_wheel
from rvbuild.audit.report import answer_as_json, render_answer, render_report, report_as_json
from rvbuild.audit.sarif import reports_as_sarif

__all__ = [
    "AuditReport",
    "Binary",
    "BoardAnswer",
    "Finding",
    "Policy",
    "Repair",
    "Severity",
    "answer_as_json",
    "answer_board",
    "audit_wheel",
    "render_answer",
    "render_report",
    "repair_wheel",
    "report_as_json",
    "reports_as_sarif",
]
