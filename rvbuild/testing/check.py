"""Checking a wheel: installed once, then imports, smoke program and suite on each CPU."""

import re
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from rvbuild.errors import CheckError
from rvbuild.events import step
from rvbuild.recipe import model as recipe
from rvbuild.target import BASELINE_ISA, Cpu
from rvbuild.testing.install import Installed, install_wheels, not_installed
from rvbuild.testing.model import Bench, CpuResult, Status, TestReport, report_of
from rvbuild.testing.numeric import (
    CHECK,
    NumericRun,
    judge_numeric,
    lay_out_numeric,
    numeric_program,
    numeric_runs,
)
from rvbuild.testing.program import Program
from rvbuild.testing.remembered import Memory, memory_of
from rvbuild.testing.runners import runner_for
from rvbuild.testing.suite import SuiteFolder, is_pytest, judge_suite, lay_out, suite_program
from rvbuild.testing.together import side_by_side
from rvbuild.testing.verdict import judge
from rvbuild.testing.wheel_programs import HELP, VERSION, programs_of

NOTHING = "nothing tested: the wheel has no module to import and no compiled program"


@dataclass(frozen=True, slots=True)
class Subject:
    """An installed wheel with its tests; `deadline` is a moment of the monotonic clock."""

    tests: recipe.Test
    installed: Installed
    bench: Bench
    deadline: float | None
    memory: Memory
    known: Mapping[Cpu, tuple[CpuResult, ...]]
    programs: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Check:
    """One program to run, as a named check; `laid` and `numeric` are there for what they name."""

    name: str
    program: Program
    laid: SuiteFolder | None = None
    numeric: NumericRun | None = None

    @property
    def names(self) -> tuple[str, ...]:
        """The checks that the program makes."""
        return self.numeric.names if self.numeric else (self.name,)

    def stops(self, results: list[CpuResult]) -> CpuResult | None:
        """Give the first result that makes this one useless; numeric ones stop no others."""
        wrong = (result for result in results if not result.ok)
        if self.numeric is None:
            return next(wrong, None)
        return next((result for result in wrong if not result.check.startswith(CHECK)), None)


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
    memory = memory_of(wheel, tests, bench)
    known = {cpu: memory.recall(cpu) for cpu in processors if bench.resume}
    if processors and all(known.get(cpu) for cpu in processors):
        return report_of(wheel, bench, tuple(result for cpu in processors for result in known[cpu]))
    try:
        with step(bench.watch, bench.job, "install for tests"):
            requires = _requires(tests, processors, bench)
            installed = install_wheels((wheel, *bench.wheels), requires, bench)
    except CheckError as error:
        results = (not_installed(error, time.monotonic() - begin),)
    else:
        done = CpuResult(BASELINE_ISA, "install", "passed", time.monotonic() - begin)
        programs = programs_of(wheel)
        subject = Subject(tests, installed, bench, deadline, memory, known, programs)
        results = (done, *_on_all(processors, subject))
        _forget_failures(results, processors, memory)
    return report_of(wheel, bench, results)


def _forget_failures(
    results: tuple[CpuResult, ...], processors: tuple[Cpu, ...], memory: Memory
) -> None:
    # A run that came to its end has told them; the next one is to look again.
    wrong = {result.cpu for result in results if not result.ok}
    for cpu in processors:
        if cpu.name in wrong:
            memory.forget(cpu)


def _requires(tests: recipe.Test, processors: tuple[Cpu, ...], bench: Bench) -> tuple[str, ...]:
    suite = tests.suite
    if suite is None or not any(_has_suite(cpu, suite, bench) for cpu in processors):
        return tests.requires
    return (*tests.requires, *suite.requires)


def _has_suite(cpu: Cpu, suite: recipe.Suite, bench: Bench) -> bool:
    # A recipe cannot know anybody's board, and a board is fast enough for all.
    return bench.machine is not None or cpu.name in suite.cpus


def _on_all(processors: tuple[Cpu, ...], subject: Subject) -> Iterator[CpuResult]:
    bench = subject.bench
    for results in side_by_side(
        lambda cpu: _on_one(cpu, subject), processors, bench.jobs, bench.stop
    ):
        yield from results


def _on_one(cpu: Cpu, subject: Subject) -> tuple[CpuResult, ...]:
    bench = subject.bench
    if known := subject.known.get(cpu):
        bench.watch.note(bench.job, f"{cpu.name} was finished before: `--again` runs it anew")
        return known
    results = _checked(cpu, subject)
    subject.memory.keep(cpu, results)
    return results


