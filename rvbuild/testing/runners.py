"""Who runs a check: QEMU on this machine, or a machine that was met."""

import shlex
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Protocol

from rvbuild.executor import Command, Completed
from rvbuild.target import Cpu
from rvbuild.testing.machine import NO_CONNECTION, Machine
from rvbuild.testing.meeting import Line, unreachable
from rvbuild.testing.model import Bench
from rvbuild.testing.program import (
    Program,
    command_for,
    environment_for,
    reproduction,
    write_starters,
)

# coreutils' timeout ends with this when it had to end the command.
TIMED_OUT = 124
GRACE_SECONDS = 60.0


@dataclass(frozen=True, slots=True)
class Ran:
    """How a program ended, its time limit, and a line of shell that runs it again."""

    completed: Completed
    limit_seconds: float | None
    reproduce: str


class Runner(Protocol):
    """Runs the riscv64 Python with a program's arguments on a CPU."""

    def run(self, program: Program, cpu: Cpu, log: Path, on_line: Callable[[str], None]) -> Ran:
        """Run to the end or the time limit; what the program wrote into its home is there then."""


def runner_for(bench: Bench) -> Runner:
    """Choose who runs the checks of a bench."""
    return Emulated(bench) if bench.machine is None else Remote(bench, bench.machine)


@dataclass(frozen=True, slots=True)
class Emulated:
    """QEMU on this machine."""

    bench: Bench

    def run(self, program: Program, cpu: Cpu, log: Path, on_line: Callable[[str], None]) -> Ran:
        """Run to the end or the time limit."""
        command = command_for(program, cpu, self.bench.runtime)
        completed = self.bench.executor.run(command, log, on_line)
        return Ran(completed, command.timeout_seconds, reproduction(command))


@dataclass(frozen=True, slots=True)
class Remote:
    """A machine that was met; all below the bench's workspace lies there under one folder."""

    bench: Bench
    machine: Machine

    def run(self, program: Program, cpu: Cpu, log: Path, on_line: Callable[[str], None]) -> Ran:
        """Send the program's home and what it imports, run it, and fetch its home again."""
        machine, line = self.machine, self._line()
        there = self._places(program)
        starters = program.home / "starters"
        write_starters(machine.python, starters)
        _say_in(starters, there)
        line.push(self._to_send(program, there, line), machine.folder)
        text = self._text(program, cpu, there, starters)
        limit = program.timeout_seconds
        completed = self._follow(text, limit, log, on_line)
        line.pull(there[program.home], program.home)
        return Ran(completed, limit, shlex.join(machine.reach.shell(text)))

    def _line(self) -> Line:
        return Line(self.machine.reach, self.bench.executor, self.bench.workspace)

    def _to_send(self, program: Program, there: dict[Path, str], line: Line) -> dict[str, Path]:
        # What is imported does not change from check to check.
        seen = line.do(f"ls {shlex.quote(self.machine.folder)}").output.split()
        names = {path: place.rpartition("/")[2] for path, place in there.items()}
        return {
            name: path
            for path, name in names.items()
            if path.exists() and (path == program.home or name not in seen)
        }

    def _places(self, program: Program) -> dict[Path, str]:
        """Say where on the board each folder goes, the innermost first."""
        folders = dict.fromkeys((program.home, *program.paths))
        names = {path: f"{self.machine.folder}/{n}-{path.name}" for n, path in enumerate(folders)}
        return dict(sorted(names.items(), key=lambda each: -len(each[0].parts)))

    def _text(self, program: Program, cpu: Cpu, there: dict[Path, str], starters: Path) -> str:
        environment = environment_for(program, cpu, self.bench.runtime, starters)
        settings = [
            f"{name}={_moved(value, there)}"
            for name, value in sorted(environment.items())
            # These are of the emulator, and the sysroot's libraries are here.
            if not name.startswith("QEMU_") and name != "LD_LIBRARY_PATH"
        ]
        settings += [f"{name}={value}" for name, value in self.machine.settings]
        words = (*self.machine.python, *(_moved(text, there) for text in program.arguments))
        command = shlex.join(["env", "-i", *settings, *words])
        limit = program.timeout_seconds
        watch = (
            "" if limit is None else f"$(command -v timeout >/dev/null && echo timeout {limit:g}) "
        )
        # ssh keeps this exit code for itself.
        end = f"code=$?; test $code = {NO_CONNECTION} && code=254; exit $code"
        return f"cd {shlex.quote(_moved(str(program.cwd), there))} && {watch}{command}; {end}"

    def _follow(
        self, text: str, limit: float | None, log: Path, on_line: Callable[[str], None]
    ) -> Completed:
        reach = self.machine.reach
        seconds = None if limit is None else limit + GRACE_SECONDS
        environment = {**reach.environment, "LC_ALL": "C"}
        command = Command(reach.shell(text), self.bench.workspace, environment, seconds)
        completed = self.bench.executor.run(command, log, on_line)
        if completed.exit_code == NO_CONNECTION:
            raise unreachable(reach, completed)
        over = limit is not None and completed.exit_code == TIMED_OUT
        return replace(completed, timed_out=True) if over else completed


def _moved(text: str, there: dict[Path, str]) -> str:
    for path, place in there.items():
        text = text.replace(str(path), place)
    return text


def _say_in(starters: Path, there: dict[Path, str]) -> None:
    for file in starters.iterdir():
        if file.is_file():
            file.write_text(_moved(file.read_text(encoding="utf-8"), there), encoding="utf-8")
