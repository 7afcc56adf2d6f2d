"""Checking wheels with an executor that pretends: what is run where, and what is made of it."""

import zipfile
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from threading import Lock

import pytest

from rvbuild import testing
from rvbuild.emulator import Emulator
from rvbuild.errors import CheckError, UsageError
from rvbuild.events import Silent
from rvbuild.executor import Command, Completed
from rvbuild.executor.environment import index_environment
from rvbuild.pythons import Interpreter
from rvbuild.recipe import model as recipe
from rvbuild.target import Floor, cpus
from rvbuild.testing.requirements import (
    PythonFacts,
    decided,
    glibc_floor,
    parse_requirements,
    run_requirements,
)

FINE = Completed(0, None, timed_out=False, seconds=1.0, output="")
WRONG = Completed(1, None, timed_out=False, seconds=1.0, output="ImportError: no demo\n")
CRASHED = Completed(139, 11, timed_out=False, seconds=1.0, output="")
TIMED_OUT = Completed(143, 15, timed_out=True, seconds=1.0, output="")
TWO = (cpus()["rv64gc"], cpus()["vlen256"])


@dataclass(slots=True)
class Pretender:
    """An executor that answers by the first key found among a command's words."""

    answers: Mapping[str, Completed | Callable[[Command], Completed]]
    commands: list[Command] = field(default_factory=list)
    lock: Lock = field(default_factory=Lock)

    def run(
        self,
        command: Command,
        log: Path | None = None,
        on_line: Callable[[str], None] | None = None,
    ) -> Completed:
        with self.lock:
            self.commands.append(command)
        text = " ".join(command.argv)
        answer = next((answer for key, answer in self.answers.items() if key in text), FINE)
        completed = answer if isinstance(answer, Completed) else answer(command)
        if log is not None:
            log.write_text(completed.output)
        for line in completed.output.splitlines():
            if on_line is not None:
                on_line(line)
        return completed

    def having(self, word: str) -> Iterator[Command]:
        return (command for command in self.commands if word in " ".join(command.argv))


def make_wheel(folder: Path, metadata: str) -> Path:
    path = folder / "demo-1.0-cp313-cp313-manylinux_2_31_riscv64.whl"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("demo-1.0.dist-info/METADATA", metadata)
    return path


@pytest.fixture
def wheel(tmp_path: Path) -> Path:
    return make_wheel(tmp_path, "Metadata-Version: 2.1\nName: demo\nVersion: 1.0\n")


@pytest.fixture
def bench(tmp_path: Path) -> testing.Bench:
    root = tmp_path / "root"
    (root / "usr/lib").mkdir(parents=True)
    (root / "usr/lib/libc.so.6").write_bytes(
        b"\0GNU C Library (Debian GLIBC 2.33-1) stable release version 2.33.\n\0"
    )
    python = Interpreter(
        version="3.13",
        full_version="3.13.5",
        root=root,
        program=root / "usr/bin/python3.13",
        include=(),
        pkg_config=root,
        sysconfig_data=root,
        extension_suffix=".so",
        build_program=Path("/build/python3.13"),
        pip=Path("/kits/pip.whl"),
        digest="0",
    )
    runtime = testing.Runtime(python, Emulator(Path("/kits/qemu"), "10.0"), (Path("/libs"),))
    return testing.Bench(runtime, Pretender({}), tmp_path / "work", Silent(), "demo-1.0:cp313")


def table(report: testing.TestReport) -> list[tuple[str, str, str]]:
    return [(result.cpu, result.check, result.status) for result in report.results]


def check(
    wheel: Path, tests: recipe.Test, bench: testing.Bench, pretender: Pretender
) -> testing.TestReport:
    return testing.check_wheel(wheel, tests, TWO, replace(bench, executor=pretender))


SMOKE = recipe.Test(imports=("demo", "demo.core"), smoke="import demo")


@pytest.mark.parametrize("jobs", [1, 2])
def test_each_cpu_is_checked_in_order(wheel: Path, bench: testing.Bench, jobs: int) -> None:
    pretender = Pretender({})
    report = check(wheel, SMOKE, replace(bench, jobs=jobs), pretender)
    assert report.ok
    assert table(report) == [
        ("rv64gc", "install", "passed"),
        ("rv64gc", "imports", "passed"),
        ("rv64gc", "smoke", "passed"),
        ("vlen256", "imports", "passed"),
        ("vlen256", "smoke", "passed"),
    ]
    assert {command.argv[4] for command in pretender.having("import demo, demo.core")} == {
        cpu.qemu for cpu in TWO
    }


