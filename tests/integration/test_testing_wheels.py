"""Wheels on CPUs for real: pip and Python of riscv64 under QEMU, on wheels made on the spot."""

import os
import signal
import zipfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from rvbuild import testing
from rvbuild.emulator import Emulator
from rvbuild.errors import CheckError
from rvbuild.events import Silent
from rvbuild.executor.environment import index_environment
from rvbuild.executor.local import LocalExecutor
from rvbuild.pythons import Interpreter
from rvbuild.recipe import model as recipe
from rvbuild.target import cpus

pytestmark = pytest.mark.needs("qemu")

TAG = "cp313-cp313-manylinux_2_31_riscv64"
# csrr a0, vlenb; ret: an illegal instruction where there is no vector unit.
READ_VLENB = """
import ctypes, mmap
code = mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
code.write(bytes.fromhex("732520c2" "67800000"))
address = ctypes.addressof(ctypes.c_char.from_buffer(code))
bits = 8 * ctypes.CFUNCTYPE(ctypes.c_long)(address)()
print("vlen", bits)
"""


def make_wheel(
    folder: Path, name: str, tag: str = TAG, *, code: str = "", needs: tuple[str, ...] = ()
) -> Path:
    """Write a wheel with one module into `folder`."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{name}-1.0-{tag}.whl"
    info = f"{name}-1.0.dist-info"
    metadata = [f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0"]
    metadata += [f"Requires-Dist: {need}" for need in needs]
    members = {
        f"{name}.py": code,
        f"{info}/METADATA": "\n".join(metadata) + "\n",
        f"{info}/WHEEL": f"Wheel-Version: 1.0\nRoot-Is-Purelib: false\nTag: {tag}\n",
    }
    record = "".join(f"{member},,\n" for member in [*members, f"{info}/RECORD"])
    with zipfile.ZipFile(path, "w") as archive:
        for member, text in (members | {f"{info}/RECORD": record}).items():
            archive.writestr(member, text)
    return path


def bench_in(folder: Path, interpreter: Interpreter, emulator: Emulator) -> testing.Bench:
    """Give a bench without an index that works below a folder."""
    return testing.Bench(
        runtime=testing.Runtime(interpreter, emulator),
        executor=LocalExecutor(),
        workspace=folder / "work",
        watch=Silent(),
        job="demo-1.0:cp313",
        environment={"PIP_NO_INDEX": "1"},
    )


@pytest.fixture
def bench(tmp_path: Path, interpreter: Interpreter, emulator: Emulator) -> Iterator[testing.Bench]:
    """Give a bench without an index that leaves no emulator behind."""
    yield bench_in(tmp_path, interpreter, emulator)
    for entry in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            words = entry.read_bytes()
        except OSError:
            continue
        assert str(tmp_path).encode() not in words, "a process of the test is left"


def ignore(line: str) -> None:
    """Take a line and forget it."""


def statuses(report: testing.TestReport) -> dict[tuple[str, str], str]:
    return {(result.cpu, result.check): result.status for result in report.results}


def only(report: testing.TestReport, check: str) -> testing.CpuResult:
    found = [result for result in report.results if result.check == check]
    assert len(found) == 1
    return found[0]


def test_a_wheel_is_proven_with_what_it_needs(tmp_path: Path, bench: testing.Bench) -> None:
    dist = tmp_path / "dist"
    make_wheel(dist, "native_need", code="answer = 42")
    make_wheel(dist, "old_need", "cp310-abi3-manylinux_2_31_riscv64")
    make_wheel(dist, "pure_need", "py3-none-any")
    needs = (
        "native-need",
        'absent; platform_machine == "x86_64"',
        'old-need; platform_machine == "riscv64"',
    )
    code = "import native_need, platform\nanswer = native_need.answer\n"
    wheel = make_wheel(tmp_path, "demo", code=code, needs=needs)
    tests = recipe.Test(
        imports=("demo", "old_need", "pure_need"),
        smoke="import demo, platform; assert demo.answer == 42; print(platform.machine())",
        requires=("pure-need",),
    )
    report = testing.check_wheel(
        wheel,
        tests,
        (cpus()["rv64gc"], cpus()["vlen256"]),
        replace(bench, wheel_folders=(dist,), jobs=2),
    )
    assert report.ok, report
    assert set(statuses(report).values()) == {"passed"}
    assert len(report.results) == 5
    smoke = next(result for result in report.results if result.check == "smoke")
    assert smoke.log is not None
    assert smoke.log.read_text() == "riscv64\n"
    path = testing.write_report(report, tmp_path / "report.json")
    assert testing.read_report(path) == report


def test_a_rebuilt_wheel_replaces_the_one_tested_before(
    tmp_path: Path, bench: testing.Bench
) -> None:
    tests = recipe.Test(smoke="import demo; assert demo.answer == 42")
    for answer, status in ((41, "failed"), (42, "passed")):
        wheel = make_wheel(tmp_path, "demo", code=f"answer = {answer}")
        report = testing.check_wheel(wheel, tests, (cpus()["rv64gc"],), bench)
        assert only(report, "smoke").status == status


def test_tags_that_pip_does_not_take_are_told(tmp_path: Path, bench: testing.Bench) -> None:
    wheel = make_wheel(tmp_path, "demo", "cp313-cp313-manylinux_2_31_x86_64")
    report = testing.check_wheel(wheel, recipe.Test(), (cpus()["rv64gc"],), bench)
    assert not report.ok
    result = only(report, "install")
    assert result.status == "failed"
    assert "not a supported wheel" in result.explanation
    assert "qemu-riscv64" in result.reproduce


def test_a_requirement_without_a_wheel_is_named(tmp_path: Path, bench: testing.Bench) -> None:
    dist = tmp_path / "dist"
    make_wheel(dist, "foreign", "cp313-cp313-manylinux_2_31_x86_64")
    wheel = make_wheel(tmp_path, "demo", needs=("foreign",))
    bench = replace(bench, wheel_folders=(dist,))
    report = testing.check_wheel(wheel, recipe.Test(), (cpus()["rv64gc"],), bench)
    assert "foreign" in only(report, "install").explanation


@pytest.fixture
def runnable(tmp_path: Path, bench: testing.Bench) -> testing.Script:
    """Give a script that reads the vector length, which needs nothing installed."""
    program = tmp_path / "vlen.py"
    program.write_text(READ_VLENB)
    bench.workspace.mkdir()
    return testing.Script(program, cpus()["vlen256"], timeout_seconds=120)


@pytest.mark.parametrize("name", ["vlen128", "vlen256", "vlen512"])
def test_the_cpu_is_the_one_that_was_named(
    runnable: testing.Script, bench: testing.Bench, name: str
) -> None:
    lines: list[str] = []
    script = replace(runnable, cpu=cpus()[name])
    completed, result = testing.run_script(script, bench, lines.append)
    assert completed.ok
    assert result.status == "passed"
    assert lines == [f"vlen {cpus()[name].vlen}"]


def test_an_instruction_that_the_cpu_lacks_is_explained(
    runnable: testing.Script, bench: testing.Bench
) -> None:
    script = replace(runnable, cpu=cpus()["rv64gc"])
    completed, result = testing.run_script(script, bench, ignore)
    assert completed.signal == signal.SIGILL
    assert result.status == "crashed"
    assert "CPU `rv64gc` does not have" in result.explanation


START_AGAIN = """
import os, subprocess, sys
ask = "import os, platform; print(platform.machine(), os.environ.get('QEMU_CPU'))"
for words in ([sys.executable], ["python3"], [sys.executable, "-I"]):
    words += ["-c", ask]
    print(subprocess.run(words, check=True, capture_output=True, text=True).stdout, end="")
