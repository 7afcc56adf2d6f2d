"""The halves of a run of code, 16 bits each, as bits of large numbers: one step looks at all.

The first half is the lowest bit. No code is walked through: an instruction of 16 bits is known by
its two lowest bits, so where one begins follows from the halves before it, as a carry does.
"""

import sys
from array import array
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache

LONG = 3
BYTE_VALUES = 1 << 8
NO, YES = b"01"


@dataclass(frozen=True, slots=True)
class Halves:
    """A run of code that begins where an instruction does.

    `low` and `high` are the bytes of each half; `beginning` has the bits of those with which an
    instruction begins. One of 32 bits counts as two halves, whatever its length is by the rules for
    longer ones, which nobody makes.
    """

    count: int
    low: bytes
    high: bytes
    beginning: int

    def with_low(self, values: bytes) -> int:
        """Give the bits of halves with certain low bytes; `values` is made by `chosen`."""
        return _bits(self.low, values)

    def with_high(self, values: bytes) -> int:
        """Give the bits of halves with certain high bytes; `values` is made by `chosen`."""
        return _bits(self.high, values)


def cut(data: bytes) -> Halves:
    """Cut code into halves; an odd byte at the end is left out."""
    whole = len(data) - len(data) % 2
    low, high = data[:whole:2], data[1:whole:2]
    long = _bits(low, chosen(value for value in range(BYTE_VALUES) if value & LONG == LONG))
    return Halves(len(low), low, high, _beginning(long, len(low)))


def _beginning(long: int, count: int) -> int:
    """Find where instructions begin; `long` are the halves that look like the first of two.

    In a run of those, every other one begins, from the first on; the half behind a run begins if
    the run is of even length. Adding a bit to a run's first one clears the run and carries behind.
    """
    everything = (1 << count) - 1
    even, odd = _alternating(count), _alternating(count) << 1
    first = long & ~(long << 1)
    with_even, with_odd = long + (first & even), long + (first & odd)
    within = (long & ~with_even & odd) | (long & ~with_odd & even)
    behind = (with_even & ~long & odd & (with_even ^ long)) | (
        with_odd & ~long & even & (with_odd ^ long)
    )
    return everything & ~(within | behind)


@lru_cache(maxsize=2)
def _alternating(count: int) -> int:
    return ((1 << (count + count % 2)) - 1) // 3


def chosen(values: Iterable[int]) -> bytes:
    """Make a table that says which byte values are meant."""
    table = bytearray(bytes([NO]) * BYTE_VALUES)
    for value in values:
        table[value] = YES
    return bytes(table)


def _bits(column: bytes, values: bytes) -> int:
    return int(column[::-1].translate(values) or b"0", 2)


def places(bits: int) -> "array[int]":
    """List the numbers of the halves whose bits are set, in order."""
    found = array("I")
    digits = f"{bits:b}"[::-1]
    place = digits.find("1")
    while place >= 0:
        found.append(place)
        place = digits.find("1", place + 1)
    return found


def agreeing(columns: Iterable[tuple[bytes, bytes]], count: int) -> int:
    """Give the bits of halves where all columns have a kind in common.

    With each column of bytes comes a table that says for a value which of eight kinds it may be of.
    """
    common = (1 << 8 * count) - 1
    for column, kinds in columns:
        common &= int.from_bytes(column.translate(kinds), "little")
    return _bits(common.to_bytes(count, "little"), chosen(range(1, BYTE_VALUES)))


def numbers(data: bytes) -> "array[int]":
    """Read the halves as numbers; an odd byte at the end is left out."""
    halves = array("H", data[: len(data) - len(data) % 2])
    if sys.byteorder == "big":
        halves.byteswap()
    return halves
