"""What pip is told about indexes, read from its variables and files in the order pip uses."""

import configparser
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from rvbuild.errors import UsageError
from rvbuild.fetch.address import is_address, local_path


@dataclass(frozen=True, slots=True)
class PipSettings:
    """The index addresses and local folders that pip looks into, and the certificates it trusts."""

    indexes: tuple[str, ...]
    find_links: tuple[Path, ...]
    certificates: str | None = None


def read_pip_settings(environment: Mapping[str, str], root: Path) -> PipSettings:
    """Read pip's settings; `root` stands for the machine's root folder.

    Raises `UsageError` when one of pip's files cannot be read.
    """
    values: dict[str, str] = {}
    for path in _files(environment, root):
        values |= _read_file(path)
    for key in ("index-url", "extra-index-url", "find-links", "no-index", "cert"):
        variable = "PIP_" + key.upper().replace("-", "_")
        if environment.get(variable):
            values[key] = environment[variable]
    folders = tuple(_folders(values.get("find-links", "")))
    return PipSettings(_indexes(values), folders, values.get("cert") or None)


def _files(environment: Mapping[str, str], root: Path) -> Iterator[Path]:
    """Name pip's files, the weakest first."""
    own = environment.get("PIP_CONFIG_FILE", "")
    if own == os.devnull:
        return
    for folder in reversed(environment.get("XDG_CONFIG_DIRS", "/etc/xdg").split(":")):
        if folder:
            yield root / folder.lstrip("/") / "pip" / "pip.conf"
    yield root / "etc" / "pip.conf"
    home = environment.get("HOME", "")
    if home:
        yield Path(home) / ".pip" / "pip.conf"
    settings = environment.get("XDG_CONFIG_HOME") or (f"{home}/.config" if home else "")
    if settings:
        yield Path(settings) / "pip" / "pip.conf"
    if own:
        yield Path(own)


def _read_file(path: Path) -> dict[str, str]:
    if not path.is_file():
        return {}
    parser = configparser.RawConfigParser()
    try:
        parser.read_string(path.read_text(encoding="utf-8"), source=str(path))
    except (OSError, UnicodeDecodeError, configparser.Error) as error:
        raise UsageError(
            f"pip's configuration `{path}` cannot be read",
            causes=[" ".join(str(error).split())],
            hint="repair it or set `RVBUILD_PYPI_INDEX`",
        ) from error
    values: dict[str, str] = {}
    for section in ("global", "install"):
        if parser.has_section(section):
            values |= {key.replace("_", "-"): value for key, value in parser.items(section)}
    return values


def _indexes(values: Mapping[str, str]) -> tuple[str, ...]:
    if values.get("no-index", "").lower() in {"1", "true", "yes", "on"}:
        return ()
    first = values.get("index-url", "").split() or [_public_index()]
    extra = values.get("extra-index-url", "").split()
    return tuple(dict.fromkeys(index for index in [*first, *extra] if is_address(index)))


def _public_index() -> str:
    # Imported only where pip is told of no index: it takes long.
    from pypi_simple import PYPI_SIMPLE_ENDPOINT

    return PYPI_SIMPLE_ENDPOINT


def _folders(text: str) -> Iterator[Path]:
    for entry in text.split():
        path = local_path(entry) if is_address(entry) else Path(entry)
        if path is not None and path.is_dir():
            yield path
