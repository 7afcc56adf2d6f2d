"""`rvbuild test`: recipes and wheel files on CPUs, as a table of what went well where."""

import os
import platform
import shutil
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from rvbuild.cli import wishes
from rvbuild.cli.delivery import raise_failures
from rvbuild.cli.house import open_house
from rvbuild.cli.invocation import JsonOption, emit, emit_json, watcher
from rvbuild.cli.plans import tell_skipped
from rvbuild.cli.report import table
from rvbuild.cli.selection import select_wheels
from rvbuild.cli.wishes import Wish, pipeline_options, wished_settings
from rvbuild.errors import RvbuildError, UsageError

if TYPE_CHECKING:
    from rvbuild.events import Watcher
    from rvbuild.pipeline import House, Options, Outcome
    from rvbuild.plan import Job, Plan
    from rvbuild.testing import Place, Portion, TestReport

SCHEMA = "rvbuild.tests/1"
ENGINES = ("docker", "podman")
SEEN_BY_PROGRAMS = ("HOME", "PATH", "USER", "SSH_AUTH_SOCK", "DOCKER_HOST", "XDG_RUNTIME_DIR")


@dataclass(frozen=True, slots=True)
class Proof:
    """The report of one wheel, and whose tests it is about."""

    name: str
    report: "TestReport"


@dataclass(frozen=True, slots=True)
class Places:
    """Where wheels are tried: on machines, and on emulated CPUs unless machines alone are meant."""

    machines: tuple["Place", ...]
    emulated: bool

    @property
    def all(self) -> tuple["Place | None", ...]:
        """All of them; None stands for QEMU."""
        return (*((None,) if self.emulated else ()), *self.machines)


@dataclass(slots=True)
class Results:
    """What came of everything that was tested, and what could not be; filled as it goes."""

    proofs: list[Proof]
    errors: list[RvbuildError]


def register(program: typer.Typer) -> None:
    """Add the command to the program."""
    program.command("test")(prove_wheels)


def prove_wheels(  # noqa: PLR0913 - typer reads the options from the parameters
    context: typer.Context,
    words: Annotated[
        list[str], typer.Argument(metavar="WHEEL|NAME", help="Wheel files, or recipes.")
    ],
    *,
    cpus: wishes.Cpus = None,
    pythons: wishes.Pythons = None,
    floor: wishes.Floor = None,
    jobs: wishes.Jobs = None,
    no_suite: Annotated[
        bool, typer.Option("--no-suite", help="Leave out the projects' own test suites.")
    ] = False,
    suite: Annotated[
        bool, typer.Option("--suite", help="Run the projects' own suites alone, on demand too.")
    ] = False,
    shard: Annotated[
        str | None, typer.Option(metavar="N/M", help="Of a suite, part N of M equal ones.")
    ] = None,
    keyword: Annotated[
        str | None, typer.Option("-k", metavar="TEXT", help="Of a suite, tests with this in names.")
    ] = None,
    boards: Annotated[
        list[str] | None,
        typer.Option("--board", metavar="USER@HOST", help="A board to test on, reached by ssh."),
    ] = None,
    local: Annotated[
        bool, typer.Option("--local", help="Test on this machine itself, which is riscv64.")
    ] = False,
    containers: Annotated[
        list[str] | None,
        typer.Option("--container", metavar="IMAGE", help="Test in a container of an image."),
    ] = None,
    memory: Annotated[
        int | None,
        typer.Option(metavar="MIB", min=1, help="Memory of all tests together; else what is free."),
    ] = None,
    again: Annotated[
        bool, typer.Option("--again", help="Run what passed or was finished before once more.")
    ] = False,
    junit: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write a JUnit file too.")
    ] = None,
    html: Annotated[Path | None, typer.Option(metavar="FILE", help="Write a page too.")] = None,
    as_json: JsonOption = False,
) -> None:
    """Test wheels and libraries on CPUs; recipes are built first. Prints a table of both."""
    chosen = wished_settings(context, cpus=cpus, pythons=pythons, floor=floor, jobs=jobs)
    files = [Path(word) for word in words if _is_path(word)]
    names = tuple(word for word in words if not _is_path(word))
    options = pipeline_options(chosen, Wish(names, test=False, suites=not no_suite))
    machines = _machines(boards or (), containers or (), local=local)
    places = Places(machines, emulated=not machines or bool(cpus))
    if suite and no_suite:
        raise UsageError("`--suite` and `--no-suite` exclude each other")
    portion = _portion(suite, shard, keyword)
    options = replace(options, memory_mb=memory, again=again, portion=portion)
    results = Results([], [])
    with watcher(context, chosen) as watch:
        house = open_house(chosen, watch)
        if files:
            _test_files(select_wheels(files), places, options, house, results)
        if names:
            _test_recipes(places, options, house, results)
        reports = [proof.report for proof in results.proofs]
        _tell_flags(reports, watch)
    _write(reports, junit, html)
    _show(reports, as_json=as_json)
    _judge(results)


