"""Numeric checks from outside: which runs there are, and what is made of their results."""

import json
import zipfile
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest

from rvbuild.emulator import Emulator
from rvbuild.events import Silent
from rvbuild.executor import Command, Completed
from rvbuild.pythons import Interpreter
from rvbuild.recipe import model as recipe
from rvbuild.recipe.model import Numeric
from rvbuild.target import cpus
from rvbuild.testing import Bench, CpuResult, Runtime, TestReport, check_wheel
from rvbuild.testing.numeric import (
    NumericRun,
    judge_numeric,
    lay_out_numeric,
    numeric_program,
    numeric_runs,
    program_digest,
)

THREADS = {"OPENBLAS_NUM_THREADS": "2"}
PRODUCTS = Numeric(family="products", sizes=(0, 17), environments=({}, THREADS))
SOLVES = Numeric(family="solves", sizes=(17,), dtypes=("float64",), tolerance=4)
FORCED = Numeric(
    family="products", sizes=(7,), cpus=("vlen256",), environments=({"CORE": "zvl256b"},)
)
CHECKS = (PRODUCTS, SOLVES, FORCED)
RIGHT: dict[str, object] = {"operation": "matmul", "dtype": "float64", "size": 2, "compared": 4}
WRONG: dict[str, object] = {
    "operation": "matmul",
    "dtype": "float64",
    "size": 17,
    "compared": 289,
    "wrong": 12,
    "among": 289,
    "worst": "148760",
    "variant": "plain @ plain",
    "note": "at [0] 1 for 2",
}


def names(runs: tuple[NumericRun, ...]) -> list[tuple[str, ...]]:
    return [run.names for run in runs]


def test_checks_with_one_environment_run_together(tmp_path: Path) -> None:
    assert names(numeric_runs(CHECKS, cpus()["rv64gc"], tmp_path)) == [
        ("numeric products", "numeric solves"),
        ("numeric products [OPENBLAS_NUM_THREADS=2]",),
    ]
    assert names(numeric_runs(CHECKS, cpus()["vlen256"], tmp_path))[2:] == [
        ("numeric products [CORE=zvl256b]",)
    ]


def test_a_board_takes_what_is_for_its_register_length(tmp_path: Path) -> None:
    board = replace(cpus()["vlen256"], name="somebody's board")
    assert len(numeric_runs(CHECKS, board, tmp_path, board=True)) == 3
    assert len(numeric_runs(CHECKS, replace(board, vlen=128), tmp_path, board=True)) == 2
    assert len(numeric_runs(CHECKS, board, tmp_path)) == 2


@pytest.fixture
def run(tmp_path: Path) -> NumericRun:
    first, second = numeric_runs(CHECKS, cpus()["rv64gc"], tmp_path)
    assert dict(second.environment) == THREADS
    lay_out_numeric(first)
    return first


def test_a_plan_says_what_the_recipe_says(run: NumericRun, tmp_path: Path) -> None:
    assert json.loads(run.plan.read_text()) == [
        {"family": "products", "dtypes": [], "sizes": [0, 17], "tolerance": 0},
        {"family": "solves", "dtypes": ["float64"], "sizes": [17], "tolerance": 4},
    ]
    program = numeric_program(run, tmp_path, (tmp_path / "site",), 60)
    assert program.arguments == ("-m", "rvbuild_numeric", str(run.plan), str(run.results))
    assert program.paths == (tmp_path / "site", run.folder)
    assert (run.folder / "rvbuild_numeric/__main__.py").is_file()
    assert not list(run.folder.glob("**/__pycache__"))


def test_what_an_earlier_run_left_is_gone(run: NumericRun) -> None:
    for stale in (run.results, run.running):
        stale.write_text("old")
    lay_out_numeric(run)
    assert not run.results.exists()
    assert not run.running.exists()


def finish(run: NumericRun, *entries: list[dict[str, object]], running: str = "") -> None:
    """Write what the program writes after these entries, each a list of cases."""
    found = []
    for cases in entries:
        wrong = [case for case in cases if case.get("note")]
        smallest = {**wrong[0], "size": 9} if wrong else None
        found.append({"seconds": 1.5, "smallest": smallest, "cases": cases})
    run.results.write_text(json.dumps({"schema": 1, "core": "zvl128b", "entries": found}))
    run.running.write_text(f"{running}\n")


