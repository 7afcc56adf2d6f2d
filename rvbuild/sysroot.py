"""The pinned target tree that sets the glibc floor: headers and libraries to build against."""

import shutil
from dataclasses import dataclass
from pathlib import Path

from rvbuild.errors import MissingToolError
from rvbuild.kit import Kit, Supplies, Tree, load_pins, materialise
from rvbuild.kit.tree import kit_path
from rvbuild.places import Places
from rvbuild.target import TRIPLE, Floor

# Raised whenever a sysroot is put together differently.
REVISION = "1"


@dataclass(frozen=True, slots=True)
class Sysroot:
    """An unpacked sysroot: `root` for compilers, `libraries` the folders of its shared objects."""

    floor: Floor
    root: Path
    libraries: tuple[Path, ...]
    gcc_install: Path
    digest: str


def pins_path(floor: Floor, folder: Path) -> Path:
    """Say which pin file describes a floor's sysroot; raise `MissingToolError` if none does."""
    path = folder / f"manylinux_{floor}_riscv64.yaml"
    if not path.is_file():
        known = sorted(
            each.stem.split("_riscv64")[0] for each in folder.glob("manylinux_*_riscv64.yaml")
        )
        raise MissingToolError(
            f"there is no sysroot for glibc {floor.major}.{floor.minor}",
            hint=f"choose a floor among {', '.join(known)}, or add `sysroots/{path.name}`",
        )
    return path


def sysroot_digest(floor: Floor, folder: Path) -> str:
    """Name the sysroot of a floor by content without having it."""
    return sysroot_trees(floor, folder)[0].digest


def sysroot_trees(floor: Floor, folder: Path) -> tuple[Tree, Tree]:
    """Give the tree of a sysroot, and that of the newer kernel headers laid over it."""
    pins = load_pins(pins_path(floor, folder))
    headers = Tree(f"kernel-headers-{pins.name}", pins.tree("kernel-headers"))
    revision = f"{REVISION} {headers.digest}"
    return Tree(f"sysroot-{pins.name}", pins.tree("sysroot"), revision), headers


def install_sysroot(floor: Floor, folder: Path, supplies: Supplies) -> Sysroot:
    """Have the sysroot of a floor on disk; `folder` holds the pin files.

    Kernel headers are independent of glibc: the newer ones replace those of glibc's own time, for
    `asm/hwprobe.h` above all.
    """
    whole, headers = sysroot_trees(floor, folder)

    def finish(staging: Path, _: Path) -> None:
        laid_over = materialise(headers, supplies)
        include = staging / "usr" / TRIPLE / "include"
        for name in ("linux", "asm", "asm-generic"):
            shutil.rmtree(include / name, ignore_errors=True)
        shutil.copytree(laid_over.path / "usr" / TRIPLE / "include", include, dirs_exist_ok=True)
        # Compilers look for usr/include and lib; Debian keeps both below usr/TRIPLE.
        (staging / "usr" / "include").symlink_to(f"{TRIPLE}/include")
        (staging / "lib").symlink_to(f"usr/{TRIPLE}/lib")

    return _describe(floor, materialise(whole, supplies, finish))


def find_sysroot(floor: Floor, folder: Path, places: Places) -> Sysroot | None:
    """Give the sysroot of a floor where it is on disk already, and fetch nothing."""
    tree = sysroot_trees(floor, folder)[0]
    path = kit_path(tree, places)
    return _describe(floor, Kit(path, tree.digest)) if path.is_dir() else None


def _describe(floor: Floor, kit: Kit) -> Sysroot:
    installs = sorted((kit.path / "usr/lib/gcc-cross" / TRIPLE).iterdir())
    return Sysroot(
        floor=floor,
        root=kit.path,
        libraries=(kit.path / "usr" / TRIPLE / "lib",),
        gcc_install=installs[-1],
        digest=kit.digest,
    )
