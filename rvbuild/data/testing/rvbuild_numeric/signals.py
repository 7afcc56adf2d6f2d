"""Filters, convolutions and pictures of SciPy's `signal` and `ndimage` against plain loops."""

import math
from collections.abc import Iterator, Sequence

import numpy as np
from scipy import ndimage, signal

from .case import REAL, Comparison, Operation
from .exact import whole, whole_numbers
from .values import as_array

WHOLE = ("int32", "int64")
TAPS = 5


def _convolved(one: Sequence[float], other: Sequence[float]) -> list[float]:
    total = [0.0] * (len(one) + len(other) - 1)
    for at, value in enumerate(one):
        for to, weight in enumerate(other):
            total[at + to] += value * weight
    return total


def _convolutions(dtype: str, size: int) -> Iterator[Comparison]:
    if not size:
        return
    values, taps = whole_numbers(size, 981), whole_numbers(TAPS, 983)
    one, other = as_array(values, dtype), as_array(taps, dtype)
    right = _convolved(values, taps)
    yield Comparison("convolve", signal.convolve(one, other, method="direct").tolist(), right)
    turned = _convolved(values, taps[::-1])
    found = signal.correlate(one, other, method="direct")
    yield Comparison("correlate", found.tolist(), turned)
    table = whole(size, 3, 985).values()
    square = as_array([[value.real for value in row] for row in table], dtype)
    kernel = as_array([[1, -2], [3, 4]], dtype)
    found = signal.convolve2d(square, kernel).tolist()
    yield Comparison("convolve2d", found, _convolved_table(table))
    nearest = [values[0], values[0], *values, values[-1], values[-1]]
    reverse = taps[::-1]
    right = [
        sum(value * tap for value, tap in zip(nearest[at : at + TAPS], reverse, strict=True))
        for at in range(size)
    ]
    found = ndimage.convolve1d(one, other.astype(float), mode="nearest", output=np.float64)
    yield Comparison("convolve1d", found.tolist(), right)


def _convolved_table(table: list[list[complex]]) -> list[list[float]]:
    rows, columns = len(table) + 1, len(table[0]) + 1
    total = [[0.0] * columns for _ in range(rows)]
    for at, row in enumerate(table):
        for to, value in enumerate(row):
            for down, across, weight in ((0, 0, 1), (0, 1, -2), (1, 0, 3), (1, 1, 4)):
                total[at + down][to + across] += weight * value.real
    return total


def _fast(dtype: str, size: int) -> Iterator[Comparison]:
    if not size:
        return
    values, taps = whole_numbers(size, 987), whole_numbers(size, 989)
    right = _convolved(values, taps)
    unit = float(np.finfo(dtype).eps) * 64 * size
    one, other = as_array(values, dtype), as_array(taps, dtype)
    for name in ("fftconvolve", "oaconvolve"):
        yield Comparison(name, getattr(signal, name)(one, other).tolist(), right, unit)


def _filters(dtype: str, size: int) -> Iterator[Comparison]:
    """Follow a recurrence whose numbers are powers of two; its rounding is the only error."""
    values = [float(value) for value in whole_numbers(size, 991)]
    array, unit = as_array(values, dtype), float(np.finfo(dtype).eps) * 32
    right: list[float] = []
    for at, value in enumerate(values):
        before = values[at - 1] if at else 0.0
        right.append(value + 2 * before - (0.5 * right[-1] if right else 0.0))
    found = signal.lfilter([1.0, 2.0], [1.0, 0.5], array)
    yield Comparison("lfilter", np.asarray(found).tolist(), right, unit)
    sections = np.array([[1.0, 2.0, 0.0, 1.0, 0.5, 0.0]], dtype=dtype)
    if size:
        found = signal.sosfilt(sections, array)
        yield Comparison("sosfilt", found.tolist(), right, unit)
    if size > TAPS:
        line = [3.0 * at - 7 for at in range(size)]
        found = signal.savgol_filter(as_array(line, dtype), TAPS, 2)
        yield Comparison("savgol_filter", found.tolist(), line, unit * size)
        found = signal.detrend(as_array(line, dtype))
        yield Comparison("detrend", found.tolist(), [0.0] * size, unit * size)


def _orders(dtype: str, size: int) -> Iterator[Comparison]:
    if not size:
        return
    values = whole_numbers(size, 993)
    array = as_array(values, dtype)
    padded = [0, *values, 0]
    middle = [sorted(padded[at : at + 3])[1] for at in range(size)]
    yield Comparison("medfilt", signal.medfilt(array, 3).tolist(), middle)
    nearest = [values[0], *values, values[-1]]
    groups = [nearest[at : at + 3] for at in range(size)]
    for name, choose in (("minimum_filter", min), ("maximum_filter", max)):
        found = getattr(ndimage, name)(array, 3, mode="nearest")
        yield Comparison(name, found.tolist(), list(map(choose, groups)))
    peaks = [at for at in range(1, size - 1) if values[at - 1] < values[at] > values[at + 1]]
    found, _ = signal.find_peaks(array)
    # Level tops count as one peak in their middle: here only sharp ones are compared.
    sharp = [at for at in found.tolist() if values[at - 1] < values[at] > values[at + 1]]
    yield Comparison("find_peaks", sharp, peaks)


def _labels(_dtype: str, size: int) -> Iterator[Comparison]:
    table = [[int(value.real > 0) for value in row] for row in whole(size, size + 2, 995).values()]
    found, count = ndimage.label(np.array(table, dtype=np.int32).reshape(size, size + 2))
    right = _regions(table)
    yield Comparison("label", found.tolist(), right)
    yield Comparison("count", int(count), max((max(row) for row in right), default=0))


def _regions(table: list[list[int]]) -> list[list[int]]:
    marks = [[0] * len(row) for row in table]
    count = 0
    for at, row in enumerate(table):
        for to, value in enumerate(row):
            if value and not marks[at][to]:
                count += 1
                _flood(table, marks, (at, to), count)
    return marks


def _flood(
    table: list[list[int]], marks: list[list[int]], start: tuple[int, int], mark: int
) -> None:
    waiting = [start]
    while waiting:
        at, to = waiting.pop()
        inside = 0 <= at < len(table) and 0 <= to < len(table[0])
        if inside and table[at][to] and not marks[at][to]:
            marks[at][to] = mark
            waiting += [(at + 1, to), (at - 1, to), (at, to + 1), (at, to - 1)]


def _windows(dtype: str, size: int) -> Iterator[Comparison]:
    unit = float(np.finfo(dtype).eps)
    if size > 1:
        right = [0.5 - 0.5 * math.cos(2 * math.pi * at / (size - 1)) for at in range(size)]
        found = signal.windows.hann(size).astype(dtype)
        yield Comparison("hann", found.tolist(), right, unit)
    values = [float(value) for value in whole_numbers(size, 997)]
    weights = [math.exp(-at * at / 2) for at in range(-4, 5)]
    total = math.fsum(weights)
    ring = [
        math.fsum(
            values[(at + step - 4) % size] * weight / total for step, weight in enumerate(weights)
        )
        for at in range(size)
    ]
    if size:
        found = ndimage.gaussian_filter1d(as_array(values, dtype), 1.0, mode="wrap")
        yield Comparison("gaussian_filter1d", found.tolist(), ring, unit * 16)


OPERATIONS = (
    Operation("convolutions", (*WHOLE, *REAL), _convolutions),
    Operation("fast", REAL, _fast),
    Operation("filters", REAL, _filters),
    Operation("orders", REAL, _orders),
    Operation("labels", ("int32",), _labels),
    Operation("windows", REAL, _windows),
)
