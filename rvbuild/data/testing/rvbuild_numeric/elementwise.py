"""Operations element by element that have one right result: arithmetic, comparisons, casts.

The references are Python's numbers, wrapped or rounded once to the dtype.
"""

import math
import operator
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from .case import COMPLEX, FLOATS, REAL, SIGNED, UNSIGNED, WHOLE, Array, Comparison, Operation
from .values import Plain, as_array, bits_of, nonzero, settle, vector

NUMBERS = (*WHOLE, *FLOATS)
ORDERED = ("bool", *NUMBERS)
ALL = (*ORDERED, *COMPLEX)
TRUTH = "bool"
# Whole numbers beyond this have no exact double, which references of casts are made of.
EXACT = 1 << 53
HALF = 2000
FIRST, SECOND = 101, 103

Reference = Callable[..., object]


@dataclass(frozen=True, slots=True)
class Function:
    """A function of NumPy with what it means; `result` is the dtype it gives, its own if empty.

    `right` is what the second operand has to be: anything, not zero, or a number of bits.
    """

    name: str
    reference: Reference
    result: str = ""
    right: str = "any"


def _second(dtype: str, length: int, kind: str) -> tuple[Plain, ...]:
    values = vector(dtype, length, SECOND)
    if kind == "bits":
        return tuple(abs(int(value.real)) % bits_of(dtype) for value in values)
    return nonzero(values) if kind == "nonzero" else values


def _spread(array: Array) -> Array:
    wide = np.zeros(3 * array.size, array.dtype)
    wide[::3] = array
    view: Array = wide[::3]
    return view


def _unary(function: Function, dtype: str, size: int) -> Iterator[Comparison]:
    result = function.result or dtype
    values = vector(dtype, size, FIRST)
    right = [settle(function.reference(value), result) for value in values]
    call = getattr(np, function.name)
    array = as_array(values, dtype)
    yield Comparison("contiguous", call(array).tolist(), right)
    yield Comparison("strided", call(_spread(array)).tolist(), right)
    yield Comparison("reversed", call(array[::-1]).tolist(), right[::-1])
    yield Comparison("shifted", call(array[1:]).tolist(), right[1:])
    out = _spread(np.zeros(size, result))
    yield Comparison("into a strided array", call(array, out=out).tolist(), right)


def _binary(function: Function, dtype: str, size: int) -> Iterator[Comparison]:
    result = function.result or dtype
    first, second = vector(dtype, size, FIRST), _second(dtype, size, function.right)

    def expect(left: Sequence[Plain], right: Sequence[Plain]) -> list[object]:
        pairs = zip(left, right, strict=True)
        return [settle(function.reference(one, other), result) for one, other in pairs]

    right = expect(first, second)
    call = getattr(np, function.name)
    one, other = as_array(first, dtype), as_array(second, dtype)
    yield Comparison("contiguous", call(one, other).tolist(), right)
    yield Comparison("strided", call(_spread(one), other).tolist(), right)
    yield Comparison("both strided", call(_spread(one), _spread(other)).tolist(), right)
    yield Comparison("reversed", call(one[::-1], other[::-1]).tolist(), right[::-1])
    yield Comparison("shifted", call(one[1:], other[1:]).tolist(), right[1:])
    out = one.copy() if result == dtype else np.zeros(size, result)
    left = out if result == dtype else one
    yield Comparison("in place", call(left, other, out=out).tolist(), right)
    if size:
        scalar = expect(first, second[-1:] * size)
        yield Comparison("scalar on the right", call(one, other[-1]).tolist(), scalar)
        scalar = expect(first[-1:] * size, second)
        yield Comparison("scalar on the left", call(one[-1], other).tolist(), scalar)


def _either(pick: Callable[[float, float], float], *, ignore_nan: bool) -> Reference:
    def choose(one: float, other: float) -> float:
        if math.isnan(one) or math.isnan(other):
            return (other if math.isnan(one) else one) if ignore_nan else math.nan
        return pick(one, other)

    return choose


