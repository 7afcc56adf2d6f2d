"""`test` and `run` with runtimes that only pretend: tables, JUnit files, exit codes."""

import sys
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest

from rvbuild.cli.tests import draw_reports
from rvbuild.emulator import Emulator
from rvbuild.pipeline import House, Options, loose, programs, proof
from rvbuild.pipeline.proof import Trial
from rvbuild.pythons import Interpreter
from rvbuild.recipe.model import Test
from rvbuild.sysroot import Sysroot
from rvbuild.target import Cpu, Floor
from rvbuild.testing import CpuResult, Failure, Place, Portion, Runtime, Stand, TestReport
from rvbuild.testing.junit import Outcome, read_junit
from rvbuild.testing.model import Status
from rvbuild.testing.record import Told, write_record
from tests.cli_samples import Desk, broken, write_wheel

PASSED = CpuResult("rv64gc", "imports", "passed", 1.0)
WRONG = CpuResult(
    "vlen256",
    "suite",
    "failed",
    2.0,
    explanation="1 of 3 tests failed",
    reproduce="cd /somewhere && run it",
    failures=(Failure("test_a", "3 != 4"), Failure("test_b", "known", known="as always")),
)


def report(*results: CpuResult) -> TestReport:
    name = "thing-1.0-py3-none-any.whl"
    return TestReport(name, "0" * 64, "3.13.5", "qemu-10", (PASSED, *results))


@pytest.fixture
def answers(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> dict[str, TestReport]:
    """Let wheels be proven by reports that are put here, by recipe; others pass."""
    found: dict[str, TestReport] = {}

    def prove(trial: Trial, options: Options, house: House, *_: object) -> TestReport:
        return found.get(trial.job.recipe.name, report())

    monkeypatch.setattr(proof, "prove", prove)
    return found


def test_a_recipe_is_built_and_tested(desk: Desk, answers: dict[str, TestReport]) -> None:
    desk.write_recipe("thing")

    ended = desk.run("test", "thing")

    assert (ended.code, desk.begun) == (0, ["thing-1.0:cp313"])
    assert [line.split() for line in ended.out.splitlines()] == [
        ["wheel", "runtime", "rv64gc"],
        ["thing-1.0-py3-none-any.whl", "python", "3.13.5", "passed"],
    ]
    assert not (desk.home / "dist").exists()


def test_what_failed_is_explained_and_hides_nothing(
    desk: Desk, answers: dict[str, TestReport]
) -> None:
    for name in ("thing", "other", "stuck"):
        desk.write_recipe(name)
    answers["thing"] = report(WRONG)
    desk.failing["stuck"] = broken("stuck")

    ended = desk.run("test", "thing", "other", "stuck", "--junit", "out/junit.xml")

    assert ended.code == 6
    assert "suite failed" in ended.out
    assert len(ended.out.splitlines()) == 3
    assert "cause: suite on vlen256 failed: 1 of 3 tests failed" in ended.err
    assert "reproduce: cd /somewhere && run it" in ended.err
    assert "error: `stuck` does not compile" in ended.err
    cases = read_junit(desk.home / "out/junit.xml")
    assert [case.test.rpartition(".whl.")[2] for case in cases] == [
        "rv64gc.imports",
        "vlen256.suite",
    ]
    assert [case.outcome for case in cases] == ["passed", "failed"]
    assert "test_a: 3 != 4" in (desk.home / "out/junit.xml").read_text()
    assert "test_b" not in (desk.home / "out/junit.xml").read_text()


def test_a_failed_test_alone_ends_with_its_own_code(
    desk: Desk, answers: dict[str, TestReport]
) -> None:
    desk.write_recipe("thing")
    answers["thing"] = report(WRONG)

    ended = desk.run("test", "thing", "--json")

    assert ended.code == 8
    reports = ended.document["reports"]
    assert isinstance(reports, list)
    assert reports[0]["results"][1]["status"] == "failed"


def test_what_is_wanted_of_a_suite(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    desk.write_recipe("thing")
    seen: list[Options] = []

    def prove(trial: Trial, options: Options, house: House, *_: object) -> TestReport:
        seen.append(options)
        return report()

    monkeypatch.setattr(proof, "prove", prove)
    assert desk.run("test", "thing", "--suite", "--shard", "3/16", "-k", "umath").code == 0
    assert desk.run("test", "thing", "--suite").code == 0
    assert desk.run("test", "thing").code == 0
    assert [each.portion for each in seen] == [Portion((3, 16), "umath"), Portion(), None]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--shard", "1/2"), "`--shard` and `-k` go with `--suite`"),
        (("-k", "umath"), "`--shard` and `-k` go with `--suite`"),
        (("--suite", "--no-suite"), "`--suite` and `--no-suite` exclude each other"),
        (("--suite", "--shard", "0/2"), "`0/2` is no shard"),
        (("--suite", "--shard", "3/2"), "`3/2` is no shard"),
        (("--suite", "--shard", "2"), "`2` is no shard"),
        (("--suite",), "`thing` has no suite that pytest runs"),
    ],
)
def test_what_goes_with_no_suite(desk: Desk, words: tuple[str, ...], message: str) -> None:
    desk.write_recipe("thing")
    ended = desk.run("test", "thing", *words)
    assert ended.code == 2
    assert message in ended.err


