"""What a job uses of the machine: CPU time of all its processes, memory of the largest one."""

import os
import subprocess
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from rvbuild.executor import Command, Completed, Executor, Usage
from rvbuild.executor.processes import collect

# utime, stime, cutime and cstime among the fields behind a process's name, proc(5).
TIMES = slice(11, 15)


@dataclass(slots=True)
class Meter:
    """An executor that adds up what its commands used, and what a server beside them does.

    Commands in containers tell nothing of it and count as nothing.
    """

    executor: Executor
    used: Usage = field(default_factory=Usage)
    server: int | None = None

    def run(
        self,
        command: Command,
        log: Path | None = None,
        on_line: Callable[[str], None] | None = None,
    ) -> Completed:
        """Run a command, as an executor does."""
        done = self.executor.run(command, log, on_line)
        self.used = self.used.plus(done.used)
        return done

    def watch(self, server: int) -> None:
        """Count a process and the children it has waited for, too."""
        self.server = server

    def collect(self, server: subprocess.Popen[bytes]) -> None:
        """Wait for a watched process, which has ended or is about to, and keep what it used."""
        self.server = None
        self.used = self.used.plus(collect(server))

    @property
    def cpu_seconds(self) -> float:
        """CPU time so far."""
        return self.used.cpu_seconds + _seconds_of(self.server)


def _seconds_of(server: int | None) -> float:
    if server is None:
        return 0.0
    try:
        text = Path(f"/proc/{server}/stat").read_text(errors="replace")
    except OSError:
        return 0.0
    # The name in brackets may itself hold spaces and brackets.
    ticks = sum(map(int, text.rpartition(")")[2].split()[TIMES]))
    return ticks / os.sysconf("SC_CLK_TCK")
