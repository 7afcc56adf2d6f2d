"""Linear systems and decompositions of SciPy, by each of LAPACK's drivers that it offers."""

import math
from collections.abc import Iterator

import numpy as np
from scipy import linalg

from .case import COMPLEX, REAL, Array, Comparison, Operation
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

COMPLEX_OF = dict(zip(DTYPES, COMPLEX * 2, strict=True))


def _solve(dtype: str, size: int) -> Iterator[Comparison]:
    matrix, solution, sides = system(size, dtype in COMPLEX)
    array, right, expected = array_of(matrix, dtype), array_of(sides, dtype), solution.values()
    yield Comparison("solve", linalg.solve(array, right).tolist(), expected)
    found = linalg.solve(array.T.copy(), right, transposed=True) if dtype in REAL else None
    if found is not None:
        yield Comparison("solve, transposed", found.tolist(), expected)
    if size:
        held = linalg.lu_factor(array)
        yield Comparison("lu_solve", linalg.lu_solve(held, right).tolist(), expected)
        turned = array_of(matrix.transposed @ solution, dtype)
        found = linalg.lu_solve(held, turned, trans=1)
        yield Comparison("lu_solve, transposed", found.tolist(), expected)


def _triangles(dtype: str, size: int) -> Iterator[Comparison]:
    gaussian = dtype in COMPLEX
    solution = system(size, gaussian)[1]
    for lower, matrix in zip((True, False), factors(size, gaussian), strict=True):
        array = array_of(matrix, dtype)
        turns = (matrix, matrix.transposed, matrix.transposed.conjugated)
        for how, turned in enumerate(turns):
            sides = array_of(turned @ solution, dtype)
            found = linalg.solve_triangular(array, sides, trans=how, lower=lower)
            name = f"{'lower' if lower else 'upper'}, {how}"
            yield Comparison(name, found.tolist(), solution.values())


def _lu(dtype: str, size: int) -> Iterator[Comparison]:
    """Compare the factors themselves: the diagonal outweighs the rest, so that no row is moved."""
    lower, upper = factors(size, dtype in COMPLEX)
    permutation, left, right = linalg.lu(array_of(lower @ upper, dtype))
    ones = identity_of(size, 0, gaussian=False).values()
    yield Comparison("permutation", permutation.tolist(), ones)
    yield Comparison("lower", left.tolist(), lower.values(4))
    yield Comparison("upper", right.tolist(), upper.scaled(4).values())


def _cholesky(dtype: str, size: int) -> Iterator[Comparison]:
    gaussian = dtype in COMPLEX
    diagonal = [(2, 1, 4, 1)[at % 4] for at in range(size)]
    lower = triangle(size, diagonal, 47, gaussian=gaussian)
    matrix = lower @ lower.transposed.conjugated
    array = array_of(matrix, dtype)
    found = linalg.cholesky(array, lower=True)
    yield Comparison("lower", found.tolist(), lower.values())
    expected = lower.transposed.conjugated.values()
    yield Comparison("upper", linalg.cholesky(array).tolist(), expected)
    solution = whole(size, 5, 49, gaussian=gaussian)
    sides = array_of(matrix @ solution, dtype)
    for lower_one in (True, False):
        held = linalg.cho_factor(array, lower=lower_one)
        found = linalg.cho_solve(held, sides)
        yield Comparison(f"cho_solve, {lower_one}", found.tolist(), solution.values())


def _banded(dtype: str, size: int) -> Iterator[Comparison]:
    """Solve with a matrix of five diagonals whose factors are whole."""
    gaussian = dtype in COMPLEX
    lower, upper = (_band(each) for each in factors(size, gaussian))
    matrix = lower @ upper
    solution = whole(size, 3, 907, gaussian=gaussian)
    rows = matrix.values()
    places = [
        [rows[at - shift][at] if 0 <= at - shift < size else 0 for at in range(size)]
        for shift in (2, 1, 0, -1, -2)
    ]
    bands = np.array(places, dtype=dtype).reshape(5, size)
    sides = array_of(matrix @ solution, dtype)
    if size:
        found = linalg.solve_banded((2, 2), bands, sides)
        yield Comparison("solve_banded", found.tolist(), solution.values())


