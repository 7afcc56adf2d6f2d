"""Work folders of unfinished jobs, and which of a job's steps are done in them.

Knows nothing of what steps do. Whoever opens a work folder holds the job's lock.
"""

from dataclasses import asdict, dataclass, replace
from functools import cache
from json import dumps
from pathlib import Path

from pydantic import TypeAdapter

from rvbuild.places import Places
from rvbuild.store import disk

SCHEMA = "rvbuild.work/1"
_STATE = "state.json"


@dataclass(frozen=True, slots=True)
class Step:
    """A step that is done: how long it took, a short result such as a file name, its CPU time."""

    name: str
    seconds: float
    detail: str = ""
    cpu_seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class Work:
    """A job's work folder, and the steps done in it, in order.

    A step that was killed may have left files in `folder`; running it again may use them.
    """

    places: Places
    job: str
    key: str
    steps: tuple[Step, ...] = ()

    @property
    def folder(self) -> Path:
        """The folder, by the job's id: it is the same for every key."""
        return self.places.work / disk.safe_name(self.job)

    def is_done(self, step: str) -> bool:
        """Say whether a step was marked."""
        return any(done.name == step for done in self.steps)


@dataclass(frozen=True, slots=True)
class _State:
    job: str
    key: str
    steps: tuple[Step, ...]


def find_work(places: Places, job: str, key: str) -> Work | None:
    """Give what a run with the same key left of a job, and change nothing."""
    work = Work(places, job, key)
    with disk.cache_access(places.cache):
        state = _read(work.folder / _STATE)
    if state is None or state.key != key:
        return None
    return replace(work, steps=state.steps)


def stopped_work(places: Places) -> tuple[Work, ...]:
    """List the work folders that runs left behind with their steps, by job, and change nothing."""
    with disk.cache_access(places.cache):
        states = [_read(path) for path in sorted(places.work.glob(f"*/{_STATE}"))]
    found = [Work(places, state.job, state.key, state.steps) for state in states if state]
    return tuple(found)


def open_work(places: Places, job: str, key: str) -> Work:
    """Open a job's work folder where a run with the same key left it, else an empty one.

    Raises `MissingToolError` when the disk is full, read-only or broken.
    """
    found = find_work(places, job, key)
    if found is not None:
        return found
    work = Work(places, job, key)
    # The old state goes with its folder in one step: steps never outlive their files.
    close_work(work)
    with disk.cache_access(places.cache):
        work.folder.mkdir(parents=True)
        _write(work)
    return work


def mark_done(
    work: Work, step: str, seconds: float, detail: str = "", cpu_seconds: float = 0.0
) -> Work:
    """Remember that a step is done, on the disk before this returns; give the work as it now is."""
    others = tuple(done for done in work.steps if done.name != step)
    marked = replace(work, steps=(*others, Step(step, seconds, detail, cpu_seconds)))
    with disk.cache_access(work.places.cache):
        _write(marked)
    return marked


def close_work(work: Work) -> None:
    """Remove a work folder, as when its result is in the store; an absent one is fine."""
    with disk.cache_access(work.places.cache):
        disk.remove_tree(work.folder, work.places.store / "trash")


def _write(work: Work) -> None:
    state = _State(work.job, work.key, work.steps)
    text = dumps({"schema": SCHEMA, **asdict(state)}, indent=1)
    disk.write_atomically(work.folder / _STATE, f"{text}\n")


def _read(path: Path) -> _State | None:
    try:
        return _reader().validate_json(path.read_text(encoding="utf-8"))
    except (FileNotFoundError, NotADirectoryError, ValueError):
        # A folder without a readable state was not opened to its end, or is damaged.
        return None


@cache
def _reader() -> TypeAdapter[_State]:
    return TypeAdapter(_State)
