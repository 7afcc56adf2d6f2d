"""Plain values of a dtype: vectors of them, its limits, and how Python's numbers settle in it."""

import struct
from functools import cache

import numpy as np

from .case import COMPLEX, FLOATS, SIGNED, Array
from .exact import whole_numbers

CODES = {"float16": "<e", "float32": "<f"}
# Spreads numbers of some bits over all 64.
GOLDEN = 0x9E3779B97F4A7C15

Plain = int | float | complex


@cache
def bits_of(dtype: str) -> int:
    """Give the width of a whole dtype in bits."""
    return int(dtype.lstrip("uint"))


@cache
def limits(dtype: str) -> tuple[int, int]:
    """Give the least and the greatest value of a whole dtype."""
    bits = bits_of(dtype)
    return (-1 << bits - 1, (1 << bits - 1) - 1) if dtype in SIGNED else (0, (1 << bits) - 1)


def settle(value: object, dtype: str) -> object:
    """Bring an exact or double-precision value to a dtype: whole ones wrap, floats round.

    Rounding a double once more gives the right float for one sum, product, quotient or root.
    """
    if dtype in CODES and isinstance(value, (int, float)):
        return struct.unpack(CODES[dtype], struct.pack(CODES[dtype], value))[0]
    if dtype == "bool":
        return bool(value)
    if dtype.startswith(("int", "uint")) and isinstance(value, int):
        least, _ = limits(dtype)
        return (int(value) - least) % (1 << bits_of(dtype)) + least
    return value


@cache
def vector(dtype: str, length: int, seed: int) -> tuple[Plain, ...]:
    """Make values that a dtype holds exactly; whole ones cover its range, floats are quarters."""
    if dtype == "bool":
        return tuple(value % 2 == 1 for value in whole_numbers(length, seed))
    if dtype in FLOATS:
        return tuple(value / 4 for value in whole_numbers(length, seed, 256))
    if dtype in COMPLEX:
        parts = whole_numbers(2 * length, seed, 256)
        pairs = zip(parts[::2], parts[1::2], strict=True)
        return tuple(complex(real / 4, imaginary / 4) for real, imaginary in pairs)
    least, greatest = limits(dtype)
    # Every fifth is small, so that there are equal ones and results that do not wrap.
    values = [
        value % 7 - 3 * (least < 0)
        if value % 5 == 0
        else value * GOLDEN % (greatest - least + 1) + least
        for value in whole_numbers(length, seed, 1 << 29)
    ]
    return (least, greatest, *values)[:length]


def nonzero(values: tuple[Plain, ...]) -> tuple[Plain, ...]:
    """Put 3 in the place of every zero."""
    return tuple(value or 3 for value in values)


def as_array(values: object, dtype: str) -> Array:
    """Make an array of plain values."""
    return np.array(values, dtype=dtype)
