"""What pytest's JUnit file says: one outcome for each test, named in one way."""

from dataclasses import dataclass
from pathlib import Path
from typing import Literal
from xml.etree.ElementTree import Element, ParseError, parse

Outcome = Literal["passed", "skipped", "failed", "error"]
SEVERITY: tuple[Outcome, ...] = ("passed", "skipped", "failed", "error")


@dataclass(frozen=True, slots=True)
class TestOutcome:
    """One test: `test` is its plain name as `plain_name` makes it."""

    __test__ = False

    test: str
    outcome: Outcome
    message: str = ""


def plain_name(test: str) -> str:
    """Turn a pytest id into dots only, as JUnit files name tests; parameters stay as they are.

    `tests/test_a.py::TestB::test_c[x/y]` becomes `tests.test_a.TestB.test_c[x/y]`.
    """
    name, bracket, parameters = test.partition("[")
    name = name.removesuffix(".py").replace(".py::", ".").replace("::", ".").replace("/", ".")
    return name + bracket + parameters


def read_junit(path: Path) -> tuple[TestOutcome, ...]:
    """Read a JUnit file, worst outcome of each test; raise `ValueError` when it is none."""
    try:
        root = parse(path).getroot()  # noqa: S314 - expat bounds what entities grow to
    except (OSError, ParseError) as error:
        raise ValueError(f"`{path.name}` holds no test results: {error}") from error
    worst: dict[str, TestOutcome] = {}
    for case in root.iter("testcase"):
        found = _outcome(case)
        before = worst.get(found.test)
        if before is None or SEVERITY.index(before.outcome) < SEVERITY.index(found.outcome):
            worst[found.test] = found
    return tuple(worst.values())


def _outcome(case: Element) -> TestOutcome:
    # Tests that a suite runs out of the site folder are named by the way there.
    folder = case.get("classname", "").removeprefix("...site.")
    name = case.get("name", "")
    test = f"{folder}.{name}" if folder else name
    for outcome in reversed(SEVERITY):
        # pytest writes `failure`, others `failed`.
        child = case.find("failure" if outcome == "failed" else outcome)
        if child is not None:
            return TestOutcome(test, outcome, child.get("message") or (child.text or "").strip())
    return TestOutcome(test, "passed")
