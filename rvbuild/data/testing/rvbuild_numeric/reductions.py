"""Reductions and running sums along axes, on values whose sums are exact in every order."""

import math
from collections.abc import Callable, Iterator, Sequence
from itertools import accumulate

import numpy as np

from .case import COMPLEX, FLOATS, REAL, SIGNED, UNSIGNED, WHOLE, Array, Comparison, Operation
from .exact import whole_numbers
from .values import as_array, settle

ORDERED = ("bool", *WHOLE, *FLOATS)
ROWS = 3


def _table(dtype: str, size: int, seed: int = 301) -> list[list[complex]]:
    """Make three rows of small values; sums stay exact, of float16 too up to a size of 250."""
    numbers = whole_numbers(ROWS * size, seed, 4)
    values: list[complex] = [*numbers]
    if dtype == "bool":
        values = [number > 0 for number in numbers]
    elif dtype in UNSIGNED:
        values = [abs(number) for number in numbers]
    elif dtype in COMPLEX:
        values = [complex(number, -number % 3) for number in numbers]
    elif dtype in FLOATS:
        values = [float(number) for number in numbers]
    return [values[at * size : (at + 1) * size] for at in range(ROWS)]


def _views(table: list[list[complex]], dtype: str, size: int) -> dict[str, Array]:
    array = as_array(table, dtype).reshape(ROWS, size)
    return {
        "": array,
        "transposed ": np.asfortranarray(array),
        "strided ": np.repeat(array, 2, axis=1)[:, ::2],
        "reversed ": array[:, ::-1][:, ::-1],
    }


def _reduced(
    name: str, reference: Callable[[Sequence[complex]], object], dtype: str, size: int
) -> Iterator[Comparison]:
    table = _table(dtype, size)
    call = getattr(np, name)
    flat = [value for row in table for value in row]
    columns = [list(column) for column in zip(*table, strict=True)]
    for view, array in _views(table, dtype, size).items():
        yield Comparison(f"{view}rows", call(array, axis=1).tolist(), list(map(reference, table)))
        by_column = list(map(reference, columns))
        yield Comparison(f"{view}columns", call(array, axis=0).tolist(), by_column)
        yield Comparison(f"{view}all", [np.asarray(call(array)).tolist()], [reference(flat)])
    if size > 1:
        shifted = np.asarray(call(as_array(table[0], dtype)[1:])).tolist()
        yield Comparison("shifted", [shifted], [reference(table[0][1:])])


def _sums(dtype: str, size: int) -> Iterator[Comparison]:
    yield from _reduced("sum", sum, dtype, size)


def _counts(dtype: str, size: int) -> Iterator[Comparison]:
    def nonzero(values: Sequence[complex]) -> int:
        return sum(value != 0 for value in values)

    yield from _reduced("count_nonzero", nonzero, dtype, size)


def _truths(dtype: str, size: int) -> Iterator[Comparison]:
    yield from _reduced("any", any, dtype, size)
    yield from _reduced("all", all, dtype, size)
    for seed in (0, 1):
        # All the same but one, wherever it is.
        for at in {0, size // 2, size - 1} & set(range(size)):
            values = [seed] * size
            values[at] = 1 - seed
            array = as_array(values, dtype)
            found = [bool(array.any()), bool(array.all())]
            yield Comparison(f"one {1 - seed} at {at}", found, [any(values), all(values)])


def _means(dtype: str, size: int) -> Iterator[Comparison]:
    result = dtype if dtype in FLOATS else "float64"

    def mean(values: Sequence[complex]) -> object:
        return settle(sum(values).real / len(values), result)

    if size:
        yield from _reduced("mean", mean, dtype, size)


def _extremes(dtype: str, size: int) -> Iterator[Comparison]:
    if not size:
        return
    for name, reference in (("max", _greatest), ("min", _least)):
        yield from _reduced(name, reference, dtype, size)
    yield from _reduced("argmax", lambda values: values.index(_greatest(values)), dtype, size)
    yield from _reduced("argmin", lambda values: values.index(_least(values)), dtype, size)


def _greatest(values: Sequence[complex]) -> float:
    return max(value.real for value in values)


def _least(values: Sequence[complex]) -> float:
    return min(value.real for value in values)


def _with_nan(dtype: str, size: int) -> Iterator[Comparison]:
    """Look for the one nan, or past it, wherever it is."""
    plain = [float(value.real) for value in _table(dtype, size)[0]]
    for at in sorted({0, size // 3, size - 1} & set(range(size))):
        values = [*plain[:at], math.nan, *plain[at + 1 :]]
        array = as_array(values, dtype)
        found = [np.max(array).tolist(), np.min(array).tolist(), int(np.argmax(array))]
        yield Comparison(f"nan at {at}", found, [math.nan, math.nan, at])
        rest = [value for value in values if not math.isnan(value)]
        if rest:
            found = [
                np.nanmax(array).tolist(),
                np.nanmin(array).tolist(),
                np.nansum(array).tolist(),
            ]
            yield Comparison(f"past nan at {at}", found, [max(rest), min(rest), sum(rest)])


def _running(dtype: str, size: int) -> Iterator[Comparison]:
    table = _table(dtype, size)
    for view, array in _views(table, dtype, size).items():
        right = [list(accumulate(row)) for row in table]
        yield Comparison(f"{view}cumsum", np.cumsum(array, axis=1).tolist(), right)
    columns = zip(*[accumulate(column) for column in zip(*table, strict=True)], strict=True)
    array = _views(table, dtype, size)[""]
    if size:
        found = np.cumsum(array, axis=0).tolist()
        yield Comparison("cumsum of columns", found, [list(row) for row in columns])
    signs = [1 if at % 3 else -1 for at in range(size)]
    if dtype in (*SIGNED, *FLOATS, *COMPLEX):
        found = np.cumprod(as_array(signs, dtype)).tolist()
        yield Comparison("cumprod", found, list(accumulate(signs, lambda x, y: x * y)))
        if size:
            steps = [y - x for x, y in zip(table[0], table[0][1:], strict=False)]
            yield Comparison("diff", np.diff(as_array(table[0], dtype)).tolist(), steps)


OPERATIONS = (
    Operation("sum", (*ORDERED, *COMPLEX), _sums),
    Operation("count_nonzero", (*ORDERED, *COMPLEX), _counts),
    Operation("truths", (*ORDERED, *COMPLEX), _truths),
    Operation("mean", ORDERED, _means),
    Operation("extremes", ORDERED, _extremes),
    Operation("with_nan", FLOATS, _with_nan),
    Operation("running", (*WHOLE, *REAL, *COMPLEX), _running),
)
