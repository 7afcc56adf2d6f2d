"""Special functions of SciPy against sums, integrals and identities that Python can work out."""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache, partial

import numpy as np
from scipy import special

from .case import REAL, Comparison, Operation
from .exact import whole_numbers
from .values import as_array

GRID = 64
SEED = 931
# A periodic function's integral over this many points is right to the last bit (trapezoids).
POINTS = 96
GAMMA = 0.57721566490153286061


@dataclass(frozen=True, slots=True)
class Function:
    """A function of one argument and the range it is tried on.

    `absolute` is the size of its values where it passes through zero, 0 where it does not.
    """

    name: str
    reference: Callable[[float], float]
    least: float
    greatest: float
    absolute: float = 0.0


def _arguments(count: int, least: float, greatest: float, seed: int = SEED) -> list[float]:
    limit = int((greatest - least) * GRID) // 2
    return [least + (value + limit) / GRID for value in whole_numbers(count, seed, limit)]


def _one(function: Function, dtype: str, size: int) -> Iterator[Comparison]:
    values = _arguments(size, function.least, function.greatest)
    right = [function.reference(value) for value in values]
    unit = float(np.finfo(dtype).eps)
    found = getattr(special, function.name)(as_array(values, dtype)).tolist()
    if function.absolute:
        yield Comparison(function.name, found, right, unit * function.absolute)
    else:
        yield Comparison(function.name, found, right, unit, relative=True)


@cache
def _bessel(order: int, value: float) -> float:
    turns = [2 * math.pi * at / POINTS for at in range(POINTS)]
    return math.fsum(math.cos(order * t - value * math.sin(t)) for t in turns) / POINTS


@cache
def _modified(order: int, value: float) -> float:
    turns = [2 * math.pi * at / POINTS for at in range(POINTS)]
    return math.fsum(math.exp(value * math.cos(t)) * math.cos(order * t) for t in turns) / POINTS


def _means(other: float) -> tuple[float, float]:
    """Give the arithmetic-geometric mean of 1 and a number, and the sum that goes with it."""
    one, total, factor = 1.0, 0.0, 1.0
    # The digits that are right double each time: seven are too many for a double.
    for _ in range(7):
        factor *= 2
        difference = (one - other) / 2
        one, other = (one + other) / 2, math.sqrt(one * other)
        total += factor / 2 * difference * difference
    return one, total


def _elliptic(parameter: float) -> float:
    return math.pi / (2 * _means(math.sqrt(1 - parameter))[0])


def _second_elliptic(parameter: float) -> float:
    mean, total = _means(math.sqrt(1 - parameter))
    return math.pi / (2 * mean) * (1 - parameter / 2 - total)


def _logistic(value: float) -> float:
    return 1 / (1 + math.exp(-value))


def _pairs(dtype: str, size: int) -> Iterator[Comparison]:
    unit = float(np.finfo(dtype).eps)
    counts = [abs(value) + 1 for value in whole_numbers(size, SEED, 9)]
    values = _arguments(size, 0.25, 12.0, SEED + 2)
    shape, point = as_array(counts, dtype), as_array(values, dtype)
    lower = [_lower_gamma(*pair) for pair in zip(counts, values, strict=True)]
    yield Comparison("gammainc", special.gammainc(shape, point).tolist(), lower, unit * 2)
    upper = [_upper_gamma(*pair) for pair in zip(counts, values, strict=True)]
    yield Comparison("gammaincc", special.gammaincc(shape, point).tolist(), upper, unit * 2)
    shares = [value / 13 for value in values]
    right = [_beta_share(a, 3, x) for a, x in zip(counts, shares, strict=True)]
    found = special.betainc(shape, as_array(3, dtype), as_array(shares, dtype)).tolist()
    # The share itself is rounded when it becomes a float.
    yield Comparison("betainc", found, right, unit * 8)
    exact = [float(math.comb(12, count)) for count in counts]
    yield Comparison("comb", special.comb(12, shape).tolist(), exact, unit, relative=True)
    right = [math.exp(math.lgamma(a) + math.lgamma(2) - math.lgamma(a + 2)) for a in counts]
    yield Comparison("beta", special.beta(shape, 2.0).tolist(), right, unit * 4, relative=True)


def _upper_gamma(count: int, value: float) -> float:
    terms = [value**at / math.factorial(at) for at in range(count)]
    return math.exp(-value) * math.fsum(terms)


def _lower_gamma(count: int, value: float) -> float:
    terms = [value**at / math.factorial(at) for at in range(count, count + 80)]
    return math.exp(-value) * math.fsum(terms)


def _beta_share(one: int, other: int, share: float) -> float:
    """Sum the binomial distribution, which is the incomplete beta function of whole numbers."""
    count = one + other - 1
    return math.fsum(
        math.comb(count, at) * share**at * (1 - share) ** (count - at)
        for at in range(one, count + 1)
    )