"""


def test_a_program_may_start_its_python_again(
    runnable: testing.Script, bench: testing.Bench
) -> None:
    runnable.program.write_text(START_AGAIN)
    completed, _ = testing.run_script(runnable, bench, ignore)
    assert completed.output == f"riscv64 {cpus()['vlen256'].qemu}\n" * 3


def test_a_child_runs_on_the_same_cpu(runnable: testing.Script, bench: testing.Bench) -> None:
    again = (
        "import subprocess, sys; subprocess.run([sys.executable, '-c', sys.argv[1]], check=True)"
    )
    runnable.program.write_text(again)
    script = replace(runnable, arguments=(READ_VLENB,), cpu=cpus()["vlen512"])
    completed, _ = testing.run_script(script, bench, ignore)
    assert completed.output == "vlen 512\n"


@pytest.mark.skipif(testing.binfmt_state().enabled, reason="binfmt is registered here")
def test_a_program_that_starts_other_riscv64_programs_needs_binfmt(
    runnable: testing.Script, bench: testing.Bench
) -> None:
    runnable.program.write_text(
        "import subprocess; subprocess.run([PROGRAM], check=True)".replace(
            "PROGRAM", repr(str(bench.runtime.interpreter.program))
        )
    )
    _, result = testing.run_script(runnable, bench, ignore)
    if testing.binfmt_state().enabled:
        assert result.status == "passed"
    else:
        assert result.status == "failed"
        assert "needs binfmt" in result.explanation


def test_a_script_keeps_its_exit_code_and_arguments(
    runnable: testing.Script, bench: testing.Bench
) -> None:
    runnable.program.write_text("import sys; print(*sys.argv[1:]); sys.exit(3)")
    script = replace(runnable, arguments=("a b", "c"))
    completed, result = testing.run_script(script, bench, ignore)
    assert completed.exit_code == 3
    assert completed.output == "a b c\n"
    assert result.status == "failed"


def test_a_script_imports_given_wheels(
    tmp_path: Path, runnable: testing.Script, bench: testing.Bench
) -> None:
    wheel = make_wheel(tmp_path, "demo", code="answer = 42")
    runnable.program.write_text("import demo; print(demo.answer)")
    completed, _ = testing.run_script(replace(runnable, wheels=(wheel,)), bench, ignore)
    assert completed.output == "42\n"
    with pytest.raises(CheckError, match="cannot be had"):
        testing.run_script(replace(runnable, requires=("nowhere",)), bench, ignore)


SUITE = """
import os, pytest, signal, time

