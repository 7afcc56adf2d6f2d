"""Finding instructions in a run of bytes, one after the other, as fast as plain Python can."""

import sys
from array import array
from bisect import bisect_left
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from rvbuild.isa.encodings import INTERESTING, LONG, STEP, Encodings
from rvbuild.isa.model import Region

Span = tuple[int, int]
# The bits that tell one scalar instruction from another, and what vector opcodes have in common.
FORM = 0xFFF0707F
VECTOR_OPCODES, OP_V = 0x5F, 0x57


@dataclass(slots=True)
class Hits:
    """Instructions beyond rv64gc, by address: where, the word, and which extension."""

    addresses: "array[int]"
    words: "array[int]"
    extensions: list[str]

    def between(self, start: int, end: int) -> "Hits":
        """Give those from `start` on and before `end`."""
        first, last = bisect_left(self.addresses, start), bisect_left(self.addresses, end)
        part = slice(first, last)
        return Hits(self.addresses[part], self.words[part], self.extensions[part])

    def only(self, numbers: Iterable[int]) -> "Hits":
        """Give those at some positions."""
        chosen = empty_hits()
        for number in numbers:
            chosen.addresses.append(self.addresses[number])
            chosen.words.append(self.words[number])
            chosen.extensions.append(self.extensions[number])
        return chosen

    def __len__(self) -> int:
        return len(self.addresses)


def empty_hits() -> Hits:
    """Make hits to be added to."""
    return Hits(array("Q"), array("I"), [])


def halves_of(data: bytes) -> "array[int]":
    """Cut bytes into little-endian halves; an odd byte at the end is left out."""
    halves = array("H", data[: len(data) - len(data) % 2])
    if sys.byteorder == "big":
        halves.byteswap()
    return halves


def sweep(halves: Sequence[int], steps: bytes) -> list[int]:
    """Walk from instruction to instruction; list the positions that `steps` marks."""
    found: list[int] = []
    note = found.append
    position, end = 0, len(halves)
    while position < end:
        step = steps[halves[position]]
        if step >= INTERESTING:
            note(position)
            step &= STEP
        position += step
    return found


def find_hits(region: Region, table: Encodings, data: Sequence[Span] = ()) -> Hits:
    """Find the instructions of a region that rv64gc does not have, passing over known data."""
    hits = empty_hits()
    position = region.address
    for start, end in (*data, (region.end, region.end)):
        if position < start <= region.end:
            part = region.data[position - region.address : start - region.address]
            _find(halves_of(part), position, table, hits)
        position = max(position, end)
    return hits


def _find(halves: "array[int]", address: int, table: Encodings, hits: Hits) -> None:
    last = len(halves) - 1
    # The same few forms come again and again, and looking one up takes longer than walking on.
    forms: dict[int, str | None] = {}
    for position in sweep(halves, table.steps):
        form = word = halves[position]
        if word & LONG == LONG:
            if position == last:
                break
            word |= halves[position + 1] << 16
            form = word if word & VECTOR_OPCODES == OP_V else word & FORM
        if form not in forms:
            forms[form] = table.extension(form)
        extension = forms[form]
        if extension is not None:
            hits.addresses.append(address + 2 * position)
            hits.words.append(word)
            hits.extensions.append(extension)
