"""Proving a library: its test programs are built above it, and run on CPUs. What passed is kept."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, replace

from rvbuild.build import Workshop
from rvbuild.emulator import install_emulator
from rvbuild.errors import UsageError
from rvbuild.pipeline.equipment import workshop
from rvbuild.pipeline.job import Ground, build_job, libraries_below
from rvbuild.pipeline.model import House, Options
from rvbuild.pipeline.proof import chosen_cpus, keep_report, stored_report
from rvbuild.plan import Job, Plan, test_key
from rvbuild.plan.programs import library_tests
from rvbuild.recipe.model import Test
from rvbuild.store import Stored
from rvbuild.sysroot import install_sysroot
from rvbuild.target import Cpu
from rvbuild.testing import Stand, TestReport, check_library
from rvbuild.testing.budget import available_mb, runs_at_once
from rvbuild.testing.known_data import Circumstances, with_known


@dataclass(frozen=True, slots=True)
class LibraryTrial:
    """A library to be proven, in a plan whose results so far are there; `cores` are to build with.

    `shop` is the workshop of a run that goes on, None where one has to be equipped.
    """

    job: Job
    plan: Plan
    results: Mapping[str, Stored]
    cores: int
    shop: Workshop | None = None


def programs_job(job: Job, house: House) -> Job | None:
    """Give the job of a library's test programs; None where it has none.

    Raises `UsageError` for a file of `checks/` that is missing.
    """
    programs = job.recipe.test.programs
    files = () if programs is None else programs.files
    paths = {name: house.catalogue.check_path(job.recipe, name) for name in files}
    digests = {name: hashlib.sha256(path.read_bytes()).hexdigest() for name, path in paths.items()}
    return library_tests(job, digests)


def untested(job: Job) -> UsageError:
    """Make the error of a library that has no tests of its own."""
    return UsageError(
        f"`{job.recipe.name}` is a library without tests: it is tested by the wheels that need it",
        hint="give its recipe `test.programs`",
    )


def prove_library(trial: LibraryTrial, options: Options, house: House) -> TestReport:
    """Give the report of a library, from the store where the same programs passed before.

    Raises `UsageError` for a library without test programs, and what building them raises.
    """
    job = programs_job(trial.job, house)
    if job is None:
        raise untested(trial.job)
    recipe = trial.job.recipe
    around = Circumstances(recipe.name, recipe.version, trial.job.floor)
    tests = with_known(recipe.test, around, house.catalogue.folders)
    processors = chosen_cpus(tests, options)
    key = _key(trial.job, job, tests, processors)
    found = None if options.again else stored_report(key, house)
    if found is not None:
        return found
    stored = house.store.find(job.key) or _build(job, trial, options, house)
    with house.store.lock(f"test {trial.job.id}"):
        report = check_library(tests, processors, _stand(job, stored, trial, options, house))
    if report.ok:
        keep_report(report, key, trial.job, house)
    return report


def _key(library: Job, job: Job, tests: Test, processors: tuple[Cpu, ...]) -> str:
    tested = replace(library, recipe=library.recipe.model_copy(update={"test": tests}))
    return test_key(tested, job.key, processors, library.inputs.get("emulator", ""))


def _build(job: Job, trial: LibraryTrial, options: Options, house: House) -> Stored:
    jobs = {**trial.plan.by_id, job.id: job}
    if trial.shop is not None:
        return build_job(job, Ground(trial.shop, house, jobs, trial.results, trial.cores))
    shop = workshop(options, house, (job,))
    return build_job(job, Ground(shop, house, jobs, trial.results, trial.cores))


def _stand(job: Job, stored: Stored, trial: LibraryTrial, options: Options, house: House) -> Stand:
    below = libraries_below(job, trial.plan.by_id, trial.results)
    memory_mb = available_mb() if options.memory_mb is None else options.memory_mb
    return Stand(
        # What `rvbuild test` takes.
        label=f"{trial.job.recipe.name}=={trial.job.recipe.version}",
        digest=job.key,
        tests=stored.files / "prefix",
        prefixes=tuple(reversed(below.values())),
        sysroot=install_sysroot(job.floor, house.pins, house.supplies),
        emulator=install_emulator(house.host, house.pins, house.supplies),
        executor=house.executor,
        workspace=house.places.work / f"test-{trial.job.id.replace(':', '-')}",
        watch=house.watch,
        job=trial.job.id,
        jobs=runs_at_once(options.jobs, memory_mb, options.jobs),
        resume=not options.again,
        stop=house.executor.stop,
    )
