"""Draws running work on stderr: a line for each finished step, tools' lines, a summary.

The live area of a terminal is `live`'s; logs are written by the pipeline.
"""

import re
import shutil
import threading
import time
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import TYPE_CHECKING, Self, TextIO

from rvbuild.events import Progress

if TYPE_CHECKING:
    from rvbuild.cli.live import LiveArea

GROUP_LINES = 2000
STEP_WIDTH = 10
WIDTH = 100
# How often a running step says how far it is where no live area shows it.
PROGRESS_SECONDS = 120.0
ESCAPES = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[@-Z\\-_])")
CONTROLS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")
CODES = {"green": "32", "red": "1;31", "cyan": "36", "yellow": "33", "dim": "2", "bold": "1"}


@dataclass(frozen=True, slots=True)
class Manner:
    """How to draw: `live` shows running steps, `groups` folds lines for GitHub Actions."""

    verbosity: int = 0
    quiet: bool = False
    color: bool = False
    live: bool = False
    groups: bool = False


@dataclass(frozen=True, slots=True)
class SummaryRow:
    """One wheel of the summary."""

    name: str
    size_bytes: int
    seconds: float
    sha256: str


def paint(text: str, style: str, color: bool) -> str:
    """Colour a text; unchanged without colour."""
    return f"\x1b[{CODES[style]}m{text}\x1b[0m" if color and text else text


def plain(text: str) -> str:
    """Drop what moves the cursor or colours; of an overwritten line the last state stays."""
    bare = ESCAPES.sub("", text).rstrip("\r\n").rpartition("\r")[2]
    return CONTROLS.sub("", bare)


def duration(seconds: float) -> str:
    """Write a duration in the two largest units, such as `1.4 s` or `3 min 05 s`."""
    if seconds < 59.95:  # noqa: PLR2004 - would be drawn as 60.0
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    if minutes < 60:  # noqa: PLR2004 - minutes of an hour
        return f"{minutes} min {rest:02} s"
    return f"{minutes // 60} h {minutes % 60:02} min"


def size(size_bytes: int) -> str:
    """Write a size, such as `11.2 MB`."""
    if size_bytes < 1000:  # noqa: PLR2004 - bytes of a kilobyte
        return f"{size_bytes} B"
    value = size_bytes / 1000
    for unit in ("kB", "MB"):
        if value < 999.95:  # noqa: PLR2004 - would be drawn as 1000.0
            return f"{value:.1f} {unit}"
        value /= 1000
    return f"{value:.1f} GB"


def how_far(progress: Progress) -> str:
    """Write progress, such as `412 of 1491, 3 min 05 s left`."""
    text = f"{progress.done} of {progress.total}"
    if progress.seconds_left is None or progress.done == progress.total:
        return text
    return f"{text}, {duration(progress.seconds_left)} left"


