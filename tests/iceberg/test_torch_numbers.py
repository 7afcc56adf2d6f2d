"""PyTorch's numbers on riscv64 against those of the same version on x86-64."""

import os
import platform
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from rvbuild.kit import Supplies, Tree, load_pins, materialise
from tests.iceberg_samples import ROOT, rvbuild
from tests.integration.conftest import supplies

__all__ = ["supplies"]

DATA = ROOT / "tests/data/torch"
LIBRARIES = (
    "usr/lib/x86_64-linux-gnu",
    "usr/lib/x86_64-linux-gnu/blas",
    "usr/lib/x86_64-linux-gnu/lapack",
    "usr/lib",
)
REFERENCE = "reference.npz"
# What the program computes; fewer would be a program that lost something.
RESULTS = 11_103

pytestmark = [pytest.mark.needs("qemu"), pytest.mark.timeout(6 * 3600)]

LONG = pytest.mark.skipif("RVBUILD_LONG" not in os.environ, reason="takes long: set RVBUILD_LONG")


def compare(found: Path, expected: Path) -> subprocess.CompletedProcess[str]:
    words = [sys.executable, str(DATA / "compare.py"), str(found), str(expected)]
    return subprocess.run(words, capture_output=True, text=True, check=False)


@pytest.fixture(scope="module")
def reference(tmp_path_factory: pytest.TempPathFactory, supplies: Supplies) -> Path:
    """Give what Debian's PyTorch of the same version computes on this machine."""
    if platform.machine() != "x86_64":
        pytest.skip("the reference is x86-64's, and runs nowhere else")
    pinned = load_pins(DATA / "reference.yaml").tree("torch")
    kit = materialise(Tree("torch-reference", pinned), supplies).path
    folders = [kit / name for name in LIBRARIES]
    program = [str(folders[0] / "ld-linux-x86-64.so.2"), "--library-path"]
    program += [":".join(map(str, folders)), str(kit / "usr/bin/python3.13")]
    found = tmp_path_factory.mktemp("reference") / REFERENCE
    environment = {
        "PATH": os.defpath,
        "HOME": str(found.parent),
        "PYTHONHOME": str(kit / "usr"),
        "PYTHONPATH": str(kit / "usr/lib/python3/dist-packages"),
        "PYTHONDONTWRITEBYTECODE": "1",
    }
    words = [*program, str(DATA / "computed.py"), str(found)]
    subprocess.run(words, env=environment, cwd=found.parent, check=True)
    return found


def test_a_difference_is_told(reference: Path, tmp_path: Path) -> None:
    with np.load(reference) as kept:
        results = {name: kept[name] for name in kept.files}
    assert len(results) == RESULTS
    assert compare(reference, reference).stdout == f"{RESULTS} of {RESULTS} are the same\n"
    results["each.exp.float32.17"] = results["each.exp.float32.17"] * np.float32(1.0001)
    results["sorted.int8.33"] = results["sorted.int8.33"][::-1]
    results["each.special.log.float64"] = np.abs(results["each.special.log.float64"])
    del results["matmul.float32.17"]
    np.savez(tmp_path / "found.npz", **results)
    told = compare(tmp_path / "found.npz", reference)
    assert told.returncode == 1
    assert told.stdout.splitlines() == [
        "matmul.float32.17: is missing",
        "each.exp.float32.17: by 0.0001 and not 2e-05",
        "each.special.log.float64: others are not finite",
        "sorted.int8.33: 32 of 33 are others",
        f"{RESULTS - 4} of {RESULTS} are the same",
    ]


@LONG
@pytest.mark.parametrize("cpu", ["rv64gc", "vlen128", "vlen256", "vlen512", "vlen1024"])
def test_torch_computes_what_it_does_on_x86(cpu: str, reference: Path, tmp_path: Path) -> None:
    paths = rvbuild(tmp_path, "wheel", "torch", "--python", "3.13", "--no-test").splitlines()
    wheels = [word for path in paths for word in ("--with", path)]
    shutil.copy(DATA / "computed.py", tmp_path)
    chosen = ("--cpu", cpu, "--python", "3.13")
    rvbuild(tmp_path, "run", *wheels, *chosen, "computed.py", "--", "found.npz")
    told = compare(tmp_path / "found.npz", reference)
    assert told.returncode == 0, told.stdout[-6000:]
