"""Where the code of a 64-bit little-endian ELF file is: headers and tables, read within bounds.

What a loader or a linker sees in a file, and other classes and byte orders, are `elf`'s.
"""

import struct
from collections.abc import Iterator
from dataclasses import dataclass

from rvbuild.errors import AuditError

HEADER = "<16sHHIQQQIHHHHHH"
SEGMENT = "<IIQQQQQQ"
SECTION = "<IIQQQQIIQQ"
RELOCATABLE = 1
SEGMENT_LOAD = 1
EXTENDED_INDEX = 0xFFFF
NO_BITS = 8


@dataclass(frozen=True, slots=True)
class Segment:
    """One program header; offsets, addresses and sizes in bytes."""

    kind: int
    flags: int
    offset: int
    address: int
    size: int


@dataclass(frozen=True, slots=True)
class Section:
    """One section header; in an object file `address` is the offset, so that each is its own."""

    name: str
    kind: int
    flags: int
    address: int
    offset: int
    size: int
    link: int


@dataclass(frozen=True, slots=True)
class Image:
    """The bytes of a file with its tables; `kind` and `entry` are the header's."""

    data: bytes
    name: str
    kind: int
    entry: int
    segments: tuple[Segment, ...]
    sections: tuple[Section, ...]

    def rows(self, layout: str, offset: int, size: int, what: str) -> Iterator[tuple[int, ...]]:
        """Read the records of struct `layout` in `size` bytes; what is left over is ignored."""
        whole = size - size % struct.calcsize(layout)
        return struct.iter_unpack(layout, _piece(self.data, self.name, offset, whole, what))

    def piece(self, offset: int, size: int, what: str) -> bytes:
        """Give some bytes; raise `AuditError` when the file does not have them."""
        return _piece(self.data, self.name, offset, size, what)

    def offset_of(self, address: int, what: str) -> int:
        """Say where in the file an address is; raise `AuditError` when no segment maps it."""
        for segment in self.segments:
            inside = segment.address <= address < segment.address + segment.size
            if segment.kind == SEGMENT_LOAD and inside:
                return segment.offset + address - segment.address
        raise damaged(self.name, f"its {what} is at an address that no segment maps")

    def addresses_of(self, text: str) -> Iterator[int]:
        """List where a text that ends with a zero byte is in memory."""
        wanted = text.encode() + b"\0"
        for segment in self.segments:
            if segment.kind == SEGMENT_LOAD:
                position = self.data.find(wanted, segment.offset, segment.offset + segment.size)
                while position >= 0:
                    yield segment.address + position - segment.offset
                    position = self.data.find(wanted, position + 1, segment.offset + segment.size)


def damaged(name: str, what: str) -> AuditError:
    """Make the error for a file whose code cannot be told from the rest."""
    return AuditError(f"the code of `{name}` is not readable: {what}")


def open_image(data: bytes, name: str) -> Image:
    """Read header, segments and sections; raise `AuditError` for a damaged file."""
    head = struct.unpack(HEADER, _piece(data, name, 0, struct.calcsize(HEADER), "file header"))
    kind, entry, segments_at, sections_at = head[1], head[4], head[5], head[6]
    segment_size, segment_count, section_size, section_count, names_index = head[9:]
    if segment_count and segment_size != struct.calcsize(SEGMENT):
        raise damaged(name, f"a program header of {segment_size} bytes does not exist")
    if sections_at and section_size != struct.calcsize(SECTION):
        raise damaged(name, f"a section header of {section_size} bytes does not exist")
    table = _piece(data, name, segments_at, segment_count * segment_size, "program header table")
    segments = tuple(
        Segment(row[0], row[1], row[2], row[3], row[5])
        for row in struct.iter_unpack(SEGMENT, table)
    )
    rows = _section_rows(data, name, sections_at, section_count)
    names = _section_names(data, name, rows, names_index)
    sections = tuple(_section(row, names, movable=kind == RELOCATABLE) for row in rows)
    return Image(data, name, kind, entry, segments, sections)


def _section_rows(data: bytes, name: str, offset: int, count: int) -> list[tuple[int, ...]]:
    if offset == 0:
        return []
    size = struct.calcsize(SECTION)
    # A count that does not fit the file header is in the first entry.
    first = struct.unpack(SECTION, _piece(data, name, offset, size, "section header table"))
    table = _piece(data, name, offset, (count or first[5]) * size, "section header table")
    return list(struct.iter_unpack(SECTION, table))


def _section_names(data: bytes, name: str, rows: list[tuple[int, ...]], index: int) -> bytes:
    if not rows:
        return b""
    where = rows[0][6] if index == EXTENDED_INDEX else index
    if where >= len(rows):
        raise damaged(name, "its section names are in a section that does not exist")
    return _piece(data, name, rows[where][4], rows[where][5], "section names") if where else b""


def _section(row: tuple[int, ...], names: bytes, *, movable: bool) -> Section:
    name, kind, flags, address, offset, size, link, *_ = row
    text = text_at(names, name)
    return Section(text, kind, flags, offset if movable else address, offset, size, link)


def text_at(table: bytes, index: int) -> str:
    """Read the NUL-terminated text at `index` of a string table; empty outside of it."""
    end = table.find(b"\0", index)
    return table[index : end if end >= 0 else None].decode("utf-8", "backslashreplace")


def _piece(data: bytes, name: str, offset: int, size: int, what: str) -> bytes:
    if offset + size > len(data):
        raise damaged(name, f"its {what} lies outside the file")
    return data[offset : offset + size]
