"""`rvbuild shell`: the environment of a stopped job, for a person or for one command."""

import os
import re
import signal
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, Annotated

import typer

from rvbuild.cli import wishes
from rvbuild.cli.house import open_house
from rvbuild.cli.invocation import tell, watcher
from rvbuild.cli.spelling import listed
from rvbuild.cli.wishes import Wish, pipeline_options, wished_settings
from rvbuild.errors import MissingToolError, NothingSelectedError, UsageError

if TYPE_CHECKING:
    from rvbuild.pipeline.stopped import StoppedJob
    from rvbuild.places import Places
    from rvbuild.store import Work

SHELL = "/bin/sh"
SIGNAL_BASE = 128


def register(program: typer.Typer) -> None:
    """Add the command to the program."""
    program.command("shell")(open_shell)


def open_shell(
    context: typer.Context,
    name: Annotated[
        str, typer.Argument(metavar="NAME|JOB", help="A recipe, or a job like `numpy-2.5.5:cp313`.")
    ],
    words: Annotated[
        list[str] | None,
        typer.Argument(metavar="COMMAND", help="What to run in place of a shell, after `--`."),
    ] = None,
    *,
    pythons: wishes.Pythons = None,
    floor: wishes.Floor = None,
    toolchain: wishes.Toolchain = None,
) -> None:
    """Open a shell in a stopped job, with its build's environment."""
    from rvbuild.pipeline.stopped import reopen

    chosen = wished_settings(context, pythons=pythons, floor=floor, toolchain=toolchain)
    options = pipeline_options(chosen, Wish(()))
    work = choose_work(name, pythons or (), chosen.places)
    with ExitStack() as stack:
        # What is drawn while kits are made ready has to be gone when the shell comes.
        with watcher(context, chosen) as watch:
            job = stack.enter_context(reopen(work, options, open_house(chosen, watch)))
        if job.changed:
            tell(context, f"note: {work.job} would be built anew by now: its inputs changed")
        if not words:
            tell(context, f"{work.job} in `{job.folder}`: `exit` leaves")
        code = _start(words or _shell(), job)
    raise typer.Exit(code)


def _shell() -> tuple[str, ...]:
    return (os.environ.get("SHELL") or SHELL,)


def choose_work(name: str, asked: Sequence[str], places: "Places") -> "Work":
    """Choose the stopped job that a name means, of the Pythons asked for, if any.

    Raises `NothingSelectedError` when there is none, `UsageError` when there are several.
    """
    from rvbuild.store import stopped_work
    from rvbuild.target import python_tag

    stopped = stopped_work(places)
    tags = {python_tag(version) for version in asked}
    fitting = [work for work in stopped if _means(name, work.job)]
    fitting = [work for work in fitting if not tags or work.job.rpartition(":")[2] in tags]
    if len(fitting) > 1:
        jobs = listed(work.job for work in fitting)
        raise UsageError(f"several jobs of `{name}` stopped", hint=f"name one of {jobs}")
    if not fitting:
        jobs = listed(work.job for work in stopped)
        hint = f"stopped are {jobs}" if stopped else "a job that fails in its build stays here"
        raise NothingSelectedError(f"there is no stopped job of `{name}`", hint=hint)
    return fitting[0]


def _means(name: str, job: str) -> bool:
    from rvbuild.recipe.model import normalise

    label = job.rpartition(":")[0]
    plain, _, version = name.partition("==")
    if version:
        return label == f"{normalise(plain)}-{version}"
    return name in (job, label) or bool(re.fullmatch(rf"{re.escape(normalise(name))}-\d.*", label))


def _start(words: Sequence[str], job: "StoppedJob") -> int:
    """Run a program in front until it ends, and give its exit code."""
    with _without_interrupts():
        try:
            done = subprocess.run(
                list(words), cwd=job.folder, env=dict(job.environment), check=False
            )
        except OSError as error:
            raise MissingToolError(
                f"program `{words[0]}` cannot be started",
                causes=[f"{error.strerror}; searched in `{job.environment['PATH']}`"],
            ) from error
    return done.returncode if done.returncode >= 0 else SIGNAL_BASE - done.returncode


@contextmanager
def _without_interrupts() -> Iterator[None]:
    """Leave Ctrl-C to the program in front, which gets it too."""
    # Not ignored, since that would pass to the program.
    before = signal.signal(signal.SIGINT, lambda *_: None)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