def _portion(suite: bool, shard: str | None, keyword: str | None) -> "Portion | None":
    from rvbuild.testing import Portion

    if not suite:
        if shard or keyword:
            raise UsageError("`--shard` and `-k` go with `--suite`")
        return None
    return Portion(None if shard is None else _shard(shard), keyword or "")


def _shard(text: str) -> tuple[int, int]:
    number, _, count = text.partition("/")
    if not (number.isdecimal() and count.isdecimal() and 1 <= int(number) <= int(count)):
        raise UsageError(f"`{text}` is no shard", hint="write it like `3/16`, the third of sixteen")
    return int(number), int(count)


def _machines(boards: Sequence[str], images: Sequence[str], *, local: bool) -> tuple["Place", ...]:
    from rvbuild.executor.environment import passthrough
    from rvbuild.target import MACHINE
    from rvbuild.testing import Image, ThisMachine, parse_board

    # What the user's own ssh and docker would see, so that keys, agents and the daemon are found.
    environment = passthrough(os.environ, SEEN_BY_PROGRAMS)
    engine = next(filter(shutil.which, ENGINES), ENGINES[0])
    emulated = platform.machine() != MACHINE
    return (
        *((ThisMachine(environment),) if local else ()),
        *(Image(name, engine, emulated, environment) for name in images),
        *(parse_board(word, environment) for word in boards),
    )


def _write(reports: Sequence["TestReport"], junit: Path | None, html: Path | None) -> None:
    if junit is not None:
        from rvbuild.cli.junit import write_junit

        write_junit(reports, junit)
    if html is not None:
        from rvbuild.testing.html import draw_page

        write_text(draw_page(reports, datetime.now(tz=UTC)), html)


def write_text(text: str, path: Path) -> None:
    """Write a file in one step; raises `UsageError` where that cannot be done."""
    partial = path.with_name(f".{path.name}.part")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        partial.write_text(text, encoding="utf-8")
        partial.replace(path)
    except OSError as error:
        with suppress(OSError):
            partial.unlink()
        raise UsageError(f"`{path}` cannot be written", causes=[str(error.strerror)]) from error


def _tell_flags(reports: Sequence["TestReport"], watch: "Watcher") -> None:
    flags = dict.fromkeys(
        (report.wheel, flag)
        for report in reports
        for result in report.results
        for flag in result.flags
    )
    for wheel, flag in flags:
        watch.note(wheel, flag)


def _is_path(word: str) -> bool:
    return word.endswith(".whl") or "/" in word


def _test_files(
    wheels: Sequence[Path], places: Places, options: "Options", house: "House", results: Results
) -> None:
    from rvbuild.pipeline.loose import LooseWheel, choose_tests, prove_file, require_python
    from rvbuild.pythons import known_versions
    from rvbuild.wheel import read_wheel

    folders = tuple(dict.fromkeys(path.absolute().parent for path in wheels))
    for path in wheels:
        try:
            wheel = read_wheel(path.absolute())
            tests, recipe = choose_tests(wheel, house.catalogue)
            for python in require_python(wheel, options.pythons, known_versions(house.pins)):
                loose = LooseWheel(wheel.path, python, tests, recipe, folders)
                for place in places.all:
                    report = prove_file(loose, options, house, place)
                    results.proofs.append(Proof(wheel.name, report))
        except RvbuildError as error:
            # One wheel must not hide what there is to say of the others.
            results.errors.append(error)


