"""What an audit is asked and what it answers, as frozen values."""

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from rvbuild.elf import ElfFacts
from rvbuild.isa import IsaFacts
from rvbuild.target import ELF_MACHINE, Floor
from rvbuild.wheel import Wheel

Severity = Literal["error", "warning", "note"]
BITS = 64


@dataclass(frozen=True, slots=True)
class Policy:
    """What a wheel has to keep to.

    `libraries` are folders with the shared objects of the floor's sysroot; without them undefined
    symbols go unchecked. `allowed_libraries` are glob patterns of libraries that another wheel
    brings, `build_paths` folders that must not be named inside, `accept` codes of findings that
    are known and become notes. Without `instructions` the code itself is not read, which takes
    longest.
    """

    floor: Floor
    libraries: tuple[Path, ...] = ()
    allowed_libraries: tuple[str, ...] = ()
    build_paths: tuple[str, ...] = ()
    accept: tuple[str, ...] = ()
    instructions: bool = True


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing to know about a wheel; `member` is None when it is about the whole of it."""

    code: str
    severity: Severity
    member: str | None
    message: str
    hint: str | None = None

    @property
    def subject(self) -> str:
        """What the message is about, as its first words."""
        return f"`{self.member}`" if self.member else "the wheel"


@dataclass(frozen=True, slots=True)
class Binary:
    """One ELF file of a wheel; one inside a static archive is named `lib.a(object.o)`.

    `isa` is None where the instructions were not looked at: outside of the wheel, or of another
    machine.
    """

    member: str
    facts: ElfFacts
    isa: IsaFacts | None = None

    @property
    def native(self) -> bool:
        """True for code of the target: 64-bit little-endian RISC-V with doubles in registers."""
        facts = self.facts
        return (
            (facts.machine, facts.bits, facts.little_endian) == (ELF_MACHINE, BITS, True)
        ) and facts.float_abi == "double"

    @property
    def loadable(self) -> bool:
        """True for native libraries and programs, False for objects to be linked."""
        return self.native and self.facts.kind != "rel"


@dataclass(frozen=True, slots=True)
class AuditReport:
    """What was found in one wheel, held against `floor`; errors first."""

    wheel: Wheel
    floor: Floor
    binaries: tuple[Binary, ...]
    findings: tuple[Finding, ...]

    @property
    def errors(self) -> tuple[Finding, ...]:
        """The findings that make the wheel unfit."""
        return tuple(finding for finding in self.findings if finding.severity == "error")

    @property
    def ok(self) -> bool:
        """True when there are no errors."""
        return not self.errors