def test_each_test_of_a_suite_on_demand_is_a_case(
    desk: Desk, answers: dict[str, TestReport], tmp_path: Path
) -> None:
    desk.write_recipe("thing")
    told: dict[str, Outcome] = {"a": "passed", "b[x]": "failed", "c": "skipped", "d": "error"}
    path = tmp_path / "outcomes.jsonl"
    write_record(path, [Told(f"tests/test_t.py::{k}", v) for k, v in told.items()])
    failures = (Failure("tests.test_t.b[x]", "no", "known"), Failure("tests.test_t.d", "no"))
    answers["thing"] = report(replace(WRONG, failures=failures, outcomes=path))

    assert desk.run("test", "thing", "--junit", "junit.xml").code == 8

    cases = read_junit(desk.home / "junit.xml")
    found = {each.test.rpartition(".tests.")[2]: each.outcome for each in cases[2:]}
    assert found == {
        "test_t.a": "passed",
        "test_t.b[x]": "skipped",
        "test_t.c": "skipped",
        "test_t.d": "failed",
    }
    text = (desk.home / "junit.xml").read_text()
    assert 'tests="6" failures="2" skipped="2"' in text


PROGRAMS = """\
test:
  programs:
    build: [{run: [make]}]
    run: [{name: dot, command: [dot]}]
"""


@dataclass(slots=True)
class Stands:
    """Remembers what libraries were checked with, and answers as it is told."""

    status: Status = "passed"
    seen: list[tuple[Stand, tuple[str, ...]]] = field(default_factory=list)

    def check(self, tests: Test, processors: tuple[Cpu, ...], stand: Stand) -> TestReport:
        self.seen.append((stand, tuple(cpu.name for cpu in processors)))
        assert tests.programs is not None
        result = CpuResult("rv64gc", tests.programs.run[0].name, self.status, 1.0, "why")
        return TestReport(stand.label, stand.digest, "", "qemu-10", (result,))


