"""Folders that appear whole or not at all, and the failures of the disk they are on."""

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from rvbuild.errors import SourceError


@contextmanager
def scratch_folder(near: Path) -> Iterator[Path]:
    """Give a temporary folder on the file system of `near`, beside it; it is gone at the end."""
    with writing(near):
        near.parent.mkdir(parents=True, exist_ok=True)
        made = tempfile.mkdtemp(prefix=f".{near.name}.", suffix=".part", dir=near.parent)
        folder = Path(made)
        folder.chmod(0o755)
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def new_folder(destination: Path) -> Iterator[Path]:
    """Give a temporary folder that becomes `destination` when the block ends well, else goes."""
    with scratch_folder(destination) as temporary:
        yield temporary
        with writing(destination):
            temporary.rename(destination)


def top_folder(folder: Path) -> Path:
    """Give the only entry of `folder` when that is a folder, else `folder`."""
    entries = list(folder.iterdir())
    if len(entries) == 1 and entries[0].is_dir() and not entries[0].is_symlink():
        return entries[0]
    return folder


@contextmanager
def writing(place: Path) -> Iterator[None]:
    """Turn a failure to write below `place` into `SourceError`."""
    try:
        yield
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise SourceError(
            f"cannot write `{place}`: {reason}",
            hint="free some space, or name another folder by `--cache`",
        ) from error
