"""Which libraries have to be grafted into a wheel, and which platform tags it may then carry."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from rvbuild.audit.floors import FloorPolicy, floor_policies, policy_for
from rvbuild.audit.linkage import Linkage, link
from rvbuild.audit.model import Binary, Finding
from rvbuild.audit.symbols import LIBPYTHON, check_versions, is_brought
from rvbuild.errors import AuditError
from rvbuild.target import Floor


@dataclass(frozen=True, slots=True)
class Sources:
    """Where grafted libraries come from: `folders` in order, and nowhere else.

    `bundle` names libraries to graft although every system has them, `brought` are glob patterns
    of libraries that another wheel brings.
    """

    folders: tuple[Path, ...]
    bundle: tuple[str, ...] = ()
    brought: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class GraftPlan:
    """What goes into a wheel: for each member the names it takes, and for each name its file.

    `unlinked` are libpythons, which are dropped from what a member needs.
    """

    members: Mapping[str, tuple[str, ...]]
    unlinked: Mapping[str, tuple[str, ...]]
    files: Mapping[str, Path]
    platforms: tuple[str, ...]


def plan_grafts(binaries: tuple[Binary, ...], sources: Sources, floor: Floor) -> GraftPlan:
    """Decide what to graft into a wheel with these ELF files.

    Raises `AuditError` with library and member when one is in none of the folders, and with
    symbol, version and member when the floor does not have what is needed.
    """
    linkage = link(binaries, sources.folders)
    given = policy_for(floor).libraries - frozenset(sources.bundle)
    members = {
        binary.member: tuple(_external(binary, linkage, given, sources.brought))
        for binary in binaries
    }
    grafts = {
        member: tuple(name for name in names if not LIBPYTHON.match(name))
        for member, names in members.items()
    }
    _refuse_missing(grafts, linkage)
    names = sorted({name for each in grafts.values() for name in each})
    everything = (*binaries, *(linkage.outside[name].binary for name in names))
    return GraftPlan(
        members=grafts,
        unlinked={
            member: tuple(name for name in needed if LIBPYTHON.match(name))
            for member, needed in members.items()
        },
        files={name: linkage.outside[name].path for name in names},
        platforms=_platforms(everything, {*linkage.inside, *names}, floor),
    )


def _external(
    binary: Binary, linkage: Linkage, given: frozenset[str], brought: tuple[str, ...]
) -> Iterator[str]:
    """List what a member needs, directly or through grafted libraries, from outside the wheel."""
    seen: set[str] = set()
    queue = list(binary.facts.needed)
    while queue:
        name = queue.pop(0)
        if name in seen or name in given or name in linkage.inside or is_brought(name, brought):
            continue
        seen.add(name)
        yield name
        if name in linkage.outside:
            queue += linkage.outside[name].binary.facts.needed


def _refuse_missing(grafts: Mapping[str, tuple[str, ...]], linkage: Linkage) -> None:
    missing = [
        f"`{member}` needs `{name}`"
        for member, names in grafts.items()
        for name in names
        if name not in linkage.outside
    ]
    if missing:
        raise AuditError(
            "cannot graft a library that is in none of the library folders",
            causes=missing,
            hint="build it as a recipe of kind `library` and name it in `requires.libraries`",
        )


def _platforms(binaries: tuple[Binary, ...], own: set[str], floor: Floor) -> tuple[str, ...]:
    """List the tags: the oldest floor that everything fits, and the one that was asked for."""
    wanted = policy_for(floor)
    findings = _too_new(binaries, own, wanted)
    if findings:
        raise AuditError(
            f"the wheel needs symbols that `{floor.tag}` does not have",
            causes=[f"{each.subject} {each.message}" for each in findings],
            hint="build against the sysroot of the floor",
        )
    needed = {name for each in binaries for name in each.facts.needed} & wanted.libraries - own
    fitting = [
        policy
        for policy in floor_policies()
        if policy.floor <= floor
        and needed <= policy.libraries
        and not _too_new(binaries, own, policy)
    ]
    return tuple(dict.fromkeys((fitting[0].floor.tag, floor.tag)))


def _too_new(
    binaries: tuple[Binary, ...], own: set[str], policy: FloorPolicy
) -> tuple[Finding, ...]:
    return tuple(
        finding
        for binary in binaries
        if binary.loadable
        for finding in check_versions(binary, own, policy)
    )
