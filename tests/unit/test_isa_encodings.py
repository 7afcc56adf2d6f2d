"""The table of instructions: agrees with LLVM's disassembler, in both directions."""

import random
import re
import struct
import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest

from rvbuild.isa.encodings import encodings, length
from rvbuild.isa.halves import cut, places
from rvbuild.isa.model import Region
from rvbuild.isa.scan import find_hits
from tests.isa_samples import relocatable

BASELINE = "+m,+a,+f,+d,+c,+zicsr,+zifencei"
BEYOND = "+v,+zba,+zbb,+zbc,+zbs"
OPCODES = (0x13, 0x1B, 0x33, 0x3B, 0x07, 0x27, 0x2F, 0x43, 0x47, 0x4B, 0x4F, 0x53, 0x57, 0x0F)
NOP = b"\x13\0\0\0"
LINE = re.compile(r"^\s*([0-9a-f]+):[0-9a-f ]+\t(\S+)", re.MULTILINE)


def disassemble(code: bytes, features: str, folder: Path) -> dict[int, str]:
    """Give the mnemonic at each offset, as LLVM has it."""
    path = folder / "code.o"
    path.write_bytes(relocatable(code))
    command = ["llvm-objdump", "-d", "--triple=riscv64", f"--mattr={features}", str(path)]
    text = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    return {int(offset, 16): name for offset, name in LINE.findall(text)}


def known(code: Sequence[int], features: str, folder: Path) -> list[bool]:
    """Say of each word whether LLVM knows it as an instruction."""
    names = disassemble(struct.pack(f"<{len(code)}I", *code), features, folder)
    return ["unknown" not in names.get(4 * number, "unknown") for number in range(len(code))]


@pytest.fixture(scope="module")
def random_words() -> list[int]:
    source = random.Random(4)  # noqa: S311 - samples, not secrets
    return [source.getrandbits(25) << 7 | source.choice(OPCODES) for _ in range(24_000)]


@pytest.mark.needs("llvm-objdump")
def test_takes_nothing_of_the_baseline(random_words: list[int], tmp_path: Path) -> None:
    table = encodings()
    baseline = known(random_words, BASELINE, tmp_path)
    assert sum(baseline) > 1000
    taken = [
        f"{word:#010x} {table.extension(word)}"
        for word, in_baseline in zip(random_words, baseline, strict=True)
        if in_baseline and table.extension(word) is not None
    ]
    assert taken == []


@pytest.mark.needs("llvm-objdump")
def test_misses_nothing_that_llvm_knows_beyond(random_words: list[int], tmp_path: Path) -> None:
    table = encodings()
    beyond = known(random_words, f"{BASELINE},{BEYOND}", tmp_path)
    baseline = known(random_words, BASELINE, tmp_path)
    wanted = [
        word
        for word, with_all, without in zip(random_words, beyond, baseline, strict=True)
        if with_all and not without
    ]
    assert len(wanted) > 1000
    assert [f"{word:#010x}" for word in wanted if table.extension(word) is None] == []


@pytest.mark.needs("llvm-objdump")
def test_knows_the_short_instructions_of_the_baseline(tmp_path: Path) -> None:
    table = encodings()
    halves = [half for half in range(1 << 16) if length(half) == 1 and half & 3 != 3]
    names = disassemble(struct.pack(f"<{len(halves)}H", *halves), BASELINE, tmp_path)
    # Zcmop is made of `c.lui` by zero, which the baseline keeps back and older LLVM shows.
    taken = [
        f"{half:#06x} {names[2 * number]}"
        for number, half in enumerate(halves)
        if table.extension(half) not in (None, "zcmop") and "unknown" not in names[2 * number]
    ]
    assert taken == []


@pytest.mark.parametrize(
    ("word", "extension"),
    [
        (0x00000013, None),  # nop
        (0x00B50533, None),  # add a0, a0, a1
        (0x02B50533, None),  # mul a0, a0, a1
        (0x00052507, None),  # flw
        (0x02B57553, None),  # fadd.d
        (0x20A52533, "zba"),  # sh1add a0, a0, a0
        (0x60051513, "zbb"),  # clz a0, a0
        (0x0800453B, "zbb"),  # zext.h a0, zero
        (0x08B5453B, "zbkb"),  # packw
        (0x0AB51533, "zbc"),  # clmul
        (0x48051513, "zbs"),  # bclri
        (0x0EB55533, "zicond"),  # czero.eqz
        (0x00051507, "zfhmin"),  # flh
        (0x04B57553, "zfh"),  # fadd.h
        (0xF0118553, "zfa"),  # fli.s
        (0x0C0372D7, "v"),  # vsetvli
        (0xC2202573, "v"),  # csrr a0, vlenb
        (0xC0002573, None),  # csrr a0, cycle
        (0x0100000F, None),  # pause, a hint
        (0x48042057, "zvkb"),  # vbrev8.v
        (0xA6202077, "zvkned"),  # vaesdm.vs
        (0xB6862077, "zvknhb"),  # vsha2ms.vv
        (0x0000000B, "xvendor"),
        (0x9C41, "zcb"),  # c.mul
        (0x8000, "zcb"),  # c.lbu
        (0x6081, "zcmop"),
        (0x4501, None),  # c.li a0, 0
        (0x0001, None),  # c.nop
    ],
)
def test_names_the_extension(word: int, extension: str | None) -> None:
    table = encodings()
    assert table.extension(word) == extension
    # What is named must be found, or it would never be looked up.
    code = NOP + word.to_bytes(4 if word & 3 == 3 else 2, "little") + NOP
    found = find_hits(Region(0x1000, code, trusted=True), table)
    assert list(zip(found.addresses, found.words, found.extensions, strict=True)) == (
        [(0x1004, word, extension)] if extension is not None else []
    )


def test_every_row_of_the_table_is_found() -> None:
    table = encodings()
    rows = [
        (match | ~mask & source, mask | 0xFFFF0000 if match & 3 != 3 else mask)
        for groups in (*table.groups.values(), table.short_groups)
        for mask, matches in groups
        for match in matches
        for source in (0, 0xFFFFFFFF, 0x5A5A5A5A)
    ]
    for word, mask in rows:
        size = 4 if word & 3 == 3 else 2
        code = (word & (0xFFFFFFFF if size == 4 else 0xFFFF)).to_bytes(size, "little") + NOP
        found = find_hits(Region(0, code, trusted=True), table)
        assert list(found.addresses)[:1] == [0], (hex(word), hex(mask))


def test_lengths() -> None:
    assert [length(half) for half in (0x0001, 0x0013, 0x001F, 0x003F, 0x007F)] == [1, 2, 3, 4, 1]


def test_instructions_begin_where_walking_comes_by() -> None:
    source = random.Random(7)  # noqa: S311 - samples, not secrets
    for _ in range(50):
        halves: list[int] = []
        starts = []
        while len(halves) < 300:
            starts.append(len(halves))
            half = source.getrandbits(16)
            if half & 3 == 3:
                halves += [half & ~0x1C, source.getrandbits(16) | 3 * source.getrandbits(1)]
            else:
                halves.append(half)
        code = struct.pack(f"<{len(halves)}H", *halves)
        assert list(places(cut(code).beginning)) == starts


def test_forms_of_scalar_instructions_are_told_apart_by_the_bits_that_are_remembered() -> None:
    # The scan remembers an answer by these bits; a scalar row that looks at more would be wrong.
    for bucket, groups in encodings().groups.items():
        for mask, matches in groups:
            vector = bucket & 0x5F == 0x57
            assert vector or mask & ~0xFFF0707F == 0, [hex(match) for match in matches]
