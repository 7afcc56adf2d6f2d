"""The METADATA file: parsing it, and telling essential faults from others."""

from packaging.metadata import InvalidMetadata, RawMetadata, parse_email
from packaging.metadata import Metadata as CoreMetadata

from rvbuild.errors import AuditError
from rvbuild.wheel.model import Metadata

# Without these right, nobody can say what the wheel is or what it needs.
ESSENTIAL = frozenset({"metadata-version", "name", "version", "requires-python", "requires-dist"})


def parse_metadata(data: bytes, file_name: str) -> Metadata:
    """Parse METADATA; raise `AuditError` with every fault when an essential field is unusable."""
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise AuditError(
            f"the METADATA of `{file_name}` is not UTF-8", causes=(f"byte {error.start}",)
        ) from error
    raw, unparsed = parse_email(text)
    problems = _unparsed_problems(unparsed) + _invalid_problems(raw)
    fatal = tuple(message for field, message in problems if field in ESSENTIAL)
    if fatal:
        raise AuditError(f"the METADATA of `{file_name}` is not valid", causes=fatal)
    return Metadata(
        metadata_version=raw.get("metadata_version", ""),
        name=raw.get("name", ""),
        version=raw.get("version", ""),
        requires_python=raw.get("requires_python"),
        requires_dist=tuple(raw.get("requires_dist", ())),
        text=text,
        problems=tuple(message for _, message in problems),
    )


def _unparsed_problems(unparsed: dict[str, list[str]]) -> tuple[tuple[str, str], ...]:
    problems = []
    for field, values in sorted(unparsed.items()):
        what = f"is given {len(values)} times" if len(values) > 1 else "is unknown or not readable"
        problems.append((field.lower(), f"field `{field}` {what}"))
    return tuple(problems)


def _invalid_problems(raw: RawMetadata) -> tuple[tuple[str, str], ...]:
    try:
        CoreMetadata.from_raw(raw)
    except ExceptionGroup as group:
        return tuple(
            (error.field.lower(), str(error))
            for error in group.exceptions
            if isinstance(error, InvalidMetadata) and not _is_early_license_file(error, raw)
        )
    return ()


def _is_early_license_file(error: InvalidMetadata, raw: RawMetadata) -> bool:
    """Say whether it is the License-File that setuptools wrote before the field existed."""
    return error.field.lower() == "license-file" and raw.get("metadata_version", "") < "2.4"
