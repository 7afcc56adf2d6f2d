"""Looking after a store: listing entries, removing some, hashing all, clearing what kills left."""

import fnmatch
import os
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from rvbuild.store import disk
from rvbuild.store.entries import Store

# Long enough for any publishing that still goes on; nobody looks into these folders.
_LEFT_SECONDS = 24 * 3600.0


@dataclass(frozen=True, slots=True)
class Entry:
    """One result on the disk: `created` in seconds since the epoch; `job` empty if damaged."""

    key: str
    job: str
    size_bytes: int
    created: float

    def age_seconds(self, now: float) -> float:
        """How long it has been there at `now`, in seconds since the epoch."""
        return max(0.0, now - self.created)


def entries(store: Store) -> tuple[Entry, ...]:
    """List all results by job and age, newest first; for their size together, sum them up."""
    with disk.cache_access(store.root):
        found = [_entry(store, folder) for folder in _folders(store)]
    return tuple(sorted(found, key=lambda entry: (entry.job, -entry.created, entry.key)))


def named(listed: Iterable[Entry], pattern: str) -> tuple[Entry, ...]:
    """Choose entries by recipe name, job id, or a pattern of job ids such as `numpy-*:cp313`."""
    return tuple(
        entry
        for entry in listed
        if fnmatch.fnmatchcase(entry.job, pattern)
        or fnmatch.fnmatchcase(entry.job, f"{pattern}-[0-9]*:*")
    )


def older_than(listed: Iterable[Entry], seconds: float, now: float) -> tuple[Entry, ...]:
    """Choose entries that at `now` are older than so many seconds."""
    return tuple(entry for entry in listed if entry.age_seconds(now) > seconds)


def remove(store: Store, chosen: Iterable[Entry]) -> int:
    """Remove entries, each in one step; give the bytes that were freed."""
    freed = 0
    with disk.cache_access(store.root):
        for entry in chosen:
            disk.remove_tree(store.folder_of(entry.key), store.root / "trash")
            (store.root / "jobs" / disk.safe_name(entry.job) / entry.key).unlink(missing_ok=True)
            freed += entry.size_bytes
    return freed


def verify_all(store: Store) -> tuple[str, ...]:
    """Hash every result; damaged ones are moved aside and their keys given."""
    with disk.cache_access(store.root):
        keys = [folder.name for folder in _folders(store)]
    return tuple(key for key in keys if store.find(key) is None)


def clean(store: Store, now: float | None = None) -> int:
    """Remove damaged results and what killed processes left a day ago; give the freed bytes."""
    before = (time.time() if now is None else now) - _LEFT_SECONDS
    with disk.cache_access(store.root):
        doomed = [*_children(store.root / "damaged"), *_children(store.root / "trash")]
        doomed += [left for left in _children(store.root / "incoming") if _touched(left) < before]
        freed = sum(map(_size_bytes, doomed))
        for folder in doomed:
            disk.remove_tree(folder, store.root / "trash")
    return freed


def _folders(store: Store) -> Iterator[Path]:
    for group in _children(store.root):
        if len(group.name) == len("00"):
            yield from _children(group)


def _entry(store: Store, folder: Path) -> Entry:
    record = store.peek(folder.name)
    if record is None:
        return Entry(folder.name, "", _size_bytes(folder), _touched(folder))
    return Entry(record.key, record.job, record.size_bytes, record.created)


def _children(folder: Path) -> list[Path]:
    return sorted(folder.iterdir()) if folder.is_dir() else []


def _touched(path: Path) -> float:
    try:
        return path.stat().st_mtime
    except FileNotFoundError:
        return 0.0


def _size_bytes(folder: Path) -> int:
    return sum(
        Path(parent, name).lstat().st_size for parent, _, names in os.walk(folder) for name in names
    )
