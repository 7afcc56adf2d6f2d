"""Sparse matrices of SciPy: products in every format, direct and iterative solvers, graphs."""

import math
from collections.abc import Iterator

import numpy as np
from scipy import sparse
from scipy.sparse import csgraph
from scipy.sparse import linalg as solvers

from .case import COMPLEX, REAL, Array, Comparison, Operation
from .exact import FRACTION, Matrix, whole, whole_numbers
from .residuals import DTYPES, array_of, dominant, factors, fixed_of, vanishing

FORMATS = ("csr", "csc", "coo", "bsr", "dia", "lil")
WHOLE = ("int32", "int64")


def _thinned(rows: int, columns: int, seed: int, *, gaussian: bool = False) -> Matrix:
    """Make a matrix of whole numbers of which about three in four are zero."""
    matrix = whole(rows, columns, seed, gaussian=gaussian)
    keep = whole_numbers(rows * columns, seed + 50, 3)
    kept = [
        None
        if part is None
        else tuple(
            tuple(value * (keep[at * columns + to] > 1) for to, value in enumerate(row))
            for at, row in enumerate(part)
        )
        for part in (matrix.real, matrix.imaginary)
    ]
    return Matrix(columns, kept[0] or (), kept[1])


def _products(dtype: str, size: int) -> Iterator[Comparison]:
    gaussian = dtype in COMPLEX
    left = _thinned(size, size + 2, 941, gaussian=gaussian)
    right = _thinned(size + 2, size + 1, 943, gaussian=gaussian)
    dense, other = _array(left, dtype), _array(right, dtype)
    product = (left @ right).values()
    line = [row[0] for row in product] if size else []
    for name in FORMATS:
        matrix = sparse.coo_array(dense).asformat(name)
        yield Comparison(f"{name} @ dense", (matrix @ other).tolist(), product)
        # A single row of `coo` gives a bare number (scipy 1.17).
        vector = np.ravel(matrix @ other[:, 0])
        yield Comparison(f"{name} @ vector", vector.tolist(), line)
        both = matrix @ sparse.csr_array(other)
        yield Comparison(f"{name} @ sparse", both.toarray().tolist(), product)
        yield Comparison(
            f"{name}, transposed", matrix.T.toarray().tolist(), left.transposed.values()
        )
    total = sparse.csr_array(dense) - sparse.csc_array(dense).multiply(2)
    yield Comparison("A - 2 A", total.toarray().tolist(), left.scaled(-1).values())


def _array(matrix: Matrix, dtype: str) -> Array:
    if dtype in WHOLE:
        return np.array(matrix.values(), dtype=dtype).reshape(matrix.shape)
    return array_of(matrix, dtype)


def _solvers(dtype: str, size: int) -> Iterator[Comparison]:
    """Solve by SuperLU, whose order of rows is its own, and put the result back."""
    if not size:
        return
    gaussian = dtype in COMPLEX
    matrix, solution = dominant(size, size, gaussian), whole(size, 3, 947, gaussian=gaussian)
    held, sides = sparse.csc_array(array_of(matrix, dtype)), array_of(matrix @ solution, dtype)
    exact = solution.scaled(1 << FRACTION)
    found = solvers.splu(held).solve(sides)
    yield from vanishing("splu", fixed_of(found, dtype) - exact, FRACTION, dtype, 8.0)
    column = solvers.spsolve(held, sides[:, 0]).reshape(size, 1)
    residual = fixed_of(column, dtype) - exact.part(columns=1)
    yield from vanishing("spsolve", residual, FRACTION, dtype, 8.0)
    lower, _ = factors(size, gaussian)
    given = array_of(lower @ solution, dtype)
    found = solvers.spsolve_triangular(sparse.csr_array(array_of(lower, dtype)), given)
    yield Comparison("spsolve_triangular", found.tolist(), solution.values())


def _iterations(dtype: str, size: int) -> Iterator[Comparison]:
    """Come as near as the solver is asked to, which is a share of the right side's norm."""
    if not size:
        return
    heavy = dominant(size, size, gaussian=False)
    even = heavy - heavy.transposed.scaled(-1)
    solution = whole(size, 1, 953)
    right = [float(row[0].real) for row in solution.values()]
    wanted = float(np.finfo(dtype).eps) * 64
    for name, given in (("cg", even), ("minres", even), ("gmres", heavy), ("bicgstab", heavy)):
        system = sparse.csr_array(array_of(given, dtype))
        sides = array_of(given @ solution, dtype)[:, 0]
        solver = getattr(solvers, name)
        found, _ = solver(system, sides, rtol=wanted, maxiter=20 * size)
        # The diagonal outweighs the rest: the error is hardly more than the residual's share.
        yield Comparison(name, found.tolist(), right, wanted * 32 * math.sqrt(size))


def _eigenvalues(dtype: str, size: int) -> Iterator[Comparison]:
    """Ask ARPACK for the ends of a chain's spectrum, which is known in closed form."""
    count = size + 6
    chain = sparse.diags_array([-1.0, 2.0, -1.0], offsets=[-1, 0, 1], shape=(count, count))
    angles = [math.pi * at / (count + 1) for at in (count - 2, count - 1, count)]
    right = [2 - 2 * math.cos(angle) for angle in angles]
    start = np.ones(count, dtype=dtype) + np.arange(count, dtype=dtype) / count
    found = solvers.eigsh(
        chain.tocsr().astype(dtype), k=3, which="LA", v0=start, return_eigenvectors=False
    )
    unit = float(np.finfo(dtype).eps) * 4 * count
    yield Comparison("eigsh", sorted(found.tolist()), right, unit)
    found = solvers.svds(chain.tocsr().astype(dtype), k=2, v0=start, return_singular_vectors=False)
    yield Comparison("svds", sorted(found.tolist()), right[1:], unit * 4)


def _graphs(_dtype: str, size: int) -> Iterator[Comparison]:
    if not size:
        return
    weights = [[abs(value.real) for value in row] for row in _thinned(size, size, 957).values()]
    held = sparse.csr_array(np.array(weights, dtype=float))
    right = _shortest(weights)
    for method in ("D", "FW"):
        found = csgraph.shortest_path(held, method=method).tolist()
        yield Comparison(f"shortest_path, {method}", found, right)
    count, marks = csgraph.connected_components(held, directed=False)
    parts = _parts(weights)
    yield Comparison("connected_components", int(count), len(set(parts)))
    first = [marks.tolist().index(mark) for mark in marks.tolist()]
    yield Comparison("components", first, parts)


def _shortest(weights: list[list[float]]) -> list[list[float]]:
    far = [[weight or math.inf for weight in row] for row in weights]
    for at in range(len(far)):
        far[at][at] = 0.0
    for middle in range(len(far)):
        for row in far:
            for to, way in enumerate(far[middle]):
                row[to] = min(row[to], row[middle] + way)
    return far


def _parts(weights: list[list[float]]) -> list[int]:
    """Name each node by the first one of its component."""
    names = list(range(len(weights)))
    for _ in weights:
        for at, row in enumerate(weights):
            for to, weight in enumerate(row):
                if weight:
                    names[at] = names[to] = min(names[at], names[to])
    return names


OPERATIONS = (
    Operation("products", (*WHOLE, *DTYPES), _products),
    Operation("solvers", DTYPES, _solvers),
    Operation("iterations", REAL, _iterations),
    Operation("eigenvalues", REAL, _eigenvalues),
    Operation("graphs", ("float64",), _graphs),
)
