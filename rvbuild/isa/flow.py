"""Which bytes of a function are executed: following its branches, to tell code from data in it."""

from collections.abc import Iterator

from rvbuild.isa.calls import jump_distance, signed
from rvbuild.isa.encodings import LONG, Encodings, length
from rvbuild.isa.model import Function, Region
from rvbuild.isa.scan import Hits

OPCODES = frozenset(
    {0x03, 0x07, 0x0F, 0x13, 0x17, 0x1B, 0x23, 0x27, 0x2F, 0x33, 0x37, 0x3B, 0x43, 0x47, 0x4B}
    | {0x4F, 0x53, 0x57, 0x63, 0x67, 0x6F, 0x73, 0x77, 0x0B, 0x2B, 0x5B, 0x7B}
)
# By opcode, the values of the width bits that rv64gc gives a meaning.
WIDTHS = {0x03: 0x7F, 0x23: 0x0F, 0x63: 0xF3, 0x67: 0x01, 0x0F: 0x07, 0x1B: 0x23, 0x3B: 0xF3}
BRANCH, JAL, JALR = 0x63, 0x6F, 0x67
RETURN_REGISTERS = (1, 5)
QUADRANT = 0xE003
KEPT_BACK = 0x8000
SHORT_JUMP, SHORT_BRANCHES = 0xA001, (0xC001, 0xE001)
SHORT_REGISTER_JUMP = 0x8002


def executed_hits(hits: Hits, function: Function, region: Region, table: Encodings) -> Hits:
    """Keep the hits that a function reaches from its entry.

    Behind a jump to a computed place nothing is known; what follows counts when all of it, up to
    where the function is known again, could be instructions.
    """
    reached, computed = _reach(function, region)
    return hits.only(
        number
        for number, address in enumerate(hits.addresses)
        if address in reached or (computed and _readable(address, function, region, reached, table))
    )


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
        computed = register == 0 and word >> 15 & 31 not in RETURN_REGISTERS
        return (), register != 0, computed
    return (), True, False


def _short_successors(word: int, address: int) -> tuple[tuple[int, ...], bool, bool]:
    if word & QUADRANT == SHORT_JUMP:
        value = (
            (word >> 3 & 7) << 1
            | (word >> 11 & 1) << 4
            | (word >> 2 & 1) << 5
            | (word >> 7 & 1) << 6
            | (word >> 6 & 1) << 7
            | (word >> 9 & 3) << 8
            | (word >> 8 & 1) << 10
            | (word >> 12 & 1) << 11
        )
        return (address + signed(value, 12),), False, False
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
        return (), False, register not in RETURN_REGISTERS
    return (), word != 0, False


def _readable(
    address: int, function: Function, region: Region, reached: set[int], table: Encodings
) -> bool:
    """Say whether the unreached bytes around an address could all be instructions."""
    start = max((each for each in reached if each < address), default=function.start)
    behind = start + 2 * length(word_at(region, start) & 0xFFFF)
    aligned = False
    for position, word in _instructions(behind, function.end, region):
        if position in reached:
            break
        aligned |= position == address
        if not _meaningful(word, table):
            return False
    return aligned


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
    if word & LONG != LONG:
        # Of the short ones, those that are defined to be illegal or kept back.
        return word & 0xFFE3 != 0 and (word & QUADRANT != KEPT_BACK or bool(table.extension(word)))
    if word & 0x7F not in OPCODES:
        return False
    widths = WIDTHS.get(word & 0x7F, 0xFF)
    return widths >> (word >> 12 & 7) & 1 == 1 or table.extension(word) is not None