def test_programs_see_the_runtime_and_nothing_else(wheel: Path, bench: testing.Bench) -> None:
    pretender = Pretender({})
    check(wheel, SMOKE, replace(bench, environment={"SECRET": "1"}), pretender)
    for command in pretender.commands:
        assert command.environment["LD_LIBRARY_PATH"] == "/libs"
        assert command.environment["QEMU_LD_PREFIX"] == str(bench.runtime.interpreter.root)
        assert command.environment["QEMU_CPU"] == command.argv[4]
        assert "SECRET" not in command.environment
        assert not command.network
        assert command.timeout_seconds is not None


def test_a_wrong_cpu_does_not_hide_the_others(wheel: Path, bench: testing.Bench) -> None:
    def by_cpu(command: Command) -> Completed:
        return CRASHED if cpus()["rv64gc"].qemu in command.argv else FINE

    report = check(wheel, SMOKE, bench, Pretender({"import demo, demo.core": by_cpu}))
    assert not report.ok
    assert table(report)[1:] == [
        ("rv64gc", "imports", "crashed"),
        ("rv64gc", "smoke", "skipped"),
        ("vlen256", "imports", "passed"),
        ("vlen256", "smoke", "passed"),
    ]
    assert "`imports` went wrong" in report.results[2].explanation
    assert report.results[1].reproduce.startswith("cd ")
    assert "env -i " in report.results[1].reproduce


def with_program(wheel: Path) -> Path:
    with zipfile.ZipFile(wheel, "a") as archive:
        archive.writestr("demo-1.0.data/scripts/demo", b"\x7fELF and more")
        archive.writestr("demo-1.0.data/scripts/demo-config", b"#!/bin/sh\n")
    return wheel


def test_compiled_programs_of_a_wheel_are_run(wheel: Path, bench: testing.Bench) -> None:
    pretender = Pretender({})
    report = check(with_program(wheel), recipe.Test(), bench, pretender)
    assert report.ok
    assert table(report)[1:] == [(cpu.name, "program-demo", "passed") for cpu in TWO]
    for command in pretender.having("--version"):
        assert command.argv[-2:] == (str(bench.workspace / "site/bin/demo"), "--version")
        assert str(bench.runtime.interpreter.program) not in command.argv


def test_a_program_without_a_version_is_asked_for_help(wheel: Path, bench: testing.Bench) -> None:
    made = with_program(wheel)
    report = check(made, recipe.Test(), bench, Pretender({"--version": WRONG}))
    assert report.ok
    both = Pretender({"--version": WRONG, "--help": WRONG})
    assert not check(made, recipe.Test(), bench, both).ok


def test_a_program_that_crashes_is_not_asked_again(wheel: Path, bench: testing.Bench) -> None:
    pretender = Pretender({"--version": CRASHED})
    report = check(with_program(wheel), recipe.Test(), bench, pretender)
    assert {result.status for result in report.results[1:]} == {"crashed"}
    assert not list(pretender.having("--help"))


def test_nothing_tested_is_not_green(wheel: Path, bench: testing.Bench) -> None:
    report = check(wheel, recipe.Test(), bench, Pretender({}))
    assert not report.ok
    assert table(report)[1:] == [(cpu.name, "imports", "skipped") for cpu in TWO]
    assert "nothing tested" in report.results[1].explanation


def test_a_refused_wheel_ends_the_checks(wheel: Path, bench: testing.Bench) -> None:
    output = "ERROR: demo.whl is not a supported wheel on this platform.\n"
    refused = replace(WRONG, output=output)
    report = check(wheel, SMOKE, bench, Pretender({"--no-index": refused}))
    assert table(report) == [("rv64gc", "install", "failed")]
    assert "not a supported wheel" in report.results[0].explanation


def test_the_time_for_all_together_is_kept(wheel: Path, bench: testing.Bench) -> None:
    report = check(wheel, SMOKE, replace(bench, total_seconds=0.0), Pretender({}))
    assert [result.status for result in report.results[1:]] == ["timeout", "skipped"] * 2
    assert "together" in report.results[1].explanation
    assert not report.ok
    pretender = Pretender({})
    check(wheel, SMOKE, replace(bench, total_seconds=100.0), pretender)
    limits = [command.timeout_seconds for command in pretender.having("smoke.py")]
    assert all(limit is not None and limit <= 100 for limit in limits)


SUITE = recipe.Test(
    suite=recipe.Suite(
        requires=("pytest", 'other; platform_machine == "x86_64"'),
        files=("tests", "data/one.txt"),
        command=("-m", "pytest", "-q", "tests"),
        cpus=("vlen256",),
    )
)


