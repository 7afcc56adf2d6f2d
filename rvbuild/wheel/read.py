"""Reading what a wheel says of itself: its file name, its WHEEL and METADATA files, its members."""

import hashlib
import zipfile
from email import message_from_string
from email.message import Message
from pathlib import Path, PurePosixPath

from packaging.tags import Tag, parse_tag
from packaging.utils import InvalidWheelFilename, canonicalize_name, parse_wheel_filename
from packaging.version import InvalidVersion, Version

from rvbuild.errors import AuditError
from rvbuild.wheel.contents import open_archive, read_member
from rvbuild.wheel.metadata import parse_metadata
from rvbuild.wheel.model import Member, Metadata, Wheel

ANY_EXECUTE_BIT = 0o111


def read_wheel(path: Path) -> Wheel:
    """Read a wheel's facts; raise `AuditError` when it is not a wheel that can be installed."""
    name, version, build, tags = _parse_name(path.name)
    with open_archive(path) as archive:
        members = _read_members(archive, path.name)
        info_folder = _find_info_folder(members, path.name)
        inner = _read_inner(archive, info_folder, path.name)
        metadata = parse_metadata(
            read_member(archive, f"{info_folder}/METADATA", path.name), path.name
        )
    _check_identity(path.name, (name, version), info_folder, metadata)
    return Wheel(
        path=path,
        name=name,
        version=str(version),
        build=build,
        tags=tags,
        inner_tags=_parse_inner_tags(inner, path.name),
        root_is_purelib=str(inner.get("Root-Is-Purelib", "false")).strip().lower() == "true",
        info_folder=info_folder,
        metadata=metadata,
        members=members,
        sha256=_sha256(path),
        size=path.stat().st_size,
    )


def _parse_name(file_name: str) -> tuple[str, Version, str, frozenset[Tag]]:
    try:
        name, version, build, tags = parse_wheel_filename(file_name)
    except (InvalidWheelFilename, InvalidVersion) as error:
        raise AuditError(
            f"`{file_name}` is not the file name of a wheel",
            causes=(str(error),),
            hint="it has to be like `name-1.0-cp313-cp313-manylinux_2_31_riscv64.whl`",
        ) from error
    return str(name), version, "".join(str(part) for part in build), tags


def _sha256(path: Path) -> str:
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def _read_members(archive: zipfile.ZipFile, file_name: str) -> tuple[Member, ...]:
    members: dict[str, Member] = {}
    for info in archive.infolist():
        name = info.filename
        path = PurePosixPath(name)
        if path.is_absolute() or ".." in path.parts or "\\" in name or not path.parts:
            raise AuditError(f"`{file_name}` has a member outside of itself: `{name}`")
        if info.is_dir():
            continue
        if name in members:
            raise AuditError(f"`{file_name}` holds `{name}` more than once")
        executable = bool(info.external_attr >> 16 & ANY_EXECUTE_BIT)
        members[name] = Member(name, info.file_size, executable)
    return tuple(members.values())


def _find_info_folder(members: tuple[Member, ...], file_name: str) -> str:
    folders = sorted(
        {
            top
            for top in (member.name.split("/")[0] for member in members)
            if top.endswith(".dist-info")
        }
    )
    if len(folders) != 1:
        raise AuditError(
            f"`{file_name}` has {len(folders)} `.dist-info` folders instead of one", causes=folders
        )
    return folders[0]


def _read_inner(archive: zipfile.ZipFile, info_folder: str, file_name: str) -> Message:
    data = read_member(archive, f"{info_folder}/WHEEL", file_name)
    try:
        inner = message_from_string(data.decode("utf-8"))
    except UnicodeDecodeError as error:
        raise AuditError(f"the WHEEL file of `{file_name}` is not UTF-8") from error
    version = str(inner.get("Wheel-Version", "")).strip()
    if version.partition(".")[0] != "1":
        raise AuditError(f"`{file_name}` is of wheel version `{version}`, and only 1.x is known")
    return inner


def _parse_inner_tags(inner: Message, file_name: str) -> frozenset[Tag]:
    tags: set[Tag] = set()
    for text in inner.get_all("Tag", []):
        try:
            tags |= parse_tag(str(text).strip())
        except ValueError as error:
            raise AuditError(f"`{text}` in the WHEEL file of `{file_name}` is not a tag") from error
    return frozenset(tags)


def _check_identity(
    file_name: str, expected: tuple[str, Version], info_folder: str, metadata: Metadata
) -> None:
    """Check that file name, folder name and METADATA speak of one project and version."""
    folder_name, _, folder_version = info_folder.removesuffix(".dist-info").rpartition("-")
    for where, name, version in (
        (f"the folder `{info_folder}`", folder_name, folder_version),
        ("METADATA", metadata.name, metadata.version),
    ):
        try:
            found = (str(canonicalize_name(name)), Version(version))
        except InvalidVersion as error:
            raise AuditError(f"{where} of `{file_name}` has no valid version") from error
        if found != expected:
            raise AuditError(
                f"{where} of `{file_name}` is about `{name} {version}`, and the file name is not"
            )
