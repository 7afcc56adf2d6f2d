"""Bounded reading of an ELF image: header, segment and section tables, numbers and strings."""

import struct
from dataclasses import dataclass

from rvbuild.errors import AuditError

MAGIC = b"\x7fELF"
IDENTIFICATION_SIZE = 16
WIDE_BITS = 64
SEGMENT_LOAD = 1
EXTENDED_INDEX = 0xFFFF


@dataclass(frozen=True, slots=True)
class Segment:
    """One program header."""

    kind: int
    offset: int
    address: int
    file_size: int
    memory_size: int
    alignment: int


@dataclass(frozen=True, slots=True)
class Section:
    """One section header, with its name looked up."""

    name: str
    kind: int
    offset: int
    size: int


@dataclass(frozen=True, slots=True)
class Image:
    """The bytes of one ELF file and how its numbers are laid out; `name` is for messages."""

    data: bytes
    name: str
    bits: int
    order: str

    @property
    def wide(self) -> bool:
        """True for 64-bit files."""
        return self.bits == WIDE_BITS

    def fault(self, what: str) -> AuditError:
        """Make the error for a damaged file."""
        return unreadable(self.name, what)

    def numbers(self, layout: str, offset: int, what: str) -> tuple[int, ...]:
        """Read one record of struct `layout` at `offset`; raise `AuditError` outside the file."""
        size = struct.calcsize(self.order + layout)
        return struct.unpack(self.order + layout, self.piece(offset, size, what))

    def table(self, layout: str, offset: int, count: int, what: str) -> list[tuple[int, ...]]:
        """Read `count` records of struct `layout` that follow each other."""
        size = struct.calcsize(self.order + layout)
        return list(struct.iter_unpack(self.order + layout, self.piece(offset, size * count, what)))

    def piece(self, offset: int, size: int, what: str) -> bytes:
        """Give `size` bytes at `offset`; raise `AuditError` when the file does not have them."""
        if offset + size > len(self.data):
            raise self.fault(f"its {what} lies outside the file")
        return self.data[offset : offset + size]


@dataclass(frozen=True, slots=True)
class Header:
    """The file header without its tables: numbers as they are in the file."""

    kind: int
    machine: int
    flags: int
    segments_offset: int
    segments_size: int
    segments_count: int
    sections_offset: int
    sections_size: int
    sections_count: int
    names_index: int


def unreadable(name: str, what: str) -> AuditError:
    """Make the error for a file that says it is ELF and is not."""
    return AuditError(f"`{name}` is not a readable ELF file: {what}")


def open_image(data: bytes, name: str) -> Image:
    """Read class and byte order; raise `AuditError` when they are none that exist."""
    if not data.startswith(MAGIC):
        raise unreadable(name, "it does not start with the ELF magic")
    if len(data) < IDENTIFICATION_SIZE:
        raise unreadable(name, "it ends within its identification")
    bits = {1: 32, 2: WIDE_BITS}.get(data[4])
    order = {1: "<", 2: ">"}.get(data[5])
    if bits is None or order is None:
        raise unreadable(name, f"class {data[4]} or byte order {data[5]} does not exist")
    return Image(data, name, bits, order)


def read_header(image: Image) -> Header:
    """Read the file header."""
    layout = "HHIQQQIHHHHHH" if image.wide else "HHIIIIIHHHHHH"
    numbers = image.numbers(layout, IDENTIFICATION_SIZE, "file header")
    kind, machine, _, _, segments, sections, flags, _, *rest = numbers
    segment_size, segment_count, section_size, section_count, names = rest
    return Header(
        kind=kind,
        machine=machine,
        flags=flags,
        segments_offset=segments,
        segments_size=segment_size,
        segments_count=segment_count,
        sections_offset=sections,
        sections_size=section_size,
        sections_count=section_count,
        names_index=names,
    )


def read_segments(image: Image, header: Header) -> tuple[Segment, ...]:
    """Read the program headers."""
    layout = "IIQQQQQQ" if image.wide else "IIIIIIII"
    if header.segments_count and header.segments_size != struct.calcsize("<" + layout):
        raise image.fault(f"a program header of {header.segments_size} bytes does not exist")
    what = "program header table"
    segments = []
    for numbers in image.table(layout, header.segments_offset, header.segments_count, what):
        if image.wide:
            kind, _, offset, address, _, file_size, memory_size, alignment = numbers
        else:
            kind, offset, address, _, file_size, memory_size, _, alignment = numbers
        segment = Segment(kind, offset, address, file_size, memory_size, alignment)
        if kind == SEGMENT_LOAD and offset + file_size > len(image.data):
            raise image.fault("a LOAD segment lies outside the file")
        segments.append(segment)
    return tuple(segments)


def read_sections(image: Image, header: Header) -> tuple[Section, ...]:
    """Read the section headers; none when they were stripped."""
    if header.sections_offset == 0:
        return ()
    layout = "IIQQQQIIQQ" if image.wide else "IIIIIIIIII"
    if header.sections_size != struct.calcsize("<" + layout):
        raise image.fault(f"a section header of {header.sections_size} bytes does not exist")
    what = "section header table"
    first = image.numbers(layout, header.sections_offset, what)
    # Counts that do not fit the file header are in the first entry.
    count = header.sections_count or first[5]
    names_index = first[6] if header.names_index == EXTENDED_INDEX else header.names_index
    rows = image.table(layout, header.sections_offset, count, what)
    if names_index >= len(rows):
        raise image.fault("its section names are in a section that does not exist")
    names_row = rows[names_index]
    names = image.piece(names_row[4], names_row[5], "section name table") if names_index else b""
    return tuple(Section(string_at(names, row[0]), row[1], row[4], row[5]) for row in rows)


def string_at(table: bytes, index: int) -> str:
    """Read the NUL-terminated text at `index` of a string table; empty outside of it."""
    end = table.find(b"\0", index)
    return table[index : end if end >= 0 else None].decode("utf-8", "backslashreplace")
