"""One case of a check: an operation on a dtype at a size, and what comparing its results gave."""

import math
import operator
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

# The dtype is chosen while running, where no type checker follows: one stands for all.
Array = NDArray[np.float64]
Values = list["Values"] | complex

REAL = ("float32", "float64")
COMPLEX = ("complex64", "complex128")
SIGNED = ("int8", "int16", "int32", "int64")
UNSIGNED = ("uint8", "uint16", "uint32", "uint64")
WHOLE = (*SIGNED, *UNSIGNED)
FLOATS = ("float16", *REAL)


@dataclass(frozen=True, slots=True)
class Comparison:
    """A result, an array or nested lists, beside what is right: nested lists, or what makes them.

    `unit` is the error that one unit of the tolerance allows; it is a share of each right value
    when `relative` is set. `packed` is what is right as it lies in memory, where that is known:
    then the lists are made only when something is wrong.
    """

    variant: str
    found: object
    right: object
    unit: float = 0.0
    relative: bool = False
    packed: bytes | None = None


Compare = Callable[[str, int], Iterator[Comparison]]


@dataclass(frozen=True, slots=True)
class Operation:
    """An operation with the dtypes it takes; `compare` yields its results for a dtype and size."""

    name: str
    dtypes: tuple[str, ...]
    compare: Compare


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of a case: its first variant with wrong elements, or how near the worst came."""

    operation: str
    dtype: str
    size: int
    compared: int = 0
    wrong: int = 0
    among: int = 0
    worst: str = "0"
    bound: str = "0"
    variant: str = ""
    note: str = ""

    @property
    def ok(self) -> bool:
        """True when every element is right."""
        return not self.wrong and not self.note


@dataclass(slots=True)
class _Tally:
    """The elements of one comparison, counted as they are looked at."""

    wrong: int = 0
    worst: float = 0.0
    bound: float = 0.0
    first: str = ""
    place: list[int] = field(default_factory=list)

    def near(self, error: float, bound: float) -> None:
        """Note an error that is allowed."""
        if not self.wrong and error > self.worst:
            self.worst, self.bound = error, bound


def examine(operation: Operation, dtype: str, size: int, tolerance: int) -> Outcome:
    """Run a case; an exception of the package under test is a finding too."""
    compared, worst, bound = 0, 0.0, 0.0
    variant = ""
    try:
        with np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            for comparison in operation.compare(dtype, size):
                variant = comparison.variant
                among = _elements(comparison)
                compared += among
                tally = _compare(comparison, tolerance)
                if tally.wrong:
                    return Outcome(
                        *(operation.name, dtype, size, compared, tally.wrong, among),
                        *(f"{tally.worst:g}", f"{tally.bound:g}", variant, tally.first),
                    )
                worst, bound = max((worst, bound), (tally.worst, tally.bound))
    except Exception as error:  # noqa: BLE001 - whatever the package raises is what is wrong
        note = f"raised {type(error).__name__}: {error}"
        return Outcome(operation.name, dtype, size, compared, variant=f"after {variant}", note=note)
    return Outcome(operation.name, dtype, size, compared, worst=f"{worst:g}", bound=f"{bound:g}")


def _elements(comparison: Comparison) -> int:
    found = comparison.found
    return found.size if isinstance(found, np.ndarray) else count(comparison.right)


def count(values: object) -> int:
    """Count the elements of nested lists."""
    if not isinstance(values, (list, tuple)):
        return 1
    return sum(map(count, values)) if _is_nested(values) else len(values)


def _is_nested(values: Sequence[object]) -> bool:
    return any(isinstance(value, (list, tuple)) for value in values[:1])


def _compare(comparison: Comparison, tolerance: int) -> _Tally:
    tally = _Tally()
    found = comparison.found
    # Bytes and lists are compared in C, which matters where Python is emulated.
    right = comparison.right
    if isinstance(found, np.ndarray):
        if comparison.packed is not None and found.tobytes() == comparison.packed:
            return tally
        found = found.tolist()
    if callable(right):
        right = right()
    if found != right:
        _walk(found, right, tolerance, comparison, tally)
    return tally


def _walk(
    found: object, right: object, tolerance: int, comparison: Comparison, tally: _Tally
) -> None:
    if not isinstance(right, (list, tuple)):
        _judge(found, right, tolerance, comparison, tally)
        return
    if not isinstance(found, (list, tuple)) or len(found) != len(right):
        tally.wrong += max(1, count(right))
        tally.first = tally.first or f"at {tally.place} the shape is not {_shape(right)}"
        return
    if comparison.unit and not comparison.relative and not _is_nested(right):
        errors, bound = _distances(found, right), tolerance * comparison.unit
        if all(map(bound.__ge__, errors)):
            tally.near(max(errors), bound)
            return
    for at, pair in enumerate(zip(found, right, strict=True)):
        tally.place.append(at)
        _walk(*pair, tolerance, comparison, tally)
        tally.place.pop()


def _distances(found: Sequence[float], right: Sequence[float]) -> list[float]:
    """Give the errors of two rows at once, in C; infinite when something is not a number."""
    try:
        return list(map(abs, map(operator.sub, found, right))) or [0.0]
    except (TypeError, OverflowError):
        return [math.inf]


def _shape(values: object) -> list[int]:
    shape = []
    while isinstance(values, (list, tuple)):
        shape.append(len(values))
        values = values[0] if values else 0
    return shape


def _judge(
    found: object, right: object, tolerance: int, comparison: Comparison, tally: _Tally
) -> None:
    error = _error(found, right)
    bound = tolerance * comparison.unit * (_share(right) if comparison.relative else 1.0)
    if error <= bound:
        tally.near(error, bound)
        return
    if not tally.wrong or error > tally.worst:
        tally.worst, tally.bound = error, bound
    tally.wrong += 1
    tally.first = tally.first or f"at {tally.place} it gave {found} for {right}"


def _share(right: object) -> float:
    """Give the size of a right value; what is not finite leaves no room for errors."""
    if not isinstance(right, (int, float, complex)):
        return 0.0
    size = abs(right)
    return size if math.isfinite(size) else 0.0


def _error(found: object, right: object) -> float:
    numbers = (int, float, complex)
    if not isinstance(found, numbers) or not isinstance(right, numbers):
        return 0.0 if found == right else float("inf")
    if found == right or (found != found and right != right):  # noqa: PLR0124 - both are nan
        return 0.0
    try:
        error = abs(found - right)
    except OverflowError:
        return float("inf")
    return error if error == error else float("inf")  # noqa: PLR0124 - nan for a number
