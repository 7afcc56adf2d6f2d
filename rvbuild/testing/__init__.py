"""Running built wheels in the riscv64 runtime, on named CPUs: installing, checking, and the report.

Builds nothing and judges no wheel file; that a wheel is what it says is `audit`'s.
"""

from rvbuild.testing.binfmt import BinfmtState, binfmt_state
from rvbuild.testing.check import check_wheel
from rvbuild.testing.machine import Board, Machine, parse_board
from rvbuild.testing.model import Bench, CpuResult, Failure, Runtime, TestReport
from rvbuild.testing.report import read_report, write_report
from rvbuild.testing.script import Script, run_script

__all__ = [
    "Bench",
    "BinfmtState",
    "Board",
    "CpuResult",
    "Failure",
    "Machine",
    "Runtime",
    "Script",
    "TestReport",
    "binfmt_state",
    "check_wheel",
    "parse_board",
    "read_report",
    "run_script",
    "write_report",
]
