"""How ends of programs are explained, and what the kernel's registry says."""

import signal
from pathlib import Path

import pytest

from rvbuild.executor import Completed
from rvbuild.target import cpus
from rvbuild.testing.binfmt import BinfmtState, binfmt_state, describe_need
from rvbuild.testing.verdict import Verdict, judge

SCALAR = cpus()["rv64gc"]
VECTOR = cpus()["vlen256"]
ENTRY = """enabled
interpreter /usr/libexec/qemu-binfmt/riscv64-binfmt-P
flags: POCF
offset 0
magic 7f454c460201010000000000000000000200f300
"""


def ended(code: int = 0, number: int | None = None, output: str = "") -> Completed:
    return Completed(code, number, timed_out=False, seconds=1.0, output=output)


def test_an_end_without_fault_passed() -> None:
    assert judge(ended(), SCALAR, 10) == Verdict("passed")


def test_a_time_limit_is_a_timeout_even_when_it_was_killed() -> None:
    completed = Completed(137, 9, timed_out=True, seconds=10.0, output="")
    assert judge(completed, SCALAR, 10) == Verdict("timeout", "no end after 10 s")


@pytest.mark.parametrize(
    "completed", [ended(132, signal.SIGILL), ended(132)], ids=["signal", "exit code"]
)
def test_an_illegal_instruction_names_the_cpu(completed: Completed) -> None:
    verdict = judge(completed, SCALAR, None)
    assert verdict.status == "crashed"
    assert verdict.explanation.startswith("vector unit missing or wrong CPU")
    assert "`rv64gc` does not have (rv64gc, no vector unit)" in verdict.explanation
    assert "vector registers of 256 bits" in judge(completed, VECTOR, None).explanation


@pytest.mark.parametrize(
    ("number", "words"),
    [
        (signal.SIGSEGV, "segmentation fault"),
        (signal.SIGKILL, "memory ran out"),
        (signal.SIGABRT, "signal 6 (SIGABRT)"),
    ],
)
def test_other_signals_are_crashes(number: signal.Signals, words: str) -> None:
    verdict = judge(ended(128 + number, number), SCALAR, None)
    assert verdict.status == "crashed"
    assert words in verdict.explanation


def test_a_failure_tells_the_last_line() -> None:
    verdict = judge(ended(1, output="Traceback\nValueError: wrong sum\n\n"), SCALAR, None)
    assert verdict == Verdict("failed", "exit code 1: ValueError: wrong sum")
    assert judge(ended(2), SCALAR, None).explanation == "exit code 2: no output"


def test_a_failure_at_starting_a_program_needs_binfmt() -> None:
    output = "OSError: [Errno 8] Exec format error: '/usr/bin/python3.13'\n"
    assert "needs binfmt" in judge(ended(1, output=output), SCALAR, None).explanation


def test_an_illegal_instruction_of_a_child_is_told() -> None:
    output = "qemu: uncaught target signal 4 (Illegal instruction) - core dumped\nfailed\n"
    explanation = judge(ended(1, output=output), SCALAR, None).explanation
    assert "a child process: vector unit missing" in explanation


def test_the_registry_is_read(tmp_path: Path) -> None:
    (tmp_path / "qemu-riscv64").write_text(ENTRY)
    state = binfmt_state(tmp_path)
    assert state == BinfmtState(
        registered=True,
        enabled=True,
        flags="POCF",
        interpreter=Path("/usr/libexec/qemu-binfmt/riscv64-binfmt-P"),
    )
    assert state.fixed
    assert "riscv64-binfmt-P`, which did not work" in describe_need(state)


def test_a_disabled_entry_is_told_from_none(tmp_path: Path) -> None:
    assert binfmt_state(tmp_path) == BinfmtState(registered=False)
    (tmp_path / "qemu-riscv64").write_text(ENTRY.replace("enabled", "disabled"))
    state = binfmt_state(tmp_path)
    assert (state.registered, state.enabled) == (True, False)
    assert "disabled" in describe_need(state)
    assert "not registered" in describe_need(BinfmtState(registered=False))