def _test_recipes(places: Places, options: "Options", house: "House", results: Results) -> None:
    from rvbuild.pipeline import plan_for, run_plan
    from rvbuild.pipeline.proof import Trial, prove, prove_on_machine

    plan = plan_for(options, house)
    tell_skipped(plan, house.watch)
    _require_tests(plan, places)
    outcomes = run_plan(plan, options, house)
    results.errors += [outcome.error for outcome in outcomes if outcome.error is not None]
    wheels = {outcome.job: outcome.wheel for outcome in outcomes if outcome.wheel is not None}
    _test_libraries(plan, outcomes, options, house, results)
    for job in (plan.job(name) for name in plan.requested if name in wheels):
        stored = house.store.find(job.key)
        if stored is None:
            continue
        trial = Trial(job, stored, _below(job, plan, wheels))
        for place in places.all:
            try:
                if place is None:
                    report = prove(trial, options, house, options.again)
                else:
                    report = prove_on_machine(trial, place, options, house)
                results.proofs.append(Proof(job.recipe.name, report))
            except RvbuildError as error:
                results.errors.append(error)


def _require_tests(plan: "Plan", places: Places) -> None:
    from rvbuild.pipeline.programs import untested

    for job in map(plan.job, plan.requested):
        if job.recipe.kind == "library" and job.recipe.test.programs is None:
            raise untested(job)
        if job.recipe.kind == "library" and places.machines:
            raise UsageError(
                f"`{job.recipe.name}` is a library: on a machine it is tested by a wheel above it"
            )


def _test_libraries(
    plan: "Plan",
    outcomes: Sequence["Outcome"],
    options: "Options",
    house: "House",
    results: Results,
) -> None:
    from rvbuild.pipeline.programs import LibraryTrial, prove_library

    built = {each.job for each in outcomes if each.error is None}
    stored = {job.id: house.store.find(job.key) for job in plan.jobs}
    there = {name: found for name, found in stored.items() if found is not None}
    for job in (plan.job(name) for name in plan.requested if name in built):
        if job.recipe.kind != "library":
            continue
        try:
            trial = LibraryTrial(job, plan, there, options.jobs)
            results.proofs.append(Proof(job.recipe.name, prove_library(trial, options, house)))
        except RvbuildError as error:
            results.errors.append(error)


def _below(job: "Job", plan: "Plan", wheels: dict[str, Path]) -> tuple[Path, ...]:
    """Give our own wheels of everything that a job stands on."""
    found: dict[str, None] = {}
    waiting = list(job.needs)
    while waiting:
        need = waiting.pop()
        found[need] = None
        waiting += plan.job(need).needs
    return tuple(wheels[need] for need in found if need in wheels)


def _show(reports: Sequence["TestReport"], *, as_json: bool) -> None:
    from pydantic import TypeAdapter

    from rvbuild.testing import TestReport

    if as_json:
        plain = TypeAdapter(list[TestReport]).dump_python(list(reports), mode="json")
        emit_json({"schema": SCHEMA, "reports": plain})
    elif reports:
        emit(draw_reports(reports))


def draw_reports(reports: Sequence["TestReport"]) -> str:
    """Draw a table with a row for each wheel and a column for each CPU."""
    from rvbuild.testing.table import tabulate

    found = tabulate(reports)
    rows = [
        (
            *(row.wheel, f"python {row.python}" if row.python else "-"),
            *(row.cells[cpu].words if cpu in row.cells else "-" for cpu in found.columns),
        )
        for row in found.rows
    ]
    return table([("wheel", "runtime", *found.columns), *rows])


def _judge(results: Results) -> None:
    """Raise everything that went wrong; nothing is fine."""
    from rvbuild.pipeline.proof import failure

    wrong = [proof for proof in results.proofs if not proof.report.ok]
    raise_failures([*results.errors, *(failure(proof.report, proof.name) for proof in wrong)])
