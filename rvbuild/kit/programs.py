"""Programs of the build machine from pinned packages: patchelf, pip, sccache, cmake, ninja, make.

Debian's are pointed at the loader and libraries unpacked beside them, so they run on any Linux.
"""

import subprocess
from pathlib import Path

from rvbuild.errors import MissingToolError
from rvbuild.fetch import fetch
from rvbuild.kit.pins import PinFile, load_pins
from rvbuild.kit.tree import Supplies, Tree, materialise

# Raised whenever programs are adapted differently.
REVISION = "2"
LOADERS = {
    "x86_64": "usr/lib64/ld-linux-x86-64.so.2",
    "aarch64": "usr/lib/ld-linux-aarch64.so.1",
    "riscv64": "usr/lib/ld-linux-riscv64-lp64d.so.1",
}
# The program's name, and where its tree keeps it.
PLACES = {
    "patchelf": "*.data/scripts/patchelf",
    "sccache": "*.data/scripts/sccache",
    "ninja": "*.data/scripts/ninja",
    "cmake": "cmake/data/bin/cmake",
    "make": "usr/bin/make",
    "pkgconf": "usr/bin/pkgconf",
}
FROM_DEBIAN = ("make", "pkgconf")


def tool_pins(folder: Path) -> PinFile:
    """Read the pins of the build machine's programs."""
    return load_pins(folder / "tools.yaml")


def install_pip(folder: Path, supplies: Supplies) -> Path:
    """Have pip's wheel; it is run from inside, never installed."""
    pin = tool_pins(folder).tree("pip").pins[0]
    return fetch(pin.remote, supplies.network, supplies.places.downloads, supplies.watch)


def install_program(name: str, host: str, folder: Path, supplies: Supplies) -> Path:
    """Have a program for this machine (`x86_64`, `aarch64`, `riscv64`) and say where it is."""
    if name in FROM_DEBIAN:
        root = _install_debian_programs(host, folder, supplies)
    else:
        pinned = tool_pins(folder).tree(f"{name}-{host}")
        root = materialise(Tree(f"{name}-{host}", pinned), supplies).path
    program = next(root.glob(PLACES[name]), None)
    if program is None:
        raise MissingToolError(f"the pinned package of `{name}` does not hold the program")
    return program


def _install_debian_programs(host: str, folder: Path, supplies: Supplies) -> Path:
    patchelf = install_program("patchelf", host, folder, supplies)
    tree = Tree(f"programs-{host}", tool_pins(folder).tree(f"programs-{host}"), REVISION)

    def finish(staging: Path, path: Path) -> None:
        for name in FROM_DEBIAN:
            adopt_program(staging / PLACES[name], path, host, patchelf)

    return materialise(tree, supplies, finish).path


def adopt_program(
    program: Path, root: Path, host: str, patchelf: Path, further: tuple[Path, ...] = ()
) -> None:
    """Point a program at the loader and libraries that are, or will be, unpacked under `root`.

    `further` are folders of libraries beside `root`'s own.
    DT_RPATH and not RUNPATH: the former also serves the libraries of what the program loads later.
    """
    own = (root / f"usr/lib/{host}-linux-gnu", root / "usr/lib")
    libraries = ":".join(str(folder) for folder in (*further, *own))
    words = [str(patchelf), "--set-interpreter", f"{root}/{LOADERS[host]}"]
    words += ["--force-rpath", "--set-rpath", libraries, str(program)]
    try:
        subprocess.run(words, capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError) as error:
        raise MissingToolError(
            f"cannot adapt `{program.name}` to this machine", causes=[str(error)]
        ) from error
