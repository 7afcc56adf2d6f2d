"""Finding the machine code in a wheel: every ELF file, whatever its name, also inside archives."""

import re
from collections.abc import Iterator

from rvbuild.audit.model import Binary, Finding, Policy
from rvbuild.elf import is_archive, is_elf, read_archive, read_elf
from rvbuild.errors import AuditError
from rvbuild.isa import read_isa_facts
from rvbuild.wheel import Wheel, open_archive, read_member

SHARED_OBJECT = re.compile(r"\.so(\.\d+)*$")
OTHER_CODE = re.compile(r"\.(o|a|dylib|dll|pyd)$")


def read_binaries(wheel: Wheel, policy: Policy) -> tuple[tuple[Binary, ...], tuple[Finding, ...]]:
    """Read every ELF file of a wheel, and find what looks like one and is not readable."""
    binaries: list[Binary] = []
    findings: list[Finding] = []
    with open_archive(wheel.path) as archive:
        for member in wheel.members:
            data = read_member(archive, member.name, wheel.file_name)
            try:
                found = tuple(_binaries_of(member.name, data, policy))
            except AuditError as error:
                findings.append(Finding("unreadable-elf", "error", member.name, error.message))
                continue
            binaries += found
            findings += _check_bytes(member.name, data, policy, code=bool(found))
    return tuple(binaries), tuple(findings)


def _binaries_of(name: str, data: bytes, policy: Policy) -> Iterator[Binary]:
    if is_elf(data):
        yield _binary(name, data, policy)
    elif is_archive(data):
        for label, content in read_archive(data, name):
            if is_elf(content):
                yield _binary(f"{name}({label})", content, policy)


def _binary(name: str, data: bytes, policy: Policy) -> Binary:
    binary = Binary(name, read_elf(data, name))
    if not binary.native or not policy.instructions:
        return binary
    return Binary(name, binary.facts, read_isa_facts(data, name, binary.facts.isa))


def _check_bytes(name: str, data: bytes, policy: Policy, *, code: bool) -> Iterator[Finding]:
    for path in policy.build_paths:
        if path.encode() in data:
            message = f"has the path `{path}` of the build machine inside"
            hint = "build with `-ffile-prefix-map` and without debug information"
            yield Finding("build-path", "warning", name, message, hint if code else None)
    if code:
        return
    if SHARED_OBJECT.search(name):
        yield Finding("not-elf", "error", name, "is named like a shared library and is not ELF")
    elif OTHER_CODE.search(name) and not is_archive(data):
        message = "is named like machine code and is not ELF"
        yield Finding("not-elf", "warning", name, message)
