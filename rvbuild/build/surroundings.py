"""What a build may see: its PATH, its environment variables and the target's description.

Everything is listed; nothing is inherited from the user's environment or PATH.
"""

import json
import shutil
import zipfile
from dataclasses import replace
from importlib import resources
from pathlib import Path

from rvbuild.build.model import Bench, Workshop
from rvbuild.build.ninja import STATUS, wrap_ninja
from rvbuild.errors import BuildError
from rvbuild.executor import Command
from rvbuild.pythons import Interpreter
from rvbuild.recipe.model import Entry
from rvbuild.recipe.placeholder import fill
from rvbuild.target import MACHINE, PLATFORM
from rvbuild.toolchain import Surroundings
from rvbuild.toolchain.files import build_machine_environment
from rvbuild.toolchain.files import environment as toolchain_environment

# Every date in a result: 2020-02-02, as flit and hatchling take for reproducible archives.
SOURCE_DATE_EPOCH = 1580601600

UNIX = ("usr/local/bin", "usr/bin", "bin")


def data_text(name: str) -> str:
    """Read a file of `rvbuild/data/build`."""
    return resources.files("rvbuild").joinpath(f"data/build/{name}").read_text(encoding="utf-8")


def surroundings(workshop: Workshop, bench: Bench) -> Surroundings:
    """Say what the job's compiles may see beside the sysroot."""
    build = bench.job.recipe.build
    values = placeholders(workshop, bench)
    around = Surroundings(
        prefix=bench.prefix,
        cflags=tuple(fill(flag, values) for flag in build.cflags),
        cxxflags=tuple(fill(flag, values) for flag in build.cxxflags),
        ldflags=tuple(fill(flag, values) for flag in build.ldflags),
        fortran=bench.folder / "bin/gfortran"
        if "gfortran" in bench.job.recipe.requires.tools
        else None,
    )
    if bench.job.python is None:
        return around
    interpreter = interpreter_of(workshop, bench)
    return replace(
        around,
        pkg_config_folders=(interpreter.pkg_config, *_target_pkg_config(bench, interpreter)),
        python=bench.folder / "bin/cross-python",
        python_include=interpreter.include[0],
        extension_suffix=interpreter.extension_suffix,
        site_packages=_site_packages(bench, interpreter),
    )


def interpreter_of(workshop: Workshop, bench: Bench) -> Interpreter:
    """Give the interpreter of a wheel's job; raise `BuildError` for a library, which has none."""
    version = bench.job.python
    if version is None:
        raise BuildError(f"`{bench.job.id}` is a library and is built without a Python")
    return workshop.interpreters[version]


def _site_packages(bench: Bench, interpreter: Interpreter) -> Path:
    return bench.folder / f"venv/lib/python{interpreter.version}/site-packages"


def _target_pkg_config(bench: Bench, interpreter: Interpreter) -> tuple[Path, ...]:
    """Say where the `.pc` files of target wheels are once these are laid over what runs here."""
    site = _site_packages(bench, interpreter)
    found: dict[Path, None] = {}
    for wheel in bench.wheels:
        with zipfile.ZipFile(wheel) as bundle:
            names = [name for name in bundle.namelist() if name.endswith(".pc")]
        found |= dict.fromkeys((site / name).parent for name in names)
    return tuple(found)


def placeholders(workshop: Workshop, bench: Bench) -> dict[str, str]:
    """Give the values of `{prefix}` and the like in a recipe's texts."""
    recipe = bench.job.recipe
    values = {
        "prefix": bench.prefix,
        "source": bench.source,
        "build": bench.folder / "build",
        "destination": bench.folder / "destination",
        "sysroot": workshop.sysroot.root,
        "python": bench.folder / "venv/bin/python",
        "tools": bench.folder / "bin",
        "checks": bench.checks,
    }
    texts = {name: str(path) for name, path in values.items()}
    python = bench.job.python
    texts["target_python"] = str(workshop.interpreters[python].program) if python else ""
    return texts | {"jobs": str(bench.cores), "version": recipe.version}


def applying(entries: tuple[Entry, ...], workshop: Workshop, bench: Bench) -> tuple[str, ...]:
    """Give the entries whose conditions hold for the job, with their placeholders filled in."""
    job = bench.job
    values = placeholders(workshop, bench)
    return tuple(
        fill(entry.value, values)
        for entry in entries
        if entry.when.holds(job.python, str(job.floor), job.mode)
    )


