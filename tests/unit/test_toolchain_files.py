"""What build systems are told: golden files, and the promises that must hold in them."""

import configparser
import re
from dataclasses import replace
from pathlib import Path

import pytest

from rvbuild.toolchain import Surroundings
from rvbuild.toolchain.files import (
    build_machine_environment,
    cmake_toolchain_file,
    environment,
    meson_cross_file,
    meson_native_file,
    write_files,
)
from tests.build_samples import check_golden, toolchain_at

TOOLCHAIN = toolchain_at(Path("/kits/toolchain"))
LIBRARY = Surroundings(prefix=Path("/job/prefix"))
WHEEL = Surroundings(
    prefix=Path("/job/prefix"),
    pkg_config_folders=(Path("/kits/python/pkgconfig"),),
    python=Path("/job/bin/cross-python"),
    python_include=Path("/kits/python/include/python3.13"),
    extension_suffix=".cpython-313-riscv64-linux-gnu.so",
    cflags=("-DNAME='a b'",),
    cxxflags=("-std=c++20",),
    ldflags=("-Wl,-z,relro",),
)
AROUND = {"library": LIBRARY, "wheel": WHEEL}


@pytest.mark.parametrize("name", AROUND)
def test_the_meson_cross_file_is_golden(name: str) -> None:
    check_golden(f"meson-cross-{name}.ini", meson_cross_file(TOOLCHAIN, AROUND[name]))


@pytest.mark.parametrize("name", AROUND)
def test_the_cmake_toolchain_file_is_golden(name: str) -> None:
    check_golden(f"toolchain-{name}.cmake", cmake_toolchain_file(TOOLCHAIN, AROUND[name]))


@pytest.mark.parametrize("name", AROUND)
def test_the_environment_is_golden(name: str) -> None:
    told = environment(TOOLCHAIN, AROUND[name])
    text = "".join(f"{key}={value}\n" for key, value in sorted(told.items()))
    check_golden(f"environment-{name}.txt", text)


def test_the_native_side_names_the_build_machines_compilers() -> None:
    check_golden("meson-native.ini", meson_native_file(TOOLCHAIN))
    told = build_machine_environment(TOOLCHAIN)
    assert told["CC_FOR_BUILD"] == told["HOSTCC"] == "/kits/toolchain/build/cc"


def test_the_cross_file_says_which_machine_it_is_for() -> None:
    # Without a host machine Meson makes a native build of it, and says nothing.
    parser = configparser.ConfigParser(interpolation=None)
    parser.read_string(meson_cross_file(TOOLCHAIN, WHEEL))
    assert dict(parser["host_machine"]) == {
        "system": "'linux'",
        "cpu_family": "'riscv64'",
        "cpu": "'riscv64'",
        "endian": "'little'",
    }
    assert parser["properties"]["longdouble_format"] == "'IEEE_QUAD_LE'"
    assert parser["properties"]["needs_exe_wrapper"] == "true"


def test_pkg_config_looks_into_the_job_alone_in_every_description() -> None:
    folders = ["/job/prefix/lib/pkgconfig", "/job/prefix/share/pkgconfig"]
    folders.append("/kits/python/pkgconfig")
    told = environment(TOOLCHAIN, WHEEL)
    assert told["PKG_CONFIG_LIBDIR"] == ":".join(folders)
    assert told["PKG_CONFIG_PATH"] == ""
    quoted = ", ".join(f"'{folder}'" for folder in folders)
    assert f"pkg_config_libdir = [{quoted}]" in meson_cross_file(TOOLCHAIN, WHEEL)


def test_setuptools_is_told_of_all_its_programs_together() -> None:
    told = environment(TOOLCHAIN, WHEEL)
    programs = ("CC", "CXX", "LDSHARED", "LDCXXSHARED", "AR", "RANLIB")
    assert all(told[name].startswith("/kits/toolchain/bin/riscv64-") for name in programs)
    assert told["CXX"].endswith("++")
    assert told["LDCXXSHARED"].split()[0] == told["CXX"]


def test_nothing_of_the_build_machine_is_named() -> None:
    texts = [meson_cross_file(TOOLCHAIN, WHEEL), cmake_toolchain_file(TOOLCHAIN, WHEEL)]
    texts += environment(TOOLCHAIN, WHEEL).values()
    assert not [text for text in texts if re.search(r"x86_64|(?<![\w/])/usr|\$HOME|/home", text)]


def test_quotes_and_backslashes_survive_in_the_cross_file() -> None:
    around = replace(LIBRARY, cflags=("-DA='x'", "-DB=\\n"))
    text = meson_cross_file(TOOLCHAIN, around)
    assert r"'-DA=\'x\''" in text
    assert r"'-DB=\\n'" in text


def test_quotes_and_dollars_survive_in_the_toolchain_file() -> None:
    around = replace(LIBRARY, cflags=('-DA="x"', "-DB=$ORIGIN", "-DC=\\n"))
    text = cmake_toolchain_file(TOOLCHAIN, around)
    assert r'-DA=\"x\" -DB=\$ORIGIN -DC=\\n" CACHE' in text


def test_definitions_are_cache_entries_of_the_toolchain_file() -> None:
    around = replace(LIBRARY, definitions=("USE_IT=OFF", "WHERE:PATH=/a b", "TEXT=x=y"))
    text = cmake_toolchain_file(TOOLCHAIN, around)
    for line in ('set(USE_IT "OFF"', 'set(WHERE "/a b"', 'set(TEXT "x=y"'):
        assert f'{line} CACHE STRING "")' in text


def test_headers_of_build_requirements_lie_below_a_root() -> None:
    around = replace(WHEEL, site_packages=Path("/job/venv/site-packages"))
    (line,) = [
        line
        for line in cmake_toolchain_file(TOOLCHAIN, around).splitlines()
        if line.startswith("set(CMAKE_FIND_ROOT_PATH ")
    ]
    assert "/job/prefix;/job/venv/site-packages" in line


def test_all_files_are_written(tmp_path: Path) -> None:
    folder = tmp_path / "job/target"
    write_files(TOOLCHAIN, WHEEL, folder)
    names = {path.name for path in folder.iterdir()}
    assert names >= {"meson-cross.ini", "meson-native.ini", "toolchain.cmake"}
    assert (folder / "meson-cross.ini").read_text() == meson_cross_file(TOOLCHAIN, WHEEL)


def test_fortran_is_named_everywhere_when_a_job_asks_for_it_and_nowhere_else() -> None:
    compiler = Path("/job/bin/gfortran")
    around = replace(WHEEL, fortran=compiler)
    told = (
        meson_cross_file(TOOLCHAIN, around),
        cmake_toolchain_file(TOOLCHAIN, around),
        environment(TOOLCHAIN, around).get("FC", ""),
    )
    assert [text.count(str(compiler)) for text in told] == [1, 1, 1]
    assert "fortran_link_args = ['-L/job/prefix/lib'" in told[0]
    plain = (meson_cross_file(TOOLCHAIN, WHEEL), cmake_toolchain_file(TOOLCHAIN, WHEEL))
    assert not any("ortran" in text for text in plain)
    assert "FC" not in environment(TOOLCHAIN, WHEEL)
