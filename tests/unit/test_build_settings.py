"""Config settings of each backend, with the options of a recipe."""

from pathlib import Path

import pytest

from rvbuild.build.settings import backend_name, config_settings, definitions
from rvbuild.errors import UsageError
from tests.build_samples import bench_at, job_of, recipe_of, workshop_at

OPTIONS = ["-Dblas=openblas", {"value": "-Dlapack={prefix}/lib", "when": {"python": ">=3.13"}}]
OLD = {"value": "-Dold=1", "when": {"python": "<3.12"}}
NUMPY = """
[build-system]
requires = ["meson-python>=0.15", "Cython"]
build-backend = "mesonpy"
backend-path = ["vendored"]
"""


def settings(
    folder: Path, backend: str, options: list[object], **build: object
) -> dict[str, str | list[str]]:
    recipe = recipe_of("demo", build={"options": options}, **build)
    bench = bench_at(folder, job_of(recipe))
    return config_settings(backend, workshop_at(folder), bench)


def test_meson_python_gets_the_cross_file_and_a_kept_build_folder(tmp_path: Path) -> None:
    found = settings(tmp_path, "mesonpy", [*OPTIONS, OLD, "dist-args=--quiet"])
    assert found == {
        "build-dir": f"{tmp_path}/build",
        "setup-args": [
            f"--cross-file={tmp_path}/target/meson-cross.ini",
            "-Dblas=openblas",
            f"-Dlapack={tmp_path}/prefix/lib",
        ],
        "compile-args": ["-j3"],
        "dist-args": "--quiet",
    }


def test_a_native_file_comes_with_the_build_machines_compiler(tmp_path: Path) -> None:
    found = settings(tmp_path, "mesonpy", [], requires={"tools": ["cc"]})
    assert f"--native-file={tmp_path}/target/meson-native.ini" in found["setup-args"]


def test_a_backend_in_the_tree_that_wraps_meson_python_is_seen(tmp_path: Path) -> None:
    (tmp_path / "source").mkdir()
    (tmp_path / "source/pyproject.toml").write_text(NUMPY.replace("mesonpy", "npbuild"))
    assert "setup-args" in settings(tmp_path, "npbuild", [])


def test_scikit_build_core_gets_defines(tmp_path: Path) -> None:
    found = settings(tmp_path, "scikit_build_core.build", [*OPTIONS, "wheel.cmake=true"])
    assert found == {
        "build-dir": f"{tmp_path}/build",
        "cmake.define.blas": "openblas",
        "cmake.define.lapack": f"{tmp_path}/prefix/lib",
        "wheel.cmake": "true",
    }


def test_setuptools_gets_pairs_and_doubled_ones_become_a_list(tmp_path: Path) -> None:
    options: list[object] = ["--build-option=--a", "--build-option=--b", "--build-option=--c=d"]
    found = settings(tmp_path, "setuptools.build_meta", options)
    assert found == {"--build-option": ["--a", "--b", "--c=d"]}


def test_an_option_without_a_value_is_named(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="`quiet` is not a config setting"):
        settings(tmp_path, "setuptools.build_meta", ["quiet"])


def test_the_backend_is_read_from_the_project(tmp_path: Path) -> None:
    assert backend_name(tmp_path) == "setuptools.build_meta:__legacy__"
    (tmp_path / "pyproject.toml").write_text(NUMPY)
    assert backend_name(tmp_path) == "mesonpy"
    (tmp_path / "pyproject.toml").write_text("[project]\nname = 'x'\n")
    assert backend_name(tmp_path) == "setuptools.build_meta:__legacy__"


def test_defines_of_other_backends_are_told_by_the_toolchain_file(tmp_path: Path) -> None:
    recipe = recipe_of("demo", build={"options": [*OPTIONS, OLD, "--build-option=-q"]})
    bench = bench_at(tmp_path, job_of(recipe))
    workshop = workshop_at(tmp_path)
    assert definitions(workshop, bench) == ("blas=openblas", f"lapack={tmp_path}/prefix/lib")
    assert config_settings("setuptools.build_meta", workshop, bench) == {"--build-option": "-q"}
    (bench.source / "pyproject.toml").write_text(NUMPY)
    assert definitions(workshop, bench) == ()
