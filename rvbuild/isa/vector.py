"""Reading vector code more closely: its version, and whether it is tied to one vector length."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from rvbuild.isa.model import VectorVersion

OP_V, LOAD, STORE = 0x57, 0x07, 0x27
CONFIGURE, FLOAT_VECTOR, FLOAT_SCALAR = 7, 1, 5
REGISTERS = 0x1F
AGNOSTIC = 0xC0
RESERVED_GROUP = 4
WIDEST = 7
CONVERSIONS = 0x12
MOVE_WHOLE = 0x27
HALF_WIDTH, DOUBLE_WIDTH = 1, 3
# The element width in powers of two of eight bits, by the width field of a load or store.
WIDTHS = {0: 0, 5: 1, 6: 2, 7: 3}


@dataclass(slots=True)
class _Grouping:
    """While reading on: element width and group size in powers of two, and where groups lie."""

    width: int = 0
    group: int | None = None
    members: dict[int, int] = field(default_factory=dict)
    split: int = 0


def vector_version(words: Sequence[int]) -> VectorVersion | None:
    """Tell RVV 1.0 from 0.7.1 by what only one of them has; None when the code could be either.

    Both share most encodings. Sources: the specification of either version, and of XTheadVector,
    https://github.com/XUANTIE-RV/thead-extension-spec.
    """
    configurations = list(_configurations(words))
    if any(_only_ratified(word) for word in words):
        return "1.0"
    if any(_only_draft(word) for word in words):
        return "0.7.1"
    accesses = [word for word in words if word & 0x7F in (LOAD, STORE)]
    # The draft's `vle.v` takes the element width from vtype and is encoded as today's `vle64.v`.
    draft_widths = accesses and all(word >> 12 & 7 == WIDEST for word in accesses)
    if (
        draft_widths
        and configurations
        and DOUBLE_WIDTH not in {each >> 3 & 7 for each in configurations}
    ):
        return "0.7.1"
    return None


def _only_ratified(word: int) -> bool:
    opcode, width = word & 0x7F, word >> 12 & 7
    if opcode == OP_V and width == CONFIGURE:
        if word >> 30 == 3:  # noqa: PLR2004 - vsetivli, which the draft lacks
            return True
        return word >> 31 == 0 and bool(word >> 20 & AGNOSTIC)
    whole_or_mask = opcode in (LOAD, STORE) and width == 0 and word >> 26 & 3 == 0
    return whole_or_mask and word >> 20 & REGISTERS in (8, 11)


def _only_draft(word: int) -> bool:
    opcode, width = word & 0x7F, word >> 12 & 7
    if opcode in (LOAD, STORE) and width in WIDTHS:
        # Loads that extend the sign; in 1.0 the bit is kept for elements beyond 64 bits.
        return word >> 28 & 1 == 1
    return (
        opcode == OP_V
        and width == CONFIGURE
        and word >> 31 == 0
        and (word >> 20 & 7 == RESERVED_GROUP)
    )


def _configurations(words: Sequence[int]) -> Iterator[int]:
    for word in words:
        value = configured(word)
        if value is not None:
            yield value


def configured(word: int) -> int | None:
    """Read the vtype that `vsetvli` or `vsetivli` sets; None for any other instruction."""
    if word & 0x7F != OP_V or word >> 12 & 7 != CONFIGURE:
        return None
    if word >> 31 == 0:
        return word >> 20 & 0x7FF
    return word >> 20 & 0x3FF if word >> 30 == 3 else None  # noqa: PLR2004 - vsetivli


def valid_configuration(word: int) -> bool:
    """Say whether the bits of a vtype that have no meaning are clear; True for anything else."""
    value = configured(word)
    return value is None or value >> 8 == 0


def count_half_floats(words: Sequence[int]) -> int:
    """Count arithmetic on 16-bit floats, which has V's encodings and needs Zvfh."""
    width, count = 0, 0
    for word in words:
        value = configured(word)
        if value is not None:
            width = value >> 3 & 7
        elif word & 0x7F == OP_V and word >> 12 & 7 in (FLOAT_VECTOR, FLOAT_SCALAR):
            count += width == HALF_WIDTH and word >> 26 != CONVERSIONS
    return count


def count_split_groups(words: Sequence[int]) -> int:
    """Count reads of single registers from the middle of a group that was loaded as one.

    Registers of a group divide at VLEN, so such code means other elements on another VLEN. The
    order of addresses stands for the order of execution.
    """
    state = _Grouping()
    for word in words:
        opcode = word & 0x7F
        if opcode == OP_V:
            _follow_arithmetic(word, state)
        elif opcode in (LOAD, STORE) and word >> 12 & 7 in WIDTHS:
            _follow_access(word, state)
    return state.split


def _follow_arithmetic(word: int, state: _Grouping) -> None:
    value = configured(word)
    if word >> 12 & 7 == CONFIGURE:
        state.group = None if value is None else _power(value & 7)
        state.width = 0 if value is None else value >> 3 & 7
        return
    kind = word >> 12 & 7
    if kind == 3 and word >> 26 == MOVE_WHOLE:  # noqa: PLR2004 - operands of vector and immediate
        _read(word >> 20 & REGISTERS, (word >> 15 & 7).bit_count(), state)
    elif state.group is not None:
        _read(word >> 20 & REGISTERS, state.group, state)
        if kind in (0, 1, 2):
            _read(word >> 15 & REGISTERS, state.group, state)
    _write(word >> 7 & REGISTERS, state.group or 0, state)


def _follow_access(word: int, state: _Grouping) -> None:
    fields, mode = word >> 29, word >> 26 & 3
    whole = mode == 0 and word >> 20 & REGISTERS in (8, 11)
    if state.group is None or fields or whole:
        if word & 0x7F == LOAD:
            _write(word >> 7 & REGISTERS, 3, state)
        return
    group = state.group if mode & 1 else state.group + WIDTHS[word >> 12 & 7] - state.width
    register = word >> 7 & REGISTERS
    if word & 0x7F == STORE:
        _read(register, group, state)
        return
    _write(register, group, state)
    for member in range(register + 1, register + (1 << max(group, 0))):
        state.members[member] = group


def _read(register: int, group: int, state: _Grouping) -> None:
    state.split += group < state.members.get(register, group)


def _write(register: int, group: int, state: _Grouping) -> None:
    for member in range(register, register + (1 << max(group, 0))):
        state.members.pop(member, None)


def _power(field_value: int) -> int:
    return field_value - 8 if field_value > RESERVED_GROUP else field_value
