"""The files of one result: listing them with hashes, and copying them without copying bytes."""

import errno
import hashlib
import os
import shutil
import stat
from collections.abc import Iterator
from pathlib import Path

from rvbuild.errors import BuildError
from rvbuild.store.disk import seal, sync
from rvbuild.store.record import StoredFile

# What a file system answers that has no hard links, or no more of them for this file.
_NO_LINK = {errno.EXDEV, errno.EPERM, errno.EMLINK, errno.ENOTSUP}


def list_files(folder: Path) -> tuple[StoredFile, ...]:
    """Hash everything in a folder, in order of the paths.

    Raises `BuildError` for links that leave the folder, and for what is no file, folder or link.
    """
    return tuple(_stored(folder, path) for path in _members(folder))


def same_shape(folder: Path, files: tuple[StoredFile, ...]) -> bool:
    """Say whether a folder holds exactly these files with these sizes, without reading them."""
    found = {path.relative_to(folder).as_posix(): path for path in _members(folder)}
    wanted = {file.path: file for file in files}
    return found.keys() == wanted.keys() and all(
        path.lstat().st_size == wanted[name].size_bytes for name, path in found.items()
    )


def link_tree(source: Path, destination: Path) -> None:
    """Make `destination` the same tree as `source`: read-only, its content on the disk.

    Files share their bytes with the source where the file system can, so that a full disk does not
    matter and the source stays whole when this is killed.
    """
    destination.mkdir(parents=True)
    for path in sorted(source.iterdir()):
        copy = destination / path.name
        if path.is_symlink():
            copy.symlink_to(path.readlink())
        elif path.is_dir():
            link_tree(path, copy)
        else:
            _link(path, copy)
    sync(destination)


def _link(path: Path, copy: Path) -> None:
    # Bytes that a build tree shares already would change here whenever a tool rewrites them there.
    if path.stat().st_nlink > 1 or not _shared(path, copy):
        shutil.copy2(path, copy)
    seal(copy)
    sync(copy)


def _shared(path: Path, copy: Path) -> bool:
    try:
        copy.hardlink_to(path)
    except OSError as error:
        if error.errno not in _NO_LINK:
            raise
        return False
    return True


def _members(folder: Path) -> Iterator[Path]:
    for path in sorted(folder.iterdir()):
        if path.is_dir() and not path.is_symlink():
            yield from _members(path)
        else:
            yield path


def _stored(folder: Path, path: Path) -> StoredFile:
    name = path.relative_to(folder).as_posix()
    facts = path.lstat()
    if stat.S_ISLNK(facts.st_mode):
        return _stored_link(folder, path, name)
    if not stat.S_ISREG(facts.st_mode):
        raise BuildError(f"`{name}` of the result is neither a file nor a folder nor a link")
    with path.open("rb") as stream:
        digest = hashlib.file_digest(stream, "sha256").hexdigest()
    return StoredFile(name, digest, facts.st_size, bool(facts.st_mode & stat.S_IXUSR))


def _stored_link(folder: Path, path: Path, name: str) -> StoredFile:
    target = os.fspath(path.readlink())
    # Judged by its text: an absolute link would break when the folder moves, wherever it points.
    place = os.path.normpath(path.parent.relative_to(folder) / target)
    if place.startswith(("/", "..")):
        raise BuildError(f"`{name}` of the result is a link to `{target}`, outside of the result")
    data = os.fsencode(target)
    return StoredFile(name, hashlib.sha256(data).hexdigest(), len(data), target=target)
