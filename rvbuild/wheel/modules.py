"""Which modules a wheel brings, told by its members."""

from collections.abc import Iterator
from pathlib import PurePosixPath

from rvbuild.wheel.contents import open_archive, read_member
from rvbuild.wheel.model import Wheel

PACKAGE = "__init__"


def top_modules(wheel: Wheel) -> tuple[str, ...]:
    """List what can be imported of a wheel: what it says of itself, else its outermost modules.

    Raises `AuditError` when the wheel cannot be read.
    """
    found = {".".join(parts) for parts in _outermost(wheel)}
    stated = [name for name in _stated(wheel) if name in found]
    return tuple(stated or sorted(found))


def _stated(wheel: Wheel) -> tuple[str, ...]:
    name = f"{wheel.info_folder}/top_level.txt"
    if not any(member.name == name for member in wheel.members):
        return ()
    with open_archive(wheel.path) as archive:
        text = read_member(archive, name, wheel.file_name).decode("utf-8", errors="replace")
    return tuple(line.strip() for line in text.splitlines() if line.strip())


def _outermost(wheel: Wheel) -> Iterator[tuple[str, ...]]:
    """Give the modules that have no package above them in the wheel."""
    modules = {parts for member in wheel.members if (parts := _module(wheel, member.name))}
    for parts in modules:
        if not any(parts[:depth] in modules for depth in range(1, len(parts))):
            yield parts


def _module(wheel: Wheel, member: str) -> tuple[str, ...]:
    """Name the module that a member is, by its parts; empty for anything else."""
    path = wheel.installed_path(member)
    if path is None or not _is_code(path):
        return ()
    # An extension's name ends in its suffix: `_speedups.cpython-313-riscv64-linux-gnu.so`.
    stem = path.name.partition(".")[0]
    parts = path.parent.parts if stem == PACKAGE else (*path.parent.parts, stem)
    return parts if all(part.isidentifier() for part in parts) else ()


def _is_code(path: PurePosixPath) -> bool:
    return path.suffix in (".py", ".so") and not path.parts[0].endswith((".dist-info", ".libs"))