def ended(run: NumericRun, status: str = "passed", explanation: str = "") -> CpuResult:
    reproduce = f"cd / && python -m rvbuild_numeric {run.plan} {run.results}"
    plain = CpuResult("vlen512", "numeric-1", "passed", 9.0, explanation, None, reproduce)
    return replace(plain, status=status)  # type: ignore[arg-type] # a word of the test's table


def table(results: tuple[CpuResult, ...]) -> list[tuple[str, str]]:
    return [(result.check, result.status) for result in results]


def test_what_is_right_says_how_much_was_looked_at(run: NumericRun) -> None:
    finish(run, [RIGHT, RIGHT], [RIGHT])
    results = judge_numeric(ended(run), run)
    assert table(results) == [("numeric products", "passed"), ("numeric solves", "passed")]
    assert results[0].explanation == "2 cases, 8 elements, OpenBLAS core `zvl128b`"
    assert results[0].seconds == 1.5


def test_what_is_wrong_names_the_smallest_case_and_repeats_it(run: NumericRun) -> None:
    larger = {**WRONG, "size": 33, "wrong": 800}
    other = {**WRONG, "size": 33, "dtype": "float32", "bound": "0.5"}
    finish(run, [larger, RIGHT, WRONG, other], [RIGHT])
    products, solves = judge_numeric(ended(run, "failed", "exit code 1: products: 1 s"), run)
    assert (products.status, solves.status) == ("failed", "passed")
    assert products.explanation == (
        "matmul float64 n=17: 12 of 289 elements wrong, worst error 148760, "
        "smallest failing size 9; 3 of 4 cases wrong"
    )
    assert products.reproduce.endswith(f"{run.results} --case products:matmul:float64:9")
    assert [failure.test for failure in products.failures] == [
        "products:matmul:float64:17",
        "products:matmul:float32:33",
    ]
    assert products.failures[0].message == (
        "plain @ plain: 12 of 289 elements wrong, worst error 148760, at [0] 1 for 2"
    )
    assert "(allowed 0.5)" in products.failures[1].message


def test_what_was_raised_is_told(run: NumericRun) -> None:
    raised = {"operation": "solve", "dtype": "float64", "size": 17, "note": "raised LinAlgError: x"}
    finish(run, [RIGHT], [raised])
    _, solves = judge_numeric(ended(run, "failed"), run)
    assert (
        solves.explanation == "solve float64 n=17: raised LinAlgError: x, smallest failing size 9"
    )
    assert solves.failures[0].message == "raised LinAlgError: x"


def test_a_run_that_compares_nothing_fails(run: NumericRun) -> None:
    finish(run, [RIGHT], [])
    _, solves = judge_numeric(ended(run), run)
    assert solves.status == "failed"
    assert "nothing was compared" in solves.explanation


@pytest.mark.parametrize("status", ["crashed", "timeout", "failed"])
def test_a_run_that_breaks_off_names_the_case_it_was_at(run: NumericRun, status: str) -> None:
    finish(run, [RIGHT], running="solves:svd:float64:17")
    products, solves = judge_numeric(ended(run, status, "segmentation fault"), run)
    assert (products.status, solves.status) == ("passed", status)
    assert solves.explanation == "segmentation fault, in `solves:svd:float64:17`"
    assert solves.reproduce.endswith("--case solves:svd:float64:17")


def test_a_run_that_never_began_skips_what_follows(run: NumericRun) -> None:
    results = judge_numeric(ended(run, "failed", "exit code 1: no module"), run)
    assert table(results) == [("numeric products", "failed"), ("numeric solves", "skipped")]
    assert results[0].explanation == "exit code 1: no module"
    assert not results[0].reproduce.endswith("--case")
    run.results.write_text("{")
    assert table(judge_numeric(ended(run), run))[0] == ("numeric products", "failed")


def test_a_bad_end_counts_though_all_numbers_were_right(run: NumericRun) -> None:
    finish(run, [RIGHT], [RIGHT])
    results = judge_numeric(ended(run, "crashed", "segmentation fault (signal 11)"), run)
    assert table(results)[1] == ("numeric solves", "crashed")


