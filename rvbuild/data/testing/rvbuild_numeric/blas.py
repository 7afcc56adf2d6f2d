"""The routines of BLAS themselves, through SciPy's wrappers, on whole numbers: every bit counts."""

from collections.abc import Callable, Iterator
from functools import partial

import numpy as np
from scipy.linalg import blas, get_blas_funcs

from .case import COMPLEX, Array, Compare, Comparison, Operation
from .exact import Matrix, whole
from .residuals import DTYPES, array_of, factors

# Powers of two and whole numbers, so that scaling is exact too.
ALPHA, BETA = 2, -3
OTHER_SIDE = 6
# More than any element, and than both parts of a complex one.
HIGHEST = 40
# Sums of sizes and the place of the greatest, whose names follow no rule.
SIZES = {
    "float32": ("sasum", "isamax"),
    "float64": ("dasum", "idamax"),
    "complex64": ("scasum", "icamax"),
    "complex128": ("dzasum", "izamax"),
}

Blas = Callable[..., Array]


def _routine(name: str, dtype: str) -> Blas:
    found: Blas = get_blas_funcs(name, dtype=np.dtype(dtype))
    return found


def _scaled(product: Matrix, other: Matrix | None = None) -> list[list[complex]]:
    """Work out alpha times a product plus beta times another matrix."""
    total = product.scaled(ALPHA)
    return (total if other is None else total - other.scaled(-BETA)).values()


def _turned(matrix: Matrix, how: int) -> Matrix:
    if how == 0:
        return matrix
    return matrix.transposed if how == 1 else matrix.transposed.conjugated


def _general(dtype: str, size: int) -> Iterator[Comparison]:
    gaussian = dtype in COMPLEX
    left = whole(size, size + 3, 801, gaussian=gaussian)
    right = whole(size + 3, OTHER_SIDE, 803, gaussian=gaussian)
    added = whole(size, OTHER_SIDE, 805, gaussian=gaussian)
    gemm = _routine("gemm", dtype)
    expected = _scaled(left @ right, added)
    for one in (0, 1, 2):
        for other in (0, 1, 2):
            found = gemm(
                ALPHA,
                array_of(_turned(left, one), dtype),
                array_of(_turned(right, other), dtype),
                BETA,
                array_of(added, dtype),
                trans_a=one,
                trans_b=other,
            )
            yield Comparison(f"gemm, {one} and {other}", found.tolist(), expected)


def _vectors(dtype: str, size: int) -> Iterator[Comparison]:
    gaussian = dtype in COMPLEX
    matrix = whole(size, size + 3, 811, gaussian=gaussian)
    vector = whole(size + 3, 1, 813, gaussian=gaussian)
    added = whole(size, 1, 815, gaussian=gaussian)
    expected = [row[0] for row in _scaled(matrix @ vector, added)]
    gemv = _routine("gemv", dtype)
    for how in (0, 1, 2):
        array = array_of(_turned(matrix, how), dtype)
        operand, start = array_of(vector, dtype)[:, 0], array_of(added, dtype)[:, 0]
        found = gemv(ALPHA, array, operand, BETA, start, trans=how)
        yield Comparison(f"gemv, {how}", found.tolist(), expected)
        apart = gemv(ALPHA, array, np.repeat(operand, 3), BETA, start, trans=how, incx=3)
        yield Comparison(f"gemv, {how}, strided", apart.tolist(), expected)
    yield from _outer(dtype, added, vector)


def _outer(dtype: str, one: Matrix, other: Matrix) -> Iterator[Comparison]:
    left, right = array_of(one, dtype)[:, 0], array_of(other, dtype)[:, 0]
    plain, turned = (one @ other.transposed), (one @ other.transposed.conjugated)
    names = ("geru", "gerc") if dtype in COMPLEX else ("ger",)
    for name, product in zip(names, (plain, turned), strict=False):
        found = _routine(name, dtype)(ALPHA, left, right)
        yield Comparison(name, found.tolist(), _scaled(product))


def _kept(matrix: Matrix, *, lower: bool) -> list[list[complex]]:
    """Leave one triangle of a matrix, as routines do that write no more."""
    return [
        [value if (other <= at if lower else other >= at) else 0 for other, value in enumerate(row)]
        for at, row in enumerate(matrix.values())
    ]


def _updates(dtype: str, size: int) -> Iterator[Comparison]:
    gaussian = dtype in COMPLEX
    matrix = whole(size, size + 2, 821, gaussian=gaussian)
    other = whole(size, size + 2, 823, gaussian=gaussian)
    kinds: tuple[tuple[str, Callable[[Matrix], Matrix]], ...] = (("sy", lambda each: each),)
    if gaussian:
        kinds += (("he", lambda each: each.conjugated),)
    for kind, conjugated in kinds:
        square = (matrix @ conjugated(matrix).transposed).scaled(ALPHA)
        crossed = (matrix @ conjugated(other).transposed).scaled(ALPHA)
        both = crossed - conjugated(crossed).transposed.scaled(-1)
        one, two = array_of(matrix, dtype), array_of(other, dtype)
        for lower in (False, True):
            found = _routine(f"{kind}rk", dtype)(ALPHA, one, lower=lower)
            yield Comparison(f"{kind}rk, {lower}", found.tolist(), _kept(square, lower=lower))
            found = _routine(f"{kind}r2k", dtype)(ALPHA, one, two, lower=lower)
            yield Comparison(f"{kind}r2k, {lower}", found.tolist(), _kept(both, lower=lower))


