"""Matrix products and dot products of one BLAS library: `blas.py LIBRARY`. Runs on riscv64.

All numbers are small integers, so that every order of adding them gives the same, exact sums.
"""

import ctypes
import sys
from array import array
from collections.abc import Callable
from operator import mul

from marks import measure

ROW_MAJOR, PLAIN = 101, 111
SIZES = (64, 128, 256)
LENGTHS = (1000, 10000)
TYPES = {"d": ctypes.c_double, "s": ctypes.c_float}


class Blas:
    """The C interface of a library, whichever way its names and integers are made."""

    def __init__(self, path: str) -> None:
        self.library = ctypes.CDLL(path)
        spellings = [(front, end) for front in ("", "scipy_") for end in ("", "64_")]
        self.front, self.end = next(
            (front, end)
            for front, end in spellings
            if hasattr(self.library, f"{front}cblas_dgemm{end}")
        )
        self.integer = ctypes.c_int64 if self.end else ctypes.c_int32

    def routine(self, name: str) -> Callable[..., object]:
        """Give a routine by its standard name, such as `dgemm`."""
        return getattr(self.library, f"{self.front}cblas_{name}{self.end}")


def integers(count: int, seed: int) -> list[int]:
    """Make numbers from -4 to 4 that follow no pattern of the matrix."""
    made, state = [], seed
    for _ in range(count):
        state = (state * 1103515245 + 12345) % 2147483648
        made.append((state >> 16) % 9 - 4)
    return made


def times(matrix: list[list[int]], vector: list[int]) -> list[int]:
    """Multiply a matrix by a vector."""
    return [sum(map(mul, row, vector)) for row in matrix]


def rows(values: list[int], size: int) -> list[list[int]]:
    """Cut a matrix into its rows."""
    return [values[at : at + size] for at in range(0, size * size, size)]


def gemm(blas: Blas, letter: str, size: int) -> None:
    """Count one product of square matrices; C times a vector has to be A times B times it."""
    kind, integer = TYPES[letter], blas.integer
    left, right = integers(size * size, 1), integers(size * size, 2)
    a, b = (array(letter.replace("s", "f"), values) for values in (left, right))
    c = array(a.typecode, bytes(a.itemsize * size * size))
    pointers = [ctypes.c_void_p(values.buffer_info()[0]) for values in (a, b, c)]
    call = blas.routine(f"{letter}gemm")
    call.restype = None

    def words(size: int) -> tuple[object, ...]:
        n, stride = integer(size), integer(max(size, 1))
        order = (ctypes.c_int(ROW_MAJOR), ctypes.c_int(PLAIN), ctypes.c_int(PLAIN))
        first = (*order, n, n, n, kind(1), pointers[0], stride)
        return (*first, pointers[1], stride, kind(0), pointers[2], stride)

    full, none = words(size), words(0)

    def is_right() -> bool:
        vector = integers(size, 3)
        wanted = times(rows(left, size), times(rows(right, size), vector))
        return times(rows([int(value) for value in c], size), vector) == wanted

    measure(f"{letter}gemm {size}", lambda: call(*full), is_right, idle=lambda: call(*none))


def dot(blas: Blas, letter: str, length: int) -> None:
    """Count one dot product."""
    values = [integers(length, seed) for seed in (1, 2)]
    x, y = (array(letter.replace("s", "f"), numbers) for numbers in values)
    pointers = [ctypes.c_void_p(numbers.buffer_info()[0]) for numbers in (x, y)]
    call = blas.routine(f"{letter}dot")
    call.restype = TYPES[letter]
    one = blas.integer(1)
    full, none = (
        (blas.integer(count), pointers[0], one, pointers[1], one) for count in (length, 0)
    )
    measure(
        f"{letter}dot {length}",
        lambda: call(*full),
        lambda: call(*full) == sum(map(mul, *values)),
        idle=lambda: call(*none),
    )


def main() -> None:
    """Count every operation of the library."""
    blas = Blas(sys.argv[1])
    for letter in TYPES:
        for size in SIZES:
            gemm(blas, letter, size)
        for length in LENGTHS:
            dot(blas, letter, length)


if __name__ == "__main__":
    main()
