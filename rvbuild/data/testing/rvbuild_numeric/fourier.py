"""Fourier transforms of whole numbers against the plain sum.

Errors are counted in units of the dtype's precision times the size.
"""

import cmath
import math
from collections.abc import Iterator, Sequence
from functools import cache

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
def _transform(values: tuple[complex, ...]) -> tuple[complex, ...]:
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


def _values(dtype: str, size: int, seed: int = 501) -> tuple[complex, ...]:
    real = whole_numbers(size, seed)
    if dtype not in COMPLEX:
        return real
    return tuple(map(complex, real, whole_numbers(size, seed + 1)))


def _unit(dtype: str, size: int) -> float:
    # Numbers reach 8, and a transform's sums the square root of the size times that.
    return float(np.finfo(dtype).eps) * 8 * max(1, size)


def _lines(dtype: str, size: int) -> Iterator[Comparison]:
    if not size:
        return
    values = _values(dtype, size)
    right, unit = list(_transform(values)), _unit(dtype, size)
    array = as_array(values, dtype)
    yield Comparison("fft", np.fft.fft(array).tolist(), right, unit)
    yield Comparison("fft, strided", np.fft.fft(np.repeat(array, 2)[::2]).tolist(), right, unit)
    back = [value.conjugate() / size for value in _transform(tuple(_conjugated(values)))]
    yield Comparison("ifft", np.fft.ifft(array).tolist(), back, unit)
    padded = list(_transform((*values, 0, 0, 0)))
    yield Comparison("fft, padded", np.fft.fft(array, size + 3).tolist(), padded, unit)


def _conjugated(values: Sequence[complex]) -> list[complex]:
    return [value.conjugate() for value in values]


def _real(dtype: str, size: int) -> Iterator[Comparison]:
    if not size:
        return
    values = _values(dtype, size)
    right, unit = list(_transform(values)), _unit(dtype, size)
    half = right[: size // 2 + 1]
    yield Comparison("rfft", np.fft.rfft(as_array(values, dtype)).tolist(), half, unit)
    spectrum = as_array(half, "complex64" if dtype == "float32" else "complex128")
    yield Comparison("irfft", np.fft.irfft(spectrum, size).tolist(), list(values), unit)


def _tables(dtype: str, size: int) -> Iterator[Comparison]:
    if not size:
        return
    table = [_values(dtype, size, 511 + 2 * at) for at in range(ROWS)]
    by_row = [_transform(row) for row in table]
    columns = [_transform(column) for column in zip(*by_row, strict=True)]
    array = as_array(table, dtype)
    unit = _unit(dtype, size * ROWS)
    rows = list(map(list, by_row))
    yield Comparison("fft of rows", np.fft.fft(array, axis=1).tolist(), rows, unit)
    by_column = np.fft.fft(array.T.copy(), axis=0).T
    yield Comparison("fft of columns", by_column.tolist(), rows, unit)
    both = [list(row) for row in zip(*columns, strict=True)]
    yield Comparison("fft2", np.fft.fft2(array).tolist(), both, unit)


OPERATIONS = (
    Operation("lines", DTYPES, _lines),
    Operation("real", REAL, _real),
    Operation("tables", DTYPES, _tables),
)
