"""Exact linear systems, and what is left over when a result is put back into its equation.

Where factors are whole numbers with powers of two on the diagonal, the result is exact; of the
others the residual is computed in exact arithmetic.
"""

from collections.abc import Iterator
from functools import cache

import numpy as np
from numpy.typing import NDArray

from .case import COMPLEX, REAL, Array, Comparison
from .exact import FRACTION, Matrix, fixed, triangle, whole

DTYPES = (*REAL, *COMPLEX)
CODES = {"float32": "f", "float64": "d", "complex64": "f", "complex128": "d"}
RIGHT_SIDES = 5


@cache
def factors(size: int, gaussian: bool) -> tuple[Matrix, Matrix]:  # noqa: FBT001 - part of the cache's key
    """Make whole factors of a matrix: a lower triangle, and an upper one of a diagonal of ones."""
    # The diagonal of `lower` is larger than what is below it, so that no row is exchanged.
    lower = triangle(size, (4,) * size, 31, gaussian=gaussian)
    signs = [(1, -1, 1, 1, -1)[at % 5] for at in range(size)]
    return lower, triangle(size, signs, 37, gaussian=gaussian).transposed


@cache
def system(size: int, gaussian: bool) -> tuple[Matrix, Matrix, Matrix]:  # noqa: FBT001 - part of the cache's key
    """Make a linear system: its matrix, its solutions and its right sides, all whole."""
    lower, upper = factors(size, gaussian)
    matrix, solution = lower @ upper, whole(size, RIGHT_SIDES, 41, gaussian=gaussian)
    return matrix, solution, matrix @ solution


@cache
def dominant(rows: int, columns: int, gaussian: bool) -> Matrix:  # noqa: FBT001 - part of the cache's key
    """Make a well-conditioned matrix: its diagonal outweighs the rest."""
    matrix = whole(rows, columns, 43, gaussian=gaussian)
    heavy = tuple(
        tuple(value + 20 * max(rows, columns) * (at == other) for other, value in enumerate(row))
        for at, row in enumerate(matrix.real)
    )
    return Matrix(columns, heavy, matrix.imaginary)


def array_of(matrix: Matrix, dtype: str, divisor: int = 1) -> Array:
    """Make an array of an exact matrix, divided by a power of two."""
    if divisor == 1:
        array: Array = np.frombuffer(matrix.packed(CODES[dtype]), dtype=dtype)
        return array.reshape(matrix.shape).copy()
    return np.array(matrix.values(divisor), dtype=dtype).reshape(matrix.shape)


def fixed_of(array: NDArray[np.inexact], dtype: str) -> Matrix:
    """Make an exact matrix of an array."""
    return fixed(array.tolist(), array.shape[-1], gaussian=dtype in COMPLEX)


def vanishing(
    variant: str, residual: Matrix, shift: int, dtype: str, scale: float
) -> Iterator[Comparison]:
    """Compare what should be zero, in units of the dtype's precision times the size."""
    found = residual.values(1 << shift)
    zeros = [[0.0] * residual.columns for _ in found]
    unit = float(np.finfo(dtype).eps) * max(1, *residual.shape) * max(1.0, scale)
    yield Comparison(variant, found, zeros, unit)


def identity_of(size: int, shift: int, *, gaussian: bool) -> Matrix:
    """Make the identity, in units of 2**-shift."""
    ones = tuple(tuple((at == other) << shift for other in range(size)) for at in range(size))
    return Matrix(size, ones, ((0,) * size,) * size if gaussian else None)


def scale_of(matrix: Matrix) -> float:
    """Give the greatest real part."""
    return float(max((abs(value) for row in matrix.real for value in row), default=1))


def orthogonal(variant: str, vectors: Matrix, dtype: str) -> Iterator[Comparison]:
    """Compare the products of columns with the identity."""
    product = vectors.transposed.conjugated @ vectors
    identity = identity_of(vectors.columns, 2 * FRACTION, gaussian=dtype in COMPLEX)
    yield from vanishing(variant, product - identity, 2 * FRACTION, dtype, 1.0)


def diagonal_of(values: Array, *, gaussian: bool) -> Matrix:
    """Make a diagonal matrix of values that were found."""
    plain = values.tolist()
    rows = [
        [value * (at == other) for other in range(len(plain))] for at, value in enumerate(plain)
    ]
    return fixed(rows, len(plain), gaussian=gaussian)
