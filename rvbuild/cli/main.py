"""The program `rvbuild`: its global options, its commands, and the way out of it."""

import os
import signal
import sys
from collections.abc import Sequence
from typing import Annotated, NoReturn

import typer

from rvbuild import __version__
from rvbuild.cli import (
    audit,
    caches,
    config,
    cpus,
    diff,
    doctor,
    image,
    indexes,
    kinds,
    patches,
    plans,
    recipes,
    scripts,
    shell,
    status,
    tests,
    triage,
    wheels,
)
from rvbuild.cli.failures import READER_GONE, boundary
from rvbuild.cli.invocation import Invocation, emit
from rvbuild.cli.usage import command_group

PROGRAM = "rvbuild"
COMPLETION = "_RVBUILD_COMPLETE"

app = command_group(
    "Build, audit, test and publish the Python wheels that RISC-V is missing.", completion=True
)
wheels.register(app)
plans.register(app)
tests.register(app)
triage.register(app)
scripts.register(app)
status.register(app)
shell.register(app)
doctor.register(app)
audit.register(app)
diff.register(app)
config.register(app)
indexes.register(app)
app.add_typer(recipes.app, name="recipe")
app.add_typer(caches.app, name="cache")
app.add_typer(cpus.app, name="cpu")
kinds.register(app)
app.add_typer(image.app, name="image")
app.add_typer(patches.app, name="patches")


def _show_version(wanted: bool) -> None:
    if wanted:
        emit(f"{PROGRAM} {__version__}")
        raise typer.Exit


@app.callback()
def start(  # noqa: PLR0913 - typer reads the global options from the parameters
    context: typer.Context,
    *,
    cache: Annotated[
        str | None, typer.Option(metavar="DIR", help="Where downloads, results and logs are kept.")
    ] = None,
    quiet: Annotated[
        bool, typer.Option("--quiet", "-q", help="Write nothing to stderr but errors.")
    ] = False,
    verbose: Annotated[
        int,
        typer.Option(
            "--verbose",
            "-v",
            count=True,
            show_default=False,
            help="Show tools' output; twice: tracebacks too.",
        ),
    ] = 0,
    no_color: Annotated[
        bool, typer.Option("--no-color", help="Write without colour, as NO_COLOR does.")
    ] = False,
    offline: Annotated[
        bool, typer.Option("--offline", help="Use only the cache and the offline folder.")
    ] = False,
    version: Annotated[  # noqa: ARG001 - its callback has done all there is to do
        bool,
        typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version."),
    ] = False,
) -> None:
    """Remember the global options for the command that follows."""
    given = {
        "cache": cache,
        "color": "never" if no_color else None,
        "offline": "true" if offline else None,
    }
    chosen = {key: (word,) for key, word in given.items() if word}
    context.obj = Invocation(verbosity=verbose, quiet=quiet, options=chosen)


def main(arguments: Sequence[str] | None = None) -> NoReturn:
    """Run the command line and exit with its code; no failure leaves as a traceback."""
    # A cancelled CI job gets SIGTERM; what was started has to be ended then just as after Ctrl-C.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    code = _exit_code(list(sys.argv[1:] if arguments is None else arguments))
    try:
        sys.stdout.flush()
    except BrokenPipeError:
        code = READER_GONE
    if code == READER_GONE:
        _silence()
    sys.exit(code)


def _exit_code(words: list[str]) -> int:
    command = typer.main.get_command(app)
    try:
        if os.environ.get(COMPLETION):
            command.main(words, prog_name=PROGRAM, complete_var=COMPLETION)
        with boundary(Invocation):
            context = command.make_context(PROGRAM, words)
        with boundary(lambda: context.find_object(Invocation) or Invocation()), context:
            command.invoke(context)
    except typer.Exit as end:
        return end.exit_code
    return 0


def _silence() -> None:
    """Point the output nowhere, so that the last flush does not complain of the lost reader."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    for stream in (sys.stdout, sys.stderr):
        os.dup2(nowhere, stream.fileno())
    os.close(nowhere)
