"""The compiled programs that a wheel installs, which no import would run."""

import zipfile
from pathlib import Path, PurePosixPath

from rvbuild.elf import is_elf
from rvbuild.errors import CheckError

HEAD_BYTES = 4
VERSION, HELP = "--version", "--help"


def programs_of(wheel: Path) -> tuple[str, ...]:
    """List by name what a wheel puts among the scripts and is machine code."""
    try:
        with zipfile.ZipFile(wheel) as archive:
            names = [name for name in archive.namelist() if _is_script(PurePosixPath(name))]
            return tuple(sorted(PurePosixPath(name).name for name in names if _code(archive, name)))
    except (OSError, zipfile.BadZipFile) as error:
        raise CheckError(f"`{wheel.name}` is not readable") from error


def _is_script(path: PurePosixPath) -> bool:
    match path.parts:
        case (top, "scripts", _):
            return top.endswith(".data")
    return False


def _code(archive: zipfile.ZipFile, name: str) -> bool:
    with archive.open(name) as member:
        return is_elf(member.read(HEAD_BYTES))
