"""`rvbuild plan`, `graph`, `why` and `matrix`: what would be built, in which order and why."""

import json
from collections.abc import Iterable, Sequence
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

from rvbuild.cli import wishes
from rvbuild.cli.house import open_house
from rvbuild.cli.invocation import JsonOption, emit, emit_json, watcher
from rvbuild.cli.report import duration, table
from rvbuild.cli.wishes import Wish, mode_of, pipeline_options, wished_settings
from rvbuild.errors import NothingSelectedError

if TYPE_CHECKING:
    from rvbuild.cli.settings import Settings
    from rvbuild.events import Watcher
    from rvbuild.pipeline import House
    from rvbuild.plan import Change, Job, Plan, State

WHY_SCHEMA = "rvbuild.why/1"
SHOWN_LENGTH = 60
DIGEST_LENGTH = 64
SHORT_DIGEST = 12

OptionalNames = Annotated[
    list[str] | None,
    typer.Argument(metavar="NAME", help="Recipes; none means every recipe of a wheel."),
]


class GraphFormat(StrEnum):
    """How a graph is written."""

    text = "text"
    dot = "dot"


class MatrixFormat(StrEnum):
    """Whom a matrix is written for."""

    json = "json"
    github = "github"
    workflow = "workflow"


def register(program: typer.Typer) -> None:
    """Add the commands to the program."""
    program.command("plan")(plan_jobs)
    program.command("graph")(draw_graph)
    program.command("why")(explain_jobs)
    program.command("matrix")(make_matrix)


def plan_jobs(  # noqa: PLR0913 - typer reads the options from the parameters
    context: typer.Context,
    names: wishes.Names,
    *,
    pythons: wishes.Pythons = None,
    floor: wishes.Floor = None,
    toolchain: wishes.Toolchain = None,
    cross: wishes.Cross = False,
    native: wishes.Native = False,
    emulated: wishes.Emulated = False,
    as_json: JsonOption = False,
) -> None:
    """Show what would be built, in order, and what is there."""
    chosen = wished_settings(context, pythons=pythons, floor=floor, toolchain=toolchain)
    with watcher(context, chosen) as watch:
        house = open_house(chosen, watch)
        plan = _plan(chosen, Wish(tuple(names), mode_of(cross, native, emulated)), house)
        tell_skipped(plan, watch)
        show_plan(plan, house, as_json=as_json)


def draw_graph(
    context: typer.Context,
    names: wishes.Names,
    *,
    pythons: wishes.Pythons = None,
    floor: wishes.Floor = None,
    form: Annotated[
        GraphFormat, typer.Option("--format", help="A tree, or Graphviz's language.")
    ] = GraphFormat.text,
) -> None:
    """Draw what needs what."""
    from rvbuild.plan import graph_dot, graph_text

    chosen = wished_settings(context, pythons=pythons, floor=floor)
    with watcher(context, chosen) as watch:
        plan = _plan(chosen, Wish(tuple(names)), open_house(chosen, watch))
        tell_skipped(plan, watch)
    draw = graph_dot if form is GraphFormat.dot else graph_text
    emit(draw(plan).rstrip("\n"))


def explain_jobs(
    context: typer.Context,
    names: wishes.Names,
    *,
    pythons: wishes.Pythons = None,
    floor: wishes.Floor = None,
    toolchain: wishes.Toolchain = None,
    as_json: JsonOption = False,
) -> None:
    """Say why jobs would be built: which inputs changed."""
    chosen = wished_settings(context, pythons=pythons, floor=floor, toolchain=toolchain)
    with watcher(context, chosen) as watch:
        house = open_house(chosen, watch)
        plan = _plan(chosen, Wish(tuple(names)), house)
        tell_skipped(plan, watch)
        reasons = [(job, *_reason(job, house)) for job in plan.jobs]
    if as_json:
        jobs = [_reason_as_json(job, reason, changes) for job, reason, changes in reasons]
        emit_json({"schema": WHY_SCHEMA, "jobs": jobs})
        return
    for job, reason, changes in reasons:
        emit(f"{job.id}: {reason}")
        for change in changes:
            emit(f"  {change.name}: {_shown(change.before)} → {_shown(change.after)}")