@pytest.fixture
def stands(desk: Desk, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Stands:
    """Let libraries' programs be built by the desk and checked by what is given back."""
    found = Stands()
    root = tmp_path / "sysroot"
    sysroot = Sysroot(Floor(2, 31), root, (root / "lib",), root / "gcc", "s")
    monkeypatch.setattr(programs, "build_job", desk.build)
    monkeypatch.setattr(programs, "workshop", desk.workshop)
    monkeypatch.setattr(programs, "check_library", found.check)
    monkeypatch.setattr(programs, "install_sysroot", lambda *_: sysroot)
    monkeypatch.setattr(programs, "install_emulator", lambda *_: Emulator(tmp_path / "q", "10"))
    return found


def test_a_library_without_programs_is_no_subject(desk: Desk) -> None:
    desk.write_recipe("low", "library")

    ended = desk.run("test", "low")

    assert (ended.code, desk.begun) == (2, [])
    assert "hint: give its recipe `test.programs`" in ended.err


def test_a_library_is_tested_by_programs_built_above_it(desk: Desk, stands: Stands) -> None:
    desk.write_recipe("low", "library", PROGRAMS)

    ended = desk.run("test", "low", "--cpu", "vlen256")

    assert (ended.code, desk.begun) == (0, ["low-1.0:library", "low-1.0:tests"])
    assert [line.split() for line in ended.out.splitlines()] == [
        ["wheel", "runtime", "rv64gc"],
        ["low==1.0", "-", "passed"],
    ]
    ((stand, names),) = stands.seen
    assert names == ("vlen256",)
    assert (stand.tests / "lib/liba.so").is_file()
    assert [(prefix / "lib/liba.so").is_file() for prefix in stand.prefixes] == [True]


def test_what_passed_is_told_from_the_store_and_again_runs_it(desk: Desk, stands: Stands) -> None:
    desk.write_recipe("low", "library", PROGRAMS)

    assert [desk.run("test", "low").code for _ in range(2)] == [0, 0]
    assert len(stands.seen) == 1
    desk.run("test", "low", "--again")
    assert [stand.resume for stand, _ in stands.seen] == [True, False]
    assert desk.begun == ["low-1.0:library", "low-1.0:tests"]


def test_build_tests_the_libraries_that_were_asked_for(desk: Desk, stands: Stands) -> None:
    desk.write_recipe("low", "library", PROGRAMS)
    desk.write_recipe("high", "library", PROGRAMS + "requires: {libraries: [low]}\n")

    assert desk.run("build", "high", "--no-test").code == 0
    assert (len(desk.begun), stands.seen) == (2, [])
    stands.status = "failed"
    ended = desk.run("build", "high")

    assert ended.code == 8
    assert "cause: dot on rv64gc failed: why" in ended.err
    assert [stand.label for stand, _ in stands.seen] == ["high==1.0"]
    assert desk.begun[2:] == ["high-1.0:tests"]


def test_a_library_is_not_sent_to_a_board(desk: Desk, stands: Stands) -> None:
    desk.write_recipe("low", "library", PROGRAMS)

    assert desk.run("test", "low", "--board", "me@board").code == 2
    assert desk.begun == []


def test_a_table_has_a_column_for_each_cpu() -> None:
    second = replace(report(WRONG), wheel="b.whl")

    rows = [line.split("  ") for line in draw_reports([report(), second]).splitlines()]

    assert [cell.strip() for cell in rows[1] if cell][-1] == "-"
    assert "suite failed" in rows[2][-1]


def test_wheel_files_are_tested_with_what_they_bring(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[loose.LooseWheel] = []

    def prove_file(
        found: loose.LooseWheel, options: Options, house: House, place: Place | None
    ) -> TestReport:
        seen.append(found)
        return report()

    monkeypatch.setattr(loose, "prove_file", prove_file)
    desk.write_recipe("thing", more="test: {imports: [own]}\n")
    mine = write_wheel(desk.home / "made")
    other = write_wheel(desk.home / "made", "other", {"other/__init__.py": b""}, "cp314-cp314-any")
    damaged = desk.home / "made" / "bad-1.0-py3-none-any.whl"
    damaged.write_bytes(b"no zip")

    ended = desk.run("test", str(mine), str(other), str(damaged))

    assert ended.code == 7
    assert [(each.python, each.tests.imports) for each in seen] == [
        ("3.13", ("own",)),
        ("3.14", ("other",)),
    ]
    assert seen[0].recipe is not None
    assert seen[0].folders == (desk.home / "made",)


@pytest.fixture
def runtime(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let programs run with this Python, behind an emulator that hands on."""
    emulator = desk.home / "emulator"
    emulator.write_text('#!/bin/sh\nshift 4\nexec "$@"\n')
    emulator.chmod(0o755)
    python = Path(sys.executable)
    data = desk.home / "data.json"
    interpreter = Interpreter(
        "3.13", "3.13.5", desk.home, python, (), desk.home, data, ".so", python, data, ""
    )

    def runtime_for(python: str, floor: Floor, house: House) -> Runtime:
        return Runtime(interpreter, Emulator(emulator, "10"))

    monkeypatch.setattr(proof, "runtime_for", runtime_for)


@pytest.mark.usefixtures("runtime")
def test_a_program_s_output_and_exit_code_are_passed_on(desk: Desk) -> None:
    script = desk.home / "a script.py"
    script.write_text("import sys\nprint(sys.argv[1:])\nsys.exit(7)\n")

    ended = desk.run("run", str(script), "one", "--", "--two")

    assert (ended.code, ended.out, ended.err) == (7, "['one', '--two']\n", "")
    assert list(desk.places.work.iterdir()) == []


@pytest.mark.usefixtures("runtime")
def test_a_crash_is_explained(desk: Desk) -> None:
    script = desk.home / "crash.py"
    script.write_text("import os, signal\nos.kill(os.getpid(), signal.SIGSEGV)\n")

    ended = desk.run("run", str(script), "--cpu", "vlen128", "--", "-x")

    assert ended.code == 139
    assert "crashed: segmentation fault (signal 11)" in ended.err
    assert f"`rvbuild run --trace --cpu vlen128 --python 3.13 {script} -- -x`" in ended.err


def test_a_program_that_is_not_there_and_a_cpu_that_is_not(desk: Desk) -> None:
    assert desk.run("run", "nothing.py").code == 2
    (desk.home / "a.py").write_text("")
    assert desk.run("run", "a.py", "--cpu", "vlen1").code == 2
    assert desk.run("run", "a.py", "--cpu", "all").code == 2


def test_a_page_and_the_flags_of_known_failures(desk: Desk, answers: dict[str, TestReport]) -> None:
    desk.write_recipe("thing")
    answers["thing"] = report(replace(WRONG, flags=("known failure `test_c` passed",)))

    ended = desk.run("test", "thing", "--html", "out/page.html", "--memory", "2048")

    assert ended.code == 8
    assert "known failure `test_c` passed" in ended.err
    assert "suite failed" in (desk.home / "out/page.html").read_text()


def test_boards_are_tried_alone_unless_cpus_are_named(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[str | None] = []

    def prove_file(
        found: loose.LooseWheel, options: Options, house: House, place: Place | None
    ) -> TestReport:
        seen.append(place.name if place else None)
        return report()

    monkeypatch.setattr(loose, "prove_file", prove_file)
    wheel = str(write_wheel(desk.home / "made"))

    assert desk.run("test", wheel, "--board", "me@k1").code == 0
    assert desk.run("test", wheel, "--board", "me@k1:22", "--cpu", "rv64gc").code == 0
    assert seen == ["me@k1", None, "me@k1:22"]
    seen.clear()
    words = ("--local", "--container", "base:1", "--container", "other:2")
    assert desk.run("test", wheel, *words).code == 0
    assert seen == ["this machine", "base:1", "other:2"]
    assert desk.run("test", wheel, "--board", "-oX").code == 2
