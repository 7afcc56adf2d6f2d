"""What the public index already has: a wheel that fits is named, and taken if that is preferred."""

import shutil
from pathlib import Path

from packaging.tags import compatible_tags, cpython_tags
from packaging.utils import parse_wheel_filename

from rvbuild.errors import RvbuildError
from rvbuild.fetch import PypiFile, Remote, fetch
from rvbuild.fetch.index import PublicWheel, public_wheels
from rvbuild.pipeline.model import House
from rvbuild.plan import Job
from rvbuild.target import compatible_platforms, python_tag


def public_wheel(job: Job, house: House) -> PublicWheel | None:
    """Find a public wheel that the job's Python takes at its floor; None if nobody can be asked."""
    if job.python is None or house.network.offline:
        return None
    try:
        wheels = public_wheels(job.recipe.name, job.recipe.version, house.network)
    except RvbuildError:
        # Advice: a name that no index has, or no network, is no reason to stop.
        return None
    return next((wheel for wheel in wheels if _fits(wheel, job)), None)


def _fits(wheel: PublicWheel, job: Job) -> bool:
    python = job.python or ""
    version = tuple(int(part) for part in python.rstrip("t").split("."))
    platforms = (*compatible_platforms(job.floor), "any")
    taken = set(cpython_tags(version, abis=[python_tag(python)], platforms=platforms))
    taken |= set(compatible_tags(version, python_tag(python.rstrip("t")), platforms))
    return bool(taken & parse_wheel_filename(wheel.file_name)[3])


def take_public(wheel: PublicWheel, job: Job, house: House, destination: Path) -> Path:
    """Fetch a public wheel into a folder; raise `SourceError`."""
    origin = PypiFile(job.recipe.name, wheel.file_name)
    remote = Remote(wheel.file_name, wheel.sha256, (origin,))
    path = fetch(remote, house.network, house.places.downloads, house.watch)
    destination.mkdir(parents=True, exist_ok=True)
    return Path(shutil.copyfile(path, destination / wheel.file_name))
