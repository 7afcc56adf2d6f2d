"""One run of the command line: its global options, and how a command speaks.

Results go to stdout, everything else to stderr. The one place that looks at the real environment.
"""

import json
import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from rvbuild.errors import UsageError

if TYPE_CHECKING:
    from rvbuild.cli.report import ConsoleWatcher
    from rvbuild.cli.settings import Settings, Surroundings
    from rvbuild.fetch.model import Network

JsonOption = Annotated[bool, typer.Option("--json", help="Write one JSON document.")]


@dataclass(frozen=True, slots=True)
class Invocation:
    """The options before the command; `options` holds those that are settings, by key."""

    verbosity: int = 0
    quiet: bool = False
    options: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


def invocation(context: typer.Context) -> Invocation:
    """Give the run that a command belongs to."""
    return context.find_object(Invocation) or Invocation()


def settings(context: typer.Context, **options: tuple[str, ...] | None) -> "Settings":
    """Settle the settings, with a command's own options on top; None or empty is not given."""
    own = {key: words for key, words in options.items() if words}
    return settle(invocation(context), own)


def settle(run: Invocation, own: Mapping[str, tuple[str, ...]] | None = None) -> "Settings":
    """Settle the settings of a run; raises what `load_settings` does."""
    from rvbuild.cli.settings import load_settings

    return load_settings({**run.options, **(own or {})}, surroundings())


def surroundings() -> "Surroundings":
    """Look round: environment, current folder, the user's own folders."""
    import platformdirs

    from rvbuild.cli.settings import FILE_NAME, Surroundings

    try:
        folder = Path.cwd()
    except FileNotFoundError as error:
        raise UsageError("the current folder does not exist any more") from error
    return Surroundings(
        environment=dict(os.environ),
        folder=folder,
        user_file=platformdirs.user_config_path("rvbuild") / FILE_NAME,
        user_cache=platformdirs.user_cache_path("rvbuild"),
    )


def network(chosen: "Settings") -> "Network":
    """Find out how files are reached, with `offline` and `offline_dir` as they were settled."""
    from rvbuild.fetch.configuration import discover

    found = discover(dict(os.environ))
    return replace(found, offline=chosen.offline, offline_folder=chosen.offline_dir)


def watcher(context: typer.Context, chosen: "Settings") -> "ConsoleWatcher":
    """Make the watcher that draws on stderr; use it with `with`."""
    from rvbuild.cli.report import ConsoleWatcher, Manner

    run = invocation(context)
    terminal = sys.stderr.isatty() and os.environ.get("TERM") != "dumb"
    manner = Manner(
        verbosity=run.verbosity,
        quiet=run.quiet,
        color=uses_color(chosen.color),
        live=terminal and not run.quiet,
        groups=os.environ.get("GITHUB_ACTIONS") == "true",
    )
    return ConsoleWatcher(sys.stderr, manner)


def uses_color(wish: str) -> bool:
    """Say whether stderr gets colour, for the setting `auto`, `always` or `never`."""
    if wish != "auto":
        return wish == "always"
    return sys.stderr.isatty() and os.environ.get("TERM") != "dumb"


def emit(text: str) -> None:
    """Write a result to stdout."""
    typer.echo(text)


def emit_json(document: Mapping[str, object]) -> None:
    """Write a result to stdout as one JSON document, which has to have a `schema`."""
    emit(json.dumps(document, indent=2, ensure_ascii=False))


def tell(context: typer.Context, text: str) -> None:
    """Write a remark to stderr, unless the user wants quiet."""
    if not invocation(context).quiet:
        typer.echo(text, err=True)
