"""A job that stopped before its end, opened again: its folder and its build's environment."""

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from rvbuild.build import Bench
from rvbuild.build.surroundings import build_environment, lay_out
from rvbuild.errors import NothingSelectedError, UsageError
from rvbuild.pipeline.compiler_cache import serving
from rvbuild.pipeline.equipment import workshop
from rvbuild.pipeline.metering import Meter
from rvbuild.pipeline.model import House, Options
from rvbuild.pipeline.programs import programs_job
from rvbuild.pipeline.run import plan_for
from rvbuild.plan import Job
from rvbuild.recipe.catalogue import Catalogue
from rvbuild.store import Work

_TAG = re.compile(r"cp3(\d+t?)")
_VERSION = re.compile(r"-(?=\d)")


@dataclass(frozen=True, slots=True)
class StoppedJob:
    """A job's project folder and environment; `changed` when it would be built anew by now."""

    job: Job
    folder: Path
    environment: Mapping[str, str]
    changed: bool


@contextmanager
def reopen(work: Work, options: Options, house: House) -> Iterator[StoppedJob]:
    """Open a work folder again, held against other runs until the block ends.

    Raises `NothingSelectedError` when another run has finished the job meanwhile.
    """
    job = _job(work, options, house)
    shop, meter = workshop(options, house, (job,)), Meter(house.executor)
    with (
        house.store.lock(work.job),
        serving(shop.launcher, job.id, house.environment, meter) as launcher,
    ):
        if not work.folder.is_dir():
            raise NothingSelectedError(f"`{work.job}` is not stopped any more: it was finished")
        log = house.places.logs / f"{work.folder.name}.log"
        bench = Bench(job, work.folder, work.folder / "source", log, options.jobs)
        lay_out(shop, bench)
        folder = bench.project if bench.project.is_dir() else bench.folder
        environment = build_environment(replace(shop, launcher=launcher), bench)
        yield StoppedJob(job, folder, environment, job.key != work.key)


def _job(work: Work, options: Options, house: House) -> Job:
    label, _, tag = work.job.rpartition(":")
    name, version = split_label(label, house.catalogue)
    pythons = (python_of(tag),) if python_of(tag) else options.pythons
    wanted = replace(options, names=(f"{name}=={version}",), pythons=tuple(filter(None, pythons)))
    plan = plan_for(wanted, house)
    jobs = [*plan.jobs, *(programs_job(job, house) for job in plan.jobs)]
    found = next((job for job in jobs if job is not None and job.id == work.job), None)
    if found is None:
        raise UsageError(f"`{work.job}` is not what its recipe builds by now")
    return found


def split_label(label: str, catalogue: Catalogue) -> tuple[str, str]:
    """Split `name-version`, where both may hold dashes, at a name that the catalogue has."""
    ends = [match.start() for match in _VERSION.finditer(label)]
    pairs = [(label[:end], label[end + 1 :]) for end in ends] or [(label, "")]
    return next((pair for pair in pairs if catalogue.has(pair[0])), pairs[0])


def python_of(tag: str) -> str | None:
    """Turn `cp313` into `3.13` and `cp313t` into `3.13t`; None for what is no Python's tag."""
    match = _TAG.fullmatch(tag)
    return f"3.{match[1]}" if match else None
