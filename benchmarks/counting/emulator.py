"""A `qemu-riscv64` that loads plugins, and the plugin that counts: both built here, once.

Debian builds its emulators without plugins. This one is built from the source of the same release;
the build machine has to have a C compiler, pkg-config, the headers of glib, and Python's venv.
"""

import os
import shutil
import subprocess
import sys
import sysconfig
import tarfile
from dataclasses import dataclass
from pathlib import Path

from filelock import FileLock

from rvbuild.errors import BuildError, MissingToolError
from rvbuild.fetch import DebianFile, Remote, fetch
from rvbuild.kit import Supplies

VERSION = "10.0.13"
ARCHIVE = f"qemu_{VERSION}+ds.orig.tar.xz"
SOURCE = Remote(
    ARCHIVE,
    "6a0888e806c2ffc0c5f0733e974f9aea55491950d3c47c98669c8b236dde59ae",
    (DebianFile(f"pool/main/q/qemu/{ARCHIVE}"),),
)
# What QEMU's configure wants of Python; it is told not to download anything by itself.
TOOLS = ("meson==1.12.1", "ninja==1.13.2", "pycotap==1.3.1")
LIBRARIES = ("glib-2.0 >= 2.66", "gmodule-export-2.0")
OPTIONS = (
    "--target-list=riscv64-linux-user",
    "--without-default-features",
    "--enable-plugins",
    "--disable-install-blobs",
    "--disable-docs",
    "--disable-tools",
    "--disable-download",
)
PLUGIN = Path(__file__).parent / "count.c"


@dataclass(frozen=True, slots=True)
class CountingEmulator:
    """An emulator with plugins and the counting plugin for it."""

    program: Path
    plugin: Path


def install_counting_emulator(supplies: Supplies, jobs: int) -> CountingEmulator:
    """Have the emulator below the cache; build it at the first call, in a few CPU-minutes.

    Raises `MissingToolError` for what this machine lacks, `BuildError` when a step fails.
    """
    folder = supplies.places.kits / f"counting-qemu-{VERSION}-{sysconfig.get_platform()}"
    folder.parent.mkdir(parents=True, exist_ok=True)
    with FileLock(f"{folder}.lock"):
        check_machine()
        program = folder / "qemu-riscv64"
        if not program.exists():
            _build_emulator(folder, supplies, jobs)
        # A second of work, and so never older than its source.
        return CountingEmulator(program, _build_plugin(folder))


def check_machine() -> None:
    """Raise `MissingToolError` with everything that this machine lacks for the build."""
    lacking = [f"no program `{name}`" for name in ("cc", "pkg-config") if not shutil.which(name)]
    if shutil.which("pkg-config"):
        for library in LIBRARIES:
            asked = subprocess.run(["pkg-config", "--exists", library], check=False)
            lacking += [f"pkg-config knows no `{library}`"] if asked.returncode else []
    if lacking:
        raise MissingToolError(
            "an emulator with plugins cannot be built here",
            causes=lacking,
            hint="on Debian: `apt-get install gcc pkg-config libglib2.0-dev`",
        )


def _build_emulator(folder: Path, supplies: Supplies, jobs: int) -> None:
    archive = fetch(SOURCE, supplies.network, supplies.places.downloads, supplies.watch)
    shutil.rmtree(folder, ignore_errors=True)
    source, build, tools = folder / "source", folder / "build", folder / "tools"
    build.mkdir(parents=True)
    with tarfile.open(archive) as opened:
        opened.extractall(folder, filter="tar")
    next(folder.glob("qemu-*")).rename(source)
    _run([sys.executable, "-m", "venv", str(tools)], folder)
    python = str(tools / "bin/python")
    _run([python, "-m", "pip", "install", "--quiet", *TOOLS], folder)
    _run([str(source / "configure"), f"--python={python}", *OPTIONS], build)
    _run([str(tools / "bin/ninja"), f"-j{jobs}", "qemu-riscv64"], build)
    shutil.copytree(source / "include/qemu", folder / "include")
    # The program comes last: it is what says that the folder is complete.
    shutil.copy2(build / "qemu-riscv64", folder / "qemu-riscv64.new")
    for done in (source, build, tools):
        shutil.rmtree(done)
    (folder / "qemu-riscv64.new").rename(folder / "qemu-riscv64")


def _build_plugin(folder: Path) -> Path:
    asked = ["pkg-config", "--cflags", "glib-2.0"]
    flags = subprocess.run(asked, capture_output=True, text=True, check=True).stdout.split()
    plugin = folder / "count.so"
    words = ["cc", "-O2", "-shared", "-fPIC", f"-I{folder / 'include'}", *flags]
    _run([*words, "-o", f"{plugin}.new", str(PLUGIN)], folder)
    Path(f"{plugin}.new").rename(plugin)
    return plugin


def _run(words: list[str], folder: Path) -> None:
    # configure looks for ninja on PATH, where the build folder's neighbour has one.
    path = f"{folder.parent / 'tools/bin'}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        words,
        cwd=folder,
        env={**os.environ, "PATH": path},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    if done.returncode:
        raise BuildError(
            f"`{Path(words[0]).name}` failed with {done.returncode} for the emulator with plugins",
            causes=done.stdout.splitlines()[-20:],
        )
