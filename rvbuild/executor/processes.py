"""All processes of one run: found by a mark in their environment, and ended without exception."""

import os
import signal
import subprocess
import time
import uuid
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from rvbuild.executor import Usage

MARK = "RVBUILD_RUN"
SWEEPS = 40
PAUSE_SECONDS = 0.05


@dataclass(frozen=True, slots=True)
class Process:
    """One line of the process table; `marked` when it carries the mark of the run."""

    pid: int
    parent: int
    session: int
    marked: bool


def new_mark() -> str:
    """Make a mark for a run; a run within a run carries the marks of both."""
    return f"{os.environ.get(MARK, '')}:{uuid.uuid4().hex}".lstrip(":")


def collect(process: subprocess.Popen[bytes]) -> Usage:
    """Wait for a child, and say what it and the children that it waited for have used."""
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    return Usage(used.ru_utime + used.ru_stime, used.ru_maxrss // 1024)


def end_all(leader: int, mark: str) -> None:
    """Kill the group and session of `leader` and all that carry `mark` or descend from those.

    `leader` must not have been waited for yet, so that its number cannot mean another process.
    """
    with suppress(ProcessLookupError):
        os.killpg(leader, signal.SIGKILL)
    # Between the look and the kill a process may fork, so look again until nobody is left.
    for _ in range(SWEEPS):
        found = tuple(_of_run(leader, mark))
        if not found:
            return
        for pid in found:
            with suppress(ProcessLookupError, PermissionError):
                os.kill(pid, signal.SIGKILL)
        time.sleep(PAUSE_SECONDS)


def _of_run(leader: int, mark: str) -> Iterator[int]:
    table = {process.pid: process for process in _processes(mark.rpartition(":")[2].encode())}
    for process in table.values():
        if process.pid != leader and _belongs(process, table, leader):
            yield process.pid


def _belongs(process: Process, table: dict[int, Process], leader: int) -> bool:
    seen: set[int] = set()
    at: Process | None = process
    while at is not None and at.pid not in seen:
        if at.marked or at.session == leader:
            return True
        seen.add(at.pid)
        at = table.get(at.parent)
    return False


def _processes(mark: bytes) -> Iterator[Process]:
    own = os.getuid()
    for folder in Path("/proc").iterdir():
        if not folder.name.isdigit():
            continue
        # Processes end while they are looked at, and those of others may not be read.
        with suppress(OSError):
            if own in (0, folder.stat().st_uid):
                yield from _read(folder, mark)


def _read(folder: Path, mark: bytes) -> Iterator[Process]:
    # The name in brackets may itself hold spaces and brackets.
    fields = (folder / "stat").read_text(errors="replace").rpartition(")")[2].split()
    state, parent, _, session = fields[:4]
    if state not in "ZX":
        yield Process(int(folder.name), int(parent), int(session), _marked(folder, mark))


def _marked(folder: Path, mark: bytes) -> bool:
    try:
        return mark in (folder / "environ").read_bytes()
    except OSError:
        return False
