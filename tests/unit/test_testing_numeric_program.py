"""The program that checks numbers, with this machine's NumPy: right as it is, wrong when spoilt."""

import json
import os
import random
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

np = pytest.importorskip("numpy")

from rvbuild.data.testing.rvbuild_numeric.case import Comparison, Operation, examine  # noqa: E402 - NumPy may be missing
from rvbuild.data.testing.rvbuild_numeric.exact import (  # noqa: E402 - as above
    FRACTION,
    Matrix,
    fixed,
    multiply,
    whole,
    whole_numbers,
)
from rvbuild.data.testing.rvbuild_numeric.families import (  # noqa: E402 - as above
    FAMILIES,
    SCIPY,
    operations_of,
)
from rvbuild.data.testing.rvbuild_numeric.run import (  # noqa: E402 - as above
    Entry,
    find_operation,
    run_case,
    run_entry,
)
from rvbuild.recipe.numeric import ROUNDED  # noqa: E402 - as above

DATA = Path(__file__).parents[2] / "rvbuild" / "data" / "testing"

# As the recipe of SciPy has it.
TOLERANCES = {"special": 8}


@pytest.mark.parametrize("family", FAMILIES)
def test_every_operation_is_right_here(family: str) -> None:
    if family in SCIPY:
        pytest.importorskip("scipy")
    tolerance = TOLERANCES.get(family, 4 if family in ROUNDED else 0)
    for operation in operations_of(family):
        for dtype in operation.dtypes:
            outcomes = [examine(operation, dtype, size, tolerance) for size in (0, 1, 2, 9, 17)]
            assert [outcome for outcome in outcomes if not outcome.ok] == []
            assert sum(outcome.compared for outcome in outcomes), (operation.name, dtype)


Product = Callable[[int, int], int]


@pytest.mark.parametrize("size", [1, 2, 100, 10**30])
def test_packed_products_are_those_of_plain_loops(size: int) -> None:
    values = random.Random(1)  # noqa: S311 - any numbers will do
    for rows, inner, columns in ((0, 2, 3), (2, 0, 3), (2, 3, 0), (1, 1, 1), (4, 5, 3)):
        left, right = (
            tuple(tuple(values.randint(-size, size) for _ in range(wide)) for _ in range(high))
            for high, wide in ((rows, inner), (inner, columns))
        )
        plain = tuple(
            tuple(sum(left[i][k] * right[k][j] for k in range(inner)) for j in range(columns))
            for i in range(rows)
        )
        assert multiply(left, right, columns) == plain


def test_gaussian_products_are_those_of_complex_numbers() -> None:
    left, right = whole(3, 4, 1, gaussian=True), whole(4, 2, 3, gaussian=True)
    plain = [
        [sum(left.values()[i][k] * right.values()[k][j] for k in range(4)) for j in range(2)]
        for i in range(3)
    ]
    assert (left @ right).values() == plain
    assert (left @ right).transposed.shape == (2, 3)
    assert left.conjugated.conjugated == left
    assert (left - left).values() == [[0j] * 4] * 3


def test_floats_become_exact_fractions() -> None:
    assert fixed([[0.5, -2.0]], 2, gaussian=False) == Matrix(
        2, ((1 << FRACTION - 1, -2 << FRACTION),)
    )
    with pytest.raises(ArithmeticError, match="nan"):
        fixed([[float("nan")]], 1, gaussian=False)


def test_inputs_are_always_the_same_and_within_their_limit() -> None:
    numbers = whole_numbers(500, 7)
    assert numbers[:5] == whole_numbers(5, 7)
    assert numbers != whole_numbers(500, 8)
    assert set(numbers) == set(range(-8, 9))


def made_up(
    found: object, right: object, unit: float = 0.0, *, relative: bool = False
) -> Operation:
    comparison = Comparison("made up", found, right, unit, relative)
    return Operation("made_up", ("float64",), lambda _dtype, _size: iter([comparison]))


NAN, INFINITY = float("nan"), float("inf")


@pytest.mark.parametrize(
    ("found", "right", "wrong"),
    [
        ([1.0, 2.0], [1, 2], 0),
        ([1.5, 2.0], [1, 2], 0),
        ([1.5000001, 2.0], [1, 2], 1),
        ([1.5000001, 9.0], [1, 2], 2),
        ([NAN, 2.0], [1, 2], 1),
        ([NAN, 2.0], [NAN, 2], 0),
        ([1.0, 2.0], [NAN, 2], 1),
        ([INFINITY], [INFINITY], 0),
        ([1e308], [INFINITY], 1),
        ([INFINITY], [1], 1),
        ([-INFINITY], [INFINITY], 1),
        ([1.0], [1, 2], 2),
        ([[1.0]], [1], 1),
        (1.0, [1], 1),
        ([None], [1], 1),
        ([1 + 1j], [1], 1),
    ],
)
@pytest.mark.parametrize("relative", [False, True])
def test_elements_are_told_right_from_wrong(
    found: object, right: object, wrong: int, *, relative: bool
) -> None:
    unit = 0.25
    outcome = examine(made_up(found, right, unit, relative=relative), "float64", 1, 2)
    assert outcome.wrong == wrong
    assert outcome.ok == (wrong == 0)


def test_nothing_is_allowed_without_a_unit() -> None:
    assert not examine(made_up([1 + 1e-15], [1]), "float64", 1, 1000).ok


def test_the_worst_of_the_allowed_errors_is_told() -> None:
    outcome = examine(made_up([1.0, 2.25, 3.125], [1, 2, 3], 0.25), "float64", 1, 2)
    assert (outcome.worst, outcome.bound, outcome.compared) == ("0.25", "0.5", 3)


