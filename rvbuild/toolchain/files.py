"""What build systems are told of a toolchain: files for Meson and CMake, and the environment."""

import re
from importlib import resources
from pathlib import Path

from rvbuild.target import MACHINE
from rvbuild.toolchain.model import Surroundings, Toolchain

FORTRAN_FLAGS = ("-O2", "-fPIC")


def _meson_text(value: str) -> str:
    return "'" + value.replace("\\", "\\\\").replace("'", "\\'") + "'"


def _meson_list(values: tuple[str, ...]) -> str:
    return "[" + ", ".join(_meson_text(value) for value in values) + "]"


def pkg_config_path(around: Surroundings) -> str:
    """Join the only folders that pkg-config may look into."""
    own = (around.prefix / "lib/pkgconfig", around.prefix / "share/pkgconfig")
    return ":".join(str(folder) for folder in (*own, *around.pkg_config_folders))


def meson_cross_file(toolchain: Toolchain, around: Surroundings) -> str:
    """Write a complete cross file: binaries, the host machine and what cannot be asked for here."""
    programs = {
        "c": toolchain.c,
        "cpp": toolchain.cxx,
        "ar": toolchain.archiver,
        "ranlib": toolchain.ranlib,
        "objcopy": toolchain.objcopy,
        "pkg-config": toolchain.pkg_config,
        "exe_wrapper": toolchain.emulated,
    }
    if around.python is not None:
        programs["python"] = programs["python3"] = around.python
    if around.fortran is not None:
        programs["fortran"] = around.fortran
    link = around.link_flags
    flags = around.compile_flags
    lines = ["[binaries]"]
    lines += [f"{name} = {_meson_text(str(program))}" for name, program in programs.items()]
    lines += ["", "[built-in options]"]
    lines += [
        f"c_args = {_meson_list(flags + around.cflags)}",
        f"c_link_args = {_meson_list(link)}",
    ]
    lines += [
        f"cpp_args = {_meson_list(flags + around.cxxflags)}",
        f"cpp_link_args = {_meson_list(link)}",
    ]
    if around.fortran is not None:
        lines += [f"fortran_args = {_meson_list(FORTRAN_FLAGS)}"]
        lines += [f"fortran_link_args = {_meson_list(link)}"]
    lines += ["", "[properties]", "needs_exe_wrapper = true"]
    # No run here can tell: riscv64's long double is IEEE binary128 (RISC-V psABI).
    lines += ["longdouble_format = 'IEEE_QUAD_LE'"]
    lines += [f"pkg_config_libdir = {_meson_list(tuple(pkg_config_path(around).split(':')))}"]
    lines += ["", "[host_machine]", "system = 'linux'", f"cpu_family = '{MACHINE}'"]
    lines += [f"cpu = '{MACHINE}'", "endian = 'little'", ""]
    return "\n".join(lines)


def meson_native_file(toolchain: Toolchain) -> str:
    """Write a native file: the compilers for what a build runs itself."""
    return "\n".join(
        [
            "[binaries]",
            f"c = {_meson_text(str(toolchain.build_c))}",
            f"cpp = {_meson_text(str(toolchain.build_cxx))}",
            f"ar = {_meson_text(str(toolchain.archiver))}",
            "",
        ]
    )


def cmake_toolchain_file(toolchain: Toolchain, around: Surroundings) -> str:
    """Write a file that puts CMake into cross mode, with the emulator for what must run."""
    flags = around.compile_flags
    values = {
        "CMAKE_SYSTEM_NAME": "Linux",
        "CMAKE_SYSTEM_PROCESSOR": MACHINE,
        "CMAKE_C_COMPILER": str(toolchain.c),
        "CMAKE_CXX_COMPILER": str(toolchain.cxx),
        "CMAKE_ASM_COMPILER": str(toolchain.c),
        "CMAKE_AR": str(toolchain.archiver),
        "CMAKE_RANLIB": str(toolchain.ranlib),
        "CMAKE_OBJCOPY": str(toolchain.objcopy),
        "CMAKE_SYSROOT": str(toolchain.sysroot),
        "CMAKE_CROSSCOMPILING_EMULATOR": str(toolchain.emulated),
        "CMAKE_C_FLAGS_INIT": " ".join(flags + around.cflags),
        "CMAKE_CXX_FLAGS_INIT": " ".join(flags + around.cxxflags),
        "CMAKE_SHARED_LINKER_FLAGS_INIT": " ".join(around.link_flags),
        "CMAKE_MODULE_LINKER_FLAGS_INIT": " ".join(around.link_flags),
        "CMAKE_EXE_LINKER_FLAGS_INIT": " ".join(around.link_flags),
        "CMAKE_FIND_ROOT_PATH": ";".join(_cmake_roots(toolchain, around)),
        "CMAKE_PREFIX_PATH": str(around.prefix),
        "CMAKE_FIND_ROOT_PATH_MODE_PROGRAM": "NEVER",
        "CMAKE_FIND_ROOT_PATH_MODE_LIBRARY": "ONLY",
        "CMAKE_FIND_ROOT_PATH_MODE_INCLUDE": "ONLY",
        # Build requirements such as pybind11 bring theirs in the environment that runs here.
        "CMAKE_FIND_ROOT_PATH_MODE_PACKAGE": "BOTH",
        "CMAKE_INSTALL_LIBDIR": "lib",
        # In place of this machine's ldd, which cannot tell of the target's libraries.
        "CMAKE_LINK_WHAT_YOU_USE_CHECK": "true",
        "PKG_CONFIG_EXECUTABLE": str(toolchain.pkg_config),
    } | _cmake_python(around)
    if around.fortran is not None:
        values["CMAKE_Fortran_COMPILER"] = str(around.fortran)
        values["CMAKE_Fortran_FLAGS_INIT"] = " ".join(FORTRAN_FLAGS)
    for definition in around.definitions:
        name, _, value = definition.partition("=")
        values[name.partition(":")[0]] = value
    lines = [f'set({name} {_cmake_text(value)} CACHE STRING "")' for name, value in values.items()]
    # The file is read again for every probe, where cache entries of the project are not seen.
    lines += ['set(CMAKE_SYSTEM_NAME "Linux")', f'set(CMAKE_SYSTEM_PROCESSOR "{MACHINE}")']
    lines += ['set(CMAKE_PROJECT_INCLUDE "${CMAKE_CURRENT_LIST_DIR}/policies.cmake")', ""]
    return "\n".join(lines)


