"""PyTorch's `Vectorized` from the headers of its wheel: what RVV computes at every length."""

import os
import subprocess
import sys
import zipfile
from pathlib import Path

import platformdirs
import pytest

from rvbuild.events import Silent
from rvbuild.fetch.configuration import discover
from rvbuild.kit import Supplies
from rvbuild.pipeline import Options
from rvbuild.pipeline.equipment import Kits, install_kits
from rvbuild.places import Places
from rvbuild.target import Floor, profiles
from tests.integration.conftest import house_of

CACHE = Path(os.environ.get("RVBUILD_CACHE") or platformdirs.user_cache_path("rvbuild"))
ROOT = Path(__file__).parents[2]
PROGRAM = ROOT / "tests/data/torch/vectorized.cc"
SAMPLES = "2000"
VECTOR_CPUS = tuple(name for name, cpu in profiles().items() if cpu.vlen)

pytestmark = [
    pytest.mark.needs("qemu"),
    pytest.mark.timeout(6 * 3600),
    pytest.mark.skipif("RVBUILD_LONG" not in os.environ, reason="takes hours: set RVBUILD_LONG"),
]


def rvbuild(folder: Path, *words: str) -> list[Path]:
    command = [sys.executable, "-m", "rvbuild", "--cache", str(CACHE), *words]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-6000:]
    return [Path(line) for line in done.stdout.splitlines()]


@pytest.fixture(scope="module")
def kits() -> Kits:
    """Give compiler and emulator."""
    supplies = Supplies(Places(CACHE), discover(os.environ), Silent())
    house = house_of(supplies.places, ROOT / "recipes", supplies)
    return install_kits(Options((), (), Floor(2, 31)), house)


@pytest.fixture(scope="module")
def headers(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Give the headers that come with the wheel."""
    folder = tmp_path_factory.mktemp("torch")
    wheels = rvbuild(folder, "wheel", "torch", "--python", "3.13", "--no-test")
    (wheel,) = (path for path in wheels if path.name.startswith("torch-"))
    with zipfile.ZipFile(wheel) as archive:
        names = [name for name in archive.namelist() if name.startswith("torch/include/")]
        archive.extractall(folder, names)
    return folder / "torch/include"


@pytest.fixture(scope="module")
def sleef(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Give the prefix of SLEEF, whose functions these are in part."""
    (prefix,) = rvbuild(tmp_path_factory.mktemp("sleef"), "build", "sleef", "--no-test")
    return prefix


def compile_program(kits: Kits, headers: Path, sleef: Path, program: Path) -> None:
    """Compile the checks as the kernels of the capability are."""
    words = ["-std=gnu++17", "-O2", "-static", "-march=rv64gcv"]
    words += ["-DCPU_CAPABILITY=RVV", "-DCPU_CAPABILITY_RVV"]
    words += [f"-I{folder}" for folder in (headers, sleef / "include")]
    words += [str(PROGRAM), str(sleef / "lib/libsleef.a"), "-o", str(program)]
    environment = {"PATH": "/usr/bin:/bin", "TMPDIR": str(program.parent)}
    done = subprocess.run(
        [str(kits.toolchain.cxx), *words],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-6000:]


def run_program(kits: Kits, program: Path, cpu: str) -> str:
    """Run the checks on a CPU; give what they say."""
    words = (*kits.emulator.words(profiles()[cpu], kits.toolchain.sysroot), str(program), SAMPLES)
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-6000:] + done.stderr[-2000:]
    return done.stdout


@pytest.fixture(scope="module")
def checks(
    kits: Kits, headers: Path, sleef: Path, tmp_path_factory: pytest.TempPathFactory
) -> Path:
    """Give the compiled checks."""
    program = tmp_path_factory.mktemp("checks") / "vectorized"
    compile_program(kits, headers, sleef, program)
    return program


@pytest.mark.parametrize("cpu", VECTOR_CPUS)
def test_vectors_hold_what_plain_code_says(kits: Kits, checks: Path, cpu: str) -> None:
    said = run_program(kits, checks, cpu).splitlines()[-1]
    count, failures = (int(word) for word in said.replace(",", "").split() if word.isdigit())
    assert count > 1_000_000
    assert failures == 0
