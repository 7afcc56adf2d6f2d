"""QEMU's user-mode emulator: where it is, and the words that run a riscv64 program on a CPU."""

import re
import subprocess
from dataclasses import dataclass
from pathlib import Path

from rvbuild.errors import MissingToolError
from rvbuild.kit import Supplies, Tree, load_pins, materialise
from rvbuild.target import Cpu


@dataclass(frozen=True, slots=True)
class Emulator:
    """A static `qemu-riscv64`, its version such as `10.0.13`, and the digest of its package."""

    program: Path
    version: str
    digest: str = ""

    def words(self, cpu: Cpu, root: Path) -> tuple[str, ...]:
        """Give the words before a riscv64 program: emulator, library root, explicit CPU."""
        return (str(self.program), "-L", str(root), "-cpu", cpu.qemu)


def install_emulator(host: str, folder: Path, supplies: Supplies) -> Emulator:
    """Have QEMU for this machine (`x86_64` and the like) on disk; `folder` holds the pin files."""
    kit = materialise(emulator_tree(host, folder), supplies)
    program = kit.path / "usr/bin/qemu-riscv64"
    return Emulator(program, emulator_version(program), kit.digest)


def emulator_digest(host: str, folder: Path) -> str:
    """Name the emulator of this machine by content without having it."""
    return emulator_tree(host, folder).digest


def emulator_tree(host: str, folder: Path) -> Tree:
    """Give the pinned tree of this machine's emulator."""
    return Tree(f"qemu-{host}", load_pins(folder / "qemu.yaml").tree(f"emulator-{host}"))


def emulator_version(program: Path) -> str:
    """Ask an emulator for its version; raise `MissingToolError` when it does not run here."""
    try:
        done = subprocess.run(
            [str(program), "--version"], capture_output=True, text=True, check=True
        )
    except (OSError, subprocess.CalledProcessError) as error:
        raise MissingToolError(f"`{program}` does not run here", causes=[str(error)]) from error
    found = re.search(r"version (\d+(?:\.\d+)+)", done.stdout)
    return found.group(1) if found else "unknown"
