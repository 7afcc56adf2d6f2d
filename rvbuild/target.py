"""What is true of riscv64 Linux: triple, glibc floors, wheel and Python tags, the CPU catalogue.

Holds facts and values only; how to reach such a machine is `emulator`'s and `executor`'s.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Literal, TypedDict

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
# What the RISC-V specifications define one extension to consist of, or to need.
IMPLIED = {
    "g": ("i", "m", "a", "f", "d", "zicsr", "zifencei"),
    "b": ("zba", "zbb", "zbs"),
    "zfh": ("zfhmin",),
    "zvfh": ("zvfhmin", "zfhmin"),
    "zvfbfwma": ("zvfbfmin", "zfbfmin"),
    "zvbb": ("zvkb",),
    "zvkn": ("zvkned", "zvknhb", "zvkb", "zvkt"),
    "zvkng": ("zvkn", "zvkg"),
    "zvknc": ("zvkn", "zvbc"),
    "zvks": ("zvksed", "zvksh", "zvkb", "zvkt"),
    "zvksg": ("zvks", "zvkg"),
    "zvksc": ("zvks", "zvbc"),
}


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


class _CpuEntry(TypedDict):
    """One entry of `cpus.yaml`."""

    description: str
    qemu: str
    isa: str
    vlen: int


RvvVersion = Literal["1.0", "0.7.1", "none"]


@dataclass(frozen=True, slots=True)
class Board:
    """A chip that exists: `boards` goes from names to the boards with it, `isa` is for programs.

    `vlen` is in bits, 0 for none; `rvv` the version of its vector unit; `qemu` the nearest that the
    emulator does; `caveats` are what programs stumble over; `sources` are where the facts are from.
    """

    name: str
    description: str
    boards: Mapping[str, str]
    isa: str
    vlen: int
    rvv: RvvVersion
    page_size_bytes: int
    qemu: str
    caveats: tuple[str, ...]
    sources: tuple[str, ...]

    @property
    def extensions(self) -> frozenset[str]:
        """The extensions of the ISA string, with those that they imply."""
        return extensions_of(self.isa)

    @property
    def cpus(self) -> tuple[Cpu, ...]:
        """The chip and each board with it, as processors to run wheels on."""
        # What the emulator lacks, its wheels must not be expected to use.
        vlen = self.vlen if self.rvv == "1.0" else 0
        names = {self.name: self.description, **self.boards}
        return tuple(Cpu(name, text, self.qemu, self.isa, vlen) for name, text in names.items())


class _BoardEntry(_CpuEntry):
    """One entry of `boards.yaml`."""

    boards: dict[str, str]
    rvv: RvvVersion
    page_size: int
    caveats: list[str]
    sources: list[str]


@cache
def profiles() -> dict[str, Cpu]:
    """Read the catalogue of profiles and vector lengths, in the order of the file."""
    entries: dict[str, _CpuEntry] = yaml.safe_load(_read_data("cpus.yaml"))
    return {
        name: Cpu(name, entry["description"], entry["qemu"], entry["isa"], entry["vlen"])
        for name, entry in entries.items()
    }


@cache
def boards() -> dict[str, Board]:
    """Read the catalogue of chips, by the names of chips, in the order of the file."""
    entries: dict[str, _BoardEntry] = yaml.safe_load(_read_data("boards.yaml"))
    return {
        name: Board(
            name=name,
            description=entry["description"],
            boards=entry["boards"],
            isa=entry["isa"],
            vlen=entry["vlen"],
            rvv=entry["rvv"],
            page_size_bytes=entry["page_size"],
            qemu=entry["qemu"],
            caveats=tuple(entry["caveats"]),
            sources=tuple(entry["sources"]),
        )
        for name, entry in entries.items()
    }


def find_board(name: str) -> Board | None:
    """Find a chip by its name or by that of a board with it."""
    return next((each for each in boards().values() if name in (each.name, *each.boards)), None)


@cache
def cpus() -> dict[str, Cpu]:
    """Give every processor that wheels can be run on: profiles, then chips and boards."""
    real = (cpu for board in boards().values() for cpu in board.cpus)
    return {**profiles(), **{cpu.name: cpu for cpu in real}}


def extensions_of(isa: str) -> frozenset[str]:
    """List the extensions of an ISA string such as `rv64gcv_zba`, with those that they imply."""
    letters, *names = isa.removeprefix("rv64").split("_")
    waiting = [*letters, *names]
    found: set[str] = set()
    while waiting:
        name = waiting.pop()
        if name not in found:
            found.add(name)
            waiting += IMPLIED.get(name, ())
    return frozenset(found)


def _read_data(name: str) -> str:
    return resources.files("rvbuild").joinpath(f"data/{name}").read_text(encoding="utf-8")


def python_tag(version: str) -> str:
    """Turn `3.13` into `cp313` and `3.13t` into `cp313t`."""
    return "cp" + version.replace(".", "")


def compatible_platforms(floor: Floor) -> tuple[str, ...]:
    """List the platform tags a system with glibc `floor` takes, best first."""
    minors = range(floor.minor, OLDEST_FLOOR[1] - 1, -1)
    return (*(Floor(floor.major, minor).tag for minor in minors), f"linux_{MACHINE}")
