"""Reading one ELF file into its facts."""

from pathlib import Path

from rvbuild.elf.attributes import read_isa
from rvbuild.elf.dynamic import read_dynamic
from rvbuild.elf.image import (
    MAGIC,
    SEGMENT_LOAD,
    Image,
    Section,
    Segment,
    open_image,
    read_header,
    read_sections,
    read_segments,
    string_at,
)
from rvbuild.elf.model import ElfFacts, FloatAbi, Kind, Load

MACHINES = {
    3: "EM_386",
    8: "EM_MIPS",
    20: "EM_PPC",
    21: "EM_PPC64",
    22: "EM_S390",
    40: "EM_ARM",
    62: "EM_X86_64",
    183: "EM_AARCH64",
    243: "EM_RISCV",
    247: "EM_BPF",
    258: "EM_LOONGARCH",
}
KINDS: dict[int, Kind] = {1: "rel", 2: "exec", 3: "dyn"}
# RISC-V ELF psABI, "File Header": e_flags bits 1 and 2.
FLOAT_ABIS: tuple[FloatAbi, ...] = ("soft", "single", "double", "quad")
SEGMENT_INTERPRETER, SEGMENT_NOTE = 3, 4
NOTE_BUILD_ID = 3


def is_elf(data: bytes) -> bool:
    """Say whether these bytes begin an ELF file."""
    return data.startswith(MAGIC)


def read_elf(source: bytes | Path, name: str | None = None) -> ElfFacts:
    """Read the facts of an ELF file, given as bytes or by path; `name` is for messages.

    Raises `AuditError`, and nothing else, when the file is malformed or cut short.
    """
    if isinstance(source, Path):
        image = open_image(source.read_bytes(), name or source.name)
    else:
        image = open_image(source, name or "data")
    header = read_header(image)
    if header.kind not in KINDS:
        raise image.fault(f"type {header.kind} is neither an object, a library nor a program")
    segments = read_segments(image, header)
    sections = read_sections(image, header)
    dynamic = read_dynamic(image, segments, sections)
    machine = MACHINES.get(header.machine, f"EM_{header.machine}")
    return ElfFacts(
        machine=machine,
        bits=image.bits,
        little_endian=image.order == "<",
        kind=KINDS[header.kind],
        float_abi=FLOAT_ABIS[header.flags >> 1 & 3] if machine == "EM_RISCV" else None,
        isa=read_isa(image, sections) if machine == "EM_RISCV" else None,
        interpreter=_read_interpreter(image, segments),
        soname=dynamic.soname,
        needed=dynamic.needed,
        rpath=dynamic.rpath,
        runpath=dynamic.runpath,
        loads=_read_loads(segments),
        required_versions=dynamic.required_versions,
        undefined=dynamic.undefined,
        defined=dynamic.defined,
        has_debug=_has_debug(sections),
        build_id=_read_build_id(image, segments),
    )


def _has_debug(sections: tuple[Section, ...]) -> bool:
    return any(section.name in {".debug_info", ".zdebug_info"} for section in sections)


def _read_loads(segments: tuple[Segment, ...]) -> tuple[Load, ...]:
    return tuple(
        Load(each.offset, each.address, each.file_size, each.memory_size, each.alignment)
        for each in segments
        if each.kind == SEGMENT_LOAD
    )


def _read_interpreter(image: Image, segments: tuple[Segment, ...]) -> str | None:
    for segment in segments:
        if segment.kind == SEGMENT_INTERPRETER:
            return string_at(image.piece(segment.offset, segment.file_size, "loader's name"), 0)
    return None


def _read_build_id(image: Image, segments: tuple[Segment, ...]) -> str | None:
    for segment in segments:
        if segment.kind != SEGMENT_NOTE:
            continue
        position, end = segment.offset, segment.offset + segment.file_size
        while position + 12 <= end:
            name_size, size, kind = image.numbers("III", position, "notes")
            start = position + 12 + _padded(name_size)
            owner = image.piece(position + 12, name_size, "notes")
            if kind == NOTE_BUILD_ID and owner == b"GNU\0":
                return image.piece(start, size, "notes").hex()
            position = start + _padded(size)
    return None


def _padded(size: int) -> int:
    return (size + 3) // 4 * 4
