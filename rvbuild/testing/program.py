"""The words and the environment that run the riscv64 Python on a CPU, with wheels to import.

Also how that Python starts itself again, which works without binfmt_misc.
"""

import shlex
from dataclasses import dataclass
from pathlib import Path

from rvbuild.executor import Command
from rvbuild.target import Cpu
from rvbuild.testing.model import Runtime


@dataclass(frozen=True, slots=True)
class Program:
    """Arguments for the riscv64 Python; `paths` are searched for modules, `home` may be written.

    `executable` is a riscv64 program that takes them in Python's place.
    """

    arguments: tuple[str, ...]
    paths: tuple[Path, ...]
    home: Path
    cwd: Path
    timeout_seconds: float | None = None
    extra_environment: tuple[tuple[str, str], ...] = ()
    trace: bool = False
    executable: Path | None = None


def command_for(program: Program, cpu: Cpu, runtime: Runtime) -> Command:
    """Make the command that runs `program` on `cpu`, without network where that can be had.

    Writes what child processes start the same Python by into the program's home.
    """
    words = runtime.emulator.words(cpu, runtime.interpreter.root)
    python = str(runtime.interpreter.program)
    starters = write_starters((*words, python), program.home / "starters")
    traced = ("-strace",) if program.trace else ()
    return Command(
        argv=(*words, *traced, str(program.executable or python), *program.arguments),
        cwd=program.cwd,
        environment=environment_for(program, cpu, runtime, starters),
        timeout_seconds=program.timeout_seconds,
        network=False,
    )


def write_starters(words: tuple[str, ...], folder: Path) -> Path:
    """Write what starts Python by `words` under its usual names; give the folder back."""
    # The kernel runs a shell script, but a riscv64 program only where binfmt_misc has QEMU.
    folder.mkdir(parents=True, exist_ok=True)
    for name in ("python", "python3", Path(words[-1]).name):
        starter = folder / name
        starter.write_text(f'#!/bin/sh\nexec {shlex.join(words)} "$@"\n', encoding="utf-8")
        starter.chmod(0o755)
    text = f"import sys\n\nsys.executable = {str(folder / 'python3')!r}\n"
    (folder / "sitecustomize.py").write_text(text, encoding="utf-8")
    return folder


def environment_for(program: Program, cpu: Cpu, runtime: Runtime, starters: Path) -> dict[str, str]:
    """Give the whole environment of a program; children that binfmt_misc starts are thought of."""
    fixed = {
        "HOME": str(program.home),
        "LC_ALL": "C.UTF-8",
        "PATH": f"{starters}:/usr/local/bin:/usr/bin:/bin",
        "PIP_CONFIG_FILE": "/dev/null",
        "PYTHONDONTWRITEBYTECODE": "1",
        "PYTHONFAULTHANDLER": "1",
        "PYTHONNOUSERSITE": "1",
        "PYTHONPATH": ":".join(map(str, (*program.paths, starters))),
        "PYTHONUNBUFFERED": "1",
        # For children that binfmt_misc starts: the same CPU and the same libraries.
        "QEMU_CPU": cpu.qemu,
        "QEMU_LD_PREFIX": str(runtime.interpreter.root),
        "TMPDIR": str(program.home),
    }
    if runtime.libraries:
        fixed["LD_LIBRARY_PATH"] = ":".join(map(str, runtime.libraries))
    return fixed | dict(program.extra_environment)


def reproduction(command: Command) -> str:
    """Write a command as one line for a shell, with its folder and its whole environment."""
    settings = [f"{name}={value}" for name, value in sorted(command.environment.items())]
    words = shlex.join(["env", "-i", *settings, *command.argv])
    return f"cd {shlex.quote(str(command.cwd))} && {words}"
