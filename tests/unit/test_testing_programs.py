"""Programs of a library's tests: by what they pass, what they are told, and what is remembered."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from rvbuild.emulator import Emulator
from rvbuild.events import Silent
from rvbuild.executor.local import LocalExecutor
from rvbuild.recipe import model
from rvbuild.sysroot import Sysroot
from rvbuild.target import Floor, cpus, profiles
from rvbuild.testing import CpuResult, Stand, TestReport, check_library

# Stands for QEMU: drops its own options, tells the CPU and runs the program.
EMULATOR = """#!/bin/sh
cpu=$4
export LD_LIBRARY_PATH_TOLD="$6"
shift 6
EMULATED_CPU=$cpu exec "$@"
"""
JUNIT = """<testsuites><testsuite name="Softmax">
<testcase name="TestsSoftmax/0" classname="Simple/float"/>
<testcase name="TestsSoftmax/1" classname="Simple/float"><failure message="3 is not 4"/></testcase>
</testsuite></testsuites>
"""


def program(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{text}\n", encoding="utf-8")
    path.chmod(0o755)
    return path


@pytest.fixture
def stand(tmp_path: Path) -> Stand:
    emulator = program(tmp_path / "qemu", EMULATOR.removeprefix("#!/bin/sh\n"))
    root = tmp_path / "sysroot"
    return Stand(
        label="demo==1.0",
        digest="0" * 64,
        tests=tmp_path / "tests",
        prefixes=(tmp_path / "prefix",),
        sysroot=Sysroot(Floor(2, 31), root, (root / "lib",), root / "gcc", "s"),
        emulator=Emulator(emulator, "10.0"),
        executor=LocalExecutor(),
        workspace=tmp_path / "work",
        watch=Silent(),
        job="demo-1.0:library",
    )


def with_programs(*run: Mapping[str, object], **fields: object) -> model.Test:
    programs = {"build": [{"run": ["true"]}], "run": list(run)}
    return model.Test.model_validate({"cpus": ["rv64gc"], "programs": programs, **fields})


def check(stand: Stand, *run: Mapping[str, object], **fields: object) -> TestReport:
    tests = with_programs(*run, **fields)
    return check_library(tests, tuple(cpus()[name] for name in tests.cpus), stand)


def one(report: TestReport) -> CpuResult:
    (result,) = report.results
    return result


def test_a_program_passes_by_its_exit_code(stand: Stand) -> None:
    program(stand.tests / "right", "exit 0")
    program(stand.tests / "refuses", "exit 3")
    report = check(
        stand,
        {"name": "right", "command": ["right"]},
        {"name": "refuses", "command": ["refuses"], "exit_code": "3"},
        {"name": "surprising", "command": ["right"], "exit_code": "3"},
        {"name": "wrong", "command": ["refuses"]},
    )
    assert [result.status for result in report.results] == ["passed", "passed", "failed", "failed"]
    assert report.results[2].explanation == "exit code 0, where 3 was expected"
    assert not report.ok
    assert (report.wheel, report.python, report.emulator) == ("demo==1.0", "", "qemu-10.0")


def test_a_program_that_dies_says_of_what(stand: Stand) -> None:
    program(stand.tests / "vector", "kill -ILL $$")
    result = one(check(stand, {"name": "vector", "command": ["vector"]}))
    assert result.status == "crashed"
    assert "`rv64gc` does not have" in result.explanation


def test_what_is_said_counts(stand: Stand) -> None:
    # The testers of the BLAS end with 0 whatever they found.
    program(stand.tests / "tester", "echo dgemm PASSED; echo ' *** FATAL ERROR in dsyrk'")
    report = check(
        stand,
        {"name": "fine", "command": ["tester"], "says": ["dgemm PASSED"]},
        {"name": "fatal", "command": ["tester"], "never_says": ["FATAL"]},
        {"name": "silent", "command": ["tester"], "says": ["dtrsm PASSED"]},
    )
    assert [result.explanation for result in report.results] == [
        "",
        "it said `*** FATAL ERROR in dsyrk`",
        "it never said `dtrsm PASSED`",
    ]
    assert [result.ok for result in report.results] == [True, False, False]


def test_a_program_reads_its_input_in_a_folder_of_its_own(stand: Stand) -> None:
    program(stand.tests / "reader", 'read word; echo "got $word" | tee here; test "$(ls)" = here')
    (stand.tests / "data").write_text("dblat3\n", encoding="utf-8")
    run = {"name": "reader", "command": ["reader"], "input": "data", "says": ["got dblat3"]}
    for _ in range(2):
        assert one(check(replace(stand, resume=False), run)).ok


def test_the_cpu_and_the_libraries_are_told(stand: Stand) -> None:
    program(stand.tests / "ask", 'echo "$EMULATED_CPU"; echo "$LD_LIBRARY_PATH_TOLD"; echo "$OWN"')
    run = {"name": "ask", "command": ["ask"], "environment": {"OWN": "{tests}/x"}}
    result = one(check(stand, run))
    assert result.log is not None
    cpu, libraries, own = result.log.read_text(encoding="utf-8").splitlines()
    assert cpu == cpus()["rv64gc"].qemu
    assert libraries == "LD_LIBRARY_PATH=" + ":".join(
        str(folder)
        for folder in (stand.tests / "lib", stand.prefixes[0] / "lib", *stand.sysroot.libraries)
    )
    assert own == f"{stand.tests}/x"
    assert str(stand.tests / "ask") in result.reproduce


def test_shards_share_the_tests(stand: Stand) -> None:
    program(stand.tests / "share", 'test "$1 of $COUNT" != "1 of 3"')
    run = {
        "name": "share",
        "command": ["share", "{shard}"],
        "environment": {"COUNT": "{shards}"},
        "shards": "3",
    }
    report = check(stand, run)
    assert [(result.check, result.ok) for result in report.results] == [
        ("share 1/3", True),
        ("share 2/3", False),
        ("share 3/3", True),
    ]


def test_programs_run_on_their_own_cpus(stand: Stand) -> None:
    program(stand.tests / "any", "true")
    report = check(
        replace(stand, jobs=3),
        {"name": "any", "command": ["any"]},
        {"name": "long", "command": ["any"], "cpus": ["vlen512"]},
        cpus=["rv64gc", "vlen512"],
    )
    assert [(result.cpu, result.check) for result in report.results] == [
        ("rv64gc", "any"),
        ("vlen512", "any"),
        ("vlen512", "long"),
    ]


def test_a_chip_runs_what_is_for_its_vector_length(stand: Stand) -> None:
    program(stand.tests / "any", "true")
    chip = next(cpu for cpu in cpus().values() if cpu.vlen and cpu.name not in profiles())
    same = next(name for name, cpu in profiles().items() if cpu.vlen == chip.vlen)
    report = check(
        stand,
        {"name": "long", "command": ["any"], "cpus": [same]},
        {"name": "scalar", "command": ["any"], "cpus": ["rv64gc"]},
        cpus=[chip.name],
    )
    assert [result.check for result in report.results] == ["long"]


def test_single_tests_are_told_from_a_junit_file(stand: Stand) -> None:
    program(stand.tests / "gtests", f"cat > \"${{1#*=}}\" <<'X'\n{JUNIT}X\nexit 1")
    run = {"name": "gtests", "command": ["gtests", "--out={results}"]}
    result = one(check(stand, run))
    assert result.status == "failed"
    name = "Simple.float.TestsSoftmax.1"
    assert result.explanation == f"1 of 2 tests failed, first `{name}`"
    assert [(failure.test, failure.message) for failure in result.failures] == [
        (name, "3 is not 4")
    ]


def known(test: str, **fields: object) -> list[dict[str, object]]:
    entry = {"test": test, "reason": "why", "blame": "package", "expires": "2999-01-01"}
    return [{**entry, **fields}]


def test_a_known_failure_of_a_single_test_is_excused(stand: Stand) -> None:
    program(stand.tests / "gtests", f"cat > \"${{1#*=}}\" <<'X'\n{JUNIT}X\nexit 1")
    run = {"name": "gtests", "command": ["gtests", "--out={results}"]}
    result = one(check(stand, run, known_failures=known("Simple/float.TestsSoftmax/1")))
    assert result.ok
    assert result.explanation == "2 tests, 1 known failures"
    assert result.failures[0].known == "why"
    other = one(check(stand, run, known_failures=known("Simple/float.TestsSoftmax/0")))
    assert not other.ok


def test_a_program_that_was_to_write_results_and_did_not_fails(stand: Stand) -> None:
    program(stand.tests / "quiet", "true")
    run = {"name": "quiet", "command": ["quiet", "{results}"]}
    assert "holds no test results" in one(check(stand, run)).explanation
    program(stand.tests / "quiet", 'echo "<testsuites/>" > "$1"')
    result = one(check(stand, run))
    assert (result.status, result.explanation) == ("failed", "no test ran")


def test_a_known_failure_of_a_program_is_excused_and_flagged_once_it_passes(stand: Stand) -> None:
    program(stand.tests / "dies", "kill -SEGV $$")
    run = {"name": "dies", "command": ["dies"]}
    result = one(check(stand, run, known_failures=known("dies")))
    assert result.ok
    assert result.explanation.startswith("known failure: why; segmentation fault")
    program(stand.tests / "dies", "true")
    passed = one(check(replace(stand, digest="1" * 64), run, known_failures=known("dies")))
    assert passed.flags == ("known failure `dies` passed: why",)


def test_what_passed_is_not_run_again_and_what_failed_is(stand: Stand) -> None:
    program(stand.tests / "counts", 'echo x >> "$COUNTS"; exit "$1"')
    counts = stand.workspace.parent / "counts"

    def ran(code: str, bench: Stand) -> int:
        counts.write_text("", encoding="utf-8")
        run = {
            "name": "counts",
            "command": ["counts", code],
            "environment": {"COUNTS": str(counts)},
        }
        for _ in range(2):
            check(bench, run)
        return len(counts.read_text(encoding="utf-8").split())

    assert ran("0", stand) == 1
    assert ran("1", stand) == 2
    assert ran("0", replace(stand, resume=False)) == 2
    assert ran("0", replace(stand, digest="2" * 64)) == 1
