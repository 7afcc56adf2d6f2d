"""Reading reports: of `rvbuild test --json`, single ones, JUnit files of other machines."""

import json
from collections.abc import Iterable, Mapping
from pathlib import Path

from pydantic import TypeAdapter, ValidationError

from rvbuild.errors import UsageError
from rvbuild.testing import TestReport
from rvbuild.testing.junit import read_junit
from rvbuild.testing.model import SCHEMA

JUNIT = ".xml"

# How a test ended on another machine, by its name.
References = Mapping[str, str]


def read_reports(paths: Iterable[Path]) -> tuple[TestReport, ...]:
    """Read all test reports; raises `UsageError` for a file that is none."""
    return tuple(report for path in paths if path.suffix != JUNIT for report in _read(path))


def read_references(paths: Iterable[Path]) -> dict[str, References]:
    """Read the JUnit files, by their names: the same suite on x86-64, for instance."""
    found: dict[str, References] = {}
    for path in paths:
        if path.suffix == JUNIT:
            try:
                outcomes = read_junit(path)
            except ValueError as error:
                raise UsageError(f"`{path}` is not a JUnit file", causes=[str(error)]) from error
            found[path.name] = {each.test: each.outcome for each in outcomes}
    return found


def _read(path: Path) -> tuple[TestReport, ...]:
    try:
        document = json.loads(path.read_bytes())
        plain = document.get("reports", [document])
        reports = TypeAdapter(tuple[TestReport, ...]).validate_python(plain)
    except (OSError, ValueError, AttributeError, ValidationError) as error:
        raise UsageError(
            f"`{path}` is not a test report",
            causes=[str(error).splitlines()[0]],
            hint="make one by `rvbuild test --json`",
        ) from error
    wrong = next((report.schema for report in reports if report.schema != SCHEMA), None)
    if wrong is not None:
        raise UsageError(f"`{path}` has schema {wrong}, and this version reads schema {SCHEMA}")
    return reports
