"""Suites on demand, with a real pytest that runs on this machine in place of the riscv64 one."""

import json
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest

from rvbuild import testing
from rvbuild.errors import UsageError
from rvbuild.executor import Command, Completed
from rvbuild.executor.local import LocalExecutor
from rvbuild.pipeline.model import Options
from rvbuild.pipeline.trial import wanted_tests
from rvbuild.recipe.model import KnownFailure, Suite, Test
from rvbuild.target import Floor, cpus
from rvbuild.testing import Portion, part
from rvbuild.testing.kept import chosen, cut
from rvbuild.testing.record import Told, read_record
from tests.unit.test_testing_check import FINE, bench, wheel

__all__ = ["bench", "wheel"]

# What else is installed here has no part in it, and takes its time.
QUICK = {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
VLEN256 = cpus()["vlen256"]

GOOD = """
import pytest

@pytest.mark.parametrize("number", range(6))
def test_number(number):
    assert number != 4

@pytest.mark.xfail
def test_expected():
    assert False

def test_skipped():
    pytest.skip("not here")
"""

BAD = """
import os, signal, time

def test_before():
    pass

def test_abort():
    os.abort()

def test_between():
    pass

def test_hang():
    signal.pthread_sigmask(signal.SIG_BLOCK, range(1, 32))
    time.sleep(60)

def test_leaves():
    os._exit(3)

def test_after():
    assert os.environ["COLOUR"] == "red"
"""

KNOWN = KnownFailure(
    test="tests/test_good.py::test_number[4]", reason="four", blame="test", expires="2999-01-01"
)
TESTS = Test(
    suite=Suite(
        on_demand=True,
        files=("tests",),
        command=("-m", "pytest", "-q", "tests"),
        cpus=("vlen256",),
        environment={"COLOUR": "red"},
        shards=2,
        test_seconds=2,
    ),
    known_failures=(KNOWN,),
)


@dataclass(slots=True)
class Here:
    """Runs pytest by this Python; `before` may interrupt. Everything else goes well."""

    before: Callable[[Command], None] = lambda _: None
    commands: list[Command] = field(default_factory=list)

    def run(
        self,
        command: Command,
        log: Path | None = None,
        on_line: Callable[[str], None] | None = None,
    ) -> Completed:
        if "pytest" not in command.argv:
            return FINE
        self.before(command)
        self.commands.append(command)
        words = command.argv[command.argv.index("-m") :]
        environment = {**command.environment, "PYTHONPATH": pythonpath(command), **QUICK}
        return LocalExecutor().run(
            replace(command, argv=(sys.executable, *words), environment=environment, network=True),
            log,
            on_line,
        )

    @property
    def runs(self) -> int:
        return sum("--collect-only" not in command.argv for command in self.commands)


def pythonpath(command: Command) -> str:
    # What is beside the starters would tell this Python to be another.
    parts = command.environment["PYTHONPATH"].split(":")
    return ":".join(path for path in parts if not path.endswith("starters"))


@pytest.fixture(autouse=True)
def as_fast_as_native(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(part, "EMULATED_FACTOR", 1)


@dataclass(frozen=True, slots=True)
class Stage:
    """A wheel with a source tree that holds its tests."""

    wheel: Path
    bench: testing.Bench
    source: Path

    def write(self, name: str, code: str) -> None:
        (self.source / "tests" / name).write_text(code)

    def run(
        self,
        here: Here,
        portion: Portion = Portion(),  # noqa: B008 - a frozen value
        tests: Test = TESTS,
        *,
        again: bool = False,
    ) -> testing.CpuResult:
        found = replace(
            self.bench, executor=here, source=self.source, portion=portion, resume=not again
        )
        report = testing.check_suite(self.wheel, tests, (VLEN256,), found)
        (result,) = report.results
        assert (result.cpu, result.check) == ("vlen256", "suite")
        return result


@pytest.fixture
def stage(wheel: Path, bench: testing.Bench, tmp_path: Path) -> Stage:
    (tmp_path / "source/tests").mkdir(parents=True)
    found = Stage(wheel, bench, tmp_path / "source")
    found.write("test_good.py", GOOD)
    return found


def outcomes(result: testing.CpuResult) -> dict[str, str]:
    assert result.outcomes is not None
    return {told.test.rpartition("::")[2]: told.outcome for told in read_record(result.outcomes)}


def test_known_failures_are_excused(stage: Stage) -> None:
    here = Here()
    result = stage.run(here)
    assert (result.status, result.explanation) == (
        "passed",
        "8 tests, 2 skipped, 1 known failures",
    )
    assert [failure.known for failure in result.failures] == ["four"]
    assert result.flags == ()
    assert here.runs == 2
    assert outcomes(result)["test_number[5]"] == "passed"
    # Names of tests that hang on the order of a set are then the same in each process.
    assert {command.environment["PYTHONHASHSEED"] for command in here.commands} == {"0"}


def test_a_process_that_ends_loses_one_test(stage: Stage) -> None:
    stage.write("test_bad.py", BAD)
    result = stage.run(Here())
    assert result.status == "failed"
    assert result.explanation == ("3 of 14 tests failed, first `tests.test_bad.test_abort`")
    wrong = {f.test.rpartition(".")[2]: f.message for f in result.failures if f.known is None}
    assert wrong.pop("test_leaves").startswith("exit code 3: ")
    assert wrong == {
        "test_abort": "ended by signal 6 (SIGABRT), in this test",
        "test_hang": "no end after 2 s, in this test",
    }
    found = outcomes(result)
    assert [found[f"test_{name}"] for name in ("before", "between", "after")] == ["passed"] * 3
    assert result.log is not None
    assert "test_abort" in result.log.read_text()
    assert "tests/test_bad.py::test_abort" in result.reproduce


def test_a_stopped_run_goes_on_with_the_tests_that_are_left(stage: Stage) -> None:
    def interrupt(command: Command) -> None:
        if "2-of-2" in str(command.cwd):
            raise KeyboardInterrupt

    first = Here(interrupt)
    with pytest.raises(KeyboardInterrupt):
        stage.run(first)
    assert first.runs == 1
    second = Here()
    assert stage.run(second).ok
    assert not [command for command in second.commands if "--collect-only" in command.argv]
    wanted = [test for command in second.commands for test in wanted_by(command)]
    assert len(wanted) == 4


def wanted_by(command: Command) -> Iterator[str]:
    yield from json.loads(Path(command.environment["RVBUILD_SUITE_TESTS"]).read_text())


def test_what_was_run_is_judged_anew_but_not_run(stage: Stage) -> None:
    unknown = TESTS.model_copy(update={"known_failures": ()})
    here = Here()
    assert stage.run(here, tests=unknown).status == "failed"
    before = len(here.commands)
    other = TESTS.model_copy(update={"known_failures": (KNOWN, stale("tests/test_gone.py::*"))})
    result = stage.run(here, tests=other)
    assert result.ok
    assert result.flags == ("known failure `tests/test_gone.py::*` means no test of this suite",)
    assert len(here.commands) == before
    assert stage.run(here, again=True).ok
    assert len(here.commands) == 2 * before


def stale(test: str) -> KnownFailure:
    return KNOWN.model_copy(update={"test": test, "reason": "stale"})


def test_an_unexpected_pass_is_flagged(stage: Stage) -> None:
    entries = (KNOWN, stale("tests/test_good.py::test_number[1]"))
    tests = TESTS.model_copy(update={"known_failures": entries})
    result = stage.run(Here(), tests=tests)
    assert result.ok
    assert result.flags == ("known failure `tests/test_good.py::test_number[1]` passed: stale",)


def test_a_shard_and_a_text_choose(stage: Stage) -> None:
    here = Here()
    result = stage.run(here, Portion((2, 4)))
    assert list(outcomes(result)) == ["test_number[2]", "test_number[3]"]
    assert result.explanation == "2 tests"
    result = stage.run(here, Portion(text="number["))
    assert result.explanation == "6 tests, 1 known failures"
    # Two were run as a shard; what is chosen is cut as finely as the whole.
    assert len({test for c in here.commands[2:] for test in wanted_by(c)}) == 4
    assert stage.run(here, Portion(text="none")).status == "failed"


def test_only_files_with_wanted_tests_are_imported(stage: Stage) -> None:
    counter = stage.source / "count"
    code = f"open({str(counter)!r}, 'a').write('x')\ndef test_one(): pass\n"
    stage.write("test_counted.py", code)
    named = TESTS.suite
    assert named is not None
    command = ("-m", "pytest", "tests/test_good.py", "tests/test_counted.py")
    tests = TESTS.model_copy(update={"suite": named.model_copy(update={"command": command})})
    assert stage.run(Here(), Portion(text="test_number"), tests).ok
    # Once for the list of tests.
    assert counter.read_text() == "x"


def test_a_file_that_cannot_be_imported_fails_and_hides_no_other(stage: Stage) -> None:
    stage.write("test_broken.py", "import not_there\n")
    stage.write(
        "test_left_out.py", "import pytest\npytest.skip('elsewhere', allow_module_level=True)\n"
    )
    result = stage.run(Here())
    assert result.explanation == "1 of 10 tests failed, first `tests.test_broken`"
    assert "not_there" in next(f.message for f in result.failures if f.known is None)
    assert len(outcomes(result)) == 10


def test_a_suite_that_cannot_be_listed_fails(stage: Stage) -> None:
    stage.write("conftest.py", "import os\nos.abort()\n")
    result = stage.run(Here())
    assert result.status == "failed"
    assert result.explanation == (
        "the tests of the suite cannot be listed: ended by signal 6 (SIGABRT)"
    )


def test_killed_from_outside_is_no_fault_of_the_test_at_first(stage: Stage, tmp_path: Path) -> None:
    code = (
        "import os, pathlib\n"
        f"SEEN = pathlib.Path({str(tmp_path / 'seen')!r})\n"
        "def test_one(): pass\n"
        "def test_victim():\n"
        "    if not SEEN.exists():\n"
        "        SEEN.touch()\n"
        "        os.kill(os.getpid(), 9)\n"
        "def test_culprit(): os.kill(os.getpid(), 9)\n"
    )
    stage.write("test_good.py", code)
    one = TESTS.suite
    assert one is not None
    suite = one.model_copy(update={"shards": 1})
    tests = Test(suite=suite)
    result = stage.run(Here(), tests=tests)
    assert result.explanation == "1 of 3 tests failed, first `tests.test_good.test_culprit`"
    assert "memory ran out" in result.failures[0].message


def test_a_process_that_crashes_after_its_last_test_fails(stage: Stage) -> None:
    code = "import atexit, os\nif 'RVBUILD_SUITE_TESTS' in os.environ: atexit.register(os.abort)\n"
    stage.write("conftest.py", code)
    result = stage.run(Here())
    assert result.status == "failed"
    assert {f.test for f in result.failures if f.known is None} == {
        f"end of part {number} of 2" for number in (1, 2)
    }


def test_several_parts_at_once(stage: Stage) -> None:
    assert replace(stage, bench=replace(stage.bench, jobs=3)).run(Here()).ok


@pytest.mark.parametrize("count", [1, 3, 7, 20])
def test_shards_are_all_of_the_suite(count: int) -> None:
    tests = tuple(f"tests/test_a.py::test[{number}]" for number in range(17))
    pieces = cut(tests, count)
    assert len(pieces) == count
    assert tuple(test for piece in pieces for test in piece) == tests
    assert max(map(len, pieces)) - min(map(len, pieces)) <= 1
    shards = [chosen(tests, Portion((number, count))) for number in range(1, count + 1)]
    assert tuple(shards) == pieces


def test_a_text_means_part_of_a_name() -> None:
    tests = ("tests/test_a.py::TestX::test_b[e-f]", "tests/test_b.py::test_c")
    for text in ("test_b[e", "test_a.py::*[*f]", "test_a.py::TestX::", "test_a.TestX.test_b[e-f]"):
        assert chosen(tests, Portion(text=text)) == tests[:1]
    assert chosen(tests, Portion(text="test_b.py")) == tests[1:]
    assert chosen(tests, Portion(text="test_b*[f")) == ()


def test_a_torn_line_of_a_record_is_left_out(tmp_path: Path) -> None:
    path = tmp_path / "record.jsonl"
    path.write_text('{"test": "a", "outcome": "passed"}\n{"test": "b", "outc')
    assert read_record(path) == (Told("a", "passed"),)


def options(**more: Portion | bool) -> Options:
    return replace(Options(("demo",), ("3.13",), Floor(2, 31)), **more)  # type: ignore[arg-type]


def test_a_suite_on_demand_waits_to_be_asked() -> None:
    tests = TESTS.model_copy(update={"imports": ("demo",), "smoke": "import demo"})
    usual = wanted_tests(tests, options(), "demo")
    assert (usual.suite, usual.imports) == (None, ("demo",))
    asked = wanted_tests(tests, options(portion=Portion()), "demo")
    assert (asked.suite, asked.imports, asked.smoke) == (tests.suite, (), "")
    assert asked.cpus == ("vlen256",)
    other = Test(suite=Suite(command=("-m", "demo.selftest")))
    assert wanted_tests(other, options(), "demo") == other
    assert wanted_tests(other, options(suites=False), "demo").suite is None
    for none in (other, Test()):
        with pytest.raises(UsageError, match="`demo` has no suite that pytest runs"):
            wanted_tests(none, options(portion=Portion()), "demo")
