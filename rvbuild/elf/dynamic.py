"""The dynamic section and the tables it points to: needed libraries, symbols and their versions."""

from dataclasses import dataclass

from rvbuild.elf.image import SEGMENT_LOAD, Image, Section, Segment, string_at
from rvbuild.elf.model import RequiredVersion, UndefinedSymbol

SEGMENT_DYNAMIC = 2
SECTION_DYNAMIC_SYMBOLS = 11
NEEDED, HASH, STRINGS, SYMBOLS, STRINGS_SIZE = 1, 4, 5, 6, 10
SONAME, RPATH, RUNPATH = 14, 15, 29
GNU_HASH, SYMBOL_VERSIONS = 0x6FFFFEF5, 0x6FFFFFF0
NEEDED_VERSIONS, NEEDED_VERSIONS_COUNT = 0x6FFFFFFE, 0x6FFFFFFF
VERSION_INDEX_MASK = 0x7FFF
BIND_LOCAL, BIND_WEAK = 0, 2


@dataclass(frozen=True, slots=True)
class Dynamic:
    """What the dynamic section says; everything is empty for a file that has none."""

    needed: tuple[str, ...] = ()
    soname: str | None = None
    rpath: tuple[str, ...] = ()
    runpath: tuple[str, ...] = ()
    required_versions: tuple[RequiredVersion, ...] = ()
    undefined: tuple[UndefinedSymbol, ...] = ()
    defined: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class _View:
    """A file as its loader sees it: addresses instead of offsets, tags instead of sections."""

    image: Image
    segments: tuple[Segment, ...]
    sections: tuple[Section, ...]
    tags: tuple[tuple[int, int], ...]
    strings: bytes

    def first(self, tag: int) -> int | None:
        return next((value for key, value in self.tags if key == tag), None)

    def texts(self, tag: int) -> tuple[str, ...]:
        return tuple(self.text(value) for key, value in self.tags if key == tag)

    def text(self, index: int) -> str:
        if index >= len(self.strings):
            raise self.image.fault("a name lies outside the dynamic string table")
        return string_at(self.strings, index)

    def offset(self, tag: int, what: str) -> int | None:
        address = self.first(tag)
        return None if address is None else _offset_of(self.image, self.segments, address, what)


def _offset_of(image: Image, segments: tuple[Segment, ...], address: int, what: str) -> int:
    for segment in segments:
        start = segment.address
        if segment.kind == SEGMENT_LOAD and start <= address < start + segment.file_size:
            return segment.offset + address - start
    raise image.fault(f"its {what} is at an address that no segment maps")


def read_dynamic(
    image: Image, segments: tuple[Segment, ...], sections: tuple[Section, ...]
) -> Dynamic:
    """Follow the dynamic segment, where there is one, to all that it names."""
    segment = next((each for each in segments if each.kind == SEGMENT_DYNAMIC), None)
    if segment is None:
        return Dynamic()
    tags = _read_tags(image, segment)
    view = _View(image, segments, sections, tags, _read_strings(image, segments, tags))
    versions = _read_needed_versions(view)
    users: dict[int, list[str]] = {index: [] for index in versions}
    undefined, defined = _read_symbols(view, versions, users)
    sonames = view.texts(SONAME)
    return Dynamic(
        needed=view.texts(NEEDED),
        soname=sonames[0] if sonames else None,
        rpath=_split(view.texts(RPATH)),
        runpath=_split(view.texts(RUNPATH)),
        required_versions=tuple(
            RequiredVersion(library, version, tuple(sorted(users[index])))
            for index, (library, version) in versions.items()
        ),
        undefined=undefined,
        defined=defined,
    )


