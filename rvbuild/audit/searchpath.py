"""RPATH and RUNPATH: which entries lead out of the wheel, and what they reach inside."""

import posixpath
from collections.abc import Iterator
from pathlib import PurePosixPath

from rvbuild.audit.model import Binary, Finding
from rvbuild.wheel import Wheel


def check_search_path(binary: Binary, wheel: Wheel) -> Iterator[Finding]:
    """Find entries of RPATH and RUNPATH that lead out of the wheel."""
    location = wheel.installed_path(binary.member)
    for entry in (*binary.facts.rpath, *binary.facts.runpath):
        reason = leak(entry, location)
        if reason:
            message = f"searches `{entry}` for libraries, {reason}"
            hint = "repairing removes it; or configure without an install RPATH"
            yield Finding("rpath-leak", "error", binary.member, message, hint)


def leak(entry: str, location: PurePosixPath | None) -> str | None:
    """Say why a search path entry must not be in a wheel; None when it may.

    `location` is where below site-packages the file is installed, None when that is not known.
    """
    if not entry:
        return "which is the current folder"
    if not _is_relative_to_origin(entry):
        return "which is a place on the build machine" if entry[0] == "/" else "without `$ORIGIN`"
    if location is not None and _target(entry, location).startswith(".."):
        return "which is outside of site-packages"
    return None


def reaches(binary: Binary, other: Binary, wheel: Wheel) -> bool:
    """Say whether the search path of `binary` leads to the folder of `other`."""
    location = wheel.installed_path(binary.member)
    goal = wheel.installed_path(other.member)
    if location is None or goal is None:
        return False
    folders = {
        _target(entry, location)
        for entry in (*binary.facts.rpath, *binary.facts.runpath)
        if _is_relative_to_origin(entry)
    }
    return str(goal.parent) in folders


def _is_relative_to_origin(entry: str) -> bool:
    return entry.replace("${ORIGIN}", "$ORIGIN").split("/")[0] == "$ORIGIN"


def _target(entry: str, location: PurePosixPath) -> str:
    return posixpath.normpath(posixpath.join(str(location.parent), *entry.split("/")[1:]))
