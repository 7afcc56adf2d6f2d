"""Products of matrices and vectors: every way into BLAS that NumPy has, on whole numbers.

All sums stay below 2**24, so that every order of adding gives the same, exact result.
"""

from collections.abc import Iterator
from functools import cache

import numpy as np

from .case import COMPLEX, REAL, Array, Comparison, Operation
from .exact import Matrix, whole

DTYPES = (*REAL, *COMPLEX, "int32", "int64")


def _array(matrix: Matrix, dtype: str) -> Array:
    return np.array(matrix.values(), dtype=dtype).reshape(matrix.shape)


def _spread(array: Array, *, reverse: bool = False) -> Array:
    """Lay an array out with gaps, which BLAS takes as strides or NumPy copies."""
    wide = np.full([2 * length + 1 for length in array.shape], 99, array.dtype)
    view: Array = wide[(slice(1, None, 2),) * array.ndim]
    if reverse:
        view = view[(slice(None, None, -1),) * array.ndim]
    view[...] = array
    return view


@cache
def _pair(size: int, gaussian: bool) -> tuple[Matrix, Matrix]:  # noqa: FBT001 - part of the cache's key
    left = whole(size, size + 3, 11, gaussian=gaussian)
    return left, whole(size + 3, size + 2, 13, gaussian=gaussian)


@cache
def _product(size: int, gaussian: bool) -> Matrix:  # noqa: FBT001 - part of the cache's key
    left, right = _pair(size, gaussian)
    return left @ right


@cache
def _gram(size: int, gaussian: bool, which: str) -> Matrix:  # noqa: FBT001 - part of the cache's key
    matrix, _ = _pair(size, gaussian)
    if which == "tall":
        return matrix.transposed @ matrix
    return matrix @ (matrix.transposed.conjugated if which == "conjugated" else matrix.transposed)


def _operands(dtype: str, size: int) -> tuple[Array, Array, list[list[complex]]]:
    gaussian = dtype in COMPLEX
    left, right = _pair(size, gaussian)
    return _array(left, dtype), _array(right, dtype), _product(size, gaussian).values()


def _matmul(dtype: str, size: int) -> Iterator[Comparison]:
    left, right, expected = _operands(dtype, size)
    lefts = {"": left, "left transposed": np.asfortranarray(left), "left strided": _spread(left)}
    rights = {"": right, "right transposed": np.asfortranarray(right)}
    rights |= {"right strided": _spread(right), "right reversed": _spread(right, reverse=True)}
    for left_name, one in lefts.items():
        for right_name, other in rights.items():
            name = ", ".join(part for part in (left_name, right_name) if part)
            yield Comparison(name or "plain", (one @ other).tolist(), expected)
    out = np.full((size, size + 2), 77, dtype, order="F")
    np.matmul(left, right, out=out)
    yield Comparison("into a transposed array", out.tolist(), expected)


def _blocks(dtype: str, size: int) -> Iterator[Comparison]:
    """Multiply parts of larger matrices: leading dimensions beyond the rows' own length."""
    left, right, expected = _operands(dtype, size)
    wide = np.full((size + 1, size + 8), 99, dtype)
    wide[:size, 1 : size + 4] = left
    tall = np.full((size + 5, size + 6), 99, dtype, order="F")
    tall[1 : size + 4, 2 : size + 4] = right
    out = np.full((size + 2, size + 7), 77, dtype)
    target = out[1 : size + 1, 2 : size + 4]
    np.matmul(wide[:size, 1 : size + 4], tall[1 : size + 4, 2 : size + 4], out=target)
    yield Comparison("inside larger arrays", target.tolist(), expected)
    target[...] = 77
    untouched = bool((out == 77).all())
    yield Comparison("around the result", untouched, right=True)


def _stacks(dtype: str, size: int) -> Iterator[Comparison]:
    left, right, expected = _operands(dtype, size)
    opposite = [[-value for value in row] for row in expected]
    stack = np.stack([left, -left, left])
    yield Comparison("broadcast", (stack @ right).tolist(), [expected, opposite, expected])
    both = np.stack([right, right, -right])
    yield Comparison("stacks", (stack @ both).tolist(), [expected, opposite, opposite])


def _squares(dtype: str, size: int) -> Iterator[Comparison]:
    """Multiply by the own transpose, for which NumPy calls SYRK."""
    gaussian = dtype in COMPLEX
    array = _array(_pair(size, gaussian)[0], dtype)
    wide, tall = (_gram(size, gaussian, which).values() for which in ("wide", "tall"))
    yield Comparison("A @ A.T", (array @ array.T).tolist(), wide)
    yield Comparison("A.T @ A", (array.T @ array).tolist(), tall)
    turned = np.asfortranarray(array)
    yield Comparison("transposed A @ A.T", (turned @ turned.T).tolist(), wide)
    yield Comparison("dot(A, A.T)", np.dot(array, array.T).tolist(), wide)
    if gaussian:
        right = _gram(size, gaussian, "conjugated").values()
        yield Comparison("A @ A.conj().T", (array @ array.conj().T).tolist(), right)


