"""Linear systems and decompositions of NumPy, through LAPACK."""

from collections.abc import Iterator

import numpy as np

from .case import COMPLEX, Comparison, Operation
from .exact import FRACTION, Matrix, fixed, triangle, whole
from .residuals import (
    DTYPES,
    array_of,
    diagonal_of,
    dominant,
    factors,
    fixed_of,
    identity_of,
    orthogonal,
    scale_of,
    system,
    vanishing,
)


def _solve(dtype: str, size: int) -> Iterator[Comparison]:
    matrix, solution, sides = system(size, dtype in COMPLEX)
    array, right = array_of(matrix, dtype), array_of(sides, dtype)
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
    solution = system(size, gaussian)[1]
    for name, matrix in zip(("lower", "upper"), factors(size, gaussian), strict=True):
        array, sides = array_of(matrix, dtype), array_of(matrix @ solution, dtype)
        yield Comparison(name, np.linalg.solve(array, sides).tolist(), solution.values())


def _cholesky(dtype: str, size: int) -> Iterator[Comparison]:
    gaussian = dtype in COMPLEX
    diagonal = [(2, 1, 4, 1)[at % 4] for at in range(size)]
    lower = triangle(size, diagonal, 47, gaussian=gaussian)
    array = array_of(lower @ lower.transposed.conjugated, dtype)
    yield Comparison("lower", np.linalg.cholesky(array).tolist(), lower.values())
    turned = np.linalg.cholesky(np.asfortranarray(array))
    yield Comparison("transposed", turned.tolist(), lower.values())


def _determinant(dtype: str, size: int) -> Iterator[Comparison]:
    lower, upper = factors(size, dtype in COMPLEX)
    right = 1
    for at in range(size):
        right *= upper.real[at][at]
    # Every fourth part of the pivots is 1 or -1, at every size.
    array = array_of(lower @ upper, dtype, divisor=4)
    yield Comparison("det", np.linalg.det(array).tolist(), right)
    sign, logarithm = np.linalg.slogdet(array)
    yield Comparison("slogdet", [sign.tolist(), logarithm.tolist()], [right, 0.0])


def _inverse(dtype: str, size: int) -> Iterator[Comparison]:
    matrix = dominant(size, size, dtype in COMPLEX)
    inverse = fixed_of(np.linalg.inv(array_of(matrix, dtype)), dtype)
    identity = identity_of(size, FRACTION, gaussian=dtype in COMPLEX)
    yield from vanishing("A @ inv(A)", matrix @ inverse - identity, FRACTION, dtype, 1.0)


def _qr(dtype: str, size: int) -> Iterator[Comparison]:
    matrix = whole(size + 2, size, 53, gaussian=dtype in COMPLEX)
    vectors, upper = (fixed_of(each, dtype) for each in np.linalg.qr(array_of(matrix, dtype)))
    residual = vectors @ upper - matrix.scaled(1 << 2 * FRACTION)
    yield from vanishing("Q @ R", residual, 2 * FRACTION, dtype, scale_of(matrix))
    yield from orthogonal("Q* @ Q", vectors, dtype)


def _least_squares(dtype: str, size: int) -> Iterator[Comparison]:
    gaussian = dtype in COMPLEX
    matrix = dominant(size + 4, size, gaussian)
    solution = whole(size, 2, 59, gaussian=gaussian)
    sides = array_of(matrix @ solution, dtype)
    found = np.linalg.lstsq(array_of(matrix, dtype), sides, rcond=None)[0]
    residual = fixed_of(found, dtype) - solution.scaled(1 << FRACTION)
    yield from vanishing("solution", residual, FRACTION, dtype, scale_of(solution))


def _eigh(dtype: str, size: int) -> Iterator[Comparison]:
    gaussian = dtype in COMPLEX
    half = whole(size, size, 61, gaussian=gaussian)
    matrix = half - half.transposed.conjugated.scaled(-1)
    values, vectors = np.linalg.eigh(array_of(matrix, dtype))
    fixed_vectors = fixed_of(vectors, dtype)
    diagonal = diagonal_of(values, gaussian=gaussian)
    residual = matrix.scaled(1 << FRACTION) @ fixed_vectors - fixed_vectors @ diagonal
    scale = max(map(abs, values.tolist()), default=1.0)
    yield from vanishing("A @ V", residual, 2 * FRACTION, dtype, scale)
    yield from orthogonal("V* @ V", fixed_vectors, dtype)


def _eig(dtype: str, size: int) -> Iterator[Comparison]:
    matrix = whole(size, size, 67, gaussian=True)
    if dtype not in COMPLEX:
        zeros = ((0,) * size,) * size
        matrix = Matrix(size, matrix.real, zeros)
        array = array_of(Matrix(size, matrix.real), dtype)
    else:
        array = array_of(matrix, dtype)
    values, vectors = np.linalg.eig(array)
    fixed_vectors = fixed(vectors.tolist(), size, gaussian=True)
    diagonal = diagonal_of(values, gaussian=True)
    residual = matrix.scaled(1 << FRACTION) @ fixed_vectors - fixed_vectors @ diagonal
    scale = max(map(abs, values.tolist()), default=1.0)
    yield from vanishing("A @ V", residual, 2 * FRACTION, dtype, scale)


def _svd(dtype: str, size: int) -> Iterator[Comparison]:
    gaussian = dtype in COMPLEX
    matrix = whole(size + 1, size, 71, gaussian=gaussian)
    left, values, right = np.linalg.svd(array_of(matrix, dtype), full_matrices=False)
    vectors, others = fixed_of(left, dtype), fixed_of(right, dtype)
    product = vectors @ diagonal_of(values, gaussian=gaussian) @ others
    residual = product - matrix.scaled(1 << 3 * FRACTION)
    scale = max(values.tolist(), default=1.0)
    yield from vanishing("U @ S @ V", residual, 3 * FRACTION, dtype, scale)
    yield from orthogonal("U* @ U", vectors, dtype)
    yield from orthogonal("V @ V*", others.transposed, dtype)


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
