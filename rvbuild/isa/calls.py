"""How code refers to what is elsewhere: the distances in `jal`, `c.j`, and `auipc` with another."""

from array import array
from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Literal, NamedTuple

from rvbuild.isa.encodings import length
from rvbuild.isa.halves import Halves, chosen, cut, numbers, places
from rvbuild.isa.model import Region

OPCODE = 0x7F
QUADRANT, SHORT_JUMP = 0xE003, 0xA001
JAL, AUIPC, JALR, LOAD, ADD_IMMEDIATE = 0x6F, 0x17, 0x67, 0x03, 0x13
HALF_VALUES, SIGN = 1 << 16, 0x8000
# How far an immediate of 12 bits reaches, in bytes.
NEAR = 0x800
PAGE_BITS = 12
# Instructions that add to an address in order to load or to take it; those that write no register
# of whole numbers.
READING, WITHOUT_RESULT = (
    frozenset({LOAD, 0x07, ADD_IMMEDIATE}),
    frozenset({0x07, 0x23, 0x27, 0x63}),
)
# So many instructions after `auipc`, what goes on with its register is looked for.
AHEAD = 8
# So many bytes after any place, instructions are read rightly, wherever they began.
SETTLING = 64
Kind = Literal["call", "jump", "take"]


class Reference(NamedTuple):
    """What the instruction at `site` refers to: a call comes back, a jump does not.

    `take` is taking the address.
    """

    site: int
    target: int
    kind: Kind


@dataclass(frozen=True, slots=True)
class Uppers:
    """All `auipc` of a region, in order: number of the half it begins at, and what it adds up to.

    `numbers` are all halves.
    """

    region: Region
    numbers: "array[int]"
    places: "array[int]"
    bases: "array[int]"

    def between(self, start: int, end: int) -> range:
        """Give the numbers of those that begin from `start` on and before `end`."""
        first, last = (each - self.region.address + 1 >> 1 for each in (start, end))
        return range(
            bisect_left(self.places, max(first, 0)), bisect_left(self.places, max(last, 0))
        )


def find_uppers(region: Region) -> Uppers:
    """Find all `auipc`, which begin whatever refers to something far away."""
    halves, values, start = cut(region.data), numbers(region.data), region.address
    where = places(halves.with_low(_opcode(AUIPC)) & _whole(halves))
    bases = [
        start + 2 * place + (((values[place + 1] ^ SIGN) - SIGN) << 16) + (values[place] & 0xF000)
        for place in where
    ]
    return Uppers(region, values, where, array("q", bases))


def _whole(halves: Halves) -> int:
    """Give the bits of halves at which an instruction begins that another half follows."""
    return halves.beginning & ((1 << max(halves.count - 1, 0)) - 1)


def near_references(region: Region, start: int, end: int) -> Iterator[Reference]:
    """List what `jal` and `c.j` between two addresses of a region call and jump to."""
    first = max(start - region.address - SETTLING, 0) & ~1
    # The last instruction may be of two halves.
    code = region.data[first : max(min(end, region.end) + 2 - region.address, 0)]
    halves, values = cut(code), numbers(code)
    begin, table = region.address + first, _jal_distances()
    for place in places(halves.with_low(_opcode(JAL)) & _whole(halves)):
        site, half = begin + 2 * place, values[place]
        if start <= site < end:
            kind: Kind = "call" if half & 0xF80 else "jump"
            yield Reference(site, site + (half & 0xF000) + table[values[place + 1]], kind)
    low, high = _short()
    for place in places(halves.with_low(low) & halves.with_high(high) & halves.beginning):
        site = begin + 2 * place
        if start <= site < end:
            yield Reference(site, site + short_jump_distance(values[place]), "jump")


def far_references(upper: Uppers, chosen_ones: Sequence[int]) -> Iterator[Reference]:
    """List what some `auipc` with the instruction behind them call, jump to, or take."""
    values, begin, last = upper.numbers, upper.region.address, len(upper.numbers) - 3
    for number in chosen_ones:
        place = upper.places[number]
        if place >= last:
            continue
        low, high = values[place + 2], values[place + 3]
        opcode = low & OPCODE
        if opcode not in (JALR, ADD_IMMEDIATE):
            continue
        if (high & 15) << 1 | low >> 15 == values[place] >> 7 & 31:
            target = upper.bases[number] + ((high ^ SIGN) - SIGN >> 4)
            coming_back: Kind = "call" if low & 0xF80 else "jump"
            kind: Kind = "take" if opcode == ADD_IMMEDIATE else coming_back
            yield Reference(begin + 2 * place, target & ~1, kind)


def find_uses(uppers: Sequence[Uppers], wanted: Mapping[int, str]) -> list[tuple[int, str]]:
    """List where code refers to wanted addresses: site of the `auipc`, and what is wanted."""
    pages = {(address + near) >> PAGE_BITS for address in wanted for near in (1, 2 * NEAR)}
    found = []
    for upper in uppers if pages else ():
        for number, base in enumerate(upper.bases):
            if (base + NEAR) >> PAGE_BITS in pages:
                place = upper.places[number]
                offsets = _offsets(upper.numbers, place)
                names = (wanted[base + each] for each in offsets if base + each in wanted)
                found += [(upper.region.address + 2 * place, name) for name in names]
    return found


def _offsets(values: "array[int]", place: int) -> Iterator[int]:
    """Give what the instructions after `auipc` add to its register, but for storing."""
    register = values[place] >> 7 & 31
    position, last = place + 2, len(values) - 1
    for _ in range(AHEAD):
        if position >= last:
            return
        half = values[position]
        step = length(half)
        if step > 1:
            word = half | values[position + 1] << 16
            if word & OPCODE in READING and word >> 15 & 31 == register:
                yield signed(word >> 20, 12)
            if word & OPCODE not in WITHOUT_RESULT and word >> 7 & 31 == register:
                return
        position += step


def jump_distance(word: int) -> int:
    """Read how far `jal` goes, in bytes."""
    return (word & 0xF000) + _jal_distances()[word >> 16]


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
def _jal_distances() -> tuple[int, ...]:
    """Give for each second half what it adds to the target; the first half adds bits 12 to 15."""
    return tuple(
        (half >> 5 & 0x3FF) << 1 | (half >> 4 & 1) << 11 | (half & 15) << 16 | -(half >> 15) << 20
        for half in range(HALF_VALUES)
    )


@cache
def _opcode(opcode: int) -> bytes:
    return chosen(value for value in range(256) if value & OPCODE == opcode)


@cache
def _short() -> tuple[bytes, bytes]:
    return chosen(range(1, 256, 4)), chosen(range(0xA0, 0xC0))
