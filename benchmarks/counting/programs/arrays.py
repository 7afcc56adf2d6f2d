"""Operations of NumPy. Runs on riscv64."""

import math

import numpy as np
from marks import measure

LENGTH = 10000
SIZES = (64, 128, 256)


def product(kind: str, size: int) -> None:
    """Count a matrix product; whole numbers are multiplied without a BLAS."""
    random = np.random.default_rng(1)
    whole = [random.integers(-4, 5, (size, size)) for _ in range(2)]
    a, b = (numbers.astype(kind) for numbers in whole)
    c = np.empty_like(a)
    measure(
        f"matmul {kind} {size}",
        lambda: np.matmul(a, b, out=c),
        lambda: np.array_equal(c, np.matmul(*whole)),
    )


def elementwise(kind: str) -> None:
    """Count add, exp and sort of a contiguous array."""
    random = np.random.default_rng(2)
    a, b = (random.uniform(-10, 10, LENGTH).astype(kind) for _ in range(2))
    c, near = np.empty_like(a), 4 * np.finfo(kind).eps
    measure(
        f"add {kind} {LENGTH}",
        lambda: np.add(a, b, out=c),
        lambda: (
            c.tolist() == [float(np.dtype(kind).type(x + y)) for x, y in zip(a, b, strict=True)]
        ),
    )
    measure(
        f"exp {kind} {LENGTH}",
        lambda: np.exp(a, out=c),
        lambda: all(
            math.isclose(got, math.exp(x), rel_tol=near)
            for got, x in zip(c.tolist(), a.tolist(), strict=True)
        ),
    )
    measure(
        f"sort {kind} {LENGTH}",
        c.sort,
        lambda: c.tolist() == sorted(a.tolist()),
        before=lambda: np.copyto(c, a),
    )


def main() -> None:
    """Count every operation."""
    for kind in ("float64", "float32"):
        for size in SIZES:
            product(kind, size)
        elementwise(kind)


if __name__ == "__main__":
    main()