@pytest.fixture
def with_source(tmp_path: Path, bench: testing.Bench) -> testing.Bench:
    source = tmp_path / "source"
    (source / "tests").mkdir(parents=True)
    (source / "tests/test_a.py").touch()
    (source / "data").mkdir()
    (source / "data/one.txt").touch()
    (source / "demo.py").touch()
    return replace(bench, source=source)


def suite_ends(completed: Completed, cases: str | None = None, running: str = "") -> Pretender:
    """Pretend a suite that ends like that, writes those results and was at that test."""

    def run(command: Command) -> Completed:
        folder = command.cwd.parent
        if cases is not None:
            (folder / "junit.xml").write_text(f"<testsuites>{cases}</testsuites>")
        if running:
            Path(command.environment["RVBUILD_RUNNING_TEST"]).write_text(running)
        return completed

    return Pretender({"-m pytest": run})


def case(name: str, inside: str = "") -> str:
    return f'<testcase classname="tests.test_a" name="{name}">{inside}</testcase>'


def suite_result(
    wheel: Path, bench: testing.Bench, pretender: Pretender, tests: recipe.Test = SUITE
) -> testing.CpuResult:
    report = check(wheel, tests, bench, pretender)
    found = [result for result in report.results if result.check == "suite"]
    assert [result.cpu for result in found] == ["vlen256"]
    return found[0]


def test_a_suite_runs_among_its_files_on_its_cpus(wheel: Path, with_source: testing.Bench) -> None:
    pretender = suite_ends(FINE, case("test_fine"))
    result = suite_result(wheel, with_source, pretender)
    assert result.status == "passed"
    (command,) = pretender.having("-m pytest")
    assert command.argv[-2:] == ("-q", "tests")
    assert sorted(path.name for path in command.cwd.iterdir()) == ["data", "tests"]
    assert (command.cwd / "data/one.txt").exists()
    (download,) = pretender.having("--platform")
    assert "pytest" in download.argv
    assert "other" not in " ".join(download.argv)


@pytest.mark.parametrize(
    ("completed", "cases", "status", "words"),
    [
        (TIMED_OUT, None, "timeout", "no end after 1800 s, in `tests/test_a.py::test_last`"),
        (CRASHED, None, "crashed", "fault (signal 11), in `tests/test_a.py::test_last`"),
        (WRONG, None, "failed", "holds no test results"),
        (FINE, "", "failed", "no test ran"),
        (replace(WRONG, exit_code=3), case("test_fine"), "failed", "did not come to its end"),
        (WRONG, case("test_fine"), "failed", "no test failed, and pytest did"),
        (WRONG, case("test_bad", "<failure/>"), "failed", "1 of 1 tests failed"),
    ],
)
def test_ends_of_a_suite_are_told_apart(
    wheel: Path,
    with_source: testing.Bench,
    *,
    completed: Completed,
    cases: str | None,
    status: str,
    words: str,
) -> None:
    pretender = suite_ends(completed, cases, running="tests/test_a.py::test_last")
    result = suite_result(wheel, with_source, pretender)
    assert result.status == status
    assert words in result.explanation


def test_results_of_an_earlier_run_do_not_count(wheel: Path, with_source: testing.Bench) -> None:
    assert suite_result(wheel, with_source, suite_ends(FINE, case("test_fine"))).ok
    assert suite_result(wheel, with_source, suite_ends(FINE)).status == "failed"


def test_files_of_an_earlier_run_are_gone(wheel: Path, with_source: testing.Bench) -> None:
    stale = [
        with_source.workspace / name
        for name in ("site/old.py", "requirements/old.py", "vlen256/suite/tests/test_old.py")
    ]
    for path in stale:
        path.parent.mkdir(parents=True)
        path.touch()
    suite_result(wheel, with_source, suite_ends(FINE, case("test_fine")))
    assert not [path for path in stale if path.exists()]


def test_a_suite_with_known_failures_passes(wheel: Path, with_source: testing.Bench) -> None:
    entry = recipe.KnownFailure(
        test="tests/test_a.py::test_bad", reason="rounding", blame="test", expires="2999-01-01"
    )
    tests = SUITE.model_copy(update={"known_failures": (entry,)})
    pretender = suite_ends(WRONG, case("test_fine") + case("test_bad", "<failure/>"))
    result = suite_result(wheel, with_source, pretender, tests)
    assert result.status == "passed"
    assert result.explanation == "2 tests, 1 known failures"


def test_a_suite_without_its_files_fails(wheel: Path, bench: testing.Bench) -> None:
    result = suite_result(wheel, bench, Pretender({}))
    assert result.status == "failed"
    assert "`tests`" in result.explanation


