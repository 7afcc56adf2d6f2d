"""Small packages of every build system through the pipeline: what comes out is for riscv64."""

import zipfile
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest
import yaml

from rvbuild.elf import ElfFacts, read_elf
from rvbuild.errors import RvbuildError
from rvbuild.pipeline import House, Options, Outcome, plan_for, run_plan
from rvbuild.target import Floor
from tests.build_samples import pack_source, write_tree

pytestmark = pytest.mark.needs("qemu")

SUFFIX = ".cpython-313-riscv64-linux-gnu.so"
OPTIONS = Options((), ("3.13",), Floor(2, 31), jobs=2, compiler_cache="off", test=False)
TESTED = replace(OPTIONS, test=True, cpus=("rv64gc",))

MODULE = """
#include <Python.h>
static struct PyModuleDef definition = {PyModuleDef_HEAD_INIT, "@NAME@", NULL, -1, NULL};
PyMODINIT_FUNC PyInit_@NAME@(void) {
  PyObject *module = PyModule_Create(&definition);
  PyModule_AddIntConstant(module, "mantissa", __LDBL_MANT_DIG__);
  return module;
}
"""
MODULE_PLUS = """
#include <Python.h>
#include <string>
static struct PyModuleDef definition = {PyModuleDef_HEAD_INIT, "@NAME@", NULL, -1, NULL};
PyMODINIT_FUNC PyInit_@NAME@(void) {
  try {
    std::string("").at(1);
  } catch (const std::exception &) {
    return PyModule_Create(&definition);
  }
  return NULL;
}
"""
SETUP = """
from setuptools import Extension, setup
setup(name="demo", version="1.0", packages=["demo"], ext_modules=[
    Extension("demo._c", ["demo/_c.c"]),
    Extension("demo._plus", ["demo/_plus.cc"]),
])
"""
MESON_PROJECT = """
[build-system]
requires = ["meson-python"]
build-backend = "mesonpy"
[project]
name = "demo"
version = "1.0"
"""
MESON = """
project('demo', 'c', version: '1.0')
python = import('python').find_installation(pure: false)
cc = meson.get_compiler('c')
probe = '''#include <float.h>
#include <stdio.h>
int main(void) { printf("%d", LDBL_MANT_DIG); return 0; }'''
message('zlib', dependency('zlib', required: false).found())
message('python', dependency('python3').version())
message('mantissa', cc.run(probe, name: 'long double').stdout())
message('format', meson.get_external_property('longdouble_format'))
message('build', build_machine.cpu_family(), 'host', host_machine.cpu_family())
python.extension_module('_c', 'demo/_c.c', install: true, subdir: 'demo')
python.install_sources('demo/__init__.py', subdir: 'demo')
# As NumPy writes down what it was built with.
words = ' '.join(cc.cmd_array() + get_option('c_args'))
about = configure_file(
  output: 'about.py', input: 'about.in', configuration: {'words': words}
)
python.install_sources(about, subdir: 'demo')
"""
SCIKIT_PROJECT = """
[build-system]
requires = ["scikit-build-core"]
build-backend = "scikit_build_core.build"
[project]
name = "demo"
version = "1.0"
"""
CMAKE = """
cmake_minimum_required(VERSION 3.20)
project(demo LANGUAGES C)
include(CheckCSourceRuns)
find_package(Python REQUIRED COMPONENTS Interpreter Development.Module)
find_package(ZLIB)
check_c_source_runs("#include <float.h>\\nint main(void) { return LDBL_MANT_DIG != 113; }" RUNS)
check_c_source_runs("int main(void) { return 1; }" FAILS)
message(STATUS "cross=${CMAKE_CROSSCOMPILING} for=${CMAKE_SYSTEM_PROCESSOR} zlib=${ZLIB_FOUND}")
message(STATUS "runs=${RUNS} fails=${FAILS} soabi=${Python_SOABI}")
python_add_library(_c MODULE demo/_c.c WITH_SOABI)
install(TARGETS _c DESTINATION demo)
install(FILES demo/__init__.py DESTINATION demo)
"""
# A backend without requirements: it calls the compiler it is told of, and packs what comes out.
BARE_PROJECT = """
[build-system]
requires = []
build-backend = "bare"
backend-path = ["."]
"""
BARE = """
import os, subprocess, sysconfig, zipfile
def build_wheel(folder, settings):
    @BEFORE@
    name = "demo" + sysconfig.get_config_var("EXT_SUFFIX")
    words = [os.environ["CC"], "-shared", "-fPIC", "-I" + sysconfig.get_path("include")]
    subprocess.run([*words, *settings.get("flags", "").split(), "demo.c", "-o", name], check=True)
    tag = "cp313-cp313-" + sysconfig.get_platform().replace("-", "_")
    info = "demo-1.0.dist-info/"
    about = ["Wheel-Version: 1.0", "Generator: bare", "Root-Is-Purelib: false", "Tag: " + tag, ""]
    members = [name, info + "METADATA", info + "WHEEL", info + "RECORD"]
    with zipfile.ZipFile(os.path.join(folder, f"demo-1.0-{tag}.whl"), "w") as wheel:
        wheel.write(name)
        wheel.writestr(members[1], "Metadata-Version: 2.1\\nName: demo\\nVersion: 1.0\\n")
        wheel.writestr(members[2], "\\n".join(about))
        wheel.writestr(members[3], "".join(f"{member},,\\n" for member in members))
    return f"demo-1.0-{tag}.whl"
"""


