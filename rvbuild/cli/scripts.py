"""`rvbuild run`: somebody's own Python program on a riscv64 CPU, with wheels to import."""

import shlex
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Annotated

import typer

from rvbuild.cli import wishes
from rvbuild.cli.house import open_house
from rvbuild.cli.invocation import emit, watcher
from rvbuild.cli.selection import existing, select_wheels
from rvbuild.cli.wishes import ALL, Wish, known_cpus, pipeline_options, wished_settings
from rvbuild.errors import UsageError

if TYPE_CHECKING:
    from rvbuild.executor import Completed
    from rvbuild.pipeline import House, Options
    from rvbuild.testing import CpuResult, Script


def register(program: typer.Typer) -> None:
    """Add the command to the program."""
    program.command("run")(run_program)


def run_program(  # noqa: PLR0913 - typer reads the options from the parameters
    context: typer.Context,
    program: Annotated[
        Path, typer.Argument(metavar="SCRIPT", help="The Python program.", show_default=False)
    ],
    arguments: Annotated[
        list[str] | None,
        typer.Argument(metavar="ARGS", help="Its arguments; write `--` before its options."),
    ] = None,
    *,
    wheels: Annotated[
        list[Path] | None,
        typer.Option("--with", metavar="WHEEL", help="A wheel it imports; may be repeated."),
    ] = None,
    requires: Annotated[
        list[str] | None,
        typer.Option(metavar="REQUIREMENT", help="A public riscv64 wheel; may be repeated."),
    ] = None,
    cpu: Annotated[
        str | None, typer.Option(metavar="NAME", help="The CPU to run on; else the baseline.")
    ] = None,
    python: Annotated[
        str | None, typer.Option(metavar="VERSION", help="The Python to run it with.")
    ] = None,
    floor: wishes.Floor = None,
    trace: Annotated[
        bool, typer.Option("--trace", help="Show each system call among the output.")
    ] = False,
) -> None:
    """Run a Python program for riscv64. Its output and its exit code are passed on."""
    from rvbuild.target import BASELINE_ISA, cpus
    from rvbuild.testing import Script

    chosen = wished_settings(context, pythons=python, floor=floor)
    chosen_cpu = cpu or BASELINE_ISA
    if known_cpus((chosen_cpu,)) == (ALL,):
        raise UsageError("a program runs on one CPU", hint="`rvbuild cpu list` shows them")
    options = pipeline_options(chosen, Wish(()))
    script = Script(
        program=existing(program),
        cpu=cpus()[chosen_cpu],
        arguments=tuple(arguments or ()),
        wheels=tuple(path.absolute() for path in select_wheels(wheels)) if wheels else (),
        requires=tuple(requires or ()),
        trace=trace,
    )
    with watcher(context, chosen) as watch:
        completed, result = _run(script, options, open_house(chosen, watch))
    if result.status == "crashed":
        typer.echo("\n".join(_told(result.explanation, script, options)), err=True)
    raise typer.Exit(completed.exit_code)


def _told(explanation: str, script: "Script", options: "Options") -> tuple[str, ...]:
    if script.trace:
        return (f"crashed: {explanation}",)
    words = ["rvbuild", "run", "--trace", "--cpu", script.cpu.name]
    words += ["--python", options.pythons[0]]
    words += [word for wheel in script.wheels for word in ("--with", str(wheel))]
    words += [word for each in script.requires for word in ("--requires", each)]
    words += [str(script.program), "--", *script.arguments]
    return (f"crashed: {explanation}", f"hint: `{shlex.join(words)}` shows what it did last")


def _run(script: "Script", options: "Options", house: "House") -> tuple["Completed", "CpuResult"]:
    from rvbuild.pipeline.proof import runtime_for
    from rvbuild.testing import Bench, run_script

    runtime = runtime_for(options.pythons[0], options.floor, house)
    house.places.work.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory(prefix="run-", dir=house.places.work) as folder:
        bench = Bench(
            runtime=runtime,
            executor=house.executor,
            workspace=Path(folder),
            watch=house.watch,
            job=script.program.name,
            wheel_folders=tuple({wheel.parent for wheel in script.wheels}),
            environment=house.environment,
        )
        return run_script(script, bench, emit)
