"""File name suffixes of extension modules, and which Pythons load them."""

import re
from collections.abc import Set as AbstractSet
from pathlib import PurePosixPath

from packaging.tags import Tag

# PEP 3149: `name.cpython-313t-riscv64-linux-gnu.so`.
VERSIONED = re.compile(r"\.cpython-(?P<version>\d+)(?P<flags>[a-z]*)-(?P<platform>.+)\.so$")
STABLE = re.compile(r"\.(?P<abi>abi3t?)\.so$")


def extension_problem(member: str, tags: AbstractSet[Tag], triple: str) -> str | None:
    """Say why an extension module is not found by a Python that the wheel is tagged for.

    None when it is found, or when the suffix says nothing. `triple` is like `riscv64-linux-gnu`.
    """
    name = PurePosixPath(member).name
    versioned = VERSIONED.search(name)
    if versioned:
        return _versioned_problem(versioned, tags, triple)
    stable = STABLE.search(name)
    free_threaded = sorted({tag.abi for tag in tags if re.fullmatch(r"cp\d+t", tag.abi)})
    if stable and stable["abi"] == "abi3" and free_threaded:
        return f"`abi3` modules are not loaded by the free-threaded `{free_threaded[0]}`"
    return None


def _versioned_problem(suffix: re.Match[str], tags: AbstractSet[Tag], triple: str) -> str | None:
    if suffix["platform"] != triple:
        return f"it is named for `{suffix['platform']}`, and Python on riscv64 looks for `{triple}`"
    found = f"cp{suffix['version']}{suffix['flags']}"
    strangers = sorted({tag.abi for tag in tags if tag.abi != found})
    if strangers:
        return f"only `{found}` loads it, and the wheel is tagged for `{strangers[0]}`"
    return None
