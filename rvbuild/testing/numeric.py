"""Numeric checks of a recipe: what one run of `rvbuild_numeric` is to do, and what it found.

The operations and their references are that program's; here are its plan and its results alone.
"""

import hashlib
import json
import shlex
import shutil
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from importlib import resources
from pathlib import Path

from pydantic import TypeAdapter, ValidationError

from rvbuild.recipe.model import Numeric
from rvbuild.target import Cpu, cpus
from rvbuild.testing.model import CpuResult, Failure
from rvbuild.testing.program import Program

PROGRAM = "rvbuild_numeric"
CHECK = "numeric"


@dataclass(frozen=True, slots=True)
class NumericRun:
    """Checks that share their environment, so that one start of Python does for all."""

    number: int
    environment: tuple[tuple[str, str], ...]
    checks: tuple[Numeric, ...]
    folder: Path

    @property
    def names(self) -> tuple[str, ...]:
        """The checks' names, such as `numeric products [OPENBLAS_NUM_THREADS=2]`."""
        settings = " ".join(f"{name}={value}" for name, value in self.environment)
        suffix = f" [{settings}]" if settings else ""
        return tuple(f"{CHECK} {check.family}{suffix}" for check in self.checks)

    @property
    def label(self) -> str:
        """A name for files."""
        return f"{CHECK}-{self.number}"

    @property
    def plan(self) -> Path:
        """What the program is to do."""
        return self.folder / f"plan-{self.number}.json"

    @property
    def results(self) -> Path:
        """What the program found, written anew after each check."""
        return self.folder / f"results-{self.number}.json"

    @property
    def running(self) -> Path:
        """The case that the program is at."""
        return Path(f"{self.results}.running")


@dataclass(frozen=True, slots=True)
class Case:
    """What came of an operation on a dtype at a size; `note` is the first wrong element."""

    operation: str
    dtype: str
    size: int
    compared: int = 0
    wrong: int = 0
    among: int = 0
    worst: str = "0"
    bound: str = "0"
    variant: str = ""
    note: str = ""

    @property
    def ok(self) -> bool:
        """True when every element was right and nothing was raised."""
        return not self.wrong and not self.note


@dataclass(frozen=True, slots=True)
class Finding:
    """What came of one check; `smallest` is the smallest wrong case that was found."""

    seconds: float
    cases: tuple[Case, ...]
    smallest: Case | None = None


@dataclass(frozen=True, slots=True)
class Findings:
    """The program's results so far."""

    core: str = ""
    entries: tuple[Finding, ...] = ()


def numeric_runs(
    checks: Iterable[Numeric], cpu: Cpu, home: Path, *, board: bool = False
) -> tuple[NumericRun, ...]:
    """Group the checks of a CPU by environment; a board takes those for CPUs of its VLEN."""
    groups: dict[tuple[tuple[str, str], ...], list[Numeric]] = {}
    for check in checks:
        if _is_meant(check, cpu, board=board):
            for environment in check.environments:
                groups.setdefault(tuple(sorted(environment.items())), []).append(check)
    folder = home / CHECK
    return tuple(
        NumericRun(number, environment, tuple(group), folder)
        for number, (environment, group) in enumerate(groups.items(), 1)
    )


def _is_meant(check: Numeric, cpu: Cpu, *, board: bool) -> bool:
    if board and check.cpus:
        return cpu.vlen in {cpus()[name].vlen for name in check.cpus}
    return not check.cpus or cpu.name in check.cpus


def lay_out_numeric(run: NumericRun) -> None:
    """Write a run's plan and the program, and clear away what an earlier run left."""
    run.folder.mkdir(parents=True, exist_ok=True)
    for stale in (run.results, run.running):
        stale.unlink(missing_ok=True)
    with resources.as_file(_program_folder()) as program:
        left_out = shutil.ignore_patterns("__pycache__")
        shutil.copytree(program, run.folder / PROGRAM, dirs_exist_ok=True, ignore=left_out)
    plan = [
        check.model_dump(mode="json", include={"family", "dtypes", "sizes", "tolerance"})
        for check in run.checks
    ]
    run.plan.write_text(json.dumps(plan), encoding="utf-8")


def _program_folder() -> resources.abc.Traversable:
    return resources.files("rvbuild").joinpath("data/testing", PROGRAM)


def program_digest() -> str:
    """Hash the program, since what passed one version of it may not pass the next."""
    files = sorted(_program_folder().iterdir(), key=lambda file: file.name)
    texts = [file.read_text(encoding="utf-8") for file in files if file.name.endswith(".py")]
    return hashlib.sha256("\0".join(texts).encode()).hexdigest()


