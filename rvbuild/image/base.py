"""The base image: a small Debian with a shell and the plain Unix programs, of pins alone.

It holds no compiler and no Python; these are kits, which a container sees in the cache.
"""

import hashlib
from dataclasses import dataclass
from pathlib import Path

from filelock import FileLock

from rvbuild.errors import SourceError
from rvbuild.events import step
from rvbuild.executor.daemon import Daemon
from rvbuild.image.archive import Described, write_archive
from rvbuild.kit import Supplies, Tree, load_pins, materialise
from rvbuild.kit.programs import LOADERS
from rvbuild.target import MACHINE

# Raised whenever the root folder or the archive is put together differently.
REVISION = "2"
SEARCH_PATH = "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
FOLDERS = ("dev", "etc", "home", "mnt", "opt", "proc", "root", "run", "sys", "tmp", "usr/local/bin")
ACCOUNTS = {
    "etc/passwd": "root:x:0:0:root:/root:/bin/sh\nnobody:x:65534:65534:nobody:/:/bin/false\n",
    "etc/group": "root:x:0:\nnogroup:x:65534:\n",
    "etc/nsswitch.conf": "passwd: files\ngroup: files\nhosts: files dns\n",
}
# Names that Debian's packages make when they are configured, which these never are.
ALTERNATIVES = {"sh": "dash", "awk": "mawk", "which": "which.debianutils"}
LABEL = "rvbuild.digest"
# What container engines call each machine.
ARCHITECTURES = {"x86_64": "amd64", "aarch64": "arm64", "riscv64": "riscv64"}


@dataclass(frozen=True, slots=True)
class BaseImage:
    """The base image as an archive, and the name it has once an engine loaded it."""

    name: str
    archive: Path
    digest: str


def base_tree(folder: Path, machine: str = MACHINE) -> Tree:
    """Give the pinned tree of a machine's base image."""
    pins = load_pins(folder / "image.yaml")
    return Tree(f"image-base-{machine}", pins.tree(f"base-{machine}"), REVISION)


def base_digest(folder: Path, machine: str = MACHINE) -> str:
    """Name the base image by content without having it."""
    return hashlib.sha256(f"{REVISION}\n{base_tree(folder, machine).digest}".encode()).hexdigest()


def base_name(folder: Path, machine: str = MACHINE) -> str:
    """Give the name and tag of the base image."""
    return f"rvbuild/base-{machine}:{base_digest(folder, machine)[:16]}"


def install_root(folder: Path, supplies: Supplies, machine: str = MACHINE) -> Path:
    """Have what is in the base image as a folder on disk."""
    tree = base_tree(folder, machine)
    return materialise(tree, supplies, lambda staging, _: _finish(staging, machine)).path


def install_base(folder: Path, supplies: Supplies, machine: str = MACHINE) -> BaseImage:
    """Have the base image as an archive on disk; `folder` holds the pin files."""
    tree = base_tree(folder, machine)
    root = install_root(folder, supplies, machine)
    archive = root.with_name(root.name + ".tar")
    image = BaseImage(base_name(folder, machine), archive, base_digest(folder, machine))
    with FileLock(image.archive.with_name(image.archive.name + ".lock")):
        if not image.archive.is_file():
            with step(supplies.watch, tree.name, "pack"):
                made_by = "rvbuild image base"
                labels = {LABEL: image.digest}
                architecture = ARCHITECTURES[machine]
                described = Described(image.name, architecture, labels, (SEARCH_PATH,), made_by)
                write_archive(root, described, image.archive)
    return image


def provide_base(daemon: Daemon, folder: Path, supplies: Supplies, machine: str = MACHINE) -> str:
    """Have the base image in an engine, and give its name."""
    name = base_name(folder, machine)
    install_root(folder, supplies, machine)
    if daemon.image(name) is None:
        image = install_base(folder, supplies, machine)
        with step(supplies.watch, f"image-base-{machine}", "load"):
            daemon.load(image.archive)
    return name


def _finish(staging: Path, machine: str) -> None:
    for needed in (LOADERS[machine], "usr/bin/dash"):
        if not (staging / needed).exists():
            raise SourceError(f"the packages of the base image hold no `{needed}`")
    for name in ("bin", "sbin", "lib"):
        (staging / name).symlink_to(f"usr/{name}")
    own = (staging / "usr/lib64").is_dir()
    (staging / "lib64").symlink_to("usr/lib64" if own else "usr/lib")
    (staging / "usr/sbin").mkdir(exist_ok=True)
    for name in FOLDERS:
        (staging / name).mkdir(parents=True, exist_ok=True)
    for name, text in ACCOUNTS.items():
        (staging / name).write_text(text, encoding="utf-8")
    for name, program in ALTERNATIVES.items():
        link = staging / "usr/bin" / name
        link.unlink(missing_ok=True)
        link.symlink_to(program)
