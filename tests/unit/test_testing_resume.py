"""Going on where a run was stopped, how many run at once, addresses of boards, made-up tests."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import cast

import pytest

from rvbuild import testing
from rvbuild.errors import UsageError
from rvbuild.executor import Command, Completed
from rvbuild.pipeline import House, loose
from rvbuild.pipeline.loose import excuse_newer
from rvbuild.target import Floor, cpus
from rvbuild.testing.budget import EACH_MB, available_mb, runs_at_once
from rvbuild.testing.made_up import made_up_tests
from rvbuild.testing.table import tabulate
from rvbuild.wheel import read_wheel
from tests.cli_samples import write_wheel
from tests.unit.test_testing_check import CRASHED, FINE, SMOKE, TWO, Pretender, bench, check, wheel

__all__ = ["bench", "wheel"]

VLEN256 = cpus()["vlen256"].qemu


@pytest.fixture
def resumed(bench: testing.Bench) -> testing.Bench:
    return replace(bench, resume=True)


def interrupted(command: Command) -> Completed:
    if VLEN256 in command.argv:
        raise KeyboardInterrupt
    return FINE


def tried(pretender: Pretender) -> list[str]:
    return [command.environment["QEMU_CPU"] for command in pretender.having("smoke.py")]


def test_a_stopped_run_goes_on_with_the_next_cpu(wheel: Path, resumed: testing.Bench) -> None:
    with pytest.raises(KeyboardInterrupt):
        check(wheel, SMOKE, resumed, Pretender({"import demo": interrupted}))
    pretender = Pretender({})
    report = check(wheel, SMOKE, resumed, pretender)
    assert report.ok
    assert tried(pretender) == [VLEN256]
    assert list(tabulate([report]).columns) == [cpu.name for cpu in TWO]


def test_what_is_all_finished_is_not_even_installed(wheel: Path, resumed: testing.Bench) -> None:
    first = check(wheel, SMOKE, resumed, Pretender({}))
    pretender = Pretender({})
    second = check(wheel, SMOKE, resumed, pretender)
    assert pretender.commands == []
    assert second.results == first.results[1:]
    check(wheel, SMOKE, replace(resumed, resume=False), pretender)
    assert len(tried(pretender)) == 2


def test_a_failure_is_looked_at_again(wheel: Path, resumed: testing.Bench) -> None:
    assert not check(wheel, SMOKE, resumed, Pretender({"smoke.py": CRASHED})).ok
    assert check(wheel, SMOKE, resumed, Pretender({})).ok


def test_other_tests_and_other_bytes_are_tried_anew(wheel: Path, resumed: testing.Bench) -> None:
    check(wheel, SMOKE, resumed, Pretender({}))
    pretender = Pretender({})
    check(wheel, SMOKE.model_copy(update={"smoke": "import other"}), resumed, pretender)
    assert len(tried(pretender)) == 2
    write_wheel(wheel.parent, "demo").replace(wheel)
    check(wheel, SMOKE, resumed, pretender)
    assert len(tried(pretender)) == 4


@pytest.mark.parametrize(
    ("jobs", "memory_mb", "count", "expected"),
    [(8, 8 * EACH_MB, 3, 3), (2, 8 * EACH_MB, 9, 2), (8, 2 * EACH_MB, 9, 2), (8, 1, 9, 1)],
)
def test_cores_and_memory_bound_what_runs_at_once(
    jobs: int, memory_mb: int, count: int, expected: int
) -> None:
    assert runs_at_once(jobs, memory_mb, count) == expected


def test_free_memory_is_read_of_the_kernel(tmp_path: Path) -> None:
    path = tmp_path / "meminfo"
    assert available_mb(path) == EACH_MB
    path.write_text("MemTotal: 9 kB\nMemAvailable:    4096000 kB\n")
    assert available_mb(path) == 4000


@pytest.mark.parametrize(
    ("text", "address", "port"),
    [("me@k1", "me@k1", None), ("k1:2222", "k1", 2222), ("me@10.0.0.2:22", "me@10.0.0.2", 22)],
)
def test_the_address_of_a_board(text: str, address: str, port: int | None) -> None:
    board = testing.parse_board(text, {})
    assert (board.address, board.port, board.name) == (address, port, text)
    assert board.shell("true")[-2:] == (address, "sh -c true")


@pytest.mark.parametrize("text", ["", "me@", "-oProxyCommand=x", "me@-x", "k1:", "k1:0", "a b"])
def test_what_is_no_address(text: str) -> None:
    with pytest.raises(UsageError, match="not the address of a board"):
        testing.parse_board(text, {})


def test_a_blas_is_checked_with_numbers(tmp_path: Path) -> None:
    code = b"\0scipy_cblas_dgemm64_\0"
    files = {"thing/__init__.py": b"", "thing/lib/libthing.so": code}
    tests = made_up_tests(read_wheel(write_wheel(tmp_path, files=files)))
    assert "whole numbers" in tests.smoke
    assert "vlen1024" in tests.cpus
    del files["thing/lib/libthing.so"]
    tests = made_up_tests(read_wheel(write_wheel(tmp_path, files=files)))
    assert (tests.smoke, tests.imports) == ("", ("thing",))


@pytest.mark.parametrize(
    ("platform", "newest"),
    [("2_39", True), ("2_31", False), ("2_31_riscv64.manylinux_2_39", False)],
)
def test_a_wheel_is_run_with_the_oldest_libraries_that_it_promises(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, platform: str, *, newest: bool
) -> None:
    asked: list[str] = []

    def remember(name: str) -> Callable[..., None]:
        return lambda *_: asked.append(name)

    for name in ("runtime_for", "newest_runtime_for"):
        monkeypatch.setattr(loose, name, remember(name))
    path = write_wheel(tmp_path, tag=f"cp313-cp313-manylinux_{platform}_riscv64")
    loose.fitting_runtime(read_wheel(path), "3.13", Floor(2, 31), cast("House", None))
    assert asked == ["newest_runtime_for" if newest else "runtime_for"]


@pytest.mark.parametrize(("platform", "status"), [("2_39", "skipped"), ("2_31", "failed")])
def test_a_newer_tag_is_neither_right_nor_wrong(tmp_path: Path, platform: str, status: str) -> None:
    path = write_wheel(tmp_path, tag=f"cp313-cp313-manylinux_{platform}_riscv64")
    explanation = "ImportError: version `GLIBCXX_3.4.32' not found (required by a.so)"
    installed = testing.CpuResult("rv64gc", "install", "passed", 1.0)
    failed = testing.CpuResult("rv64gc", "imports", "failed", 1.0, explanation)
    report = testing.TestReport(path.name, "0", "3.13.5", "qemu-10", (installed, failed))
    excused = excuse_newer(report, read_wheel(path), Floor(2, 31))
    assert excused.results[-1].status == status
    assert not excused.ok
