"""Unpacked trees: fetched by sha256, unpacked beside, finished, and put in place in one step."""

import fnmatch
import hashlib
import os
import shutil
import stat
import tarfile
import zipfile
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from debian.arfile import ArError
from filelock import FileLock

from rvbuild.errors import RvbuildError, SourceError
from rvbuild.events import Watcher, step
from rvbuild.fetch import Network, fetch
from rvbuild.kit.manifest import write_manifest
from rvbuild.kit.pins import PinnedTree
from rvbuild.places import Places

# Raised whenever unpacking puts other things on disk than before.
REVISION = "1"
DOWNLOADS_AT_ONCE = 4
PLAIN_MODE = 0o755

Finish = Callable[[Path, Path], None]


@dataclass(frozen=True, slots=True)
class Supplies:
    """What installing a kit takes: where things go, how files are reached, who is told."""

    places: Places
    network: Network
    watch: Watcher


@dataclass(frozen=True, slots=True)
class Tree:
    """A tree to have: its name, its pins, and `revision`, which names how its room finishes it."""

    name: str
    pinned: PinnedTree
    revision: str = ""

    @property
    def digest(self) -> str:
        """The sha256 of everything that decides what is in the tree."""
        lines = [REVISION, self.revision, *self.pinned.only, "skip", *self.pinned.skip]
        lines += [pin.sha256 for pin in self.pinned.pins]
        return hashlib.sha256("\n".join(lines).encode()).hexdigest()


@dataclass(frozen=True, slots=True)
class Kit:
    """An unpacked tree; `digest` names its content."""

    path: Path
    digest: str


def kit_path(tree: Tree, places: Places) -> Path:
    """Say where a tree is, or will be."""
    return places.kits / f"{tree.name}-{tree.digest[:16]}"


def materialise(tree: Tree, supplies: Supplies, finish: Finish | None = None) -> Kit:
    """Have the tree on disk, fetching and unpacking it at the first call.

    `finish` is given the folder it may change and the path at which that folder will end up. The
    tree appears at its place whole or not at all. Raises `SourceError`.
    """
    path = kit_path(tree, supplies.places)
    if path.is_dir():
        return Kit(path, tree.digest)
    path.parent.mkdir(parents=True, exist_ok=True)
    with FileLock(path.with_name(path.name + ".lock")):
        if not path.is_dir():
            with step(supplies.watch, tree.name, "unpack"):
                _install(tree, path, supplies, finish)
    return Kit(path, tree.digest)


def discard(tree: Tree, places: Places) -> bool:
    """Remove a tree, so that it is unpacked anew when it is wanted; say whether it was there."""
    path = kit_path(tree, places)
    if not path.is_dir():
        return False
    with FileLock(path.with_name(path.name + ".lock")):
        doomed = path.with_name(f"{path.name}.{os.getpid()}.gone")
        path.rename(doomed)
        shutil.rmtree(doomed, ignore_errors=True)
    return True


def _install(tree: Tree, path: Path, supplies: Supplies, finish: Finish | None) -> None:
    archives = _fetch_all(tree, supplies)
    staging = path.with_name(f"{path.name}.{os.getpid()}.tmp")
    # The tree is locked, so what lies here was left by a run that was killed.
    for left in path.parent.glob(f"{path.name}.*.tmp"):
        shutil.rmtree(left, ignore_errors=True)
    staging.mkdir()
    try:
        for archive in archives:
            _unpack(archive, staging, tree.pinned)
        if finish is not None:
            finish(staging, path)
        write_manifest(staging)
        staging.rename(path)
    except OSError as error:
        raise SourceError(
            f"cannot unpack `{tree.name}`",
            causes=[str(error)],
            hint="choose another place by `--cache`",
        ) from error
    finally:
        shutil.rmtree(staging, ignore_errors=True)


def _fetch_all(tree: Tree, supplies: Supplies) -> list[Path]:
    def one(index: int) -> Path:
        remote = tree.pinned.pins[index].remote
        return fetch(remote, supplies.network, supplies.places.downloads, supplies.watch)

    with ThreadPoolExecutor(DOWNLOADS_AT_ONCE) as pool:
        return list(pool.map(one, range(len(tree.pinned.pins))))


def _wanted(name: str, pinned: PinnedTree) -> bool:
    if any(fnmatch.fnmatchcase(name, pattern) for pattern in pinned.skip):
        return False
    return not pinned.only or any(fnmatch.fnmatchcase(name, pattern) for pattern in pinned.only)


def _unpack(archive: Path, staging: Path, pinned: PinnedTree) -> None:
    try:
        if archive.suffix == ".deb":
            _unpack_deb(archive, staging, pinned)
        else:
            _unpack_wheel(archive, staging, pinned)
    except RvbuildError:
        raise
    except (ArError, tarfile.TarError, zipfile.BadZipFile, ValueError) as error:
        raise SourceError(f"cannot unpack `{archive.name}`", causes=[str(error)]) from error


def _members(archive: tarfile.TarFile, pinned: PinnedTree) -> Iterator[tarfile.TarInfo]:
    for member in archive:
        name = member.name.removeprefix("./")
        if member.isdir() or not _wanted(name, pinned):
            continue
        if name.startswith("/") or ".." in name.split("/"):
            raise tarfile.TarError(f"member `{name}` leads out of the tree")
        member.mode &= PLAIN_MODE
        yield member


def _unpack_deb(archive: Path, staging: Path, pinned: PinnedTree) -> None:
    from debian.debfile import DebFile

    with archive.open("rb") as stream:
        data = DebFile(fileobj=stream).data.tgz()
        with data:
            members = list(_members(data, pinned))
            # One policy on every Python, that of `_members`: before 3.11.4 there are no filters,
            # and the default one of 3.14 refuses the absolute links that packages hold.
            data.extraction_filter = _as_it_is
            data.extractall(staging, members=members)  # noqa: S202 - `_members` looks at each


def _as_it_is(member: tarfile.TarInfo, _path: str) -> tarfile.TarInfo:
    return member


def _unpack_wheel(archive: Path, staging: Path, pinned: PinnedTree) -> None:
    with zipfile.ZipFile(archive) as bundle:
        for member in bundle.infolist():
            if member.is_dir() or not _wanted(member.filename, pinned):
                continue
            placed = Path(bundle.extract(member, staging))
            mode = member.external_attr >> 16
            if mode & stat.S_IXUSR:
                placed.chmod(0o755)
