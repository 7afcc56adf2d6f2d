"""Whether one ELF file is code that the target loads: machine, ABI, loader, mapping."""

import re
from collections.abc import Iterator

from rvbuild.audit.model import Binary, Finding
from rvbuild.target import DYNAMIC_LOADER, MACHINE

# rv64gc, spelled out with the parts that newer compilers list beside it.
BASELINE_EXTENSIONS = frozenset("imafdcg") | {
    "zicsr",
    "zifencei",
    "zmmul",
    "zaamo",
    "zalrsc",
    "zca",
    "zcd",
}
EXTENSION = re.compile(r"(?P<name>[a-z](?:[a-z0-9]*[a-z])?)\d+p\d+$")


def check_identity(binary: Binary) -> Iterator[Finding]:
    """Find what keeps a file from being loaded on the target at all."""
    if not binary.native:
        yield _foreign(binary)
        return
    facts = binary.facts
    if facts.interpreter not in {None, DYNAMIC_LOADER}:
        message = (
            f"asks for the loader `{facts.interpreter}`, and the target has `{DYNAMIC_LOADER}`"
        )
        yield Finding("wrong-loader", "error", binary.member, message)
    for load in facts.loads:
        if not load.congruent:
            message = (
                f"has a LOAD segment at offset {load.offset:#x} and address {load.address:#x} that "
                f"do not agree modulo {load.alignment:#x}: glibc before 2.35 refuses it"
            )
            hint = "strip before patching, and do not use patchelf 0.18"
            yield Finding("misaligned-load", "error", binary.member, message, hint)
    if facts.kind == "rel" and "(" not in binary.member:
        message = "is an object file left over from a build"
        yield Finding("stray-object", "warning", binary.member, message)


def extensions_beyond_baseline(isa: str | None) -> tuple[str, ...]:
    """List the extensions of an arch string such as `rv64i2p1_v1p0` that rv64gc does not have."""
    matches = (EXTENSION.search(part) for part in (isa or "").removeprefix("rv64").split("_"))
    names = (match["name"] for match in matches if match)
    return tuple(name for name in names if name not in BASELINE_EXTENSIONS)


def _foreign(binary: Binary) -> Finding:
    facts = binary.facts
    if (facts.machine, facts.bits) == ("EM_RISCV", 64) and facts.little_endian:
        message = f"is of the {facts.float_abi} float ABI, and {MACHINE} Linux is of `lp64d`"
        return Finding(
            "wrong-float-abi", "error", binary.member, message, "compile with `-mabi=lp64d`"
        )
    order = "little" if facts.little_endian else "big"
    machine = facts.machine.removeprefix("EM_").lower()
    message = f"is {facts.bits}-bit {order}-endian {machine} code, not {MACHINE}"
    hint = "it was compiled or linked by a tool of another machine"
    return Finding("wrong-machine", "error", binary.member, message, hint)
