"""A project's own tests in the riscv64 runtime: what they need beside them, and what they found."""

import shutil
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

from rvbuild.errors import CheckError
from rvbuild.executor import Completed
from rvbuild.recipe.model import KnownFailure, Suite
from rvbuild.testing import running
from rvbuild.testing.junit import TestOutcome, read_junit
from rvbuild.testing.known import Sifted, sift
from rvbuild.testing.model import CpuResult
from rvbuild.testing.program import Program

PYTEST = ("-m", "pytest")
PLUGIN = "rvbuild_running"
# pytest's exit codes that come with complete results: all passed, and some failed.
COMPLETE = (0, 1)


@dataclass(frozen=True, slots=True)
class SuiteFolder:
    """One CPU's folder for a suite: `files` is where it runs, the rest is written by it."""

    folder: Path

    @property
    def files(self) -> Path:
        """The copies of the source tree's files."""
        return self.folder / "suite"

    @property
    def junit(self) -> Path:
        """The results that pytest writes."""
        return self.folder / "junit.xml"

    @property
    def running(self) -> Path:
        """The id of the test that runs now."""
        return self.folder / "running.txt"

    @property
    def plugins(self) -> Path:
        """The folder of our pytest plugin."""
        return self.folder / "plugins"


def lay_out(suite: Suite, source: Path | None, laid: SuiteFolder) -> None:
    """Copy what a suite needs of the source tree; raise `CheckError` for what is not there."""
    for stale in (laid.junit, laid.running):
        stale.unlink(missing_ok=True)
    shutil.rmtree(laid.files, ignore_errors=True)
    laid.files.mkdir(parents=True)
    laid.plugins.mkdir(exist_ok=True)
    shutil.copyfile(running.__file__, laid.plugins / f"{PLUGIN}.py")
    for name in suite.files:
        if source is None or not (source / name).exists():
            raise CheckError(f"the test suite needs `{name}`, which the source tree does not have")
        _copy(source / name, laid.files / name)


def _copy(path: Path, to: Path) -> None:
    to.parent.mkdir(parents=True, exist_ok=True)
    if path.is_dir():
        shutil.copytree(path, to, symlinks=True, dirs_exist_ok=True)
    else:
        shutil.copy2(path, to)


def suite_program(suite: Suite, laid: SuiteFolder, paths: tuple[Path, ...]) -> Program:
    """Make the program that runs a suite; pytest is told to write its results."""
    arguments = suite.command
    if is_pytest(suite):
        arguments = (
            *PYTEST,
            *("-p", PLUGIN, f"--junitxml={laid.junit}"),
            *("-o", f"cache_dir={laid.folder / 'cache'}", *_root(suite, paths)),
            *suite.command[len(PYTEST) :],
        )
    settings = {**suite.environment, running.VARIABLE: str(laid.running)}
    return Program(
        arguments=arguments,
        paths=(*paths, laid.plugins),
        home=laid.folder,
        cwd=laid.files,
        timeout_seconds=suite.timeout_seconds,
        extra_environment=tuple(settings.items()),
    )


def is_pytest(suite: Suite) -> bool:
    """Say whether the suite's command is pytest, whose results we can read."""
    return suite.command[: len(PYTEST)] == PYTEST


def _root(suite: Suite, paths: tuple[Path, ...]) -> tuple[str, ...]:
    # Tests inside the installed package are then named by the package, not by our folders.
    return () if suite.files else (f"--rootdir={paths[0]}",)


def judge_suite(
    result: CpuResult, completed: Completed, laid: SuiteFolder, known: tuple[KnownFailure, ...]
) -> CpuResult:
    """Refine the plain result of a pytest run by what its single tests did."""
    if result.status in ("timeout", "crashed"):
        return replace(result, explanation=result.explanation + _last_test(laid))
    try:
        outcomes = read_junit(laid.junit)
    except ValueError as error:
        return replace(result, status="failed", explanation=f"{error}; {result.explanation}")
    today = datetime.now(tz=UTC).date()
    sifted = sift(outcomes, known, result.cpu, today)
    return _with_tests(result, completed, outcomes, sifted)


def _last_test(laid: SuiteFolder) -> str:
    if not laid.running.exists():
        return ""
    return f", in `{laid.running.read_text(encoding='utf-8')}`"


def _with_tests(
    result: CpuResult, completed: Completed, outcomes: tuple[TestOutcome, ...], sifted: Sifted
) -> CpuResult:
    problem = _problem(result, completed, outcomes, sifted)
    excused = len(sifted.failures) - len(sifted.unknown)
    summary = f"{len(outcomes)} tests, {excused} known failures" if excused else ""
    return replace(
        result,
        status="failed" if problem else "passed",
        explanation=problem or summary,
        failures=sifted.failures,
        flags=sifted.flags,
    )


def _problem(
    result: CpuResult, completed: Completed, outcomes: tuple[TestOutcome, ...], sifted: Sifted
) -> str:
    if sifted.unknown:
        first = sifted.unknown[0]
        return f"{len(sifted.unknown)} of {len(outcomes)} tests failed, first `{first.test}`"
    if not outcomes:
        return f"no test ran; {result.explanation}"
    if completed.exit_code not in COMPLETE:
        return f"pytest did not come to its end; {result.explanation}"
    if completed.exit_code != 0 and not sifted.failures:
        return f"no test failed, and pytest did; {result.explanation}"
    return ""