def numeric_program(run: NumericRun, home: Path, paths: tuple[Path, ...], seconds: int) -> Program:
    """Make the program of a run."""
    return Program(
        arguments=("-m", PROGRAM, str(run.plan), str(run.results)),
        paths=(*paths, run.folder),
        home=home,
        cwd=home,
        timeout_seconds=seconds,
        extra_environment=run.environment,
    )


def judge_numeric(result: CpuResult, run: NumericRun) -> tuple[CpuResult, ...]:
    """Turn the plain result of a run into one result for each of its checks."""
    findings = _read(run)
    found = [_judged(result, run, number, findings) for number in range(len(findings.entries))]
    if len(found) < len(run.checks):
        found.append(_broken(replace(result, check=run.names[len(found)]), run))
        found += _unreached(result, run.names[len(found) :], found[-1].check)
    elif result.status != "passed" and all(each.ok for each in found):
        found[-1] = _broken(replace(result, check=found[-1].check), run)
    return tuple(found)


def _read(run: NumericRun) -> Findings:
    try:
        return TypeAdapter(Findings).validate_json(run.results.read_bytes())
    except (OSError, ValidationError):
        # The program did not come as far as writing them, which its end explains.
        return Findings()


def _judged(result: CpuResult, run: NumericRun, number: int, findings: Findings) -> CpuResult:
    finding, family = findings.entries[number], run.checks[number].family
    result = replace(result, check=run.names[number], seconds=finding.seconds)
    wrong = sorted((case for case in finding.cases if not case.ok), key=lambda case: case.size)
    if not wrong:
        elements = sum(case.compared for case in finding.cases)
        summary = _summary(len(finding.cases), elements, findings.core)
        return replace(result, status="passed" if elements else "failed", explanation=summary)
    smallest = finding.smallest or wrong[0]
    return replace(
        result,
        status="failed",
        explanation=_explain(wrong, smallest, len(finding.cases)),
        failures=tuple(_failures(family, wrong)),
        reproduce=_repeat(result.reproduce, run, f"{family}:{_place(smallest)}"),
    )


def _summary(cases: int, elements: int, core: str) -> str:
    if not elements:
        return "nothing was compared: no operation takes these dtypes and sizes"
    kernels = f", OpenBLAS core `{core}`" if core else ""
    return f"{cases} cases, {elements} elements{kernels}"


def _place(case: Case) -> str:
    return f"{case.operation}:{case.dtype}:{case.size}"


def _repeat(reproduce: str, run: NumericRun, case: str) -> str:
    # A board's command does not end with the program's words.
    if case and reproduce.endswith(shlex.quote(str(run.results))):
        return f"{reproduce} --case {shlex.quote(case)}"
    return reproduce


def _explain(wrong: list[Case], smallest: Case, total: int) -> str:
    first = wrong[0]
    parts = [
        f"{first.operation} {first.dtype} n={first.size}: {_fault(first)}",
        f"smallest failing size {smallest.size}",
    ]
    others = f"; {len(wrong)} of {total} cases wrong" if len(wrong) > 1 else ""
    return ", ".join(parts) + others


def _fault(case: Case) -> str:
    if not case.wrong:
        return case.note
    bound = f" (allowed {case.bound})" if case.bound != "0" else ""
    return f"{case.wrong} of {case.among} elements wrong, worst error {case.worst}{bound}"


def _failures(family: str, wrong: Iterable[Case]) -> Iterator[Failure]:
    """Name the smallest wrong case of each operation and dtype."""
    seen = set()
    for case in wrong:
        if (case.operation, case.dtype) not in seen:
            seen.add((case.operation, case.dtype))
            where = f"{case.variant}: " if case.variant else ""
            detail = f", {case.note}" if case.wrong else ""
            yield Failure(f"{family}:{_place(case)}", f"{where}{_fault(case)}{detail}")


def _broken(result: CpuResult, run: NumericRun) -> CpuResult:
    """Say where the program ended before its time."""
    case = run.running.read_text(encoding="utf-8").strip() if run.running.exists() else ""
    return replace(
        result,
        status="failed" if result.status == "passed" else result.status,
        explanation=(result.explanation or "the program ended early")
        + (f", in `{case}`" if case else ""),
        reproduce=_repeat(result.reproduce, run, case),
    )


def _unreached(result: CpuResult, names: Iterable[str], broken: str) -> Iterator[CpuResult]:
    for name in names:
        yield CpuResult(result.cpu, name, "skipped", 0.0, f"`{broken}` went wrong before")
