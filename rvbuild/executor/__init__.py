"""Running one command somewhere: what is run, what came of it, and who can run it."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol


@dataclass(frozen=True, slots=True)
class Command:
    """A command with its whole environment; nothing is inherited.

    `network` False asks for a run without network where the kernel allows it. `grace_seconds` is
    the time between a polite and a hard end when `timeout_seconds` is over.
    """

    argv: tuple[str, ...]
    cwd: Path
    environment: Mapping[str, str] = field(default_factory=dict)
    timeout_seconds: float | None = None
    grace_seconds: float = 5.0
    network: bool = True


@dataclass(frozen=True, slots=True)
class Usage:
    """CPU time of processes together, and the memory of the largest one (MiB)."""

    cpu_seconds: float = 0.0
    peak_mb: int = 0

    def plus(self, other: "Usage") -> "Usage":
        """Put two together."""
        return Usage(self.cpu_seconds + other.cpu_seconds, max(self.peak_mb, other.peak_mb))


@dataclass(frozen=True, slots=True)
class Completed:
    """How a command ended: `signal` is set if it was killed; `output` is both streams.

    `used` counts all processes that were waited for; a container's are not counted.
    """

    exit_code: int
    signal: int | None
    timed_out: bool
    seconds: float
    output: str
    used: Usage = Usage()

    @property
    def ok(self) -> bool:
        """True when it ended by itself with exit code 0."""
        return self.exit_code == 0 and self.signal is None and not self.timed_out

    def tail(self, lines: int = 40) -> tuple[str, ...]:
        """Give the last lines of the output."""
        return tuple(self.output.splitlines()[-lines:])


class Executor(Protocol):
    """Runs commands to their end, in this process's machine, a container or an emulated one."""

    def run(
        self,
        command: Command,
        log: Path | None = None,
        on_line: Callable[[str], None] | None = None,
    ) -> Completed:
        """Run to the end or the time limit; append output to `log`, give each line to `on_line`.

        Every process that the command started is gone when this returns or raises. Raises
        `MissingToolError` when the program does not exist or cannot be executed here.
        """
