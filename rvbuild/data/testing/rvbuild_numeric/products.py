"""Products of matrices and vectors: every way into BLAS that NumPy has, on whole numbers.

All sums stay below 2**24, so that every order of adding gives the same, exact result.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from itertools import product

import numpy as np

from .case import COMPLEX, REAL, Array, Comparison, Operation
from .exact import Matrix, whole

DTYPES = (*REAL, *COMPLEX)
WHOLE = ("int32", "int64")
CODES = {"float32": "f", "float64": "d", "complex64": "f", "complex128": "d"}
CODES |= {"int32": "i", "int64": "q"}
# Above this size not every layout meets every other one: emulated, that would take too long.
ALL_LAYOUTS = 40


@dataclass(frozen=True, slots=True)
class Exact:
    """What is right: how it lies in memory, and what makes nested lists of it."""

    packed: bytes
    values: Callable[[], list[list[complex]]]

    def against(self, variant: str, found: Array) -> Comparison:
        """Set a result beside it."""
        return Comparison(variant, found, self.values, packed=self.packed)


@dataclass(frozen=True, slots=True)
class Operands:
    """Two factors and their product."""

    left: Array
    right: Array
    expected: Exact


def _array(matrix: Matrix, dtype: str) -> Array:
    array: Array = np.frombuffer(matrix.packed(CODES[dtype]), dtype=dtype)
    return array.reshape(matrix.shape).copy()


def _spread(array: Array, *, reverse: bool = False) -> Array:
    """Lay an array out with gaps, which BLAS takes as strides or NumPy copies."""
    wide = np.full([2 * length + 1 for length in array.shape], 99, array.dtype)
    view: Array = wide[(slice(1, None, 2),) * array.ndim]
    if reverse:
        view = view[(slice(None, None, -1),) * array.ndim]
    view[...] = array
    return view


@cache
def _pair(size: int, gaussian: bool) -> tuple[Matrix, Matrix]:  # noqa: FBT001 - a key of the cache
    left = whole(size, size + 3, 11, gaussian=gaussian)
    return left, whole(size + 3, size + 2, 13, gaussian=gaussian)


@cache
def _product(size: int, gaussian: bool) -> Matrix:  # noqa: FBT001 - a key of the cache
    left, right = _pair(size, gaussian)
    return left @ right


@cache
def _square(size: int, gaussian: bool, which: str) -> Matrix:  # noqa: FBT001 - a key of the cache
    matrix, _ = _pair(size, gaussian)
    if which == "tall":
        return matrix.transposed @ matrix
    return matrix @ (matrix.transposed.conjugated if which == "conjugated" else matrix.transposed)


def _exact(matrix: Matrix, dtype: str) -> Exact:
    return Exact(matrix.packed(CODES[dtype]), matrix.values)


def _operands(dtype: str, size: int) -> Operands:
    gaussian = dtype in COMPLEX
    left, right = _pair(size, gaussian)
    expected = _exact(_product(size, gaussian), dtype)
    return Operands(_array(left, dtype), _array(right, dtype), expected)


def _layouts(array: Array) -> dict[str, Array]:
    return {
        "plain": array,
        "transposed": np.asfortranarray(array),
        "strided": _spread(array),
        "reversed": _spread(array, reverse=True),
    }


def _matmul(dtype: str, size: int) -> Iterator[Comparison]:
    operands = _operands(dtype, size)
    lefts, rights = _layouts(operands.left), _layouts(operands.right)
    for left, right in product(lefts, rights):
        if size <= ALL_LAYOUTS or left == right or "plain" in (left, right):
            found = lefts[left] @ rights[right]
            yield operands.expected.against(f"{left} @ {right}", found)
    # What lay there before must not matter: not even nan, which times zero is nan.
    out = np.full((size, size + 2), np.nan, dtype, order="F")
    np.matmul(operands.left, operands.right, out=out)
    yield operands.expected.against("into a transposed array", out)


def _blocks(dtype: str, size: int) -> Iterator[Comparison]:
    """Multiply parts of larger matrices: leading dimensions beyond the rows' own length."""
    operands = _operands(dtype, size)
    wide = np.full((size + 1, size + 8), 99, dtype)
    wide[:size, 1 : size + 4] = operands.left
    tall = np.full((size + 5, size + 6), 99, dtype, order="F")
    tall[1 : size + 4, 2 : size + 4] = operands.right
    out = np.full((size + 2, size + 7), 77, dtype)
    out[1 : size + 1, 2 : size + 4] = np.nan
    target = out[1 : size + 1, 2 : size + 4]
    np.matmul(wide[:size, 1 : size + 4], tall[1 : size + 4, 2 : size + 4], out=target)
    yield operands.expected.against("inside larger arrays", target)
    target[...] = 77
    yield Comparison("around the result", [bool((out == 77).all())], [True])  # noqa: PLR2004 - as above


def _stacks(dtype: str, size: int) -> Iterator[Comparison]:
    operands = _operands(dtype, size)
    right, product_ = operands.right, _product(size, dtype in COMPLEX)
    expected, opposite = (_exact(each, dtype) for each in (product_, product_.scaled(-1)))
    stack = np.stack([operands.left, -operands.left])
    found = stack @ right
    yield expected.against("broadcast", found[0])
    yield opposite.against("broadcast", found[1])
    found = stack @ np.stack([right, -right])
    yield expected.against("first of a stack", found[0])
    yield expected.against("last of a stack", found[1])


