"""Builds recipe `demo` of a prepared house, as a program of its own that can be interrupted.

    python -m tests.pipeline_program HOUSE PINS COMPILER_CACHE UMASK JOBS

Writes one JSON list for each event, and the outcome last.
"""

import json
import os
import platform
import signal
import sys
from pathlib import Path

from rvbuild.events import Silent
from rvbuild.executor.environment import index_environment
from rvbuild.executor.local import LocalExecutor
from rvbuild.fetch.configuration import discover
from rvbuild.pipeline import House, Options, plan_for, run_plan
from rvbuild.places import Places
from rvbuild.recipe.catalogue import Catalogue
from rvbuild.target import Floor


def write(*words: object) -> None:
    """Write one event."""
    sys.stdout.write(json.dumps(words) + "\n")
    sys.stdout.flush()


class Writer(Silent):
    """A watcher that writes what is started and ended."""

    def started(self, job: str, step: str) -> None:
        write("started", job, step)

    def finished(self, job: str, step: str, seconds: float, detail: str) -> None:  # noqa: ARG002 - a watcher's own signature
        write("finished", job, step)


def main(root: Path, pins: Path, compiler_cache: str, umask: str, jobs: str) -> None:
    """Plan and build."""
    os.umask(int(umask, 8))
    house = House(
        places=Places(root / "cache"),
        network=discover(os.environ),
        watch=Writer(),
        executor=LocalExecutor(),
        catalogue=Catalogue((root / "recipes",)),
        pins=pins,
        host=platform.machine(),
        environment=index_environment(dict(os.environ)),
    )
    options = Options(
        ("demo",),
        ("3.13",),
        Floor(2, 31),
        jobs=int(jobs),
        compiler_cache=compiler_cache,
        test=False,
    )
    outcome = run_plan(plan_for(options, house), options, house)[-1]
    error = outcome.error
    causes = [error.message, *error.causes, *error.tail] if error is not None else []
    write("outcome", outcome.state, str(outcome.wheel or ""), causes)


if __name__ == "__main__":
    # What a shell starts in the background ignores interrupts, and that is inherited.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    main(Path(sys.argv[1]), Path(sys.argv[2]), *sys.argv[3:])
