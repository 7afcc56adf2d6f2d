"""Whether the tags of a wheel are ones that exist, and agree with what is inside."""

import re
from collections.abc import Iterator

from rvbuild.audit.model import Binary, Finding, Policy
from rvbuild.target import MACHINE, OLDEST_FLOOR, TRIPLE, Floor
from rvbuild.wheel import Wheel, extension_problem

MANYLINUX = re.compile(rf"manylinux_(\d+)_(\d+)_{MACHINE}")
UNREPAIRED = f"linux_{MACHINE}"


def tag_floors(wheel: Wheel) -> tuple[Floor, ...]:
    """Read the glibc floors that a wheel is tagged for and that exist, the oldest first."""
    floors = (_floor_of(platform) for platform in wheel.platforms)
    return tuple(sorted(floor for floor in floors if floor is not None))


def _floor_of(platform: str) -> Floor | None:
    match = MANYLINUX.fullmatch(platform)
    if match is None or (int(match[1]), int(match[2])) < OLDEST_FLOOR:
        return None
    return Floor(int(match[1]), int(match[2]))


def check_tags(wheel: Wheel, binaries: tuple[Binary, ...], policy: Policy) -> Iterator[Finding]:
    """Find tags that do not exist, lie about the contents, or ask for more than the floor."""
    for platform in wheel.platforms:
        yield from _check_platform(platform, policy)
    yield from _check_agreement(wheel, binaries)
    for binary in binaries:
        problem = extension_problem(binary.member, wheel.tags, TRIPLE)
        if problem and binary.facts.kind == "dyn":
            hint = "take EXT_SUFFIX from the target's sysconfig data, not the build machine's"
            yield Finding("extension-suffix", "error", binary.member, problem, hint)
    floors = tag_floors(wheel)
    if floors and floors[0] > policy.floor:
        message = f"is tagged `{floors[0].tag}`, above the floor {policy.floor}"
        yield Finding("tag-above-floor", "error", None, message)


def _check_platform(platform: str, policy: Policy) -> Iterator[Finding]:
    if platform == "any" or _floor_of(platform) is not None:
        return
    hint = f"repair it to `{policy.floor.tag}`"
    if platform == UNREPAIRED:
        message = f"is tagged `{platform}`, which promises nothing: it was not repaired"
        yield Finding("not-repaired", "error", None, message, hint)
    elif platform.endswith(f"_{MACHINE}"):
        message = f"is tagged `{platform}`, which no manylinux policy for {MACHINE} defines"
        yield Finding("undefined-tag", "error", None, message, hint)
    else:
        message = f"is tagged `{platform}`, which is not {MACHINE}"
        hint = "build with the platform of the target's sysconfig data, `linux-riscv64`"
        yield Finding("wrong-platform", "error", None, message, hint)


def _check_agreement(wheel: Wheel, binaries: tuple[Binary, ...]) -> Iterator[Finding]:
    if wheel.inner_tags != wheel.tags:
        inner = ", ".join(sorted(map(str, wheel.inner_tags))) or "none"
        message = f"has other tags in its WHEEL file than in its name: {inner}"
        yield Finding("tag-mismatch", "error", f"{wheel.info_folder}/WHEEL", message)
    if not binaries:
        if wheel.platforms != ("any",):
            message = "has a platform tag and nothing compiled inside"
            hint = "tag it `py3-none-any`, so that every machine can install it"
            yield Finding("no-elf", "error", None, message, hint)
        return
    if "any" in wheel.platforms:
        message = f"is tagged for any machine, and contains `{binaries[0].member}`"
        hint = "declare an extension module in the build, so that it makes a platform wheel"
        yield Finding("elf-in-any", "error", None, message, hint)
    for binary in binaries:
        if wheel.is_pure_path(binary.member):
            message = "is machine code among pure Python modules"
            hint = "it has to be in platlib: `Root-Is-Purelib: false`, not below `purelib`"
            yield Finding("elf-in-purelib", "error", binary.member, message, hint)
