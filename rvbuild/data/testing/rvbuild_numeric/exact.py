"""Whole numbers and exact matrices: reproducible inputs, and products by Python's own integers."""

import math
import operator
from array import array
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import chain

Rows = tuple[tuple[int, ...], ...]

_MULTIPLIER = 6364136223846793005
_INCREMENT = 1442695040888963407
_MASK = (1 << 64) - 1
# Floats become whole numbers of 2**-FRACTION, far finer than any rounding that is measured.
FRACTION = 60


@cache
def whole_numbers(count: int, seed: int, limit: int = 8) -> tuple[int, ...]:
    """Give `count` numbers from -limit to limit, always the same for a seed."""
    state = (seed * 2 + 1) * _MULTIPLIER & _MASK
    found = []
    for _ in range(count):
        state = (state * _MULTIPLIER + _INCREMENT) & _MASK
        found.append((state >> 33) % (2 * limit + 1) - limit)
    return tuple(found)


@dataclass(frozen=True, slots=True)
class Matrix:
    """A matrix of whole numbers, of Gaussian ones where `imaginary` is there."""

    columns: int
    real: Rows
    imaginary: Rows | None = None

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""
        return len(self.real), self.columns

    @property
    def transposed(self) -> "Matrix":
        """The transpose."""
        imaginary = None if self.imaginary is None else _flip(self.imaginary, self.columns)
        return Matrix(len(self.real), _flip(self.real, self.columns), imaginary)

    @property
    def conjugated(self) -> "Matrix":
        """The complex conjugate."""
        if self.imaginary is None:
            return self
        return Matrix(self.columns, self.real, _times(-1, self.imaginary))

    def __matmul__(self, other: "Matrix") -> "Matrix":
        real = multiply(self.real, other.real, other.columns)
        if self.imaginary is None or other.imaginary is None:
            return Matrix(other.columns, real)
        opposite = multiply(self.imaginary, other.imaginary, other.columns)
        crossed = multiply(self.real, other.imaginary, other.columns)
        back = multiply(self.imaginary, other.real, other.columns)
        return Matrix(
            other.columns,
            _each(operator.sub, real, opposite),
            _each(operator.add, crossed, back),
        )

    def __sub__(self, other: "Matrix") -> "Matrix":
        real = _each(operator.sub, self.real, other.real)
        if self.imaginary is None or other.imaginary is None:
            return Matrix(self.columns, real)
        imaginary = _each(operator.sub, self.imaginary, other.imaginary)
        return Matrix(self.columns, real, imaginary)

    def part(self, *, rows: int | None = None, columns: int | None = None) -> "Matrix":
        """Take the first rows and columns."""
        left = [
            None if each is None else tuple(row[:columns] for row in each[:rows])
            for each in (self.real, self.imaginary)
        ]
        return Matrix(self.columns if columns is None else columns, left[0] or (), left[1])

    def scaled(self, factor: int) -> "Matrix":
        """Multiply every element by a whole number."""
        imaginary = None if self.imaginary is None else _times(factor, self.imaginary)
        return Matrix(self.columns, _times(factor, self.real), imaginary)

    def packed(self, code: str) -> bytes:
        """Give the elements as an array of this type code lies in memory, row by row."""
        if self.imaginary is None:
            return array(code, chain.from_iterable(self.real)).tobytes()
        pairs = zip(
            chain.from_iterable(self.real), chain.from_iterable(self.imaginary), strict=True
        )
        return array(code, chain.from_iterable(pairs)).tobytes()

    def values(self, divisor: int = 1) -> list[list[complex]]:
        """Give the elements, divided by a power of two, as Python compares them to results."""
        if self.imaginary is None:
            return [[_part(value, divisor) for value in row] for row in self.real]
        return [
            [complex(_part(real, divisor), _part(imaginary, divisor)) for real, imaginary in pairs]
            for pairs in map(zip, self.real, self.imaginary)
        ]


def _part(value: int, divisor: int) -> float:
    return value if divisor == 1 else value / divisor


