"""What is remembered of a finished job: what it read, what it made and how long it took."""

import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from functools import cache
from json import dumps

from pydantic import TypeAdapter

SCHEMA = "rvbuild.record/1"


@dataclass(frozen=True, slots=True)
class StoredFile:
    """A file of a result, or a link when `target` is given; sha256 and size are then the target's.

    `path` is relative to the result's folder, with `/` between its parts.
    """

    path: str
    sha256: str
    size_bytes: int
    executable: bool = False
    target: str | None = None


@dataclass(frozen=True, slots=True)
class Draft:
    """What the builder of a job knows of it.

    `inputs` is what the key hashes, `seconds` and `cpu_seconds` are by step, `peak_mb` is the
    memory of the largest process of the run that finished it, `requirements` the build requirements
    that were used with their hashes, `created` is in seconds since the epoch.
    """

    job: str
    inputs: Mapping[str, str]
    rvbuild_version: str
    seconds: Mapping[str, float] = field(default_factory=dict)
    requirements: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    created: float = field(default_factory=time.time)
    cpu_seconds: Mapping[str, float] = field(default_factory=dict)
    peak_mb: int = 0


@dataclass(frozen=True, slots=True)
class Record:
    """A published result: its key, its files, and what its builder knew (see `Draft`)."""

    key: str
    job: str
    inputs: Mapping[str, str]
    files: tuple[StoredFile, ...]
    seconds: Mapping[str, float]
    requirements: tuple[str, ...]
    notes: tuple[str, ...]
    rvbuild_version: str
    created: float
    cpu_seconds: Mapping[str, float] = field(default_factory=dict)
    peak_mb: int = 0

    @property
    def size_bytes(self) -> int:
        """The size of all its files."""
        return sum(file.size_bytes for file in self.files)

    @property
    def total_seconds(self) -> float:
        """How long all its steps took."""
        return sum(self.seconds.values())

    @property
    def total_cpu_seconds(self) -> float:
        """CPU time of all its steps, 0 where nobody counted."""
        return sum(self.cpu_seconds.values())


def complete(draft: Draft, key: str, files: tuple[StoredFile, ...]) -> Record:
    """Make the record of a draft whose files are known."""
    return Record(
        key=key,
        job=draft.job,
        inputs=draft.inputs,
        files=files,
        seconds=draft.seconds,
        requirements=draft.requirements,
        notes=draft.notes,
        rvbuild_version=draft.rvbuild_version,
        created=draft.created,
        cpu_seconds=draft.cpu_seconds,
        peak_mb=draft.peak_mb,
    )


def record_as_text(record: Record) -> str:
    """Write a record as JSON that ends in a newline."""
    return dumps({"schema": SCHEMA, **asdict(record)}, indent=1, sort_keys=True) + "\n"


def record_from_text(text: str) -> Record:
    """Read a record; raise `ValueError` when the text is not one."""
    return _reader().validate_json(text)


@cache
def _reader() -> TypeAdapter[Record]:
    return TypeAdapter(Record)
