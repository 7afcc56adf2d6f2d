"""Which platform tags may be published: those that were ever defined, and what an index takes."""

import re
from fnmatch import fnmatchcase

from rvbuild.publish.distribution import WheelName
from rvbuild.publish.indexes import IndexTarget
from rvbuild.target import MACHINE, OLDEST_FLOOR

_GLIBC = re.compile(r"manylinux_(\d+)_(\d+)_(\w+)")
_MUSL = re.compile(r"musllinux_\d+_\d+_\w+")
_LEGACY = re.compile(
    r"manylinux(1|2010)_(x86_64|i686)"
    r"|manylinux2014_(x86_64|i686|aarch64|armv7l|ppc64|ppc64le|s390x)"
)
_ELSEWHERE = re.compile(r"win32|win_\w+|(macosx|ios|android|pyodide|pyemscripten|emscripten)_\w+")


def refusals(name: WheelName, index: IndexTarget) -> tuple[str, ...]:
    """Say why the platform tags of a wheel may not go to an index; nothing when they may."""
    reasons = (_refusal(platform, index) for platform in name.platforms)
    return tuple(reason for reason in reasons if reason is not None)


def _refusal(platform: str, index: IndexTarget) -> str | None:
    if platform in index.allowed_tags:
        return None
    fault = _fault(platform)
    if fault is not None:
        return f"platform tag `{platform}` {fault}"
    if index.allowed_tags and not any(fnmatchcase(platform, glob) for glob in index.allowed_tags):
        return f"platform tag `{platform}` is not among those that index `{index.name}` takes"
    return None


def _fault(platform: str) -> str | None:
    if platform.startswith("linux_"):
        return "promises no glibc; repair the wheel, or allow the tag for this index"
    glibc = _GLIBC.fullmatch(platform)
    if glibc is not None:
        floor = (int(glibc[1]), int(glibc[2]))
        if glibc[3] == MACHINE and floor < OLDEST_FLOOR:
            oldest = "_".join(str(part) for part in OLDEST_FLOOR)
            return f"is below {oldest}, the first manylinux policy for {MACHINE}"
        return None
    if platform == "any" or any(
        pattern.fullmatch(platform) for pattern in (_MUSL, _LEGACY, _ELSEWHERE)
    ):
        return None
    return "was never defined"