def _extremes(dtype: str, size: int) -> Iterator[Comparison]:
    """Compare minima and maxima among nan and infinities."""
    special = (math.nan, math.inf, -math.inf)
    first, second = (list(vector(dtype, size, seed)) for seed in (FIRST, SECOND))
    if dtype in FLOATS:
        first[3::5] = [special[at % 3] for at in range(len(first[3::5]))]
        second[1::7] = [special[at % 3] for at in range(len(second[1::7]))]
    one, other = as_array(first, dtype), as_array(second, dtype)
    for name, pick, ignore in (
        ("maximum", max, False),
        ("minimum", min, False),
        ("fmax", max, True),
        ("fmin", min, True),
    ):
        right = list(map(_either(pick, ignore_nan=ignore), first, second))
        call = getattr(np, name)
        yield Comparison(name, call(one, other).tolist(), right)
        yield Comparison(f"{name}, strided", call(_spread(one), other).tolist(), right)
    chosen = [x if y else z for x, y, z in zip(first, _mask(size), second, strict=True)]
    yield Comparison("where", np.where(_mask(size), one, other).tolist(), chosen)


def _mask(size: int) -> list[bool]:
    return [value % 3 == 0 for value in vector("int16", size, 107) if isinstance(value, int)]


def _roots(dtype: str, size: int) -> Iterator[Comparison]:
    """Take roots and reciprocals, which IEEE 754 rounds in one way only."""
    values = [abs(value) for value in nonzero(vector(dtype, size, FIRST))]
    array = as_array(values, dtype)
    for name, right in (
        ("sqrt", [settle(math.sqrt(value), dtype) for value in values]),
        ("reciprocal", [settle(1 / value, dtype) for value in values]),
    ):
        call = getattr(np, name)
        yield Comparison(name, call(array).tolist(), right)
        yield Comparison(f"{name}, strided", call(_spread(array)).tolist(), right)


def _classes(dtype: str, size: int) -> Iterator[Comparison]:
    special = (math.nan, math.inf, -math.inf, 0.0)
    values = [float(value.real) for value in vector(dtype, size, FIRST)]
    values[1::3] = [special[at % 4] for at in range(len(values[1::3]))]
    array = as_array(values, dtype)
    for name in ("isnan", "isinf", "isfinite"):
        right = [getattr(math, name)(value) for value in values]
        yield Comparison(name, getattr(np, name)(array).tolist(), right)
        yield Comparison(f"{name}, strided", getattr(np, name)(_spread(array)).tolist(), right)
    negative = [value < 0 for value in values]
    signs = np.signbit(as_array([0.0 if value != value else value for value in values], dtype))  # noqa: PLR0124 - nan has any sign
    yield Comparison("signbit", signs.tolist(), negative)


def _casts(dtype: str, size: int) -> Iterator[Comparison]:
    for target in COMPLEX if dtype in COMPLEX else ALL:
        values = [_castable(value, dtype, target) for value in vector(dtype, size, FIRST)]
        right = [_cast(value, target) for value in values]
        array = as_array(values, dtype)
        yield Comparison(f"to {target}", array.astype(target).tolist(), right)
        yield Comparison(f"to {target}, strided", _spread(array).astype(target).tolist(), right)


def _castable(value: Plain, dtype: str, target: str) -> Plain:
    """Keep to values whose conversion C defines, and whose reference rounds once."""
    if isinstance(value, complex):
        return value
    if dtype in FLOATS:
        return abs(value) if target in UNSIGNED or target == "int8" else value
    if target == "float16" and abs(value) > HALF:
        return value % 100
    return value if abs(value) < EXACT else int(value) >> 12


def _cast(value: Plain, target: str) -> object:
    if isinstance(value, complex):
        return value
    if target in COMPLEX:
        return complex(_settled(value, "float32" if target == "complex64" else "float64"))
    return _settled(value, target)


