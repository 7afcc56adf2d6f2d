"""Failures out of reports, one by one, and on which CPUs each test ran at all."""

from collections.abc import Iterator, Sequence

from rvbuild.target import cpus
from rvbuild.testing import CpuResult, TestReport
from rvbuild.testing.html import log_tail
from rvbuild.triage.model import Occurrence

BOARD_VLEN = "VLEN "


def occurrences(reports: Sequence[TestReport]) -> Iterator[Occurrence]:
    """Give every failure that is not known; of a suite or a numeric check, each test by itself."""
    for report in reports:
        for result in report.results:
            if not result.ok:
                yield from _of_result(report, result)


def known_count(reports: Sequence[TestReport]) -> int:
    """Count the failures that were known."""
    results = (result for report in reports for result in report.results)
    return sum(each.known is not None for result in results for each in result.failures)


def ran_on(reports: Sequence[TestReport], wheel: str, check: str) -> tuple[str, ...]:
    """List the CPUs that a check of a wheel came to a judgement on."""
    return tuple(
        dict.fromkeys(
            result.cpu
            for report in reports
            if project_of(report.wheel) == wheel
            for result in report.results
            if result.check == check and result.status != "skipped"
        )
    )


def project_of(wheel: str) -> str:
    """Name project and version of a wheel file, which files of other machines share."""
    return "-".join(wheel.split("-")[:2])


def vlen_of(cpu: str, runner: str) -> int | None:
    """Give the vector length of a CPU of the catalogue, or what a board said of itself."""
    if cpu in cpus():
        return cpus()[cpu].vlen
    if BOARD_VLEN in runner:
        digits = runner.partition(BOARD_VLEN)[2].partition(",")[0]
        return int(digits) if digits.isdigit() else None
    return 0 if "no vector unit" in runner else None


def _of_result(report: TestReport, result: CpuResult) -> Iterator[Occurrence]:
    tail = "\n".join(log_tail(result.log)) if result.log else ""
    unknown = [failure for failure in result.failures if failure.known is None]
    if not unknown:
        said = (result.check, result.explanation)
        yield _occurrence(report, result, said, f"{result.status}\n{tail}")
    for failure in unknown:
        said = (f"{result.check}: {failure.test}", failure.message or result.explanation)
        # The log is of all tests together: only what is said of this one tells its kind.
        yield _occurrence(report, result, said, f"{failure.test}\n{failure.message}")


def _occurrence(
    report: TestReport, result: CpuResult, said: tuple[str, str], text: str
) -> Occurrence:
    return Occurrence(
        wheel=report.wheel,
        runner=report.emulator,
        cpu=result.cpu,
        vlen=vlen_of(result.cpu, report.emulator),
        test=said[0],
        message=said[1],
        text=text,
        reproduce=result.reproduce,
        log=result.log,
    )
