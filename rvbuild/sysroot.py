"""The pinned target tree that sets the glibc floor: headers and libraries to compile and link against."""

from dataclasses import dataclass
from pathlib import Path

from rvbuild.target import Floor


@dataclass(frozen=True, slots=True)
class Sysroot:
    """An unpacked sysroot: `root` for compilers, `libraries` the folders that hold its shared objects."""

    floor: Floor
    root: Path
    libraries: tuple[Path, ...]
    gcc_install: Path
    digest: str
