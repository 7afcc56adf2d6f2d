"""What is done with the NumPy wheel: installed by uv, asked for its BLAS, used by f2py across."""

import json
import subprocess
from pathlib import Path

import pytest
import yaml
from uv import find_uv_bin

from rvbuild.executor.local import LocalExecutor
from rvbuild.kit import Supplies
from rvbuild.pipeline.proof import runtime_for
from rvbuild.target import Floor, cpus
from rvbuild.testing import Runtime
from rvbuild.testing.program import Program, command_for, write_starters
from tests.build_samples import pack_source
from tests.iceberg_samples import rvbuild
from tests.integration.conftest import house_of, supplies

__all__ = ["supplies"]

CPU = cpus()["vlen128"]

pytestmark = [pytest.mark.needs("qemu"), pytest.mark.timeout(5400)]


@pytest.fixture(scope="module")
def numpy_wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("numpy")
    paths = rvbuild(folder, "wheel", "numpy", "--python", "3.13", "--no-test").splitlines()
    (path,) = (Path(line) for line in paths if Path(line).name.startswith("numpy-"))
    return path


@pytest.fixture
def runtime(tmp_path: Path, supplies: Supplies) -> Runtime:
    """Give the riscv64 Python with the libraries that a wheel of the floor may expect."""
    return runtime_for("3.13", Floor(2, 31), house_of(supplies.places, tmp_path, supplies))


def test_uv_installs_the_wheel_for_the_riscv64_python(
    tmp_path: Path, numpy_wheel: Path, runtime: Runtime
) -> None:
    words = runtime.emulator.words(CPU, runtime.interpreter.root)
    words = (*words, str(runtime.interpreter.program))
    python = write_starters(words, tmp_path / "starters") / "python3"
    command = [find_uv_bin(), "pip", "install", "--offline", "--no-deps", "--no-config"]
    command += ["--python", str(python), "--target", str(tmp_path / "site"), str(numpy_wheel)]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    program = Program(
        ("-c", "import numpy; print(numpy.__file__, (numpy.ones((9, 9)) @ numpy.ones(9)).sum())"),
        paths=(tmp_path / "site",),
        home=tmp_path,
        cwd=tmp_path,
    )
    ended = LocalExecutor().run(command_for(program, CPU, runtime))
    assert ended.ok, ended.output
    assert ended.output.split() == [str(tmp_path / "site/numpy/__init__.py"), "81.0"]


def test_the_wheel_says_what_it_was_built_with(tmp_path: Path, numpy_wheel: Path) -> None:
    script = tmp_path / "show.py"
    script.write_text("import json, numpy; print(json.dumps(numpy.show_config(mode='dicts')))\n")
    words = ("run", "--with", str(numpy_wheel), "--python", "3.13", str(script))
    told = json.loads(rvbuild(tmp_path, *words))
    blas = told["Build Dependencies"]["blas"]
    assert (blas["name"], blas["found"]) == ("openblas", True)
    assert "DYNAMIC_ARCH=1" in blas["openblas configuration"]
    assert told["Build Dependencies"]["lapack"]["name"] == "openblas"
    assert told["Machine Information"]["host"]["cpu"] == "riscv64"
    assert told["Machine Information"]["cross-compiled"] is True
    assert told["Compilers"]["c"]["name"] == "clang"


FORTRAN = """\
! Turns a vector, and tells the length of the turned one in words.
subroutine turn(n, x, angle, y, words)
  integer, intent(in) :: n
  double precision, intent(in) :: x(2, n), angle
  double precision, intent(out) :: y(2, n)
  character(len=12), intent(out) :: words
  y(1, :) = cos(angle) * x(1, :) - sin(angle) * x(2, :)
  y(2, :) = sin(angle) * x(1, :) + cos(angle) * x(2, :)
  write (words, '(F12.6)') sqrt(sum(y**2))
end subroutine turn
"""
PROJECT = """
[build-system]
requires = ["meson-python", "numpy"]
build-backend = "mesonpy"
[project]
name = "turning"
version = "1.0"
dependencies = ["numpy"]
"""
MESON = """
project('turning', 'c', 'fortran', version: '1.0')
python = import('python').find_installation(pure: false)
ask = 'import numpy, numpy.f2py; print(numpy.get_include()); print(numpy.f2py.get_include())'
folders = run_command(python, '-c', ask, check: true).stdout().strip().split('\\n')
made = custom_target(
  input: 'turn.f90',
  output: ['turningmodule.c', 'turning-f2pywrappers.f'],
  command: [
    python, '-m', 'numpy.f2py', '@INPUT@', '-m', 'turning', '--lower', '--build-dir', '@OUTDIR@'
  ],
)
python.extension_module(
  'turning',
  'turn.f90',
  made[0],
  folders[1] / 'fortranobject.c',
  include_directories: include_directories(folders),
  link_language: 'fortran',
  install: true,
)
"""
SMOKE = """\
import math
import numpy as np
import turning
x = np.asfortranarray([[3.0, 0.0, 1.0], [4.0, 5.0, 0.0]])
y, words = turning.turn(x, math.pi / 2)
assert np.allclose(y, [[-4, -5, 0], [3, 0, 1]]), y
assert abs(float(words) - math.sqrt(51)) < 1e-5, words
"""


def test_f2py_makes_a_module_across(tmp_path: Path, numpy_wheel: Path) -> None:
    version = numpy_wheel.name.split("-")[1]
    files = {"pyproject.toml": PROJECT, "meson.build": MESON, "turn.f90": FORTRAN}
    recipe = {
        "name": "turning",
        "version": "1.0",
        "license": "MIT",
        "sources": [pack_source(tmp_path / "sources", "turning-1.0", files)],
        "requires": {"target": ["numpy"], "build": [f"numpy=={version}"], "tools": ["gfortran"]},
        "expect": {"files": ["turning.*.so", "turning.libs/libgfortran*"]},
        "test": {"cpus": ["rv64gc", "vlen128"], "imports": ["turning"], "smoke": SMOKE},
    }
    folder = tmp_path / "recipes"
    folder.mkdir()
    (folder / "turning.yaml").write_text(yaml.safe_dump(recipe))
    words = ("turning", "--python", "3.13")
    paths = rvbuild(tmp_path, "wheel", *words, "--no-test", recipes=folder).splitlines()
    assert any(Path(path).name.startswith("turning-1.0-cp313-") for path in paths)
    # Of this one alone: NumPy is proven elsewhere.
    rvbuild(tmp_path, "test", *words, recipes=folder)
