"""The small files of `tests/data/isa`, and ELF files made around a few instructions."""

import struct
from pathlib import Path

from rvbuild.isa import IsaFacts, read_isa_facts

DATA = Path(__file__).parent / "data" / "isa"
BASE = 0x10000
HEADER = "<16sHHIQQQIHHHHHH"
SEGMENT = "<IIQQQQQQ"
IDENTIFICATION = b"\x7fELF\x02\x01\x01" + bytes(9)
READ_EXECUTE = 5


def sample(name: str) -> bytes:
    """Read one of the committed files."""
    return (DATA / name).read_bytes()


def facts_of(name: str) -> IsaFacts:
    """Read what one of the committed files has."""
    return read_isa_facts(sample(name), name)


def shared_object(code: bytes) -> bytes:
    """Make a library of one executable segment, with neither sections nor symbols."""
    start = struct.calcsize(HEADER) + struct.calcsize(SEGMENT)
    header = struct.pack(HEADER, IDENTIFICATION, 3, 243, 1, 0, 64, 0, 5, 64, 56, 1, 0, 0, 0)
    size = start + len(code)
    segment = struct.pack(SEGMENT, 1, READ_EXECUTE, 0, BASE, 0, size, size, 0x1000)
    return header + segment + code


def relocatable(code: bytes) -> bytes:
    """Make an object file with one code section."""
    names = b"\0.text\0.names\0"
    start = struct.calcsize(HEADER)
    table = start + len(code) + len(names)
    header = struct.pack(HEADER, IDENTIFICATION, 1, 243, 1, 0, 0, table, 5, 64, 0, 0, 64, 3, 2)
    rows = [
        (0, 0, 0, 0, 0, 0, 0, 0, 0, 0),
        (1, 1, 6, 0, start, len(code), 0, 0, 2, 0),
        (7, 3, 0, 0, start + len(code), len(names), 0, 0, 1, 0),
    ]
    return header + code + names + b"".join(struct.pack("<IIQQQQIIQQ", *row) for row in rows)


def words(*values: int) -> bytes:
    """Lay out instructions of 32 bits."""
    return struct.pack(f"<{len(values)}I", *values)
