"""What is compared: our wheels, Debian's packages, a public wheel; each with its Python."""

import platform
import zipfile
from dataclasses import dataclass
from pathlib import Path

from counting.count import Runtime
from rvbuild.errors import UsageError
from rvbuild.kit import Supplies, Tree, load_pins, materialise
from rvbuild.places import builtin_folder
from rvbuild.pythons import Interpreter, install_interpreter

PINS = Path(__file__).parent / "products.yaml"
MODULES, LIBRARIES = "usr/lib/python3/dist-packages", "usr/lib/riscv64-linux-gnu"
# What update-alternatives would choose where OpenBLAS is installed beside the reference BLAS.
OPENBLAS = f"{LIBRARIES}/openblas-pthread"


@dataclass(frozen=True, slots=True)
class Product:
    """Something to count: its name, a Python that imports it, and its BLAS, if it has one."""

    name: str
    runtime: Runtime
    blas: Path | None = None


def our_wheels(wheels: tuple[Path, ...], folder: Path, supplies: Supplies) -> Product:
    """Unpack wheels of ours for CPython 3.13 below `folder`; what they need comes from Debian."""
    for wheel in wheels:
        if not wheel.is_file():
            raise UsageError(f"there is no wheel `{wheel}`")
        with zipfile.ZipFile(wheel) as archive:
            archive.extractall(folder)
    # libstdc++ for NumPy; for PyTorch also the plain Python modules that it imports.
    tree = "debian-trixie-torch" if (folder / "torch").is_dir() else "debian-trixie"
    beside = _unpacked(tree, supplies)
    runtime = _runtime("3.13", (folder, beside / MODULES), (beside / LIBRARIES,), supplies)
    return Product("ours", runtime, next(folder.glob("numpy.libs/libopenblas*"), None))


def debian(release: str, python: str, supplies: Supplies) -> Product:
    """Give Debian's NumPy over Debian's OpenBLAS."""
    tree = _unpacked(f"debian-{release}", supplies)
    libraries = (tree / OPENBLAS, tree / LIBRARIES)
    runtime = _runtime(python, (tree / MODULES,), libraries, supplies)
    return Product(f"Debian {release}", runtime, tree / OPENBLAS / "libblas.so.3")


def debian_torch(supplies: Supplies) -> Product:
    """Give Debian's PyTorch over Debian's OpenBLAS."""
    tree = _unpacked("debian-trixie-torch", supplies)
    # gloo lies in none of the folders for an architecture.
    libraries = (tree / OPENBLAS, tree / LIBRARIES, tree / "usr/lib")
    return Product("Debian trixie", _runtime("3.13", (tree / MODULES,), libraries, supplies))


def public_openblas(supplies: Supplies) -> Product:
    """Give the OpenBLAS wheel that NumPy and SciPy use for other architectures."""
    tree = _unpacked("scipy-openblas64-riscv64", supplies)
    library = next(tree.glob("**/libscipy_openblas64_*.so"))
    beside = _unpacked("debian-trixie", supplies)
    runtime = _runtime("3.13", (), (library.parent, beside / LIBRARIES), supplies)
    return Product("scipy-openblas64", runtime, library)


def _runtime(
    python: str, modules: tuple[Path, ...], libraries: tuple[Path, ...], supplies: Supplies
) -> Runtime:
    kit: Interpreter = install_interpreter(
        python, platform.machine(), builtin_folder("sysroots"), supplies
    )
    return Runtime(kit.root, kit.program, modules, libraries)


def _unpacked(name: str, supplies: Supplies) -> Path:
    return materialise(Tree(f"counting-{name}", load_pins(PINS).tree(name)), supplies).path