def make_matrix(  # noqa: PLR0913 - typer reads the options from the parameters
    context: typer.Context,
    names: OptionalNames = None,
    *,
    pythons: wishes.Pythons = None,
    floor: wishes.Floor = None,
    cross: wishes.Cross = False,
    native: wishes.Native = False,
    emulated: wishes.Emulated = False,
    form: Annotated[
        MatrixFormat, typer.Option("--format", help="Plain, for GitHub, or a whole workflow.")
    ] = MatrixFormat.json,
) -> None:
    """List the jobs of CI by level, runner and expected time."""
    from rvbuild.matrix import github_matrix, github_workflow, matrix_as_json, matrix_entries

    chosen = wished_settings(context, pythons=pythons, floor=floor)
    with watcher(context, chosen) as watch:
        house = open_house(chosen, watch)
        wanted = tuple(names or ()) or everything(house, chosen.pythons)
        plan = _plan(chosen, Wish(wanted, mode_of(cross, native, emulated)), house)
        tell_skipped(plan, watch)
        entries = matrix_entries(plan, _expected(plan.jobs, house))
    if form is MatrixFormat.workflow:
        emit(github_workflow(plan).rstrip("\n"))
    elif form is MatrixFormat.github:
        # One line, as a workflow's output has to be; any further key would be one more axis.
        emit(json.dumps(github_matrix(entries)))
    else:
        emit_json(matrix_as_json(entries))


def wheel_recipes(house: "House", pythons: Sequence[str]) -> tuple[str, ...]:
    """List the recipes of wheels for any of the Pythons; raises `NothingSelectedError` for none."""
    from packaging.specifiers import SpecifierSet

    found = []
    for name in house.catalogue.names():
        recipe = house.catalogue.find(name)
        takes = SpecifierSet(recipe.python)
        if recipe.kind == "wheel" and any(takes.contains(each.rstrip("t")) for each in pythons):
            found.append(name)
    if not found:
        raise NothingSelectedError("no recipe builds a wheel for the selected Pythons")
    return tuple(found)


def everything(house: "House", pythons: Sequence[str]) -> tuple[str, ...]:
    """List the recipes of wheels for any of the Pythons, and of libraries with tests."""
    recipes = map(house.catalogue.find, house.catalogue.names())
    tested = (each.name for each in recipes if each.test.programs is not None)
    return (*wheel_recipes(house, pythons), *tested)


def show_plan(plan: "Plan", house: "House", *, as_json: bool) -> None:
    """Write a plan as a table, or as one JSON document."""
    from rvbuild.pipeline import states
    from rvbuild.plan import plan_as_json

    known = states(plan, house)
    if as_json:
        emit_json(plan_as_json(plan, known))
        return
    head = ("level", "job", "state", "step", "expected")
    emit(table([head, *(_row(job, known[job.id]) for job in plan.jobs)], right=(0, 4)))


def tell_skipped(plan: "Plan", watch: "Watcher") -> None:
    """Tell of wheels that are left out for a Python."""
    for skip in plan.skipped:
        watch.note(skip.name, f"left out for Python {skip.python}: {skip.reason}")


def _plan(chosen: "Settings", wish: Wish, house: "House") -> "Plan":
    from rvbuild.pipeline import plan_for

    return plan_for(pipeline_options(chosen, wish), house)


def _row(job: "Job", state: "State") -> tuple[str, ...]:
    seconds = state.expected_seconds
    expected = "" if seconds is None else duration(seconds)
    return (str(job.level), job.id, state.kind, state.step or "", expected)


def _reason(job: "Job", house: "House") -> tuple[str, tuple["Change", ...]]:
    from rvbuild.plan import explain

    if house.store.peek(job.key) is not None:
        return "in the store", ()
    latest = house.store.latest(job.id)
    if latest is None:
        return "never built", ()
    return "changed since it was built", explain(job, latest.inputs)


def _reason_as_json(job: "Job", reason: str, changes: Iterable["Change"]) -> dict[str, object]:
    told = [
        {"input": change.name, "before": change.before, "after": change.after} for change in changes
    ]
    return {"id": job.id, "reason": reason, "changes": told}


def _shown(value: str | None) -> str:
    if value is None:
        return "nothing"
    if len(value) == DIGEST_LENGTH and set(value) <= set("0123456789abcdef"):
        return value[:SHORT_DIGEST]
    return value if len(value) <= SHOWN_LENGTH else f"{value[: SHOWN_LENGTH - 1]}…"


def _expected(jobs: Iterable["Job"], house: "House") -> dict[str, float]:
    latest = {job.id: house.store.latest(job.id) for job in jobs}
    return {name: record.total_seconds for name, record in latest.items() if record is not None}
