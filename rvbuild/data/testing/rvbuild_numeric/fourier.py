"""Fourier transforms of whole numbers against the plain sum.

Errors are counted in units of the dtype's precision times the size.
"""

import cmath
import math
from collections.abc import Iterator, Sequence
from functools import cache, partial
from types import ModuleType

import numpy as np

from .case import COMPLEX, REAL, Comparison, Operation
from .exact import whole_numbers
from .values import as_array

DTYPES = (*REAL, *COMPLEX)
ROWS = 3


@cache
def _roots(size: int) -> tuple[complex, ...]:
    return tuple(cmath.exp(complex(0, -2 * math.pi * at / size)) for at in range(size))


@cache
def transform(values: tuple[complex, ...]) -> tuple[complex, ...]:
    """Transform by the plain sum."""
    size = len(values)
    roots = _roots(size)
    return tuple(
        _sum(values, [roots[at * step % size] for at in range(size)]) for step in range(size)
    )


def _sum(values: Sequence[complex], roots: Sequence[complex]) -> complex:
    products = [value * root for value, root in zip(values, roots, strict=True)]
    return complex(
        math.fsum(each.real for each in products), math.fsum(each.imag for each in products)
    )


def values_of(dtype: str, size: int, seed: int = 501) -> tuple[complex, ...]:
    """Make whole numbers to transform."""
    real = whole_numbers(size, seed)
    if dtype not in COMPLEX:
        return real
    return tuple(map(complex, real, whole_numbers(size, seed + 1)))


def unit_of(dtype: str, size: int) -> float:
    """Give the error that one unit of the tolerance allows."""
    # Numbers reach 8, and a transform's sums the square root of the size times that.
    return float(np.finfo(dtype).eps) * 8 * max(1, size)


def _lines(package: ModuleType, dtype: str, size: int) -> Iterator[Comparison]:
    if not size:
        return
    values = values_of(dtype, size)
    right, unit = list(transform(values)), unit_of(dtype, size)
    array = as_array(values, dtype)
    yield Comparison("fft", package.fft(array).tolist(), right, unit)
    yield Comparison("fft, strided", package.fft(np.repeat(array, 2)[::2]).tolist(), right, unit)
    back = [value.conjugate() / size for value in transform(tuple(_conjugated(values)))]
    yield Comparison("ifft", package.ifft(array).tolist(), back, unit)
    padded = list(transform((*values, 0, 0, 0)))
    yield Comparison("fft, padded", package.fft(array, size + 3).tolist(), padded, unit)


def _conjugated(values: Sequence[complex]) -> list[complex]:
    return [value.conjugate() for value in values]


def _real(package: ModuleType, dtype: str, size: int) -> Iterator[Comparison]:
    if not size:
        return
    values = values_of(dtype, size)
    right, unit = list(transform(values)), unit_of(dtype, size)
    half = right[: size // 2 + 1]
    yield Comparison("rfft", package.rfft(as_array(values, dtype)).tolist(), half, unit)
    spectrum = as_array(half, "complex64" if dtype == "float32" else "complex128")
    yield Comparison("irfft", package.irfft(spectrum, size).tolist(), list(values), unit)


def _tables(package: ModuleType, dtype: str, size: int) -> Iterator[Comparison]:
    if not size:
        return
    table = [values_of(dtype, size, 511 + 2 * at) for at in range(ROWS)]
    by_row = [transform(row) for row in table]
    columns = [transform(column) for column in zip(*by_row, strict=True)]
    array = as_array(table, dtype)
    unit = unit_of(dtype, size * ROWS)
    rows = list(map(list, by_row))
    yield Comparison("fft of rows", package.fft(array, axis=1).tolist(), rows, unit)
    by_column = package.fft(array.T.copy(), axis=0).T
    yield Comparison("fft of columns", by_column.tolist(), rows, unit)
    both = [list(row) for row in zip(*columns, strict=True)]
    yield Comparison("fft2", package.fft2(array).tolist(), both, unit)


def operations(package: ModuleType) -> tuple[Operation, ...]:
    """Make the operations on the functions that `numpy.fft` and `scipy.fft` share."""
    return (
        Operation("lines", DTYPES, partial(_lines, package)),
        Operation("real", REAL, partial(_real, package)),
        Operation("tables", DTYPES, partial(_tables, package)),
    )


OPERATIONS = operations(np.fft)
