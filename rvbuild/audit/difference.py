"""Where two wheels differ and why: dates, modes, order, compilers, paths, symbols, sections.

Says nothing of which one is right.
"""

import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from rvbuild.elf import is_elf
from rvbuild.elf.image import Image, Section, open_image, read_header, read_sections
from rvbuild.errors import AuditError
from rvbuild.wheel import open_archive, read_member

SHOWN_CHARACTERS = 100
SHOWN_STRINGS = 3
SHORTEST_STRING = 6
SYMBOL_BYTES = 24
NO_BITS = 8
COMPILER = ".comment"
BUILD_ID = ".note.gnu.build-id"
SYMBOL_TABLES = (".symtab", ".dynsym")
STRING_TABLES = (".strtab", ".dynstr")


@dataclass(frozen=True, slots=True)
class Difference:
    """A member that differs and why; `member` is None for the archives as a whole."""

    member: str | None
    reasons: tuple[str, ...]


def compare_wheels(left: Path, right: Path) -> tuple[Difference, ...]:
    """List what differs between two wheels, nothing for the same bytes; raise `AuditError`."""
    if left.read_bytes() == right.read_bytes():
        return ()
    with open_archive(left) as one, open_archive(right) as other:
        found = tuple(_differences(one, other))
    return found or (Difference(None, ("the archives are packed in another way",)),)


def _differences(one: zipfile.ZipFile, other: zipfile.ZipFile) -> Iterator[Difference]:
    lefts, rights = (
        {entry.filename: entry for entry in archive.infolist()} for archive in (one, other)
    )
    for name in sorted(lefts.keys() ^ rights.keys()):
        yield Difference(name, (f"is only in the {'first' if name in lefts else 'second'}",))
    common = [name for name in lefts if name in rights]
    if common != [name for name in rights if name in lefts]:
        yield Difference(None, ("the members are in another order",))
    for name in common:
        reasons = (*_entry(lefts[name], rights[name]), *_content(name, one, other))
        if reasons:
            yield Difference(name, reasons)


def _entry(left: zipfile.ZipInfo, right: zipfile.ZipInfo) -> Iterator[str]:
    if left.date_time != right.date_time:
        dates = ("{}-{:02}-{:02} {:02}:{:02}:{:02}".format(*e.date_time) for e in (left, right))
        yield _pair("date", *dates)
    if left.external_attr != right.external_attr:
        yield _pair("mode", *(f"{entry.external_attr >> 16:o}" for entry in (left, right)))
    if left.compress_type != right.compress_type:
        yield _pair("compression", str(left.compress_type), str(right.compress_type))


def _content(name: str, one: zipfile.ZipFile, other: zipfile.ZipFile) -> tuple[str, ...]:
    left, right = (read_member(archive, name, name) for archive in (one, other))
    if left == right:
        return ()
    if is_elf(left) and is_elf(right):
        try:
            return tuple(_binaries(open_image(left, name), open_image(right, name)))
        except AuditError as error:
            return (error.message,)
    if name.endswith(".dist-info/RECORD"):
        return ("follows from the other differences",)
    return (_texts(left, right),)


def _texts(left: bytes, right: bytes) -> str:
    lines = zip(left.splitlines(), right.splitlines(), strict=False)
    for number, (one, other) in enumerate(lines, 1):
        if one != other:
            if b"\0" in one + other:
                break
            return _pair(
                f"line {number}", *(text.decode(errors="replace") for text in (one, other))
            )
    if left.startswith(right) or right.startswith(left):
        return f"one goes on where the other ends: {len(left)} and {len(right)} bytes"
    position = next(i for i, pair in enumerate(zip(left, right, strict=False)) if len({*pair}) > 1)
    return f"byte {position} of {len(left)} and {len(right)}"


def _binaries(left: Image, right: Image) -> Iterator[str]:
    lefts, rights = (_sections(image) for image in (left, right))
    if lefts.keys() != rights.keys():
        names = ", ".join(f"`{name}`" for name in sorted(lefts.keys() ^ rights.keys()))
        yield f"sections that one has alone: {names}"
    changed = [name for name in lefts if name in rights and lefts[name] != rights[name]]
    for name in changed:
        yield _section(name, lefts[name], rights[name])
    if not changed and lefts.keys() == rights.keys():
        yield "headers or gaps between sections"


def _sections(image: Image) -> dict[str, bytes]:
    rows = read_sections(image, read_header(image))
    return {row.name: _bytes(image, row) for row in rows if row.name}


def _bytes(image: Image, section: Section) -> bytes:
    if section.kind == NO_BITS:
        return b""
    return image.piece(section.offset, section.size, section.name)


def _section(name: str, left: bytes, right: bytes) -> str:
    if name == COMPILER:
        return _pair("compiler", *(_words(part) for part in (left, right)))
    if name == BUILD_ID:
        return "build id, which follows from the content"
    if name in SYMBOL_TABLES and _rows(left) == _rows(right):
        return f"order of symbols in `{name}`"
    if name in STRING_TABLES and sorted(left.split(b"\0")) == sorted(right.split(b"\0")):
        return f"order of names in `{name}`"
    paths = [_strange(*pair) for pair in ((left, right), (right, left))]
    if any(paths):
        shown = (", ".join(found[:SHOWN_STRINGS]) or "none" for found in paths)
        return _pair(f"paths in `{name}`", *shown)
    return f"section `{name}`: {len(left)} and {len(right)} bytes"


def _rows(table: bytes) -> list[bytes]:
    return sorted(table[i : i + SYMBOL_BYTES] for i in range(0, len(table), SYMBOL_BYTES))


def _words(section: bytes) -> str:
    return ", ".join(part.decode(errors="replace") for part in section.split(b"\0") if part)


def _strange(data: bytes, other: bytes) -> list[str]:
    """Give the paths of a section that another one does not hold."""
    found = (part for part in data.split(b"\0") if len(part) >= SHORTEST_STRING and b"/" in part)
    texts = (part.decode(errors="replace") for part in found if part not in other)
    return [text for text in texts if text.isprintable()]


def _pair(what: str, left: str, right: str) -> str:
    shown = (
        text if len(text) <= SHOWN_CHARACTERS else f"{text[:SHOWN_CHARACTERS]}…"
        for text in (left, right)
    )
    return f"{what}: " + " and ".join(f"`{text}`" for text in shown)
