"""Reading ELF files: known ones, damaged ones, and the same answers as an independent reader."""

from pathlib import Path

import pytest
from elftools.elf.dynamic import DynamicSection
from elftools.elf.elffile import ELFFile
from elftools.elf.gnuversions import GNUVerNeedSection
from elftools.elf.sections import SymbolTableSection
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from rvbuild.elf import ElfFacts, Load, is_archive, is_elf, read_archive, read_elf
from rvbuild.errors import AuditError

DATA = Path(__file__).parent.parent / "data" / "elf"
EXTENSION = (DATA / "extension.so").read_bytes()
OBJECT = (DATA / "vector.o").read_bytes()


def test_reads_an_extension_module() -> None:
    facts = read_elf(DATA / "extension.so")
    assert (facts.machine, facts.bits, facts.little_endian) == ("EM_RISCV", 64, True)
    assert (facts.kind, facts.float_abi, facts.interpreter) == ("dyn", "double", None)
    assert facts.isa is not None
    assert facts.isa.startswith("rv64i")
    assert facts.needed == ("libc.so.6",)
    assert "PyInit_demo" in facts.defined
    versions = {(each.library, each.version): each.symbols for each in facts.required_versions}
    assert "malloc" in versions["libc.so.6", "GLIBC_2.27"]
    undefined = {symbol.name: symbol for symbol in facts.undefined}
    assert undefined["malloc"].version == "GLIBC_2.27"
    assert undefined["PyModule_Create2"].version is None
    assert not undefined["PyModule_Create2"].weak
    assert undefined["optional_hook"].weak
    assert all(load.congruent for load in facts.loads)
    assert not facts.has_debug


def test_reads_names_a_library_gives_itself() -> None:
    assert read_elf(DATA / "libinner.so.1").soname == "libinner.so.1"
    assert read_elf(DATA / "outer.so").needed == ("libinner.so.1", "libc.so.6")


def test_reads_a_program() -> None:
    facts = read_elf(DATA / "newer-program")
    assert facts.kind == "exec"
    assert facts.interpreter == "/lib/ld-linux-riscv64-lp64d.so.1"
    newest = {each.version: each.symbols for each in facts.required_versions}
    assert newest["GLIBC_2.34"] == ("__libc_start_main", "pthread_create")
    assert newest["GLIBC_2.33"] == ("stat",)


def test_reads_objects_that_are_not_linked() -> None:
    soft = read_elf(DATA / "soft.o")
    assert (soft.kind, soft.float_abi, soft.loads) == ("rel", "soft", ())
    vector = read_elf(DATA / "vector.o")
    assert vector.isa is not None
    assert "_v1p0" in vector.isa
    assert read_elf(DATA / "debug.o").has_debug


def test_reads_other_machines() -> None:
    power = read_elf(DATA / "powerpc.so")
    assert (power.machine, power.bits, power.little_endian) == ("EM_PPC", 32, False)
    assert power.defined == {"plain"}
    intel = read_elf(DATA / "x86-64.so")
    assert (intel.machine, intel.float_abi, intel.isa) == ("EM_X86_64", None, None)
    assert intel.defined == {"plain"}


@pytest.mark.parametrize(
    "name",
    ["extension.so", "outer.so", "atomic-linked.so", "newer.so", "newer-program", "powerpc.so"],
)
def test_agrees_with_an_independent_reader(name: str) -> None:
    facts = read_elf(DATA / name)
    with (DATA / name).open("rb") as stream:
        elf = ELFFile(stream)
        dynamic, table = (elf.get_section_by_name(each) for each in (".dynamic", ".dynsym"))
        assert isinstance(dynamic, DynamicSection)
        assert isinstance(table, SymbolTableSection)
        texts = table.stringtable
        needed = tuple(texts.get_string(tag["d_val"]) for tag in dynamic.iter_tags("DT_NEEDED"))
        symbols = [each for each in table.iter_symbols() if each.name]
        undefined = [each for each in symbols if each["st_shndx"] == "SHN_UNDEF"]
        versions = elf.get_section_by_name(".gnu.version_r")
        required = set()
        if isinstance(versions, GNUVerNeedSection):
            required = {
                (lib.name, aux.name) for lib, rest in versions.iter_versions() for aux in rest
            }
    assert facts.needed == needed
    assert {each.name for each in facts.undefined} == {each.name for each in undefined}
    assert facts.defined == {each.name for each in symbols} - {each.name for each in undefined}
    assert {(each.library, each.version) for each in facts.required_versions} == required


