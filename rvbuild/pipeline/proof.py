"""Testing a stored wheel on CPUs: what passed with the same wheel and tests is not run again."""

import hashlib
from dataclasses import dataclass, replace
from pathlib import Path

from rvbuild import __version__
from rvbuild.emulator import Emulator, install_emulator
from rvbuild.errors import CheckError
from rvbuild.kit import Tree, load_pins, materialise
from rvbuild.pipeline.equipment import install_pythons
from rvbuild.pipeline.model import House, Options
from rvbuild.pipeline.trial import Subject, try_on_cpus, try_on_machine, wanted_tests
from rvbuild.plan import Job, test_key
from rvbuild.pythons import Interpreter
from rvbuild.recipe.model import Recipe, Test
from rvbuild.store import Draft, Stored
from rvbuild.sysroot import Sysroot, install_sysroot
from rvbuild.target import TRIPLE, Cpu, Floor, cpus, profiles
from rvbuild.testing import (
    Bench,
    CpuResult,
    Place,
    Runtime,
    TestReport,
    read_report,
    write_report,
)
from rvbuild.testing.known_data import Circumstances, with_known
from rvbuild.testing.numeric import program_digest
from rvbuild.wheel import read_wheel
from rvbuild.wheel.modules import top_modules

REPORT = "report.json"
NEWEST_LIBRARIES = "runtime.yaml"


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
    """Give the CPUs to test on: those asked for, else the recipe's.

    `all` means every profile and vector length; boards, which QEMU only comes near, go by name.
    """
    names = options.cpus or tests.cpus
    if names == ("all",):
        return tuple(profiles().values())
    return tuple(cpus()[name] for name in names)


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
    # What is known to fail decides the result, so that it is part of the key.
    tests = with_known(_tests(trial, options), _around(trial), house.catalogue.folders)
    processors = chosen_cpus(tests, options)
    key = _key(trial, tests, processors)
    # A suite on demand keeps what came of each test by itself.
    kept = options.portion is None
    found = stored_report(key, house) if kept and not again else None
    if found is not None:
        return found
    bench = replace(_bench(trial, tests, house), portion=options.portion)
    subject = Subject(trial.wheel, tests, _around(trial), bench)
    report = try_on_cpus(subject, processors, replace(options, again=again), house)
    if kept and report.ok:
        keep_report(report, key, trial.job, house)
    return report


def stored_report(key: str, house: House) -> TestReport | None:
    """Give the report that a test with this key once gave."""
    found = house.store.find(key)
    return None if found is None else read_report(found.files / REPORT)


def keep_report(report: TestReport, key: str, job: Job, house: House) -> None:
    """Store the report of what passed."""
    staging = house.places.work / f"report-{key[:16]}"
    staging.mkdir(parents=True, exist_ok=True)
    write_report(report, staging / REPORT)
    house.store.publish(key, staging, Draft(f"{job.id}-test", job.inputs, __version__))


def prove_on_machine(trial: Trial, place: Place, options: Options, house: House) -> TestReport:
    """Give the report of a wheel on a machine; nothing of it is stored."""
    tests = _tests(trial, options)
    bench = replace(_bench(trial, tests, house), portion=options.portion)
    subject = Subject(trial.wheel, tests, _around(trial), bench)
    return try_on_machine(subject, place, house, again=options.again)


def _tests(trial: Trial, options: Options) -> Test:
    return wanted_tests(told_tests(trial), options, trial.job.recipe.name)


def _around(trial: Trial) -> Circumstances:
    return Circumstances(trial.job.recipe.name, trial.job.recipe.version, trial.job.floor)


def _key(trial: Trial, tests: Test, processors: tuple[Cpu, ...]) -> str:
    job = replace(trial.job, recipe=trial.job.recipe.model_copy(update={"test": tests}))
    digest = hashlib.sha256(trial.wheel.read_bytes()).hexdigest()
    program = program_digest() if tests.numeric else ""
    return test_key(job, digest, processors, f"{job.inputs.get('emulator', '')} {program}")


def _bench(trial: Trial, tests: Test, house: House) -> Bench:
    python = trial.job.python
    if python is None:
        raise CheckError(f"`{trial.job.id}` is a library: it is tested by the wheels above it")
    return Bench(
        runtime=runtime_for(python, trial.job.floor, house),
        executor=house.executor,
        workspace=house.places.work / f"test-{trial.job.id.replace(':', '-')}",
        watch=house.watch,
        job=trial.job.id,
        wheels=trial.others,
        wheel_folders=tuple({wheel.parent for wheel in trial.others}),
        environment=house.environment,
        source=suite_source(trial.job.recipe, tests, house),
    )


def runtime_for(python: str, floor: Floor, house: House) -> Runtime:
    """Have the riscv64 runtime of a Python, with the libraries of a floor's sysroot."""
    sysroot: Sysroot = install_sysroot(floor, house.pins, house.supplies)
    return _runtime(python, _wanted_libraries(sysroot, house), house)


def newest_runtime_for(python: str, house: House) -> Runtime:
    """Have the riscv64 runtime of a Python with the newest libraries there are, not a floor's."""
    pinned = load_pins(house.pins / NEWEST_LIBRARIES).tree("libraries")
    kit = materialise(Tree("runtime-newest", pinned), house.supplies)
    return _runtime(python, (kit.path / "usr/lib" / TRIPLE,), house)


def _runtime(python: str, libraries: tuple[Path, ...], house: House) -> Runtime:
    interpreter: Interpreter = install_pythons((python,), house)[python]
    emulator: Emulator = install_emulator(house.host, house.pins, house.supplies)
    return Runtime(interpreter, emulator, libraries)


def _wanted_libraries(sysroot: Sysroot, house: House) -> tuple[Path, ...]:
    # Only the compiler's runtime libraries: the sysroot's glibc is too old for the test Python.
    folder = house.places.kits / f"runtime-{sysroot.floor}-{sysroot.digest[:16]}"
    if not folder.is_dir():
        staging = folder.with_name(folder.name + ".tmp")
        staging.mkdir(parents=True, exist_ok=True)
        for pattern in ("libstdc++.so.6", "libgcc_s.so.1", "libatomic.so.1"):
            for library in sysroot.libraries:
                link = staging / pattern
                if (library / pattern).exists() and not link.is_symlink():
                    # From kit to kit: the folder of both may have other names, or move.
                    link.symlink_to(Path("..") / (library / pattern).relative_to(folder.parent))
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


def _untested(report: TestReport) -> tuple[str, ...]:
    skipped = dict.fromkeys(each.explanation for each in report.results if each.explanation)
    return (*skipped, "nothing was tested")


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
        causes=causes or _untested(report),
        log=first.log if first else None,
        tail=first.log.read_text("utf-8", "replace").splitlines()[-40:]
        if first and first.log and first.log.is_file()
        else (),
        reproduce=first.reproduce if first else None,
        hint=None if wrong else f"name `imports` in the recipe of `{name}`",
    )
