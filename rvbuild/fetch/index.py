"""What the configured Python indexes offer of a project: sdists to build, wheels that exist."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from packaging.specifiers import InvalidSpecifier, SpecifierSet
from packaging.tags import Tag
from packaging.utils import (
    InvalidSdistFilename,
    InvalidWheelFilename,
    parse_sdist_filename,
    parse_wheel_filename,
)
from packaging.version import InvalidVersion, Version

from rvbuild.errors import SourceError, UsageError
from rvbuild.fetch.address import shown
from rvbuild.fetch.attempts import OriginError
from rvbuild.fetch.model import Network, PypiFile, Remote
from rvbuild.target import MACHINE

if TYPE_CHECKING:
    from pypi_simple import DistributionPackage


@dataclass(frozen=True, slots=True)
class SdistChoice:
    """A source distribution of an index; `requires_python` is its specifier, empty for any."""

    project: str
    version: str
    remote: Remote
    requires_python: str


@dataclass(frozen=True, slots=True)
class PublicWheel:
    """A wheel of an index; `sha256` is empty where the index tells none."""

    file_name: str
    sha256: str


@dataclass(frozen=True, slots=True)
class _Sdist:
    version: Version
    file: "DistributionPackage"


def newest(project: str, network: Network, python_versions: Sequence[str] = ()) -> SdistChoice:
    """Choose the newest final sdist that is not yanked and takes every given Python, like `3.13`.

    Raises `UsageError` when there is none and `SourceError` when no index can be asked.
    """
    sdists = _sdists(project, network)
    fitting = [
        found
        for found in sdists
        if not (found.version.is_prerelease or found.file.is_yanked)
        and _takes(found.file.requires_python or "", python_versions)
    ]
    if not fitting:
        raise UsageError(
            f"`{project}` has no final release with an sdist",
            causes=[f"sdists: {_names(sdists)}"],
            hint="name a version",
        )
    return _choice(project, max(fitting, key=lambda found: found.version))


def sdist(project: str, version: str | None, network: Network) -> SdistChoice:
    """Find the sdist of one version, or the newest for None.

    Raises `UsageError` when there is none and `SourceError` when no index can be asked.
    """
    if version is None:
        return newest(project, network)
    wanted = _version(version)
    sdists = _sdists(project, network)
    for found in sdists:
        if found.version == wanted:
            return _choice(project, found)
    raise UsageError(
        f"`{project}` has no sdist of version `{version}`", causes=[f"sdists: {_names(sdists)}"]
    )


def public_wheels(project: str, version: str, network: Network) -> tuple[PublicWheel, ...]:
    """List the wheels of one version that riscv64 Linux with glibc can install: for it, or pure.

    Raises `UsageError` when no index has the project, `SourceError` when none can be asked.
    """
    wanted = _version(version)
    return tuple(
        PublicWheel(file.filename, file.digests.get("sha256", ""))
        for file in _files(project, network)
        if not file.is_yanked and _fits(file.filename, wanted)
    )


def _files(project: str, network: Network) -> tuple["DistributionPackage", ...]:
    """Join the project's files of every index; of one file name the first index counts."""
    # Imported late: what reads pages takes longer to import than all that a cached run does.
    from rvbuild.fetch.pages import NoProjectError, project_page

    if network.offline or not network.pypi_indexes:
        reason = "offline" if network.offline else "no Python package index is configured"
        raise SourceError(f"cannot ask for `{project}`: {reason}", hint="set `RVBUILD_PYPI_INDEX`")
    files: dict[str, DistributionPackage] = {}
    failures: list[str] = []
    unreachable = False
    for index in network.pypi_indexes:
        try:
            page = project_page(project, index, network)
        except OriginError as error:
            failures.append(f"{shown(index)}: {error}")
            unreachable = unreachable or not isinstance(error, NoProjectError)
            continue
        files = {file.filename: file for file in page} | files
    if len(failures) < len(network.pypi_indexes):
        return tuple(files.values())
    if unreachable:
        raise SourceError(f"cannot ask any index for `{project}`", causes=failures)
    raise UsageError(f"no index has a project `{project}`", causes=failures, hint="check the name")


def _sdists(project: str, network: Network) -> list[_Sdist]:
    found = []
    for file in _files(project, network):
        try:
            found.append(_Sdist(parse_sdist_filename(file.filename)[1], file))
        except (InvalidSdistFilename, InvalidVersion):
            continue
    if not found:
        raise UsageError(f"`{project}` has no sdist, only built files")
    return sorted(found, key=lambda sdist: sdist.version)


def _choice(project: str, found: _Sdist) -> SdistChoice:
    file = found.file
    sha256 = file.digests.get("sha256")
    if sha256 is None:
        raise SourceError(f"the index gives no sha256 for `{file.filename}`")
    remote = Remote(file.filename, sha256, (PypiFile(project, file.filename),))
    return SdistChoice(project, str(found.version), remote, file.requires_python or "")


def _version(text: str) -> Version:
    try:
        return Version(text)
    except InvalidVersion as error:
        raise UsageError(f"`{text}` is not a version", hint="write it like `1.2.3`") from error


def _takes(requires_python: str, python_versions: Iterable[str]) -> bool:
    try:
        specifier = SpecifierSet(requires_python)
    except InvalidSpecifier:
        return True
    # `>=3.13.1` still takes 3.13, of which there is always a later bug fix.
    return all(specifier.contains(f"{python.rstrip('t')}.99") for python in python_versions)


def _fits(file_name: str, version: Version) -> bool:
    try:
        _, found, _, tags = parse_wheel_filename(file_name)
    except (InvalidWheelFilename, InvalidVersion):
        return False
    return found == version and any(_runs_on_target(tag) for tag in tags)


def _runs_on_target(tag: Tag) -> bool:
    if tag.platform == "any":
        return True
    return tag.platform.endswith(f"_{MACHINE}") and not tag.platform.startswith("musllinux")


def _names(sdists: Sequence[_Sdist]) -> str:
    newest_last = [str(found.version) for found in sdists[-5:]]
    return ", ".join(newest_last)
