"""What is in an archive: tar files of any compression and zip files as one kind of members.

Reads only; what a member may do to the disk is decided in `unpack`.
"""

import calendar
import io
import lzma
import stat
import sys
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import IO, Literal

Kind = Literal["file", "folder", "symlink", "hardlink", "special"]

_ZIP_START = b"PK"
_ZSTD_START = b"\x28\xb5\x2f\xfd"
_ENCRYPTED = 0x1
_LONGEST_LINK_BYTES = 4096
_DAMAGE = (
    tarfile.TarError,
    zipfile.BadZipFile,
    zlib.error,
    lzma.LZMAError,
    EOFError,
    OSError,
    RuntimeError,
    ValueError,
    IndexError,
)


class ArchiveError(Exception):
    """An archive cannot be read, or holds what is refused; the text is the reason."""


@dataclass(frozen=True, slots=True)
class Member:
    """One entry; `target` is a link's, `mtime` is in seconds since the epoch."""

    name: str
    kind: Kind
    executable: bool
    mtime: float
    target: str
    open: Callable[[], IO[bytes]]


def read_members(archive: Path) -> Iterator[Member]:
    """Give the members in the order of the archive; raise `ArchiveError` where it is damaged.

    The kind of archive is read from its first bytes, whatever its name says.
    """
    with readable(), archive.open("rb") as stream:
        start = stream.read(4)
    if start.startswith(_ZSTD_START) and sys.version_info < (3, 14):
        raise ArchiveError("a zstd archive needs Python 3.14 or newer")
    return _zip_members(archive) if start.startswith(_ZIP_START) else _tar_members(archive)


@contextmanager
def readable() -> Iterator[None]:
    """Turn what a damaged archive raises while it is read into `ArchiveError`."""
    try:
        yield
    except _DAMAGE as error:
        reason = " ".join(str(error).split()) or type(error).__name__
        raise ArchiveError(f"damaged or no archive: {reason}") from error


def _tar_members(archive: Path) -> Iterator[Member]:
    with readable():
        tar = tarfile.open(archive, "r:*")  # noqa: SIM115 - closed by the `with` below
    with tar:
        while (info := _next(tar)) is not None:
            yield Member(
                name=info.name,
                kind=_tar_kind(info),
                executable=bool(info.mode & stat.S_IXUSR),
                mtime=float(info.mtime),
                target=info.linkname,
                open=partial(_open_tar, tar, info),
            )


def _next(tar: tarfile.TarFile) -> tarfile.TarInfo | None:
    with readable():
        return tar.next()


def _tar_kind(info: tarfile.TarInfo) -> Kind:
    if info.isreg():
        return "file"
    if info.isdir():
        return "folder"
    if info.issym():
        return "symlink"
    return "hardlink" if info.islnk() else "special"


def _open_tar(tar: tarfile.TarFile, info: tarfile.TarInfo) -> IO[bytes]:
    with readable():
        return tar.extractfile(info) or io.BytesIO()


def _zip_members(archive: Path) -> Iterator[Member]:
    with readable():
        opened = zipfile.ZipFile(archive)
    with opened:
        for info in opened.infolist():
            yield _zip_member(opened, info)


def _zip_member(opened: zipfile.ZipFile, info: zipfile.ZipInfo) -> Member:
    mode = info.external_attr >> 16
    kind = _zip_kind(info, mode)
    if info.flag_bits & _ENCRYPTED:
        raise ArchiveError(f"`{info.filename}` is encrypted")
    with readable():
        mtime = calendar.timegm((*info.date_time, 0, 0, 0))
    return Member(
        name=info.filename,
        kind=kind,
        executable=bool(mode & stat.S_IXUSR),
        mtime=float(mtime),
        target=_zip_link(opened, info) if kind == "symlink" else "",
        open=partial(_open_zip, opened, info),
    )


def _zip_kind(info: zipfile.ZipInfo, mode: int) -> Kind:
    if info.is_dir():
        return "folder"
    kind = stat.S_IFMT(mode)
    if kind == stat.S_IFLNK:
        return "symlink"
    return "file" if kind in {0, stat.S_IFREG} else "special"


def _zip_link(opened: zipfile.ZipFile, info: zipfile.ZipInfo) -> str:
    with readable(), opened.open(info) as stream:
        text = stream.read(_LONGEST_LINK_BYTES)
    return text.decode("utf-8", "surrogateescape")


def _open_zip(opened: zipfile.ZipFile, info: zipfile.ZipInfo) -> IO[bytes]:
    with readable():
        return opened.open(info)
