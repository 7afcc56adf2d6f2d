"""Trying one wheel: on CPUs, several at once, or on a board, with what is known to fail."""

from dataclasses import dataclass, replace
from pathlib import Path

from rvbuild.pipeline.model import House, Options
from rvbuild.recipe.model import Test
from rvbuild.target import Cpu
from rvbuild.testing import Bench, Board, TestReport, check_wheel
from rvbuild.testing.board import met
from rvbuild.testing.budget import available_mb, runs_at_once
from rvbuild.testing.known_data import Circumstances, with_known


@dataclass(frozen=True, slots=True)
class Subject:
    """A wheel with its tests, where it is tried, and what known failures depend on."""

    wheel: Path
    tests: Test
    around: Circumstances
    bench: Bench


def try_on_cpus(
    subject: Subject, processors: tuple[Cpu, ...], options: Options, house: House
) -> TestReport:
    """Run a wheel's tests on emulated CPUs, as many at once as cores and memory allow."""
    memory_mb = available_mb() if options.memory_mb is None else options.memory_mb
    bench = replace(
        subject.bench,
        jobs=runs_at_once(options.jobs, memory_mb, len(processors)),
        stop=house.executor.stop,
        resume=not options.again,
    )
    tests = with_known(subject.tests, subject.around, house.catalogue.folders)
    with house.store.lock(f"test {bench.job}"):
        return check_wheel(subject.wheel, tests, processors, bench)


def try_on_board(subject: Subject, board: Board, house: House, *, again: bool) -> TestReport:
    """Run a wheel's tests on a board; raises `MissingToolError` when there is no way to it."""
    bench, around = subject.bench, replace(subject.around, runner="board")
    tests = with_known(subject.tests, around, house.catalogue.folders)
    with (
        house.store.lock(f"test {bench.job}"),
        met(board, bench.runtime, bench.executor, bench.workspace) as machine,
    ):
        at = replace(bench, machine=machine, resume=not again)
        return check_wheel(subject.wheel, tests, (machine.cpu,), at)
