"""The programs of a library's tests: each run of each on a CPU, and what is to be said of it."""

import hashlib
import json
import shutil
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from threading import Event

from rvbuild.emulator import Emulator
from rvbuild.events import Watcher, step
from rvbuild.executor import Command, Completed, Executor
from rvbuild.recipe.model import KnownFailure, Program, Test
from rvbuild.recipe.placeholder import fill
from rvbuild.sysroot import Sysroot
from rvbuild.target import Cpu, cpus, profiles
from rvbuild.testing.junit import TestOutcome, plain_name, read_junit
from rvbuild.testing.known import matches, sift
from rvbuild.testing.model import SCHEMA, CpuResult, TestReport
from rvbuild.testing.program import reproduction
from rvbuild.testing.remembered import FOLDER, Memory
from rvbuild.testing.together import side_by_side
from rvbuild.testing.verdict import Verdict, judge

RESULTS = "{results}"


@dataclass(frozen=True, slots=True)
class Stand:
    """Where and with what a library's programs are run; `workspace` is a folder that is ours.

    `tests` holds the programs, `prefix` the library and all below it, `digest` names both by
    content. The C library is the sysroot's: the oldest one that the library claims to work with.
    With `resume` runs that passed before are not run again.
    """

    label: str
    digest: str
    tests: Path
    prefixes: tuple[Path, ...]
    sysroot: Sysroot
    emulator: Emulator
    executor: Executor
    workspace: Path
    watch: Watcher
    job: str
    jobs: int = 1
    resume: bool = True
    stop: Event | None = None


@dataclass(frozen=True, slots=True)
class ProgramRun:
    """One run of a program on a CPU; shards count from 0."""

    program: Program
    shard: int
    cpu: Cpu
    folder: Path
    limit_seconds: int

    @property
    def name(self) -> str:
        """The check's name, such as `gemm` or `gemm 2/4`."""
        name, shards = self.program.name, self.program.shards
        return name if shards == 1 else f"{name} {self.shard + 1}/{shards}"

    @property
    def results(self) -> Path:
        """The JUnit file that the program writes, if it is told to."""
        return self.folder / "results.xml"

    @property
    def log(self) -> Path:
        """What the program says."""
        return self.folder / "output.log"

    @property
    def has_results(self) -> bool:
        """True for a program that is told where to write the results of single tests."""
        told = (*self.program.command, *self.program.environment.values())
        return any(RESULTS in text for text in told)


def check_library(tests: Test, processors: tuple[Cpu, ...], stand: Stand) -> TestReport:
    """Run the programs of a library's tests on each CPU; what goes wrong is in the report.

    Raises `MissingToolError` when QEMU cannot be run at all.
    """
    runs = tuple(_runs(tests, processors, stand))
    memory = _memory(tests, stand)
    results = tuple(
        side_by_side(
            lambda run: _remembered(run, tests.known_failures, memory[run.program.name], stand),
            runs,
            stand.jobs,
            stand.stop,
        )
    )
    for run, result in zip(runs, results, strict=True):
        if not result.ok:
            # A run that came to its end has told it; the next one is to look again.
            _shard(memory[run.program.name], run).forget(run.cpu)
    return TestReport(
        wheel=stand.label,
        sha256=stand.digest,
        python="",
        emulator=f"qemu-{stand.emulator.version}",
        results=results,
    )


def _runs(tests: Test, processors: tuple[Cpu, ...], stand: Stand) -> Iterator[ProgramRun]:
    for cpu in processors:
        for program in tests.programs.run if tests.programs else ():
            if not _is_meant(program, cpu):
                continue
            for shard in range(program.shards):
                folder = stand.workspace / cpu.name / f"{program.name}-{shard}"
                limit = program.timeout_seconds or tests.timeout_seconds
                yield ProgramRun(program, shard, cpu, folder, limit)


def _is_meant(program: Program, cpu: Cpu) -> bool:
    if not program.cpus or cpu.name in program.cpus:
        return True
    # A recipe cannot name every chip: one runs what is for its length of vector registers.
    return cpu.name not in profiles() and cpu.vlen in {cpus()[name].vlen for name in program.cpus}


def _memory(tests: Test, stand: Stand) -> dict[str, Memory]:
    known = [entry.model_dump(mode="json") for entry in tests.known_failures]
    emulator = (stand.emulator.version, stand.emulator.digest)
    found = {}
    for program in tests.programs.run if tests.programs else ():
        limit = tests.timeout_seconds
        inputs = (SCHEMA, stand.digest, program.model_dump(mode="json"), limit, known, *emulator)
        subject = hashlib.sha256(json.dumps(inputs, sort_keys=True).encode()).hexdigest()
        found[program.name] = Memory(stand.workspace / FOLDER, subject)
    return found


def _shard(memory: Memory, run: ProgramRun) -> Memory:
    return replace(memory, subject=f"{memory.subject} {run.shard}")


def _remembered(
    run: ProgramRun, known: tuple[KnownFailure, ...], memory: Memory, stand: Stand
) -> CpuResult:
    own = _shard(memory, run)
    before = own.recall(run.cpu) if stand.resume else ()
    if before:
        return before[0]
    with step(stand.watch, stand.job, f"{run.name} on {run.cpu.name}") as detail:
        result = _refined(_run(run, stand), run, known)
        detail.text = result.status
    own.keep(run.cpu, (result,))
    return result


