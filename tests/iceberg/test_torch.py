"""PyTorch, from the store where that has it: what its wheel holds, and what runs on it."""

import json
import os
import subprocess
import sys
import zipfile
from pathlib import Path

import platformdirs
import pytest
import yaml

from rvbuild.audit import Policy, audit_wheel
from rvbuild.recipe.catalogue import Catalogue
from rvbuild.target import Floor
from tests.build_samples import pack_source

ROOT = Path(__file__).parents[2]
CACHE = Path(os.environ.get("RVBUILD_CACHE") or platformdirs.user_cache_path("rvbuild"))
FLOOR = Floor(2, 31)
BIGGEST_WHEEL_BYTES = 60_000_000
SBOM = "torch-2.6.0.dist-info/sboms/rvbuild.cdx.json"
RUNTIMES = ("libgomp", "libomp", "libiomp")

pytestmark = [
    pytest.mark.needs("qemu"),
    pytest.mark.timeout(6 * 3600),
    pytest.mark.skipif("RVBUILD_LONG" not in os.environ, reason="takes hours: set RVBUILD_LONG"),
]

CAPABILITY = """
import os
import sys
os.environ.update(word.split("=") for word in sys.argv[1:])
import torch
print(torch.backends.cpu.get_cpu_capability())
"""
COMPILE = """
import os
os.environ["PATH"] = "/nowhere"
import torch

def formula(x):
    return torch.sin(x) * 2 + x

values = torch.linspace(-2, 2, 17)
assert torch.equal(torch.compile(formula, backend="eager")(values), formula(values))
try:
    torch.compile(formula)(values)
except Exception as error:
    print(str(error).splitlines())
"""
# An operator in C++ whose errors pass through libstdc++, of the wheel's headers alone.
OPERATOR = """
#include <torch/library.h>
#include <ATen/ATen.h>
#include <stdexcept>
#include <string>
at::Tensor twice(const at::Tensor &given) {
  TORCH_CHECK(given.dim() == 1, "one dimension, not ", std::to_string(given.dim()));
  return given + given;
}
TORCH_LIBRARY(demo, library) { library.def("twice(Tensor given) -> Tensor", &twice); }
"""
BACKEND = """
import glob, os, subprocess, sysconfig, zipfile
def build_wheel(folder, settings):
    headers = sysconfig.get_path("purelib") + "/torch/include"
    words = [*os.environ["CXX"].split(), "-std=c++17", "-shared", "-fPIC", "-I" + headers]
    words += ["-I" + headers + "/torch/csrc/api/include"]
    subprocess.run([*words, "demo.cc", "-o", "operator.so"], check=True)
    tag = "cp313-cp313-" + sysconfig.get_platform().replace("-", "_")
    info = "demo-1.0.dist-info/"
    about = ["Wheel-Version: 1.0", "Generator: bare", "Root-Is-Purelib: false", "Tag: " + tag, ""]
    head = "Metadata-Version: 2.1\\nName: demo\\nVersion: 1.0\\nRequires-Dist: torch==2.6.0\\n"
    load = "import os, torch\\n"
    load += "torch.ops.load_library(os.path.dirname(__file__) + '/operator.so')\\n"
    with zipfile.ZipFile(os.path.join(folder, f"demo-1.0-{tag}.whl"), "w") as wheel:
        wheel.write("operator.so", "demo/operator.so")
        wheel.writestr("demo/__init__.py", load)
        wheel.writestr(info + "METADATA", head)
        wheel.writestr(info + "WHEEL", "\\n".join(about))
        members = ["demo/operator.so", "demo/__init__.py"]
        members += [info + name for name in ("METADATA", "WHEEL", "RECORD")]
        wheel.writestr(info + "RECORD", "".join(f"{member},,\\n" for member in members))
    return f"demo-1.0-{tag}.whl"
"""
BARE_PROJECT = """
[build-system]
requires = []
build-backend = "bare"
backend-path = ["."]
"""
EXTENSION_SMOKE = """
import demo, torch
assert torch.equal(torch.ops.demo.twice(torch.ones(3)), torch.full((3,), 2.0))
try:
    torch.ops.demo.twice(torch.ones(3, 3))
except RuntimeError as error:
    assert "one dimension, not 2" in str(error)
else:
    raise SystemExit("the error of the operator did not arrive")
"""


