"""Addresses: the schemes allowed, the local path of a `file` one, what may be shown of one."""

from pathlib import Path
from urllib.parse import urlsplit, urlunsplit
from urllib.request import url2pathname

SCHEMES = ("http", "https", "file")


def is_address(text: str) -> bool:
    """Say whether `text` is an http, https or file address."""
    try:
        parts = urlsplit(text)
    except ValueError:
        return False
    if parts.scheme == "file":
        return parts.path.startswith("/") and parts.netloc in {"", "localhost"}
    return parts.scheme in SCHEMES and bool(parts.netloc)


def local_path(address: str) -> Path | None:
    """Give the path of a `file` address, None for any other."""
    parts = urlsplit(address)
    return Path(url2pathname(parts.path)) if parts.scheme == "file" else None


def shown(address: str) -> str:
    """Leave out user, password and query of an address, which may be secret."""
    parts = urlsplit(address)
    host = parts.netloc.rpartition("@")[2]
    return urlunsplit((parts.scheme, host, parts.path, "", ""))


def below(root: str, path: str) -> str:
    """Join a folder's address and a relative path."""
    return root.rstrip("/") + "/" + path.lstrip("/")