def test_does_not_need_section_headers() -> None:
    stripped = bytearray(EXTENSION)
    stripped[40:48] = bytes(8)
    stripped[60:64] = bytes(4)
    facts = read_elf(bytes(stripped))
    whole = read_elf(EXTENSION)
    assert facts.needed == whole.needed
    assert facts.undefined == whole.undefined
    assert facts.required_versions == whole.required_versions


def test_a_mapping_has_to_be_congruent() -> None:
    assert not Load(0x31000, 0x50000, 1, 1, 0x10000).congruent
    assert Load(0x30000, 0x50000, 1, 1, 0x10000).congruent
    assert Load(7, 8, 1, 1, 0).congruent


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"", "does not start with the ELF magic"),
        (b"\x7fELF", "ends within its identification"),
        (b"\x7fELF\x03\x01" + bytes(58), "class 3"),
        (EXTENSION[:40], "file header lies outside the file"),
        (EXTENSION[:200], "program header table lies outside the file"),
        (EXTENSION[:1500], "LOAD segment lies outside the file"),
        (EXTENSION[:16] + b"\x04\x00" + EXTENSION[18:], "type 4"),
        (OBJECT[:-1], "section header table lies outside the file"),
    ],
)
def test_says_what_is_damaged(data: bytes, reason: str) -> None:
    with pytest.raises(AuditError, match=reason) as caught:
        read_elf(data, "pkg/broken.so")
    assert "`pkg/broken.so`" in caught.value.message


def read_or_refuse(data: bytes) -> ElfFacts | None:
    try:
        return read_elf(data)
    except AuditError:
        return None


@settings(max_examples=400, deadline=1000, suppress_health_check=[HealthCheck.too_slow])
@given(
    source=st.sampled_from([EXTENSION, OBJECT, (DATA / "powerpc.so").read_bytes()]),
    changes=st.lists(
        st.tuples(
            st.integers(0, 4000), st.sampled_from([0, 1, 0x7F, 0x80, 0xFF]) | st.integers(0, 255)
        ),
        min_size=1,
        max_size=12,
    ),
    end=st.none() | st.integers(0, 4000),
)
def test_no_damage_ends_in_another_error(
    source: bytes, changes: list[tuple[int, int]], end: int | None
) -> None:
    data = bytearray(source)
    for position, value in changes:
        data[position % len(data)] = value
    read_or_refuse(bytes(data[:end]))


def test_no_single_byte_ends_in_another_error() -> None:
    for source in (EXTENSION, OBJECT):
        for position in range(0, len(source), 2):
            for value in (0x00, 0xFF):
                read_or_refuse(source[:position] + bytes([value]) + source[position + 1 :])


def archive_member(name: str, content: bytes) -> bytes:
    header = f"{name:<16}{0:<12}{0:<6}{0:<6}{644:<8}{len(content):<10}`\n".encode()
    return header + content + b"\n" * (len(content) % 2)


def test_reads_archives() -> None:
    data = b"!<arch>\n" + archive_member("/", b"index") + archive_member("plain.o/", OBJECT)
    assert is_archive(data)
    assert read_archive(data, "lib.a") == (("plain.o", OBJECT),)
    assert is_elf(OBJECT)
    with pytest.raises(AuditError, match="cut short"):
        read_archive(data[:-10], "lib.a")
    with pytest.raises(AuditError, match="thin archive"):
        read_archive(b"!<thin>\n", "lib.a")
    with pytest.raises(AuditError, match="header is damaged"):
        read_archive(b"!<arch>\nnonsense", "lib.a")
