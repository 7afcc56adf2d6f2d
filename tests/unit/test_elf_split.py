"""Symbols split off linked files: what is left is the same program, what is gone can be found."""

import io
import struct
import zlib
from dataclasses import replace
from pathlib import Path

import pytest
from elftools.elf.elffile import ELFFile
from elftools.elf.sections import Section, Symbol, SymbolTableSection
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from rvbuild.elf import read_elf
from rvbuild.elf.split import Split, split_symbols
from rvbuild.errors import AuditError

DATA = Path(__file__).parent.parent / "data" / "elf"
LINKED = ["symbols.so", "symbols-program"]
SHARED = (DATA / "symbols.so").read_bytes()


def split_of(name: str) -> tuple[bytes, Split]:
    data = (DATA / name).read_bytes()
    return data, split_symbols(data, name, f"{name}.debug")


def opened(data: bytes) -> ELFFile:
    return ELFFile(io.BytesIO(data))


def section_of(data: bytes, name: str) -> Section:
    section = opened(data).get_section_by_name(name)
    assert section is not None
    return section


def symbols_of(data: bytes, table: str) -> list[Symbol]:
    section = section_of(data, table)
    assert isinstance(section, SymbolTableSection)
    return list(section.iter_symbols())


@pytest.mark.parametrize("name", LINKED)
def test_what_is_mapped_stays_where_it_was(name: str, tmp_path: Path) -> None:
    data, split = split_of(name)
    assert len(split.stripped) < len(data)
    before, after = opened(data), opened(split.stripped)
    loads = [each.header for each in before.iter_segments("PT_LOAD")]
    assert [each.header for each in after.iter_segments("PT_LOAD")] == loads
    for load in loads:
        start, end = load.p_offset, load.p_offset + load.p_filesz
        # The headers are mapped too, and name the new places of what is not mapped.
        start = max(start, before["e_phoff"] + before["e_phnum"] * before["e_phentsize"])
        assert split.stripped[start:end] == data[start:end]
    (tmp_path / "before").write_bytes(data)
    (tmp_path / "after").write_bytes(split.stripped)
    facts = replace(read_elf(tmp_path / "before"), has_debug=False)
    assert read_elf(tmp_path / "after") == facts


@pytest.mark.parametrize("name", LINKED)
def test_only_symbols_and_debug_information_go(name: str) -> None:
    data, split = split_of(name)
    before = {each.name: each for each in opened(data).iter_sections()}
    after = {each.name: each for each in opened(split.stripped).iter_sections()}
    gone = before.keys() - after.keys()
    assert {".symtab", ".strtab"} <= gone
    assert all(each in {".symtab", ".strtab"} or each.startswith(".debug") for each in gone)
    assert after.keys() - before.keys() == {".gnu_debuglink"}
    for each in after.keys() - {".gnu_debuglink", ".shstrtab"}:
        assert after[each].data() == before[each].data(), each
        assert after[each]["sh_addr"] == before[each]["sh_addr"]


@pytest.mark.parametrize("name", LINKED)
def test_dynamic_symbols_keep_the_numbers_of_their_sections(name: str) -> None:
    data, split = split_of(name)
    before, after = opened(data), opened(split.stripped)
    for symbol in symbols_of(split.stripped, ".dynsym"):
        number = symbol.entry.st_shndx
        if isinstance(number, int):
            assert after.get_section(number).name == before.get_section(number).name


@pytest.mark.parametrize("name", LINKED)
def test_a_debugger_finds_every_symbol(name: str) -> None:
    data, split = split_of(name)
    link = section_of(split.stripped, ".gnu_debuglink").data()
    assert link.partition(b"\0")[0].decode() == f"{name}.debug"
    assert struct.unpack("<I", link[-4:]) == (zlib.crc32(split.debug),)
    before, debug = opened(data), opened(split.debug)
    tables = [
        [(each.name, each.entry) for each in symbols_of(file, ".symtab")]
        for file in (data, split.debug)
    ]
    assert tables[0] == tables[1]
    assert [each.name for each in before.iter_sections()] == [
        each.name for each in debug.iter_sections()
    ]
    text, kept = (section_of(file, ".text") for file in (data, split.debug))
    assert kept["sh_type"] == "SHT_NOBITS"
    assert kept["sh_addr"] == text["sh_addr"]


def test_attributes_behind_debug_information_are_still_found() -> None:
    attributes = [
        next(opened(data).iter_segments("PT_RISCV_ATTRIBUTES")).data()
        for data in (SHARED, split_symbols(SHARED, "a", "b").stripped)
    ]
    assert attributes[0] == attributes[1] != b""


def test_symbols_between_mapped_parts_become_zeros() -> None:
    # As patchelf leaves a file: something more is mapped from behind the symbols.
    data = bytearray(SHARED + b"\1" * 8)
    table = opened(SHARED).header.e_phoff
    stack = next(
        number
        for number, each in enumerate(opened(SHARED).iter_segments())
        if each["p_type"] == "PT_GNU_STACK"
    )
    row = struct.pack("<IIQQQQQQ", 1, 4, len(SHARED), 0x90000, 0x90000, 8, 8, 1)
    data[table + stack * 56 : table + stack * 56 + 56] = row
    stripped = split_symbols(bytes(data), "a.so", "a.so.debug").stripped
    symbols = section_of(SHARED, ".symtab")
    assert not any(stripped[symbols["sh_offset"] :][: symbols["sh_size"]])
    assert stripped[len(SHARED) :][:8] == b"\1" * 8


def test_splitting_twice_changes_nothing_more() -> None:
    once = split_symbols(SHARED, "a.so", "a.so.debug")
    again = split_symbols(once.stripped, "a.so", "a.so.debug")
    assert again == Split(once.stripped, b"")


@pytest.mark.parametrize("name", ["vector.o", "debug.o", "powerpc.so", "extension.so"])
def test_objects_and_what_has_no_symbols_stay_as_they_are(name: str) -> None:
    data, split = split_of(name)
    assert split == Split(data, b"")


@settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.data())
def test_damage_ends_in_an_error_or_in_a_file(draw: st.DataObject) -> None:
    damaged = bytearray(SHARED)
    places = st.integers(16, len(damaged) - 1) | st.integers(16, 63)
    for _ in range(draw.draw(st.integers(1, 4))):
        damaged[draw.draw(places)] = draw.draw(st.integers(0, 255))
    try:
        split_symbols(bytes(damaged), "a.so", "a.so.debug")
    except AuditError:
        return
