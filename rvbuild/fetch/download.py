"""Fetching one pinned file into the cache: from the offline folder, a mirror or an origin."""

from pathlib import Path

from rvbuild.errors import SourceError
from rvbuild.events import Watcher, step
from rvbuild.fetch import cache
from rvbuild.fetch.address import shown
from rvbuild.fetch.attempts import OriginError, with_attempts
from rvbuild.fetch.model import DebianFile, Network, Remote
from rvbuild.fetch.origins import Absent, candidates
from rvbuild.fetch.transfer import transfer


class OtherBytesError(OriginError):
    """A whole file arrived, and it is not the pinned one."""


def fetch(remote: Remote, network: Network, downloads: Path, watch: Watcher) -> Path:
    """Give the path of a file whose bytes have the pinned sha256, below `downloads`.

    Raises `SourceError` with one cause for each address that failed, or when the cache cannot be
    written. Bytes with another sha256 are kept next to the entry and never used.
    """
    entry = cache.entry_of(remote, downloads)
    if cache.intact(entry):
        return entry.path
    with cache.locked(entry):
        # Another run may have finished it while this one waited.
        if cache.intact(entry):
            return entry.path
        damaged = cache.put_damaged_aside(entry)
        if damaged is not None:
            watch.note(remote.file_name, f"the cached file was damaged; it is kept at {damaged}")
        with step(watch, remote.file_name, "fetch") as detail:
            path = _download(entry, remote, network)
            detail.text = f"{path.stat().st_size} bytes"
        return path


def _download(entry: cache.Entry, remote: Remote, network: Network) -> Path:
    causes: list[str] = []
    other_bytes = False
    for candidate in candidates(remote, network):
        if isinstance(candidate, Absent):
            causes.append(candidate.reason)
            continue
        try:
            return _try(entry, candidate, network)
        except OriginError as error:
            causes.append(f"{shown(candidate)}: {error}")
            other_bytes = other_bytes or isinstance(error, OtherBytesError)
    hint = "compare the kept file with the release before changing the pinned sha256"
    raise SourceError(
        f"cannot fetch `{remote.file_name}`",
        causes=causes or ["no origin is given"],
        hint=hint if other_bytes else _hint(remote, network),
    )


def _try(entry: cache.Entry, address: str, network: Network) -> Path:
    with cache.partial(entry) as (stream, path):
        arrived = with_attempts(network, lambda: transfer(address, stream, network))
        if arrived.sha256 == entry.sha256:
            return cache.keep(entry, stream, path)
        if arrived.html:
            raise OriginError("HTML page instead of a file (HTTP 200)")
        kept = cache.put_aside(entry, path, arrived.sha256)
    raise OtherBytesError(
        f"other bytes: expected sha256 {entry.sha256}, got {arrived.sha256}, "
        f"{arrived.size} bytes (kept at {kept})"
    )


def _hint(remote: Remote, network: Network) -> str:
    if network.offline:
        return f"put `{remote.file_name}` into `RVBUILD_OFFLINE_DIR`, or set `RVBUILD_OFFLINE=0`"
    debian = any(isinstance(origin, DebianFile) for origin in remote.origins)
    if debian and not network.debian_mirrors:
        return "set `RVBUILD_DEBIAN_MIRROR` to the root of a Debian mirror"
    return f"put `{remote.file_name}` into a folder and name that by `RVBUILD_OFFLINE_DIR`"
