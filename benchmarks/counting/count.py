"""Counting: run a marked program on a CPU and read what it executed between its marks."""

import json
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory

from counting.emulator import CountingEmulator
from counting.programs.marks import ROUNDS
from rvbuild.errors import CheckError
from rvbuild.target import Cpu

PROGRAMS = Path(__file__).parent / "programs"
# Addresses and random bytes decide how hash tables fill; so the same ones at every run.
STEADY = {"PYTHONHASHSEED": "0", "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}


@dataclass(frozen=True, slots=True)
class Runtime:
    """A riscv64 Python: root of its libraries, its program, and where modules and libraries lie."""

    root: Path
    program: Path
    modules: tuple[Path, ...] = ()
    libraries: tuple[Path, ...] = ()
    environment: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Counted:
    """What an operation executed beyond an idle call, and whether its result is right."""

    name: str
    instructions: int
    vector: int
    right: bool


@dataclass(frozen=True, slots=True)
class Program:
    """A program among `programs/` that calls `measure`, and its arguments."""

    name: str
    arguments: tuple[str, ...] = ()


def count(
    program: Program, cpu: Cpu, runtime: Runtime, emulator: CountingEmulator
) -> tuple[Counted, ...]:
    """Run a program and give what each of its operations executed.

    Raises `CheckError` when the program fails.
    """
    with TemporaryDirectory() as folder:
        out = Path(folder, "counts")
        words = _words(cpu, runtime, emulator, out)
        words += [str(PROGRAMS / program.name), *program.arguments]
        done = subprocess.run(words, env={}, capture_output=True, text=True, check=False)
        if done.returncode:
            raise CheckError(
                f"`{program.name}` failed with {done.returncode} on {cpu.name}",
                causes=done.stderr.splitlines()[-20:],
            )
        lines = [line for line in done.stdout.splitlines() if line.startswith("{")]
        return tuple(_pair(lines, out.read_text(encoding="ascii").splitlines()))


def _words(cpu: Cpu, runtime: Runtime, emulator: CountingEmulator, out: Path) -> list[str]:
    variables = {
        **STEADY,
        **runtime.environment,
        "PYTHONDONTWRITEBYTECODE": "1",
        "PYTHONPATH": ":".join(map(str, runtime.modules)),
        "LD_LIBRARY_PATH": ":".join(map(str, runtime.libraries)),
    }
    words = ["/usr/bin/setarch", "-R", str(emulator.program), "-seed", "1"]
    words += ["-L", str(runtime.root), "-cpu", cpu.qemu]
    words += ["-plugin", f"{emulator.plugin},out={out}"]
    for name, value in variables.items():
        words += ["-E", f"{name}={value}"]
    return [*words, str(runtime.program), "-S"]


def _pair(names: list[str], counts: list[str]) -> list[Counted]:
    rows = [[int(word) for word in line.split()] for line in counts]
    if len(rows) != 2 * ROUNDS * len(names):
        raise CheckError(f"{len(rows)} counts came of {len(names)} operations")
    found = []
    for number, line in enumerate(names):
        at = 2 * ROUNDS * number
        idle, full = min(rows[at : at + ROUNDS]), min(rows[at + ROUNDS : at + 2 * ROUNDS])
        told = json.loads(line)
        found.append(Counted(told["name"], full[0] - idle[0], full[1] - idle[1], told["right"]))
    return found
