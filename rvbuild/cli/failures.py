"""Draws how a run failed and settles its exit code; nothing but the lines of a failure.

A traceback is shown to nobody who did not ask: it goes into a file whose path is shown.
"""

import select
import sys
import traceback
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from rvbuild import __version__
from rvbuild.cli.invocation import Invocation, settle, uses_color
from rvbuild.cli.usage import as_usage_error, bare_help
from rvbuild.errors import Problem, RecipeError, RvbuildError, UsageError

if TYPE_CHECKING:
    from rvbuild.cli.settings import Settings

BUG, INTERRUPTED, READER_GONE = 1, 130, 141
TAIL_LINES = 40
SHOW_TRACEBACK = 2


@contextmanager
def boundary(run: Callable[[], Invocation]) -> Iterator[None]:
    """Turn every failure inside into lines on stderr and `typer.Exit` with its exit code.

    `run` gives the global options, as far as they were read when the failure came.
    """
    try:
        yield
    except typer.Exit:
        raise
    except (KeyboardInterrupt, typer.Abort):
        _write(["interrupted"])
        raise typer.Exit(INTERRUPTED) from None
    except Exception as error:  # noqa: BLE001 - the last place that can keep a traceback from a user
        # The reader of our pipe may leave, as `head` does; that is no failure to draw.
        gone = isinstance(error, BrokenPipeError) and _reader_is_gone()
        raise typer.Exit(READER_GONE if gone else _report(error, run())) from None


def _reader_is_gone() -> bool:
    """Say whether stdout or stderr is a pipe that nobody reads any more."""
    pipes = select.poll()
    for stream in (sys.stdout, sys.stderr):
        # A stream that was replaced, as tests do, has no number to ask about.
        with suppress(OSError, ValueError):
            pipes.register(stream.fileno(), 0)
    return any(event & select.POLLERR for _, event in pipes.poll(0))


def _report(error: Exception, run: Invocation) -> int:
    """Draw a failure and give its exit code; of several failures the lowest code counts."""
    if (owed := bare_help(error)) is not None:
        _write([owed])
        return UsageError.exit_code
    chosen = _settled(run)
    color = uses_color(chosen.color if chosen else "auto")
    known = _known(error)
    for failure in known:
        _write(draw_failure(failure, color=color))
    if known:
        return min(failure.exit_code for failure in known)
    _write(_draw_bug(error, chosen, shown=run.verbosity >= SHOW_TRACEBACK, color=color))
    return BUG


def draw_failure(error: RvbuildError, *, color: bool) -> list[str]:
    """Draw a failure: what, why from the outermost in, the tool's last lines, where, what next."""
    from rvbuild.cli.report import paint, plain

    lines = [f"{paint('error:', 'red', color)} {error.message}"]
    if isinstance(error, RecipeError):
        lines += _draw_problems(error.problems)
    lines += [f"{paint('cause:', 'red', color)} {cause}" for cause in _causes(error)]
    lines += [f"  | {plain(line)}" for line in error.tail[-TAIL_LINES:]]
    if error.log:
        lines.append(f"{paint('log:', 'bold', color)} {error.log}")
    if error.reproduce:
        lines.append(f"{paint('reproduce:', 'bold', color)} {error.reproduce}")
    if error.hint:
        lines.append(f"{paint('hint:', 'cyan', color)} {error.hint}")
    return lines


def _known(error: BaseException) -> list[RvbuildError]:
    """Give the failures that rvbuild foresaw; none when any part of it was not foreseen."""
    if isinstance(error, RvbuildError):
        return [error]
    if isinstance(error, ExceptionGroup):
        parts = [_known(part) for part in error.exceptions]
        return [failure for part in parts for failure in part] if all(parts) else []
    usage = as_usage_error(error)
    return [usage] if usage else []


def _draw_problems(problems: Sequence[Problem]) -> list[str]:
    from rvbuild.document import render_problem

    return [line for problem in problems for line in render_problem(problem).splitlines()]


def _causes(error: RvbuildError) -> list[str]:
    """Give the causes that are told, then those that Python chained and nobody told yet."""
    told = list(error.causes)
    chained = error.__cause__
    while chained is not None:
        text = _one_line(chained)
        if not any(text in line or line in text for line in [error.message, *told]):
            told.append(text)
        chained = chained.__cause__
    return told


def _one_line(error: BaseException) -> str:
    if isinstance(error, RvbuildError):
        return error.message
    text = " ".join(str(error).split())
    return text or type(error).__name__


def _draw_bug(
    error: Exception, chosen: "Settings | None", *, shown: bool, color: bool
) -> list[str]:
    from rvbuild.cli.report import paint

    told = "".join(traceback.format_exception(error)).rstrip()
    log = _keep(told, chosen)
    lines = [
        f"{paint('error:', 'red', color)} this is a bug in rvbuild",
        f"{paint('cause:', 'red', color)} {type(error).__name__}: {_one_line(error)}",
    ]
    if shown or log is None:
        lines += told.splitlines()
    if log is not None:
        lines.append(f"{paint('log:', 'bold', color)} {log}")
        lines.append(f"{paint('hint:', 'cyan', color)} report it with that file")
    return lines


def _keep(told: str, chosen: "Settings | None") -> Path | None:
    """Write a traceback below the cache; None when that cannot be done."""
    if chosen is None:
        return None
    stamp = datetime.now(UTC).strftime("%Y%m%dT%H%M%S.%f")
    log = chosen.places.logs / f"bug-{stamp}.log"
    head = f"rvbuild {__version__}, Python {sys.version.split()[0]}\n{sys.argv[1:]}\n"
    try:
        log.parent.mkdir(parents=True, exist_ok=True)
        log.write_text(f"{head}\n{told}\n", encoding="utf-8")
    except OSError:
        return None
    return log


def _settled(run: Invocation) -> "Settings | None":
    """Settle the settings once more for drawing; None when they are what failed."""
    try:
        return settle(run)
    except RvbuildError:
        return None


def _write(lines: Sequence[str]) -> None:
    typer.echo("\n".join(lines), err=True)
