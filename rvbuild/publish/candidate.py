"""Wheels on their way to an index: checked by the library that uploads them, and put in order."""

import lzma
import zipfile
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version
from twine.exceptions import TwineException
from twine.package import PackageFile

from rvbuild.errors import PublishError
from rvbuild.publish.distribution import WheelName, hash_file, parse_name
from rvbuild.publish.indexes import IndexTarget
from rvbuild.publish.platforms import refusals


@dataclass(frozen=True, slots=True)
class Candidate:
    """A wheel that may be uploaded; `requires` are the normalised names of what it depends on."""

    path: Path
    name: WheelName
    sha256: str
    requires: frozenset[str]
    package: PackageFile

    @property
    def job(self) -> str:
        """What watchers call it, such as `markupsafe-3.0.3:cp313`."""
        interpreter = min(tag.interpreter for tag in self.name.tags)
        return f"{self.name.project}-{self.name.version}:{interpreter}"


def check_wheels(paths: Sequence[Path], index: IndexTarget) -> tuple[Candidate, ...]:
    """Check all wheels for an index and order them, dependencies first.

    Raises one `PublishError` with everything that is wrong with any of them.
    """
    candidates: dict[str, Candidate] = {}
    faults: list[str] = []
    for path in paths:
        try:
            candidate = _check(path, index)
        except PublishError as error:
            faults.append(": ".join((error.message, *error.causes)))
            continue
        first = candidates.setdefault(path.name, candidate)
        if first.sha256 != candidate.sha256:
            faults.append(f"{first.path} and {path} have one name and different bytes")
    if faults:
        raise PublishError(
            f"nothing was uploaded to `{index.name}`: not every wheel may go there", causes=faults
        )
    return in_order(tuple(candidates.values()))


def in_order(candidates: Sequence[Candidate]) -> tuple[Candidate, ...]:
    """Put what others depend on first, else by project and file name; circles are cut somewhere."""
    projects: dict[str, list[Candidate]] = {}
    for candidate in sorted(candidates, key=lambda each: (each.name.project, each.path.name)):
        projects.setdefault(candidate.name.project, []).append(candidate)
    ordered: list[Candidate] = []
    seen: set[str] = set()

    def visit(project: str) -> None:
        if project in seen or project not in projects:
            return
        seen.add(project)
        needed = frozenset[str]().union(*(each.requires for each in projects[project]))
        for requirement in sorted(needed):
            visit(requirement)
        ordered.extend(projects[project])

    for project in projects:
        visit(project)
    return tuple(ordered)


def _check(path: Path, index: IndexTarget) -> Candidate:
    name = parse_name(path.name)
    reasons = refusals(name, index)
    if reasons:
        raise PublishError(f"`{path.name}` may not go to `{index.name}`", causes=reasons)
    package = _read_package(path)
    metadata = package.metadata
    project, version = metadata.get("name", ""), metadata.get("version", "")
    if canonicalize_name(project) != name.project or Version(version) != name.version:
        raise PublishError(f"`{path.name}` says in its METADATA that it is `{project} {version}`")
    requires = frozenset(
        canonicalize_name(Requirement(text).name) for text in metadata.get("requires_dist", ())
    )
    return Candidate(path, name, hash_file(path), requires, package)


def _read_package(path: Path) -> PackageFile:
    try:
        return PackageFile.from_filename(str(path), None)
    except (
        TwineException,
        zipfile.BadZipFile,
        zlib.error,
        lzma.LZMAError,
        EOFError,
        KeyError,
        OSError,
        RuntimeError,  # an encrypted member, or a compression that this Python does not know
        ValueError,  # a version or a text that cannot be read
    ) as error:
        raise PublishError(
            f"`{path.name}` cannot be uploaded", causes=(str(error) or type(error).__name__,)
        ) from error
