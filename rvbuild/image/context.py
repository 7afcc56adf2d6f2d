"""The build context of the manylinux image: a root folder of kits at the places they will have.

The image is what cibuildwheel expects of one; what is run inside it is in its Dockerfile.
"""

import hashlib
import shutil
import zipfile
from dataclasses import dataclass
from importlib import resources
from pathlib import Path

from rvbuild.fetch import fetch
from rvbuild.image.base import base_digest, install_base
from rvbuild.kit import Supplies, load_pins, materialise
from rvbuild.kit.programs import adopt_program, install_pip, install_program
from rvbuild.pythons import Interpreter, install_interpreter, interpreter_digest
from rvbuild.sysroot import Sysroot, install_sysroot, sysroot_digest
from rvbuild.target import MACHINE, TRIPLE, Floor
from rvbuild.toolchain.install import compiler_tree, fill_template

RECIPE = "Dockerfile.manylinux-riscv64"
# Raised whenever the context is put together differently.
REVISION = "1"
OWN = Path("/opt/rvbuild")
INTERNAL = Path("/opt/_internal")
TOOLS = ("auditwheel", "packaging", "pyelftools")
FRONT_END = ("build", "packaging", "pyproject-hooks")
LAUNCHER = """\
#!/bin/sh
PYTHONPATH={internal}/auditwheel exec {internal}/python -m auditwheel "$@"
"""


@dataclass(frozen=True, slots=True)
class Contents:
    """What an image is to hold; `host` is the machine that puts it together."""

    floor: Floor
    pythons: tuple[str, ...]
    host: str
    pins: Path

    @property
    def digest(self) -> str:
        """The sha256 of everything that decides what is in the image."""
        texts = [REVISION, recipe_text(), base_digest(self.pins)]
        texts += [sysroot_digest(self.floor, self.pins), compiler_tree(MACHINE, self.pins).digest]
        texts += [interpreter_digest(each, MACHINE, self.pins) for each in self.pythons]
        texts.append((self.pins / "image.yaml").read_text(encoding="utf-8"))
        return hashlib.sha256("\n".join(texts).encode()).hexdigest()

    @property
    def name(self) -> str:
        """The image's name and tag."""
        return f"rvbuild/{self.floor.tag}:{self.digest[:16]}"


def recipe_text() -> str:
    """Read the Dockerfile."""
    return resources.files("rvbuild").joinpath(f"data/image/{RECIPE}").read_text(encoding="utf-8")


def write_context(contents: Contents, folder: Path, supplies: Supplies) -> None:
    """Write Dockerfile and root folder into an empty folder."""
    shutil.rmtree(folder, ignore_errors=True)
    root = folder / "rootfs"
    (root / "usr/local/bin").mkdir(parents=True)
    (folder / RECIPE).write_text(recipe_text(), encoding="utf-8")
    install_base(contents.pins, supplies)
    sysroot = install_sysroot(contents.floor, contents.pins, supplies)
    _write_compiler(contents, sysroot, root, supplies)
    for version in contents.pythons:
        interpreter = install_interpreter(version, contents.host, contents.pins, supplies)
        _write_python(contents, interpreter, root, supplies)
    _write_tools(contents, root, supplies)


def _inside(root: Path, place: Path) -> Path:
    return root / place.relative_to("/")


