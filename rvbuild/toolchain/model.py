"""The values of the toolchain: which programs there are, and what surrounds one job's compiles."""

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

Family = Literal["clang", "gcc"]


@dataclass(frozen=True, slots=True)
class Toolchain:
    """Wrapped programs: `c` and the like compile for riscv64, `build_c` for this machine.

    `emulated` runs a riscv64 program of the sysroot; `pkg_config` sees only what its environment
    names. `digest` names compiler, sysroot and wrappers by content.
    """

    family: Family
    version: str
    folder: Path
    c: Path
    cxx: Path
    linker: Path
    archiver: Path
    ranlib: Path
    objcopy: Path
    build_c: Path
    build_cxx: Path
    emulated: Path
    pkg_config: Path
    sysroot: Path
    digest: str


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What one job's compiles may see beside the sysroot.

    `prefix` is where the libraries below the job are staged, `pkg_config_folders` hold `.pc` files;
    `python` is the interpreter that answers for the target, with its header folder and suffix, and
    `site_packages` where build requirements are, over which headers of the target are laid;
    `definitions` are `NAME=value` for a CMake that a build starts in its own way.
    `fortran` is the Fortran compiler of a job that asked for one.
    """

    prefix: Path
    pkg_config_folders: tuple[Path, ...] = ()
    python: Path | None = None
    python_include: Path | None = None
    extension_suffix: str = ""
    site_packages: Path | None = None
    cflags: tuple[str, ...] = ()
    cxxflags: tuple[str, ...] = ()
    ldflags: tuple[str, ...] = ()
    definitions: tuple[str, ...] = ()
    fortran: Path | None = None

    @property
    def compile_flags(self) -> tuple[str, ...]:
        """Preprocessor and optimisation flags of every compile."""
        return ("-O2", "-DNDEBUG", "-fno-strict-overflow", "-fPIC", f"-I{self.prefix}/include")

    @property
    def link_flags(self) -> tuple[str, ...]:
        """Linker flags of every link."""
        return (f"-L{self.prefix}/lib", *self.ldflags)
