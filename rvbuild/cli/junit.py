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
    """Write a suite for each wheel, with a case for each check on each CPU; raises `UsageError`."""
    root = Element("testsuites")
    for report in reports:
        suite = SubElement(root, "testsuite", name=report.wheel, tests=str(len(report.results)))
        wrong = sum(not result.ok for result in report.results)
        skipped = sum(result.status == "skipped" for result in report.results)
        suite.attrib |= {"failures": str(wrong), "skipped": str(skipped)}
        for result in report.results:
            _add(suite, report, result)
    indent(root)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        ElementTree(root).write(path, encoding="utf-8", xml_declaration=True)
    except OSError as error:
        raise UsageError(f"`{path}` cannot be written", causes=[str(error.strerror)]) from error


def _add(suite: Element, report: "TestReport", result: "CpuResult") -> None:
    case = SubElement(
        suite,
        "testcase",
        classname=f"{report.wheel}.{result.cpu}",
        name=result.check,
        time=f"{result.seconds:.3f}",
    )
    explanation = plain(result.explanation)
    if result.status == "skipped":
        SubElement(case, "skipped", message=explanation)
    elif not result.ok:
        failure = SubElement(case, "failure", type=result.status, message=explanation)
        unknown = [each for each in result.failures if each.known is None]
        failure.text = "\n".join(f"{each.test}: {plain(each.message)}" for each in unknown)
