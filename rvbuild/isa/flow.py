"""Which bytes of a function are executed: following its branches, to tell code from data in it."""

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from collections.abc import Set as AbstractSet

from rvbuild.isa.calls import (
    QUADRANT,
    SHORT_JUMP,
    jump_distance,
    short_jump_distance,
    signed,
)
from rvbuild.isa.encodings import Encodings, length
from rvbuild.isa.halves import LONG
from rvbuild.isa.model import Function, Region
from rvbuild.isa.scan import Hits

OPCODES = frozenset(
    {0x03, 0x07, 0x0F, 0x13, 0x17, 0x1B, 0x23, 0x27, 0x2F, 0x33, 0x37, 0x3B, 0x43, 0x47, 0x4B}
    | {0x4F, 0x53, 0x57, 0x63, 0x67, 0x6F, 0x73, 0x77, 0x0B, 0x2B, 0x5B, 0x7B}
)
# By opcode, the place of further bits and their values in rv64gc.
FURTHER = {
    0x33: (25, 0x7F, frozenset({0x00, 0x01, 0x20})),
    0x3B: (25, 0x7F, frozenset({0x00, 0x01, 0x20})),
    0x2F: (27, 0x1F, frozenset({0, 1, 2, 3, 4, 8, 12, 16, 20, 24, 28})),
    0x43: (25, 0x03, frozenset({0, 1})),
    0x47: (25, 0x03, frozenset({0, 1})),
    0x4B: (25, 0x03, frozenset({0, 1})),
    0x4F: (25, 0x03, frozenset({0, 1})),
    0x53: (27, 0x1F, frozenset({0, 1, 2, 3, 4, 5, 8, 11, 20, 24, 26, 28, 30})),
}
VENDOR = "xvendor"
# By opcode, the values of the width bits that rv64gc gives a meaning.
WIDTHS = {0x03: 0x7F, 0x23: 0x0F, 0x63: 0xF3, 0x67: 0x01, 0x0F: 0x07, 0x1B: 0x23, 0x3B: 0xF3}
BRANCH, JAL, JALR = 0x63, 0x6F, 0x67
RETURN_REGISTER = 1
KEPT_BACK = 0x8000
SHORT_BRANCHES = (0xC001, 0xE001)
SHORT_REGISTER_JUMP = 0x8002


def executed_hits(hits: Hits, function: Function, region: Region, table: Encodings) -> Hits:
    """Keep the hits that a function reaches from its entry.

    Behind a jump to a computed place nothing is known; what follows counts when all of it, up to
    where the function is known again, could be instructions.
    """
    reached, computed = _reach(function, region)
    if not function.names and not all(_sound(each, function, region, table) for each in reached):
        # Only a pointer says that this is code, and it is not.
        return hits.only(())
    unreached = [each for each in hits.addresses if each not in reached]
    if computed and unreached:
        reached |= _readable(unreached, function, region, reached, table)
    return hits.only(n for n, address in enumerate(hits.addresses) if address in reached)


def _reach(function: Function, region: Region) -> tuple[set[int], bool]:
    reached: set[int] = set()
    computed = False
    waiting = [function.start]
    while waiting:
        address = waiting.pop()
        while function.start <= address < function.end and address not in reached:
            word = word_at(region, address)
            reached.add(address)
            targets, goes_on, jumps = _successors(word, address)
            computed |= jumps
            waiting += targets
            if not goes_on:
                break
            address += 2 * length(word & 0xFFFF)
    return reached, computed


def _sound(address: int, function: Function, region: Region, table: Encodings) -> bool:
    """Say whether a reached instruction is one, and ends where the function does at the latest."""
    word = word_at(region, address)
    fits = address + 2 * length(word & 0xFFFF) <= function.end
    return fits and (word == 0 or _meaningful(word, table))


def _successors(word: int, address: int) -> tuple[tuple[int, ...], bool, bool]:
    """Give where an instruction may lead, whether the next one is, and whether it is computed."""
    if word & LONG != LONG:
        return _short_successors(word, address)
    opcode, register = word & 0x7F, word >> 7 & 31
    if opcode == BRANCH:
        value = (
            (word >> 8 & 15) << 1
            | (word >> 25 & 0x3F) << 5
            | (word >> 7 & 1) << 11
            | (word >> 31) << 12
        )
        return (address + signed(value, 13),), True, False
    if opcode == JAL:
        # A call returns; a jump does not.
        return (address + jump_distance(word),), register != 0, False
    if opcode == JALR:
        computed = register == 0 and word >> 15 & 31 != RETURN_REGISTER
        return (), register != 0, computed
    return (), True, False


def _short_successors(word: int, address: int) -> tuple[tuple[int, ...], bool, bool]:
    if word & QUADRANT == SHORT_JUMP:
        return (address + short_jump_distance(word),), False, False
    if word & QUADRANT in SHORT_BRANCHES:
        value = (
            (word >> 3 & 3) << 1
            | (word >> 10 & 3) << 3
            | (word >> 2 & 1) << 5
            | (word >> 5 & 3) << 6
            | (word >> 12 & 1) << 8
        )
        return (address + signed(value, 9),), True, False
    register = word >> 7 & 31
    if word & 0xF07F == SHORT_REGISTER_JUMP and register:
        return (), False, register != RETURN_REGISTER
    return (), word != 0, False


def _readable(
    addresses: Sequence[int],
    function: Function,
    region: Region,
    reached: AbstractSet[int],
    table: Encodings,
) -> set[int]:
    """Give the instructions between reached ones, where all that lies there could be some.

    Only stretches that have one of the addresses are looked at; the addresses are in order.
    """
    found: set[int] = set()
    ordered = sorted(reached)
    behind = 0
    for address in addresses:
        if address < behind:
            continue
        number = bisect_left(ordered, address)
        behind = ordered[number] if number < len(ordered) else function.end
        before = ordered[number - 1]
        start = before + 2 * length(word_at(region, before) & 0xFFFF)
        stretch = dict(_instructions(start, behind, region))
        if all(_meaningful(word, table) for word in stretch.values()):
            found.update(stretch)
    return found


def _instructions(position: int, end: int, region: Region) -> Iterator[tuple[int, int]]:
    while position < end:
        word = word_at(region, position)
        yield position, word
        position += 2 * length(word & 0xFFFF)


def word_at(region: Region, address: int) -> int:
    """Read the instruction at an address: 16 bits of a short one, else 32; zero beyond the end."""
    position = address - region.address
    half = int.from_bytes(region.data[position : position + 2], "little")
    if half & LONG != LONG:
        return half
    return int.from_bytes(region.data[position : position + 4], "little")


def _meaningful(word: int, table: Encodings) -> bool:
    """Say whether a processor could know an instruction; vendors' own are taken for data."""
    extension = table.extension(word)
    if extension is not None:
        return extension != VENDOR
    if word & LONG != LONG:
        # Of the short ones, those that are defined to be illegal or kept back.
        return word & 0xFFE3 != 0 and word & QUADRANT != KEPT_BACK
    opcode = word & 0x7F
    place, mask, values = FURTHER.get(opcode, (0, 0, frozenset({0})))
    widths = WIDTHS.get(opcode, 0xFF)
    return (
        opcode in OPCODES and widths >> (word >> 12 & 7) & 1 == 1 and word >> place & mask in values
    )
