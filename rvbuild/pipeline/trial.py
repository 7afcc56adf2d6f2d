"""Trying one wheel: on CPUs, several at once, or on a machine, with what is known to fail."""

from dataclasses import dataclass, replace
from pathlib import Path

from rvbuild.errors import UsageError
from rvbuild.pipeline.model import House, Options
from rvbuild.recipe.model import Test
from rvbuild.target import Cpu
from rvbuild.testing import Bench, Place, TestReport, check_suite, check_wheel
from rvbuild.testing.budget import available_mb, runs_at_once
from rvbuild.testing.known_data import Circumstances, with_known
from rvbuild.testing.meeting import met
from rvbuild.testing.nearby import reached
from rvbuild.testing.suite import is_pytest


@dataclass(frozen=True, slots=True)
class Subject:
    """A wheel with its tests, where it is tried, and what known failures depend on."""

    wheel: Path
    tests: Test
    around: Circumstances
    bench: Bench


def try_on_cpus(
    subject: Subject, processors: tuple[Cpu, ...], options: Options, house: House
) -> TestReport:
    """Run a wheel's tests on emulated CPUs, as many at once as cores and memory allow."""
    tests = with_known(subject.tests, subject.around, house.catalogue.folders)
    bench = replace(
        subject.bench,
        jobs=_jobs(tests, len(processors), options),
        stop=house.executor.stop,
        resume=not options.again,
    )
    check = check_wheel if bench.portion is None else check_suite
    with house.store.lock(f"test {bench.job}"):
        return check(subject.wheel, tests, processors, bench)


def wanted_tests(tests: Test, options: Options, label: str) -> Test:
    """Choose what is wanted: all but suites on demand, or a suite alone on the CPUs asked for.

    Raises `UsageError` where a suite is asked for and there is none that can be run in parts.
    """
    suite = tests.suite
    if options.portion is None:
        usual = options.suites and suite is not None and not suite.on_demand
        return tests if usual else tests.model_copy(update={"suite": None})
    if suite is None or not is_pytest(suite):
        raise UsageError(
            f"`{label}` has no suite that pytest runs",
            hint="declare it as `suite` in the `test` of its recipe",
        )
    alone = {"imports": (), "smoke": "", "numeric": (), "cpus": suite.cpus}
    return tests.model_copy(update=alone)


def _jobs(tests: Test, count: int, options: Options) -> int:
    memory_mb = available_mb() if options.memory_mb is None else options.memory_mb
    if options.portion is None or tests.suite is None:
        return runs_at_once(options.jobs, memory_mb, count)
    parts = count * tests.suite.shards
    return runs_at_once(options.jobs, memory_mb, parts, tests.suite.memory_mb)


def try_on_machine(subject: Subject, place: Place, house: House, *, again: bool) -> TestReport:
    """Run a wheel's tests on a machine; raises `MissingToolError` when there is no way to it."""
    bench = subject.bench
    with (
        house.store.lock(f"test {bench.job}"),
        reached(place, bench.executor, bench.workspace) as reach,
        met(reach, bench.runtime, bench.executor, bench.workspace) as machine,
    ):
        around = replace(subject.around, runner=reach.kind)
        tests = with_known(subject.tests, around, house.catalogue.folders)
        at = replace(bench, machine=machine, resume=not again)
        check = check_wheel if bench.portion is None else check_suite
        return check(subject.wheel, tests, (machine.cpu,), at)
