"""What a package index and an sdist's PKG-INFO tell of one release, for the start of a recipe."""

import tarfile
import zipfile
from collections.abc import Iterator
from email import message_from_bytes
from email.message import Message
from pathlib import Path
from typing import TYPE_CHECKING

from rvbuild.errors import SourceError
from rvbuild.events import Watcher, step

if TYPE_CHECKING:
    from rvbuild.fetch import Network
    from rvbuild.places import Places
    from rvbuild.recipe.begin import Release

INFO = "PKG-INFO"
INFO_DEPTH = 2
INFO_BYTES = 10_000_000
UNKNOWN = "UNKNOWN"


def find_release(
    name: str, version: str | None, network: "Network", places: "Places", watch: Watcher
) -> "Release":
    """Find a project's release, the newest for None, and read its sdist.

    Raises `UsageError` when the index has no such release, `SourceError` when it cannot be had.
    """
    from rvbuild.fetch import fetch
    from rvbuild.fetch.index import sdist
    from rvbuild.recipe.begin import Release

    with step(watch, name, "find") as detail:
        choice = sdist(name, version, network)
        detail.text = choice.remote.file_name
    with step(watch, name, "fetch"):
        info = read_info(fetch(choice.remote, network, places.downloads, watch))
    return Release(
        name=choice.project,
        version=choice.version,
        file_name=choice.remote.file_name,
        sha256=choice.remote.sha256,
        license=_license(info),
        description=_field(info, "Summary"),
    )


def read_info(archive: Path) -> Message:
    """Read the PKG-INFO of an sdist without unpacking it; an sdist without one has no fields.

    Raises `SourceError` when the archive cannot be read.
    """
    try:
        members = _zip_info(archive) if archive.suffix == ".zip" else _tar_info(archive)
        return message_from_bytes(next(members, b""))
    except (tarfile.TarError, zipfile.BadZipFile, EOFError, OSError) as error:
        raise SourceError(f"`{archive.name}` cannot be read", causes=(str(error),)) from error


def _tar_info(archive: Path) -> Iterator[bytes]:
    with tarfile.open(archive) as tar:
        for member in tar:
            if _is_info(member.name) and member.isfile() and member.size <= INFO_BYTES:
                stream = tar.extractfile(member)
                yield stream.read() if stream else b""


def _zip_info(archive: Path) -> Iterator[bytes]:
    with zipfile.ZipFile(archive) as bundle:
        for member in bundle.infolist():
            if _is_info(member.filename) and member.file_size <= INFO_BYTES:
                yield bundle.read(member)


def _is_info(name: str) -> bool:
    parts = name.split("/")
    return len(parts) == INFO_DEPTH and parts[-1] == INFO


def _license(info: Message) -> str:
    """Give the licence expression, or the old field where that is a short name and not a text."""
    expression = _field(info, "License-Expression")
    old = _field(info, "License")
    return expression or (old if len(old.split()) == 1 else "")


def _field(info: Message, name: str) -> str:
    text = " ".join(str(info.get(name, "")).split())
    return "" if text == UNKNOWN else text