def _split(paths: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(entry for path in paths for entry in path.split(":"))


def _read_tags(image: Image, segment: Segment) -> tuple[tuple[int, int], ...]:
    layout, size = ("QQ", 16) if image.wide else ("II", 8)
    rows = image.table(layout, segment.offset, segment.file_size // size, "dynamic section")
    tags = []
    for tag, value in rows:
        if tag == 0:
            break
        tags.append((tag, value))
    return tuple(tags)


def _read_strings(
    image: Image, segments: tuple[Segment, ...], tags: tuple[tuple[int, int], ...]
) -> bytes:
    known = dict(tags)
    if STRINGS not in known:
        return b""
    what = "dynamic string table"
    offset = _offset_of(image, segments, known[STRINGS], what)
    return image.piece(offset, known.get(STRINGS_SIZE, 0), what)


def _read_needed_versions(view: _View) -> dict[int, tuple[str, str]]:
    """Map version indexes to (library, version)."""
    what = "table of needed versions"
    offset = view.offset(NEEDED_VERSIONS, what)
    versions: dict[int, tuple[str, str]] = {}
    if offset is None:
        return versions
    for _ in range(view.first(NEEDED_VERSIONS_COUNT) or 0):
        _, count, library, first, following = view.image.numbers("HHIII", offset, what)
        _read_library_versions(view, offset + first, count, view.text(library), versions)
        if following == 0:
            break
        offset += following
    return versions


def _read_library_versions(
    view: _View, offset: int, count: int, library: str, versions: dict[int, tuple[str, str]]
) -> None:
    what = "table of needed versions"
    for _ in range(count):
        _, _, index, name, following = view.image.numbers("IHHII", offset, what)
        if index & VERSION_INDEX_MASK in versions:
            # Also keeps a table that runs in circles from being read for ever.
            raise view.image.fault("two needed versions share an index")
        versions[index & VERSION_INDEX_MASK] = (library, view.text(name))
        if following == 0:
            break
        offset += following


def _read_symbols(
    view: _View, versions: dict[int, tuple[str, str]], users: dict[int, list[str]]
) -> tuple[tuple[UndefinedSymbol, ...], frozenset[str]]:
    """Read the dynamic symbols; enter the users of each needed version into `users`."""
    offset = view.offset(SYMBOLS, "dynamic symbol table")
    if offset is None:
        return (), frozenset()
    count = _symbol_count(view, offset)
    layout = "IBBHQQ" if view.image.wide else "IIIBBH"
    rows = view.image.table(layout, offset, count, "dynamic symbol table")
    indexes = _read_version_indexes(view, count)
    undefined, defined = [], set()
    for row, index in zip(rows, indexes, strict=True):
        name, info, section = (
            (row[0], row[1], row[3]) if view.image.wide else (row[0], row[3], row[5])
        )
        if info >> 4 == BIND_LOCAL:
            continue
        text = view.text(name)
        if section != 0:
            if index != 0:
                defined.add(text)
            continue
        if index in versions:
            users[index].append(text)
        version = versions[index][1] if index in versions else None
        undefined.append(UndefinedSymbol(text, version, weak=info >> 4 == BIND_WEAK))
    return tuple(undefined), frozenset(defined)


def _read_version_indexes(view: _View, count: int) -> list[int]:
    what = "table of symbol versions"
    offset = view.offset(SYMBOL_VERSIONS, what)
    if offset is None:
        return [1] * count
    return [index & VERSION_INDEX_MASK for (index,) in view.image.table("H", offset, count, what)]


def _symbol_count(view: _View, offset: int) -> int:
    """Count the dynamic symbols; hash tables may leave out undefined ones."""
    size = 24 if view.image.wide else 16
    by_section = [
        section.size // size
        for section in view.sections
        if section.kind == SECTION_DYNAMIC_SYMBOLS and section.offset == offset
    ]
    return max([_hash_count(view), _gnu_hash_count(view), *by_section])


def _hash_count(view: _View) -> int:
    what = "hash table"
    offset = view.offset(HASH, what)
    return 0 if offset is None else view.image.numbers("II", offset, what)[1]


def _gnu_hash_count(view: _View) -> int:
    what = "GNU hash table"
    offset = view.offset(GNU_HASH, what)
    if offset is None:
        return 0
    buckets, first, words, _ = view.image.numbers("IIII", offset, what)
    start = offset + 16 + words * (8 if view.image.wide else 4)
    last = max((row[0] for row in view.image.table("I", start, buckets, what)), default=0)
    if last < first:
        return first
    chains = start + buckets * 4
    # The last chain ends at the first hash value whose lowest bit is set.
    while view.image.numbers("I", chains + (last - first) * 4, what)[0] & 1 == 0:
        last += 1
    return last + 1
