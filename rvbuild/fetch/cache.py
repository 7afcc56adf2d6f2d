"""The folder of verified downloads: one entry for each sha256, stamped to save hashing again."""

import hashlib
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from filelock import FileLock

from rvbuild.errors import SourceError
from rvbuild.fetch.model import Remote

_SHA256 = re.compile(r"[0-9a-f]{64}")


@dataclass(frozen=True, slots=True)
class Entry:
    """Where one pinned file lies; other files in its folder belong to it."""

    folder: Path
    file_name: str
    sha256: str

    @property
    def path(self) -> Path:
        """The file itself, there only when its bytes were right."""
        return self.folder / self.file_name

    @property
    def stamp(self) -> Path:
        """Size and modification time of the file when it was last hashed."""
        return self.folder / f".{self.file_name}.stamp"


def entry_of(remote: Remote, downloads: Path) -> Entry:
    """Give the entry of a file; raise `SourceError` when its name or its sha256 cannot be one."""
    name = remote.file_name
    if name in {"", ".", ".."} or "/" in name or "\0" in name:
        raise SourceError(f"`{name}` is not a file name")
    if not _SHA256.fullmatch(remote.sha256):
        raise SourceError(f"`{remote.sha256}` of `{name}` is not a sha256")
    return Entry(downloads / remote.sha256[:2] / remote.sha256, name, remote.sha256)


def intact(entry: Entry) -> bool:
    """Say whether the file is there with the pinned bytes; hash it only when its stamp is stale."""
    try:
        if not entry.path.is_file():
            return False
        if _read_stamp(entry) == _stamp_text(entry.path):
            return True
        if sha256_of(entry.path) != entry.sha256:
            return False
    except OSError:
        return False
    put_stamp(entry)
    return True


def put_aside(entry: Entry, wrong: Path, actual: str) -> Path:
    """Keep a file with other bytes next to the entry, under a name that tells them."""
    with _disk(entry.folder):
        return wrong.replace(entry.folder / f"{entry.file_name}.other-{actual[:12]}")


def put_damaged_aside(entry: Entry) -> Path | None:
    """Move a file that is not intact out of the way; give its new path. Needs the lock."""
    with _disk(entry.folder):
        return put_aside(entry, entry.path, sha256_of(entry.path)) if entry.path.exists() else None


def put_stamp(entry: Entry) -> None:
    """Remember that the file was hashed and right; a read-only cache stays as it is."""
    with suppress(OSError):
        entry.stamp.write_text(_stamp_text(entry.path), encoding="ascii")


@contextmanager
def locked(entry: Entry) -> Iterator[None]:
    """Hold the entry against every other thread and process."""
    lock = FileLock(entry.folder / ".lock")
    with _disk(entry.folder):
        entry.folder.mkdir(parents=True, exist_ok=True)
        lock.acquire()
    try:
        yield
    finally:
        lock.release()


@contextmanager
def partial(entry: Entry) -> Iterator[tuple[BinaryIO, Path]]:
    """Open a new file for a download; it is gone at the end unless it was moved. Needs the lock."""
    with _disk(entry.folder):
        # Whoever holds the lock is alone, so what is found here was left by a killed run.
        for left in entry.folder.glob(".*.part"):
            left.unlink(missing_ok=True)
        path = entry.folder / f".{entry.file_name}.{os.getpid()}.part"
        stream = path.open("w+b", buffering=0)
    try:
        with stream:
            yield stream, path
    finally:
        path.unlink(missing_ok=True)


def keep(entry: Entry, stream: BinaryIO, path: Path) -> Path:
    """Make a verified download the entry's file, in one step."""
    with _disk(entry.folder):
        os.fsync(stream.fileno())
        path.replace(entry.path)
    put_stamp(entry)
    return entry.path


def write_chunk(stream: BinaryIO, chunk: bytes) -> None:
    """Write all of `chunk`; raise `SourceError` when the disk does not take it."""
    with _disk(Path(stream.name).parent):
        view = memoryview(chunk)
        while view:
            view = view[stream.write(view) :]


def sha256_of(path: Path) -> str:
    """Hash a file; 64 hex digits."""
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def _read_stamp(entry: Entry) -> str:
    try:
        return entry.stamp.read_text(encoding="ascii")
    except (OSError, UnicodeDecodeError):
        return ""


def _stamp_text(path: Path) -> str:
    facts = path.stat()
    return f"{facts.st_size} {facts.st_mtime_ns}\n"


@contextmanager
def _disk(folder: Path) -> Iterator[None]:
    try:
        yield
    except (OSError, NotImplementedError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise SourceError(
            f"cannot write to the download cache: {reason.lower()}",
            causes=[f"`{folder}`"],
            hint="free some space, or name another folder by `--cache`",
        ) from error
