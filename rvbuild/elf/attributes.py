"""The `.riscv.attributes` section: which instruction set a file says it was compiled for."""

from typing import Literal

from rvbuild.elf.image import Image, Section

Order = Literal["little", "big"]
VENDOR = b"riscv"
TAG_ARCH = 5
TAG_FILE = 1
# A length counts its own four bytes.
LENGTH_SIZE = 4
CONTINUED = 0x80
LONGEST_SHIFT = 63


def read_isa(image: Image, sections: tuple[Section, ...]) -> str | None:
    """Read the arch string, such as `rv64i2p1_m2p0`; None when the file does not say."""
    section = next((each for each in sections if each.name == ".riscv.attributes"), None)
    if section is None:
        return None
    data = image.piece(section.offset, section.size, "attribute section")
    try:
        return _find_arch(data, "little" if image.order == "<" else "big")
    except IndexError as error:
        raise image.fault("its attribute section is cut short") from error


def _find_arch(data: bytes, order: Order) -> str | None:
    """Walk vendor blocks, then file blocks, then attributes; raise `IndexError` past the end."""
    for vendor_block in _blocks(data[1:], order):
        vendor, _, rest = vendor_block.partition(b"\0")
        if vendor != VENDOR:
            continue
        position = 0
        while position < len(rest):
            scope, length_at = _uleb(rest, position)
            length = _length(rest, length_at, order)
            if length < length_at + LENGTH_SIZE - position or position + length > len(rest):
                raise IndexError
            if scope == TAG_FILE:
                return _arch_of(rest[length_at + LENGTH_SIZE : position + length])
            position += length
    return None


def _blocks(data: bytes, order: Order) -> list[bytes]:
    blocks, position = [], 0
    while position < len(data):
        length = _length(data, position, order)
        if length < LENGTH_SIZE or position + length > len(data):
            raise IndexError
        blocks.append(data[position + LENGTH_SIZE : position + length])
        position += length
    return blocks


def _arch_of(data: bytes) -> str | None:
    position = 0
    while position < len(data):
        tag, position = _uleb(data, position)
        if tag % 2 == 0:
            _, position = _uleb(data, position)
            continue
        end = data.find(b"\0", position)
        if end < 0:
            raise IndexError
        if tag == TAG_ARCH:
            return data[position:end].decode("ascii", "backslashreplace")
        position = end + 1
    return None


def _length(data: bytes, position: int, order: Order) -> int:
    if position + LENGTH_SIZE > len(data):
        raise IndexError
    return int.from_bytes(data[position : position + LENGTH_SIZE], order)


def _uleb(data: bytes, position: int) -> tuple[int, int]:
    """Read a variable-length number; give it and the position behind it."""
    value, shift = 0, 0
    while True:
        byte = data[position]
        position += 1
        value |= (byte & ~CONTINUED) << shift
        if byte & CONTINUED == 0:
            return value, position
        shift += 7
        if shift > LONGEST_SHIFT:
            raise IndexError