def _settled(value: Plain, target: str) -> complex:
    if target in FLOATS:
        value = float(value.real)
    elif target in WHOLE:
        value = int(value.real)
    settled = settle(value, target)
    return settled if isinstance(settled, (int, float, complex)) else 0


def _floor_divide(one: float, other: float) -> float:
    return one // other


def _truth(combine: Callable[[bool, bool], bool]) -> Reference:
    return lambda one, other: combine(bool(one), bool(other))


def _sign(value: float) -> float:
    return (value > 0) - (value < 0)


def _remainder(one: float, other: float) -> float:
    if isinstance(one, int):
        rest = abs(one) % abs(other)
        return -rest if one < 0 else rest
    return math.fmod(one, other)


ARITHMETIC = tuple(
    Function(name, getattr(operator, means))
    for name, means in (("add", "add"), ("subtract", "sub"), ("multiply", "mul"))
)
DIVISIONS = (
    Function("floor_divide", _floor_divide, right="nonzero"),
    Function("remainder", operator.mod, right="nonzero"),
    Function("fmod", _remainder, right="nonzero"),
)
COMPARISONS = tuple(
    Function(name, getattr(operator, means), TRUTH)
    for name, means in (
        *(("less", "lt"), ("less_equal", "le"), ("greater", "gt"), ("greater_equal", "ge")),
    )
)
EQUALITY = (
    Function("equal", operator.eq, TRUTH),
    Function("not_equal", operator.ne, TRUTH),
    Function("logical_and", _truth(operator.and_), TRUTH),
    Function("logical_or", _truth(operator.or_), TRUTH),
    Function("logical_xor", _truth(operator.xor), TRUTH),
)
BITS = (
    Function("bitwise_and", operator.and_),
    Function("bitwise_or", operator.or_),
    Function("bitwise_xor", operator.xor),
)
SHIFTS = (
    Function("left_shift", operator.lshift, right="bits"),
    Function("right_shift", operator.rshift, right="bits"),
)
FLOAT_PAIRS = (
    Function("true_divide", operator.truediv, right="nonzero"),
    Function("copysign", math.copysign),
)
SIGNS = (
    Function("negative", operator.neg),
    Function("square", lambda value: value * value),
)
REAL_SIGNS = (Function("absolute", abs), Function("sign", _sign))
ROUNDINGS = (
    Function("floor", math.floor),
    Function("ceil", math.ceil),
    Function("trunc", math.trunc),
    Function("rint", round),
)


def _unaries(functions: Sequence[Function], dtypes: tuple[str, ...]) -> Iterator[Operation]:
    for function in functions:
        yield Operation(function.name, dtypes, partial(_unary, function))


def _binaries(functions: Sequence[Function], dtypes: tuple[str, ...]) -> Iterator[Operation]:
    for function in functions:
        yield Operation(function.name, dtypes, partial(_binary, function))


OPERATIONS = (
    *_binaries(ARITHMETIC, (*NUMBERS, *COMPLEX)),
    *_binaries(DIVISIONS, (*WHOLE, *REAL)),
    *_binaries(COMPARISONS, ORDERED),
    *_binaries(EQUALITY, ALL),
    *_binaries(BITS, ("bool", *WHOLE)),
    *_binaries(SHIFTS, WHOLE),
    *_binaries(FLOAT_PAIRS, FLOATS),
    *_unaries(SIGNS, (*NUMBERS, *COMPLEX)),
    *_unaries(REAL_SIGNS, (*SIGNED, *FLOATS)),
    *_unaries(ROUNDINGS, FLOATS),
    Operation("roots", FLOATS, _roots),
    *_unaries((Function("invert", operator.invert),), WHOLE),
    *_unaries((Function("logical_not", operator.not_, TRUTH),), ALL),
    Operation("extremes", ORDERED, _extremes),
    Operation("classes", FLOATS, _classes),
    Operation("casts", ALL, _casts),
)