def _flip(rows: Rows, columns: int) -> Rows:
    return tuple(zip(*rows, strict=True)) if rows else ((),) * columns


def _each(combine: Callable[[int, int], int], left: Rows, right: Rows) -> Rows:
    return tuple(tuple(map(combine, *pair)) for pair in zip(left, right, strict=True))


def _times(factor: int, rows: Rows) -> Rows:
    return tuple(tuple(map(factor.__mul__, row)) for row in rows)


def whole(rows: int, columns: int, seed: int, *, gaussian: bool = False) -> Matrix:
    """Make a matrix of small whole numbers."""
    real = _rows(whole_numbers(rows * columns, seed), rows, columns)
    if not gaussian:
        return Matrix(columns, real)
    return Matrix(columns, real, _rows(whole_numbers(rows * columns, seed + 1), rows, columns))


def _rows(values: Sequence[int], rows: int, columns: int) -> Rows:
    return tuple(tuple(values[at * columns : (at + 1) * columns]) for at in range(rows))


def triangle(size: int, diagonal: Sequence[int], seed: int, *, gaussian: bool = False) -> Matrix:
    """Make a lower triangular matrix: this diagonal, and -1, 0 or 1 below it."""

    def part(number: int, *, with_diagonal: bool) -> Rows:
        values = _rows(whole_numbers(size * size, number, 1), size, size)
        edge = diagonal if with_diagonal else (0,) * size
        return tuple((*values[at][:at], edge[at], *(0,) * (size - at - 1)) for at in range(size))

    real = part(seed, with_diagonal=True)
    return Matrix(size, real, part(seed + 1, with_diagonal=False) if gaussian else None)


def fixed(values: Iterable[Iterable[complex]], columns: int, *, gaussian: bool) -> Matrix:
    """Turn floats into whole numbers of 2**-FRACTION; raise `ArithmeticError` for inf and nan."""
    rows = [[complex(value) for value in row] for row in values]
    real = tuple(tuple(_fixed(value.real) for value in row) for row in rows)
    if not gaussian:
        return Matrix(columns, real)
    return Matrix(columns, real, tuple(tuple(_fixed(value.imag) for value in row) for row in rows))


def _fixed(value: float) -> int:
    if not math.isfinite(value):
        raise ArithmeticError(f"the result holds {value}")
    return int(math.ldexp(value, FRACTION))


def multiply(left: Rows, right: Rows, columns: int) -> Rows:
    """Multiply exactly: rows of `right` are packed into one long integer each.

    Python's integers then do a whole row at once, which under emulation is what makes it bearable.
    """
    bits = _bits(left) + _bits(right) + len(right).bit_length() + 1
    width = max(8, bits // 8 + 1)
    ones = int.from_bytes((b"\1" + b"\0" * (width - 1)) * columns, "little")
    offset = 1 << (8 * width - 1)
    packed = [_pack(row, width, offset) - offset * ones for row in right]
    return tuple(
        _unpack(
            sum(map(int.__mul__, row, packed)) + offset * ones,
            columns,
            width,
        )
        for row in left
    )


def _bits(rows: Rows) -> int:
    return max((max(map(abs, row)).bit_length() for row in rows if row), default=0)


def _pack(row: Sequence[int], width: int, offset: int) -> int:
    if width == array("Q").itemsize:
        return int.from_bytes(array("Q", [value + offset for value in row]).tobytes(), "little")
    digits = b"".join((value + offset).to_bytes(width, "little") for value in row)
    return int.from_bytes(digits, "little")


def _unpack(packed: int, columns: int, width: int) -> tuple[int, ...]:
    digits = packed.to_bytes(columns * width, "little")
    offset = 1 << (8 * width - 1)
    if width == array("Q").itemsize:
        return tuple(value - offset for value in array("Q", digits))
    return tuple(
        int.from_bytes(digits[at : at + width], "little") - offset
        for at in range(0, columns * width, width)
    )
