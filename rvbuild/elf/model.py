"""The facts about one ELF file, as frozen values."""

from dataclasses import dataclass
from typing import Literal

FloatAbi = Literal["soft", "single", "double", "quad"]
Kind = Literal["rel", "exec", "dyn"]


@dataclass(frozen=True, slots=True)
class Load:
    """One segment that is mapped into memory; offsets, addresses and sizes in bytes."""

    offset: int
    address: int
    file_size: int
    memory_size: int
    alignment: int

    @property
    def congruent(self) -> bool:
        """True when offset and address agree modulo the alignment, as mapping a file needs."""
        if self.alignment <= 1:
            return True
        return self.offset % self.alignment == self.address % self.alignment


@dataclass(frozen=True, slots=True)
class RequiredVersion:
    """A version wanted of a library, such as `GLIBC_2.31` of `libc.so.6`, and by which symbols."""

    library: str
    version: str
    symbols: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class UndefinedSymbol:
    """A symbol that something else has to provide; `version` is None when any will do."""

    name: str
    version: str | None
    weak: bool


@dataclass(frozen=True, slots=True)
class ElfFacts:
    """What one ELF file says of itself.

    `machine` is like `EM_RISCV`; `float_abi` and `isa` are None where the machine is not RISC-V or
    the file does not say. `rpath` and `runpath` are split at colons; an empty entry is kept.
    """

    machine: str
    bits: int
    little_endian: bool
    kind: Kind
    float_abi: FloatAbi | None
    isa: str | None
    interpreter: str | None
    soname: str | None
    needed: tuple[str, ...]
    rpath: tuple[str, ...]
    runpath: tuple[str, ...]
    loads: tuple[Load, ...]
    required_versions: tuple[RequiredVersion, ...]
    undefined: tuple[UndefinedSymbol, ...]
    defined: frozenset[str]
    has_debug: bool
    build_id: str | None