def _inverses(dtype: str, size: int) -> Iterator[Comparison]:
    """Undo functions that Python has itself, and compare with where it began."""
    unit = float(np.finfo(dtype).eps)
    values = _arguments(size, -1.5, 1.5)
    shares = [math.erf(value) for value in values]
    # The slope of erf at 1.5 makes an error of the share ten times as large.
    found = special.erfinv(as_array(shares, dtype)).tolist()
    yield Comparison("erfinv", found, values, unit * 10)
    halves = [math.erfc(-value / math.sqrt(2)) / 2 for value in values]
    yield Comparison("ndtri", special.ndtri(as_array(halves, dtype)).tolist(), values, unit * 8)
    yield Comparison("ndtr", special.ndtr(as_array(values, dtype)).tolist(), halves, unit)
    products = [value * math.exp(value) for value in (abs(each) for each in values)]
    found = special.lambertw(as_array(products, dtype)).real.tolist()
    yield Comparison("lambertw", found, [abs(value) for value in values], unit * 4)


def _polynomials(dtype: str, size: int) -> Iterator[Comparison]:
    unit = float(np.finfo(dtype).eps)
    values = [value / 8 for value in whole_numbers(size, SEED + 4, 8)]
    array = as_array(values, dtype)
    for degree in (0, 1, 5, 8):
        right = [math.cos(degree * math.acos(value)) for value in values]
        found = special.eval_chebyt(degree, array).tolist()
        yield Comparison(f"eval_chebyt, {degree}", found, right, unit * 8)
        right = [_legendre(degree, value) for value in values]
        found = special.eval_legendre(degree, array).tolist()
        yield Comparison(f"eval_legendre, {degree}", found, right, unit * 8)
    total = math.log(math.fsum(map(math.exp, values))) if values else -math.inf
    if size:
        found = float(special.logsumexp(array))
        yield Comparison("logsumexp", found, total, unit * 4)
        right = [math.exp(value - total) for value in values]
        yield Comparison("softmax", special.softmax(array).tolist(), right, unit * 4)


def _legendre(degree: int, value: float) -> float:
    before, now = 1.0, value
    if degree == 0:
        return before
    for at in range(1, degree):
        before, now = now, ((2 * at + 1) * value * now - at * before) / (at + 1)
    return now


FUNCTIONS = (
    Function("gamma", math.gamma, 0.5, 20.0),
    Function("gammaln", math.lgamma, 3.0, 60.0),
    Function("rgamma", lambda value: 1 / math.gamma(value), 0.5, 20.0),
    Function("erf", math.erf, -4.0, 4.0, absolute=1.0),
    Function("erfc", math.erfc, -2.0, 4.0),
    Function("expit", _logistic, -16.0, 16.0),
    Function("logit", lambda value: math.log(value / (1 - value)), 0.125, 0.875, absolute=1.0),
    Function("expm1", math.expm1, 0.25, 8.0),
    Function("exprel", lambda value: math.expm1(value) / value if value else 1.0, -4.0, 8.0),
    Function("cbrt", math.cbrt, -64.0, 64.0),
    Function("sinc", lambda x: math.sin(math.pi * x) / (math.pi * x) if x else 1, -4, 4, 1.0),
    Function("j0", partial(_bessel, 0), 0.0, 24.0, absolute=1.0),
    Function("j1", partial(_bessel, 1), 0.0, 24.0, absolute=1.0),
    Function("i0", partial(_modified, 0), 0.0, 12.0),
    Function("i1", partial(_modified, 1), 0.25, 12.0),
    Function("ellipk", _elliptic, 0.0, 0.75),
    Function("ellipe", _second_elliptic, 0.0, 0.75),
    Function("entr", lambda value: -value * math.log(value), 0.25, 8.0, absolute=8.0),
)


def _whole(dtype: str, size: int) -> Iterator[Comparison]:
    """Try the digamma function at whole numbers, where it is a sum of fractions."""
    unit = float(np.finfo(dtype).eps)
    counts = [abs(value) + 2 for value in whole_numbers(size, SEED + 6, 30)]
    right = [math.fsum(1 / at for at in range(1, count)) - GAMMA for count in counts]
    yield Comparison("digamma", special.digamma(as_array(counts, dtype)).tolist(), right, unit * 4)
    for order in (2, 5):
        right = [_bessel(order, count / 2) for count in counts]
        found = special.jv(order, as_array([count / 2 for count in counts], dtype)).tolist()
        yield Comparison(f"jv, {order}", found, right, unit)


OPERATIONS = (
    *(Operation(function.name, REAL, partial(_one, function)) for function in FUNCTIONS),
    Operation("pairs", REAL, _pairs),
    Operation("inverses", REAL, _inverses),
    Operation("polynomials", REAL, _polynomials),
    Operation("whole", REAL, _whole),
)
