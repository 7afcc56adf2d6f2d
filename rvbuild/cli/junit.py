"""Test reports as a JUnit file, for the pages that CI services draw of one."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING
from xml.etree.ElementTree import Element, ElementTree, SubElement, indent

from rvbuild.cli.report import plain
from rvbuild.errors import UsageError

if TYPE_CHECKING:
    from rvbuild.testing import CpuResult, TestReport


def write_junit(reports: Sequence["TestReport"], path: Path) -> None:
    """Write a suite for each wheel, with a case for each check on each CPU.

    Suites on demand add a case for each of their tests. Raises `UsageError`.
    """
    root = Element("testsuites")
    for report in reports:
        suite = SubElement(root, "testsuite", name=report.wheel)
        for result in report.results:
            _add(suite, report, result)
            _add_tests(suite, report, result)
        wrong, skipped = (sum(1 for _ in suite.iter(tag)) for tag in ("failure", "skipped"))
        suite.attrib |= {"tests": str(len(suite)), "failures": str(wrong), "skipped": str(skipped)}
    indent(root)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        ElementTree(root).write(path, encoding="utf-8", xml_declaration=True)
    except OSError as error:
        raise UsageError(f"`{path}` cannot be written", causes=[str(error.strerror)]) from error


def _case(suite: Element, report: "TestReport", place: str, name: str, seconds: float) -> Element:
    classname = f"{report.wheel}.{place}"
    case = {"classname": classname, "name": plain(name), "time": f"{seconds:.3f}"}
    return SubElement(suite, "testcase", case)


def _add(suite: Element, report: "TestReport", result: "CpuResult") -> None:
    case = _case(suite, report, result.cpu, result.check, result.seconds)
    explanation = plain(result.explanation)
    if result.status == "skipped":
        SubElement(case, "skipped", message=explanation)
    elif not result.ok:
        failure = SubElement(case, "failure", type=result.status, message=explanation)
        unknown = [each for each in result.failures if each.known is None]
        failure.text = "\n".join(f"{each.test}: {plain(each.message)}" for each in unknown)


def _add_tests(suite: Element, report: "TestReport", result: "CpuResult") -> None:
    from rvbuild.testing.junit import plain_name
    from rvbuild.testing.record import read_record

    if result.outcomes is None:
        return
    known = {each.test: each.known for each in result.failures}
    for told in read_record(result.outcomes):
        name = plain_name(told.test)
        case = _case(suite, report, f"{result.cpu}.{result.check}", name, told.seconds)
        reason = known.get(name)
        if told.outcome == "skipped" or reason:
            SubElement(case, "skipped", message=plain(reason or told.message))
        elif told.outcome in ("failed", "error"):
            SubElement(case, "failure", type=told.outcome, message=plain(told.message))