def _run(run: ProgramRun, stand: Stand) -> CpuResult:
    shutil.rmtree(run.folder, ignore_errors=True)
    (run.folder / "run").mkdir(parents=True)
    command = _command(run, stand)
    begin = time.monotonic()
    completed = stand.executor.run(command, run.log, lambda line: stand.watch.line(stand.job, line))
    verdict = _verdict(run, completed)
    return CpuResult(
        cpu=run.cpu.name,
        check=run.name,
        status=verdict.status,
        seconds=time.monotonic() - begin,
        explanation=verdict.explanation,
        log=run.log,
        reproduce=reproduction(command),
    )


def _command(run: ProgramRun, stand: Stand) -> Command:
    program = run.program
    values = {
        "tests": str(stand.tests),
        "results": str(run.results),
        "shard": str(run.shard),
        "shards": str(program.shards),
    }
    first, *arguments = (fill(word, values) for word in program.command)
    libraries = [stand.tests / "lib", *(each / "lib" for each in stand.prefixes)]
    path = ":".join(map(str, (*libraries, *stand.sysroot.libraries)))
    words = (
        *stand.emulator.words(run.cpu, stand.sysroot.root),
        # Of the emulated program alone: a shell before it has libraries of its own.
        *("-E", f"LD_LIBRARY_PATH={path}"),
        *(str(stand.tests / first), *arguments),
    )
    if program.input is not None:
        words = ("/bin/sh", "-c", 'exec "$@" <"$0"', str(stand.tests / program.input), *words)
    told = {name: fill(text, values) for name, text in program.environment.items()}
    environment = {
        "HOME": str(run.folder),
        "LC_ALL": "C.UTF-8",
        "PATH": "/usr/local/bin:/usr/bin:/bin",
        "TMPDIR": str(run.folder),
    }
    return Command(words, run.folder / "run", environment | told, run.limit_seconds, network=False)


def _verdict(run: ProgramRun, completed: Completed) -> Verdict:
    """Judge an end by the exit code that is expected, then by what was said."""
    program = run.program
    verdict = judge(completed, run.cpu, run.limit_seconds)
    if program.exit_code and not completed.timed_out and completed.signal is None:
        if completed.exit_code == program.exit_code:
            verdict = Verdict("passed")
        elif verdict.status == "passed":
            verdict = Verdict("failed", f"exit code 0, where {program.exit_code} was expected")
    if verdict.status != "passed":
        return verdict
    said = run.log.read_text("utf-8", "replace") if run.log.is_file() else ""
    return Verdict("failed", fault) if (fault := _fault(program, said)) else verdict


def _fault(program: Program, said: str) -> str:
    for text in program.never_says:
        wrong = next((line for line in said.splitlines() if text in line), None)
        if wrong is not None:
            return f"it said `{wrong.strip()}`"
    missing = next((text for text in program.says if text not in said), None)
    return "" if missing is None else f"it never said `{missing}`"


def _refined(result: CpuResult, run: ProgramRun, known: tuple[KnownFailure, ...]) -> CpuResult:
    """Excuse what is known; where the program tells of single tests, these are what counts."""
    if not run.has_results or result.status in ("timeout", "crashed"):
        return _excused(result, run, known)
    try:
        outcomes = read_junit(run.results)
    except ValueError as error:
        return _excused(replace(result, status="failed", explanation=str(error)), run, known)
    if not outcomes and not run.shard:
        return replace(result, status="failed", explanation="no test ran")
    named = tuple(replace(each, test=plain_name(each.test)) for each in outcomes)
    return _with_tests(result, named, known)


def _excused(result: CpuResult, run: ProgramRun, known: tuple[KnownFailure, ...]) -> CpuResult:
    outcome = TestOutcome(run.program.name, "passed" if result.ok else "failed")
    entries = [entry for entry in known if matches(entry.test, run.program.name)]
    sifted = sift([outcome], entries, run.cpu.name, datetime.now(tz=UTC).date())
    if not sifted.failures or sifted.unknown:
        return replace(result, flags=sifted.flags)
    explanation = f"known failure: {sifted.failures[0].known}; {result.explanation}"
    return replace(result, status="passed", explanation=explanation, flags=sifted.flags)


def _with_tests(
    result: CpuResult, outcomes: tuple[TestOutcome, ...], known: tuple[KnownFailure, ...]
) -> CpuResult:
    # Other shards have the tests that an entry may mean beside these.
    entries = [entry for entry in known if any(matches(entry.test, each.test) for each in outcomes)]
    sifted = sift(outcomes, entries, result.cpu, datetime.now(tz=UTC).date())
    result = replace(result, failures=sifted.failures, flags=sifted.flags)
    if sifted.unknown:
        first = sifted.unknown[0]
        message = f"{len(sifted.unknown)} of {len(outcomes)} tests failed, first `{first.test}`"
        return replace(result, status="failed", explanation=message)
    if result.ok or sifted.failures:
        excused = f", {len(sifted.failures)} known failures" if sifted.failures else ""
        return replace(result, status="passed", explanation=f"{len(outcomes)} tests{excused}")
    return replace(result, explanation=f"no test failed, and the program did; {result.explanation}")
