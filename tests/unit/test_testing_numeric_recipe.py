"""Numeric checks in recipes: what is read, what is refused, and that the program knows it all."""

from pathlib import Path

import pytest

from rvbuild.errors import RecipeError
from rvbuild.recipe.lint import lint_recipe
from rvbuild.recipe.model import Numeric
from rvbuild.recipe.numeric import FAMILY_DTYPES, ROUNDED
from rvbuild.recipe.read import read_recipe

RECIPE = """\
name: demo
version: "1.0"
license: MIT
description: numbers
sources: [{pypi: demo, sha256: "%s"}]
test:
  imports: [demo]
  numeric:
    - %s
"""
ROOT = Path(__file__).parents[2]


def recipe(folder: Path, entry: str) -> Path:
    file = folder / "demo.yaml"
    file.write_text(RECIPE % ("a" * 64, entry), encoding="utf-8")
    return file


def test_numbers_need_no_quotes_and_variables_do(tmp_path: Path) -> None:
    entry = "{family: products, sizes: [0, 17], tolerance: 3, environments: [{}, {THREADS: 2}]}"
    file = recipe(tmp_path, entry)
    (check,) = read_recipe(file).test.numeric
    assert check == Numeric(
        family="products", sizes=(0, 17), tolerance=3, environments=({}, {"THREADS": "2"})
    )
    assert [problem.message for problem in lint_recipe(file)] == [
        "`2` is text here and a number to other YAML readers"
    ]


@pytest.mark.parametrize(
    ("entry", "message", "hint"),
    [
        (
            "{family: product, sizes: [1]}",
            "`product` is not one of the choices",
            "did you mean `products`?",
        ),
        ("{family: products, sizes: []}", "", ""),
        ("{family: products, sizes: [-1]}", "", ""),
        ("{family: products, sizes: [1], environments: []}", "", ""),
        ("{family: products, sizes: [1], dtypes: [float46]}", "", "did you mean `float64`?"),
        (
            "{family: fourier, sizes: [1], tolerance: 2, dtypes: [float16]}",
            "family `fourier` has no operation on `float16`",
            "did you mean `float64`?",
        ),
        (
            "{family: streams, sizes: [1], tolerance: 2, dtypes: [bool]}",
            "family `streams` has no operation on `bool`",
            "it has `int64`, `uint64`, `float32`, `float64`",
        ),
        (
            "{family: solves, sizes: [1], tolerance: 0}",
            "the results of family `solves` are rounded, so that it needs a tolerance",
            "add `tolerance: 4`",
        ),
        ("{family: functions, sizes: [1]}", "are rounded", "tolerance"),
        (
            "{family: sorting, sizes: [1], cpus: [vlen512, vlen128], environments: [{A: zvl256b}]}",
            "`zvl256b` needs vector registers of 256 bits, which `vlen128` does not have",
            "name the CPUs",
        ),
        (
            "{family: products, sizes: [1], environments: [{CORE: RISCV64_ZVL128B}]}",
            "which `rv64gc` does not have",
            "name the CPUs",
        ),
    ],
)
def test_what_cannot_be_is_refused_in_its_place(
    tmp_path: Path, entry: str, message: str, hint: str
) -> None:
    with pytest.raises(RecipeError) as caught:
        read_recipe(recipe(tmp_path, entry))
    (problem,) = caught.value.problems
    assert problem.line == 9
    assert hint in (problem.hint or "")
    if "choices" not in message:
        assert message in problem.message


def test_a_core_that_its_cpus_can_run_is_fine(tmp_path: Path) -> None:
    entry = (
        "{family: products, sizes: [1], cpus: [vlen256], environments: [{CORE: riscv64_zvl256b}]}"
    )
    assert read_recipe(recipe(tmp_path, entry)).test.numeric[0].cpus == ("vlen256",)


def test_a_library_has_no_numbers(tmp_path: Path) -> None:
    file = recipe(tmp_path, "{family: products, sizes: [1]}")
    text = file.read_text(encoding="utf-8").replace("  imports: [demo]\n", "")
    file.write_text(text + "kind: library\nbuild: {system: make}\n", encoding="utf-8")
    with pytest.raises(RecipeError) as caught:
        read_recipe(file)
    assert [problem.message for problem in caught.value.problems] == [
        "`numeric` is for wheels, and this is a library"
    ]


def test_the_program_has_the_families_and_dtypes_that_recipes_may_name() -> None:
    pytest.importorskip("scipy")
    from rvbuild.data.testing.rvbuild_numeric.families import FAMILIES, operations_of

    has = {
        family: {dtype for operation in operations_of(family) for dtype in operation.dtypes}
        for family in FAMILIES
    }
    assert has == {family: set(dtypes) for family, dtypes in FAMILY_DTYPES.items()}
    assert set(ROUNDED) < set(has)


@pytest.mark.parametrize("name", ["numpy", "numpy/2.4.6", "scipy", "scipy/1.17.1"])
def test_numpy_and_scipy_are_checked_in_every_family_of_theirs(name: str) -> None:
    pytest.importorskip("numpy")
    from rvbuild.data.testing.rvbuild_numeric.families import NUMPY, SCIPY

    checks = read_recipe(ROOT / f"recipes/{name}.yaml").test.numeric
    families = NUMPY if name.startswith("numpy") else SCIPY
    assert {check.family for check in checks} == set(families)
    assert any(check.environments != ({},) for check in checks)
