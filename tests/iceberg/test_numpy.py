"""The big recipes. NumPy on OpenBLAS is proven at every run, from the store where that has it."""

import os
import subprocess
import sys
from pathlib import Path

import platformdirs
import pytest

from rvbuild.audit import Policy, audit_wheel
from rvbuild.target import Floor

CACHE = Path(os.environ.get("RVBUILD_CACHE") or platformdirs.user_cache_path("rvbuild"))
FLOOR = Floor(2, 31)
BIGGEST_WHEEL_BYTES = 12_000_000

pytestmark = [pytest.mark.needs("qemu"), pytest.mark.timeout(5400)]


def rvbuild(folder: Path, *words: str) -> str:
    command = [sys.executable, "-m", "rvbuild", "--cache", str(CACHE), *words]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-6000:]
    return done.stdout


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


@pytest.mark.skipif("RVBUILD_LONG" not in os.environ, reason="takes hours: set RVBUILD_LONG")
def test_scipy_is_built_and_right(numpy_wheel: Path, tmp_path: Path) -> None:
    rvbuild(tmp_path, "wheel", "scipy", "--python", "3.13", "--python", "3.14")
