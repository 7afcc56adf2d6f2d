"""Running one part of a suite on demand to its end, in as many processes as that takes.

A test that ends its process is to blame for that, and the rest goes on in a new one.
"""

import json
import shutil
from dataclasses import dataclass
from pathlib import Path

from rvbuild.errors import CheckError
from rvbuild.recipe.model import Suite
from rvbuild.target import Cpu
from rvbuild.testing import telling
from rvbuild.testing.model import Bench
from rvbuild.testing.program import Program, command_for, reproduction
from rvbuild.testing.record import Told, ended, read_record, running, tell
from rvbuild.testing.runners import Ran, runner_for
from rvbuild.testing.suite import PYTEST, SuiteFolder, lay_out
from rvbuild.testing.verdict import judge

PLUGIN = "rvbuild_telling"
# The time limits of recipes are for a machine such as the one that emulates. Python is some 30 to
# 50 times slower under QEMU, and boards are slower as well.
EMULATED_FACTOR = 30
BOARD_FACTOR = 10
# faulthandler's words before it ends a process that was too slow.
TOO_SLOW = "Timeout ("
KILLED = 9


@dataclass(frozen=True, slots=True)
class Desk:
    """What all parts on a CPU share: the suite, who runs it, where modules lie."""

    suite: Suite
    bench: Bench
    cpu: Cpu
    paths: tuple[Path, ...]

    @property
    def factor(self) -> int:
        """How many times the recipe's limits are taken."""
        machine = self.bench.machine
        return EMULATED_FACTOR if machine is None or machine.reach.emulated else BOARD_FACTOR

    def run(self, home: Path, extra: tuple[str, ...], settings: dict[str, str]) -> Ran:
        """Run pytest with the suite's own words and more; its output is added to the home's log."""
        laid = SuiteFolder(home)
        lay_out(self.suite, self.bench.source, laid)
        shutil.copyfile(telling.__file__, laid.plugins / f"{PLUGIN}.py")
        words = (
            *(*PYTEST, "-p", PLUGIN, "-o", f"cache_dir={home / 'cache'}", self._root(laid)),
            *("--continue-on-collection-errors", *extra, *self.suite.command[len(PYTEST) :]),
        )
        bench = self.bench
        return runner_for(bench).run(
            self._program(laid, words, settings),
            self.cpu,
            log_of(home),
            lambda line: bench.watch.line(bench.job, line),
        )

    def again(self, test: str, home: Path) -> str:
        """Write a line of shell that runs one test; empty for what runs on a board."""
        laid = SuiteFolder(home)
        if self.bench.machine is not None:
            return ""
        start = laid.files if self.suite.files else self.paths[0]
        words = (*PYTEST, self._root(laid), f"{start}/{test}")
        program = self._program(laid, words, {})
        return reproduction(command_for(program, self.cpu, self.bench.runtime))

    def _root(self, laid: SuiteFolder) -> str:
        # Names of tests begin at the package, or at the folder of the source tree's files.
        return f"--rootdir={laid.files if self.suite.files else self.paths[0]}"

    def _program(
        self, laid: SuiteFolder, words: tuple[str, ...], settings: dict[str, str]
    ) -> Program:
        # Names that hang on the order of a set would be others in each process.
        environment = {"PYTHONHASHSEED": "0", **self.suite.environment, **settings}
        return Program(
            arguments=words,
            paths=(*self.paths, laid.plugins),
            home=laid.folder,
            cwd=laid.files,
            timeout_seconds=self.suite.timeout_seconds * self.factor,
            extra_environment=tuple(environment.items()),
        )

    def explain(self, ran: Ran) -> str:
        """Say how a process ended."""
        if ran.completed.signal is None and TOO_SLOW in ran.completed.output:
            return f"no end after {self.suite.test_seconds * self.factor} s"
        verdict = judge(ran.completed, self.cpu, ran.limit_seconds)
        return verdict.explanation or "the process ended by itself"


@dataclass(frozen=True, slots=True)
class Part:
    """Some tests of a suite; `home` is its folder, where its record lies."""

    name: str
    home: Path
    tests: tuple[str, ...]

    @property
    def record(self) -> Path:
        """What came of its tests."""
        return self.home / "record.jsonl"

    def left(self) -> tuple[str, ...]:
        """Give the tests that have not come to an end."""
        done = ended(read_record(self.record))
        return tuple(test for test in self.tests if test not in done)


def log_of(home: Path) -> Path:
    """Name the log of a folder that pytest runs in; it lies beside it."""
    return home.with_name(f"{home.name}.log")


def list_tests(desk: Desk, home: Path) -> tuple[Told, ...]:
    """Ask pytest which tests the suite has; raise `CheckError` when it does not get to the end."""
    home.mkdir(parents=True, exist_ok=True)
    record = home / "record.jsonl"
    record.unlink(missing_ok=True)
    log_of(home).unlink(missing_ok=True)
    ran = desk.run(home, ("--collect-only", "-q", "-q"), {telling.RECORD: str(record)})
    if not record.exists():
        raise CheckError(
            f"the tests of the suite cannot be listed: {desk.explain(ran)}",
            log=log_of(home),
            tail=ran.completed.tail(),
            reproduce=ran.reproduce,
        )
    return read_record(record)


def run_part(part: Part, desk: Desk) -> None:
    """Run a part until there is something told of each of its tests."""
    log_of(part.home).unlink(missing_ok=True)
    left = part.left()
    while left:
        _clean(part)
        ran = _start(part, left, desk)
        before, left = left, part.left()
        _blame(part, desk, ran, progress=len(left) < len(before))
        left = part.left()


def _clean(part: Part) -> None:
    # What tests left behind in their home would make the next process another one.
    part.home.mkdir(parents=True, exist_ok=True)
    for path in part.home.iterdir():
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path, ignore_errors=True)
        elif path != part.record:
            path.unlink()


def _start(part: Part, tests: tuple[str, ...], desk: Desk) -> Ran:
    wanted = part.home / "wanted.json"
    wanted.write_text(json.dumps(tests), encoding="utf-8")
    settings = {
        telling.RECORD: str(part.record),
        telling.TESTS: str(wanted),
        telling.SECONDS: str(desk.suite.test_seconds * desk.factor),
    }
    return desk.run(part.home, (), settings)


def _blame(part: Part, desk: Desk, ran: Ran, *, progress: bool) -> None:
    """Tell of tests that will not come to an end by themselves."""
    completed = ran.completed
    at = running(read_record(part.record))
    # Neither has to be the doing of the test that ran: it gets a second try.
    innocent = completed.timed_out or completed.signal == KILLED
    if at is not None and not (innocent and progress):
        tell(part.record, [Told(at, "failed", f"{desk.explain(ran)}, in this test")])
    elif at is None and completed.signal is not None:
        said = f"{desk.explain(ran)}, between tests"
        tell(part.record, [Told(f"end of {part.name}", "error", said)])
    if at is None and not progress:
        said = f"pytest ended without running it: {desk.explain(ran)}"
        tell(part.record, [Told(test, "error", said) for test in part.left()])
