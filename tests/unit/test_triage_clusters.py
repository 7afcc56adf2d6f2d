"""Triage of reports made by hand: kinds, where failures reach, smallest cases, what is written."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
from pydantic import TypeAdapter

from rvbuild.errors import UsageError
from rvbuild.testing import CpuResult, Failure, TestReport, write_report
from rvbuild.testing.model import Status
from rvbuild.triage import Triage, read_references, read_reports, triage, write_up
from rvbuild.triage.kinds import kind_of, kinds
from rvbuild.triage.minimal import CASE
from rvbuild.triage.model import Where
from rvbuild.triage.reach import reach_of
from tests.cli_samples import Desk

WHEEL = "demo-1.0-cp313-cp313-manylinux_2_31_riscv64.whl"
SMALLEST = "2 of 8 operations wrong, smallest blas:dgemm:float64:8: NN: 16 of 80 elements wrong"


def result(cpu: str, explanation: str = "", *failures: Failure, check: str = "smoke") -> CpuResult:
    status: Status = "failed" if explanation or failures else "passed"
    return CpuResult(cpu, check, status, 1.0, explanation, None, f"run on {cpu}", failures)


def report(*results: CpuResult) -> TestReport:
    return TestReport(WHEEL, "0" * 64, "3.13.5", "qemu-10", results)


def sort(*reports: TestReport) -> Triage:
    return triage(reports, {})


@pytest.mark.parametrize(
    ("said", "kind"),
    [
        (
            "the program executed an instruction that CPU `rv64gc` does not have",
            "illegal-instruction",
        ),
        ("exit code 1: x; a child process: segmentation fault (signal 11)", "segfault"),
        ("no end after 300 s, in `tests/test_a.py::test_b`", "timeout"),
        ("killed from outside (signal 9), most likely because memory ran out", "memory"),
        ("needs binfmt: the program under test started a riscv64 program", "needs-binfmt"),
        ("FloatingPointError: invalid value encountered in floor_divide", "fp-exception"),
        ("Not equal to tolerance rtol=1e-07, atol=0", "precision"),
        ("16 of 80 elements wrong, worst error 20", "wrong-numbers"),
        ("ModuleNotFoundError: No module named 'yaml'", "missing-module"),
        ("x.whl is not a supported wheel on this platform.", "platform-tag"),
        ("version `GLIBCXX_3.4.32' not found (required by a.so)", "library-too-old"),
        ("OSError: [Errno 38] Function not implemented", "missing-syscall"),
        ("FileNotFoundError: '/proc/cpuinfo'", "cpuinfo"),
        ("AssertionError: assert signbit(nan)", "nan-sign"),
        ("AssertionError: assert 3 == 4", None),
    ],
)
def test_a_failure_is_known_by_what_it_says(said: str, kind: str | None) -> None:
    found = kind_of(said, "", kinds())
    assert (found.name if found else None) == kind


def test_its_own_words_go_before_those_of_the_log() -> None:
    found = kind_of("no end after 5 s", "SIGSEGV in another test", kinds())
    assert found is not None
    assert found.name == "timeout"


def test_every_kind_says_where_it_is_from() -> None:
    assert len(kinds()) >= 15
    assert all(kind.link.startswith("https://") and kind.patterns for kind in kinds())
    assert {kind.blame for kind in kinds()} <= {"hardware", "qemu", "compiler", "package", "test"}


@pytest.mark.parametrize(
    ("failed", "passed", "where"),
    [
        ({"a": 512, "b": 1024}, {"c": 0, "d": 128, "e": 256}, "long vectors"),
        ({"a": 128}, {"b": 256}, "short vectors"),
        ({"a": 128, "b": 256}, {"c": 0}, "vector unit"),
        ({"a": 0}, {"b": 128}, "no vector unit"),
        ({"a": 0, "b": 128}, {}, "everywhere"),
        ({"a": 0}, {}, "one CPU"),
        ({"a": 128}, {"b": 128}, "some"),
        ({"a": 0, "b": 512}, {"c": 128}, "some"),
        ({"a": 128, "b": 512}, {"c": 256}, "some"),
        ({"a": None}, {"c": 256}, "some"),
    ],
)
def test_cpus_tell_whose_fault_it_is(
    failed: dict[str, int | None], passed: dict[str, int | None], where: Where
) -> None:
    assert reach_of(failed, passed).where == where


def test_a_kernel_is_told_by_vector_length_with_its_smallest_case() -> None:
    good = [result(cpu) for cpu in ("rv64gc", "vlen128", "vlen256")]
    found = sort(report(*good, result("vlen512", SMALLEST), result("vlen1024", SMALLEST)))
    (cluster,) = found.clusters
    assert cluster.reach.where == "long vectors"
    assert "from VLEN 512 on" in cluster.reach.meaning
    assert cluster.smallest is not None
    assert (cluster.smallest.name, cluster.smallest.cpu) == ("blas:dgemm:float64:8", "vlen512")
    assert cluster.kind is not None
    assert cluster.kind.name == "wrong-numbers"


def test_a_second_report_adds_cpus() -> None:
    one = report(result("vlen512", SMALLEST))
    other = replace(report(result("vlen256")), emulator="board me@there (VLEN 256, Linux 6)")
    assert sort(one).clusters[0].reach.where == "one CPU"
    assert sort(one, other).clusters[0].reach.where == "long vectors"


def test_tests_of_a_suite_are_sorted_one_by_one() -> None:
    spurious = Failure("test_umath.test_floor[1]", "FloatingPointError: invalid value")
    again = Failure("test_umath.test_floor[2]", "FloatingPointError: invalid value")
    other = Failure("test_io.test_load", "AssertionError: 3 != 4")
    known = Failure("test_nan.test_sign", "signbit", known="as always")
    found = sort(
        report(
            result("rv64gc", "3 of 9 tests failed", spurious, again, other, known, check="suite"),
            result("vlen128", "2 of 9 tests failed", spurious, again, check="suite"),
        )
    )
    assert found.known == 1
    assert [(each.title, each.reach.where, len(each.tests)) for each in found.clusters] == [
        ("fp exception", "everywhere", 2),
        ("of no known kind", "no vector unit", 1),
    ]


def test_what_was_skipped_did_not_pass() -> None:
    skipped = CpuResult("vlen128", "smoke", "skipped", 0.0, "`imports` went wrong before")
    (cluster,) = sort(report(result("rv64gc", "AssertionError"), skipped)).clusters
    assert cluster.reach.passed == ()


@pytest.mark.parametrize(
    ("outcome", "words"),
    [('<failure message="x"/>', "the package itself"), ("", "a matter of riscv64")],
)
def test_another_machine_tells_package_and_port_apart(
    tmp_path: Path, outcome: str, words: str
) -> None:
    path = tmp_path / "x86-64.xml"
    case = f'<testcase classname="test_io" name="test_load">{outcome}</testcase>'
    path.write_text(f"<testsuites>{case}</testsuites>")
    failure = Failure("test_io.test_load", "AssertionError: 3 != 4")
    failed = report(result("rv64gc", "1 of 9 tests failed", failure, check="suite"))
    (cluster,) = triage([failed], read_references([path])).clusters
    assert words in cluster.elsewhere


def test_numeric_cases_are_found_in_names_and_in_words() -> None:
    assert CASE.search("numeric: products:matmul:float64:17")
    assert CASE.search("smallest functions:exp2:float32:5: worst error 3")
    assert not CASE.search("at 12:30:45 it failed")
    assert not CASE.search("tests/a.py::test_b")


def test_reports_of_both_shapes_are_read(tmp_path: Path) -> None:
    made = report(result("rv64gc"))
    single = write_report(made, tmp_path / "one.json")
    plain = TypeAdapter(list[TestReport]).dump_python([made, made], mode="json")
    (tmp_path / "two.json").write_text(json.dumps({"schema": "rvbuild.tests/1", "reports": plain}))
    assert read_reports([single, tmp_path / "two.json"]) == (made, made, made)


@pytest.mark.parametrize("text", ["", "[]", "3", '{"reports": 3}', '{"reports": [{}]}', "{"])
def test_what_is_no_report_is_told(tmp_path: Path, text: str) -> None:
    path = tmp_path / "report.json"
    path.write_text(text)
    with pytest.raises(UsageError, match="not a test report"):
        read_reports([path])
    with pytest.raises(UsageError, match="not a JUnit file"):
        read_references([path.with_suffix(".xml")])


def test_a_report_goes_upstream_as_it_is() -> None:
    reports = [report(result("vlen256"), result("vlen512", SMALLEST))]
    text = write_up(triage(reports, {}), reports)
    for words in (
        f"`{WHEEL}`, sha256 `{'0' * 64}`",
        "`vlen512`: `qemu-riscv64 -cpu rv64,v=true,vext_spec=v1.0,vlen=512`",
        "| wheel | vlen256 | vlen512 |",
        f"| {WHEEL} | passed | smoke failed |",
        "Smallest failing case: `blas:dgemm:float64:8` on `vlen512`",
        f"rvbuild test ./{WHEEL} --cpu vlen512",
        "run on vlen512",
        "- passes on `vlen256`",
    ):
        assert words in text


def test_a_test_of_a_suite_is_run_again_alone() -> None:
    failure = Failure("tests.test_a.test_b[1]", "AssertionError: 3 != 4")
    reports = [report(result("vlen256", "1 of 9 tests failed", failure, check="suite"))]
    again = f"rvbuild test ./{WHEEL} --cpu vlen256 --suite --again -k 'tests.test_a.test_b[1]'"
    assert again in write_up(triage(reports, {}), reports)


def test_nothing_failed() -> None:
    assert "Nothing failed" in write_up(Triage(()), [report(result("rv64gc"))])


def test_the_command_sorts_and_writes(desk: Desk) -> None:
    path = write_report(
        report(result("vlen256"), result("vlen512", SMALLEST)), desk.home / "r.json"
    )
    ended = desk.run("triage", str(path), "--markdown", "out/report.md")
    assert ended.code == 0
    assert "fails on: vlen512" in ended.out
    assert "smallest case: blas:dgemm:float64:8 on vlen512" in ended.out
    assert "# Failures on riscv64" in (desk.home / "out/report.md").read_text()
    clusters = desk.run("triage", str(path), "--json").document["clusters"]
    assert isinstance(clusters, list)
    assert clusters[0]["where"] == "long vectors"
    assert desk.run("triage", "nothing.json").code == 2
