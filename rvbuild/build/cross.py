"""Proof that a build system configured for the target: what it wrote and what it was told.

Meson and CMake go on as native builds when their files are not read, and say so in passing only.
"""

import json
import re
from collections.abc import Iterable, Iterator, Mapping

from rvbuild.build.model import Bench
from rvbuild.errors import BuildError
from rvbuild.target import MACHINE

LONG_DOUBLE = "IEEE_QUAD_LE"
CROSS_FILE = "--cross-file="


def check_cross(output: str, bench: Bench) -> None:
    """Stop when Meson's log or its record name another host machine than the target."""
    families = re.findall(r"^\s*Host machine cpu family: (\S+)", output, re.MULTILINE)
    wrong = next((name for name in (*families, *_recorded(bench)) if name != MACHINE), None)
    if wrong is not None:
        raise BuildError(
            f"Meson configured `{bench.job.id}` for {wrong} and not for {MACHINE}",
            log=bench.log,
            hint="a cross file without `[host_machine]` is a native build: leave it to rvbuild",
        )


def _recorded(bench: Bench) -> Iterator[str]:
    # A build that goes on does not configure again, so the log alone would forget.
    record = bench.folder / "build/meson-info/intro-machines.json"
    if record.is_file():
        yield str(json.loads(record.read_text(encoding="utf-8"))["host"]["cpu_family"])


def check_cross_files(options: Iterable[str], bench: Bench) -> None:
    """Stop when a cross file of the recipe names another long double than the target's."""
    for option in options:
        _, found, name = option.partition(CROSS_FILE)
        path = bench.project / name
        if not found or not path.is_file():
            continue
        text = path.read_text(encoding="utf-8")
        told = re.search(r"^\s*longdouble_format\s*=\s*'(\w*)'", text, re.MULTILINE)
        if told is not None and told.group(1) != LONG_DOUBLE:
            raise BuildError(
                f"`{path.name}` says `longdouble_format = '{told.group(1)}'`",
                causes=[f"long double of {MACHINE} is {LONG_DOUBLE}, RISC-V psABI"],
                hint="remove the line: rvbuild's own cross file says it",
            )


# Variables that compilers, linkers and pkg-config search by, and the folders that are not for them.
_SEARCHED = re.compile(r"PATH$|LIBDIR$|FLAGS$|^LIBS$")
_FOREIGN = re.compile(
    r"(?:^|[\s:=]|-[IL])(/(?:usr/(?:local/)?)?(?:include|lib(?:32|64|x32)?)(?:/[^\s:]*)?)(?=$|[\s:])"
)


def check_environment(environment: Mapping[str, str], bench: Bench) -> None:
    """Stop when variables of the recipe lead to libraries of the build machine."""
    for name, text in environment.items():
        found = _FOREIGN.search(text) if _SEARCHED.search(name) else None
        if found is not None:
            raise BuildError(
                f"`{name}` of `{bench.job.id}` names `{found.group(1)}` of the build machine",
                causes=[f"what is found there is not for {MACHINE}"],
                hint="take the library from a recipe: name it in `requires.libraries`",
            )


def check_cmake(bench: Bench) -> None:
    """Stop when CMake's cache does not know of the toolchain file."""
    cache = bench.folder / "build/CMakeCache.txt"
    if "toolchain.cmake" not in cache.read_text(encoding="utf-8", errors="replace"):
        raise BuildError(
            f"CMake configured `{bench.job.id}` without the toolchain file",
            log=bench.log,
            hint="does the project reset `CMAKE_TOOLCHAIN_FILE`?",
        )
