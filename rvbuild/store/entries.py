"""The store: immutable results under `KEY[:2]/KEY`, each a `record.json` and a `files` folder."""

import errno
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

from filelock import FileLock, Timeout

from rvbuild.errors import BuildError
from rvbuild.events import Silent, Watcher
from rvbuild.store import disk
from rvbuild.store.files import link_tree, list_files, same_shape
from rvbuild.store.record import Draft, Record, complete, record_as_text, record_from_text

_TAKEN = {errno.ENOTEMPTY, errno.EEXIST}


@dataclass(frozen=True, slots=True)
class Stored:
    """A result in the store: its record, and the read-only folder of its files."""

    record: Record
    files: Path

    @property
    def folder(self) -> Path:
        """The folder of the whole entry."""
        return self.files.parent


@dataclass(frozen=True, slots=True)
class Store:
    """Results below `root`, for any number of threads and processes at once.

    Every method raises `MissingToolError` when the disk is full, read-only or broken.
    """

    root: Path
    watch: Watcher = field(default_factory=Silent)

    def folder_of(self, key: str) -> Path:
        """The place of a key's entry, whether it is there or not."""
        return self.root / key[:2] / key

    def peek(self, key: str) -> Record | None:
        """Give a record whose files are all there in their sizes, without reading them."""
        folder = self.folder_of(key)
        with disk.cache_access(self.root):
            try:
                record = _read_record(folder, key)
                return record if same_shape(folder / "files", record.files) else None
            except (FileNotFoundError, NotADirectoryError, ValueError):
                return None

    def find(self, key: str) -> Stored | None:
        """Give a result after hashing its files; a damaged one is moved aside, not given."""
        folder = self.folder_of(key)
        with disk.cache_access(self.root):
            if not folder.exists():
                return None
            try:
                stored = Stored(_read_record(folder, key), folder / "files")
            except (FileNotFoundError, NotADirectoryError, ValueError):
                self._move_aside(folder, key)
                return None
        return stored if self.verify(stored) else None

    def verify(self, stored: Stored) -> bool:
        """Hash all files of a result; move it aside and answer False when anything differs."""
        record = stored.record
        with disk.cache_access(self.root):
            if _intact(stored):
                return True
            self._move_aside(stored.folder, record.job)
        return False

    def publish(self, key: str, staging: Path, draft: Draft) -> Stored:
        """Put what is in `staging` into the store in one step, and remove `staging`.

        When the key is there already, made earlier or by another process meanwhile, that result
        stays. `staging` is whole until the result is in the store. Raises `BuildError` for links
        that leave the staging folder.
        """
        with disk.cache_access(self.root):
            stored = self.find(key) or self._insert(key, staging, draft)
            disk.remove_tree(staging, self.root / "trash")
        return stored

    def latest(self, job: str) -> Record | None:
        """Give the newest record of a job id, whatever its key."""
        with disk.cache_access(self.root):
            marks = self._marks(job)
            keys = sorted(mark.name for mark in marks.iterdir()) if marks.is_dir() else []
        records = [record for key in keys if (record := self.peek(key)) is not None]
        return max(records, key=lambda record: (record.created, record.key), default=None)

    @contextmanager
    def lock(self, name: str) -> Iterator[None]:
        """Hold a name, such as a job id, against every other thread and process; waits for it.

        The lock ends with the process, however that ends.
        """
        folder = self.root / "locks"
        lock = FileLock(folder / f"{disk.safe_name(name)}.lock")
        with disk.cache_access(self.root):
            folder.mkdir(parents=True, exist_ok=True)
            try:
                lock.acquire(timeout=0)
            except Timeout:
                self.watch.note(name, f"waiting for another rvbuild that works on `{name}`")
                lock.acquire()
        try:
            yield
        finally:
            lock.release()

    def _insert(self, key: str, staging: Path, draft: Draft) -> Stored:
        record = complete(draft, key, list_files(staging))
        incoming = disk.fresh_name(self.root / "incoming", key)
        try:
            link_tree(staging, incoming / "files")
            disk.write_atomically(incoming / "record.json", record_as_text(record))
            (incoming / "record.json").chmod(0o444)
            self._mark(record)
            return self._enter(incoming, record)
        except BaseException:
            with suppress(OSError):
                disk.erase_tree(incoming)
            raise

    def _enter(self, incoming: Path, record: Record) -> Stored:
        folder = self.folder_of(record.key)
        folder.parent.mkdir(parents=True, exist_ok=True)
        try:
            incoming.rename(folder)
        except OSError as error:
            if error.errno not in _TAKEN:
                raise
            # Another process was first with the same key. Its result counts if it is whole.
            other = self.find(record.key)
            if other is not None:
                disk.erase_tree(incoming)
                return other
            incoming.rename(folder)
        disk.sync(folder.parent)
        return Stored(record, folder / "files")

    def _mark(self, record: Record) -> None:
        # Written before the entry appears, so that no entry is without; `latest` ignores the rest.
        marks = self._marks(record.job)
        marks.mkdir(parents=True, exist_ok=True)
        (marks / record.key).touch()

    def _marks(self, job: str) -> Path:
        return self.root / "jobs" / disk.safe_name(job)

    def _move_aside(self, folder: Path, job: str) -> None:
        damaged = self.root / "damaged"
        try:
            damaged.mkdir(parents=True, exist_ok=True)
            folder.rename(disk.fresh_name(damaged, folder.name))
        except FileNotFoundError:
            return
        except OSError as error:
            # It stays where it is and is not used; building the job anew will meet the cause.
            self.watch.note(job, f"a damaged result cannot be moved aside: {error.strerror}")
            return
        self.watch.note(job, f"a damaged result was moved aside to `{damaged}`")


def _read_record(folder: Path, key: str) -> Record:
    record = record_from_text((folder / "record.json").read_text(encoding="utf-8"))
    if record.key != key:
        message = f"record of {record.key}"
        raise ValueError(message)
    return record


def _intact(stored: Stored) -> bool:
    try:
        return list_files(stored.files) == stored.record.files
    except (FileNotFoundError, NotADirectoryError, BuildError):
        return False