def test_a_command_for_a_board_is_left_as_it_is(run: NumericRun) -> None:
    finish(run, [WRONG], [RIGHT])
    remote = replace(ended(run, "failed"), reproduce="ssh board 'python; exit $code'")
    assert judge_numeric(remote, run)[0].reproduce == remote.reproduce


def test_the_program_has_one_digest() -> None:
    assert len(program_digest()) == 64
    assert program_digest() == program_digest()


@dataclass(slots=True)
class Pretender:
    """An executor whose numeric runs find these cases for every check, and whose rest is fine."""

    cases: list[dict[str, object]]
    commands: list[Command] = field(default_factory=list)

    def run(
        self,
        command: Command,
        log: Path | None = None,
        on_line: Callable[[str], None] | None = None,
    ) -> Completed:
        self.commands.append(command)
        if log is not None and on_line is not None:
            log.write_text("fine\n")
            on_line("fine")
        if "rvbuild_numeric" in command.argv:
            plan, results = map(Path, command.argv[-2:])
            entry = {"seconds": 1, "smallest": None, "cases": self.cases}
            entries = [entry for _ in json.loads(plan.read_text())]
            results.write_text(json.dumps({"entries": entries}))
        return Completed(0, None, timed_out=False, seconds=1.0, output="")


def check_demo(folder: Path, cases: list[dict[str, object]]) -> tuple[TestReport, list[Command]]:
    """Check a wheel with a pretended executor on two CPUs."""
    wheel = folder / "demo-1.0-cp313-cp313-manylinux_2_31_riscv64.whl"
    with zipfile.ZipFile(wheel, "w") as archive:
        metadata = "Metadata-Version: 2.1\nName: demo\nVersion: 1.0\n"
        archive.writestr("demo-1.0.dist-info/METADATA", metadata)
    interpreter = Interpreter(
        version="3.13",
        full_version="3.13.5",
        root=folder,
        program=folder / "python3.13",
        include=(),
        pkg_config=folder,
        sysconfig_data=folder,
        extension_suffix=".so",
        build_program=folder / "python3.13",
        pip=folder / "pip.whl",
        digest="0",
    )
    pretender = Pretender(cases)
    runtime = Runtime(interpreter, Emulator(folder / "qemu", "10.0"))
    bench = Bench(runtime, pretender, folder / "work", Silent(), "demo-1.0:cp313")
    suite = recipe.Suite(command=("-m", "demo.selftest"), cpus=("vlen256",))
    tests = recipe.Test(imports=("demo",), numeric=CHECKS, suite=suite, timeout_seconds=77)
    processors = (cpus()["rv64gc"], cpus()["vlen256"])
    return check_wheel(wheel, tests, processors, bench), pretender.commands


def test_numbers_are_checked_between_imports_and_suite(tmp_path: Path) -> None:
    report, commands = check_demo(tmp_path, [RIGHT])
    assert report.ok
    assert [(result.cpu, result.check) for result in report.results[1:]] == [
        ("rv64gc", "imports"),
        ("rv64gc", "numeric products"),
        ("rv64gc", "numeric solves"),
        ("rv64gc", "numeric products [OPENBLAS_NUM_THREADS=2]"),
        ("vlen256", "imports"),
        ("vlen256", "numeric products"),
        ("vlen256", "numeric solves"),
        ("vlen256", "numeric products [OPENBLAS_NUM_THREADS=2]"),
        ("vlen256", "numeric products [CORE=zvl256b]"),
        ("vlen256", "suite"),
    ]
    runs = [command for command in commands if "rvbuild_numeric" in command.argv]
    assert [command.environment.get("OPENBLAS_NUM_THREADS") for command in runs] == (
        [None, "2", None, "2", None]
    )
    assert {command.timeout_seconds for command in runs} == {77}
    logs = {result.log.name for result in report.results if result.log}
    assert {"numeric-1.log", "numeric-2.log", "numeric-3.log"} <= logs


def test_wrong_numbers_do_not_hide_other_numbers_and_spare_the_suite(tmp_path: Path) -> None:
    report, _ = check_demo(tmp_path, [WRONG])
    assert not report.ok
    on_vector = [result for result in report.results if result.cpu == "vlen256"]
    assert [result.status for result in on_vector] == ["passed", *["failed"] * 4, "skipped"]
    assert on_vector[-1].explanation == "`numeric products` went wrong before"
