"""What the public index already has: a wheel that fits is named, and taken if that is preferred."""

import shutil
from dataclasses import dataclass
from pathlib import Path

from packaging.tags import compatible_tags, cpython_tags
from packaging.utils import parse_wheel_filename

from rvbuild.errors import RvbuildError
from rvbuild.fetch import PypiFile, Remote, fetch
from rvbuild.fetch.index import PublicWheel, public_wheels
from rvbuild.pipeline.model import House
from rvbuild.plan import Job
from rvbuild.target import Floor, compatible_platforms, python_tag

# Above every floor there is a policy for.
NEWEST_FLOOR = Floor(2, 99)


@dataclass(frozen=True, slots=True)
class Advice:
    """A public wheel for a job's Python, and whether it also runs at the job's floor."""

    wheel: PublicWheel
    fits: bool


def public_wheel(job: Job, house: House) -> Advice | None:
    """Find a public wheel that a job's Python takes; None where there is none or nobody to ask."""
    if job.python is None or house.network.offline:
        return None
    try:
        wheels = public_wheels(job.recipe.name, job.recipe.version, house.network)
    except RvbuildError:
        # Advice: a name that no index has, or no network, is no reason to stop.
        return None
    for floor in (job.floor, NEWEST_FLOOR):
        for wheel in wheels:
            if _takes(job.python, floor, wheel):
                return Advice(wheel, floor == job.floor)
    return None


def _takes(python: str, floor: Floor, wheel: PublicWheel) -> bool:
    numbers = tuple(int(part) for part in python.rstrip("t").split("."))
    platforms = compatible_platforms(floor)
    taken = set(cpython_tags(numbers, abis=[python_tag(python)], platforms=platforms))
    taken |= set(compatible_tags(numbers, python_tag(python).rstrip("t"), platforms))
    return bool(taken & parse_wheel_filename(wheel.file_name)[3])


def take_public(wheel: PublicWheel, job: Job, house: House, destination: Path) -> Path:
    """Fetch a public wheel into a folder; raise `SourceError`."""
    origin = PypiFile(job.recipe.name, wheel.file_name)
    remote = Remote(wheel.file_name, wheel.sha256, (origin,))
    path = fetch(remote, house.network, house.places.downloads, house.watch)
    destination.mkdir(parents=True, exist_ok=True)
    return Path(shutil.copyfile(path, destination / wheel.file_name))
