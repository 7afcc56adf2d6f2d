"""SciPy's Fourier, cosine and sine transforms of whole numbers against the plain sums."""

import math
from collections.abc import Callable, Iterator
from functools import partial

from scipy import fft

from .case import REAL, Comparison, Operation
from .fourier import operations, unit_of, values_of
from .values import as_array

Weight = Callable[[int, int], float]


def _turn(function: Callable[[float], float], numerator: int, denominator: int) -> float:
    """Take a share of half a turn, of which whole turns are left out while it is exact."""
    return function(math.pi * (numerator % (2 * denominator)) / denominator)


def _cosines(count: int) -> dict[int, Weight]:
    def first(k: int, n: int) -> float:
        return (2 if 0 < n < count - 1 else 1) * _turn(math.cos, k * n, count - 1)

    return {
        1: first,
        2: lambda k, n: 2 * _turn(math.cos, k * (2 * n + 1), 2 * count),
        3: lambda k, n: (2 if n else 1) * _turn(math.cos, (2 * k + 1) * n, 2 * count),
        4: lambda k, n: 2 * _turn(math.cos, (2 * k + 1) * (2 * n + 1), 4 * count),
    }


def _sines(count: int) -> dict[int, Weight]:
    def third(k: int, n: int) -> float:
        return (2 if n < count - 1 else 1) * _turn(math.sin, (2 * k + 1) * (n + 1), 2 * count)

    return {
        1: lambda k, n: 2 * _turn(math.sin, (k + 1) * (n + 1), count + 1),
        2: lambda k, n: 2 * _turn(math.sin, (k + 1) * (2 * n + 1), 2 * count),
        3: third,
        4: lambda k, n: 2 * _turn(math.sin, (2 * k + 1) * (2 * n + 1), 4 * count),
    }


def _sums(values: list[float], weight: Weight) -> list[float]:
    return [
        math.fsum(value * weight(step, at) for at, value in enumerate(values))
        for step in range(len(values))
    ]


def _parts(name: str, dtype: str, size: int) -> Iterator[Comparison]:
    """Try the four kinds, and that each is undone by its inverse."""
    forward, backward = getattr(fft, name), getattr(fft, f"i{name}")
    weights = (_cosines if name == "dct" else _sines)(size)
    for kind in (1, 2, 3, 4):
        if size > (name == "dct" and kind == 1):
            values = [float(value.real) for value in values_of(dtype, size)]
            array, unit = as_array(values, dtype), 2 * unit_of(dtype, size)
            right = _sums(values, weights[kind])
            yield Comparison(f"{name}, {kind}", forward(array, type=kind).tolist(), right, unit)
            found = backward(as_array(right, dtype), type=kind).tolist()
            yield Comparison(f"i{name}, {kind}", found, values, unit)


def _workers(dtype: str, size: int) -> Iterator[Comparison]:
    """Let two threads share the lines of a table, which changes no bit."""
    values = as_array([values_of(dtype, size, 521 + at) for at in range(8)], dtype)
    if size:
        alone = fft.fft(values, axis=1)
        yield Comparison("fft", fft.fft(values, axis=1, workers=2).tolist(), alone.tolist())


OPERATIONS = (
    *operations(fft),
    Operation("cosines", REAL, partial(_parts, "dct")),
    Operation("sines", REAL, partial(_parts, "dst")),
    Operation("workers", REAL, _workers),
)
