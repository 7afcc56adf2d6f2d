"""Running somebody's own Python program in the riscv64 runtime, with built wheels to import."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from rvbuild.executor import Completed
from rvbuild.target import Cpu
from rvbuild.testing.install import install_wheels
from rvbuild.testing.model import Bench, CpuResult
from rvbuild.testing.program import Program, command_for, reproduction
from rvbuild.testing.verdict import judge


@dataclass(frozen=True, slots=True)
class Script:
    """A program with its arguments; `trace` lets QEMU tell each system call."""

    program: Path
    cpu: Cpu
    arguments: tuple[str, ...] = ()
    wheels: tuple[Path, ...] = ()
    requires: tuple[str, ...] = ()
    trace: bool = False
    timeout_seconds: float | None = None


def run_script(
    script: Script, bench: Bench, on_line: Callable[[str], None]
) -> tuple[Completed, CpuResult]:
    """Run a script in its own folder on a CPU; give its end as it was and as it is to be read.

    Raises `CheckError` when a wheel or a requirement cannot be installed.
    """
    bench.workspace.mkdir(parents=True, exist_ok=True)
    paths: tuple[Path, ...] = ()
    if script.wheels or script.requires:
        paths = install_wheels(script.wheels, script.requires, bench).paths
    path = script.program.resolve()
    program = Program(
        arguments=(str(path), *script.arguments),
        paths=paths,
        home=bench.workspace,
        cwd=path.parent,
        timeout_seconds=script.timeout_seconds,
        trace=script.trace,
    )
    command = command_for(program, script.cpu, bench.runtime)
    log = bench.workspace / "script.log"
    log.unlink(missing_ok=True)
    completed = bench.executor.run(command, log, on_line)
    verdict = judge(completed, script.cpu, script.timeout_seconds)
    result = CpuResult(
        cpu=script.cpu.name,
        check="script",
        status=verdict.status,
        seconds=completed.seconds,
        explanation=verdict.explanation,
        log=log,
        reproduce=reproduction(command),
    )
    return completed, result
