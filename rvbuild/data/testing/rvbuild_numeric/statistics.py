"""Distributions and tests of SciPy against Python's fractions, sums and error function."""

import math
from collections.abc import Iterator
from fractions import Fraction

import numpy as np
from scipy import stats

from .case import Comparison, Operation
from .exact import whole_numbers

EPSILON = 2.0**-52
FLOATS = ("float64",)


def _normal(value: float) -> float:
    return math.erfc(-value / math.sqrt(2)) / 2


def _distributions(_dtype: str, size: int) -> Iterator[Comparison]:
    points = [value / 4 for value in whole_numbers(size, 1001)]
    array = np.array(points)
    right = list(map(_normal, points))
    yield Comparison("norm.cdf", stats.norm.cdf(array).tolist(), right, EPSILON * 4)
    back = stats.norm.ppf(np.array([_normal(point) for point in points if abs(point) < 1.5]))  # noqa: PLR2004 - further out the share tells less
    near = [point for point in points if abs(point) < 1.5]  # noqa: PLR2004 - as above
    yield Comparison("norm.ppf", back.tolist(), near, EPSILON * 32)
    density = [math.exp(-point * point / 2) / math.sqrt(2 * math.pi) for point in points]
    yield Comparison("norm.pdf", stats.norm.pdf(array).tolist(), density, EPSILON * 4)
    right = [0.5 + math.atan(point) / math.pi for point in points]
    yield Comparison("cauchy.cdf", stats.cauchy.cdf(array).tolist(), right, EPSILON * 4)
    yield Comparison("t.cdf", stats.t.cdf(array, 1).tolist(), right, EPSILON * 64)
    lengths = [abs(point) for point in points]
    right = [-math.expm1(-length) for length in lengths]
    yield Comparison("expon.cdf", stats.expon.cdf(lengths).tolist(), right, EPSILON * 4)
    right = [-math.expm1(-length / 2) for length in lengths]
    yield Comparison("chi2.cdf", stats.chi2.cdf(lengths, 2).tolist(), right, EPSILON * 32)


def _counts(_dtype: str, size: int) -> Iterator[Comparison]:
    share = Fraction(5, 16)
    masses = [
        math.comb(size, at) * share**at * (1 - share) ** (size - at) for at in range(size + 1)
    ]
    places = list(range(size + 1))
    unit = EPSILON * 8 * (size + 1)
    found = stats.binom.pmf(places, size, float(share))
    yield Comparison("binom.pmf", found.tolist(), list(map(float, masses)), unit)
    sums = [float(sum(masses[: at + 1])) for at in places]
    found = stats.binom.cdf(places, size, float(share))
    yield Comparison("binom.cdf", found.tolist(), sums, unit)
    right = [math.exp(-2.5) * 2.5**at / math.factorial(at) for at in places]
    yield Comparison("poisson.pmf", stats.poisson.pmf(places, 2.5).tolist(), right, unit)
    total = math.comb(size + 9, 4)
    right = [math.comb(size + 3, at) * math.comb(6, 4 - at) / total for at in range(5)]
    found = stats.hypergeom.pmf(range(5), size + 9, size + 3, 4)
    yield Comparison("hypergeom.pmf", found.tolist(), right, unit)


def _moments(values: list[int]) -> tuple[Fraction, Fraction]:
    mean = Fraction(sum(values), len(values))
    return mean, sum(((value - mean) ** 2 for value in values), Fraction(0))


def _summaries(_dtype: str, size: int) -> Iterator[Comparison]:
    values = list(whole_numbers(size + 3, 1009))
    mean, square = _moments(values)
    cube = sum(((value - mean) ** 3 for value in values), Fraction(0))
    found = stats.describe(values)
    right = [float(mean), float(square / (len(values) - 1))]
    spread = float(square / len(values))
    unit = EPSILON * 64 * len(values)
    yield Comparison("describe", [float(found.mean), float(found.variance)], right, unit)
    skew = float(cube / len(values)) / spread**1.5
    yield Comparison("skew", float(found.skewness), skew, unit)
    scores = [(value - float(mean)) / math.sqrt(spread) for value in values]
    yield Comparison("zscore", stats.zscore(values).tolist(), scores, unit)
    ranks = [
        sum(other < value for other in values) + (values.count(value) + 1) / 2 for value in values
    ]
    yield Comparison("rankdata", stats.rankdata(values).tolist(), ranks)
    shares = [abs(value) + 1 for value in values]
    right_entropy = -math.fsum(
        share / sum(shares) * math.log(share / sum(shares)) for share in shares
    )
    yield Comparison("entropy", float(stats.entropy(shares)), right_entropy, unit)


def _tests(_dtype: str, size: int) -> Iterator[Comparison]:
    count = size + 4
    one, other = list(whole_numbers(count, 1013)), list(whole_numbers(count, 1019))
    (first, square), (second, opposite) = _moments(one), _moments(other)
    pairs = zip(one, other, strict=True)
    product = sum(((x - first) * (y - second) for x, y in pairs), Fraction(0))
    unit = EPSILON * 64 * count
    right = float(product) / math.sqrt(square * opposite)
    yield Comparison("pearsonr", float(stats.pearsonr(one, other).statistic), right, unit)
    line = stats.linregress(one, other)
    slope = product / square
    right_line = [float(slope), float(second - slope * first)]
    yield Comparison("linregress", [float(line.slope), float(line.intercept)], right_line, unit * 8)
    spread = float((square + opposite) / (2 * count - 2))
    distance = float(first - second) / math.sqrt(spread * 2 / count)
    found = float(stats.ttest_ind(one, other).statistic)
    yield Comparison("ttest_ind", found, distance, unit)
    wins = sum((x > y) + (x == y) / 2 for x in one for y in other)
    found = float(stats.mannwhitneyu(one, other, method="asymptotic").statistic)
    yield Comparison("mannwhitneyu", found, wins)
    places = sorted({*one, *other})
    gap = max(
        abs(sum(x <= place for x in one) - sum(y <= place for y in other)) for place in places
    )
    found = float(stats.ks_2samp(one, other, method="asymp").statistic)
    yield Comparison("ks_2samp", found, gap / count, unit)


OPERATIONS = (
    Operation("distributions", FLOATS, _distributions),
    Operation("counts", FLOATS, _counts),
    Operation("summaries", FLOATS, _summaries),
    Operation("tests", FLOATS, _tests),
)
