"""The smallest numeric case among failures: `FAMILY:OPERATION:DTYPE:SIZE`, wherever it is named."""

import re
from collections.abc import Iterable

from rvbuild.triage.model import Occurrence, SmallCase

CASE = re.compile(
    r"\b([a-z_]+\d?):([a-z_0-9]+):((?:bool|u?int|float|complex)\d*):(\d+)(?::\s*(.*))?"
)


def smallest_case(occurrences: Iterable[Occurrence]) -> SmallCase | None:
    """Find the smallest case that any of the failures names; None where none does."""
    found = [
        _case(match, occurrence)
        for occurrence in occurrences
        for match in CASE.finditer(f"{occurrence.test}\n{occurrence.message}\n{occurrence.text}")
    ]
    return min(found, key=lambda case: (case.size, case.name), default=None)


def _case(match: re.Match[str], occurrence: Occurrence) -> SmallCase:
    family, operation, dtype, size, detail = match.groups()
    name = f"{family}:{operation}:{dtype}:{size}"
    return SmallCase(name, int(size), occurrence.cpu, (detail or occurrence.message).strip())
