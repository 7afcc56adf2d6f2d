"""The table of instructions beyond rv64gc: its data file, and looking an instruction up in it."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources
from math import prod

import yaml

from rvbuild.isa.halves import BYTE_VALUES, LONG

LONGER = 0x1C
SIX_BYTES_MASK, SIX_BYTES = 0x3F, 0x1F
EIGHT_BYTES_MASK, EIGHT_BYTES = 0x7F, 0x3F
OPCODE_AND_WIDTH = 0x707F
KINDS = 8

Group = tuple[int, Mapping[int, str]]
Row = tuple[int, int, str]
Form = tuple[frozenset[int], ...]


@dataclass(frozen=True, slots=True)
class Encodings:
    """The table, made ready for use.

    `long` says for values of the first, second and fourth byte of which kinds of 32-bit instruction
    they may be, `short` for those of both bytes of a 16-bit one; some others are of a kind too.
    `groups` has rows of equal mask, by opcode and width bits.
    """

    long: tuple[bytes, ...]
    short: tuple[bytes, ...]
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
    wide = [row for row in rows if row[1] & LONG == LONG]
    return Encodings(_kinds(wide, (0, 1, 3)), _kinds(short, (0, 1)), groups, _grouped(short))


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


def _kinds(rows: Iterable[Row], places: Sequence[int]) -> tuple[bytes, ...]:
    """Sort rows into eight kinds; give for each byte of some places the kinds it may be of."""
    kinds: dict[frozenset[int], Form] = {}
    for mask, match, _ in rows:
        form = tuple(_bytes(mask, match, place) for place in places)
        before = kinds.get(form[0])
        kinds[form[0]] = form if before is None else _merged(before, form)
    forms = list(kinds.values())
    while len(forms) > KINDS:
        _, one, other = min(
            (_size(_merged(a, b)) - _size(a) - _size(b), first, second)
            for first, a in enumerate(forms)
            for second, b in enumerate(forms[:first])
        )
        forms[other] = _merged(forms[other], forms.pop(one))
    return tuple(
        bytes(
            sum(1 << kind for kind, form in enumerate(forms) if value in form[column])
            for value in range(BYTE_VALUES)
        )
        for column in range(len(places))
    )


def _merged(one: Form, other: Form) -> Form:
    return tuple(left | right for left, right in zip(one, other, strict=True))


def _size(form: Form) -> int:
    return prod(map(len, form))


def _bytes(mask: int, match: int, place: int) -> frozenset[int]:
    """Give the values that one byte of a matching instruction can have."""
    wanted, bits = match >> 8 * place & 0xFF, mask >> 8 * place & 0xFF
    return frozenset(value for value in range(BYTE_VALUES) if value & bits == wanted)


def _values(mask: int, match: int, bits: int) -> Iterator[int]:
    """List every value within `bits` that agrees with `match` where `mask` is set."""
    free = bits & ~mask
    value = free
    while True:
        yield match & mask & bits | value
        if value == 0:
            return
        value = (value - 1) & free
