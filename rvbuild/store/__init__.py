"""Finished results by content key, work folders of unfinished jobs, and the locks on both.

What a key is made of, and which steps a job has, is decided elsewhere.
"""

from rvbuild.store.entries import Store, Stored
from rvbuild.store.record import Draft, Record, StoredFile
from rvbuild.store.upkeep import Entry, clean, entries, named, older_than, remove, verify_all
from rvbuild.store.work import (
    Step,
    Work,
    close_work,
    find_work,
    mark_done,
    open_work,
    stopped_work,
)

__all__ = [
    "Draft",
    "Entry",
    "Record",
    "Step",
    "Store",
    "Stored",
    "StoredFile",
    "Work",
    "clean",
    "close_work",
    "entries",
    "find_work",
    "mark_done",
    "named",
    "older_than",
    "open_work",
    "remove",
    "stopped_work",
    "verify_all",
]
