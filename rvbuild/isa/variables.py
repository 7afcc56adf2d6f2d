"""Which variables a function writes: where it keeps what the processor answered."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from rvbuild.isa.calls import ADD_IMMEDIATE, AUIPC, JAL, JALR, LOAD, OPCODE, signed
from rvbuild.isa.encodings import length
from rvbuild.isa.flow import word_at
from rvbuild.isa.halves import LONG
from rvbuild.isa.model import Function, Region

STORE, ADD = 0x23, 0x33
ADD_FORM, ADD_MASK = 0x00000033, 0xFE00707F
DOUBLE_WORD = 3
SHORT_FORM = 0xE003
SHORT_LOAD, SHORT_WORD_STORE, SHORT_STORE = 0x6000, 0xC000, 0xE000
# `c.mv` and `c.add`, and whether the latter is meant.
SHORT_REGISTERS, SHORT_REGISTERS_MASK, SHORT_ADD = 0x8002, 0xE003, 0x1000
# What a call leaves alone: the stack pointer and s0 to s11.
KEPT = frozenset({2, 3, 4, 8, 9, *range(18, 28)})


@dataclass(slots=True)
class _State:
    """While reading on in the order of addresses: which register has the address of what."""

    filled: Mapping[int, int]
    registers: dict[int, int] = field(default_factory=dict)

    def set(self, register: int, value: int | None) -> None:
        """Note what a register has; None for something else."""
        if value is None:
            self.registers.pop(register, None)
        elif register:
            self.registers[register] = value

    def at(self, register: int, distance: int = 0) -> int | None:
        """Give an address that a register has, and some bytes."""
        value = self.registers.get(register)
        return None if value is None else value + distance

    def loaded(self, register: int, distance: int) -> int | None:
        """Give the address that the loader put where a register points to."""
        place = self.at(register, distance)
        return None if place is None else self.filled.get(place)


def written(function: Function, region: Region, filled: Mapping[int, int]) -> Iterator[int]:
    """List the addresses that a function stores at, as far as they are put together in it.

    `filled` are the places that the loader fills with an address. An element of an array counts as
    its beginning.
    """
    state = _State(filled)
    address = function.start
    while address < function.end:
        word = word_at(region, address)
        stored = (
            _follow_short(word, state)
            if word & LONG != LONG
            else _follow_long(word, address, state)
        )
        if stored is not None:
            yield stored
        address += 2 * length(word & 0xFFFF)


def _follow_long(word: int, address: int, state: _State) -> int | None:
    opcode, target, source = word & OPCODE, word >> 7 & 31, word >> 15 & 31
    if opcode == STORE:
        return state.at(source, signed(word >> 25 << 5 | target, 12))
    if opcode in (JAL, JALR):
        if target:
            for register in set(state.registers) - KEPT:
                state.set(register, None)
        return None
    if opcode == AUIPC:
        state.set(target, address + signed(word & 0xFFFFF000, 32))
    else:
        state.set(target, _result(word, state))
    return None


def _result(word: int, state: _State) -> int | None:
    opcode, source = word & OPCODE, word >> 15 & 31
    kind = word >> 12 & 7
    if opcode == ADD_IMMEDIATE and kind == 0:
        return state.at(source, signed(word >> 20, 12))
    if opcode == LOAD and kind == DOUBLE_WORD:
        return state.loaded(source, signed(word >> 20, 12))
    if word & ADD_MASK == ADD_FORM:
        first = state.at(source)
        return state.at(word >> 20 & 31) if first is None else first
    return None


def _follow_short(half: int, state: _State) -> int | None:
    form, base, low = half & SHORT_FORM, 8 + (half >> 7 & 7), 8 + (half >> 2 & 7)
    double = (half >> 10 & 7) << 3 | (half >> 5 & 3) << 6
    if form == SHORT_STORE:
        return state.at(base, double)
    if form == SHORT_WORD_STORE:
        return state.at(base, (half >> 10 & 7) << 3 | (half >> 6 & 1) << 2 | (half >> 5 & 1) << 6)
    if form == SHORT_LOAD:
        state.set(low, state.loaded(base, double))
    elif half & SHORT_REGISTERS_MASK == SHORT_REGISTERS and half >> 2 & 31:
        target, source = half >> 7 & 31, state.at(half >> 2 & 31)
        keeps = half & SHORT_ADD and source is None
        state.set(target, state.at(target) if keeps else source)
    else:
        state.set(half >> 7 & 31, None)
    return None