def test_other_commands_are_judged_by_their_end(wheel: Path, bench: testing.Bench) -> None:
    suite = recipe.Suite(command=("-m", "demo.selftest"), cpus=("vlen256",))
    result = suite_result(wheel, bench, Pretender({"selftest": WRONG}), recipe.Test(suite=suite))
    assert (result.status, result.explanation) == ("failed", "exit code 1: ImportError: no demo")


def test_requirements_are_fetched_for_the_runtime(tmp_path: Path, bench: testing.Bench) -> None:
    wheel = make_wheel(
        tmp_path,
        "Metadata-Version: 2.1\nName: demo\nVersion: 1.0\nRequires-Dist: need>=2\n"
        'Requires-Dist: cuda; platform_machine == "x86_64"\nRequires-Dist: more; extra == "x"\n',
    )
    pretender = Pretender({})
    check(wheel, recipe.Test(), replace(bench, environment={"PIP_NO_INDEX": "1"}), pretender)
    (command,) = pretender.having("--platform")
    words = " ".join(command.argv)
    assert command.argv[:3] == ("/build/python3.13", "/kits/pip.whl/pip", "install")
    assert [
        command.argv[at + 1] for at, word in enumerate(command.argv) if word == "--platform"
    ] == [
        "manylinux_2_33_riscv64",
        "manylinux_2_32_riscv64",
        "manylinux_2_31_riscv64",
        "linux_riscv64",
    ]
    assert "--abi cp313 --abi abi3 --abi none" in words
    assert "--only-binary :all:" in words
    assert f"--find-links {tmp_path}" in words
    assert command.argv[-1] == "need>=2"
    assert command.environment["PIP_NO_INDEX"] == "1"
    assert command.network
    assert (bench.workspace / "constraints.txt").read_text() == "demo==1.0\n"


def test_missing_requirements_are_named(tmp_path: Path, bench: testing.Bench) -> None:
    metadata = "Metadata-Version: 2.1\nName: demo\nVersion: 1.0\nRequires-Dist: need\n"
    wheel = make_wheel(tmp_path, metadata)
    output = "ERROR: No matching distribution found for need\n"
    pretender = Pretender({"--platform": replace(WRONG, output=output)})
    report = check(wheel, recipe.Test(), bench, pretender)
    assert table(report) == [("rv64gc", "install", "failed")]
    assert "found for need" in report.results[0].explanation


def test_free_threaded_pythons_take_no_stable_abi() -> None:
    assert PythonFacts("3.13t", "3.13.5").abis == ("cp313t", "none")
    assert PythonFacts("3.13t", "3.13.5").markers["python_version"] == "3.13"


def test_markers_are_decided_for_riscv64() -> None:
    texts = [
        'a; platform_machine == "riscv64"',
        'b; python_version < "3.13"',
        'c[x]>=1; sys_platform == "linux"',
        'd; implementation_name == "pypy"',
        "e",
    ]
    facts = PythonFacts("3.13", "3.13.5")
    assert decided(parse_requirements(texts), facts) == ("a", "c[x]>=1", "e")


def test_what_is_no_requirement_is_told() -> None:
    with pytest.raises(UsageError, match="requirement"):
        parse_requirements(["a b c"])


def test_a_wheel_without_metadata_is_told(tmp_path: Path) -> None:
    path = tmp_path / "demo-1.0-py3-none-any.whl"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("demo.py", "")
    with pytest.raises(CheckError, match="no readable metadata"):
        run_requirements(path, PythonFacts("3.13", "3.13.5"))


def test_a_runtime_without_a_c_library_has_the_oldest_floor(tmp_path: Path) -> None:
    assert glibc_floor(tmp_path) == Floor(2, 31)


def test_a_report_comes_back_as_it_was(tmp_path: Path, wheel: Path, bench: testing.Bench) -> None:
    report = check(wheel, SMOKE, bench, Pretender({"smoke.py": WRONG}))
    path = testing.write_report(report, tmp_path / "reports/demo.json")
    assert '"schema": 1' in path.read_text()
    assert testing.read_report(path) == report


def test_what_is_no_report_is_told(tmp_path: Path, wheel: Path, bench: testing.Bench) -> None:
    path = tmp_path / "report.json"
    with pytest.raises(UsageError, match="not a test report"):
        testing.read_report(path)
    report = check(wheel, SMOKE, bench, Pretender({}))
    testing.write_report(replace(report, schema=99), path)
    with pytest.raises(UsageError, match="schema 99"):
        testing.read_report(path)


def test_pip_sees_its_settings_and_the_proxies() -> None:
    environment = {"PIP_INDEX_URL": "x", "https_proxy": "y", "HOME": "/h", "PYTHONPATH": "z"}
    assert sorted(index_environment(environment)) == ["HOME", "PIP_INDEX_URL", "https_proxy"]