def _checked(cpu: Cpu, subject: Subject) -> tuple[CpuResult, ...]:
    folder = _folder(cpu, subject.bench)
    folder.mkdir(parents=True, exist_ok=True)
    results: list[CpuResult] = []
    with step(subject.bench.watch, subject.bench.job, f"test on {cpu.name}") as detail:
        for check in _checks(cpu, subject, folder):
            before = check.stops(results)
            if before is None:
                results += _run(check, cpu, subject)
            else:
                results += _unstarted(check, cpu, "skipped", f"`{before.check}` went wrong before")
        results = results or [CpuResult(cpu.name, "imports", "skipped", 0.0, NOTHING)]
        detail.text = ", ".join(f"{result.check} {result.status}" for result in results)
    return tuple(results)


def _unstarted(check: Check, cpu: Cpu, status: Status, reason: str) -> tuple[CpuResult, ...]:
    return tuple(CpuResult(cpu.name, name, status, 0.0, reason) for name in check.names)


def _folder(cpu: Cpu, bench: Bench) -> Path:
    # A board's name may have signs that end an entry of a search path.
    return bench.workspace / re.sub(r"[^A-Za-z0-9._-]", "-", cpu.name)


def _checks(cpu: Cpu, subject: Subject, folder: Path) -> Iterator[Check]:
    tests, paths = subject.tests, subject.installed.paths
    limit = tests.timeout_seconds
    if tests.imports:
        arguments = ("-c", "import " + ", ".join(tests.imports))
        yield Check("imports", Program(arguments, paths, folder, folder, limit))
    for name in subject.programs:
        program = paths[0] / "bin" / name
        start = Program((VERSION,), paths, folder, folder, limit, executable=program)
        yield Check(f"program-{name}", start)
    if tests.smoke:
        smoke = folder / "smoke.py"
        smoke.write_text(tests.smoke, encoding="utf-8")
        yield Check("smoke", Program((str(smoke),), paths, folder, folder, limit))
    board = subject.bench.machine is not None
    for run in numeric_runs(tests.numeric, cpu, folder, board=board):
        yield Check(run.label, numeric_program(run, folder, paths, limit), numeric=run)
    suite = tests.suite
    if suite is not None and _has_suite(cpu, suite, subject.bench):
        laid = SuiteFolder(folder)
        yield Check("suite", suite_program(suite, laid, paths), laid)


def _run(check: Check, cpu: Cpu, subject: Subject) -> tuple[CpuResult, ...]:
    limit = check.program.timeout_seconds
    if subject.deadline is not None:
        left = subject.deadline - time.monotonic()
        if left <= 0:
            reason = "not started: the time for all checks together is over"
            return _unstarted(check, cpu, "timeout", reason)
        limit = left if limit is None else min(limit, left)
    try:
        return _run_within(
            replace(check, program=replace(check.program, timeout_seconds=limit)), cpu, subject
        )
    except CheckError as error:
        return _unstarted(check, cpu, "failed", error.message)


def _run_within(check: Check, cpu: Cpu, subject: Subject) -> tuple[CpuResult, ...]:
    bench = subject.bench
    suite = subject.tests.suite
    if check.laid is not None and suite is not None:
        lay_out(suite, bench.source, check.laid)
    if check.numeric is not None:
        lay_out_numeric(check.numeric)
    log = _folder(cpu, bench) / f"{check.name}.log"
    log.unlink(missing_ok=True)
    ran = runner_for(bench).run(
        check.program, cpu, log, lambda line: bench.watch.line(bench.job, line)
    )
    completed = ran.completed
    verdict = judge(completed, cpu, ran.limit_seconds)
    if verdict.status == "failed" and check.program.arguments == (VERSION,):
        # Not every program has a version to tell.
        told = replace(check, program=replace(check.program, arguments=(HELP,)))
        return _run_within(told, cpu, subject)
    result = CpuResult(
        cpu=cpu.name,
        check=check.name,
        status=verdict.status,
        seconds=completed.seconds,
        explanation=verdict.explanation,
        log=log,
        reproduce=ran.reproduce,
    )
    if check.numeric is not None:
        return judge_numeric(result, check.numeric)
    if check.laid is None or suite is None or not is_pytest(suite):
        return (result,)
    return (judge_suite(result, completed, check.laid, subject.tests.known_failures),)
