"""The base image: a small riscv64 Debian with a shell and the plain Unix programs, of pins alone.

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
from rvbuild.target import DYNAMIC_LOADER, MACHINE

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


@dataclass(frozen=True, slots=True)
class BaseImage:
    """The base image as an archive, and the name it has once an engine loaded it."""

    name: str
    archive: Path
    digest: str


def base_tree(folder: Path) -> Tree:
    """Give the pinned tree of the base image."""
    pins = load_pins(folder / "image.yaml")
    return Tree(f"image-base-{MACHINE}", pins.tree("base"), REVISION)


def base_digest(folder: Path) -> str:
    """Name the base image by content without having it."""
    return hashlib.sha256(f"{REVISION}\n{base_tree(folder).digest}".encode()).hexdigest()


def base_name(folder: Path) -> str:
    """Give the name and tag of the base image."""
    return f"rvbuild/base-{MACHINE}:{base_digest(folder)[:16]}"


def install_root(folder: Path, supplies: Supplies) -> Path:
    """Have what is in the base image as a folder on disk."""
    return materialise(base_tree(folder), supplies, _finish).path


def install_base(folder: Path, supplies: Supplies) -> BaseImage:
    """Have the base image as an archive on disk; `folder` holds the pin files."""
    tree = base_tree(folder)
    root = install_root(folder, supplies)
    image = BaseImage(base_name(folder), root.with_name(root.name + ".tar"), base_digest(folder))
    with FileLock(image.archive.with_name(image.archive.name + ".lock")):
        if not image.archive.is_file():
            with step(supplies.watch, tree.name, "pack"):
                made_by = "rvbuild image base"
                labels = {LABEL: image.digest}
                described = Described(image.name, labels, (SEARCH_PATH,), made_by)
                write_archive(root, described, image.archive)
    return image


def provide_base(daemon: Daemon, folder: Path, supplies: Supplies) -> str:
    """Have the base image in an engine, and give its name."""
    name = base_name(folder)
    install_root(folder, supplies)
    if daemon.image(name) is None:
        image = install_base(folder, supplies)
        with step(supplies.watch, f"image-base-{MACHINE}", "load"):
            daemon.load(image.archive)
    return name


def _finish(staging: Path, _: Path) -> None:
    for needed in (f"usr{DYNAMIC_LOADER}", "usr/bin/dash"):
        if not (staging / needed).exists():
            raise SourceError(f"the packages of the base image hold no `{needed}`")
    for name in ("bin", "sbin", "lib"):
        (staging / name).symlink_to(f"usr/{name}")
    (staging / "lib64").symlink_to("usr/lib")
    (staging / "usr/sbin").mkdir(exist_ok=True)
    for name in FOLDERS:
        (staging / name).mkdir(parents=True, exist_ok=True)
    for name, text in ACCOUNTS.items():
        (staging / name).write_text(text, encoding="utf-8")
    for name, program in ALTERNATIVES.items():
        link = staging / "usr/bin" / name
        link.unlink(missing_ok=True)
        link.symlink_to(program)