def _symmetric(dtype: str, size: int) -> Iterator[Comparison]:
    gaussian = dtype in COMPLEX
    half = whole(size, size, 831, gaussian=gaussian)
    operand = whole(size, OTHER_SIDE, 833, gaussian=gaussian)
    kinds = [("sy", half - half.transposed.scaled(-1))]
    if gaussian:
        kinds.append(("he", half - half.transposed.conjugated.scaled(-1)))
    for kind, matrix in kinds:
        for lower in (False, True):
            # The other triangle must not be looked at.
            array = np.array(_kept(matrix, lower=lower), dtype=dtype).reshape(size, size)
            right, column = array_of(operand, dtype), array_of(operand, dtype)[:, 0]
            expected = _scaled(matrix @ operand)
            found = _routine(f"{kind}mm", dtype)(ALPHA, array, right, lower=lower)
            yield Comparison(f"{kind}mm, {lower}", found.tolist(), expected)
            if not gaussian or kind == "he":
                vector = _routine(f"{kind}mv", dtype)(ALPHA, array, column, lower=lower)
                first = [row[0] for row in expected]
                yield Comparison(f"{kind}mv, {lower}", vector.tolist(), first)


def _triangles(dtype: str, size: int) -> Iterator[Comparison]:
    """Multiply and solve: what one does the other has to undo, without a rounding."""
    gaussian = dtype in COMPLEX
    for lower, triangle in zip((True, False), factors(size, gaussian), strict=True):
        for how in (0, 1, 2):
            factor = _turned(triangle, how)
            for side in (0, 1):
                shape = (size, OTHER_SIDE) if side == 0 else (OTHER_SIDE, size)
                operand = whole(*shape, 841, gaussian=gaussian)
                product = factor @ operand if side == 0 else operand @ factor
                words = {"side": side, "lower": lower, "trans_a": how}
                name = f"{'lower' if lower else 'upper'}, {how}, side {side}"
                array = array_of(triangle, dtype)
                found = _routine("trmm", dtype)(ALPHA, array, array_of(operand, dtype), **words)
                yield Comparison(f"trmm, {name}", found.tolist(), _scaled(product))
                found = _routine("trsm", dtype)(ALPHA, array, array_of(product, dtype), **words)
                yield Comparison(f"trsm, {name}", found.tolist(), _scaled(operand))
            yield from _columns(dtype, triangle, factor, lower=lower, how=how)


def _columns(
    dtype: str, triangle: Matrix, factor: Matrix, *, lower: bool, how: int
) -> Iterator[Comparison]:
    operand = whole(triangle.columns, 1, 851, gaussian=dtype in COMPLEX)
    product = factor @ operand
    array, words = array_of(triangle, dtype), {"lower": lower, "trans": how}
    for name, given, expected in (("trmv", operand, product), ("trsv", product, operand)):
        found = _routine(name, dtype)(array, array_of(given, dtype)[:, 0], **words)
        right = [row[0] for row in expected.values()]
        yield Comparison(f"{name}, {'lower' if lower else 'upper'}, {how}", found.tolist(), right)


def _lines(dtype: str, size: int) -> Iterator[Comparison]:
    gaussian = dtype in COMPLEX
    one, other = (whole(1, size, seed, gaussian=gaussian) for seed in (861, 863))
    left, right = array_of(one, dtype)[0], array_of(other, dtype)[0]
    names = ("dotu", "dotc") if gaussian else ("dot",)
    for name, each in zip(names, (one, one.conjugated), strict=False):
        ((expected,),) = (each @ other.transposed).values()
        yield Comparison(name, complex(_routine(name, dtype)(left, right)), complex(expected))
    found = _routine("axpy", dtype)(left, right.copy(), a=ALPHA)
    yield Comparison("axpy", found.tolist(), (one.scaled(ALPHA) - other.scaled(-1)).values()[0])
    found = _routine("scal", dtype)(ALPHA, left.copy())
    yield Comparison("scal", found.tolist(), one.scaled(ALPHA).values()[0])
    parts = [list(map(abs, one.real[0]))]
    parts += [list(map(abs, one.imaginary[0]))] if one.imaginary else []
    asum, amax = (getattr(blas, name) for name in SIZES[dtype])
    yield Comparison("asum", float(asum(left)), float(sum(map(sum, parts))))
    # Once and no more: of equal ones OpenBLAS's vector kernels may name a later one, see
    # docs/findings/openblas-iamax.
    for place in {0, size // 2, size - 1}:
        held = left.copy()
        held[place] = -HIGHEST
        yield Comparison(f"iamax, {place}", int(amax(held)), place)


def _some(compare: Compare, dtype: str, size: int) -> Iterator[Comparison]:
    # SciPy's wrappers refuse to hand nothing on.
    if size:
        yield from compare(dtype, size)


OPERATIONS = tuple(
    Operation(name, DTYPES, partial(_some, compare))
    for name, compare in (
        ("general", _general),
        ("vectors", _vectors),
        ("updates", _updates),
        ("symmetric", _symmetric),
        ("triangles", _triangles),
        ("lines", _lines),
    )
)
