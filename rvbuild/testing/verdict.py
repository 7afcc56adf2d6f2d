"""How a run in the riscv64 runtime ended, in words: which status, and why."""

import signal
from dataclasses import dataclass

from rvbuild.executor import Completed
from rvbuild.target import Cpu
from rvbuild.testing.binfmt import binfmt_state, describe_need
from rvbuild.testing.model import Status

EXEC_FORMAT = "Exec format error"
# Under QEMU a child that cannot be executed may end with this code and say nothing.
SILENT_EXEC_FAILURE = "exit status 127"
# QEMU's words when a signal ends the emulated program; also from children that binfmt started.
UNCAUGHT = "uncaught target signal {number} "
SIGNAL_BASE = 128


@dataclass(frozen=True, slots=True)
class Verdict:
    """A status and its explanation, which is empty for what passed."""

    status: Status
    explanation: str = ""


def judge(completed: Completed, cpu: Cpu, limit_seconds: float | None) -> Verdict:
    """Turn the end of a command into a status with an explanation."""
    if completed.timed_out:
        return Verdict("timeout", f"no end after {limit_seconds or 0:g} s")
    number = _signal(completed)
    if number is not None:
        return Verdict("crashed", _explain_signal(number, cpu))
    if completed.exit_code == 0:
        return Verdict("passed")
    return Verdict("failed", _explain_failure(completed, cpu))


def _signal(completed: Completed) -> int | None:
    if completed.signal is not None:
        return completed.signal
    number = completed.exit_code - SIGNAL_BASE
    return number if number in set(signal.Signals) else None


def _explain_signal(number: int, cpu: Cpu) -> str:
    match number:
        case signal.SIGILL:
            unit = f"vector registers of {cpu.vlen} bits" if cpu.vlen else "no vector unit"
            return (
                "vector unit missing or wrong CPU: the program executed an instruction that CPU "
                f"`{cpu.name}` does not have ({cpu.isa}, {unit})"
            )
        case signal.SIGKILL:
            return "killed from outside (signal 9), most likely because memory ran out"
        case signal.SIGSEGV:
            return "segmentation fault (signal 11)"
        case _:
            return f"ended by signal {number} ({signal.Signals(number).name})"


def _explain_failure(completed: Completed, cpu: Cpu) -> str:
    last = next((line for line in reversed(completed.tail()) if line.strip()), "no output")
    parts = [f"exit code {completed.exit_code}: {last.strip()}"]
    state = binfmt_state()
    silent = SILENT_EXEC_FAILURE in completed.output and not state.enabled
    if EXEC_FORMAT in completed.output or silent:
        parts.append(describe_need(state))
    parts += [
        f"a child process: {_explain_signal(number, cpu)}"
        for number in (signal.SIGILL, signal.SIGSEGV)
        if UNCAUGHT.format(number=int(number)) in completed.output
    ]
    return "; ".join(parts)
