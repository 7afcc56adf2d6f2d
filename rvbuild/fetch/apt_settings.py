"""Which Debian archive roots apt is told to use, read from its source lists."""

import re
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

from rvbuild.fetch.address import is_address

_ONE_LINE = re.compile(r"^deb(?:-src)?\s+(?:\[[^\]]*\]\s*)?(\S+)\s")
_SNAPSHOT_TIME = re.compile(r"\d{8}T\d{6}Z")


def read_debian_roots(root: Path) -> tuple[str, ...]:
    """List the http and https roots of Debian archives, those of security updates last.

    `root` stands for the machine's root folder; a file that cannot be read counts as empty.
    """
    roots = dict.fromkeys(uri.rstrip("/") for uri in _uris(root / "etc" / "apt"))
    ranked = [(rank, uri) for uri in roots if (rank := _rank(uri)) is not None]
    return tuple(uri for _, uri in sorted(ranked, key=lambda pair: pair[0]))


def _uris(folder: Path) -> Iterator[str]:
    yield from _one_line_uris(_text(folder / "sources.list"))
    for path in sorted((folder / "sources.list.d").glob("*")):
        if path.suffix == ".list":
            yield from _one_line_uris(_text(path))
        elif path.suffix == ".sources":
            yield from _stanza_uris(_text(path))


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""


def _one_line_uris(text: str) -> Iterator[str]:
    for line in text.splitlines():
        found = _ONE_LINE.match(line.strip())
        if found:
            yield found.group(1)


def _stanza_uris(text: str) -> Iterator[str]:
    lines = (line for line in text.splitlines() if not line.startswith("#"))
    for stanza in re.split(r"\n\s*\n", "\n".join(lines)):
        fields = _fields(stanza)
        if fields.get("enabled", "yes").strip().lower() not in {"no", "false", "0", "off"}:
            yield from fields.get("uris", "").split()


def _fields(stanza: str) -> dict[str, str]:
    fields: dict[str, str] = {}
    name = ""
    for line in stanza.splitlines():
        if line[:1].isspace():
            fields[name] = fields.get(name, "") + "\n" + line.strip()
        else:
            name, _, value = line.partition(":")
            name = name.strip().lower()
            fields[name] = value
    return fields


def _rank(uri: str) -> int | None:
    """Give 0 for a main archive, 1 for security updates, None for what is not Debian's."""
    if not is_address(uri) or uri.startswith("file:"):
        return None
    parts = [part for part in urlsplit(uri).path.split("/") if part]
    if parts and _SNAPSHOT_TIME.fullmatch(parts[-1]):
        parts.pop()
    if not parts:
        return None
    if parts[-1] == "debian":
        return 0
    return 1 if parts[-1].startswith("debian-security") else None
