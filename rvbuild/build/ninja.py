"""What ninja says while it runs: how far it is, and everything that failed.

Ninja is asked to go on after a failure, so that an hour's build tells all of them at its end.
"""

import re
from collections import deque
from dataclasses import dataclass, field
from pathlib import Path

from rvbuild.events import Progress

# What ninja is told by its environment; `read` knows the default form too.
STATUS = "[%f/%t %es] "
KEEP_GOING = ("-k", "0")
KEPT_FAILURES = 20
PACE_STEPS = 40
KEPT_LINES = 40
LONGEST_LINE = 400

_STATUS = re.compile(r"\[(\d+)/(\d+)(?: (\d+(?:\.\d+)?)s)?\] ")
_FAILED = re.compile(r"FAILED: (?:\[code=\d+\] )?(.*?)\s*$")
_REASON = re.compile(r"[Ee]rror: |undefined (?:symbol|reference)|\bKilled\b")


@dataclass(frozen=True, slots=True)
class Failure:
    """One step that failed: what it was to make, and its output without the command itself."""

    target: str
    lines: tuple[str, ...]

    @property
    def reason(self) -> str:
        """The line that tells most: the first that speaks of an error, else the last."""
        told = (line for line in self.lines if _REASON.search(line))
        return next(told, self.lines[-1] if self.lines else "it printed nothing").strip()

    def __str__(self) -> str:
        return f"`{self.target}`: {self.reason}"


@dataclass(slots=True)
class NinjaOutput:
    """Reads a command's lines as they come; a lifetime that ends with the command."""

    progress: Progress | None = None
    count: int = 0
    _failures: list[tuple[str, list[str]]] = field(default_factory=list)
    _open: bool = False
    _pace: deque[tuple[int, float]] = field(
        default_factory=lambda: deque([(0, 0.0)], maxlen=PACE_STEPS)
    )

    def read(self, line: str) -> Progress | None:
        """Take the next line; give how far ninja is where the line tells it."""
        status = _STATUS.match(line)
        if status is not None:
            self._open = False
            self.progress = self._measure(status)
            return self.progress
        failed = _FAILED.match(line)
        if failed is not None:
            self._begin(failed[1])
        elif line.startswith("ninja: "):
            self._open = False
        elif self._open:
            self._keep(line)
        return None

    @property
    def failures(self) -> tuple[Failure, ...]:
        """The first failures, in the order they came."""
        # Ninja prints the command before its output.
        return tuple(Failure(target, tuple(lines[1:])) for target, lines in self._failures)

    def told(self) -> tuple[str, ...]:
        """Give a line for each failure, and how many more there were."""
        more = self.count - len(self._failures)
        rest = (f"and {more} more, all of them in the log",) if more else ()
        return (*map(str, self.failures), *rest)

    def _measure(self, status: re.Match[str]) -> Progress:
        """Reckon what is left by the pace of late: what a compiler cache knew came much faster."""
        done, total, seconds = int(status[1]), int(status[2]), float(status[3] or 0)
        if done < self._pace[-1][0]:
            # Another ninja, which counts from its own beginning.
            self._pace.clear()
            self._pace.append((0, 0.0))
        before, then = self._pace[0]
        self._pace.append((done, seconds))
        if done == before or not seconds:
            return Progress(done, total)
        return Progress(done, total, (seconds - then) * (total - done) / (done - before))

    def _begin(self, target: str) -> None:
        self.count += 1
        self._open = len(self._failures) < KEPT_FAILURES
        if self._open:
            self._failures.append((target, []))

    def _keep(self, line: str) -> None:
        lines = self._failures[-1][1]
        if len(lines) <= KEPT_LINES:
            lines.append(line[:LONGEST_LINE])


def wrap_ninja(wrapper: Path, program: Path) -> None:
    """Let `wrapper` start the ninja `program` so that it goes on after a failure.

    A wrapper serves whoever starts ninja; of the backends each has its own word for `-k`, or none.
    """
    wrapper.unlink(missing_ok=True)
    words = " ".join(KEEP_GOING)
    wrapper.write_text(f'#!/bin/sh\nexec "{program}" {words} "$@"\n', encoding="utf-8")
    wrapper.chmod(0o755)


def wrap_installed_ninja(folder: Path) -> None:
    """Do the same for a ninja that build requirements brought into `folder`, if they did."""
    installed, itself = folder / "ninja", folder / "ninja-itself"
    if installed.is_file():
        installed.rename(itself)
        wrap_ninja(installed, itself)
