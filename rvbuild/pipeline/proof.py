"""Testing a stored wheel on CPUs: what passed with the same wheel and tests is not run again."""

import hashlib
from dataclasses import dataclass, replace
from pathlib import Path

from rvbuild import __version__
from rvbuild.emulator import Emulator, install_emulator
from rvbuild.errors import CheckError
from rvbuild.pipeline.equipment import install_pythons
from rvbuild.pipeline.model import House, Options
from rvbuild.plan import Job, test_key
from rvbuild.pythons import Interpreter
from rvbuild.recipe.model import Recipe, Test
from rvbuild.store import Draft, Stored
from rvbuild.sysroot import Sysroot, install_sysroot
from rvbuild.target import Cpu, Floor, cpus
from rvbuild.testing import (
    Bench,
    CpuResult,
    Runtime,
    TestReport,
    check_wheel,
    read_report,
    write_report,
)
from rvbuild.wheel import read_wheel
from rvbuild.wheel.modules import top_modules

REPORT = "report.json"


@dataclass(frozen=True, slots=True)
class Trial:
    """A wheel to be proven: its job, its stored result, and the wheels it may need beside it."""

    job: Job
    stored: Stored
    others: tuple[Path, ...] = ()

    @property
    def wheel(self) -> Path:
        """The wheel file."""
        return next(self.stored.files.glob("*.whl"))


def chosen_cpus(tests: Test, options: Options) -> tuple[Cpu, ...]:
    """Give the CPUs to test on: those asked for, else the recipe's; `all` means the catalogue."""
    names = options.cpus or tests.cpus
    return tuple(cpus().values()) if names == ("all",) else tuple(cpus()[name] for name in names)


def told_tests(trial: Trial) -> Test:
    """Give the recipe's tests; where it tells none, the import of every module in the wheel."""
    tests = trial.job.recipe.test
    if tests.imports or tests.smoke or tests.suite is not None:
        return tests
    return tests.model_copy(update={"imports": top_modules(read_wheel(trial.wheel))})


def prove(
    trial: Trial,
    options: Options,
    house: House,
    again: bool = False,  # noqa: FBT001, FBT002 - the option of the same name
) -> TestReport:
    """Give the report of a wheel, from the store where the same test passed before."""
    tests = told_tests(trial)
    if not options.suites:
        tests = tests.model_copy(update={"suite": None})
    processors = chosen_cpus(tests, options)
    key = _key(trial, tests, processors)
    found = None if again else house.store.find(key)
    if found is not None:
        return read_report(found.files / REPORT)
    report = _check(trial, tests, processors, house)
    if report.ok:
        staging = house.places.work / f"report-{key[:16]}"
        staging.mkdir(parents=True, exist_ok=True)
        write_report(report, staging / REPORT)
        draft = Draft(f"{trial.job.id}-test", trial.job.inputs, __version__)
        house.store.publish(key, staging, draft)
    return report


def _key(trial: Trial, tests: Test, processors: tuple[Cpu, ...]) -> str:
    job = replace(trial.job, recipe=trial.job.recipe.model_copy(update={"test": tests}))
    digest = hashlib.sha256(trial.wheel.read_bytes()).hexdigest()
    runtime = "\n".join(sorted(text for name, text in job.inputs.items() if name == "emulator"))
    return test_key(job, digest, processors, runtime)


def _check(trial: Trial, tests: Test, processors: tuple[Cpu, ...], house: House) -> TestReport:
    python = trial.job.python
    if python is None:
        raise CheckError(f"`{trial.job.id}` is a library: it is tested by the wheels above it")
    runtime = runtime_for(python, trial.job.floor, house)
    workspace = house.places.work / f"test-{trial.job.id.replace(':', '-')}"
    bench = Bench(
        runtime=runtime,
        executor=house.executor,
        workspace=workspace,
        watch=house.watch,
        job=trial.job.id,
        wheels=trial.others,
        wheel_folders=tuple({wheel.parent for wheel in trial.others}),
        environment=house.environment,
        source=suite_source(trial.job.recipe, tests, house),
    )
    with house.store.lock(f"test {trial.job.id}"):
        return check_wheel(trial.wheel, tests, processors, bench)


def runtime_for(python: str, floor: Floor, house: House) -> Runtime:
    """Have the riscv64 runtime of a Python, with the libraries of a floor's sysroot."""
    interpreter: Interpreter = install_pythons((python,), house)[python]
    emulator: Emulator = install_emulator(house.host, house.pins, house.supplies)
    sysroot: Sysroot = install_sysroot(floor, house.pins, house.supplies)
    return Runtime(interpreter, emulator, _wanted_libraries(sysroot, house))


def _wanted_libraries(sysroot: Sysroot, house: House) -> tuple[Path, ...]:
    # Only the compiler's runtime libraries: the sysroot's glibc is too old for the test Python.
    folder = house.places.kits / f"runtime-{sysroot.digest[:16]}"
    if not folder.is_dir():
        staging = folder.with_name(folder.name + ".tmp")
        staging.mkdir(parents=True, exist_ok=True)
        for pattern in ("libstdc++.so.6", "libgcc_s.so.1", "libatomic.so.1"):
            for library in sysroot.libraries:
                link = staging / pattern
                if (library / pattern).exists() and not link.exists():
                    link.symlink_to(library / pattern)
        staging.rename(folder)
    return (folder,)


def suite_source(recipe: Recipe, tests: Test, house: House) -> Path | None:
    """Have the source tree that a suite takes files from; None where it takes none."""
    if tests.suite is None or not tests.suite.files:
        return None
    from rvbuild.sources.prepare import prepare_source

    place = house.places.work / f"suite-source-{recipe.label}"
    with house.store.lock(f"suite {recipe.label}"):
        return prepare_source(recipe, (), place, house.fetching, house.watch).path


def failure(report: TestReport, name: str) -> CheckError:
    """Make the error of a report that is not ok."""
    wrong: list[CpuResult] = [result for result in report.results if not result.ok]
    causes = []
    for result in wrong:
        causes.append(f"{result.check} on {result.cpu} {result.status}: {result.explanation}")
        causes += [f"  {each.test}: {each.message}" for each in result.failures if not each.known][
            :20
        ]
    first = wrong[0] if wrong else None
    return CheckError(
        f"`{report.wheel}` did not pass its tests",
        causes=causes or ["nothing was tested"],
        log=first.log if first else None,
        tail=first.log.read_text("utf-8", "replace").splitlines()[-40:]
        if first and first.log and first.log.is_file()
        else (),
        reproduce=first.reproduce if first else None,
        hint=None if wrong else f"name `imports` in the recipe of `{name}`",
    )
