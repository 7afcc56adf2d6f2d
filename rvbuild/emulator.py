"""QEMU's user-mode emulator: where it is, and the words that run a riscv64 program on a CPU."""

from dataclasses import dataclass
from pathlib import Path

from rvbuild.target import Cpu


@dataclass(frozen=True, slots=True)
class Emulator:
    """A static `qemu-riscv64` and its version, such as `10.0.13`."""

    program: Path
    version: str

    def words(self, cpu: Cpu, root: Path) -> tuple[str, ...]:
        """Give the words before a riscv64 program: emulator, root of its libraries, explicit CPU."""
        return (str(self.program), "-L", str(root), "-cpu", cpu.qemu)
