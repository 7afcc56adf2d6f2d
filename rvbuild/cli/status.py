"""`rvbuild status`: the iceberg at a glance, each recipe for each Python and what came of it."""

import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from rvbuild.cli import wishes
from rvbuild.cli.house import open_house
from rvbuild.cli.invocation import JsonOption, emit, emit_json, watcher
from rvbuild.cli.plans import tell_skipped, wheel_recipes
from rvbuild.cli.report import duration, size, table
from rvbuild.cli.wishes import Wish, pipeline_options, wished_settings
from rvbuild.errors import UsageError

if TYPE_CHECKING:
    from rvbuild.pipeline import House
    from rvbuild.plan import Job, Plan, State
    from rvbuild.store import Record

SCHEMA = "rvbuild.status/1"
DAY_SECONDS = 24 * 3600


@dataclass(frozen=True, slots=True)
class Line:
    """One job: its state in words, whether its tests passed, and its last result if any.

    `size_bytes`, `seconds` and `created` are None where it was never built; `created` is in seconds
    since the epoch. `cpu_seconds` of all its processes and `peak_mb` of the largest one are None
    where nobody counted.
    """

    job: str
    level: int
    state: str
    tested: bool
    size_bytes: int | None = None
    seconds: float | None = None
    created: float | None = None
    cpu_seconds: float | None = None
    peak_mb: int | None = None


def register(program: typer.Typer) -> None:
    """Add the command to the program."""
    program.command("status")(show_status)


def show_status(
    context: typer.Context,
    names: Annotated[
        list[str] | None,
        typer.Argument(metavar="NAME", help="Recipes; none means every recipe of a wheel."),
    ] = None,
    *,
    pythons: wishes.Pythons = None,
    floor: wishes.Floor = None,
    html: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write a page, and print where it is.")
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Show the iceberg: what is built, tested, stopped or to do."""
    from rvbuild.pipeline import plan_for

    chosen = wished_settings(context, pythons=pythons, floor=floor)
    with watcher(context, chosen) as watch:
        house = open_house(chosen, watch)
        wanted = tuple(names or ()) or wheel_recipes(house, chosen.pythons)
        plan = plan_for(pipeline_options(chosen, Wish(wanted)), house)
        tell_skipped(plan, watch)
        lines = tuple(_lines(plan, house))
    if html is not None:
        _write_page(lines, html)
        emit(str(html))
    elif as_json:
        emit_json({"schema": SCHEMA, "jobs": [asdict(line) for line in lines]})
    else:
        emit(draw(lines, time.time()))


def draw(lines: tuple[Line, ...], now: float) -> str:
    """Draw a table of all jobs, and the sum of them; `now` is in seconds since the epoch."""
    head = ("job", "state", "tests", "size", "time", "cpu", "memory", "age")
    rows = [(line.job, line.state, *cells(line, now)) for line in lines]
    return f"{table([head, *rows], right=(3, 4, 5, 6, 7))}\n\n{count(lines)}"


def cells(line: Line, now: float) -> tuple[str, ...]:
    """Write tests, size, times, memory and age of a line; what there is not is empty."""
    return (
        "passed" if line.tested else "",
        "" if line.size_bytes is None else size(line.size_bytes),
        "" if line.seconds is None else duration(line.seconds),
        "" if line.cpu_seconds is None else duration(line.cpu_seconds),
        "" if line.peak_mb is None else f"{line.peak_mb} MiB",
        "" if line.created is None else f"{max(now - line.created, 0) / DAY_SECONDS:.1f} days",
    )


def count(lines: tuple[Line, ...]) -> str:
    """Say how many jobs are built and tested."""
    built = sum(line.state == "built" for line in lines)
    tested = sum(line.tested for line in lines)
    return f"{built} of {len(lines)} jobs are built, {tested} tested"


def _lines(plan: "Plan", house: "House") -> Iterator[Line]:
    from rvbuild.pipeline import states

    known = states(plan, house)
    for job in plan.jobs:
        record = house.store.peek(job.key) or house.store.latest(job.id)
        yield _line(job, known[job.id], record, house)


def _line(job: "Job", state: "State", record: "Record | None", house: "House") -> Line:
    words = {"cached": "built", "resumes": f"stopped before {state.step}"}
    other = "never built" if record is None else "to build anew"
    tests = house.store.latest(f"{job.id}-test")
    # A test is of the inputs that its wheel was built from.
    tested = tests is not None and tests.inputs == job.inputs
    line = Line(job.id, job.level, words.get(state.kind, other), tested)
    if record is None:
        return line
    return replace(
        line,
        size_bytes=record.size_bytes,
        seconds=record.total_seconds,
        created=record.created,
        cpu_seconds=record.total_cpu_seconds or None,
        peak_mb=record.peak_mb or None,
    )


def _write_page(lines: tuple[Line, ...], path: Path) -> None:
    from rvbuild.cli.page import draw_page

    partial = path.with_name(f".{path.name}.part")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        partial.write_text(draw_page(lines, time.time()), encoding="utf-8")
        partial.replace(path)
    except OSError as error:
        with suppress(OSError):
            partial.unlink()
        raise UsageError(f"`{path}` cannot be written", causes=[str(error.strerror)]) from error
