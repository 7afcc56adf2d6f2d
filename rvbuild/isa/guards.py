"""What counts as asking the processor: the data file of imports and of dispatched names."""

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources

import yaml

from rvbuild.isa.model import Region

# `li a7, 258`, soon before the instruction `ecall`: the system call riscv_hwprobe.
OWN_PROBE, SYSTEM_CALL = b"\x93\x08\x20\x10", b"\x73\0\0\0"
# `li a0, 258`, soon before a call of libc's `syscall`; where that is not imported but linked in,
# zeros for the last three arguments have to be near: `li a3, 0`, `li a4, 0`, `li a5, 0`.
LIBC_PROBE = b"\x13\x05\x20\x10"
LAST_ARGUMENTS = (b"\x81\x46", b"\x01\x47", b"\x81\x47")
NEAR_BYTES = 32
SOON_BYTES = 64
SYSTEM_CALLER = "syscall"
PROBING = "the system call riscv_hwprobe"


@dataclass(frozen=True, slots=True)
class Family:
    """A pattern of names of functions that are called after asking; `source` says who says so."""

    name: str
    pattern: re.Pattern[str]
    source: str


@dataclass(frozen=True, slots=True)
class Guards:
    """The data file: names of imports that answer, and families of dispatched functions.

    `settings` are variables of the environment in which somebody else gives the answer.
    """

    imports: frozenset[str]
    settings: frozenset[str]
    families: tuple[Family, ...]

    def family(self, names: Sequence[str]) -> Family | None:
        """Give the first family that one of the names is of."""
        return next((each for each in self.families if any(map(each.pattern.search, names))), None)


@cache
def guards() -> Guards:
    """Read the data file."""
    text = resources.files("rvbuild").joinpath("data/isa/guards.yaml").read_text("utf-8")
    tables = yaml.safe_load(text)
    return Guards(
        imports=frozenset(row["name"] for row in tables["imports"]),
        settings=frozenset(row["name"] for row in tables["settings"]),
        families=tuple(
            Family(row["family"], re.compile(row["pattern"]), row["source"])
            for row in tables["names"]
        ),
    )


def kernel_length(names: Sequence[str]) -> int:
    """Give the vector length in bits that a name says its function needs; 0 when it says none."""
    for family in guards().families:
        for found in map(family.pattern.search, names):
            if found and found.groupdict().get("vlen"):
                return int(found["vlen"])
    return 0


def probe_sites(regions: Sequence[Region], callers: Sequence[int]) -> Iterator[int]:
    """List the addresses where the number of the system call is put into its register.

    `callers` are the addresses at which an imported `syscall` is called, in order.
    """
    for region in regions:
        for position in _positions(region.data, OWN_PROBE):
            if SYSTEM_CALL in region.data[position : position + SOON_BYTES]:
                yield region.address + position
        for position in _positions(region.data, LIBC_PROBE):
            near = region.data[max(position - NEAR_BYTES, 0) : position + NEAR_BYTES]
            site = region.address + position
            following = callers[bisect_left(callers, site) :][:1]
            if any(each - site < SOON_BYTES for each in following) or all(
                each in near for each in LAST_ARGUMENTS
            ):
                yield site


def _positions(data: bytes, code: bytes) -> Iterator[int]:
    position = data.find(code)
    while position >= 0:
        if position % 2 == 0:
            yield position
        position = data.find(code, position + 1)
