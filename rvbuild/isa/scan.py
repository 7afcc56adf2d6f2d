"""Finding the instructions beyond rv64gc in a run of bytes."""

from array import array
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from rvbuild.isa.encodings import Encodings
from rvbuild.isa.halves import LONG, agreeing, cut, places
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


def find_hits(region: Region, table: Encodings, data: Sequence[Span] = ()) -> Hits:
    """Find the instructions of a region that rv64gc does not have, passing over known data."""
    hits = empty_hits()
    position = region.address
    for start, end in (*data, (region.end, region.end)):
        if position < start <= region.end:
            part = region.data[position - region.address : start - region.address]
            _find(part, position, table, hits)
        position = max(position, end)
    return hits


def _find(code: bytes, address: int, table: Encodings, hits: Hits) -> None:
    # The same few forms come again and again, and looking one up takes longer than finding one.
    forms: dict[int, str | None] = {}
    for position in _places(code, table):
        form = word = int.from_bytes(code[position : position + 4], "little")
        if word & LONG != LONG:
            form = word = word & 0xFFFF
        elif word & VECTOR_OPCODES != OP_V:
            form = word & FORM
        if form not in forms:
            forms[form] = table.extension(form)
        extension = forms[form]
        if extension is not None:
            hits.addresses.append(address + position)
            hits.words.append(word)
            hits.extensions.append(extension)


def _places(code: bytes, table: Encodings) -> Iterator[int]:
    """List in order where something begins that may be in the table."""
    halves = cut(code)
    # The fourth byte is the high one of the half that follows.
    columns = (halves.low, halves.high, halves.high[1:] + b"\0")
    bits = agreeing(zip(columns, table.long, strict=True), halves.count)
    bits |= agreeing(zip(columns[:2], table.short, strict=True), halves.count)
    return (2 * place for place in places(bits & halves.beginning))
