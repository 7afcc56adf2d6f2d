"""The sha256 of a tree: paths, kinds, modes and contents; no times, owners or empty folders."""

import hashlib
import os
import stat
from pathlib import Path

from rvbuild.errors import SourceError


def tree_digest(folder: Path) -> str:
    """Hash all files and links below `folder` in the order of their paths' bytes; 64 hex digits.

    Raises `SourceError` for what is neither a file, a link nor a folder.
    """
    digest = hashlib.sha256()
    places = {
        os.fsencode(place.relative_to(folder)): place
        for place in folder.rglob("*")
        if place.is_symlink() or not place.is_dir()
    }
    for path in sorted(places):
        kind, content = _entry(places[path])
        # Lengths first, so that no two trees give the same stream.
        digest.update(b"%s %d %d\n%s" % (kind, len(path), len(content), path))
        digest.update(content)
    return digest.hexdigest()


def _entry(place: Path) -> tuple[bytes, bytes]:
    mode = place.lstat().st_mode
    if stat.S_ISLNK(mode):
        return b"link", os.fsencode(place.readlink())
    if not stat.S_ISREG(mode):
        raise SourceError(f"`{place}` is neither a file nor a link")
    return (b"program" if mode & stat.S_IXUSR else b"file"), place.read_bytes()
