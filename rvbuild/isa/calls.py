"""What code refers to: calls, jumps, addresses taken, and uses of imports."""

from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import Literal, NamedTuple

from rvbuild.isa.encodings import HALF_VALUES, INTERESTING, length
from rvbuild.isa.model import Region
from rvbuild.isa.scan import halves_of, sweep

OPCODE = 0x7F
QUADRANT, SHORT_JUMP = 0xE003, 0xA001
JAL, AUIPC, JALR, LOAD, ADD_IMMEDIATE = 0x6F, 0x17, 0x67, 0x03, 0x13


class Reference(NamedTuple):
    """What the instruction at `site` refers to: code at `target`, or an import (`target` is 0).

    A call comes back, a jump does not; `take` is taking the address.
    """

    site: int
    kind: Literal["call", "jump", "take", "import"]
    target: int
    imported: str = ""


def find_references(regions: Sequence[Region], slots: Mapping[int, str]) -> list[Reference]:
    """List what refers to code elsewhere and to imports, in the order of addresses."""
    found = [each for region in regions for each in _region_references(region, slots)]
    stubs = {each.site: each.imported for each in found if each.kind == "import"}
    references = []
    for each in found:
        # A call of a stub is a call of the import that its first instruction leads to, or its
        # second where the first only marks a landing place.
        name = stubs.get(each.target) or stubs.get(each.target + 4)
        if name and each.kind in ("call", "jump"):
            references.append(Reference(each.site, "import", 0, name))
        else:
            references.append(each)
    return references


def _region_references(region: Region, slots: Mapping[int, str]) -> Iterator[Reference]:
    halves = halves_of(region.data)
    last = len(halves) - 1
    for position in sweep(halves, _steps()):
        half = halves[position]
        if half & QUADRANT == SHORT_JUMP:
            site = region.address + 2 * position
            yield Reference(site, "jump", site + short_jump_distance(half))
            continue
        if position == last:
            return
        word = halves[position] | halves[position + 1] << 16
        site = region.address + 2 * position
        if word & OPCODE == JAL:
            kind: Literal["call", "jump"] = "call" if word >> 7 & 31 else "jump"
            yield Reference(site, kind, site + jump_distance(word))
        elif position + 3 <= last:
            after = halves[position + 2] | halves[position + 3] << 16
            yield from _pair(site, word, after, slots)


def _pair(site: int, word: int, after: int, slots: Mapping[int, str]) -> Iterator[Reference]:
    """Read `auipc` and what follows it, where that goes on with its register."""
    if after >> 15 & 31 != word >> 7 & 31:
        return
    address = site + signed(word & 0xFFFFF000, 32) + signed(after >> 20, 12)
    if after & OPCODE == JALR:
        yield Reference(site, "call" if after >> 7 & 31 else "jump", address & ~1)
    elif after & OPCODE == LOAD and address in slots:
        yield Reference(site, "import", 0, slots[address])
    elif after & OPCODE == ADD_IMMEDIATE:
        yield Reference(site, "take", address)


def jump_distance(word: int) -> int:
    """Read how far `jal` goes, in bytes."""
    value = (
        (word >> 21 & 0x3FF) << 1
        | (word >> 20 & 1) << 11
        | (word >> 12 & 0xFF) << 12
        | (word >> 31) << 20
    )
    return signed(value, 21)


def short_jump_distance(half: int) -> int:
    """Read how far `c.j` goes, in bytes."""
    value = (
        (half >> 3 & 7) << 1
        | (half >> 11 & 1) << 4
        | (half >> 2 & 1) << 5
        | (half >> 7 & 1) << 6
        | (half >> 6 & 1) << 7
        | (half >> 9 & 3) << 8
        | (half >> 8 & 1) << 10
        | (half >> 12 & 1) << 11
    )
    return signed(value, 12)


def signed(value: int, bits: int) -> int:
    """Read a two's complement number."""
    return value - (1 << bits) if value >> (bits - 1) & 1 else value


@cache
def _steps() -> bytes:
    return bytes(
        length(half) | (INTERESTING if _refers(half) else 0) for half in range(HALF_VALUES)
    )


def _refers(half: int) -> bool:
    return half & OPCODE in (JAL, AUIPC) or half & QUADRANT == SHORT_JUMP