def _band(matrix: Matrix) -> Matrix:
    kept = [
        None
        if part is None
        else tuple(
            tuple(value * (abs(at - other) <= 2) for other, value in enumerate(row))  # noqa: PLR2004 - two beside the diagonal
            for at, row in enumerate(part)
        )
        for part in (matrix.real, matrix.imaginary)
    ]
    return Matrix(matrix.columns, kept[0] or (), kept[1])


def _inverse(dtype: str, size: int) -> Iterator[Comparison]:
    matrix = dominant(size, size, dtype in COMPLEX)
    inverse = fixed_of(linalg.inv(array_of(matrix, dtype)), dtype)
    identity = identity_of(size, FRACTION, gaussian=dtype in COMPLEX)
    yield from vanishing("A @ inv(A)", matrix @ inverse - identity, FRACTION, dtype, 1.0)


def _qr(dtype: str, size: int) -> Iterator[Comparison]:
    matrix = whole(size + 2, size, 53, gaussian=dtype in COMPLEX)
    array = array_of(matrix, dtype)
    yield from _held("qr", linalg.qr(array, mode="economic"), matrix, dtype)
    if size:
        vectors, upper, order = linalg.qr(array, mode="economic", pivoting=True)
        moved = array_of(matrix, dtype)[:, order]
        exact = fixed(moved.tolist(), size, gaussian=dtype in COMPLEX)
        residual = fixed_of(vectors, dtype) @ fixed_of(upper, dtype) - exact.scaled(1 << FRACTION)
        yield from vanishing("qr, pivoted", residual, 2 * FRACTION, dtype, scale_of(matrix))
        upper, vectors = linalg.rq(array.T, mode="economic")
        residual = fixed_of(upper, dtype) @ fixed_of(vectors, dtype)
        residual = residual - matrix.transposed.scaled(1 << 2 * FRACTION)
        yield from vanishing("rq", residual, 2 * FRACTION, dtype, scale_of(matrix))


def _held(
    name: str, found: tuple[Array, Array], matrix: Matrix, dtype: str
) -> Iterator[Comparison]:
    vectors, other = (fixed_of(each, dtype) for each in found)
    residual = vectors @ other - matrix.scaled(1 << 2 * FRACTION)
    yield from vanishing(name, residual, 2 * FRACTION, dtype, scale_of(matrix))
    yield from orthogonal(f"{name}: Q* @ Q", vectors, dtype)


def _least_squares(dtype: str, size: int) -> Iterator[Comparison]:
    gaussian = dtype in COMPLEX
    matrix = dominant(size + 4, size, gaussian)
    solution = whole(size, 2, 59, gaussian=gaussian)
    if not size:
        return
    array, sides = array_of(matrix, dtype), array_of(matrix @ solution, dtype)
    for driver in ("gelsd", "gelsy", "gelss"):
        found = linalg.lstsq(array, sides, lapack_driver=driver)[0]
        residual = fixed_of(found, dtype) - solution.scaled(1 << FRACTION)
        yield from vanishing(driver, residual, FRACTION, dtype, scale_of(solution))


def _eigh(dtype: str, size: int) -> Iterator[Comparison]:
    gaussian = dtype in COMPLEX
    half = whole(size, size, 61, gaussian=gaussian)
    matrix = half - half.transposed.conjugated.scaled(-1)
    for driver in ("ev", "evd", "evr", "evx"):
        values, vectors = linalg.eigh(array_of(matrix, dtype), driver=driver)
        columns = fixed_of(vectors, dtype)
        scaled = columns @ diagonal_of(values, gaussian=gaussian)
        residual = matrix.scaled(1 << FRACTION) @ columns - scaled
        scale = max(map(abs, values.tolist()), default=1.0)
        yield from vanishing(driver, residual, 2 * FRACTION, dtype, scale)
        yield from orthogonal(f"{driver}: V* @ V", columns, dtype)