def table(rows: Sequence[Sequence[str]], right: Sequence[int] = ()) -> str:
    """Lay rows out in columns two spaces apart; the columns of `right` are flush right."""
    widths = [max(len(cell) for cell in column) for column in zip(*rows, strict=True)]
    lines = (
        "  ".join(
            cell.rjust(width) if number in right else cell.ljust(width)
            for number, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in rows
    )
    return "\n".join(lines)


def draw_summary(rows: Sequence[SummaryRow]) -> str:
    """Draw the table at the end: name, size, time and sha256; empty for no rows."""
    if not rows:
        return ""
    head = ("name", "size", "time", "sha256")
    body = [(row.name, size(row.size_bytes), duration(row.seconds), row.sha256) for row in rows]
    return table([head, *body], right=(1, 2))


class ConsoleWatcher:
    """A `Watcher` that draws, from any thread; take it with `with`, so that the live area ends."""

    def __init__(self, stream: TextIO, manner: Manner) -> None:
        self._stream = stream
        self._manner = manner
        self._live: LiveArea | None = None
        self._running: dict[tuple[str, str], float] = {}
        self._progress: dict[str, Progress] = {}
        self._told: dict[str, float] = {}
        self._held: dict[str, deque[str]] = {}
        # The live area's own thread asks what is running while it holds the terminal, so nobody
        # may wait for the terminal with the state locked: two locks, never the second in the first.
        self._state = threading.Lock()
        self._output = threading.Lock()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        with self._output:
            if self._live is not None:
                self._live.stop()
                self._live = None

    def started(self, job: str, step: str) -> None:
        """Put a step among the running ones; with `-v` say so."""
        with self._state:
            self._running[job, step] = time.monotonic()
            self._held[job] = deque(maxlen=GROUP_LINES)
            self._progress.pop(job, None)
            self._told[job] = time.monotonic()
        if self._manner.live:
            self._open_live()
        if self._manner.verbosity:
            self._write(f"{job}  {self._paint(step, 'dim')}")

    def finished(self, job: str, step: str, seconds: float, detail: str) -> None:
        """Draw the line of a step that ended well."""
        words = f"{job}  {step:<{STEP_WIDTH}}  {plain(detail)}".rstrip()
        self._end(job, step, self._line(words, seconds, "green"), fold=True)

    def failed(self, job: str, step: str, seconds: float) -> None:
        """Draw the line of a step that failed; its output stays unfolded."""
        self._end(job, step, self._line(f"{job}  {step} failed", seconds, "red"), fold=False)

    def line(self, job: str, text: str) -> None:
        """Draw a tool's line with `-v`; under GitHub Actions keep it for the step's group."""
        prefixed = f"{job.partition(':')[0]}: {plain(text)}"
        if self._manner.groups:
            with self._state:
                self._held.setdefault(job, deque(maxlen=GROUP_LINES)).append(prefixed)
        elif self._manner.verbosity:
            self._write(prefixed)

    def progress(self, job: str, progress: Progress) -> None:
        """Show how far a job's step is: in the live area, else by a line every two minutes."""
        now = time.monotonic()
        with self._state:
            self._progress[job] = progress
            due = now - self._told.get(job, now) >= PROGRESS_SECONDS
            if due:
                self._told[job] = now
        if due and not self._manner.live:
            self._write(f"{job}  {how_far(progress)}")

    def note(self, job: str, text: str) -> None:
        """Draw something the user should know."""
        words = f"{job}: {plain(text)}" if job else plain(text)
        self._write(f"{self._paint('note:', 'cyan')} {words}")

    def running(self) -> tuple[tuple[str, str, float], ...]:
        """Give job, step with its progress, and elapsed seconds of all that runs, oldest first."""
        now = time.monotonic()
        with self._state:
            return tuple(
                (job, self._described(job, step), now - begin)
                for (job, step), begin in self._running.items()
            )

    def _described(self, job: str, step: str) -> str:
        progress = self._progress.get(job)
        return step if progress is None else f"{step}  {how_far(progress)}"

    def _end(self, job: str, step: str, line: str, *, fold: bool) -> None:
        with self._state:
            self._running.pop((job, step), None)
            self._progress.pop(job, None)
            held = list(self._held.pop(job, ()))
        if not held:
            self._write(line)
        elif fold:
            self._write("\n".join([f"::group::{line}", *held, "::endgroup::"]))
        else:
            self._write("\n".join([*held, line]))

    def _line(self, words: str, seconds: float, style: str) -> str:
        """Set the duration flush right, where the terminal is wide enough to tell."""
        took = duration(seconds)
        columns = shutil.get_terminal_size((WIDTH, 24)).columns if self._manner.live else WIDTH
        room = columns - len(took) - 2
        if self._manner.live and len(words) > room:
            words = f"{words[: max(room - 1, 0)]}…"
        job, gap, rest = words.partition("  ")
        return f"{self._paint(job, style)}{gap}{rest}{' ' * max(room - len(words), 0)}  {took}"

    def _paint(self, text: str, style: str) -> str:
        return paint(text, style, self._manner.color)

    def _open_live(self) -> None:
        from rvbuild.cli.live import LiveArea

        with self._output:
            if self._live is None:
                self._live = LiveArea(self._stream, self.running, color=self._manner.color)

    def _write(self, text: str) -> None:
        if self._manner.quiet:
            return
        with self._output:
            if self._live is not None:
                self._live.write(text)
            else:
                self._stream.write(f"{text}\n")
                self._stream.flush()