@pytest.mark.parametrize("value", range(6))
def test_family(value):
    assert value > 4

def test_family_neighbour():
    assert os.environ["MODE"] != "neighbour"

class TestGroup:
    def test_fine(self):
        pass

def test_end():
    if os.environ["MODE"] == "hang":
        if os.fork() == 0:
            os.setsid()
            signal.signal(signal.SIGTERM, signal.SIG_IGN)
        time.sleep(600)
    if os.environ["MODE"] == "crash":
        os.kill(os.getpid(), signal.SIGSEGV)
"""


def suite_of(mode: str, **more: int) -> recipe.Test:
    suite = recipe.Suite(
        requires=("pytest",),
        files=("tests",),
        command=("-m", "pytest", "-q", "tests"),
        environment={"MODE": mode},
        **more,
    )
    known = recipe.KnownFailure(
        test="tests/test_demo.py::test_family[*]",
        reason="small values are wrong",
        blame="package",
        expires="2999-01-01",
    )
    return recipe.Test(cpus=("rv64gc",), suite=suite, known_failures=(known,))


def run_suite(tmp_path: Path, bench: testing.Bench, tests: recipe.Test) -> testing.CpuResult:
    source = tmp_path / "source"
    (source / "tests").mkdir(parents=True)
    (source / "tests/test_demo.py").write_text(SUITE)
    wheel = make_wheel(tmp_path, "demo")
    bench = replace(bench, source=source, environment=index_environment(os.environ))
    return only(testing.check_wheel(wheel, tests, (cpus()["rv64gc"],), bench), "suite")


def test_known_failures_of_a_suite_are_excused(tmp_path: Path, bench: testing.Bench) -> None:
    result = run_suite(tmp_path, bench, suite_of("fine"))
    assert result.status == "passed", result
    assert result.explanation == "9 tests, 5 known failures"
    assert {failure.known for failure in result.failures} == {"small values are wrong"}
    assert result.flags == ()


def test_a_neighbour_of_known_failures_still_fails(tmp_path: Path, bench: testing.Bench) -> None:
    result = run_suite(tmp_path, bench, suite_of("neighbour"))
    assert result.status == "failed"
    assert result.explanation == (
        "1 of 9 tests failed, first `tests.test_demo.test_family_neighbour`"
    )


def test_a_suite_that_hangs_is_named_and_gone(tmp_path: Path, bench: testing.Bench) -> None:
    result = run_suite(tmp_path, bench, suite_of("hang", timeout_seconds=25))
    assert result.status == "timeout", result
    assert result.explanation == "no end after 25 s, in `tests/test_demo.py::test_end`"


def test_a_suite_that_crashes_is_named(tmp_path: Path, bench: testing.Bench) -> None:
    result = run_suite(tmp_path, bench, suite_of("crash"))
    assert result.status == "crashed", result
    assert "segmentation fault" in result.explanation
    assert "in `tests/test_demo.py::test_end`" in result.explanation
