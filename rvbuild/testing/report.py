"""Test reports as JSON files, written and read back."""

from pathlib import Path

from pydantic import TypeAdapter, ValidationError

from rvbuild.errors import UsageError
from rvbuild.testing.model import SCHEMA, TestReport


def write_report(report: TestReport, path: Path) -> Path:
    """Write a report as one JSON document with a `schema` number."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(TypeAdapter(TestReport).dump_json(report, indent=2) + b"\n")
    return path


def read_report(path: Path) -> TestReport:
    """Read a report; raise `UsageError` when the file is none, or of another schema."""
    try:
        report = TypeAdapter(TestReport).validate_json(path.read_bytes())
    except (OSError, ValidationError) as error:
        raise UsageError(f"`{path}` is not a test report", causes=[str(error)]) from error
    if report.schema != SCHEMA:
        raise UsageError(
            f"`{path}` has schema {report.schema}, and this version reads schema {SCHEMA}"
        )
    return report
