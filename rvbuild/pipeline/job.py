"""One job from sources to a stored result, by steps; a killed run goes on at the one it died in."""

import json
import shutil
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from rvbuild import __version__
from rvbuild.audit import Policy, Repair, audit_wheel, repair_wheel, report_as_json
from rvbuild.build import (
    Bench,
    BuildEnvironment,
    StoodIn,
    Workshop,
    build_library,
    build_wheel,
    prepare_environment,
    stage_prefix,
)
from rvbuild.build.checks import run_checks
from rvbuild.build.expect import check_members, check_prefix, prefix_members, wheel_members
from rvbuild.build.settings import definitions
from rvbuild.build.surroundings import SOURCE_DATE_EPOCH, lay_out, surroundings
from rvbuild.errors import AuditError
from rvbuild.events import step
from rvbuild.kit.programs import install_program
from rvbuild.pipeline.compiler_cache import serving
from rvbuild.pipeline.metering import Meter
from rvbuild.pipeline.model import House
from rvbuild.pipeline.sbom import Bill, is_composed, sbom_text
from rvbuild.plan import Job
from rvbuild.plan.programs import makes_tests
from rvbuild.sources.model import SourceTree
from rvbuild.sources.prepare import prepare_source
from rvbuild.store import Draft, Stored, Work, close_work, mark_done, open_work
from rvbuild.toolchain.files import write_files
from rvbuild.wheel import linkable_libraries

# Where a result keeps what was split off its wheel, by member.
SYMBOLS = "symbols"


@dataclass(frozen=True, slots=True)
class Ground:
    """What a job stands on: workshop, house, all jobs, the results so far, its share of cores."""

    workshop: Workshop
    house: House
    jobs: Mapping[str, Job]
    results: Mapping[str, Stored]
    cores: int

    @property
    def cpu_seconds(self) -> float:
        """CPU time of the job's commands so far, where it is counted."""
        executor = self.workshop.executor
        return executor.cpu_seconds if isinstance(executor, Meter) else 0.0


def build_job(job: Job, ground: Ground) -> Stored:
    """Build what is not in the store yet, and put it there; raises what its steps raise."""
    house = ground.house
    with house.store.lock(job.id):
        found = house.store.find(job.key)
        if found is not None:
            return found
        work = open_work(house.places, job.id, job.key)
        bench = _bench(job, work, ground)
        make = _make_library if job.python is None else _make_wheel
        with _metered(job, ground) as (meter, metered):
            work = _prepare(job, work, bench, metered)
            work, staging, requirements = make(job, work, bench, metered)
        draft = Draft(
            job=job.id,
            inputs=job.inputs,
            rvbuild_version=__version__,
            seconds={done.name: done.seconds for done in work.steps},
            requirements=requirements,
            cpu_seconds={done.name: done.cpu_seconds for done in work.steps},
            peak_mb=meter.used.peak_mb,
        )
        stored = house.store.publish(job.key, staging, draft)
        close_work(work)
        return stored


@contextmanager
def _metered(job: Job, ground: Ground) -> Iterator[tuple[Meter, Ground]]:
    """Count what the job uses, with a compiler cache's server of its own."""
    workshop = ground.workshop
    meter = Meter(workshop.executor)
    own = ground.house.environment
    with serving(workshop.launcher, job.id, own, meter) as launcher:
        yield meter, replace(ground, workshop=replace(workshop, executor=meter, launcher=launcher))


def _bench(job: Job, work: Work, ground: Ground) -> Bench:
    wheels = [path for need in job.needs for path in ground.results[need].files.glob("*.whl")]
    log = ground.house.places.logs / f"{work.folder.name}.log"
    log.parent.mkdir(parents=True, exist_ok=True)
    if not work.steps:
        log.unlink(missing_ok=True)
    source = work.folder / "source"
    stand_ins = tuple(_stand_ins(job, ground))
    return Bench(job, work.folder, source, log, ground.cores, tuple(wheels), stand_ins)


def _stand_ins(job: Job, ground: Ground) -> Iterator[StoodIn]:
    """Give what stands in for the wheels below a job that cannot run where it is built."""
    for need in job.needs:
        recipe = ground.jobs[need].recipe
        if recipe.stand_in is not None:
            (wheel,) = ground.results[need].files.glob("*.whl")
            folder = ground.house.catalogue.stand_in_path(recipe)
            yield StoodIn(recipe.name, wheel, recipe.stand_in.takes, folder)


def _take(work: Work, name: str, ground: Ground, act: Callable[[], object]) -> Work:
    """Do a step that is not done yet, and remember it; a text it gives is its short result."""
    if work.is_done(name):
        return work
    begin, before = time.monotonic(), ground.cpu_seconds
    with step(ground.house.watch, work.job, name) as detail:
        result = act()
        detail.text = result if isinstance(result, str) else ""
    used = ground.cpu_seconds - before
    return mark_done(work, name, time.monotonic() - begin, detail.text, used)


def _prepare(job: Job, work: Work, bench: Bench, ground: Ground) -> Work:
    workshop = ground.workshop
    work = _take(work, "source", ground, lambda: _source(job, bench, ground).origin)

    def surround() -> None:
        stage_prefix(bench.prefix, libraries_below(job, ground.jobs, ground.results).values())
        stage_checks(job, bench, ground.house)
        lay_out(workshop, bench)
        around = surroundings(workshop, bench)
        if job.python is not None:
            around = replace(around, definitions=definitions(workshop, bench))
        write_files(workshop.toolchain, around, bench.folder / "target")
        run_checks(workshop, bench)

    return _take(work, "surroundings", ground, surround)