def rvbuild(folder: Path, *words: str) -> str:
    command = [sys.executable, "-m", "rvbuild", "--cache", str(CACHE), *words]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-6000:]
    return done.stdout


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Give what is told of the wheel's job, which is proven by its smoke test on each CPU."""
    folder = tmp_path_factory.mktemp("torch")
    told = json.loads(rvbuild(folder, "wheel", "torch", "--python", "3.13", "--json"))
    job: dict[str, str] = next(each for each in told["jobs"] if each["id"].startswith("torch-"))
    return job


@pytest.fixture(scope="module")
def wheel(built: dict[str, str]) -> Path:
    """Give the wheel."""
    return Path(built["path"])


def test_the_wheel_is_small_and_fits_the_floor(wheel: Path) -> None:
    report = audit_wheel(wheel, Policy(FLOOR))
    assert report.ok, report.errors
    assert FLOOR.tag in wheel.name
    assert wheel.stat().st_size <= BIGGEST_WHEEL_BYTES
    names = [Path(binary.member).name for binary in report.binaries]
    assert any(name.startswith("libopenblas") for name in names)
    # Threads are ATen's own; with OpenMP there may be one runtime, and never two.
    assert not [name for name in names if name.startswith(RUNTIMES)]


def test_symbols_lie_beside_the_wheel(built: dict[str, str]) -> None:
    symbols = Path(built["symbols"])
    assert (symbols / "torch/lib/libtorch_cpu.so.debug").stat().st_size > 10_000_000


def test_every_third_party_is_in_the_bill_of_materials(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        document = json.loads(archive.read(SBOM))
    recipe = Catalogue((ROOT / "recipes",)).find("torch")
    told = {each.get("description") for each in document["components"]}
    assert {extra.into for extra in recipe.extra_sources} <= told
    names = {each["name"] for each in document["components"]}
    assert {"protobuf", "onnx", "pybind11", "openblas", "sleef"} <= names


@pytest.mark.parametrize(
    ("cpu", "words", "expected"),
    [
        ("rv64gc", (), "DEFAULT"),
        ("vlen128", (), "RVV"),
        ("vlen256", (), "RVV"),
        ("vlen256", ("ATEN_CPU_CAPABILITY=default",), "DEFAULT"),
        ("rv64gc", ("ATEN_CPU_CAPABILITY=rvv",), "DEFAULT"),
    ],
)
def test_kernels_are_chosen_by_what_the_cpu_has(
    wheel: Path, tmp_path: Path, cpu: str, words: tuple[str, ...], expected: str
) -> None:
    (tmp_path / "capability.py").write_text(CAPABILITY)
    told = ("--with", str(wheel), "--cpu", cpu, "--python", "3.13")
    found = rvbuild(tmp_path, "run", *told, "capability.py", "--", *words)
    assert found.split()[-1] == expected


@pytest.mark.parametrize("cpu", ["vlen512", "vlen1024"])
def test_torch_is_right_on_long_vector_registers(wheel: Path, tmp_path: Path, cpu: str) -> None:
    assert wheel.is_file()
    rvbuild(tmp_path, "test", "torch", "--python", "3.13", "--cpu", cpu)


def test_compiling_without_a_compiler_says_so(wheel: Path, tmp_path: Path) -> None:
    (tmp_path / "compile.py").write_text(COMPILE)
    told = ("--with", str(wheel), "--cpu", "vlen256", "--python", "3.13")
    assert "No working C++ compiler found" in rvbuild(tmp_path, "run", *told, "compile.py")


def test_an_operator_built_across_works_with_the_wheel(wheel: Path, tmp_path: Path) -> None:
    assert wheel.is_file()
    files = {"demo.cc": OPERATOR, "bare.py": BACKEND, "pyproject.toml": BARE_PROJECT}
    recipe = {
        "name": "demo",
        "version": "1.0",
        "license": "MIT",
        "sources": [pack_source(tmp_path / "made", "demo-1.0", files)],
        "requires": {"target": ["torch"]},
        "test": {"cpus": ["rv64gc", "vlen256"], "smoke": EXTENSION_SMOKE, "timeout_seconds": 3600},
    }
    (tmp_path / "recipes").mkdir()
    (tmp_path / "recipes/demo.yaml").write_text(yaml.safe_dump(recipe, sort_keys=False))
    (tmp_path / "rvbuild.toml").write_text('recipes = ["recipes"]\n')
    rvbuild(tmp_path, "wheel", "demo", "--python", "3.13")
