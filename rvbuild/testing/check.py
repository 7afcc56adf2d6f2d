"""Checking a wheel: installed once, then imports, smoke program and suite on each CPU."""

import hashlib
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path

from rvbuild.errors import CheckError
from rvbuild.events import step
from rvbuild.recipe import model as recipe
from rvbuild.target import BASELINE_ISA, Cpu
from rvbuild.testing.install import Installed, install_wheels
from rvbuild.testing.model import Bench, CpuResult, TestReport
from rvbuild.testing.program import Program, command_for, reproduction
from rvbuild.testing.suite import SuiteFolder, is_pytest, judge_suite, lay_out, suite_program
from rvbuild.testing.verdict import judge


@dataclass(frozen=True, slots=True)
class Subject:
    """An installed wheel with its tests; `deadline` is a moment of the monotonic clock."""

    tests: recipe.Test
    installed: Installed
    bench: Bench
    deadline: float | None


@dataclass(frozen=True, slots=True)
class Check:
    """One program to run, as a named check; `laid` is there for a suite."""

    name: str
    program: Program
    laid: SuiteFolder | None = None


def check_wheel(
    wheel: Path, tests: recipe.Test, processors: tuple[Cpu, ...], bench: Bench
) -> TestReport:
    """Install a wheel in the riscv64 runtime and run its tests on each CPU.

    What goes wrong with the wheel is in the report; `MissingToolError` is raised when QEMU or a
    Python cannot be run at all.
    """
    bench.workspace.mkdir(parents=True, exist_ok=True)
    limit = bench.total_seconds
    deadline = None if limit is None else time.monotonic() + limit
    begin = time.monotonic()
    results: tuple[CpuResult, ...]
    try:
        with step(bench.watch, bench.job, "install for tests"):
            requires = _requires(tests, processors)
            installed = install_wheels((wheel, *bench.wheels), requires, bench)
    except CheckError as error:
        results = (_not_installed(error, time.monotonic() - begin),)
    else:
        done = CpuResult(BASELINE_ISA, "install", "passed", time.monotonic() - begin)
        results = (done, *_on_all(processors, Subject(tests, installed, bench, deadline)))
    return TestReport(
        wheel=wheel.name,
        sha256=hashlib.sha256(wheel.read_bytes()).hexdigest(),
        python=bench.runtime.interpreter.full_version,
        emulator=f"qemu-{bench.runtime.emulator.version}",
        results=results,
    )


def _requires(tests: recipe.Test, processors: tuple[Cpu, ...]) -> tuple[str, ...]:
    suite = tests.suite
    if suite is None or not {cpu.name for cpu in processors} & set(suite.cpus):
        return tests.requires
    return (*tests.requires, *suite.requires)


def _not_installed(error: CheckError, seconds: float) -> CpuResult:
    return CpuResult(
        cpu=BASELINE_ISA,
        check="install",
        status="failed",
        seconds=seconds,
        explanation="; ".join([error.message, *error.causes]),
        log=error.log,
        reproduce=error.reproduce or "",
    )


def _on_all(processors: tuple[Cpu, ...], subject: Subject) -> Iterator[CpuResult]:
    if subject.bench.jobs <= 1:
        # In this thread, where an interrupt reaches the running program at once.
        for cpu in processors:
            yield from _on_one(cpu, subject)
        return
    with ThreadPoolExecutor(subject.bench.jobs) as pool:
        for results in pool.map(lambda cpu: _on_one(cpu, subject), processors):
            yield from results


def _on_one(cpu: Cpu, subject: Subject) -> tuple[CpuResult, ...]:
    folder = subject.bench.workspace / cpu.name
    folder.mkdir(parents=True, exist_ok=True)
    results: list[CpuResult] = []
    with step(subject.bench.watch, subject.bench.job, f"test on {cpu.name}") as detail:
        for check in _checks(cpu, subject, folder):
            if all(result.ok for result in results):
                results.append(_run(check, cpu, subject))
            else:
                reason = f"`{results[0].check}` went wrong before"
                results.append(CpuResult(cpu.name, check.name, "skipped", 0.0, reason))
        detail.text = ", ".join(f"{result.check} {result.status}" for result in results)
    return tuple(results)


def _checks(cpu: Cpu, subject: Subject, folder: Path) -> Iterator[Check]:
    tests, paths = subject.tests, subject.installed.paths
    limit = tests.timeout_seconds
    if tests.imports:
        arguments = ("-c", "import " + ", ".join(tests.imports))
        yield Check("imports", Program(arguments, paths, folder, folder, limit))
    if tests.smoke:
        smoke = folder / "smoke.py"
        smoke.write_text(tests.smoke, encoding="utf-8")
        yield Check("smoke", Program((str(smoke),), paths, folder, folder, limit))
    suite = tests.suite
    if suite is not None and cpu.name in suite.cpus:
        laid = SuiteFolder(folder)
        yield Check("suite", suite_program(suite, laid, paths), laid)


def _run(check: Check, cpu: Cpu, subject: Subject) -> CpuResult:
    limit = check.program.timeout_seconds
    if subject.deadline is not None:
        left = subject.deadline - time.monotonic()
        if left <= 0:
            reason = "not started: the time for all checks together is over"
            return CpuResult(cpu.name, check.name, "timeout", 0.0, reason)
        limit = left if limit is None else min(limit, left)
    try:
        return _run_within(
            replace(check, program=replace(check.program, timeout_seconds=limit)), cpu, subject
        )
    except CheckError as error:
        return CpuResult(cpu.name, check.name, "failed", 0.0, error.message)


def _run_within(check: Check, cpu: Cpu, subject: Subject) -> CpuResult:
    bench = subject.bench
    suite = subject.tests.suite
    if check.laid is not None and suite is not None:
        lay_out(suite, bench.source, check.laid)
    command = command_for(check.program, cpu, bench.runtime)
    log = bench.workspace / cpu.name / f"{check.name}.log"
    log.unlink(missing_ok=True)
    completed = bench.executor.run(command, log, lambda line: bench.watch.line(bench.job, line))
    verdict = judge(completed, cpu, command.timeout_seconds)
    result = CpuResult(
        cpu=cpu.name,
        check=check.name,
        status=verdict.status,
        seconds=completed.seconds,
        explanation=verdict.explanation,
        log=log,
        reproduce=reproduction(command),
    )
    if check.laid is None or suite is None or not is_pytest(suite):
        return result
    return judge_suite(result, completed, check.laid, subject.tests.known_failures)
