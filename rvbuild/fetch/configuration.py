"""How this machine reaches files: `RVBUILD_*` variables first, else what pip and apt are told."""

from collections.abc import Mapping
from pathlib import Path

from rvbuild.errors import UsageError
from rvbuild.fetch.address import is_address
from rvbuild.fetch.apt_settings import read_debian_roots
from rvbuild.fetch.model import Network
from rvbuild.fetch.pip_settings import read_pip_settings

_YES = {"1", "true", "yes", "on"}
_NO = {"", "0", "false", "no", "off"}


def discover(environment: Mapping[str, str], root: Path = Path("/")) -> Network:
    """Find out how files are reached; `root` stands for the machine's root folder.

    Raises `UsageError` for a variable or a file of pip that cannot be understood.
    """
    pip = read_pip_settings(environment, root)
    mirrors = _addresses(environment, "RVBUILD_DEBIAN_MIRROR") or read_debian_roots(root)
    snapshot = _addresses(environment, "RVBUILD_DEBIAN_SNAPSHOT")
    return Network(
        pypi_indexes=_addresses(environment, "RVBUILD_PYPI_INDEX") or pip.indexes,
        debian_mirrors=tuple(dict.fromkeys(mirrors + snapshot)),
        mirrors=_mirrors(environment.get("RVBUILD_MIRRORS", "")),
        offline_folder=_folder(environment.get("RVBUILD_OFFLINE_DIR", "")),
        offline=_switch(environment.get("RVBUILD_OFFLINE", "")),
        find_links=pip.find_links,
        certificates=pip.certificates or _certificates(environment),
    )


def _certificates(environment: Mapping[str, str]) -> str | None:
    # requests looks at the first two; the last is what OpenSSL and other tools take.
    names = ("REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE", "SSL_CERT_FILE")
    return next((environment[name] for name in names if environment.get(name)), None)


def _addresses(environment: Mapping[str, str], variable: str) -> tuple[str, ...]:
    found = tuple(environment.get(variable, "").split())
    for address in found:
        if not is_address(address):
            raise UsageError(
                f"`{variable}` holds `{address}`, which is no http, https or file address"
            )
    return found


def _mirrors(text: str) -> tuple[tuple[str, str], ...]:
    pairs = []
    for entry in text.split():
        prefix, _, replacement = entry.partition("=")
        if not (is_address(prefix) and is_address(replacement)):
            raise UsageError(
                f"`RVBUILD_MIRRORS` holds `{entry}`",
                hint="write entries as `ADDRESS=REPLACEMENT`, separated by spaces",
            )
        pairs.append((prefix, replacement))
    return tuple(pairs)


def _folder(text: str) -> Path | None:
    if not text:
        return None
    folder = Path(text)
    if not folder.is_dir():
        raise UsageError(f"`RVBUILD_OFFLINE_DIR` names `{text}`, which is no folder")
    return folder


def _switch(text: str) -> bool:
    if text.lower() not in _YES | _NO:
        raise UsageError(f"`RVBUILD_OFFLINE` is `{text}`", hint="set it to `1` or `0`")
    return text.lower() in _YES
