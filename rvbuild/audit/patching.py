"""The patchelf program: whether it can be trusted, and taking leaking search paths out of files."""

import re
import subprocess
from collections.abc import Iterable
from pathlib import Path

from rvbuild.audit.model import Binary
from rvbuild.audit.searchpath import leak
from rvbuild.errors import AuditError, MissingToolError
from rvbuild.wheel import Wheel

VERSION = re.compile(r"patchelf (\d+)\.(\d+)")
OLDEST = (0, 15)
# Leaves segments that glibc before 2.35 refuses, https://github.com/NixOS/patchelf/issues/492.
BROKEN = (0, 18)


def check_patchelf(program: Path) -> None:
    """Raise `MissingToolError` unless `program` is a patchelf whose results load everywhere."""
    hint = "install `patchelf>=0.19` and name it in the configuration"
    try:
        done = subprocess.run(
            [program, "--version"], capture_output=True, text=True, check=False, timeout=60
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise MissingToolError(
            f"cannot run patchelf as `{program}`", causes=(str(error),), hint=hint
        ) from error
    match = VERSION.match(done.stdout)
    if not match:
        raise MissingToolError(f"`{program}` does not answer as patchelf does", hint=hint)
    version = (int(match[1]), int(match[2]))
    if version == BROKEN:
        raise MissingToolError(
            "patchelf 0.18 makes libraries that glibc before 2.35 cannot load", hint=hint
        )
    if version < OLDEST:
        raise MissingToolError(f"patchelf {match[1]}.{match[2]} is too old", hint=hint)


def remove_leaks(folder: Path, wheel: Wheel, binaries: Iterable[Binary], patchelf: Path) -> None:
    """Take the search path entries that lead out of the wheel out of its unpacked files."""
    for binary in binaries:
        location = wheel.installed_path(binary.member)
        entries = (*binary.facts.rpath, *binary.facts.runpath)
        kept = [entry for entry in entries if leak(entry, location) is None]
        if not binary.loadable or len(kept) == len(entries):
            continue
        words = ["--set-rpath", ":".join(dict.fromkeys(kept))] if kept else ["--remove-rpath"]
        if kept and binary.facts.rpath:
            words.insert(0, "--force-rpath")
        run_tool([str(patchelf), *words], folder / binary.member, binary.member)


def run_tool(words: list[str], file: Path, member: str) -> None:
    """Run a program that changes `file` in place; raise `AuditError` with its output."""
    try:
        done = subprocess.run([*words, file], capture_output=True, text=True, check=False)
    except OSError as error:
        raise MissingToolError(f"cannot run `{words[0]}`", causes=(str(error),)) from error
    if done.returncode != 0:
        raise AuditError(
            f"`{words[0]}` failed on `{member}` with exit code {done.returncode}",
            tail=(done.stdout + done.stderr).splitlines()[-40:],
        )
