"""Changing the disk so that a kill or a power cut leaves the old state or the new one."""

import errno
import os
import re
import shutil
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from hashlib import sha256
from pathlib import Path
from uuid import uuid4

from rvbuild.errors import MissingToolError

_FULL = {errno.ENOSPC, errno.EDQUOT}
_REFUSED = {errno.EROFS, errno.EACCES, errno.EPERM}
_READ_BITS = stat.S_IRUSR | stat.S_IRGRP | stat.S_IROTH
_EXECUTE_BITS = stat.S_IXUSR | stat.S_IXGRP | stat.S_IXOTH


@contextmanager
def cache_access(folder: Path) -> Iterator[None]:
    """Turn a full, read-only or broken disk into one `MissingToolError` about the cache."""
    try:
        yield
    except OSError as error:
        raise _explained(folder, error) from error


def safe_name(text: str) -> str:
    """Turn a job id, or other text, into a file name; different texts give different names."""
    # The last underscore of a plain name stands for the colon, since a tag holds none.
    if re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9.+_-]{,150}:[A-Za-z0-9]+", text):
        return text.replace(":", "_")
    plain = re.sub(r"[^A-Za-z0-9]", "_", text)[:120]
    return f"{plain}-{sha256(text.encode()).hexdigest()[:12]}"


def fresh_name(folder: Path, name: str) -> Path:
    """Give a path in `folder` that no other process has."""
    return folder / f"{name}.{uuid4().hex}"


def write_atomically(path: Path, text: str) -> None:
    """Replace a file's content, on the disk before this returns."""
    partial = fresh_name(path.parent, f".{path.name}")
    try:
        with partial.open("w", encoding="utf-8") as stream:
            stream.write(text)
            stream.flush()
            os.fsync(stream.fileno())
        partial.replace(path)
    except BaseException:
        partial.unlink(missing_ok=True)
        raise
    sync(path.parent)


def sync(path: Path) -> None:
    """Wait until a file's content or a folder's entries are on the disk."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def seal(path: Path) -> None:
    """Make a file read-only for everybody, keeping whether it can be executed."""
    executable = _EXECUTE_BITS if path.stat().st_mode & stat.S_IXUSR else 0
    path.chmod(_READ_BITS | executable)


def remove_tree(folder: Path, trash: Path) -> None:
    """Remove a folder: out of the way in one step, then file by file. An absent one is fine."""
    doomed = fresh_name(trash, folder.name)
    try:
        folder.chmod(stat.S_IRWXU)  # a read-only folder cannot be moved
        trash.mkdir(parents=True, exist_ok=True)
        folder.rename(doomed)
    except FileNotFoundError:
        return
    erase_tree(doomed)


def erase_tree(folder: Path) -> None:
    """Remove a folder file by file, also the read-only folders that some build tools make.

    When another process removes it too, one of them gives up and the other ends it.
    """
    with suppress(FileNotFoundError):
        folder.chmod(stat.S_IRWXU)
        for parent, folders, _ in os.walk(folder):
            for name in folders:
                path = Path(parent, name)
                if not path.is_symlink():
                    path.chmod(stat.S_IRWXU)
        shutil.rmtree(folder)


def _explained(folder: Path, error: OSError) -> MissingToolError:
    reason = (error.strerror or str(error)).lower()
    place = f" at `{error.filename}`" if error.filename else ""
    if error.errno in _FULL:
        message = f"no space is left for the cache in `{folder}`"
        hint = "choose a folder on a larger disk with `--cache`"
    elif error.errno in _REFUSED:
        message = f"the cache in `{folder}` cannot be written"
        hint = "choose a folder of your own with `--cache`"
    else:
        message = f"the cache in `{folder}` does not work"
        hint = "choose another folder with `--cache`"
    return MissingToolError(message, causes=[f"{reason}{place}"], hint=hint)
