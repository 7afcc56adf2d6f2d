"""What each PEP 517 backend has to be told so that it builds for the target, in its own words."""

import tomllib
from pathlib import Path

from rvbuild.build.model import Bench, Workshop
from rvbuild.build.surroundings import applying
from rvbuild.errors import BuildError, UsageError

Settings = dict[str, str | list[str]]

MESON_PYTHON = "mesonpy"
SCIKIT_BUILD_CORE = "scikit_build_core.build"
# PEP 518: what a project without a build-system table is built with.
DEFAULT_REQUIRES = ("setuptools>=70",)
DEFAULT_BACKEND = "setuptools.build_meta:__legacy__"


def build_system(project: Path) -> dict[str, object]:
    """Read a project's `build-system` table (PEP 518), empty where there is none."""
    path = project / "pyproject.toml"
    if not path.is_file():
        return {}
    try:
        table: dict[str, object] = tomllib.loads(path.read_text(encoding="utf-8")).get(
            "build-system", {}
        )
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise BuildError(
            f"`{path.name}` of the source cannot be read", causes=[str(error)]
        ) from error
    return table


def static_requires(project: Path) -> tuple[str, ...]:
    """Read `build-system.requires` of a project."""
    requires = build_system(project).get("requires", DEFAULT_REQUIRES)
    return tuple(map(str, requires)) if isinstance(requires, list | tuple) else ()


def backend_name(project: Path) -> str:
    """Read the `build-backend` of a project."""
    return str(build_system(project).get("build-backend", DEFAULT_BACKEND))


def config_settings(backend: str, workshop: Workshop, bench: Bench) -> Settings:
    """Make a backend's config settings: target files, a kept build folder, the recipe's options."""
    options = applying(bench.job.recipe.build.options, workshop, bench)
    defines = [option for option in options if option.startswith("-D")]
    plain = [option for option in options if not option.startswith("-D")]
    if _is_meson(bench.project, backend):
        return _meson_python(bench, defines) | _pairs(plain)
    if backend.startswith(SCIKIT_BUILD_CORE):
        settings: Settings = {"build-dir": str(bench.folder / "build")}
        for define in defines:
            name, _, value = define.removeprefix("-D").partition("=")
            settings[f"cmake.define.{name}"] = value
        return settings | _pairs(plain)
    return _pairs(plain)


def definitions(workshop: Workshop, bench: Bench) -> tuple[str, ...]:
    """Give the `-D` options of a wheel whose backend has no word for them, as `NAME=value`.

    Backends that start CMake by themselves hand on what they know; the rest is read with the
    toolchain file.
    """
    backend = backend_name(bench.project)
    if _is_meson(bench.project, backend) or backend.startswith(SCIKIT_BUILD_CORE):
        return ()
    options = applying(bench.job.recipe.build.options, workshop, bench)
    return tuple(option[2:] for option in options if option.startswith("-D"))


def _is_meson(project: Path, backend: str) -> bool:
    return backend == MESON_PYTHON or _wraps_meson_python(project, backend)


def _wraps_meson_python(project: Path, backend: str) -> bool:
    # NumPy and others keep a backend in the tree that calls meson-python with their own Meson.
    named = any(require.startswith("meson-python") for require in static_requires(project))
    in_tree = bool(build_system(project).get("backend-path"))
    return in_tree and named and backend != SCIKIT_BUILD_CORE


def _meson_python(bench: Bench, defines: list[str]) -> Settings:
    target = bench.folder / "target"
    setup = [f"--cross-file={target}/meson-cross.ini"]
    if "cc" in bench.job.recipe.requires.tools:
        setup.append(f"--native-file={target}/meson-native.ini")
    return {
        "build-dir": str(bench.folder / "build"),
        "setup-args": [*setup, *defines],
        "compile-args": [f"-j{bench.cores}"],
    }


def _pairs(options: list[str]) -> Settings:
    settings: Settings = {}
    for option in options:
        name, equals, value = option.partition("=")
        if not equals:
            raise UsageError(
                f"`{option}` is not a config setting",
                hint="write it like `name=value` or `-Dname=value`",
            )
        before = settings.get(name)
        if before is None:
            settings[name] = value
        else:
            settings[name] = [*before, value] if isinstance(before, list) else [before, value]
    return settings
