"""The manifest of an unpacked tree: the sha256 of each file as it was put there.

Kept in the tree itself, so that the two appear and go together. Links are not listed.
"""

import hashlib
import os
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from rvbuild.errors import SourceError

NAME = ".rvbuild-manifest"
# Pythons write their byte code beside their modules, whenever they run.
CACHE = "__pycache__"


def write_manifest(folder: Path) -> None:
    """Hash every file of a folder into its manifest."""
    lines = [f"{digest}  {name}\n" for name, digest in _digests(folder).items()]
    (folder / NAME).write_text("".join(lines), encoding="utf-8", errors="surrogateescape")


def damage(folder: Path) -> tuple[str, ...]:
    """Hold a folder against its manifest: say of each file that is changed, gone or new.

    Raises `SourceError` when there is no manifest.
    """
    known = _read(folder)
    found = _digests(folder)
    changed = [name for name in sorted(known.keys() & found.keys()) if known[name] != found[name]]
    gone = sorted(known.keys() - found.keys())
    new = [name for name in sorted(found.keys() - known.keys()) if CACHE not in Path(name).parts]
    return (
        *(f"`{name}` was changed" for name in changed),
        *(f"`{name}` is gone" for name in gone if CACHE not in Path(name).parts),
        *(f"`{name}` was not there before" for name in new),
    )


def _read(folder: Path) -> dict[str, str]:
    try:
        text = (folder / NAME).read_text(encoding="utf-8", errors="surrogateescape")
    except OSError as error:
        raise SourceError(f"`{folder.name}` cannot be verified: it has no manifest") from error
    pairs = (line.partition("  ") for line in text.splitlines())
    return {name: digest for digest, _, name in pairs}


def _digests(folder: Path) -> dict[str, str]:
    names = sorted(_files(folder))
    with ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        digests = pool.map(lambda name: _sha256(folder / name), names)
        return dict(zip(names, digests, strict=True))


def _files(folder: Path) -> Iterator[str]:
    for parent, _, names in os.walk(folder):
        for name in names:
            path = Path(parent, name)
            if path.is_file() and not path.is_symlink() and name != NAME:
                yield str(path.relative_to(folder))


def _sha256(path: Path) -> str:
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()
