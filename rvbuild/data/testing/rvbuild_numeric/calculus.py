"""Integration, roots, minima and interpolation of SciPy on problems with known answers."""

import itertools
import math
from collections.abc import Iterator

import numpy as np
from scipy import integrate, interpolate, optimize

from .case import Array, Comparison, Operation
from .exact import whole, whole_numbers
from .residuals import array_of, dominant

EPSILON = 2.0**-52
# What solvers are asked for below, in units of precision.
ASKED = 2.0**12 * EPSILON
FLOATS = ("float64",)


def _quadrature(_dtype: str, size: int) -> Iterator[Comparison]:
    for power in range(size % 5 + 1):
        found, _ = integrate.quad(lambda x, power=power: x**power, 0, 2)
        right = 2.0 ** (power + 1) / (power + 1)
        yield Comparison(f"quad, {power}", found, right, EPSILON * 4, relative=True)
    top = 1 + size / 8
    found, _ = integrate.quad(math.cos, 0, top)
    yield Comparison("quad, cosine", found, math.sin(top), EPSILON * 4)
    found, _ = integrate.quad(lambda x: math.exp(-x * x), -np.inf, np.inf)
    yield Comparison("quad, infinite", found, math.sqrt(math.pi), 1e-9)
    grid = np.linspace(0, top, 2 * size + 3)
    found = float(integrate.simpson(grid**3, x=grid))
    yield Comparison("simpson", found, top**4 / 4, EPSILON * 16, relative=True)
    found = float(integrate.trapezoid(grid, x=grid))
    yield Comparison("trapezoid", found, top * top / 2, EPSILON * 16, relative=True)


def _equations(_dtype: str, size: int) -> Iterator[Comparison]:
    """Follow decays and a circle, whose places are exponentials, sines and cosines."""
    rates = np.array([(at % 4 + 1) / 4 for at in range(size + 1)])
    right = [math.exp(-2 * rate) for rate in rates.tolist()]
    for method in ("RK45", "DOP853", "Radau", "BDF", "LSODA"):
        found = integrate.solve_ivp(
            lambda _t, y: -rates * y, (0, 2), np.ones(size + 1), method, rtol=1e-8, atol=1e-10
        )
        # A method of low order gathers errors far above the one allowed in each step.
        yield Comparison(method, found.y[:, -1].tolist(), right, 2e-7)
    places = integrate.odeint(lambda y, _t: [y[1], -y[0]], [0.0, 1.0], [0.0, 1.0, 2.0], rtol=1e-10)
    circle = [[math.sin(time), math.cos(time)] for time in (0.0, 1.0, 2.0)]
    yield Comparison("odeint", places.tolist(), circle, 1e-7)


def _roots(_dtype: str, size: int) -> Iterator[Comparison]:
    value = 2.0 + size
    right = math.sqrt(value)
    for name in ("brentq", "brenth", "ridder", "toms748"):
        found = getattr(optimize, name)(lambda x: x * x - value, 0, value)
        yield Comparison(name, float(found), right, 1e-11)
    found = optimize.newton(lambda x: x * x - value, value, lambda x: 2 * x)
    yield Comparison("newton", float(found), right, 1e-11)
    targets = np.array([1.0 + at % 5 for at in range(size + 1)])
    for method in ("hybr", "lm"):
        found = optimize.root(lambda x: x**3 - targets, np.ones(size + 1), method=method, tol=1e-10)
        answer = [math.cbrt(target) for target in targets.tolist()]
        yield Comparison(f"root, {method}", found.x.tolist(), answer, 1e-7)


def _minima(_dtype: str, size: int) -> Iterator[Comparison]:
    count = min(size, 9) + 1
    half = dominant(count, count, gaussian=False)
    matrix = array_of(half - half.transposed.scaled(-1), "float64") / 64
    place = np.array([float(value) / 4 for value in whole_numbers(count, 961)])

    def height(x: Array) -> float:
        away = x - place
        return float(away @ matrix @ away) / 2

    def slope(x: Array) -> Array:
        steep: Array = matrix @ (x - place)
        return steep

    for method in ("BFGS", "L-BFGS-B", "CG", "Newton-CG", "SLSQP", "TNC", "trust-constr"):
        found = optimize.minimize(height, np.zeros(count), jac=slope, method=method, tol=1e-9)
        yield Comparison(method, found.x.tolist(), place.tolist(), 1e-5)
    found = optimize.minimize(height, np.zeros(2), method="Nelder-Mead") if count == 2 else None  # noqa: PLR2004 - it is slow in more dimensions
    if found is not None:
        yield Comparison("Nelder-Mead", found.x.tolist(), place.tolist(), 1e-3)
    yield from _fits(count, place)


