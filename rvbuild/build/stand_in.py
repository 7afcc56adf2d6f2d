"""Standing in for target requirements that cannot run here, while others are built against them."""

import fnmatch
import shutil
import zipfile
from collections.abc import Iterable
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
    with zipfile.ZipFile(stood_in.wheel) as bundle:
        for member in bundle.infolist():
            taken = any(fnmatch.fnmatchcase(member.filename, glob) for glob in stood_in.takes)
            if taken and not member.is_dir():
                bundle.extract(member, site)
    shutil.copytree(stood_in.folder, site, dirs_exist_ok=True)
