"""Dividing a file's code into functions: by symbols, by unwind tables, and by what is called."""

import struct
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace

from rvbuild.isa.calls import Reference
from rvbuild.isa.dynamic import SYMBOL, Dynamic, read_dynamic
from rvbuild.isa.image import RELOCATABLE, Image, text_at
from rvbuild.isa.model import Function, Layout, Region

SECTION_SYMBOLS = 2
SEGMENT_UNWIND = 0x6474E550
# The one encoding that linkers write: 4-byte numbers, relative to the table.
UNWIND_HEAD = b"\x01\x1b\x03\x3b"
UNKNOWN_KIND, FUNCTION_KIND, INDIRECT_KIND = 0, 2, 10
LOCAL = 0
FIRST_RESERVED_SECTION = 0xFF00
ON_IMPORT = "PyInit_"


@dataclass(frozen=True, slots=True)
class _Symbol:
    """One symbol that lies in code."""

    address: int
    size: int
    name: str
    kind: int
    exported: bool


@dataclass(slots=True)
class _Known:
    """What is said of one address, by however many symbols."""

    names: list[str] = field(default_factory=list)
    exported: bool = False


def read_layout(image: Image, regions: Sequence[Region]) -> Layout:
    """Find functions, data among them, and where execution begins.

    Raises `AuditError` where a table leads out of the file.
    """
    dynamic = read_dynamic(image)
    symbols = list(_symbols(image, dynamic))
    known = _known_addresses(symbols)
    starters = _starters(image, dynamic, known)
    for address in (*_unwind_starts(image), *starters, *dynamic.indirect):
        known.setdefault(address, _Known())
    functions = tuple(_divide(regions, known))
    return Layout(
        functions=functions,
        starts=tuple(each.start for each in functions),
        data=_data_spans(symbols, regions),
        mapped=any(each.name.startswith("$x") for each in symbols),
        starters=starters,
        slots={place: name for place, name in dynamic.slots.items() if name},
        indirect=(
            *dynamic.indirect,
            *(each.address for each in symbols if each.kind == INDIRECT_KIND),
        ),
        pointers=dynamic.pointers,
    )


def divide_further(
    layout: Layout, regions: Sequence[Region], references: Iterable[Reference]
) -> Layout:
    """Add the entries that no table names: what is called, jumped to or pointed to."""
    rooted = (each for each in layout.functions if each.rooted)
    known = {each.start: _Known(list(each.names), each.exported) for each in rooted}
    for address in layout.pointers:
        known.setdefault(address, _Known())
    for each in references:
        # A jump within a function is no entry.
        if each.kind in ("call", "take") or (
            each.kind == "jump" and layout.function_at(each.site) != layout.function_at(each.target)
        ):
            known.setdefault(each.target & ~1, _Known())
    functions = tuple(_divide(regions, known))
    return replace(layout, functions=functions, starts=tuple(each.start for each in functions))


def _symbols(image: Image, dynamic: Dynamic) -> Iterator[_Symbol]:
    for section in image.sections:
        if section.kind == SECTION_SYMBOLS and section.link < len(image.sections):
            strings = image.sections[section.link]
            texts = image.piece(strings.offset, strings.size, "string table")
            yield from _table(image, (section.offset, section.size), texts, dynamic=False)
    yield from _table(image, dynamic.symbols, dynamic.strings, dynamic=True)


def _table(
    image: Image, where: tuple[int, int], texts: bytes, *, dynamic: bool
) -> Iterator[_Symbol]:
    for name, info, _, section, value, size in image.rows(SYMBOL, *where, "symbol table"):
        kind, binding = info & 15, info >> 4
        if section == 0 or section >= FIRST_RESERVED_SECTION:
            continue
        if kind not in (UNKNOWN_KIND, FUNCTION_KIND, INDIRECT_KIND):
            continue
        address = value + _base(image, section)
        yield _Symbol(address, size, text_at(texts, name), kind, dynamic and binding != LOCAL)


def _base(image: Image, section: int) -> int:
    if image.kind != RELOCATABLE or section >= len(image.sections):
        return 0
    return image.sections[section].address


def _known_addresses(symbols: list[_Symbol]) -> dict[int, _Known]:
    """Map function entries to their names; a label inside a function is no entry."""
    known: dict[int, _Known] = {}
    sized = sorted(
        (each.address, each.address + each.size)
        for each in symbols
        if each.kind != UNKNOWN_KIND and each.size
    )
    starts = [start for start, _ in sized]
    for symbol in symbols:
        if symbol.kind == UNKNOWN_KIND:
            if not symbol.name or symbol.name.startswith(("$", ".L")):
                continue
            before = bisect_right(starts, symbol.address) - 1
            if before >= 0 and starts[before] < symbol.address < sized[before][1]:
                continue
        entry = known.setdefault(symbol.address, _Known())
        entry.exported |= symbol.exported
        if symbol.name not in entry.names:
            entry.names.append(symbol.name)
    return known


def _starters(image: Image, dynamic: Dynamic, known: dict[int, _Known]) -> dict[int, str]:
    starters = dict(dynamic.starters)
    if image.entry:
        starters[image.entry] = "entry point"
    for address, entry in known.items():
        module = next((name for name in entry.names if name.startswith(ON_IMPORT)), None)
        if entry.exported and module:
            starters[address] = f"import of `{module.removeprefix(ON_IMPORT)}`"
    return {address: what for address, what in starters.items() if address}


def _unwind_starts(image: Image) -> Iterator[int]:
    """List the functions that the binary search table for unwinding knows."""
    segment = next((each for each in image.segments if each.kind == SEGMENT_UNWIND), None)
    if segment is None or segment.size < 12:  # noqa: PLR2004 - the size of the table's head
        return
    table = image.piece(segment.offset, segment.size, "unwind table")
    if table[:4] != UNWIND_HEAD:
        return
    count = int.from_bytes(table[8:12], "little")
    for start, _ in struct.iter_unpack(
        "<ii", table[12 : 12 + (len(table) - 12) // 8 * 8][: 8 * count]
    ):
        yield segment.address + start


def _data_spans(symbols: list[_Symbol], regions: Sequence[Region]) -> tuple[tuple[int, int], ...]:
    """Read mapping symbols: `$d` begins data, `$x` begins code (RISC-V ELF psABI)."""
    marks = sorted(
        {(each.address, each.name[:2]) for each in symbols if each.name[:2] in ("$x", "$d")}
    )
    spans = []
    for number, (address, mark) in enumerate(marks):
        following = [start for start, other in marks[number + 1 : number + 2]]
        if mark == "$d":
            region = next((each for each in regions if each.address <= address < each.end), None)
            if region is not None:
                spans.append((address, min([region.end, *following])))
    return tuple(spans)


def _divide(regions: Sequence[Region], known: dict[int, _Known]) -> Iterator[Function]:
    starts = sorted(known)
    for region in regions:
        inside = starts[
            bisect_right(starts, region.address - 1) : bisect_right(starts, region.end - 1)
        ]
        if not inside or inside[0] > region.address:
            yield Function(region.address, min([region.end, *inside[:1]]), rooted=False)
        ends = [*inside[1:], region.end][: len(inside)]
        for start, end in zip(inside, ends, strict=True):
            entry = known[start]
            yield Function(start, end, tuple(entry.names), entry.exported)