def _source(job: Job, bench: Bench, ground: Ground) -> SourceTree:
    """Have the job's source tree, which stays as it is once it is there."""
    house = ground.house
    holds = (job.python, str(job.floor), job.mode)
    patches = tuple(
        house.catalogue.patch_path(job.recipe, entry.value)
        for entry in job.recipe.patches
        if entry.when.holds(*holds)
    )
    return prepare_source(job.recipe, patches, bench.source, house.fetching, house.watch)


def libraries_below(
    job: Job, jobs: Mapping[str, Job], results: Mapping[str, Stored]
) -> dict[str, Path]:
    """Give the prefixes of all libraries a job stands on, directly or not, the lowest first."""
    found: dict[str, Path] = {}
    waiting = list(job.needs)
    while waiting:
        need = waiting.pop(0)
        folder = results[need].files / "prefix"
        # What a wheel stands on is grafted into it, and no business of the wheels above.
        if folder.is_dir():
            found[need] = folder
            waiting += jobs[need].needs
    return dict(reversed(found.items()))


def stage_checks(job: Job, bench: Bench, house: House) -> None:
    """Copy the files that a library's test programs are made of; other jobs have none."""
    programs = job.recipe.test.programs
    if programs is None or not makes_tests(job):
        return
    shutil.rmtree(bench.checks, ignore_errors=True)
    bench.checks.mkdir()
    for name in programs.files:
        shutil.copyfile(house.catalogue.check_path(job.recipe, name), bench.checks / name)


def _make_library(
    _job: Job, work: Work, bench: Bench, ground: Ground
) -> tuple[Work, Path, tuple[str, ...]]:
    staging = bench.folder / "staging"

    def build() -> None:
        result = build_library(ground.workshop, bench)
        check_members(bench.job, prefix_members(result), bench.log)
        check_prefix(bench, result)
        shutil.rmtree(staging, ignore_errors=True)
        staging.mkdir()
        result.rename(staging / "prefix")

    return _take(work, "build", ground, build), staging, ()


def _make_wheel(
    job: Job, work: Work, bench: Bench, ground: Ground
) -> tuple[Work, Path, tuple[str, ...]]:
    workshop = ground.workshop
    note = bench.folder / "environment.json"

    def environment() -> None:
        made = prepare_environment(workshop, bench)
        note.write_text(json.dumps(made.requirements), encoding="utf-8")

    work = _take(work, "environment", ground, environment)
    requirements = tuple(json.loads(note.read_text(encoding="utf-8")))
    python = BuildEnvironment(bench.folder / "venv/bin/python", requirements)
    work = _take(work, "build", ground, lambda: build_wheel(workshop, bench, python).name)
    built = next((bench.folder / "wheel").glob("*.whl"))
    staging = bench.folder / "staging"
    work = _take(work, "audit", ground, lambda: _prove(job, built, bench, staging, ground).name)
    return work, staging, requirements


def _bill(job: Job, bench: Bench, ground: Ground) -> Bill:
    return Bill(
        job=job,
        used=frozenset(_source(job, bench, ground).sha256s),
        libraries=tuple(
            ground.jobs[need] for need in libraries_below(job, ground.jobs, ground.results)
        ),
        prefix=bench.prefix,
        sysroot=job.floor.tag,
    )


def _prove(job: Job, built: Path, bench: Bench, staging: Path, ground: Ground) -> Path:
    house, sysroot = ground.house, ground.workshop.sysroot
    shutil.rmtree(staging, ignore_errors=True)
    staging.mkdir()
    bill = _bill(job, bench, ground)
    # What is linked with another wheel's library finds it in the process, once that is imported.
    brought = tuple(name for below in bench.wheels for name in linkable_libraries(below))
    repair = Repair(
        floor=job.floor,
        library_folders=(bench.prefix / "lib", *sysroot.libraries),
        destination=staging,
        patchelf=install_program("patchelf", house.host, house.pins, house.supplies),
        epoch_seconds=SOURCE_DATE_EPOCH,
        symbols=staging / SYMBOLS if job.recipe.build.split_symbols else None,
        sbom=partial(sbom_text, bill) if is_composed(job.recipe) else None,
        brought=brought,
        # As `-ffile-prefix-map` names them in what is compiled.
        places={
            str(bench.folder): "/rvbuild",
            str(house.places.kits): "/rvbuild/kits",
            str(house.places.cache): "/rvbuild/cache",
        },
    )
    wheel = repair_wheel(built, repair)
    policy = Policy(job.floor, sysroot.libraries, brought, (str(house.places.cache),))
    report = audit_wheel(wheel, policy)
    (staging / "audit.json").write_text(json.dumps(report_as_json(report), indent=1), "utf-8")
    for finding in report.findings:
        if finding.severity == "warning":
            where = finding.member or wheel.name
            house.watch.note(job.id, f"`{where}` {finding.message}")
    if not report.ok:
        raise AuditError(
            f"`{wheel.name}` is not fit to ship",
            causes=[f"`{each.member or wheel.name}` {each.message}" for each in report.errors],
            hint=next((each.hint for each in report.errors if each.hint), None),
            log=bench.log,
        )
    check_members(job, wheel_members(wheel), bench.log)
    return wheel
