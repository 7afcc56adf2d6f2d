"""Unpacking an archive into a folder, under one policy on every Python.

Members stay inside the folder, whatever links say; modes are 0755 and 0644, owners are the user's,
modification times are kept; devices and pipes are refused.
"""

import os
import shutil
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

from rvbuild.errors import SourceError
from rvbuild.sources.archive import ArchiveError, Member, read_members, readable
from rvbuild.sources.folders import new_folder, top_folder, writing

LIMIT_BYTES = 32 * 2**30
LIMIT_MEMBERS = 2_000_000
CHUNK_BYTES = 1 << 18
# What every file system can keep: up to the year 2242.
_LATEST_MTIME = float(2**33)


@dataclass(slots=True)
class _Unpacking:
    """One run of `unpack`: what may still be written, and what is made when all files are there."""

    root: Path
    limit_bytes: int
    bytes_left: int
    only: tuple[tuple[str, ...], ...] = ()
    members: int = 0
    symlinks: dict[Path, str] = field(default_factory=dict)
    folder_times: dict[Path, float] = field(default_factory=dict)


def unpack(
    archive: Path,
    destination: Path,
    limit_bytes: int = LIMIT_BYTES,
    only: tuple[str, ...] = (),
) -> Path:
    """Unpack into `destination`, a new folder; give its single top folder, or itself.

    With `only` nothing is written but these paths, below the top folder where there is one.
    Raises `SourceError` when the archive is damaged, breaks the policy or holds more than
    `limit_bytes`; then `destination` does not exist.
    """
    with new_folder(destination) as temporary, writing(destination):
        wanted = tuple(tuple(_parts(path)) for path in only)
        run = _Unpacking(temporary, limit_bytes, limit_bytes, wanted)
        try:
            for member in read_members(archive):
                _place(run, member)
            _finish(run)
        except ArchiveError as error:
            raise SourceError(f"cannot unpack `{archive.name}`", causes=[str(error)]) from error
    return top_folder(destination)


def _place(run: _Unpacking, member: Member) -> None:
    run.members += 1
    if run.members > LIMIT_MEMBERS:
        raise ArchiveError(f"more than {LIMIT_MEMBERS} members")
    path = _inside(run, member.name)
    if not _is_wanted(run, member.name):
        return
    if path != run.root:
        _make_parents(run, path)
        _make(run, path, member)
    elif member.kind != "folder":
        raise ArchiveError(f"`{member.name}` has no name")


def _make(run: _Unpacking, path: Path, member: Member) -> None:
    match member.kind:
        case "file":
            _write_file(run, path, member)
        case "folder":
            _make_folder(run, path, member)
        case "symlink":
            _remove(run, path)
            run.symlinks[path] = member.target
        case "hardlink":
            _copy_linked(run, path, member)
        case "special":
            raise ArchiveError(f"`{member.name}` is a device, a pipe or of an unknown kind")


def _parts(name: str) -> list[str]:
    return [part for part in name.split("/") if part not in {"", "."}]


def _is_wanted(run: _Unpacking, name: str) -> bool:
    # What the top folder is called, and whether there is one, is not known beforehand.
    parts = tuple(_parts(name))
    return not run.only or any(
        each in (parts[: len(each)], parts[1 : 1 + len(each)]) for each in run.only
    )


def _inside(run: _Unpacking, name: str) -> Path:
    parts = _parts(name)
    if name.startswith("/") or ".." in parts or "\0" in name:
        raise ArchiveError(f"`{name}` leads out of the folder")
    return run.root.joinpath(*parts)


def _make_parents(run: _Unpacking, path: Path) -> None:
    """Make the folders above `path`; links are not made before the end, so none is followed."""
    for parent in reversed(path.relative_to(run.root).parents[:-1]):
        folder = run.root / parent
        if folder in run.symlinks:
            raise ArchiveError(f"`{path.relative_to(run.root)}` lies behind the link `{parent}`")
        if folder.is_file():
            raise ArchiveError(f"`{parent}` is a file and a folder")
        _make_level_folder(folder)


def _make_folder(run: _Unpacking, path: Path, member: Member) -> None:
    if path in run.symlinks or path.is_file():
        _remove(run, path)
    _make_level_folder(path)
    run.folder_times[path] = member.mtime


def _make_level_folder(path: Path) -> None:
    if not path.is_dir():
        path.mkdir()
        # The user's umask has no say in what a tree looks like.
        path.chmod(0o755)


def _remove(run: _Unpacking, path: Path) -> None:
    """Make room: of two members with one name the later counts."""
    run.symlinks.pop(path, None)
    if path.is_dir():
        raise ArchiveError(f"`{path.relative_to(run.root)}` is a folder and something else")
    path.unlink(missing_ok=True)


def _write_file(run: _Unpacking, path: Path, member: Member) -> None:
    _remove(run, path)
    with member.open() as source, path.open("xb") as target:
        while chunk := _read(source):
            _count(run, len(chunk))
            target.write(chunk)
    path.chmod(0o755 if member.executable else 0o644)
    _set_mtime(path, member.mtime)


def _read(stream: IO[bytes]) -> bytes:
    with readable():
        return stream.read(CHUNK_BYTES)


def _count(run: _Unpacking, size: int) -> None:
    run.bytes_left -= size
    if run.bytes_left < 0:
        raise ArchiveError(f"it holds more than {run.limit_bytes} bytes")


def _copy_linked(run: _Unpacking, path: Path, member: Member) -> None:
    """Copy the file a hard link names: a patch of one name must not change the other."""
    source = _inside(run, member.target)
    if source in run.symlinks or not source.is_file():
        raise ArchiveError(f"`{member.name}` is linked to `{member.target}`, which is no file here")
    if source == path:
        return
    _remove(run, path)
    _count(run, source.stat().st_size)
    shutil.copy2(source, path)


def _finish(run: _Unpacking) -> None:
    for path, target in run.symlinks.items():
        if not target or target.startswith("/") or "\0" in target:
            raise ArchiveError(f"link `{path.relative_to(run.root)}` leads to `{target}`")
        path.symlink_to(target)
    root = run.root.resolve()
    for path, target in run.symlinks.items():
        # Only with every link in place is it known where a chain of them ends.
        if not Path(os.path.realpath(path)).is_relative_to(root):
            raise ArchiveError(f"link `{path.relative_to(run.root)}` leads out, to `{target}`")
    for folder in sorted(run.folder_times, reverse=True):
        _set_mtime(folder, run.folder_times[folder])


def _set_mtime(path: Path, mtime: float) -> None:
    seconds = min(max(mtime, 0.0), _LATEST_MTIME)
    os.utime(path, (seconds, seconds))