def _vectors(dtype: str, size: int) -> Iterator[Comparison]:
    left, right, expected = _operands(dtype, size)
    column, row = right[:, 0].copy(), left[:1].ravel().copy()
    if size:
        by_row = expected[0]
        matrices = {"": right, "transposed ": np.asfortranarray(right), "strided ": _spread(right)}
        for name, matrix in matrices.items():
            yield Comparison(f"vector @ {name}matrix", (row @ matrix).tolist(), by_row)
        yield Comparison("strided vector @ matrix", (_spread(row) @ right).tolist(), by_row)
    by_column = [each[0] for each in expected]
    matrices = {"": left, "transposed ": np.asfortranarray(left), "strided ": _spread(left)}
    for name, matrix in matrices.items():
        yield Comparison(f"{name}matrix @ vector", (matrix @ column).tolist(), by_column)
    yield Comparison("matrix @ strided vector", (left @ right[:, 0]).tolist(), by_column)
    reversed_ = _spread(column, reverse=True)
    yield Comparison("matrix @ reversed vector", (left @ reversed_).tolist(), by_column)


def _dots(dtype: str, size: int) -> Iterator[Comparison]:
    gaussian, length = dtype in COMPLEX, size * 5
    one, other = (whole(1, length, seed, gaussian=gaussian) for seed in (17, 19))
    (right,) = (one @ other.transposed).values()
    (conjugated,) = (one.conjugated @ other.transposed).values()
    left_array, right_array = (_array(matrix, dtype).ravel() for matrix in (one, other))
    strided, backwards = _spread(left_array), _spread(right_array, reverse=True)
    found = np.dot(left_array, right_array)
    yield Comparison("dot", [found.tolist()], right)
    yield Comparison("dot, strided", [np.dot(strided, right_array).tolist()], right)
    yield Comparison("dot, reversed", [np.dot(strided, backwards).tolist()], right)
    yield Comparison("inner", [np.inner(left_array, backwards).tolist()], right)
    yield Comparison("vdot", [np.vdot(left_array, right_array).tolist()], conjugated)
    yield Comparison("vdot, strided", [np.vdot(strided, backwards).tolist()], conjugated)
    product = np.einsum("i,i->", strided, right_array)
    yield Comparison("einsum", [product.tolist()], right)


def _contractions(dtype: str, size: int) -> Iterator[Comparison]:
    left, right, expected = _operands(dtype, size)
    by_blas = np.einsum("ij,jk->ik", left, right, optimize=True)
    yield Comparison("einsum, optimised", by_blas.tolist(), expected)
    yield Comparison("tensordot", np.tensordot(left, right, axes=1).tolist(), expected)
    turned = np.tensordot(left.T, right.T, axes=((0,), (1,)))
    yield Comparison("tensordot, transposed", turned.tolist(), expected)
    yield Comparison("inner", np.inner(left, right.T).tolist(), expected)
    yield Comparison("dot", np.dot(left, right).tolist(), expected)


def _own_loops(dtype: str, size: int) -> Iterator[Comparison]:
    """Multiply in NumPy's own loops, which know nothing of BLAS."""
    left, right, expected = _operands(dtype, size)
    found = np.einsum("ij,jk->ik", left, right, optimize=False)
    yield Comparison("einsum", found.tolist(), expected)
    transposed = np.einsum("ji,jk->ik", left.T.copy(), right, optimize=False)
    yield Comparison("einsum, transposed", transposed.tolist(), expected)


def _outer(dtype: str, size: int) -> Iterator[Comparison]:
    gaussian = dtype in COMPLEX
    column, row = whole(size, 1, 23, gaussian=gaussian), whole(1, size + 1, 29, gaussian=gaussian)
    right = (column @ row).values()
    one, other = _array(column, dtype), _array(row, dtype)
    yield Comparison("outer", np.outer(one, other).tolist(), right)
    yield Comparison("column @ row", (one @ other).tolist(), right)
    yield Comparison("strided", (_spread(one) @ _spread(other)).tolist(), right)


OPERATIONS = (
    Operation("matmul", DTYPES, _matmul),
    Operation("blocks", DTYPES, _blocks),
    Operation("stacks", DTYPES, _stacks),
    Operation("squares", DTYPES, _squares),
    Operation("vectors", DTYPES, _vectors),
    Operation("dots", DTYPES, _dots),
    Operation("contractions", DTYPES, _contractions),
    Operation("own_loops", DTYPES, _own_loops),
    Operation("outer", DTYPES, _outer),
)
