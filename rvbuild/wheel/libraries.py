"""Which shared libraries a wheel has that other wheels may be linked with."""

from collections.abc import Iterator
from pathlib import Path, PurePosixPath

from rvbuild.wheel.contents import open_archive

EXTENSION = ".cpython-"
STABLE = ".abi3."


def linkable_libraries(path: Path) -> tuple[str, ...]:
    """List the names of a wheel's own shared libraries, sorted.

    Extension modules are none, nor is what lies in `*.libs`: that is grafted, under a name that the
    next build of the wheel changes. Raises `AuditError` when the wheel cannot be read.
    """
    with open_archive(path) as archive:
        return tuple(sorted(_linkable(archive.namelist())))


def _linkable(members: list[str]) -> Iterator[str]:
    for member in map(PurePosixPath, members):
        is_library = member.suffix == ".so" or ".so." in member.name
        is_module = EXTENSION in member.name or STABLE in member.name
        if is_library and not is_module and not member.parts[0].endswith(".libs"):
            yield member.name