def test_what_is_raised_is_a_finding() -> None:
    def fail(_dtype: str, _size: int) -> None:
        raise np.linalg.LinAlgError("singular")

    outcome = examine(Operation("solve", ("float64",), fail), "float64", 3, 4)  # type: ignore[arg-type] # raises before it yields
    assert not outcome.ok
    assert outcome.note == "raised LinAlgError: singular"


def spoil(monkeypatch: pytest.MonkeyPatch, holder: object, name: str, least: int) -> None:
    """Let a function add 1 to the last element of what it gives for operands of some size."""
    right = getattr(holder, name)

    def spoilt(*operands: object, **options: object) -> object:
        result = right(*operands, **options)
        if max(np.shape(operands[0]), default=0) >= least and np.ndim(result):
            result = result.copy()
            result.flat[-1] += 1
        return result

    monkeypatch.setattr(holder, name, spoilt)


@pytest.mark.parametrize(
    ("family", "holder", "name", "operation"),
    [
        ("solves", np.linalg, "solve", "solve"),
        ("solves", np.linalg, "cholesky", "cholesky"),
        ("solves", np.linalg, "inv", "inverse"),
        ("elementwise", np, "add", "add"),
        ("functions", np, "exp", "exp"),
        ("reductions", np, "cumsum", "running"),
        ("sorting", np, "sort", "sort"),
        ("fourier", np.fft, "rfft", "real"),
    ],
)
def test_one_wrong_element_is_caught_and_its_smallest_size_found(
    monkeypatch: pytest.MonkeyPatch, family: str, holder: object, name: str, operation: str
) -> None:
    spoil(monkeypatch, holder, name, 9)
    cases: list[str] = []
    entry = Entry(family, ("float64",), (2, 17), 4 if family in ROUNDED else 0)
    found = run_entry(entry, cases.append)
    smallest = found["smallest"]
    assert isinstance(smallest, dict)
    assert (smallest["operation"], smallest["dtype"]) == (operation, "float64")
    assert smallest["size"] == 9
    assert smallest["wrong"] >= 1
    assert f"{family}:{operation}:float64:9" in cases


def test_sizes_of_the_plan_are_not_tried_again() -> None:
    entry = Entry("streams", ("uint64",), (1, 3), 1)
    cases: list[str] = []
    found = run_entry(entry, cases.append)
    assert found["smallest"] is None
    assert len(cases) == len(set(cases)) == 4


def test_names_that_mean_no_case_are_refused() -> None:
    plan = [Entry("products", ("float64",), (1,), 0)]
    assert run_case("products:matmul:float64:3", plan).ok
    for name in ("products:matmul", "products:nothing:float64:1", "fourier:lines:float64:1"):
        with pytest.raises(ValueError, match=r"there is|the plan|unpack"):
            run_case(name, plan)
    with pytest.raises(ValueError, match="`float32`"):
        run_case("products:matmul:float32:1", plan)
    assert find_operation("products", "dots").name == "dots"


SPOILER = """
import numpy
plain = numpy.dot
def dot(left, right):
    found = plain(left, right)
    if found.ndim == 2 and len(left) >= 5:
        found[0, 0] += 1
    return found
numpy.dot = dot
"""


def run_program(folder: Path, *words: str, spoilt: bool = False) -> tuple[int, str]:
    plan = [
        {"family": "products", "dtypes": ["float64"], "sizes": [0, 2, 17], "tolerance": 0},
        {"family": "streams", "dtypes": [], "sizes": [3], "tolerance": 1},
    ]
    (folder / "plan.json").write_text(json.dumps(plan))
    (folder / "spoilt").mkdir(exist_ok=True)
    (folder / "spoilt/sitecustomize.py").write_text(SPOILER)
    paths = [str(DATA), *([str(folder / "spoilt")] if spoilt else [])]
    command = [sys.executable, "-B", "-m", "rvbuild_numeric", "plan.json", "results.json", *words]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(paths)}
    done = subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, check=False
    )
    return done.returncode, done.stdout + done.stderr


def test_the_program_writes_what_it_found(tmp_path: Path) -> None:
    code, output = run_program(tmp_path)
    assert code == 0, output
    results = json.loads((tmp_path / "results.json").read_text())
    assert results["schema"] == 1
    assert [entry["smallest"] for entry in results["entries"]] == [None, None]
    operations = {case["operation"] for case in results["entries"][0]["cases"]}
    assert {"matmul", "squares", "vectors", "dots"} <= operations
    running = (tmp_path / "results.json.running").read_text()
    assert running.startswith("streams:")
    assert running.count("\n") == 1


def test_a_spoilt_package_is_found_out_and_its_case_repeated(tmp_path: Path) -> None:
    code, output = run_program(tmp_path, spoilt=True)
    assert code == 1, output
    products, streams = json.loads((tmp_path / "results.json").read_text())["entries"]
    assert streams["smallest"] is None
    smallest = products["smallest"]
    assert (smallest["operation"], smallest["size"], smallest["wrong"]) == ("contractions", 5, 1)
    case = "products:contractions:float64:5"
    code, output = run_program(tmp_path, "--case", case, spoilt=True)
    assert code == 1
    assert f"{case}: dot: 1 of 35 elements wrong, at [0, 0] it gave" in output
    code, output = run_program(tmp_path, "--case", case)
    assert (code, "elements right" in output) == (0, True), output
    code, output = run_program(tmp_path, "--case", "products:nothing:float64:5")
    assert (code, "no operation" in output) == (2, True), output
