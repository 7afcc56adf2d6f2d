"""GNU Fortran for the target, from the packages of the sysroot's own Debian release.

It compiles, and the job's C compiler links. Its assembler and passes are pointed at the libraries
beside them.
"""

from importlib import resources
from pathlib import Path

from rvbuild.kit.pins import load_pins
from rvbuild.kit.programs import adopt_program, install_program
from rvbuild.kit.tree import Supplies, Tree, materialise

REVISION = "2"
ELF_MAGIC = b"\x7fELF"
OBJCOPY = "usr/bin/riscv64-linux-gnu-objcopy"
PASSES = "usr/lib/gcc-cross/riscv64-linux-gnu/10"


def install_fortran(host: str, folder: Path, supplies: Supplies) -> Path:
    """Have gfortran for a host on disk; raise `MissingToolError` where it is not pinned."""
    pinned = load_pins(folder / "fortran.yaml").tree(f"compiler-{host}")
    patchelf = install_program("patchelf", host, folder, supplies)
    loader = install_program("make", host, folder, supplies).parents[2]

    def finish(staging: Path, path: Path) -> None:
        further = tuple(path / name / f"{host}-linux-gnu" for name in ("usr/lib", "lib"))
        for place in ("usr/bin", PASSES):
            for program in (staging / place).iterdir():
                if _is_program(program):
                    adopt_program(program, loader, host, patchelf, further)
        wrapper = staging / "bin/gfortran"
        wrapper.parent.mkdir()
        wrapper.write_text(wrapper_text(path), encoding="utf-8")
        wrapper.chmod(0o755)

    return materialise(Tree(f"fortran-{host}", pinned, REVISION), supplies, finish).path / (
        "bin/gfortran"
    )


def wrapper_text(root: Path) -> str:
    """Write the program that builds start, for a kit at a place."""
    template = resources.files("rvbuild").joinpath("data/kit/gfortran.sh")
    return template.read_text(encoding="utf-8").replace("@ROOT@", str(root))


def install_objcopy(host: str, folder: Path, supplies: Supplies) -> Path:
    """Have the objcopy beside gfortran on disk, which can rename symbols; raises as that does."""
    return install_fortran(host, folder, supplies).parents[1] / OBJCOPY


def _is_program(path: Path) -> bool:
    if path.is_symlink() or not path.is_file() or ".so" in path.name:
        return False
    with path.open("rb") as stream:
        return stream.read(len(ELF_MAGIC)) == ELF_MAGIC
