"""What is true of riscv64 Linux: triple, glibc floors, wheel and Python tags, the CPU catalogue.

Holds facts and values only; how to reach such a machine is `emulator`'s and `executor`'s.
"""

from dataclasses import dataclass
from functools import cache
from importlib import resources

import yaml

from rvbuild.errors import UsageError

TRIPLE = "riscv64-linux-gnu"
MACHINE = "riscv64"
PLATFORM = "linux-riscv64"
ELF_MACHINE = "EM_RISCV"
ELF_FLOAT_ABI_DOUBLE = 0x4
DYNAMIC_LOADER = "/lib/ld-linux-riscv64-lp64d.so.1"
BASELINE_ISA = "rv64gc"
# The first manylinux policy for the architecture, PEP 600 and auditwheel's policy file.
OLDEST_FLOOR = (2, 31)


@dataclass(frozen=True, slots=True, order=True)
class Floor:
    """The oldest glibc a wheel may need, such as 2.31."""

    major: int
    minor: int

    @classmethod
    def parse(cls, text: str) -> "Floor":
        """Read `2_31` or `2.31`; raise `UsageError` for anything else or below the first policy."""
        major, _, minor = text.replace(".", "_").partition("_")
        if not (major.isdigit() and minor.isdigit()):
            raise UsageError(f"`{text}` is not a glibc version", hint="write it like `2_31`")
        floor = cls(int(major), int(minor))
        if (floor.major, floor.minor) < OLDEST_FLOOR:
            raise UsageError(
                f"there is no manylinux policy for riscv64 below 2_31, and `{text}` was asked for"
            )
        return floor

    def __str__(self) -> str:
        return f"{self.major}_{self.minor}"

    @property
    def tag(self) -> str:
        """The platform tag, such as `manylinux_2_31_riscv64`."""
        return f"manylinux_{self}_{MACHINE}"


@dataclass(frozen=True, slots=True)
class Cpu:
    """A processor wheels are run on: `vlen` is the vector register length in bits, 0 for none."""

    name: str
    description: str
    qemu: str
    isa: str
    vlen: int


@cache
def cpus() -> dict[str, Cpu]:
    """Read the CPU catalogue, in the order of the file."""
    text = resources.files("rvbuild").joinpath("data/cpus.yaml").read_text(encoding="utf-8")
    entries = yaml.safe_load(text)
    return {
        name: Cpu(name, entry["description"], entry["qemu"], entry["isa"], int(entry["vlen"]))
        for name, entry in entries.items()
    }


def python_tag(version: str) -> str:
    """Turn `3.13` into `cp313` and `3.13t` into `cp313t`."""
    return "cp" + version.replace(".", "")


def compatible_platforms(floor: Floor) -> tuple[str, ...]:
    """List the platform tags a system with glibc `floor` takes, best first."""
    minors = range(floor.minor, OLDEST_FLOOR[1] - 1, -1)
    return (*(Floor(floor.major, minor).tag for minor in minors), f"linux_{MACHINE}")
