"""Linear systems and decompositions, through LAPACK.

Where the factors are whole numbers with powers of two on the diagonal, the result is exact; of
the others the residual is computed in exact arithmetic.
"""

from collections.abc import Iterator
from functools import cache

import numpy as np
from numpy.typing import NDArray

from .case import COMPLEX, REAL, Array, Comparison, Operation
from .exact import FRACTION, Matrix, fixed, triangle, whole

DTYPES = (*REAL, *COMPLEX)
CODES = {"float32": "f", "float64": "d", "complex64": "f", "complex128": "d"}
RIGHT_SIDES = 5


@cache
def _factors(size: int, gaussian: bool) -> tuple[Matrix, Matrix]:  # noqa: FBT001 - part of the cache's key
    # The diagonal of `lower` is larger than what is below it, so that no row is exchanged.
    lower = triangle(size, (4,) * size, 31, gaussian=gaussian)
    signs = [(1, -1, 1, 1, -1)[at % 5] for at in range(size)]
    return lower, triangle(size, signs, 37, gaussian=gaussian).transposed


@cache
def _system(size: int, gaussian: bool) -> tuple[Matrix, Matrix, Matrix]:  # noqa: FBT001 - part of the cache's key
    lower, upper = _factors(size, gaussian)
    matrix, solution = lower @ upper, whole(size, RIGHT_SIDES, 41, gaussian=gaussian)
    return matrix, solution, matrix @ solution


@cache
def _dominant(rows: int, columns: int, gaussian: bool) -> Matrix:  # noqa: FBT001 - part of the cache's key
    """Make a well-conditioned matrix: its diagonal outweighs the rest."""
    matrix = whole(rows, columns, 43, gaussian=gaussian)
    heavy = tuple(
        tuple(value + 20 * max(rows, columns) * (at == other) for other, value in enumerate(row))
        for at, row in enumerate(matrix.real)
    )
    return Matrix(columns, heavy, matrix.imaginary)


def _array(matrix: Matrix, dtype: str, divisor: int = 1) -> Array:
    if divisor == 1:
        array: Array = np.frombuffer(matrix.packed(CODES[dtype]), dtype=dtype)
        return array.reshape(matrix.shape).copy()
    return np.array(matrix.values(divisor), dtype=dtype).reshape(matrix.shape)


def _fixed(array: NDArray[np.inexact], dtype: str) -> Matrix:
    return fixed(array.tolist(), array.shape[-1], gaussian=dtype in COMPLEX)


def _solve(dtype: str, size: int) -> Iterator[Comparison]:
    matrix, solution, sides = _system(size, dtype in COMPLEX)
    array, right = _array(matrix, dtype), _array(sides, dtype)
    expected = solution.values()
    yield Comparison("several sides", np.linalg.solve(array, right).tolist(), expected)
    turned = np.linalg.solve(np.asfortranarray(array), right)
    yield Comparison("transposed", turned.tolist(), expected)
    vector = np.linalg.solve(array, right[:, 0])
    yield Comparison("one side", vector.tolist(), [row[0] for row in expected])
    stack = np.linalg.solve(np.stack([array, array]), np.stack([right, -right]))
    opposite = [[-value for value in row] for row in expected]
    yield Comparison("stacks", stack.tolist(), [expected, opposite])


def _triangles(dtype: str, size: int) -> Iterator[Comparison]:
    gaussian = dtype in COMPLEX
    solution = _system(size, gaussian)[1]
    for name, matrix in zip(("lower", "upper"), _factors(size, gaussian), strict=True):
        array, sides = _array(matrix, dtype), _array(matrix @ solution, dtype)
        yield Comparison(name, np.linalg.solve(array, sides).tolist(), solution.values())


def _cholesky(dtype: str, size: int) -> Iterator[Comparison]:
    gaussian = dtype in COMPLEX
    diagonal = [(2, 1, 4, 1)[at % 4] for at in range(size)]
    lower = triangle(size, diagonal, 47, gaussian=gaussian)
    array = _array(lower @ lower.transposed.conjugated, dtype)
    yield Comparison("lower", np.linalg.cholesky(array).tolist(), lower.values())
    turned = np.linalg.cholesky(np.asfortranarray(array))
    yield Comparison("transposed", turned.tolist(), lower.values())


def _determinant(dtype: str, size: int) -> Iterator[Comparison]:
    lower, upper = _factors(size, dtype in COMPLEX)
    right = 1
    for at in range(size):
        right *= upper.real[at][at]
    # Every fourth part of the pivots is 1 or -1, at every size.
    array = _array(lower @ upper, dtype, divisor=4)
    yield Comparison("det", np.linalg.det(array).tolist(), right)
    sign, logarithm = np.linalg.slogdet(array)
    yield Comparison("slogdet", [sign.tolist(), logarithm.tolist()], [right, 0.0])


def _residual(
    variant: str, residual: Matrix, shift: int, dtype: str, scale: float
) -> Iterator[Comparison]:
    """Compare what should be zero, in units of the dtype's precision times the size."""
    found = residual.values(1 << shift)
    zeros = [[0.0] * residual.columns for _ in found]
    unit = float(np.finfo(dtype).eps) * max(1, *residual.shape) * max(1.0, scale)
    yield Comparison(variant, found, zeros, unit)


