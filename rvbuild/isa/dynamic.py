"""What the dynamic section says of code: what loading runs, and what data refers to."""

import struct
from collections.abc import Iterator
from dataclasses import dataclass, field

from rvbuild.isa.image import Image, text_at

SEGMENT_DYNAMIC = 2
SYMBOL = "<IBBHQQ"
SYMBOL_SIZE = struct.calcsize(SYMBOL)
RELOCATION = "<QQq"
WORD = "<Q"
WORD_SIZE = 8
STRINGS, SYMBOLS, STRINGS_SIZE, HASH, INIT = 5, 6, 10, 4, 12
GNU_HASH, VERSIONS, NEEDED_VERSIONS = 0x6FFFFEF5, 0x6FFFFFF0, 0x6FFFFFFE
TABLES = ((7, 8), (23, 2))  # RELA and JMPREL, each with its size
ARRAYS = ((32, 33, "constructor"), (25, 27, "constructor"), (26, 28, "destructor"))
PACKED, PACKED_SIZE = 36, 35
ADDRESS, RELATIVE, JUMP_SLOT, INDIRECT_RELATIVE = 2, 3, 5, 58


@dataclass(frozen=True, slots=True)
class Dynamic:
    """What was found; everything is empty for a file that is not linked dynamically.

    `symbols` are offset and size of the table, `slots` the places that are filled with the address
    of a symbol, `filled` those that are filled with an address of the file.
    """

    symbols: tuple[int, int] = (0, 0)
    strings: bytes = b""
    starters: dict[int, str] = field(default_factory=dict)
    slots: dict[int, str] = field(default_factory=dict)
    indirect: tuple[int, ...] = ()
    filled: dict[int, int] = field(default_factory=dict)


def read_dynamic(image: Image) -> Dynamic:
    """Follow the dynamic segment; raise `AuditError` where it leads out of the file."""
    segment = next((each for each in image.segments if each.kind == SEGMENT_DYNAMIC), None)
    if segment is None:
        return Dynamic()
    tags: dict[int, int] = {}
    for tag, value in image.rows("<QQ", segment.offset, segment.size, "dynamic section"):
        if tag == 0:
            break
        tags[tag] = value
    strings = b""
    if STRINGS in tags:
        what = "dynamic string table"
        strings = image.piece(image.offset_of(tags[STRINGS], what), tags.get(STRINGS_SIZE, 0), what)
    symbols = _symbol_table(image, tags)
    relocations = list(_relocations(image, tags))
    filled = {place: addend for place, kind, addend in relocations if kind == RELATIVE}
    filled.update(_packed(image, tags))
    return Dynamic(
        symbols=symbols,
        strings=strings,
        starters=_starters(image, tags, filled),
        slots=_slots(image, symbols[0], strings, relocations),
        indirect=tuple(
            addend for _, kind, addend in relocations if kind & 0xFFFFFFFF == INDIRECT_RELATIVE
        ),
        filled=filled,
    )


def _packed(image: Image, tags: dict[int, int]) -> Iterator[tuple[int, int]]:
    """Read relocations of the packed kind (DT_RELR): places, and the words there."""
    if PACKED not in tags:
        return
    what, place = "packed relocation table", 0
    rows = image.rows(WORD, image.offset_of(tags[PACKED], what), tags.get(PACKED_SIZE, 0), what)
    for (entry,) in rows:
        if entry & 1 == 0:
            places = [entry]
            place = entry + WORD_SIZE
        else:
            bits = range(1, 8 * WORD_SIZE)
            places = [place + (bit - 1) * WORD_SIZE for bit in bits if entry >> bit & 1]
            place += (8 * WORD_SIZE - 1) * WORD_SIZE
        for each in places:
            offset = image.offset_of(each, what)
            yield each, int.from_bytes(image.piece(offset, WORD_SIZE, what), "little")


def _symbol_table(image: Image, tags: dict[int, int]) -> tuple[int, int]:
    """Give offset and size of the symbols: they end where the next table begins, at the latest."""
    start = tags.get(SYMBOLS)
    if start is None:
        return 0, 0
    others = (tags.get(tag, 0) for tag in (STRINGS, HASH, GNU_HASH, VERSIONS, NEEDED_VERSIONS))
    end = min((address for address in others if address > start), default=start)
    return image.offset_of(start, "dynamic symbol table"), end - start


def _relocations(image: Image, tags: dict[int, int]) -> Iterator[tuple[int, ...]]:
    for table, size in TABLES:
        if table in tags:
            what = "relocation table"
            offset = image.offset_of(tags[table], what)
            yield from image.rows(RELOCATION, offset, tags.get(size, 0), what)


def _starters(image: Image, tags: dict[int, int], filled: dict[int, int]) -> dict[int, str]:
    """Map the functions that loading and unloading call to what they are."""
    starters = {tags[INIT]: "initialiser"} if INIT in tags else {}
    for array, size, what in ARRAYS:
        start = tags.get(array)
        if start is None or not tags.get(size):
            continue
        offset = image.offset_of(start, f"{what} table")
        for number, (value,) in enumerate(image.rows(WORD, offset, tags[size], f"{what} table")):
            starters[filled.get(start + number * WORD_SIZE, value)] = what
    return starters


def _slots(
    image: Image, symbols: int, strings: bytes, relocations: list[tuple[int, ...]]
) -> dict[int, str]:
    slots = {}
    for place, kind, _ in relocations:
        if kind & 0xFFFFFFFF in (ADDRESS, JUMP_SLOT):
            offset = symbols + (kind >> 32) * SYMBOL_SIZE
            row = struct.unpack(SYMBOL, image.piece(offset, SYMBOL_SIZE, "dynamic symbol table"))
            slots[place] = text_at(strings, row[0])
    return slots