def _write_compiler(contents: Contents, sysroot: Sysroot, root: Path, supplies: Supplies) -> None:
    zig = materialise(compiler_tree(MACHINE, contents.pins), supplies).path / "ziglang"
    own = _inside(root, OWN)
    (own / "clang").mkdir(parents=True)
    shutil.copy2(zig / "zig", own / "clang/zig")
    shutil.copytree(zig / "lib/include", own / "clang/resources/include", symlinks=True)
    shutil.copytree(sysroot.root, own / "sysroot", symlinks=True)
    program = f"{OWN}/clang/zig"
    for name, words in (("clang", "clang"), ("clang++", "clang --driver-mode=g++")):
        text = fill_template(
            "clang.sh",
            program=program,
            words=words,
            sysroot=f"{OWN}/sysroot",
            gcc_install=f"{OWN}/sysroot/{sysroot.gcc_install.relative_to(sysroot.root)}",
            resources=f"-resource-dir={OWN}/clang/resources",
            linker=f"{OWN}/bin/{TRIPLE}-ld",
        )
        _write_program(own / f"bin/{TRIPLE}-{name}", text)
    for name, words in (("ld", "ld.lld"), ("ar", "ar"), ("ranlib", "ranlib"), ("objcopy",) * 2):
        text = fill_template("tool.sh", program=program, words=words)
        _write_program(own / f"bin/{TRIPLE}-{name}", text)
    for alias, name in (("cc", "clang"), ("c++", "clang++"), ("gcc", "clang"), ("g++", "clang++")):
        (own / "bin" / alias).symlink_to(f"{TRIPLE}-{name}")


def _write_python(
    contents: Contents, interpreter: Interpreter, root: Path, supplies: Supplies
) -> None:
    version = interpreter.version
    place = INTERNAL / f"cpython-{version}"
    own = _inside(root, place)
    shutil.copytree(interpreter.root / "usr", own / "usr", symlinks=True)
    headers = own / f"usr/include/python{version}"
    shutil.rmtree(headers.parent)
    shutil.copytree(interpreter.include[0], headers)
    library = own / f"usr/lib/python{version}"
    # It speaks of a distribution's Python, and this one is nobody's.
    (library / "EXTERNALLY-MANAGED").unlink(missing_ok=True)
    _tell_compiler(library / f"_sysconfigdata__linux_{TRIPLE}.py")
    patchelf = install_program("patchelf", contents.host, contents.pins, supplies)
    adopt_program(own / f"usr/bin/python{version}", place, MACHINE, patchelf)


def _tell_compiler(data: Path) -> None:
    """Make a Python's build-time variables name the compiler of the image."""
    compiler = f"{TRIPLE}-clang"
    variables = {
        "CC": compiler,
        "CXX": f"{compiler}++",
        "LDSHARED": f"{compiler} -shared",
        "LDCXXSHARED": f"{compiler}++ -shared",
        "BLDSHARED": f"{compiler} -shared",
        "AR": f"{TRIPLE}-ar",
        "CFLAGS": "-O2 -DNDEBUG -fno-strict-overflow -fPIC",
        "OPT": "",
        "CCSHARED": "-fPIC",
        "LDFLAGS": "",
    }
    with data.open("a", encoding="utf-8") as stream:
        stream.write(f"\nbuild_time_vars.update({variables!r})\n")
    # Byte code in kits is taken without a look at its source.
    for stale in data.parent.glob(f"__pycache__/{data.stem}.*"):
        stale.unlink()


def _write_tools(contents: Contents, root: Path, supplies: Supplies) -> None:
    pins = load_pins(contents.pins / "image.yaml")
    wheels = {
        name: fetch(
            pins.tree(name).pins[0].remote,
            supplies.network,
            supplies.places.downloads,
            supplies.watch,
        )
        for name in {*TOOLS, *FRONT_END}
    }
    unpacked = _inside(root, INTERNAL / "auditwheel")
    for name in TOOLS:
        with zipfile.ZipFile(wheels[name]) as bundle:
            bundle.extractall(unpacked)
    packed = _inside(root, INTERNAL / "wheels")
    packed.mkdir(parents=True)
    for wheel in (install_pip(contents.pins, supplies), *(wheels[name] for name in FRONT_END)):
        shutil.copy2(wheel, packed / wheel.name)
    _write_program(root / "usr/local/bin/auditwheel", LAUNCHER.format(internal=INTERNAL))
    patchelf = install_program("patchelf", MACHINE, contents.pins, supplies)
    shutil.copy2(patchelf, root / "usr/local/bin/patchelf")


def _write_program(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    path.chmod(0o755)
