"""The table of instructions beyond rv64gc: its data file, and looking an instruction up in it."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from importlib import resources

import yaml

HALF_VALUES = 1 << 16
LONG = 3
LONGER = 0x1C
SIX_BYTES_MASK, SIX_BYTES = 0x3F, 0x1F
EIGHT_BYTES_MASK, EIGHT_BYTES = 0x7F, 0x3F
OPCODE_AND_WIDTH = 0x707F
INTERESTING = 8
STEP = 7

Group = tuple[int, Mapping[int, str]]


@dataclass(frozen=True, slots=True)
class Encodings:
    """The table, made ready for use.

    `steps` says for each first half how many halves an instruction has, with `INTERESTING` added
    where a row may match; `groups` has rows of equal mask, by opcode and width bits.
    """

    steps: bytes
    groups: Mapping[int, tuple[Group, ...]]
    short_groups: tuple[Group, ...]

    def extension(self, word: int) -> str | None:
        """Name the extension of a 16 or 32-bit instruction; None for one of rv64gc."""
        groups = self.short_groups if word & LONG != LONG else self.groups.get(_bucket(word), ())
        for mask, matches in groups:
            found = matches.get(word & mask)
            if found is not None:
                return found
        return None


@cache
def encodings() -> Encodings:
    """Read the table."""
    text = resources.files("rvbuild").joinpath("data/isa/encodings.yaml").read_text("utf-8")
    rows = [
        (mask, match, extension)
        for extension, pairs in yaml.safe_load(text).items()
        for mask, match in pairs
    ]
    buckets: dict[int, list[tuple[int, int, str]]] = {}
    short = []
    for mask, match, extension in rows:
        if match & LONG != LONG:
            short.append((mask, match, extension))
            continue
        # A mask without the width bits is in the bucket of each width.
        for bucket in _values(mask & OPCODE_AND_WIDTH, match, OPCODE_AND_WIDTH):
            buckets.setdefault(bucket, []).append((mask, match, extension))
    groups = {bucket: _grouped(members) for bucket, members in buckets.items()}
    return Encodings(_steps(rows), groups, _grouped(short))


def length(half: int) -> int:
    """Say how many halves the instruction has that begins with `half`: one to four."""
    if half & LONG != LONG:
        return 1
    if half & LONGER != LONGER:
        return 2
    if half & SIX_BYTES_MASK == SIX_BYTES:
        return 3
    return 4 if half & EIGHT_BYTES_MASK == EIGHT_BYTES else 1


def _bucket(word: int) -> int:
    return word & OPCODE_AND_WIDTH


def _grouped(rows: list[tuple[int, int, str]]) -> tuple[Group, ...]:
    groups: dict[int, dict[int, str]] = {}
    for mask, match, extension in rows:
        groups.setdefault(mask, {})[match] = extension
    return tuple(sorted(groups.items(), key=lambda group: -group[0].bit_count()))


def _steps(rows: list[tuple[int, int, str]]) -> bytes:
    steps = bytearray(map(length, range(HALF_VALUES)))
    for mask, match, _ in rows:
        for half in _values(mask & 0xFFFF, match & 0xFFFF, 0xFFFF):
            steps[half] |= INTERESTING
    return bytes(steps)


def _values(mask: int, match: int, bits: int) -> Iterator[int]:
    """List every value within `bits` that agrees with `match` where `mask` is set."""
    free = bits & ~mask
    value = free
    while True:
        yield match & mask & bits | value
        if value == 0:
            return
        value = (value - 1) & free