def _identity(size: int, shift: int, *, gaussian: bool) -> Matrix:
    ones = tuple(tuple((at == other) << shift for other in range(size)) for at in range(size))
    return Matrix(size, ones, ((0,) * size,) * size if gaussian else None)


def _scale(matrix: Matrix) -> float:
    return float(max((abs(value) for row in matrix.real for value in row), default=1))


def _orthogonal(variant: str, vectors: Matrix, dtype: str) -> Iterator[Comparison]:
    product = vectors.transposed.conjugated @ vectors
    identity = _identity(vectors.columns, 2 * FRACTION, gaussian=dtype in COMPLEX)
    yield from _residual(variant, product - identity, 2 * FRACTION, dtype, 1.0)


def _inverse(dtype: str, size: int) -> Iterator[Comparison]:
    matrix = _dominant(size, size, dtype in COMPLEX)
    inverse = _fixed(np.linalg.inv(_array(matrix, dtype)), dtype)
    identity = _identity(size, FRACTION, gaussian=dtype in COMPLEX)
    yield from _residual("A @ inv(A)", matrix @ inverse - identity, FRACTION, dtype, 1.0)


def _qr(dtype: str, size: int) -> Iterator[Comparison]:
    matrix = whole(size + 2, size, 53, gaussian=dtype in COMPLEX)
    vectors, upper = (_fixed(each, dtype) for each in np.linalg.qr(_array(matrix, dtype)))
    residual = vectors @ upper - matrix.scaled(1 << 2 * FRACTION)
    yield from _residual("Q @ R", residual, 2 * FRACTION, dtype, _scale(matrix))
    yield from _orthogonal("Q* @ Q", vectors, dtype)


def _least_squares(dtype: str, size: int) -> Iterator[Comparison]:
    gaussian = dtype in COMPLEX
    matrix = _dominant(size + 4, size, gaussian)
    solution = whole(size, 2, 59, gaussian=gaussian)
    sides = _array(matrix @ solution, dtype)
    found = np.linalg.lstsq(_array(matrix, dtype), sides, rcond=None)[0]
    residual = _fixed(found, dtype) - solution.scaled(1 << FRACTION)
    yield from _residual("solution", residual, FRACTION, dtype, _scale(solution))


def _eigh(dtype: str, size: int) -> Iterator[Comparison]:
    gaussian = dtype in COMPLEX
    half = whole(size, size, 61, gaussian=gaussian)
    matrix = half - half.transposed.conjugated.scaled(-1)
    values, vectors = np.linalg.eigh(_array(matrix, dtype))
    fixed_vectors = _fixed(vectors, dtype)
    diagonal = _diagonal(values, gaussian=gaussian)
    residual = matrix.scaled(1 << FRACTION) @ fixed_vectors - fixed_vectors @ diagonal
    scale = max(map(abs, values.tolist()), default=1.0)
    yield from _residual("A @ V", residual, 2 * FRACTION, dtype, scale)
    yield from _orthogonal("V* @ V", fixed_vectors, dtype)


def _diagonal(values: Array, *, gaussian: bool) -> Matrix:
    plain = values.tolist()
    rows = [
        [value * (at == other) for other in range(len(plain))] for at, value in enumerate(plain)
    ]
    return fixed(rows, len(plain), gaussian=gaussian)


def _eig(dtype: str, size: int) -> Iterator[Comparison]:
    matrix = whole(size, size, 67, gaussian=True)
    if dtype not in COMPLEX:
        zeros = ((0,) * size,) * size
        matrix = Matrix(size, matrix.real, zeros)
        array = _array(Matrix(size, matrix.real), dtype)
    else:
        array = _array(matrix, dtype)
    values, vectors = np.linalg.eig(array)
    fixed_vectors = fixed(vectors.tolist(), size, gaussian=True)
    diagonal = _diagonal(values, gaussian=True)
    residual = matrix.scaled(1 << FRACTION) @ fixed_vectors - fixed_vectors @ diagonal
    scale = max(map(abs, values.tolist()), default=1.0)
    yield from _residual("A @ V", residual, 2 * FRACTION, dtype, scale)


def _svd(dtype: str, size: int) -> Iterator[Comparison]:
    gaussian = dtype in COMPLEX
    matrix = whole(size + 1, size, 71, gaussian=gaussian)
    left, values, right = np.linalg.svd(_array(matrix, dtype), full_matrices=False)
    vectors, others = _fixed(left, dtype), _fixed(right, dtype)
    product = vectors @ _diagonal(values, gaussian=gaussian) @ others
    residual = product - matrix.scaled(1 << 3 * FRACTION)
    scale = max(values.tolist(), default=1.0)
    yield from _residual("U @ S @ V", residual, 3 * FRACTION, dtype, scale)
    yield from _orthogonal("U* @ U", vectors, dtype)
    yield from _orthogonal("V @ V*", others.transposed, dtype)


OPERATIONS = (
    Operation("solve", DTYPES, _solve),
    Operation("triangles", DTYPES, _triangles),
    Operation("cholesky", DTYPES, _cholesky),
    Operation("determinant", DTYPES, _determinant),
    Operation("inverse", DTYPES, _inverse),
    Operation("qr", DTYPES, _qr),
    Operation("least_squares", DTYPES, _least_squares),
    Operation("eigh", DTYPES, _eigh),
    Operation("eig", DTYPES, _eig),
    Operation("svd", DTYPES, _svd),
)
