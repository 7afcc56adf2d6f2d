"""`rvbuild wheel` and `rvbuild build`: recipes become proven wheels, or prefixes of libraries."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

import typer

from rvbuild.cli import delivery, wishes
from rvbuild.cli.house import open_house
from rvbuild.cli.invocation import JsonOption, emit, emit_json, tell, watcher
from rvbuild.cli.plans import show_plan, tell_skipped
from rvbuild.cli.wishes import Wish, mode_of, pipeline_options, tell_mode, wished_settings
from rvbuild.errors import UsageError

if TYPE_CHECKING:
    from rvbuild.cli.settings import Settings
    from rvbuild.plan import Plan
    from rvbuild.recipe.model import Kind

COMMANDS = {"wheel": "wheel", "library": "build"}

NoTest = Annotated[bool, typer.Option("--no-test", help="Leave out all tests.")]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Show the plan and build nothing.")]


@dataclass(frozen=True, slots=True)
class _Manner:
    """The kind of recipe that a command takes, and what it shows of it."""

    kind: "Kind"
    dry_run: bool
    as_json: bool


def register(program: typer.Typer) -> None:
    """Add the commands to the program."""
    program.command("wheel")(make_wheels)
    program.command("build")(make_libraries)


def make_wheels(  # noqa: PLR0913 - typer reads the options from the parameters
    context: typer.Context,
    names: wishes.Names,
    *,
    pythons: wishes.Pythons = None,
    floor: wishes.Floor = None,
    jobs: wishes.Jobs = None,
    toolchain: wishes.Toolchain = None,
    cpus: wishes.Cpus = None,
    no_test: NoTest = False,
    no_suite: Annotated[
        bool, typer.Option("--no-suite", help="Leave out the projects' own test suites.")
    ] = False,
    prefer_public: Annotated[
        bool,
        typer.Option("--prefer-public", help="Take a fitting wheel of the public index instead."),
    ] = False,
    dist: Annotated[
        str | None, typer.Option(metavar="DIR", help="Where the wheels are put.")
    ] = None,
    cross: wishes.Cross = False,
    native: wishes.Native = False,
    emulated: wishes.Emulated = False,
    no_container: wishes.NoContainer = False,
    dry_run: DryRun = False,
    as_json: JsonOption = False,
) -> None:
    """Build wheels and all below them, audit and test them. Prints each file in `dist`."""
    wish = Wish(
        tuple(names),
        mode_of(cross, native, emulated),
        not no_test,
        not no_suite,
        prefer_public,
        not no_container,
    )
    chosen = wished_settings(
        context,
        pythons=pythons,
        floor=floor,
        jobs=jobs,
        toolchain=toolchain,
        cpus=cpus,
        dist=dist,
    )
    _make(context, chosen, wish, _Manner("wheel", dry_run, as_json))


def make_libraries(  # noqa: PLR0913 - typer reads the options from the parameters
    context: typer.Context,
    names: wishes.Names,
    *,
    floor: wishes.Floor = None,
    jobs: wishes.Jobs = None,
    toolchain: wishes.Toolchain = None,
    cpus: wishes.Cpus = None,
    no_test: NoTest = False,
    cross: wishes.Cross = False,
    native: wishes.Native = False,
    emulated: wishes.Emulated = False,
    no_container: wishes.NoContainer = False,
    dry_run: DryRun = False,
    as_json: JsonOption = False,
) -> None:
    """Build native libraries and all below them, and test them. Prints the folder of each."""
    chosen = wished_settings(context, floor=floor, jobs=jobs, toolchain=toolchain, cpus=cpus)
    wish = Wish(
        tuple(names),
        mode_of(cross, native, emulated),
        not no_test,
        container=not no_container,
    )
    _make(context, chosen, wish, _Manner("library", dry_run, as_json))


def _make(context: typer.Context, chosen: "Settings", wish: Wish, manner: _Manner) -> None:
    from rvbuild.pipeline import plan_for, run_plan

    options = pipeline_options(chosen, wish)
    with watcher(context, chosen) as watch:
        tell_mode(wish, watch)
        house = open_house(chosen, watch)
        plan = plan_for(options, house)
        _require_kind(plan, manner.kind)
        tell_skipped(plan, watch)
        if manner.dry_run:
            show_plan(plan, house, as_json=manner.as_json)
            return
        outcomes = run_plan(plan, options, house)
        delivered = delivery.deliver(outcomes, chosen.dist, watch)
    if manner.as_json:
        emit_json(delivery.as_json(delivered))
    else:
        for path in delivery.paths(delivered, wheels=manner.kind == "wheel"):
            emit(path)
    if text := delivery.summary(delivered):
        tell(context, text)
    delivery.raise_failures([each.error for each in outcomes if each.error is not None])


def _require_kind(plan: "Plan", kind: "Kind") -> None:
    """Raise `UsageError` when something that was asked for is of the other kind."""
    for job_id in plan.requested:
        recipe = plan.job(job_id).recipe
        if recipe.kind != kind:
            raise UsageError(
                f"`{recipe.name}` is a {recipe.kind} and not a {kind}",
                hint=f"`rvbuild {COMMANDS[recipe.kind]} {recipe.name}`",
            )
