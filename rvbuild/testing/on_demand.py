"""Suites on demand: listed once, cut into parts that run by themselves, and judged as a whole.

What a test came to is kept beside the wheel's other results, so that no later run does it again.
"""

import time
from dataclasses import dataclass
from pathlib import Path

from rvbuild.errors import CheckError
from rvbuild.events import step
from rvbuild.recipe.model import Suite, Test
from rvbuild.target import Cpu
from rvbuild.testing.install import install_wheels, installed_before, not_installed
from rvbuild.testing.judged import judge_kept
from rvbuild.testing.kept import Kept, chosen, cut, kept_of
from rvbuild.testing.model import Bench, CpuResult, Portion, TestReport, report_of
from rvbuild.testing.part import Desk, Part, list_tests, run_part
from rvbuild.testing.record import ended, read_record, write_record
from rvbuild.testing.remembered import suite_subject
from rvbuild.testing.together import side_by_side

FOLDER = "suites"
# Lies among the installed modules, and so is gone when something else is installed there.
MARK = "rvbuild-installed-for"


@dataclass(frozen=True, slots=True)
class Order:
    """A suite, what is wanted of it, and what is kept of it on each CPU.

    `subject` names wheel, suite and runtime.
    """

    subject: str
    suite: Suite
    portion: Portion
    places: tuple[Kept, ...]
    bench: Bench

    def desk(self, kept: Kept) -> Desk:
        """Give what parts on a CPU share."""
        return Desk(self.suite, self.bench, kept.cpu, installed_before(self.bench).paths)


def check_suite(wheel: Path, tests: Test, processors: tuple[Cpu, ...], bench: Bench) -> TestReport:
    """Run what is wanted of a wheel's suite on CPUs, as far as no earlier run has done it.

    Raises `CheckError` when there is no suite.
    """
    if tests.suite is None or bench.portion is None:
        raise CheckError(f"there is no suite of tests for `{wheel.name}`")
    subject = suite_subject(wheel, tests.suite, tests.requires, bench)
    folder = bench.workspace / FOLDER / subject[:16]
    places = tuple(kept_of(folder, cpu) for cpu in processors)
    if not bench.resume:
        for kept in places:
            kept.forget(bench.portion)
    order = Order(subject, tests.suite, bench.portion, places, bench)
    if _anything_left(order) and (problem := _install(wheel, tests, order)):
        return report_of(wheel, bench, (problem,))
    listed = tuple(side_by_side(lambda kept: _list(kept, order), places, bench.jobs, bench.stop))
    units = [(kept, part) for kept in places for part in parts_of(kept, order)]
    for _ in side_by_side(
        lambda unit: _finish(unit[1], order.desk(unit[0])), units, bench.jobs, bench.stop
    ):
        pass
    results = tuple(
        wrong or judge_kept(kept, tests, bench.portion, order.desk(kept))
        for kept, wrong in zip(places, listed, strict=True)
    )
    for result in results:
        bench.watch.note(bench.job, f"{result.cpu}: {result.explanation}")
    return report_of(wheel, bench, results)


def parts_of(kept: Kept, order: Order) -> tuple[Part, ...]:
    """Cut what is wanted and has not been run into parts, of the size that the recipe means."""
    every, done = kept.tests(), kept.ended()
    wanted = chosen(every, order.portion)
    left = tuple(test for test in wanted if test not in done)
    count = max(1, -(-order.suite.shards * len(wanted) // max(1, len(every))))
    return tuple(
        Part(f"part {number} of {count}", kept.home(f"{number}-of-{count}"), tests)
        for number, tests in enumerate(cut(left, count), 1)
        if tests
    )


def _anything_left(order: Order) -> bool:
    listed = all(kept.list.exists() for kept in order.places)
    if listed and not any(parts_of(kept, order) for kept in order.places):
        order.bench.watch.note(order.bench.job, "was all run before: `--again` runs it anew")
        return False
    return True


def _install(wheel: Path, tests: Test, order: Order) -> CpuResult | None:
    bench, begin = order.bench, time.monotonic()
    bench.workspace.mkdir(parents=True, exist_ok=True)
    requires = (*tests.requires, *order.suite.requires)
    for path in installed_before(bench).paths:
        if (path / MARK).is_file() and (path / MARK).read_text("utf-8") == order.subject:
            return None
    try:
        with step(bench.watch, bench.job, "install for tests"):
            installed = install_wheels((wheel, *bench.wheels), requires, bench)
            (installed.paths[0] / MARK).write_text(order.subject, encoding="utf-8")
    except CheckError as error:
        return not_installed(error, time.monotonic() - begin)
    return None


def _list(kept: Kept, order: Order) -> CpuResult | None:
    """List the tests of a suite on a CPU; give what went wrong."""
    if kept.list.exists():
        return None
    bench = order.bench
    try:
        with step(bench.watch, bench.job, f"list tests on {kept.cpu.name}") as detail:
            write_record(kept.list, list_tests(order.desk(kept), kept.folder / "list"))
            detail.text = f"{len(kept.tests())} tests"
    except CheckError as error:
        return CpuResult(
            cpu=kept.cpu.name,
            check="suite",
            status="failed",
            seconds=0.0,
            explanation=error.message,
            log=error.log,
            reproduce=error.reproduce or "",
        )
    return None


def _finish(part: Part, desk: Desk) -> None:
    bench = desk.bench
    with step(bench.watch, bench.job, f"{part.name} on {desk.cpu.name}") as detail:
        run_part(part, desk)
        done = ended(read_record(part.record))
        wrong = sum(done[test].outcome in ("failed", "error") for test in part.tests)
        detail.text = f"{len(part.tests)} tests, {wrong} failed"
