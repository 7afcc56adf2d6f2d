"""Distances, neighbours, hulls and turns of SciPy's `spatial` against plain loops."""

import math
from collections.abc import Callable, Iterator, Sequence

import numpy as np
from scipy import spatial
from scipy.cluster import hierarchy
from scipy.spatial import distance, transform

from .case import Comparison, Operation
from .exact import whole_numbers

EPSILON = 2.0**-52
FLOATS = ("float64",)
DIMENSIONS = 3

Point = Sequence[float]


def _points(count: int, seed: int, dimensions: int = DIMENSIONS) -> list[list[float]]:
    values = whole_numbers(count * dimensions, seed, 40)
    return [
        [float(value) for value in values[at * dimensions : (at + 1) * dimensions]]
        for at in range(count)
    ]


def _gaps(one: Point, other: Point) -> list[float]:
    return [abs(x - y) for x, y in zip(one, other, strict=True)]


def _cosine(one: Point, other: Point) -> float:
    product = math.fsum(x * y for x, y in zip(one, other, strict=True))
    return 1 - product / (math.hypot(*one) * math.hypot(*other))


METRICS: dict[str, Callable[[Point, Point], float]] = {
    "euclidean": math.dist,
    "sqeuclidean": lambda one, other: sum(gap * gap for gap in _gaps(one, other)),
    "cityblock": lambda one, other: sum(_gaps(one, other)),
    "chebyshev": lambda one, other: max(_gaps(one, other)),
    "hamming": lambda one, other: sum(gap > 0 for gap in _gaps(one, other)) / len(one),
    "cosine": _cosine,
}


def _metrics(_dtype: str, size: int) -> Iterator[Comparison]:
    if not size:
        return
    one, other = _points(size, 1031), _points(size + 1, 1033)
    # A cosine has no answer at the origin.
    one[0], other[0] = [1.0, 2.0, 2.0], [4.0, 0.0, 3.0]
    one = [point if any(point) else [1.0, 0.0, 0.0] for point in one]
    other = [point if any(point) else [1.0, 0.0, 0.0] for point in other]
    for name, metric in METRICS.items():
        right = [[metric(point, place) for place in other] for point in one]
        unit = EPSILON * 8 * max(max(map(abs, row)) for row in right)
        found = distance.cdist(np.array(one), np.array(other), name)
        yield Comparison(name, found.tolist(), right, unit)
    pairs = [math.dist(one[at], one[to]) for at in range(size) for to in range(at + 1, size)]
    found = distance.pdist(np.array(one))
    yield Comparison("pdist", found.tolist(), pairs, EPSILON * 8 * max((*pairs, 1.0)))


def _neighbours(_dtype: str, size: int) -> Iterator[Comparison]:
    if not size:
        return
    places, wanted = _points(size, 1039), _points(size + 2, 1049)
    right = [min(math.dist(point, place) for place in places) for point in wanted]
    unit = EPSILON * 8 * max((*right, 1.0))
    for name in ("KDTree", "cKDTree"):
        tree = getattr(spatial, name)(np.array(places), leafsize=4)
        found, nearest = tree.query(np.array(wanted), workers=2)
        yield Comparison(name, found.tolist(), right, unit)
        reached = [
            math.dist(point, places[at]) for point, at in zip(wanted, nearest.tolist(), strict=True)
        ]
        yield Comparison(f"{name}, places", reached, right, unit)
        within = [sum(math.dist(point, place) <= 30.0 for place in places) for point in wanted]  # noqa: PLR2004 - any radius
        found = tree.query_ball_point(np.array(wanted), 30.0, return_length=True)
        yield Comparison(f"{name}, ball", found.tolist(), within)


def _hulls(_dtype: str, size: int) -> Iterator[Comparison]:
    """Ask Qhull for the hull and the triangles of a grid, whose areas are whole numbers."""
    side = min(size, 9) + 2
    grid = np.array([[float(at), float(to)] for at in range(side) for to in range(side)])
    hull = spatial.ConvexHull(grid)
    unit = EPSILON * 64 * side
    # In two dimensions Qhull's volume is the area, and its area the way round.
    yield Comparison("area", float(hull.volume), float((side - 1) ** 2), unit * side)
    yield Comparison("way round", float(hull.area), 4.0 * (side - 1), unit)
    mesh = spatial.Delaunay(grid)
    total = math.fsum(_area(grid[corners].tolist()) for corners in mesh.simplices)
    yield Comparison("Delaunay", total, float((side - 1) ** 2), unit * side)
    cells = spatial.Voronoi(grid)
    inner = [
        cells.vertices[cells.regions[cells.point_region[at]]].mean(axis=0).tolist()
        for at in range(len(grid))
        if 0 < grid[at][0] < side - 1 and 0 < grid[at][1] < side - 1
    ]
    middles = [
        place for place in grid.tolist() if 0 < place[0] < side - 1 and 0 < place[1] < side - 1
    ]
    yield Comparison("Voronoi", inner, middles, unit)


def _area(corners: list[list[float]]) -> float:
    (a, b), (c, d), (e, f) = corners
    return abs((c - a) * (f - b) - (e - a) * (d - b)) / 2


def _turns(_dtype: str, size: int) -> Iterator[Comparison]:
    angles = [at / 4 for at in whole_numbers(size + 1, 1051)]
    turn = transform.Rotation.from_rotvec([[0.0, 0.0, angle] for angle in angles])
    right = [[math.cos(angle), math.sin(angle), 2.0] for angle in angles]
    yield Comparison("apply", turn.apply([1.0, 0.0, 2.0]).tolist(), right, EPSILON * 8)
    twice = (turn * turn).apply([1.0, 0.0, 2.0])
    right = [[math.cos(2 * angle), math.sin(2 * angle), 2.0] for angle in angles]
    yield Comparison("twice", twice.tolist(), right, EPSILON * 16)
    there = (turn * turn.inv()).as_matrix()
    ones = [[[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]] * len(angles)
    yield Comparison("inverse", there.tolist(), ones, EPSILON * 8)


def _trees(_dtype: str, size: int) -> Iterator[Comparison]:
    """Join points on a line, the nearest first: the gaps in order are the heights."""
    steps = [abs(value) + 1 for value in whole_numbers(size + 1, 1061)]
    places = np.cumsum([0, *steps]).astype(float).reshape(-1, 1)
    found = hierarchy.linkage(places, "single")[:, 2]
    yield Comparison("linkage", found.tolist(), sorted(map(float, steps)))
    nearest = spatial.distance.directed_hausdorff(places, places[:1])[0]
    yield Comparison("directed_hausdorff", float(nearest), float(sum(steps)))


OPERATIONS = (
    Operation("metrics", FLOATS, _metrics),
    Operation("neighbours", FLOATS, _neighbours),
    Operation("hulls", FLOATS, _hulls),
    Operation("turns", FLOATS, _turns),
    Operation("trees", FLOATS, _trees),
)
