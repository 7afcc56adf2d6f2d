"""Building a native library into a prefix that can be staged anywhere, by any build system."""

import os
import shutil
from collections.abc import Callable
from pathlib import Path

from rvbuild.build.cross import check_cmake, check_cross, check_cross_files, check_environment
from rvbuild.build.model import Bench, Workshop
from rvbuild.build.prefix import make_relocatable
from rvbuild.build.running import run
from rvbuild.build.surroundings import (
    applying,
    build_environment,
    placeholders,
    stated_environment,
)
from rvbuild.build.wheel import run_before
from rvbuild.errors import BuildError
from rvbuild.recipe.placeholder import fill
from rvbuild.target import TRIPLE

# What libraries are told about where they will live; nothing is ever installed there.
PREFIX = "/opt/rvbuild"

Words = tuple[str, ...]


def build_library(workshop: Workshop, bench: Bench) -> Path:
    """Build and install one library; give the folder that holds its `include`, `lib` and so on."""
    destination = bench.folder / "destination"
    shutil.rmtree(destination, ignore_errors=True)
    destination.mkdir()
    (bench.folder / "build").mkdir(exist_ok=True)
    check_environment(stated_environment(workshop, bench), bench)
    run_before(workshop, bench)
    SYSTEMS[bench.job.recipe.build.system](workshop, bench)
    installed = destination / PREFIX.lstrip("/")
    result = installed if installed.is_dir() else destination
    make_relocatable(result, PREFIX)
    if not any(result.iterdir()):
        raise BuildError(f"`{bench.job.id}` installed nothing", log=bench.log)
    return result


def _environment(workshop: Workshop, bench: Bench) -> dict[str, str]:
    return build_environment(workshop, bench) | {"DESTDIR": str(bench.folder / "destination")}


def _options(workshop: Workshop, bench: Bench) -> Words:
    return applying(bench.job.recipe.build.options, workshop, bench)


def _cmake(workshop: Workshop, bench: Bench) -> None:
    build = str(bench.folder / "build")
    told = _environment(workshop, bench)
    words: Words = (
        "cmake",
        "-S",
        str(bench.project),
        "-B",
        build,
        f"-DCMAKE_INSTALL_PREFIX={PREFIX}",
    )
    words += ("-DCMAKE_BUILD_TYPE=Release", "-DCMAKE_INSTALL_LIBDIR=lib")
    done = run(workshop, bench, (*words, *_options(workshop, bench)), told)
    check_cmake(bench)
    check_cross(done.output, bench)
    run(workshop, bench, ("cmake", "--build", build), told)
    run(workshop, bench, ("cmake", "--install", build), told)


def _meson(workshop: Workshop, bench: Bench) -> None:
    build = bench.folder / "build"
    told = _environment(workshop, bench)
    target = bench.folder / "target"
    options = _options(workshop, bench)
    check_cross_files(options, bench)
    if not (build / "build.ninja").is_file():
        words: Words = ("meson", "setup", str(build), str(bench.project), "--buildtype=release")
        words += (f"--cross-file={target}/meson-cross.ini", f"--prefix={PREFIX}", "--libdir=lib")
        run(workshop, bench, (*words, *options), told)
    check_cross("", bench)
    run(workshop, bench, ("meson", "compile", "-C", str(build), f"-j{bench.cores}"), told)
    run(workshop, bench, ("meson", "install", "-C", str(build), "--no-rebuild"), told)


def _autotools(workshop: Workshop, bench: Bench) -> None:
    build = bench.folder / "build"
    told = _environment(workshop, bench)
    if not (build / "config.status").is_file():
        build_triple = f"{os.uname().machine}-pc-linux-gnu"
        words: Words = (
            str(bench.project / "configure"),
            f"--host={TRIPLE}",
            f"--build={build_triple}",
        )
        words += (f"--prefix={PREFIX}", "--libdir=" + PREFIX + "/lib")
        run(workshop, bench, (*words, *_options(workshop, bench)), told, build)
    run(workshop, bench, ("make", *bench.job.recipe.build.targets), told, build)
    run(workshop, bench, ("make", *bench.job.recipe.build.install), told, build)


def _make(workshop: Workshop, bench: Bench) -> None:
    told = _environment(workshop, bench)
    # Plain makefiles mean their own flags: only what names programs is left in the environment.
    for name in {"CFLAGS", "CXXFLAGS", "LDFLAGS"} - bench.job.recipe.build.environment.keys():
        told.pop(name, None)
    variables = (f"PREFIX={PREFIX}", *_options(workshop, bench))
    # One after the other: targets that add to the same archive would meet in it (make 4.4 takes
    # `.NOTPARALLEL` with prerequisites for these alone).
    goals: tuple[Words, ...] = tuple((target,) for target in bench.job.recipe.build.targets)
    for goal in goals or ((),):
        run(workshop, bench, ("make", f"-j{bench.cores}", *variables, *goal), told)
    run(workshop, bench, ("make", *variables, *bench.job.recipe.build.install), told)


def _script(workshop: Workshop, bench: Bench) -> None:
    values = placeholders(workshop, bench)
    told = _environment(workshop, bench)
    for each in bench.job.recipe.build.script:
        words = tuple(fill(word, values) for word in each.run)
        cwd = bench.project / each.directory if each.directory else bench.project
        run(workshop, bench, words, told, cwd)


SYSTEMS: dict[str, Callable[[Workshop, Bench], None]] = {
    "cmake": _cmake,
    "meson": _meson,
    "autotools": _autotools,
    "make": _make,
    "script": _script,
}
