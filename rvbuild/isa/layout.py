"""Dividing a file's code into functions: by symbols, by unwind tables, and by what is called."""

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field, replace

from rvbuild.isa.calls import Reference
from rvbuild.isa.dynamic import SYMBOL, Dynamic, read_dynamic
from rvbuild.isa.image import RELOCATABLE, Image, text_at
from rvbuild.isa.model import Layout, Region
from rvbuild.isa.unwind import unwound

SECTION_SYMBOLS = 2
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
    """What symbols and tables say of addresses: entries with their names, and where one ends."""

    names: dict[int, list[str]] = field(default_factory=dict)
    exported: set[int] = field(default_factory=set)
    entries: set[int] = field(default_factory=set)
    ends: set[int] = field(default_factory=set)


def read_layout(image: Image, regions: Sequence[Region]) -> Layout:
    """Find functions, data among them, and where execution begins.

    Raises `AuditError` where a table leads out of the file.
    """
    dynamic = read_dynamic(image)
    symbols = list(_symbols(image, dynamic))
    known = _known(symbols)
    starters = _starters(image, dynamic, known)
    for start, end in unwound(image):
        known.entries.add(start)
        known.ends.add(end)
    known.entries.update(starters, dynamic.indirect)
    starts, ends, unrooted = _divide(regions, known.entries, known.ends)
    return Layout(
        starts=starts,
        ends=ends,
        names=known.names,
        exported=known.exported,
        unrooted=unrooted,
        data=_data_spans(symbols, regions),
        mapped=any(each.name.startswith("$x") for each in symbols),
        starters=starters,
        slots={place: name for place, name in dynamic.slots.items() if name},
        filled=dynamic.filled,
        indirect=(
            *dynamic.indirect,
            *(each.address for each in symbols if each.kind == INDIRECT_KIND),
        ),
    )


def divide_further(
    layout: Layout, regions: Sequence[Region], references: Iterable[Reference]
) -> Layout:
    """Add the entries that no table names: what is called, jumped to or pointed to."""
    entries = set(layout.starts).difference(layout.unrooted)
    entries.update(layout.filled.values())
    starts = layout.starts
    # A jump within a function is no entry.
    entries.update(
        each.target
        for each in references
        if each.kind != "jump"
        or bisect_right(starts, each.site) != bisect_right(starts, each.target)
    )
    known, ends, unrooted = _divide(regions, entries, layout.unrooted)
    return replace(layout, starts=known, ends=ends, unrooted=unrooted)


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


def _known(symbols: list[_Symbol]) -> _Known:
    """Gather function entries with their names; a label inside a function is no entry."""
    known = _Known()
    sized = sorted(
        (each.address, each.address + each.size)
        for each in symbols
        if each.kind != UNKNOWN_KIND and each.size
    )
    known.ends.update(end for _, end in sized)
    starts = [start for start, _ in sized]
    for symbol in symbols:
        if symbol.kind == UNKNOWN_KIND:
            if not symbol.name or symbol.name.startswith(("$", ".L")):
                continue
            before = bisect_right(starts, symbol.address) - 1
            if before >= 0 and starts[before] < symbol.address < sized[before][1]:
                continue
        known.entries.add(symbol.address)
        if symbol.exported:
            known.exported.add(symbol.address)
        names = known.names.setdefault(symbol.address, [])
        if symbol.name not in names:
            names.append(symbol.name)
    return known


def _starters(image: Image, dynamic: Dynamic, known: _Known) -> dict[int, str]:
    starters = dict(dynamic.starters)
    if image.entry:
        starters[image.entry] = "entry point"
    for address in known.exported:
        module = next((n for n in known.names[address] if n.startswith(ON_IMPORT)), None)
        if module:
            starters[address] = f"import of `{module.removeprefix(ON_IMPORT)}`"
    return {address: what for address, what in starters.items() if address}


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


def _divide(
    regions: Sequence[Region], entries: AbstractSet[int], ends: AbstractSet[int]
) -> tuple[list[int], list[int], frozenset[int]]:
    """Cut regions at entries, and where something ends that nothing is known to follow."""
    unrooted = {each.address for each in regions}.union(ends).difference(entries)
    cuts = sorted(unrooted.union(entries))
    starts: list[int] = []
    closing: list[int] = []
    for region in regions:
        inside = cuts[bisect_left(cuts, region.address) : bisect_left(cuts, region.end)]
        starts += inside
        closing += [*inside[1:], region.end]
    return starts, closing, frozenset(unrooted)
