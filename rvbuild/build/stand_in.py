"""Standing in for target requirements that cannot run here, while others are built against them."""

import fnmatch
import shutil
import zipfile
from collections.abc import Callable, Iterable
from pathlib import Path

from packaging.requirements import Requirement

from rvbuild.build.model import StoodIn
from rvbuild.recipe.model import normalise


def without(requirements: Iterable[str], stand_ins: tuple[StoodIn, ...]) -> tuple[str, ...]:
    """Leave out the requirements that something stands in for.

    The index may have such a package for this machine, but of another build and of gigabytes.
    """
    names = {each.name for each in stand_ins}
    return tuple(text for text in requirements if normalise(Requirement(text).name) not in names)


def lay_stand_in(stood_in: StoodIn, site: Path) -> None:
    """Lay what stands in for a package into the modules of a build environment."""

    def is_taken(member: str) -> bool:
        return any(fnmatch.fnmatchcase(member, glob) for glob in stood_in.takes)

    lay_members(stood_in.wheel, site, is_taken)
    shutil.copytree(stood_in.folder, site, dirs_exist_ok=True)


def lay_members(wheel: Path, site: Path, is_wanted: Callable[[str], bool]) -> None:
    """Lay those members of a wheel that are wanted among a build environment's modules."""
    with zipfile.ZipFile(wheel) as bundle:
        for member in bundle.infolist():
            if member.is_dir() or not is_wanted(member.filename):
                continue
            placed = site / member.filename
            placed.parent.mkdir(parents=True, exist_ok=True)
            placed.unlink(missing_ok=True)
            placed.write_bytes(bundle.read(member))
