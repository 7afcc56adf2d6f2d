"""What a recipe expects of a result: which members it has, and code for the target alone."""

import fnmatch
import zipfile
from pathlib import Path

from rvbuild.build.model import Bench
from rvbuild.elf import is_elf, read_elf
from rvbuild.errors import AuditError
from rvbuild.plan import Job
from rvbuild.store import Stored
from rvbuild.target import ELF_MACHINE

MAGIC_BYTES = 4


def wheel_members(wheel: Path) -> tuple[str, ...]:
    """List the members of a wheel."""
    with zipfile.ZipFile(wheel) as bundle:
        return tuple(bundle.namelist())


def prefix_members(folder: Path) -> tuple[str, ...]:
    """List the files of a prefix, relative to it."""
    files = (path for path in folder.rglob("*") if not path.is_dir())
    return tuple(sorted(str(path.relative_to(folder)) for path in files))


def result_members(stored: Stored) -> tuple[str, ...]:
    """List the members of a stored wheel, or the files of a stored library."""
    wheel = next(stored.files.glob("*.whl"), None)
    return prefix_members(stored.files / "prefix") if wheel is None else wheel_members(wheel)


def check_members(job: Job, members: tuple[str, ...], log: Path | None = None) -> None:
    """Hold the members of a result against the recipe's patterns; raise `AuditError`."""
    expect = job.recipe.expect
    causes = [
        f"nothing matches `{pattern}`"
        for pattern in expect.files
        if not fnmatch.filter(members, pattern)
    ]
    for pattern in expect.absent:
        causes += [f"`{name}` should not be there" for name in fnmatch.filter(members, pattern)]
    if causes:
        raise AuditError(
            f"the result of `{job.id}` is not what its recipe expects",
            causes=causes,
            log=log,
        )


def check_prefix(bench: Bench, folder: Path) -> None:
    """See that every ELF file of a library's prefix is for the target; raise `AuditError`."""
    foreign = []
    for path in sorted(folder.rglob("*")):
        if path.is_symlink() or not path.is_file():
            continue
        with path.open("rb") as stream:
            magic = stream.read(MAGIC_BYTES)
        if not is_elf(magic):
            continue
        facts = read_elf(path)
        if facts.machine != ELF_MACHINE or facts.float_abi != "double":
            foreign.append(f"`{path.relative_to(folder)}` is for {facts.machine}")
    if foreign:
        raise AuditError(
            f"`{bench.job.id}` holds code for another machine", causes=foreign, log=bench.log
        )
