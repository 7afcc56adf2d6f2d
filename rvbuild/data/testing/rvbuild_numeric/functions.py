"""Functions that round: exponentials, logarithms, trigonometry, against the C library's doubles.

Errors are counted in units of the dtype's precision, relative to the right value.
"""

import cmath
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial

import numpy as np

from .case import COMPLEX, REAL, Comparison, Operation
from .exact import whole_numbers
from .values import as_array, settle

GRID = 1024
SEED, OTHER = 201, 203


@dataclass(frozen=True, slots=True)
class Function:
    """A function and the range it is tried on; `special` maps arguments to what they must give."""

    name: str
    reference: Callable[[float], float]
    least: float = -16.0
    greatest: float = 16.0
    special: tuple[tuple[float, float], ...] = ()


def _arguments(count: int, least: float, greatest: float, seed: int) -> list[float]:
    """Make numbers of a range on a grid that every float dtype holds."""
    steps = int((greatest - least) * GRID)
    limit = max(1, steps // 2)
    return [least + (value + limit) / GRID for value in whole_numbers(count, seed, limit)]


def _unit(dtype: str) -> float:
    return float(np.finfo(dtype).eps)


def _one(function: Function, dtype: str, size: int) -> Iterator[Comparison]:
    call = getattr(np, function.name)
    values = _arguments(size, function.least, function.greatest, SEED)
    right = [function.reference(value) for value in values]
    array = as_array(values, dtype)
    unit = _unit(dtype)
    yield Comparison("contiguous", call(array).tolist(), right, unit, relative=True)
    strided = call(np.repeat(array, 2)[::2]).tolist()
    yield Comparison("strided", strided, right, unit, relative=True)
    if size and function.special:
        # Among ordinary numbers, since vector code treats a group with a special one apart.
        for at, (argument, result) in enumerate(function.special):
            values[at % size], right[at % size] = argument, result
        found = call(as_array(values, dtype)).tolist()
        yield Comparison("special values", found, right, unit, relative=True)


def _wide(dtype: str, size: int) -> Iterator[Comparison]:
    """Try sine and cosine where the argument has to be reduced."""
    values = [float(value) for value in whole_numbers(size, SEED, 1 << 22)]
    array = as_array(values, dtype)
    for name, reference in (("sin", math.sin), ("cos", math.cos), ("tan", math.tan)):
        right = [reference(value) for value in values]
        found = getattr(np, name)(array).tolist()
        yield Comparison(name, found, right, _unit(dtype), relative=True)


def _pairs(dtype: str, size: int) -> Iterator[Comparison]:
    bases = _arguments(size, 1 / 16, 16, SEED)
    exponents = [float(value) / 4 for value in whole_numbers(size, OTHER, 32)]
    one, other = as_array(bases, dtype), as_array(exponents, dtype)
    for name, reference in (
        ("power", math.pow),
        ("hypot", math.hypot),
        ("arctan2", math.atan2),
        ("logaddexp", _add_exponentials),
    ):
        right = [reference(x, y) for x, y in zip(bases, exponents, strict=True)]
        found = getattr(np, name)(one, other).tolist()
        # A sum of exponentials near 1 has a logarithm near 0, whose last places are lost.
        relative = name != "logaddexp"
        yield Comparison(name, found, right, _unit(dtype) * (1 if relative else 16), relative)


def _add_exponentials(one: float, other: float) -> float:
    return max(one, other) + math.log1p(math.exp(-abs(one - other)))


def _parts(dtype: str, size: int) -> Iterator[Comparison]:
    """Split numbers into parts, which is exact: a unit of 0 leaves no room."""
    values = [value + 0.5 for value in _arguments(size, -16, 16, SEED)]
    array = as_array(values, dtype)
    for name, reference in (("modf", math.modf), ("frexp", math.frexp)):
        found = [part.tolist() for part in getattr(np, name)(array)]
        pairs = [reference(value) for value in values]
        yield Comparison(name, found, [[pair[at] for pair in pairs] for at in (0, 1)])
    right = [settle(math.ldexp(value, 3), dtype) for value in values]
    yield Comparison("ldexp", np.ldexp(array, 3).tolist(), right)


def _complex(dtype: str, size: int) -> Iterator[Comparison]:
    parts = _arguments(2 * size, -4, 4, SEED)
    values = [complex(*pair) for pair in zip(parts[::2], parts[1::2], strict=True)]
    array = as_array(values, dtype)
    functions: tuple[tuple[str, Callable[[complex], complex]], ...] = (
        *(("exp", cmath.exp), ("log", cmath.log), ("sqrt", cmath.sqrt), ("absolute", abs)),
        *(("sin", cmath.sin), ("cos", cmath.cos), ("tanh", cmath.tanh), ("angle", cmath.phase)),
    )
    for name, reference in functions:
        # The logarithm of zero is not what is asked here.
        arguments = [value or 1 + 1j for value in values]
        right = [reference(value) for value in arguments]
        used = array if arguments == values else as_array(arguments, dtype)
        yield Comparison(name, getattr(np, name)(used).tolist(), right, _unit(dtype), relative=True)
    quotient = [value / (1.5 - 2j) for value in values]
    divided = np.true_divide(array, as_array(1.5 - 2j, dtype)).tolist()
    yield Comparison("true_divide", divided, quotient, _unit(dtype), relative=True)


INFINITY = math.inf
EXPONENTIALS = ((INFINITY, INFINITY), (-INFINITY, 0.0), (math.nan, math.nan), (0.0, 1.0))
LOGARITHMS = ((INFINITY, INFINITY), (0.0, -INFINITY), (math.nan, math.nan), (1.0, 0.0))
NO_ANGLE = ((INFINITY, math.nan), (-INFINITY, math.nan), (math.nan, math.nan))
ODD = ((0.0, 0.0), (INFINITY, INFINITY), (-INFINITY, -INFINITY), (math.nan, math.nan))
LEVEL = ((0.0, 0.0), (INFINITY, 1.0), (-INFINITY, -1.0), (math.nan, math.nan))

FUNCTIONS = (
    Function("exp", math.exp, special=EXPONENTIALS),
    Function("exp2", math.exp2, special=EXPONENTIALS),
    Function("expm1", math.expm1, special=((-INFINITY, -1.0), (0.0, 0.0), (math.nan, math.nan))),
    Function("log", math.log, 1 / 64, 64.0, LOGARITHMS),
    Function("log2", math.log2, 1 / 64, 64.0, LOGARITHMS),
    Function("log10", math.log10, 1 / 64, 64.0, LOGARITHMS),
    Function("log1p", math.log1p, -0.5, 16.0, ((INFINITY, INFINITY), (0.0, 0.0))),
    Function("sin", math.sin, special=((0.0, 0.0), *NO_ANGLE)),
    Function("cos", math.cos, special=((0.0, 1.0), *NO_ANGLE)),
    Function("tan", math.tan, special=((0.0, 0.0), *NO_ANGLE)),
    Function("arcsin", math.asin, -1.0, 1.0),
    Function("arccos", math.acos, -1.0, 0.75),
    Function("arctan", math.atan, special=((0.0, 0.0), (INFINITY, math.pi / 2))),
    Function("sinh", math.sinh, special=ODD),
    Function("cosh", math.cosh, special=((0.0, 1.0), (-INFINITY, INFINITY))),
    Function("tanh", math.tanh, special=LEVEL),
    Function("arcsinh", math.asinh, special=ODD),
    Function("arccosh", math.acosh, 1.0, 16.0),
    Function("arctanh", math.atanh, -0.75, 0.75),
    Function("cbrt", math.cbrt, special=ODD),
    Function("degrees", math.degrees),
    Function("radians", math.radians),
)

OPERATIONS = (
    *(Operation(function.name, REAL, partial(_one, function)) for function in FUNCTIONS),
    Operation("wide_angles", REAL, _wide),
    Operation("pairs", REAL, _pairs),
    Operation("parts", REAL, _parts),
    Operation("complex", COMPLEX, _complex),
)
