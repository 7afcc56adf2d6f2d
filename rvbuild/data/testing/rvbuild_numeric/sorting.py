"""Sorting, selecting and searching, where vector code has networks for some sizes and dtypes."""

import math
from bisect import bisect_left, bisect_right
from collections.abc import Iterator

import numpy as np

from .case import FLOATS, WHOLE, Array, Comparison, Operation
from .values import Plain, as_array, vector

DTYPES = (*WHOLE, *FLOATS)
SEED = 401


def _values(dtype: str, size: int) -> list[float]:
    """Make values with equal ones among them; whole ones have both limits."""
    return [value.real for value in vector(dtype, size, SEED)]


def _shapes(dtype: str, size: int) -> dict[str, list[float]]:
    values = _values(dtype, size)
    shapes = {
        "mixed": values,
        "rising": sorted(values),
        "falling": sorted(values, reverse=True),
        "two values": [values[at % 2] for at in range(size)] if size > 1 else values,
    }
    if dtype in FLOATS:
        special = (math.inf, -math.inf, math.nan)
        shapes["nan and inf"] = [
            special[at % 3] if at % 5 == 1 else value for at, value in enumerate(values)
        ]
    return shapes


def _key(value: float) -> tuple[bool, float]:
    # NumPy sorts nan behind everything.
    return (True, 0.0) if math.isnan(value) else (False, value)


def _sort(dtype: str, size: int) -> Iterator[Comparison]:
    for name, values in _shapes(dtype, size).items():
        right = sorted(values, key=_key)
        array = as_array(values, dtype)
        yield Comparison(name, np.sort(array).tolist(), right)
        yield Comparison(f"{name}, stable", np.sort(array, kind="stable").tolist(), right)
        yield Comparison(f"{name}, heap", np.sort(array, kind="heapsort").tolist(), right)
        strided = np.repeat(array, 2)[::2]
        strided.sort()
        yield Comparison(f"{name}, strided", strided.tolist(), right)
    table = as_array([_values(dtype, size)] * 2, dtype).reshape(2, size)
    yield Comparison(
        "columns", np.sort(table.T, axis=0).T.tolist(), [sorted(_values(dtype, size))] * 2
    )


def _argsort(dtype: str, size: int) -> Iterator[Comparison]:
    for name, values in _shapes(dtype, size).items():
        stable = sorted(range(size), key=lambda at, values=values: _key(values[at]))  # type: ignore[misc]
        array = as_array(values, dtype)
        yield Comparison(f"{name}, stable", np.argsort(array, kind="stable").tolist(), stable)
        order = np.argsort(array).tolist()
        # Equal values may come in any order, each once.
        yield Comparison(f"{name}, each once", sorted(order), list(range(size)))
        taken = [values[at] for at in order]
        yield Comparison(name, taken, sorted(values, key=_key))


def _partition(dtype: str, size: int) -> Iterator[Comparison]:
    values = _values(dtype, size)
    right = sorted(values)
    array = as_array(values, dtype)
    for at in sorted({0, size // 3, size // 2, size - 1} & set(range(size))):
        found = np.partition(array, at).tolist()
        yield from _parted(f"partition at {at}", found, right, at)
        order = np.argpartition(array, at).tolist()
        yield from _parted(f"argpartition at {at}", [values[each] for each in order], right, at)


def _parted(name: str, found: list[float], right: list[float], at: int) -> Iterator[Comparison]:
    parts = [*sorted(found[:at]), found[at], *sorted(found[at + 1 :])]
    yield Comparison(name, parts, right)


def _search(dtype: str, size: int) -> Iterator[Comparison]:
    ordered = sorted(_values(dtype, size))
    wanted = [value.real for value in vector(dtype, size + 3, SEED + 2)] + ordered
    array, needles = as_array(ordered, dtype), as_array(wanted, dtype)
    left = [bisect_left(ordered, value) for value in wanted]
    yield Comparison("left", np.searchsorted(array, needles).tolist(), left)
    right = [bisect_right(ordered, value) for value in wanted]
    yield Comparison("right", np.searchsorted(array, needles, "right").tolist(), right)


def _unique(dtype: str, size: int) -> Iterator[Comparison]:
    values = _values(dtype, size)
    array = as_array(values, dtype)
    yield Comparison("unique", np.unique(array).tolist(), sorted(set(values)))
    found = [part.tolist() for part in np.unique(array, return_index=True, return_counts=True)]
    distinct = sorted(set(values))
    places = [values.index(value) for value in distinct]
    counts = [values.count(value) for value in distinct]
    yield Comparison("places and counts", found, [distinct, places, counts])


def _select(dtype: str, size: int) -> Iterator[Comparison]:
    values = _values(dtype, size)
    array = as_array(values, dtype)
    mask = [value > values[0] for value in values]
    chosen = [value for value, wanted in zip(values, mask, strict=True) if wanted]
    places = [at for at, wanted in enumerate(mask) if wanted]
    flags = _flags(mask)
    yield Comparison("by mask", array[flags].tolist(), chosen)
    yield Comparison("nonzero", np.nonzero(flags)[0].tolist(), places)
    order = [(at * 7 + 3) % size for at in range(2 * size)]
    picked: list[Plain] = [values[at] for at in order]
    yield Comparison("take", np.take(array, np.array(order, dtype="int64")).tolist(), picked)
    if size:
        found = np.lexsort((array, array % as_array(2, dtype))).tolist()
        right = sorted(range(size), key=lambda at: (values[at] % 2, values[at]))
        yield Comparison("lexsort", found, right)


def _flags(mask: list[bool]) -> Array:
    return as_array(mask, "bool")


OPERATIONS = (
    Operation("sort", DTYPES, _sort),
    Operation("argsort", DTYPES, _argsort),
    Operation("partition", DTYPES, _partition),
    Operation("searchsorted", DTYPES, _search),
    Operation("unique", DTYPES, _unique),
    Operation("select", DTYPES, _select),
)
