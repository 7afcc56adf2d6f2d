"""Splitting symbol table and debug information off a linked file, into a file for debuggers.

Rvbuild's own, for every build machine alike: what is mapped into memory stays byte for byte where
the linker put it, so that alignment cannot suffer, and zig's `objcopy` does not know ELF files.
"""

import struct
import zlib
from dataclasses import dataclass, replace

from rvbuild.elf.image import Header, Image, open_image, read_header

LINKED = frozenset({2, 3})
NULL, PROGBITS, SYMTAB, RELA, NOTE, NOBITS, REL, GROUP, SYMTAB_INDEX = (0, 1, 2, 4, 7, 8, 9, 17, 18)
# Tables that speak of the symbol table, and are of no use without it.
ABOUT_SYMBOLS = frozenset({SYMTAB, SYMTAB_INDEX, RELA, REL, GROUP})
EMPTY = frozenset({NULL, NOBITS})
ALLOCATED = 2
DEBUGGING = (".debug", ".zdebug", ".stab", ".gdb_index", ".gnu.debuglto_")
LINK = ".gnu_debuglink"
SECTION = "IIQQQQIIQQ"
SEGMENT = "IIQQQQQQ"
ALIGNMENT, LARGEST_ALIGNMENT = 8, 1 << 20
# The file header: its size, and where it keeps the places of both tables and the sections' count.
HEADER_SIZE, SEGMENTS_AT, SECTIONS_AT, SEGMENT_COUNT_AT, COUNT_AT = 0x40, 0x20, 0x28, 0x38, 0x3C
SEGMENT_OFFSET_AT = 8
LOAD = 1
# Interpreter and program headers: they point at what a file for debuggers does not hold.
POINTING = frozenset({3, 6})


@dataclass(frozen=True, slots=True)
class Split:
    """A file without its symbols, and what was split off; `debug` empty when there was nothing."""

    stripped: bytes
    debug: bytes


@dataclass(frozen=True, slots=True)
class _Section:
    """A section header as it is in the file, with its name looked up."""

    name: str
    name_offset: int
    kind: int
    flags: int
    address: int
    offset: int
    size: int
    link: int
    info: int
    alignment: int
    entry_size: int

    @property
    def allocated(self) -> bool:
        return bool(self.flags & ALLOCATED)


@dataclass(frozen=True, slots=True)
class _Tables:
    """The tables of a file: sections, the number of the one with their names, program headers."""

    sections: tuple[_Section, ...]
    names: int
    segments: list[tuple[int, ...]]
    segments_offset: int

    @property
    def mapped(self) -> int:
        """Where what is mapped into memory ends in the file."""
        ends = (row[2] + row[5] for row in self.segments if row[0] == LOAD)
        return max(ends, default=HEADER_SIZE)


def split_symbols(data: bytes, name: str, debug_name: str) -> Split:
    """Split a linked 64-bit file; `debug_name` is what debuggers will look for.

    A file that is not linked, or has nothing to split off, stays as it is. Raises `AuditError` when
    its tables cannot be read.
    """
    image = open_image(data, name)
    header = read_header(image)
    if not image.wide or header.kind not in LINKED or header.sections_count == 0:
        return Split(data, b"")
    tables = _read_tables(image, header)
    dropped = _dropped(tables)
    if not dropped:
        return Split(data, b"")
    debug = _debug_file(image, tables)
    link = debug_name.encode() + b"\0"
    link += b"\0" * (-len(link) % 4) + struct.pack(image.order + "I", zlib.crc32(debug))
    return Split(_stripped_file(image, tables, dropped, link), debug)


def _read_tables(image: Image, header: Header) -> _Tables:
    what = "section header table"
    rows = image.table(SECTION, header.sections_offset, header.sections_count, what)
    if header.names_index >= len(rows):
        raise image.fault("its section names are in a section that does not exist")
    offset, size = rows[header.names_index][4:6]
    names = image.piece(offset, size, "section name table")
    sections = tuple(
        _Section(names[row[0] :].partition(b"\0")[0].decode(errors="replace"), *row) for row in rows
    )
    for each in sections:
        if each.alignment > LARGEST_ALIGNMENT:
            raise image.fault(f"section `{each.name}` is aligned to {each.alignment} bytes")
    what = "program header table"
    segments = image.table(SEGMENT, header.segments_offset, header.segments_count, what)
    return _Tables(sections, header.names_index, segments, header.segments_offset)


def _content(image: Image, section: _Section) -> bytes:
    if section.kind in EMPTY:
        return b""
    return image.piece(section.offset, section.size, f"section `{section.name}`")


