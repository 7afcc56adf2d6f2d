"""From an origin to addresses: mirrors, Debian roots, and files found on the Python indexes."""

import glob
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from rvbuild.fetch.address import below, is_address, shown
from rvbuild.fetch.attempts import OriginError
from rvbuild.fetch.model import DebianFile, Network, Origin, PypiFile, Remote, Url


@dataclass(frozen=True, slots=True)
class Absent:
    """A place that was asked and knows no address, and why."""

    reason: str


def candidates(remote: Remote, network: Network) -> Iterator[str | Absent]:
    """Give the addresses to try, in order; places are asked only when it is their turn."""
    copies = _offline_copies(remote, network)
    yield from (path.absolute().as_uri() for path in copies)
    if network.offline_folder is not None and not copies:
        yield Absent(f"`{remote.file_name}` is not in `{network.offline_folder}`")
    if network.offline:
        yield Absent("offline: nothing else is asked")
        return
    for origin in remote.origins:
        for candidate in _locate(origin, remote, network):
            if isinstance(candidate, Absent):
                yield candidate
            else:
                yield from _mirrored(candidate, network)


def _offline_copies(remote: Remote, network: Network) -> list[Path]:
    """Find files of that name in the offline folder, at any depth, the nearest first."""
    if network.offline_folder is None:
        return []
    found = network.offline_folder.rglob(glob.escape(remote.file_name))
    copies = [path for path in found if path.is_file()]
    return sorted(copies, key=lambda path: (len(path.parts), path))


def _mirrored(address: str, network: Network) -> Iterator[str]:
    for prefix, replacement in network.mirrors:
        if address.startswith(prefix):
            yield replacement + address[len(prefix) :]
    yield address


def _locate(origin: Origin, remote: Remote, network: Network) -> Iterator[str | Absent]:
    match origin:
        case Url():
            yield from _url(origin)
        case DebianFile():
            yield from _debian(origin, network)
        case PypiFile():
            yield from _find_links(origin, network)
            yield from _indexes(origin, remote, network)


def _url(origin: Url) -> Iterator[str | Absent]:
    if is_address(origin.url):
        yield origin.url
    else:
        yield Absent(f"{shown(origin.url)}: not an http, https or file address")


def _debian(origin: DebianFile, network: Network) -> Iterator[str | Absent]:
    if not network.debian_mirrors:
        yield Absent(f"{origin.path}: no Debian mirror is configured")
    for mirror in network.debian_mirrors:
        yield below(mirror, origin.path)


def _find_links(origin: PypiFile, network: Network) -> Iterator[str]:
    for folder in network.find_links:
        path = folder / origin.file_name
        if path.is_file():
            yield path.absolute().as_uri()


def _indexes(origin: PypiFile, remote: Remote, network: Network) -> Iterator[str | Absent]:
    # What reads index pages takes longer to import than all that a cached run does.
    from rvbuild.fetch.pages import project_page

    if not network.pypi_indexes:
        yield Absent(f"`{origin.file_name}`: no Python package index is configured")
    for index in network.pypi_indexes:
        try:
            files = project_page(origin.project, index, network)
        except OriginError as error:
            yield Absent(f"{shown(index)}: project `{origin.project}`: {error}")
            continue
        # The pinned bytes may lie there under another spelling of the same project name.
        found = [file.url for file in files if file.digests.get("sha256") == remote.sha256]
        found += [file.url for file in files if file.filename == origin.file_name]
        yield from dict.fromkeys(found)
        if not found:
            yield Absent(
                f"{shown(index)}: `{origin.file_name}` is not among the {len(files)} files "
                f"of `{origin.project}`"
            )