def lay_out(workshop: Workshop, bench: Bench) -> None:
    """Make the job's `bin` (programs it may start), `home` and `tmp`."""
    for name in ("home", "tmp"):
        (bench.folder / name).mkdir(parents=True, exist_ok=True)
    folder = bench.folder / "bin"
    folder.mkdir(parents=True, exist_ok=True)
    for name in data_text("host-programs.txt").split():
        found = shutil.which(name, path=":".join(str(workshop.root / each) for each in UNIX))
        if found is not None:
            _link(folder / name, Path("/") / Path(found).relative_to(workshop.root))
    for name, program in workshop.programs.items():
        (_link if name != "ninja" else wrap_ninja)(folder / name, program)
    if "cc" in bench.job.recipe.requires.tools:
        for program in workshop.toolchain.build_c.parent.iterdir():
            _link(folder / program.name, program)
    if bench.job.python is not None:
        _write_cross_python(workshop, bench)


def _link(link: Path, program: Path) -> None:
    link.unlink(missing_ok=True)
    link.symlink_to(program)


def _write_cross_python(workshop: Workshop, bench: Bench) -> None:
    facts = bench.folder / "target-facts.json"
    interpreter = interpreter_of(workshop, bench)
    variables = json.loads(interpreter.sysconfig_data.read_text(encoding="utf-8"))
    told = toolchain_environment(workshop.toolchain, surroundings(workshop, bench))
    for name in ("CC", "CXX", "AR", "ARFLAGS", "RANLIB", "LDSHARED", "LDCXXSHARED", "CFLAGS"):
        variables[name] = told[name]
    variables |= {"OPT": "", "CCSHARED": "-fPIC", "BLDSHARED": told["LDSHARED"], "LDFLAGS": ""}
    text = json.dumps({"variables": variables, "platform": PLATFORM, "machine": MACHINE})
    facts.write_text(text, encoding="utf-8")
    python = bench.folder / "venv/bin/python"
    folder = bench.folder / "bin"
    text = f'#!/bin/sh\nRVBUILD_TARGET_FACTS="{facts}" exec "{python}" "$@"\n'
    _write_program(folder / "cross-python", text)


def _write_program(path: Path, text: str) -> None:
    path.unlink(missing_ok=True)
    path.write_text(text, encoding="utf-8")
    path.chmod(0o755)


def base_environment(workshop: Workshop, bench: Bench) -> dict[str, str]:
    """Give the variables every command of a job sees, whether it compiles or not."""
    path = (workshop.toolchain.folder, bench.folder / "venv/bin", bench.folder / "bin")
    return {
        "PATH": ":".join(str(folder) for folder in path),
        "HOME": str(bench.folder / "home"),
        "TMPDIR": str(bench.folder / "tmp"),
        "LANG": "C.UTF-8",
        "LC_ALL": "C.UTF-8",
        "TZ": "UTC",
        "SOURCE_DATE_EPOCH": str(SOURCE_DATE_EPOCH),
        "PYTHONHASHSEED": "0",
        "PYTHONNOUSERSITE": "1",
        "ZIG_GLOBAL_CACHE_DIR": str(workshop.cache / "zig"),
        "ZIG_LOCAL_CACHE_DIR": str(bench.folder / "zig"),
    }


def stated_environment(workshop: Workshop, bench: Bench) -> dict[str, str]:
    """Give the variables that the recipe states, filled in."""
    values = placeholders(workshop, bench)
    stated = bench.job.recipe.build.environment
    return {name: fill(text, values) for name, text in stated.items()}


def build_environment(workshop: Workshop, bench: Bench) -> dict[str, str]:
    """Give the variables of a step that compiles for the target."""
    told = base_environment(workshop, bench)
    told |= toolchain_environment(workshop.toolchain, surroundings(workshop, bench))
    told |= {
        "RVBUILD_WORK": str(bench.folder),
        "CMAKE_TOOLCHAIN_FILE": str(bench.folder / "target/toolchain.cmake"),
        "CMAKE_GENERATOR": "Ninja",
        "CMAKE_BUILD_PARALLEL_LEVEL": str(bench.cores),
        "MAKEFLAGS": f"-j{bench.cores}",
        "MAX_JOBS": str(bench.cores),
        "NINJA_STATUS": STATUS,
    }
    if bench.job.python is not None:
        told["RVBUILD_TARGET_FACTS"] = str(bench.folder / "target-facts.json")
    if "cc" in bench.job.recipe.requires.tools:
        told |= build_machine_environment(workshop.toolchain)
    if workshop.launcher is not None:
        told["RVBUILD_COMPILER_LAUNCHER"] = str(workshop.launcher.program)
        told |= workshop.launcher.environment
    return told | stated_environment(workshop, bench)


def command(argv: tuple[str, ...], cwd: Path, environment: dict[str, str]) -> Command:
    """Make a command without network, whose files do not depend on the caller's umask."""
    words = ("/bin/sh", "-c", 'umask 022; exec "$@"', "sh", *argv)
    return Command(words, cwd, environment, network=False)