def code(name: str, *, plus: bool = False) -> str:
    return (MODULE_PLUS if plus else MODULE).replace("@NAME@", name)


def build(
    house: House, files: Mapping[str, str], options: Options = OPTIONS, **recipe: object
) -> Outcome:
    """Write a recipe `demo` for a source made of `files`, and build it."""
    source = pack_source(house.places.cache / "made", "demo-1.0", files)
    text = {"name": "demo", "version": "1.0", "license": "MIT", "sources": [source], **recipe}
    (house.catalogue.folders[0] / "demo.yaml").write_text(
        yaml.safe_dump(text, sort_keys=False), encoding="utf-8"
    )
    asked = replace(options, names=("demo",))
    return run_plan(plan_for(asked, house), asked, house)[-1]


def failure(outcome: Outcome) -> RvbuildError:
    assert outcome.state == "failed"
    assert outcome.error is not None
    return outcome.error


def log_of(house: House) -> str:
    (log,) = house.places.logs.iterdir()
    return log.read_text()


def objects(outcome: Outcome, folder: Path) -> dict[str, ElfFacts]:
    """Give the shared objects of a built wheel, by member."""
    assert outcome.error is None, (outcome.error.message, outcome.error.causes, outcome.error.tail)
    assert outcome.wheel is not None
    assert outcome.wheel.name == "demo-1.0-cp313-cp313-manylinux_2_31_riscv64.whl"
    with zipfile.ZipFile(outcome.wheel) as bundle:
        bundle.extractall(folder / "unpacked")
    found = (folder / "unpacked").rglob("*.so")
    return {str(path.relative_to(folder / "unpacked")): read_elf(path) for path in found}


def bare(before: str = "pass", source: str = "") -> dict[str, str]:
    backend = BARE.replace("@BEFORE@", before)
    return {"pyproject.toml": BARE_PROJECT, "bare.py": backend, "demo.c": code("demo") + source}


def test_setuptools_compiles_c_and_cpp_for_the_target(house: House, tmp_path: Path) -> None:
    files = {"setup.py": SETUP, "demo/__init__.py": "", "demo/_c.c": code("_c")}
    files["demo/_plus.cc"] = code("_plus", plus=True)
    outcome = build(house, files, TESTED, test={"imports": ["demo._c", "demo._plus"]})
    found = objects(outcome, tmp_path)
    assert set(found) == {f"demo/_c{SUFFIX}", f"demo/_plus{SUFFIX}"}
    assert {(facts.machine, facts.float_abi) for facts in found.values()} == {
        ("EM_RISCV", "double")
    }
    assert "libstdc++.so.6" in found[f"demo/_plus{SUFFIX}"].needed
    assert outcome.report is not None
    assert outcome.report.ok