def _fits(count: int, place: Array) -> Iterator[Comparison]:
    matrix = array_of(dominant(count + 3, count, gaussian=False), "float64") / 16
    for method in ("trf", "lm", "dogbox"):
        found = optimize.least_squares(
            lambda x: matrix @ (x - place), np.zeros(count), method=method, xtol=1e-12
        )
        yield Comparison(f"least_squares, {method}", found.x.tolist(), place.tolist(), 1e-6)
    found, _ = optimize.nnls(matrix, matrix @ np.abs(place))
    yield Comparison("nnls", found.tolist(), np.abs(place).tolist(), ASKED)
    grid = np.linspace(-1, 1, count + 8)
    wanted = [1.5, -0.75]
    found, _ = optimize.curve_fit(
        lambda x, a, b: a * np.exp(b * x), grid, wanted[0] * np.exp(wanted[1] * grid)
    )
    yield Comparison("curve_fit", found.tolist(), wanted, 1e-7)


def _programs(_dtype: str, size: int) -> Iterator[Comparison]:
    """Give out shares of a budget by HiGHS: the dearest first, as far as they go."""
    count = size + 1
    prices = [float(abs(value) + at % 3) for at, value in enumerate(whole_numbers(count, 967))]
    budget = count / 2
    dearest = sorted(prices, reverse=True)
    right = math.fsum(dearest[: int(budget)]) + (budget % 1) * dearest[int(budget)]
    found = optimize.linprog(
        [-price for price in prices], A_ub=[[1.0] * count], b_ub=[budget], bounds=(0, 1)
    )
    yield Comparison("linprog", -found.fun, right, ASKED * count)
    found = optimize.milp(
        [-price for price in prices],
        integrality=np.ones(count),
        constraints=optimize.LinearConstraint(np.ones((1, count)), ub=budget),
        bounds=optimize.Bounds(0, 1),
    )
    yield Comparison("milp", -found.fun, math.fsum(dearest[: int(budget)]), ASKED * count)
    side = min(count, 5)
    costs = [[float(value.real) for value in row] for row in whole(side, side, 971).values()]
    least = min(
        sum(costs[at][to] for at, to in enumerate(order))
        for order in itertools.permutations(range(side))
    )
    rows, columns = optimize.linear_sum_assignment(np.array(costs))
    total = sum(costs[at][to] for at, to in zip(rows.tolist(), columns.tolist(), strict=True))
    yield Comparison("linear_sum_assignment", total, least)


def _between(_dtype: str, size: int) -> Iterator[Comparison]:
    """Reproduce a cubic by splines of its degree, and a plane by what is linear."""
    grid = np.array([float(at) for at in range(size + 5)])
    points = [at / 8 for at in whole_numbers(3 * size + 1, 977, 16)]
    points = [abs(point) / 2 * (size + 4) for point in points]
    right = [_cubic(point) for point in points]
    unit = EPSILON * 64 * max(map(abs, (*right, 1.0)))
    values = np.array([_cubic(at) for at in grid.tolist()])
    for name in ("CubicSpline", "make_interp_spline"):
        found = getattr(interpolate, name)(grid, values)(points)
        yield Comparison(name, found.tolist(), right, unit)
    found = interpolate.splev(points, interpolate.splrep(grid, values))
    yield Comparison("splrep", np.asarray(found).tolist(), right, unit)
    spline = interpolate.InterpolatedUnivariateSpline(grid, values)
    yield Comparison("derivative", spline.derivatives(1.0).tolist(), [2.0, 3.0, 8.0, 6.0], unit * 8)
    akima = interpolate.Akima1DInterpolator(grid, 3 * grid - 1)(points)
    line = [3 * point - 1 for point in points]
    yield Comparison("Akima1DInterpolator", akima.tolist(), line, unit)
    monotone = interpolate.PchipInterpolator(grid, 3 * grid - 1)(points)
    yield Comparison("PchipInterpolator", monotone.tolist(), line, unit)
    plane = np.add.outer(2 * grid, -grid)
    pairs = list(zip(points, reversed(points), strict=True))
    found = interpolate.RegularGridInterpolator((grid, grid), plane)(pairs)
    expected = [2 * x - y for x, y in pairs]
    yield Comparison("RegularGridInterpolator", found.tolist(), expected, unit)
    surface = interpolate.RectBivariateSpline(grid, grid, plane)
    found = surface.ev(points, [1.0] * len(points)).tolist()
    yield Comparison("RectBivariateSpline", found, [2 * x - 1 for x in points], unit)


def _cubic(x: float) -> float:
    return ((x + 1) * x - 2) * x + 2


OPERATIONS = (
    Operation("quadrature", FLOATS, _quadrature),
    Operation("equations", FLOATS, _equations),
    Operation("roots", FLOATS, _roots),
    Operation("minima", FLOATS, _minima),
    Operation("programs", FLOATS, _programs),
    Operation("between", FLOATS, _between),
)
