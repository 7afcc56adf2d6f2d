"""Where functions start and end, as the tables for unwinding have it; they survive stripping."""

import struct
from collections.abc import Iterator

from rvbuild.isa.image import Image

SEGMENT_UNWIND = 0x6474E550
# The one encoding that linkers write: 4-byte numbers, relative to the table.
HEAD = b"\x01\x1b\x03\x3b"
HEAD_SIZE = 12
# Length, distance to what is common to several, start and size: with 4-byte numbers throughout.
ENTRY = struct.Struct("<IIiI")
ROW = struct.Struct("<ii")


def unwound(image: Image) -> Iterator[tuple[int, int]]:
    """List start and end of the functions that the binary search table for unwinding knows.

    The end is the start where the entry itself does not say it in the usual way.
    """
    segment = next((each for each in image.segments if each.kind == SEGMENT_UNWIND), None)
    if segment is None or segment.size < HEAD_SIZE:
        return
    table = image.piece(segment.offset, segment.size, "unwind table")
    if table[:4] != HEAD:
        return
    count = int.from_bytes(table[8:HEAD_SIZE], "little")
    rows = table[HEAD_SIZE : HEAD_SIZE + (len(table) - HEAD_SIZE) // ROW.size * ROW.size]
    # Both tables lie in one segment, so that one distance says where the entries are in the file.
    shift = segment.offset - segment.address
    data, last = image.data, len(image.data) - ENTRY.size
    for distance, where in ROW.iter_unpack(rows[: ROW.size * count]):
        start, place = segment.address + distance, segment.address + where
        size = 0
        if 0 <= place + shift <= last:
            _, _, begins, length = ENTRY.unpack_from(data, place + shift)
            size = length if place + 8 + begins == start else 0
        yield start, start + size
