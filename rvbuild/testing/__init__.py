"""Running built wheels and the programs of libraries on named CPUs: what came of it, as a report.

Builds nothing and judges no wheel file; that a wheel is what it says is `audit`'s.
"""

from rvbuild.testing.binfmt import BinfmtState, binfmt_state
from rvbuild.testing.check import check_wheel
from rvbuild.testing.machine import Board, Machine, parse_board
from rvbuild.testing.model import Bench, CpuResult, Failure, Portion, Runtime, TestReport
from rvbuild.testing.nearby import Image, Place, ThisMachine
from rvbuild.testing.on_demand import check_suite
from rvbuild.testing.programs import Stand, check_library
from rvbuild.testing.report import read_report, write_report
from rvbuild.testing.script import Script, run_script

__all__ = [
    "Bench",
    "BinfmtState",
    "Board",
    "CpuResult",
    "Failure",
    "Image",
    "Machine",
    "Place",
    "Portion",
    "Runtime",
    "Script",
    "Stand",
    "TestReport",
    "ThisMachine",
    "binfmt_state",
    "check_library",
    "check_suite",
    "check_wheel",
    "parse_board",
    "read_report",
    "run_script",
    "write_report",
]
