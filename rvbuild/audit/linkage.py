"""How the ELF files of a wheel hang together with each other and with libraries outside."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from rvbuild.audit.model import Binary
from rvbuild.elf import read_elf
from rvbuild.errors import AuditError


@dataclass(frozen=True, slots=True)
class Library:
    """A shared library found in one of the given folders."""

    path: Path
    binary: Binary


@dataclass(frozen=True, slots=True)
class Linkage:
    """Every library that can be reached, by the name it is needed under.

    What is in the wheel comes first; `missing` names are in none of the folders.
    """

    inside: Mapping[str, Binary]
    outside: Mapping[str, Library]
    missing: frozenset[str]

    def provider(self, name: str) -> Binary | None:
        """Give the library that is loaded for `name`."""
        if name in self.inside:
            return self.inside[name]
        return self.outside[name].binary if name in self.outside else None

    def closure(self, names: Iterable[str]) -> tuple[str, ...]:
        """List `names` and all that they need in turn, in the order of loading."""
        order: dict[str, None] = {}
        queue = list(names)
        while queue:
            name = queue.pop(0)
            if name in order:
                continue
            order[name] = None
            provider = self.provider(name)
            if provider is not None:
                queue += provider.facts.needed
        return tuple(order)


def link(
    binaries: tuple[Binary, ...], folders: tuple[Path, ...], more: Iterable[str] = ()
) -> Linkage:
    """Look up all that `binaries` and the names in `more` need, in the wheel, then in `folders`.

    Nowhere else: neither the loader's configuration nor RPATH leads to the build machine.
    """
    inside = _by_name(binaries)
    outside: dict[str, Library] = {}
    missing: set[str] = set()
    queue = [name for each in binaries if each.loadable for name in each.facts.needed]
    queue += more
    while queue:
        name = queue.pop()
        if name in inside or name in outside or name in missing:
            continue
        library = find_library(name, folders)
        if library is None:
            missing.add(name)
        else:
            outside[name] = library
            queue += library.binary.facts.needed
    return Linkage(inside, outside, frozenset(missing))


def find_library(name: str, folders: tuple[Path, ...]) -> Library | None:
    """Find a shared library of the target in `folders`, skipping files of other machines."""
    if "/" in name:
        return None
    for folder in folders:
        path = folder / name
        try:
            binary = Binary(name, read_elf(path, name)) if path.is_file() else None
        except AuditError:
            # A linker script by the name of a library, as `libc.so` is.
            continue
        if binary is not None and binary.loadable:
            return Library(path, binary)
    return None


def _by_name(binaries: tuple[Binary, ...]) -> dict[str, Binary]:
    names: dict[str, Binary] = {}
    for binary in binaries:
        if binary.loadable:
            names.setdefault(PurePosixPath(binary.member).name, binary)
            if binary.facts.soname:
                names.setdefault(binary.facts.soname, binary)
    return names