def _squares(dtype: str, size: int) -> Iterator[Comparison]:
    """Multiply by the own transpose, for which NumPy calls SYRK."""
    gaussian = dtype in COMPLEX
    array = _array(_pair(size, gaussian)[0], dtype)
    turned = np.asfortranarray(array)
    wide, tall = (_exact(_square(size, gaussian, which), dtype) for which in ("wide", "tall"))
    yield wide.against("A @ A.T", array @ array.T)
    yield tall.against("A.T @ A", array.T @ array)
    out = np.full((size, size), np.nan, dtype)
    yield wide.against("A @ A.T over nan", np.matmul(array, array.T, out=out))
    yield wide.against("transposed A @ A.T", turned @ turned.T)
    yield tall.against("transposed A.T @ A", turned.T @ turned)
    if gaussian:
        right = _exact(_square(size, gaussian, "conjugated"), dtype)
        yield right.against("A @ A.conj().T", array @ array.conj().T)


def _vectors(dtype: str, size: int) -> Iterator[Comparison]:
    operands = _operands(dtype, size)
    column, row = operands.right[:, 0].copy(), operands.left[:1].ravel().copy()
    expected = _product(size, dtype in COMPLEX)
    by_column = [value for row in expected.part(columns=1).values() for value in row]
    by_row = expected.part(rows=1).values()
    for name, matrix in _layouts(operands.left).items():
        yield Comparison(f"{name} matrix @ vector", matrix @ column, by_column)
    for name, vector in _layouts(column).items():
        yield Comparison(f"matrix @ {name} vector", operands.left @ vector, by_column)
    for name, matrix in _layouts(operands.right).items():
        if size:
            yield Comparison(f"vector @ {name} matrix", [(row @ matrix).tolist()], by_row)
    for name, vector in _layouts(row).items():
        if size:
            yield Comparison(
                f"{name} vector @ matrix", [(vector @ operands.right).tolist()], by_row
            )


def _dots(dtype: str, size: int) -> Iterator[Comparison]:
    gaussian, length = dtype in COMPLEX, size * 5
    one, other = (whole(1, length, seed, gaussian=gaussian) for seed in (17, 19))
    right = (one @ other.transposed).values()[0]
    conjugated = (one.conjugated @ other.transposed).values()[0]
    left_array, right_array = (_array(matrix, dtype).ravel() for matrix in (one, other))
    strided, backwards = _spread(left_array), _spread(right_array, reverse=True)
    yield Comparison("dot", [np.dot(left_array, right_array).tolist()], right)
    yield Comparison("dot, strided", [np.dot(strided, right_array).tolist()], right)
    yield Comparison("dot, reversed", [np.dot(strided, backwards).tolist()], right)
    yield Comparison("inner", [np.inner(left_array, backwards).tolist()], right)
    yield Comparison("vdot", [np.vdot(left_array, right_array).tolist()], conjugated)
    yield Comparison("vdot, strided", [np.vdot(strided, backwards).tolist()], conjugated)
    yield Comparison("einsum", [np.einsum("i,i->", strided, right_array).tolist()], right)


def _contractions(dtype: str, size: int) -> Iterator[Comparison]:
    operands = _operands(dtype, size)
    left, right, expected = operands.left, operands.right, operands.expected
    yield expected.against("einsum", np.einsum("ij,jk->ik", left, right, optimize=True))
    yield expected.against("tensordot", np.tensordot(left.T, right.T, axes=((0,), (1,))))
    yield expected.against("inner", np.inner(left, right.T))
    yield expected.against("dot", np.dot(left, right))


def _own_loops(dtype: str, size: int) -> Iterator[Comparison]:
    """Multiply in NumPy's own loops, which know nothing of BLAS."""
    operands = _operands(dtype, size)
    left, right, expected = operands.left, operands.right, operands.expected
    yield expected.against("einsum", np.einsum("ij,jk->ik", left, right, optimize=False))
    turned = left.T.copy()
    yield expected.against("transposed", np.einsum("ji,jk->ik", turned, right, optimize=False))
    if dtype in WHOLE:
        yield expected.against("matmul", left @ right)
        yield expected.against("strided matmul", _spread(left) @ _spread(right))


def _outer(dtype: str, size: int) -> Iterator[Comparison]:
    gaussian = dtype in COMPLEX
    column, row = whole(size, 1, 23, gaussian=gaussian), whole(1, size + 1, 29, gaussian=gaussian)
    right = _exact(column @ row, dtype)
    one, other = _array(column, dtype), _array(row, dtype)
    yield right.against("outer", np.outer(one, other))
    yield right.against("column @ row", one @ other)
    yield right.against("strided", _spread(one) @ _spread(other))


OPERATIONS = (
    Operation("matmul", DTYPES, _matmul),
    Operation("blocks", DTYPES, _blocks),
    Operation("stacks", DTYPES, _stacks),
    Operation("squares", DTYPES, _squares),
    Operation("vectors", DTYPES, _vectors),
    Operation("dots", DTYPES, _dots),
    Operation("contractions", DTYPES, _contractions),
    Operation("own_loops", (*DTYPES, *WHOLE), _own_loops),
    Operation("outer", DTYPES, _outer),
)