def _dropped(tables: _Tables) -> frozenset[int]:
    """Number the sections that only linkers and debuggers read."""
    numbered = [pair for pair in enumerate(tables.sections) if not pair[1].allocated]
    symbols = {number for number, each in numbered if each.kind in ABOUT_SYMBOLS}
    strings = {each.link for _, each in numbered if each.kind == SYMTAB}
    debugging = {number for number, each in numbered if each.name.startswith(DEBUGGING)}
    # A string table may serve the section names as well.
    return frozenset(symbols | debugging | strings - {tables.names})


def _stripped_file(
    image: Image, tables: _Tables, dropped: frozenset[int], debug_link: bytes
) -> bytes:
    last = max((n for n, each in enumerate(tables.sections) if each.allocated), default=0)
    # Dynamic symbols name sections by number, so that no number below the last may change.
    kept = [n for n in range(len(tables.sections)) if n not in dropped or n < last]
    places = {number: place for place, number in enumerate(kept) if number not in dropped}
    out = bytearray(image.piece(0, tables.mapped, "last segment"))
    names = _content(image, tables.sections[tables.names])
    sections = []
    for number in kept:
        section = tables.sections[number]
        section = replace(section, link=places.get(section.link, 0))
        if number in dropped:
            section = replace(section, kind=NULL, flags=0, size=0)
        elif number == tables.names:
            section = _append(section, names + LINK.encode() + b"\0", out)
        elif section.kind not in EMPTY and section.offset + section.size > tables.mapped:
            section = _append(section, _content(image, section), out)
        sections.append(section)
    _blank(tables, dropped, out)
    _move_segments(image, tables, dict(zip(kept, sections, strict=True)), out)
    link = _Section(LINK, len(names), PROGBITS, 0, 0, 0, 0, 0, 0, 4, 0)
    sections.append(_append(link, debug_link, out))
    return _finish(image, out, sections, places[tables.names])


def _blank(tables: _Tables, dropped: frozenset[int], out: bytearray) -> None:
    """Write zeros over what goes and lies between mapped parts, as in files that were patched."""
    loads = [(row[2], row[2] + row[5]) for row in tables.segments if row[0] == LOAD]
    for number in dropped:
        section = tables.sections[number]
        start, end = section.offset, section.offset + section.size
        if end <= tables.mapped and not any(start < stop and begin < end for begin, stop in loads):
            out[start:end] = b"\0" * section.size


def _move_segments(
    image: Image, tables: _Tables, placed: dict[int, _Section], out: bytearray
) -> None:
    """Let segments that are not mapped, such as RISC-V's attributes, follow their sections."""
    moved = {tables.sections[number].offset: each.offset for number, each in placed.items()}
    for index, (_, _, offset, *_) in enumerate(tables.segments):
        if offset < tables.mapped:
            continue
        if offset not in moved:
            raise image.fault("a segment behind what is mapped is not a section")
        place = tables.segments_offset + index * struct.calcsize("<" + SEGMENT)
        struct.pack_into(image.order + "Q", out, place + SEGMENT_OFFSET_AT, moved[offset])


def _debug_file(image: Image, tables: _Tables) -> bytes:
    """Write all sections under their numbers; of those that are mapped only notes have content."""
    out = bytearray(image.piece(0, HEADER_SIZE, "file header"))
    struct.pack_into(image.order + "Q", out, SEGMENTS_AT, len(out))
    segments = [row for row in tables.segments if row[0] not in POINTING]
    struct.pack_into(image.order + "H", out, SEGMENT_COUNT_AT, len(segments))
    for kind, flags, _, address, physical, _, size, alignment in segments:
        row = (kind, flags, 0, address, physical, 0, size, alignment)
        out += struct.pack(image.order + SEGMENT, *row)
    sections = []
    for section in tables.sections:
        if section.kind in EMPTY:
            sections.append(section)
        elif section.allocated and section.kind != NOTE:
            sections.append(replace(section, kind=NOBITS))
        else:
            sections.append(_append(section, _content(image, section), out))
    return _finish(image, out, sections, tables.names)


def _append(section: _Section, content: bytes, out: bytearray) -> _Section:
    out += b"\0" * (-len(out) % max(section.alignment, 1))
    placed = replace(section, offset=len(out), size=len(content))
    out += content
    return placed


def _finish(image: Image, out: bytearray, sections: list[_Section], names: int) -> bytes:
    """Append the table of sections, and point the file header at it."""
    out += b"\0" * (-len(out) % ALIGNMENT)
    struct.pack_into(image.order + "Q", out, SECTIONS_AT, len(out))
    struct.pack_into(image.order + "HH", out, COUNT_AT, len(sections), names)
    for each in sections:
        place = (each.address, each.offset, each.size)
        rest = (each.link, each.info, each.alignment, each.entry_size)
        row = (each.name_offset, each.kind, each.flags, *place, *rest)
        out += struct.pack(image.order + SECTION, *row)
    return bytes(out)
