"""Whether everything an ELF file asks of others is there: libraries, versions, symbols."""

import re
from collections.abc import Iterator
from collections.abc import Set as AbstractSet
from fnmatch import fnmatchcase

from rvbuild.audit.floors import FloorPolicy
from rvbuild.audit.linkage import Linkage
from rvbuild.audit.model import Binary, Finding, Policy, Severity
from rvbuild.audit.searchpath import reaches
from rvbuild.wheel import Wheel

LIBPYTHON = re.compile(r"libpython\d.*\.so")
PYTHON_SYMBOL = re.compile(r"_?Py[A-Z_]")
ATOMIC_SYMBOL = re.compile(r"__atomic_\w+")
LIBATOMIC = "libatomic.so.1"
# What every Python program has loaded before any extension module; part of libc from 2.34 on.
LOADED_BY_PYTHON = ("libc.so.6", "libm.so.6", "libpthread.so.0", "libdl.so.2", "libutil.so.1")
SHOWN_SYMBOLS = 8


def check_versions(binary: Binary, own: AbstractSet[str], floor: FloorPolicy) -> Iterator[Finding]:
    """Find symbol versions that a system of the floor does not have, with the symbols.

    `own` names libraries that come with the wheel, and bring their own versions.
    """
    for required in floor.violations(binary.facts):
        if required.library not in own:
            message = (
                f"needs `{required.version}` of `{required.library}` "
                f"for {_list(required.symbols)}, newer than `{floor.floor.tag}`"
            )
            hint = "build against the sysroot of the floor"
            yield Finding("above-floor", "error", binary.member, message, hint)
    undefined = {symbol.name for symbol in binary.facts.undefined}
    for library, symbols in floor.forbidden.items():
        used = sorted(symbols & undefined)
        if used and library in binary.facts.needed and library not in own:
            message = f"uses {_list(tuple(used))}, internals of `{library}` not all systems have"
            yield Finding("forbidden-symbol", "error", binary.member, message)


def check_needed(
    binary: Binary, wheel: Wheel, linkage: Linkage, floor: FloorPolicy, policy: Policy
) -> Iterator[Finding]:
    """Find needed libraries that will not be there, or not be found."""
    for name in binary.facts.needed:
        if name in linkage.inside:
            yield from _check_inside(binary, name, wheel, linkage)
        elif name == LIBATOMIC:
            message = f"needs `{LIBATOMIC}`, which is allowed and which small images lack"
            hint = "bundle it, or compile with GCC 14 or clang, which need it less"
            yield Finding("libatomic", "warning", binary.member, message, hint)
        elif name not in floor.libraries and not is_brought(name, policy.allowed_libraries):
            yield _absent(binary, name, floor)


def is_brought(name: str, patterns: tuple[str, ...]) -> bool:
    """Say whether a library is one that another wheel brings."""
    return any(fnmatchcase(name, pattern) for pattern in patterns)


def _absent(binary: Binary, name: str, floor: FloorPolicy) -> Finding:
    if LIBPYTHON.match(name):
        message = f"is linked to `{name}`, which not every Python has"
        hint = "do not link extension modules to libpython"
        return Finding("links-libpython", "error", binary.member, message, hint)
    message = f"needs `{name}`, which is neither in the wheel nor part of `{floor.floor.tag}`"
    return Finding("missing-library", "error", binary.member, message, "repairing grafts it in")


def _check_inside(binary: Binary, name: str, wheel: Wheel, linkage: Linkage) -> Iterator[Finding]:
    other = linkage.inside[name]
    if not reaches(binary, other, wheel):
        message = (
            f"needs `{name}`, which is in the wheel as `{other.member}` where its RPATH does not "
            "lead: it has to be loaded before"
        )
        yield Finding("unreachable-library", "warning", binary.member, message)


def check_undefined(binary: Binary, linkage: Linkage, policy: Policy) -> Iterator[Finding]:
    """Find symbols that neither the libraries it is linked to nor Python define."""
    names = (*binary.facts.needed, *(LOADED_BY_PYTHON if binary.facts.kind == "dyn" else ()))
    scope = linkage.closure(names)
    wanted = {
        symbol.name
        for symbol in binary.facts.undefined
        if not symbol.weak and not PYTHON_SYMBOL.match(symbol.name)
    }
    wanted -= _defined_by(scope, linkage) | _settled_by_version(binary, linkage)
    if not policy.libraries:
        # The one family that is known to be nowhere else, even without looking.
        wanted = {
            name for name in wanted if ATOMIC_SYMBOL.fullmatch(name) and LIBATOMIC not in scope
        }
    elsewhere = wanted & _defined_by(tuple(linkage.inside), linkage)
    if elsewhere:
        message = f"takes {_list(tuple(sorted(elsewhere)))} from a member it is not linked to"
        yield Finding("unlinked-symbol", "warning", binary.member, message)
    rest = tuple(sorted(wanted - elsewhere))
    if rest:
        unknown = linkage.missing.intersection(linkage.closure(binary.facts.needed))
        yield _undefined(binary, rest, tuple(sorted(unknown)))


def _settled_by_version(binary: Binary, linkage: Linkage) -> frozenset[str]:
    """Give the symbols that were found in a library outside when linking, by their version.

    Whether that version is there is the floor's question; the sysroot at hand may be of another.
    """
    outside = (
        each for each in binary.facts.required_versions if each.library not in linkage.inside
    )
    return frozenset(symbol for required in outside for symbol in required.symbols)


def _undefined(binary: Binary, symbols: tuple[str, ...], unknown: tuple[str, ...]) -> Finding:
    atomic = any(ATOMIC_SYMBOL.fullmatch(name) for name in symbols)
    hint = "link with `-latomic`" if atomic else "link with the library that defines it"
    message = f"needs {_list(symbols)}, which nothing it is linked to defines"
    severity: Severity = "error"
    if unknown and not atomic:
        severity = "note"
        message += f", unless one of {_list(unknown)} does"
    return Finding("undefined-symbol", severity, binary.member, message, hint)


def _defined_by(names: tuple[str, ...], linkage: Linkage) -> frozenset[str]:
    providers = (linkage.provider(name) for name in names)
    return frozenset().union(*(each.facts.defined for each in providers if each is not None))


def _list(names: tuple[str, ...]) -> str:
    shown = ", ".join(f"`{name}`" for name in names[:SHOWN_SYMBOLS])
    more = len(names) - SHOWN_SYMBOLS
    return f"{shown} and {more} more" if more > 0 else shown or "unknown symbols"