def test_meson_python_builds_for_the_target_and_sees_nothing_of_the_host(
    house: House, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pc = "Name: zlib\nDescription: of the build machine\nVersion: 1.2.13\nLibs: -lz\n"
    fake = write_tree(tmp_path / "host", {"zlib.pc": pc})
    monkeypatch.setenv("PKG_CONFIG_PATH", str(fake))
    monkeypatch.setenv("PKG_CONFIG_LIBDIR", str(fake))
    files = {"pyproject.toml": MESON_PROJECT, "meson.build": MESON, "demo/_c.c": code("_c")}
    files["demo/__init__.py"] = "from demo._c import mantissa"
    files["about.in"] = "words = '@words@'\n"
    smoke = "import demo, sys; assert demo.mantissa == sys.float_info.mant_dig * 2 + 7"
    outcome = build(house, files, TESTED, test={"imports": ["demo"], "smoke": smoke})
    found = objects(outcome, tmp_path)
    assert set(found) == {f"demo/_c{SUFFIX}"}
    about = (tmp_path / "unpacked/demo/about.py").read_text()
    assert "words = '/rvbuild/kits/toolchain-" in about
    assert " -I/rvbuild/prefix/include" in about
    assert str(house.places.cache) not in about
    log = log_of(house)
    for line in (
        "Host machine cpu family: riscv64",
        "Message: zlib false",
        "Message: python 3.13",
        "Message: mantissa 113",
        "Message: format IEEE_QUAD_LE",
        f"Message: build {house.host} host riscv64",
    ):
        assert line in log, line
    assert outcome.report is not None
    assert outcome.report.ok


def test_scikit_build_core_is_in_cross_mode_and_probes_run(house: House, tmp_path: Path) -> None:
    files = {"pyproject.toml": SCIKIT_PROJECT, "CMakeLists.txt": CMAKE, "demo/__init__.py": ""}
    files["demo/_c.c"] = code("_c")
    outcome = build(
        house, files, TESTED, test={"imports": ["demo._c"]}, requires={"tools": ["cmake", "ninja"]}
    )
    assert set(objects(outcome, tmp_path)) == {f"demo/_c{SUFFIX}"}
    log = log_of(house)
    assert "cross=TRUE for=riscv64 zlib=FALSE" in log
    assert f"runs=1 fails= soabi={SUFFIX[1:-3]}" in log
    assert outcome.report is not None
    assert outcome.report.ok


def test_a_bare_backend_is_told_all_it_needs(house: House, tmp_path: Path) -> None:
    outcome = build(
        house, bare(), TESTED, test={"smoke": "import demo; assert demo.mantissa == 113"}
    )
    assert set(objects(outcome, tmp_path)) == {f"demo{SUFFIX}"}
    assert outcome.report is not None
    assert outcome.report.ok


def test_the_callers_environment_is_not_seen(
    house: House, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("CC", "CFLAGS", "LDFLAGS", "PYTHONPATH", "MY_VARIABLE", "CPATH", "LIBRARY_PATH"):
        monkeypatch.setenv(name, "/of/the/caller")
    check = (
        "assert '/of/the/caller' not in str(dict(os.environ)); print('path', os.environ['PATH'])"
    )
    outcome = build(house, bare(check))
    objects(outcome, tmp_path)
    path = next(line for line in log_of(house).splitlines() if line.startswith("path "))
    assert "/usr" not in path


@pytest.mark.needs("userns")
def test_a_build_has_no_network(house: House) -> None:
    # A documentation address (RFC 5737): without network there is no way to it at all.
    check = "import socket; socket.create_connection(('192.0.2.1', 80), timeout=20)"
    error = failure(build(house, bare(check)))
    assert error.exit_code == 6
    assert any("Network is unreachable" in line for line in error.tail)


@pytest.mark.parametrize(
    ("flag", "message", "hint"),
    [
        ("-I/usr/include", "is a folder of the build machine", "`requires.libraries`"),
        ("-L/usr/lib", "is a folder of the build machine", "`requires.libraries`"),
        ("-march=native", "asks for the build machine's processor", "`-march=native`"),
    ],
)
def test_what_belongs_to_the_build_machine_stops_the_build(
    house: House, flag: str, message: str, hint: str
) -> None:
    error = failure(build(house, bare(), build={"options": [f"flags={flag}"]}))
    assert error.exit_code == 6
    assert any(f"`{flag}` {message}" in line for line in error.tail), error.tail
    assert hint in (error.hint or "")


def test_code_for_another_machine_in_a_wheel_is_refused(house: House) -> None:
    # An extension that was compiled for this machine beside one for the target.
    check = (
        "subprocess.run(['cc', '-shared', '-nostdlib', 'other.c', '-o', 'other.so'], check=True)"
    )
    files = bare(check)
    files["other.c"] = "int other(void) { return 1; }\n"
    files["bare.py"] = files["bare.py"].replace(
        "wheel.write(name)", "wheel.write(name); wheel.write('other.so')"
    )
    error = failure(build(house, files, requires={"tools": ["cc"]}))
    assert error.exit_code == 7
    assert any("other.so" in cause for cause in error.causes)


MESON_LIBRARY = """
project('demo', 'c')
message('family', host_machine.cpu_family())
message('format', meson.get_external_property('longdouble_format', 'none'))
library('demo', 'demo.c', install: true)
"""
OWN_CROSS_FILE = """
[host_machine]
system = 'linux'
cpu_family = 'x86_64'
cpu = 'x86_64'
endian = 'little'
"""
GENERATOR = """
#include <stdio.h>
int main(void) { puts("int generated(void) { return (int)sizeof(long double); }"); return 0; }
"""
CMAKE_GENERATED = """
cmake_minimum_required(VERSION 3.20)
project(demo LANGUAGES C)
add_custom_command(OUTPUT made.c COMMAND ${NATIVE_DIR}/gen > made.c DEPENDS ${NATIVE_DIR}/gen)
add_library(demo SHARED ${CMAKE_CURRENT_BINARY_DIR}/made.c)
install(TARGETS demo)
"""


def cmake_library(house: House, *before: list[str]) -> Outcome:
    files = {"CMakeLists.txt": CMAKE_GENERATED, "gen.c": GENERATOR}
    commands = [{"run": words} for words in before]
    build_ = {"system": "cmake", "options": ["-DNATIVE_DIR={source}/native"], "before": commands}
    expect, requires = {"files": ["lib/libdemo.so"]}, {"tools": ["cc"]}
    return build(house, files, kind="library", build=build_, expect=expect, requires=requires)


def test_a_generator_is_built_for_this_machine_and_run(house: House) -> None:
    outcome = cmake_library(house, ["mkdir", "native"], ["cc", "gen.c", "-o", "native/gen"])
    assert outcome.error is None, (outcome.error.message, outcome.error.tail)
    assert outcome.prefix is not None
    facts = read_elf(outcome.prefix / "lib/libdemo.so")
    assert (facts.machine, facts.float_abi) == ("EM_RISCV", "double")
    assert "generated" in facts.defined


def test_a_generator_that_is_absent_is_named(house: House) -> None:
    error = failure(cmake_library(house))
    assert any("source/native/gen" in line for line in error.tail), error.tail


def test_a_generator_for_the_target_says_so(house: House) -> None:
    compiler = "riscv64-linux-gnu-clang"
    error = failure(
        cmake_library(house, ["mkdir", "native"], [compiler, "gen.c", "-o", "native/gen"])
    )
    # The last is what is said where riscv64 programs are registered with binfmt_misc.
    signs = ("cannot execute", "Exec format", "ld-linux-riscv64")
    assert any(sign in line for line in error.tail for sign in signs), error.tail


def test_a_meson_library_is_configured_for_the_target(house: House) -> None:
    files = {"meson.build": MESON_LIBRARY, "demo.c": "int demo(void) { return 1; }\n"}
    outcome = build(house, files, kind="library", build={"system": "meson"})
    assert outcome.error is None, (outcome.error.message, outcome.error.tail)
    assert "Message: family riscv64" in log_of(house)
    assert "Message: format IEEE_QUAD_LE" in log_of(house)
    assert outcome.prefix is not None
    assert read_elf(outcome.prefix / "lib/libdemo.so").machine == "EM_RISCV"


def test_a_cross_file_of_the_recipe_for_another_machine_stops(house: House) -> None:
    files = {"meson.build": MESON_LIBRARY, "demo.c": "", "own.ini": OWN_CROSS_FILE}
    options = ["--cross-file={source}/own.ini"]
    built = build(house, files, kind="library", build={"system": "meson", "options": options})
    error = failure(built)
    assert error.message == "Meson configured `demo-1.0:library` for x86_64 and not for riscv64"
    assert "leave it to rvbuild" in (error.hint or "")
    # Tried again, the build folder is there, and nothing is configured: it stops as before.
    again = failure(
        build(house, files, kind="library", build={"system": "meson", "options": options})
    )
    assert again.message == error.message


def test_a_cross_file_of_the_recipe_with_another_long_double_stops(house: House) -> None:
    own = "[properties]\nlongdouble_format = 'INTEL_EXTENDED_16_BYTES_LE'\n"
    files = {"meson.build": MESON_LIBRARY, "demo.c": "", "own.ini": own}
    options = ["--cross-file={source}/own.ini"]
    built = build(house, files, kind="library", build={"system": "meson", "options": options})
    error = failure(built)
    assert "`longdouble_format = 'INTEL_EXTENDED_16_BYTES_LE'`" in error.message


LOOKING_FOR_BLAS = {
    "required": "dependency('openblas')",
    # As NumPy does, which goes on without where it is allowed to.
    "own words": """
if not dependency('openblas', required: false).found()
  error('No BLAS library detected! Install one, or use the `allow-noblas` build option')
endif
""",
}


@pytest.mark.parametrize("way", LOOKING_FOR_BLAS)
def test_a_library_that_no_recipe_brings_stops_before_compiling(house: House, way: str) -> None:
    text = (
        f"project('demo', 'c')\n{LOOKING_FOR_BLAS[way]}\nlibrary('demo', 'demo.c', install: true)"
    )
    files = {"meson.build": text, "demo.c": "int demo(void) { return 1; }\n"}
    error = failure(build(house, files, kind="library", build={"system": "meson"}))
    assert error.message == "`meson` failed while building `demo-1.0:library`"
    assert any("openblas" in line or "No BLAS library" in line for line in error.tail)
    name = "BLAS" if way == "own words" else "openblas"
    assert error.hint == f"name the recipe that brings `{name}` in `requires.libraries`"
    assert "Compiling" not in log_of(house)


def test_a_search_path_of_the_build_machine_stops_before_compiling(house: House) -> None:
    files = {"meson.build": MESON_LIBRARY, "demo.c": "int demo(void) { return 1; }\n"}
    told = {"PKG_CONFIG_PATH": "{prefix}/lib/pkgconfig:/usr/lib/pkgconfig"}
    built = build(house, files, kind="library", build={"system": "meson", "environment": told})
    error = failure(built)
    found = "`PKG_CONFIG_PATH` of `demo-1.0:library` names `/usr/lib/pkgconfig`"
    assert error.message == f"{found} of the build machine"
    assert "`requires.libraries`" in (error.hint or "")


def test_a_build_requirement_outside_the_project_s_range_stops_before_compiling(
    house: House,
) -> None:
    project = MESON_PROJECT.replace('["meson-python"]', '["meson-python", "Cython>=3.0.8,<3.3.0"]')
    files = {"pyproject.toml": project, "meson.build": MESON}
    error = failure(build(house, files, requires={"build": ["cython==3.3.1"]}))
    assert error.exit_code == 6
    assert "the project and `requires.build` of the recipe exclude each other" in (error.hint or "")
    assert "3.3.0" in (error.hint or "")
    assert "meson setup" not in log_of(house)


def test_a_library_of_the_build_machine_is_not_linked(house: House) -> None:
    # Named by its path, as CMake does, past the folders that the compiler refuses.
    check = """subprocess.run(['cc', '-shared', '-nostdlib', 'z.c', '-o', 'libz.so'], check=True)"""
    files = bare(check) | {"z.c": "int z(void) { return 1; }\n"}
    options = ["flags=-L. -lz"]
    error = failure(build(house, files, requires={"tools": ["cc"]}, build={"options": options}))
    assert any("incompatible" in line for line in error.tail), error.tail


CMAKE_LIBRARY = """
cmake_minimum_required(VERSION 3.20)
project(demo LANGUAGES C)
add_library(demo SHARED one.c two.c three.c)
install(TARGETS demo DESTINATION lib)
"""


@pytest.mark.parametrize("system", ["cmake", "pep517"])
def test_all_that_does_not_compile_is_told_at_once(house: House, system: str) -> None:
    kind = "library" if system == "cmake" else "wheel"
    own = {"CMakeLists.txt": CMAKE_LIBRARY}
    if system == "pep517":
        build_file = MESON.replace("'demo/_c.c'", "['one.c', 'two.c', 'three.c']")
        own = {"pyproject.toml": MESON_PROJECT, "meson.build": build_file, "demo/__init__.py": ""}
        own["about.in"] = ""
    broken = {"one.c": "int one = nothing;\n", "three.c": "#error three\n"}
    outcome = build(
        house, {**own, **broken, "two.c": "int two;\n"}, kind=kind, build={"system": system}
    )
    assert isinstance(outcome.error, RvbuildError)
    causes = "\n".join(outcome.error.causes)
    assert "use of undeclared identifier 'nothing'" in causes
    assert "error: three" in causes
    assert not any("two.c" in cause for cause in outcome.error.causes)
