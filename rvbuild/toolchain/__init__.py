"""Compilers for the target and the build machine, and all that tells a build system of them.

One `Toolchain` value is the source of the wrappers, the Meson cross file, the CMake toolchain file
and the environment, so that they cannot disagree.
"""

from rvbuild.toolchain.model import Surroundings, Toolchain

__all__ = ["Surroundings", "Toolchain"]