def _cmake_roots(toolchain: Toolchain, around: Surroundings) -> list[str]:
    roots = [toolchain.sysroot, around.prefix, around.site_packages]
    # FindPython looks for NumPy's headers where NumPy says, which has to be below a root.
    return [str(root) for root in roots if root is not None]


def _cmake_text(value: str) -> str:
    return '"' + re.sub(r'(["\\$])', r"\\\1", value) + '"'


def _cmake_python(around: Surroundings) -> dict[str, str]:
    if around.python is None or around.python_include is None:
        return {}
    suffix = around.extension_suffix
    soabi = suffix.removeprefix(".").removesuffix(".so")
    values: dict[str, str] = {}
    for name in ("Python", "Python3"):
        values |= {
            f"{name}_EXECUTABLE": str(around.python),
            f"{name}_INCLUDE_DIR": str(around.python_include),
            f"{name}_SOABI": soabi,
        }
    return values | {
        "PYTHON_EXECUTABLE": str(around.python),
        "PYTHON_INCLUDE_DIR": str(around.python_include),
        "PYTHON_MODULE_EXTENSION": suffix,
    }


def environment(toolchain: Toolchain, around: Surroundings) -> dict[str, str]:
    """Name compilers, flags and pkg-config for setuptools, autotools and make, all together."""
    flags = " ".join(around.compile_flags)
    shared = f"{toolchain.c} -shared"
    fortran = {} if around.fortran is None else {"FC": str(around.fortran)}
    return fortran | {
        "CC": str(toolchain.c),
        "CXX": str(toolchain.cxx),
        "LDSHARED": shared,
        "LDCXXSHARED": f"{toolchain.cxx} -shared",
        "AR": str(toolchain.archiver),
        "ARFLAGS": "rcs",
        "RANLIB": str(toolchain.ranlib),
        "OBJCOPY": str(toolchain.objcopy),
        "CFLAGS": " ".join((flags, *around.cflags)),
        "CXXFLAGS": " ".join((flags, *around.cxxflags)),
        "LDFLAGS": " ".join(around.link_flags),
        "PKG_CONFIG": str(toolchain.pkg_config),
        "PKG_CONFIG_LIBDIR": pkg_config_path(around),
        "PKG_CONFIG_PATH": "",
        "RVBUILD_PREFIX": str(around.prefix),
    }


def write_files(toolchain: Toolchain, around: Surroundings, folder: Path) -> None:
    """Write the cross, native and toolchain files of Meson and CMake into a job's folder."""
    folder.mkdir(parents=True, exist_ok=True)
    policies = resources.files("rvbuild").joinpath("data/toolchain/policies.cmake")
    (folder / "policies.cmake").write_text(policies.read_text("utf-8"), encoding="utf-8")
    (folder / "meson-cross.ini").write_text(meson_cross_file(toolchain, around), encoding="utf-8")
    (folder / "meson-native.ini").write_text(meson_native_file(toolchain), encoding="utf-8")
    (folder / "toolchain.cmake").write_text(
        cmake_toolchain_file(toolchain, around), encoding="utf-8"
    )


def build_machine_environment(toolchain: Toolchain) -> dict[str, str]:
    """Name the compilers of what a build runs itself, by the variables that ask for them."""
    return {
        "CC_FOR_BUILD": str(toolchain.build_c),
        "CXX_FOR_BUILD": str(toolchain.build_cxx),
        "AR_FOR_BUILD": str(toolchain.archiver),
        "HOSTCC": str(toolchain.build_c),
        "HOSTCXX": str(toolchain.build_cxx),
    }