def _eig(dtype: str, size: int) -> Iterator[Comparison]:
    """Put eigenvectors and the Schur form back; both are complex for a real matrix."""
    matrix = whole(size, size, 67, gaussian=True)
    if dtype not in COMPLEX:
        matrix = Matrix(size, matrix.real, ((0,) * size,) * size)
    array = array_of(matrix if dtype in COMPLEX else Matrix(size, matrix.real), dtype)
    values, vectors = linalg.eig(array)
    columns = fixed(vectors.tolist(), size, gaussian=True)
    residual = matrix.scaled(1 << FRACTION) @ columns - columns @ diagonal_of(values, gaussian=True)
    scale = max(map(abs, values.tolist()), default=1.0)
    yield from vanishing("eig", residual, 2 * FRACTION, dtype, scale)
    form, vectors = linalg.schur(array, output="complex")
    columns = fixed(vectors.tolist(), size, gaussian=True)
    scaled = columns @ fixed(form.tolist(), size, gaussian=True)
    residual = matrix.scaled(1 << FRACTION) @ columns - scaled
    yield from vanishing("schur", residual, 2 * FRACTION, dtype, scale)
    yield from orthogonal("schur: Q* @ Q", columns, COMPLEX_OF[dtype])


def _svd(dtype: str, size: int) -> Iterator[Comparison]:
    gaussian = dtype in COMPLEX
    matrix = whole(size + 1, size, 71, gaussian=gaussian)
    for driver in ("gesdd", "gesvd"):
        left, values, right = linalg.svd(
            array_of(matrix, dtype), full_matrices=False, lapack_driver=driver
        )
        vectors, others = fixed_of(left, dtype), fixed_of(right, dtype)
        product = vectors @ diagonal_of(values, gaussian=gaussian) @ others
        residual = product - matrix.scaled(1 << 3 * FRACTION)
        scale = max(values.tolist(), default=1.0)
        yield from vanishing(driver, residual, 3 * FRACTION, dtype, scale)
        yield from orthogonal(f"{driver}: U* @ U", vectors, dtype)
        yield from orthogonal(f"{driver}: V @ V*", others.transposed, dtype)


def _exponential(dtype: str, size: int) -> Iterator[Comparison]:
    """Raise e to a shift, whose powers end, and to turns, which are sines and cosines."""
    unit = float(np.finfo(dtype).eps) * max(1, size)
    shift = np.eye(size, k=1, dtype=dtype)
    right = [
        [1.0 / math.factorial(other - at) if other >= at else 0.0 for other in range(size)]
        for at in range(size)
    ]
    yield Comparison("shift", linalg.expm(shift).tolist(), right, unit)
    angles = [0.25 * (at % 9 + 1) for at in range(size)]
    turn = np.array([[[0, -angle], [angle, 0]] for angle in angles], dtype=dtype)
    expected = [
        [[math.cos(angle), -math.sin(angle)], [math.sin(angle), math.cos(angle)]]
        for angle in angles
    ]
    found = linalg.expm(turn.reshape(size, 2, 2)) if size else turn
    yield Comparison("turns", found.tolist(), expected, unit)


def _norms(dtype: str, size: int) -> Iterator[Comparison]:
    matrix = whole(size + 1, size + 2, 917, gaussian=dtype in COMPLEX)
    rows = matrix.values()
    unit = float(np.finfo(dtype).eps)
    array = array_of(matrix, dtype)
    square = math.fsum(abs(value) ** 2 for row in rows for value in row)
    norms = {
        "fro": math.sqrt(square),
        1: max(math.fsum(map(abs, column)) for column in zip(*rows, strict=True)),
        math.inf: max(math.fsum(map(abs, row)) for row in rows),
    }
    for order, right in norms.items():
        found = float(linalg.norm(array, order))
        yield Comparison(f"norm, {order}", found, right, unit, relative=True)
    line = math.sqrt(math.fsum(abs(value) ** 2 for value in rows[0]))
    yield Comparison("nrm2", float(linalg.norm(array[0])), line, unit, relative=True)


OPERATIONS = (
    Operation("solve", DTYPES, _solve),
    Operation("triangles", DTYPES, _triangles),
    Operation("lu", DTYPES, _lu),
    Operation("cholesky", DTYPES, _cholesky),
    Operation("banded", DTYPES, _banded),
    Operation("inverse", DTYPES, _inverse),
    Operation("qr", DTYPES, _qr),
    Operation("least_squares", DTYPES, _least_squares),
    Operation("eigh", DTYPES, _eigh),
    Operation("eig", DTYPES, _eig),
    Operation("svd", DTYPES, _svd),
    Operation("exponential", DTYPES, _exponential),
    Operation("norms", DTYPES, _norms),
)
