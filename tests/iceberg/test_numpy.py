"""The big recipes. NumPy on OpenBLAS is proven at every run, from the store where that has it."""

import json
import os
from pathlib import Path

import pytest

from rvbuild.audit import Policy, audit_wheel
from rvbuild.recipe.read import read_recipe
from rvbuild.target import Floor
from tests.iceberg_samples import ROOT, rvbuild

FLOOR = Floor(2, 31)
BIGGEST_WHEEL_BYTES = 12_000_000

pytestmark = [pytest.mark.needs("qemu"), pytest.mark.timeout(5400)]


LONG = pytest.mark.skipif("RVBUILD_LONG" not in os.environ, reason="takes long: set RVBUILD_LONG")


@pytest.fixture(scope="module")
def numpy_wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("numpy")
    paths = rvbuild(folder, "wheel", "numpy", "--python", "3.13").splitlines()
    (path,) = (Path(line) for line in paths if Path(line).name.startswith("numpy-"))
    return path


def test_numpy_carries_openblas_and_the_tag_of_the_floor(numpy_wheel: Path) -> None:
    report = audit_wheel(numpy_wheel, Policy(FLOOR))
    assert report.ok, report.errors
    assert FLOOR.tag in numpy_wheel.name
    assert numpy_wheel.stat().st_size <= BIGGEST_WHEEL_BYTES
    assert any("libopenblas" in member.name for member in report.wheel.members)


@pytest.mark.parametrize("cpu", ["vlen512", "vlen1024"])
def test_numpy_is_right_on_long_vector_registers(
    numpy_wheel: Path, tmp_path: Path, cpu: str
) -> None:
    # OpenBLAS as released is wrong there; our patch to its choice of kernels makes it right.
    rvbuild(tmp_path, "test", "numpy", "--python", "3.13", "--cpu", cpu)


@LONG
def test_numpy_on_openblas_as_released_is_found_out(tmp_path: Path) -> None:
    recipe = ROOT / "recipes/openblas.yaml"
    patch = read_recipe(recipe).patches[0].value
    folder = tmp_path / "recipes"
    folder.mkdir()
    assert "choose-zvl256b" in patch
    (folder / "openblas.yaml").write_text(recipe.read_text().replace(f"  - {patch}\n", ""))
    assert patch not in [entry.value for entry in read_recipe(folder / "openblas.yaml").patches]
    words = ("test", "numpy", "--python", "3.13", "--cpu", "vlen512", "--cpu", "vlen1024", "--json")
    (report,) = json.loads(rvbuild(tmp_path, *words, "--no-suite", code=8, recipes=folder))[
        "reports"
    ]
    for cpu in ("vlen512", "vlen1024"):
        wrong = {
            result["check"]
            for result in report["results"]
            if result["cpu"] == cpu and result["status"] == "failed"
        }
        assert "numeric products" in wrong
        # Kernels that do not depend on the length of registers are right all the same.
        assert "numeric products [OPENBLAS_CORETYPE=riscv64_generic]" not in wrong


@LONG
def test_numpy_with_64_bit_integers_is_built_and_right(tmp_path: Path) -> None:
    words = ("wheel", "numpy", "--python", "3.13", "--no-suite")
    rvbuild(tmp_path, *words, recipes=ROOT / "variants/ilp64")


@LONG
def test_scipy_is_built_and_right(numpy_wheel: Path, tmp_path: Path) -> None:
    rvbuild(tmp_path, "wheel", "scipy", "--python", "3.13", "--python", "3.14")


@LONG
def test_scipy_with_fortran_is_built_and_right(tmp_path: Path) -> None:
    rvbuild(tmp_path, "wheel", "scipy==1.17.1", "--python", "3.13")
