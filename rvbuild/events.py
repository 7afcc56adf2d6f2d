"""What running work tells whoever watches: the core calls a `Watcher`, and never prints or logs."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a step is: parts done of all, and the seconds left where they are known."""

    done: int
    total: int
    seconds_left: float | None = None


class Watcher(Protocol):
    """Receives the progress of jobs, from any thread; `job` is like `markupsafe-3.0.3:cp313`."""

    def started(self, job: str, step: str) -> None:
        """A step of a job begins."""

    def finished(self, job: str, step: str, seconds: float, detail: str) -> None:
        """A step ended well; `detail` is a short result such as `from cache` or a file name."""

    def failed(self, job: str, step: str, seconds: float) -> None:
        """A step ended in an exception, which follows on its own way."""

    def line(self, job: str, text: str) -> None:
        """One line of a tool's output."""

    def progress(self, job: str, progress: Progress) -> None:
        """How far the running step of a job is; comes often."""

    def note(self, job: str, text: str) -> None:
        """Something the user should know, such as a default that was taken."""


class Silent:
    """A watcher that looks away."""

    def started(self, job: str, step: str) -> None:
        """Do nothing."""

    def finished(self, job: str, step: str, seconds: float, detail: str) -> None:
        """Do nothing."""

    def failed(self, job: str, step: str, seconds: float) -> None:
        """Do nothing."""

    def line(self, job: str, text: str) -> None:
        """Do nothing."""

    def progress(self, job: str, progress: Progress) -> None:
        """Do nothing."""

    def note(self, job: str, text: str) -> None:
        """Do nothing."""


@dataclass(slots=True)
class Detail:
    """What a step wants to say at its end; the only thing here that is written to."""

    text: str = ""


@contextmanager
def step(watch: Watcher, job: str, name: str) -> Iterator[Detail]:
    """Tell `watch` of a step's start and of its end, with its duration in seconds."""
    detail = Detail()
    begin = time.monotonic()
    watch.started(job, name)
    try:
        yield detail
    except BaseException:
        watch.failed(job, name, time.monotonic() - begin)
        raise
    watch.finished(job, name, time.monotonic() - begin, detail.text)
