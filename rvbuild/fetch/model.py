"""The values of fetching: what is wanted, where it may come from, how the network is reached."""

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Url:
    """A file at an http, https or file address."""

    url: str


@dataclass(frozen=True, slots=True)
class PypiFile:
    """A file of a project on the configured Python package index."""

    project: str
    file_name: str


@dataclass(frozen=True, slots=True)
class DebianFile:
    """A path below a Debian mirror, such as `pool/main/m/make-dfsg/make_4.3-4.1_amd64.deb`."""

    path: str


Origin = Url | PypiFile | DebianFile


@dataclass(frozen=True, slots=True)
class Remote:
    """One file: its name, its sha256 as 64 hex digits, and where to look, in order."""

    file_name: str
    sha256: str
    origins: tuple[Origin, ...]


@dataclass(frozen=True, slots=True)
class Network:
    """How files are reached.

    `mirrors` are (address prefix, replacement), tried before the original. `offline_folder` is
    searched by file name before anything else; with `offline` set nothing else is.
    `find_links` are folders of Python distributions, looked into before the indexes.
    `certificates` is a file or folder of certificates to trust; None means requests' own choice.
    `backoff_seconds` is the wait before the second attempt; it doubles with each further one.
    """

    pypi_indexes: tuple[str, ...]
    debian_mirrors: tuple[str, ...]
    mirrors: tuple[tuple[str, str], ...] = ()
    offline_folder: Path | None = None
    offline: bool = False
    attempts: int = 3
    timeout_seconds: float = 60.0
    backoff_seconds: float = 1.0
    find_links: tuple[Path, ...] = ()
    certificates: str | None = None

    @property
    def verify(self) -> str | bool:
        """What requests is told to verify by."""
        return self.certificates or True
