"""What finished CPUs gave, kept in a test's workspace, so that a stopped run goes on where it was.

What passed is believed until it is asked for again; what failed only until its run has ended.
"""

import hashlib
import json
from dataclasses import dataclass
from pathlib import Path

from pydantic import TypeAdapter, ValidationError

from rvbuild.recipe.model import Suite, Test
from rvbuild.target import Cpu
from rvbuild.testing.model import SCHEMA, Bench, CpuResult
from rvbuild.testing.numeric import program_digest

FOLDER = "finished"


@dataclass(frozen=True, slots=True)
class Memory:
    """The results of one wheel with one set of tests in one runtime, by CPU."""

    folder: Path
    subject: str

    def recall(self, cpu: Cpu) -> tuple[CpuResult, ...]:
        """Give what a CPU gave before; empty where nothing is known."""
        try:
            found = TypeAdapter(tuple[CpuResult, ...]).validate_json(self._file(cpu).read_bytes())
        except (OSError, ValidationError):
            return ()
        return found

    def keep(self, cpu: Cpu, results: tuple[CpuResult, ...]) -> None:
        """Remember what a CPU gave."""
        self.folder.mkdir(parents=True, exist_ok=True)
        partial = self.folder / f".{self._file(cpu).name}.part"
        partial.write_bytes(TypeAdapter(tuple[CpuResult, ...]).dump_json(results))
        partial.replace(self._file(cpu))

    def forget(self, cpu: Cpu) -> None:
        """Remember nothing of a CPU."""
        self._file(cpu).unlink(missing_ok=True)

    def _file(self, cpu: Cpu) -> Path:
        text = f"{self.subject}\n{cpu.name}\n{cpu.qemu}"
        return self.folder / f"{hashlib.sha256(text.encode()).hexdigest()[:32]}.json"


def memory_of(wheel: Path, tests: Test, bench: Bench) -> Memory:
    """Name what is tested by everything that decides the results of a CPU."""
    said = (tests.model_dump_json(), program_digest() if tests.numeric else "")
    return Memory(bench.workspace / FOLDER, _subject(wheel, bench, said))


def suite_subject(wheel: Path, suite: Suite, requires: tuple[str, ...], bench: Bench) -> str:
    """Name a suite by everything that decides what its tests come to.

    How it is cut and how long it may take are left out: tests that ended have ended.
    """
    kept = {"requires", "files", "command", "environment"}
    return _subject(wheel, bench, (suite.model_dump_json(include=kept), *requires))


def _subject(wheel: Path, bench: Bench, said: tuple[str, ...]) -> str:
    runtime = bench.runtime
    machine = "" if bench.machine is None else bench.machine.title
    inputs = (
        str(SCHEMA),
        *said,
        *(_digest(path) for path in (wheel, *bench.wheels)),
        *(runtime.interpreter.digest, runtime.emulator.version, runtime.emulator.digest),
        machine,
    )
    return hashlib.sha256(json.dumps(inputs).encode()).hexdigest()


def _digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()
